"""Jobs as likely as the runs make them, sampled.

Of thousands of jobs that were drawn before the first run, hardly one agrees with six runs, and a belief that rests on
one or two is far too sure. So the runs are let in little by little; at each step jobs that agree are copied in place of
those that do not, and each copy is moved about among those that agree as well (sequential Monte Carlo with Metropolis
steps, Del Moral et al. 2006).
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkcast.arrays import Floats, Ints
from sparkcast.search.belief import Around, Fits, Runs, fits, normalised
from sparkcast.search.jobs import Jobs, Laws

if TYPE_CHECKING:
    import numpy as np

_N_JOBS = 1000
_FEWEST_JOBS = 200
_MOST_NUMBERS = 1_000_000  # of all jobs at all candidates
_LEAST_SHARE = 0.3  # of the jobs that must still count after each step, by their effective number
_MOVES = 5  # of each job after each step
_STEPS = (0.01, 0.3)  # how far a move goes, in terms of the range of a number
_MOVED = 0.3  # share of its numbers that a move touches
_MOST_STEPS = 60
_FINEST = 1e-3


@dataclass(frozen=True, slots=True)
class Sampler:
    """The jobs of a law, all with the same addition to the logarithms of their times."""

    laws: Laws
    points: Floats
    around: Around
    told: Runs
    moved: Floats | float = 0.0
    is_flat: bool = False  # nothing is known of the answer, but of the failures

    def jobs(self, numbers: Floats) -> Jobs:
        jobs = self.laws.jobs(numbers)
        return replace(jobs, log_times=jobs.log_times * (0.0 if self.is_flat else 1.0) + self.moved)

    def fits(self, numbers: Floats) -> Fits:
        return fits(self.jobs(numbers), self.points, self.around, self.told)


@dataclass(frozen=True, slots=True)
class Sample:
    """Jobs that all count the same, and the logarithm of how likely the runs are under the law."""

    jobs: Jobs
    evidence: float


def sampled(sampler: Sampler, numbers: Floats, rng: "np.random.Generator") -> Sample:
    """Begins with jobs as likely as before the first run."""
    import numpy as np

    logs = sampler.fits(numbers).logs
    n_jobs = max(_FEWEST_JOBS, min(_N_JOBS, _MOST_NUMBERS // len(sampler.points)))
    admitted, evidence = 0.0, 0.0
    for _ in range(_MOST_STEPS):
        more = _admitted(logs, 1.0 - admitted)
        evidence += float(np.log(np.exp(more * (logs - logs.max())).mean()) + more * logs.max())
        admitted += more
        chosen = _resampled(normalised(more * logs), n_jobs, rng)
        numbers, logs = numbers[chosen], logs[chosen]
        for _ in range(_MOVES):
            numbers, logs = _moved(sampler, numbers, logs, admitted, rng)
        if admitted >= 1.0:
            break
    return Sample(sampler.jobs(numbers), evidence)


def _admitted(logs: Floats, left: float) -> float:
    """How much more of the runs can be let in at once, of what is left."""
    if _effective(left * logs) >= _LEAST_SHARE:
        return left
    low, high = 0.0, left
    while high - low > _FINEST:
        middle = (low + high) / 2
        low, high = (middle, high) if _effective(middle * logs) >= _LEAST_SHARE else (low, middle)
    return max(low, _FINEST)


def _effective(logs: Floats) -> float:
    """The share of the jobs that count."""
    weights = normalised(logs)
    return float(1 / (weights**2).sum() / len(weights))


def _resampled(weights: Floats, n: int, rng: "np.random.Generator") -> Ints:
    import numpy as np

    places = (np.arange(n) + rng.random()) / n
    return np.minimum(np.searchsorted(np.cumsum(weights), places), len(weights) - 1)


def _moved(
    sampler: Sampler, numbers: Floats, logs: Floats, admitted: float, rng: "np.random.Generator"
) -> tuple[Floats, Floats]:
    """Each job a step further, or where it was if it agrees less with the runs (Metropolis)."""
    import numpy as np

    there = _proposed(numbers, rng)
    logs_there = sampler.fits(there).logs
    goes = np.log(rng.random(len(logs))) < admitted * (logs_there - logs)
    return np.where(goes[:, None], there, numbers), np.where(goes, logs_there, logs)


def _proposed(numbers: Floats, rng: "np.random.Generator") -> Floats:
    """One number anew, or a few of them a little further; both ways are as likely back."""
    import numpy as np

    n, width = numbers.shape
    anew = np.where(np.arange(width) == rng.integers(0, width, (n, 1)), rng.random((n, 1)), numbers)
    least, most = np.log(_STEPS)
    sizes = np.exp(rng.uniform(least, most, (n, 1)))
    steps = sizes * rng.normal(size=(n, width)) * (rng.random((n, width)) < _MOVED)
    further = np.abs((numbers + steps + 1) % 2 - 1)  # reflected at 0 and 1
    return np.where(rng.random((n, 1)) < 0.5, anew, further)
