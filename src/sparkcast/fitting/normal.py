"""The normal distribution for answering, without scipy: importing that takes longer than most answers."""

import math
from statistics import NormalDist

import numpy as np

from sparkcast.arrays import Floats

_STANDARD = NormalDist()


def score_of(level: float) -> float:
    """How many standard deviations from the mean a central interval of this level reaches."""
    return _STANDARD.inv_cdf(0.5 + level / 2)


def score_at(probability: float) -> float:
    return _STANDARD.inv_cdf(probability)


def probability_of(score: float) -> float:
    """Of a value below it."""
    return _STANDARD.cdf(score)


def scores_between(n: int) -> Floats:
    """n scores that stand for the whole distribution: the middles of n equally likely parts."""
    return np.array([_STANDARD.inv_cdf((k + 0.5) / n) for k in range(n)])


def probabilities(scores: Floats) -> Floats:
    """Of a value below each score."""
    return np.array([math.erfc(-score / math.sqrt(2)) / 2 for score in scores.tolist()])
