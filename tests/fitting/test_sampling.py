"""Samples of posteriors that are known in closed form."""

import numpy as np
import pytest

from sparkcast.arrays import Floats
from sparkcast.fitting.sampling import sample


def test_without_evidence_the_sample_is_that_of_the_prior() -> None:
    particles = sample(lambda u: np.zeros(len(u)), 3, n_particles=4000)
    assert particles.mean(axis=0) == pytest.approx([0, 0, 0], abs=0.06)
    assert particles.std(axis=0) == pytest.approx([1, 1, 1], abs=0.06)


def test_a_normal_measurement_gives_the_posterior_of_the_textbook() -> None:
    # Prior N(0, 1), measurement 2 with standard deviation 0.5: N(1.6, 0.2), Gelman et al., Bayesian Data Analysis, 2.5.
    particles = sample(lambda u: -((u[:, 0] - 2) ** 2) / (2 * 0.25), 2, n_particles=4000)
    assert particles[:, 0].mean() == pytest.approx(1.6, abs=0.03)
    assert particles[:, 0].var() == pytest.approx(0.2, abs=0.02)
    assert particles[:, 1].std() == pytest.approx(1, abs=0.06)  # the measurement says nothing about the other


def test_strong_evidence_far_from_the_prior_is_reached() -> None:
    # A sampler that only weighed draws of the prior would have none near 4: N(4 / 1.01, 0.01 / 1.01).
    particles = sample(lambda u: -((u[:, 0] - 4) ** 2) / (2 * 0.01), 1, n_particles=2000, n_moves=6)
    assert particles[:, 0].mean() == pytest.approx(4 / 1.01, abs=0.02)
    assert particles[:, 0].std() == pytest.approx(0.0995, rel=0.2)


def test_both_humps_of_a_posterior_are_kept() -> None:
    def likelihood(u: Floats) -> Floats:
        near, far = -((u[:, 0] - 1) ** 2) / 0.02, -((u[:, 0] + 1) ** 2) / 0.02
        return np.logaddexp(near, far)

    is_right = sample(likelihood, 1, n_particles=2000)[:, 0] > 0
    assert is_right.mean() == pytest.approx(0.5, abs=0.07)


def test_the_same_seed_gives_the_same_sample_and_another_one_another() -> None:
    def likelihood(u: Floats) -> Floats:
        return -(u[:, 0] ** 2)

    assert (sample(likelihood, 2, seed=3) == sample(likelihood, 2, seed=3)).all()
    assert (sample(likelihood, 2, seed=3) != sample(likelihood, 2, seed=4)).any()
