"""What the jobs of a store have in common: learned from them, and where each of them starts.

Until a store has taught better, the shares of the laws, the noise and its tail are those that public measurements of
Spark jobs suggest: repeated runs of one job vary by 3 to 15 %.
"""

from dataclasses import dataclass, field

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.history.laws import INPUT_LAWS, SLOT_LAWS

_INPUT = tuple(1.0 if law.power == 1 else 0.3 for law in INPUT_LAWS)
_SLOTS = (1.0,) * len(SLOT_LAWS)


def _shares(counts: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(count / sum(counts) for count in counts)


@dataclass(frozen=True, slots=True)
class FleetPrior:
    """What is believed of a job before it has run."""

    input_shares: tuple[float, ...] = _shares(_INPUT)  # of jobs that follow each law of input
    slot_shares: tuple[float, ...] = _shares(_SLOTS)
    noise: float = 0.10  # of the logarithm of the time, that of a usual job
    noise_runs: float = 4.0  # how many runs of a job say as much about its noise as other jobs do
    tail: float = 8.0  # degrees of freedom: how heavy the tails of the noise are
    level: float = 5.5  # logarithm of the seconds of a usual job
    level_sd: float = 1.8
    change_sd: float = 0.30  # of the logarithm, by which a job changes when it does
    change_rate: float = 1 / 400  # of the runs, that something changes with
    setting_rate: float = 0.15  # of changed settings, that a change of the time comes with
    n_jobs: int = field(default=0)  # that it was learned from

    @property
    def log_weights(self) -> Floats:
        by_input, by_slots = np.array(self.input_shares), np.array(self.slot_shares)
        found: Floats = np.log(by_input[:, None] * by_slots[None, :]).reshape(-1)
        return found

    @property
    def shape(self) -> float:
        return self.noise_runs / 2

    @property
    def rate(self) -> float:
        return self.shape * self.noise**2
