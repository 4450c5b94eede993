"""A Bayesian model that listens to others: its spread, around a middle that they move."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.fitting.answering import Answering
from sparkcast.fitting.encoding import Domain
from sparkcast.fitting.posterior import Posterior
from sparkcast.fitting.predictive import Link, Quantiles
from sparkcast.fitting.uncertainty import PointPredictions

_HEARD = 0.9  # a voice is heard no further from the middle than this interval
_WORTH = 16  # configurations: with so many, the others together count as much as what was known before
_ASSUMED = 4  # configurations: how much is assumed that all are equally wrong
USUAL_POWER = 2.0  # of the errors: voices that say much the same are heard, not chosen among
_LARGEST = 2.0  # error on the link, which is e-fold: one wild answer says no more than that


@dataclass(frozen=True, slots=True, eq=False)
class ResponseBelief(Answering):
    """What is believed of a response after its runs."""

    domain: Domain
    posterior: Posterior
    voices: tuple[PointPredictions, ...] = ()
    weights: tuple[float, ...] = ()
    left_out_error: float | None = None  # mean of single runs of configurations that it had not seen, in percent
    n_stopped: int = 0  # configurations of which it knows that they take longer than some limit

    def answers(self, x: Floats) -> Quantiles:
        own = self.posterior.quantiles(x)
        if not self.voices:
            return own
        return own.shifted(moved(own, [voice(x) for voice in self.voices], self.weights))


def moved(own: Quantiles, said: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """How far the voices move the middle, on the link."""
    middle = own.link.forward(own.values)
    apart = [weight * (own.clip(own.link.forward(v), _HEARD) - middle) for v, weight in zip(said, weights, strict=True)]
    return np.asarray(np.sum(apart, axis=0))


def together(link: Link, said: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """What the Bayesian model (first) and the voices say together, in the unit of the response."""
    answers = np.array([link.forward(values) for values in said])
    shares = np.array([1 - sum(weights), *weights])[:, None]
    known = np.isfinite(answers)  # a voice may refuse to speak of a configuration
    return link.back((shares * np.where(known, answers, 0.0)).sum(axis=0) / (shares * known).sum(axis=0))


def weights_of(errors: Sequence[float], n_tested: int, n: int, *, power: float = USUAL_POWER) -> tuple[float, ...]:
    """How much each voice counts, given the mean errors of the Bayesian model (first) and of the voices.

    By the inverse square of the error; all voices together begin with n / (n + _WORTH), where n configurations were
    learned from. The weights move the middle only: the spread is not made of the errors they come from. Another power
    chooses more sharply: with n of them each weight is how likely it makes the errors.
    """
    if len(errors) == 1:
        return ()
    assumed = (n_tested * np.array(errors) + _ASSUMED * np.mean(errors)) / (n_tested + _ASSUMED)
    share, n_voices = n / (n + _WORTH), len(errors) - 1
    prior = np.array([1 - share, *[share / n_voices] * n_voices])
    assumed = np.maximum(assumed, 1e-9)
    weights = prior * (assumed.min() / assumed) ** power
    return tuple((weights[1:] / weights.sum()).tolist())


def error_of(link: Link, measured: Floats, said: Floats) -> float:
    """The mean error on the link; a refusal is a large one."""
    missed = np.abs(link.forward(said) - link.forward(measured))
    return float(np.minimum(np.nan_to_num(missed, nan=_LARGEST), _LARGEST).mean())
