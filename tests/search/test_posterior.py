"""Jobs as likely as the runs make them."""

import numpy as np
import pytest

from sparkcast.arrays import Floats
from sparkcast.search.base import Search
from sparkcast.search.belief import Around, CandidateRuns, fits, normalized
from sparkcast.search.jobs import JobLaws
from sparkcast.search.points import points_of
from sparkcast.search.posterior import Sampler, sampled
from sparkcast.study import Configuration

CLUSTERS = tuple(Configuration({"machines": n, "memory": m}) for n in (2, 4, 8, 16, 32) for m in (8, 16, 32, 64))
POINTS = points_of(Search(CLUSTERS))
LAWS = JobLaws(POINTS)
NUMBERS = np.random.default_rng(1).random((5000, LAWS.n_numbers))


def told(places: list[int]) -> CandidateRuns:
    """Times of a job that is five times as slow where less than 500 GiB are free."""
    times = {}
    for place in places:
        machines, memory = float(CLUSTERS[place]["machines"]), float(CLUSTERS[place]["memory"])
        times[place] = float(np.log(6000 / machines * (1 if machines * memory >= 500 else 5)))
    return CandidateRuns(times)


def sampler(runs: CandidateRuns, moved: Floats | float = 0.0) -> Sampler:
    return Sampler(LAWS, POINTS.coordinates, Around(), runs, moved)


def test_many_different_jobs_agree_with_the_runs_where_few_of_those_drawn_do() -> None:
    runs = told([1, 6, 9, 15, 19, 11])
    drawn = normalized(sampler(runs).fits(NUMBERS).logs)
    assert 1 / (drawn**2).sum() < 100
    sample = sampled(sampler(runs), NUMBERS, np.random.default_rng(2))
    assert len(np.unique(sample.jobs.log_times.round(6), axis=0)) > 500
    agree = fits(sample.jobs, POINTS.coordinates, Around(), runs).logs
    assert np.median(agree) > np.quantile(sampler(runs).fits(NUMBERS).logs, 0.99)


def test_the_sample_expects_elsewhere_what_a_hundred_thousand_draws_do() -> None:
    runs = told([1, 19])
    found = sampler(runs).fits(np.random.default_rng(9).random((100_000, LAWS.n_numbers)))
    by_weight = normalized(found.logs) @ found.means
    sample = sampled(sampler(runs), NUMBERS, np.random.default_rng(3))
    by_sample = fits(sample.jobs, POINTS.coordinates, Around(), runs).means.mean(axis=0)
    assert by_sample == pytest.approx(by_weight, abs=0.15)
    assert sample.evidence == pytest.approx(np.log(np.exp(found.logs).mean()), abs=0.2)


def test_a_law_that_the_runs_contradict_is_less_likely() -> None:
    runs = told([1, 6, 9, 15, 19, 11])
    contrary = 4 * np.random.default_rng(3).random(len(CLUSTERS))
    as_it_is, moved = (sampled(sampler(runs, by), NUMBERS, np.random.default_rng(2)).evidence for by in (0.0, contrary))
    assert as_it_is > moved + 1


def test_the_same_random_numbers_give_the_same_sample() -> None:
    runs = told([1, 6, 9])
    one, two = (sampled(sampler(runs), NUMBERS, np.random.default_rng(4)) for _ in range(2))
    assert np.array_equal(one.jobs.log_times, two.jobs.log_times)
