"""How the time of a job may follow its input and its slots: a few laws, between which its runs decide.

A part of the time is fixed, the rest is in proportion to the input, or to a power of it:
`fixed + (1 - fixed) * g ** p`, where `g` is the input as a share of a usual one. Likewise with slots:
`fixed + (1 - fixed) / s`.
"""

from typing import NamedTuple

import numpy as np

from sparkcast.arrays import Floats


class ScalingLaw(NamedTuple):
    fixed: float  # share of the time that does not follow
    power: float


INPUT_LAWS = (
    *(ScalingLaw(fixed, 1.0) for fixed in (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0)),
    *(ScalingLaw(0.0, power) for power in (1.25, 1.5, 2.0)),
)
SLOT_LAWS = tuple(ScalingLaw(fixed, -1.0) for fixed in (0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0))
N_LAWS = len(INPUT_LAWS) * len(SLOT_LAWS)
_MOST = 12.0  # no logarithm of a ratio of inputs or slots is taken to be larger


def offsets(log_input: Floats, log_slots: Floats) -> Floats:
    """The logarithm of the time under each law, a row for each run, against a run with logarithms of 0."""
    by_input = _under(INPUT_LAWS, log_input)
    by_slots = _under(SLOT_LAWS, log_slots)
    together: Floats = by_input[:, :, None] + by_slots[:, None, :]
    return together.reshape(len(together), N_LAWS)


def _under(laws: tuple[ScalingLaw, ...], logarithms: Floats) -> Floats:
    fixed = np.array([law.fixed for law in laws])
    powers = np.array([law.power for law in laws])
    ratios = np.exp(np.clip(logarithms, -_MOST, _MOST)[:, None] * powers)
    found: Floats = np.log(fixed + (1 - fixed) * ratios)
    return found
