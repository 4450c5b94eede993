"""Jobs as likely as the runs make them, sampled.

Of thousands of jobs that were drawn before the first run, hardly one agrees with six runs, and a belief that rests on
one or two is far too sure. So the runs are let in little by little, and jobs that agree are copied and moved about (see
`fitting.sampling`).
"""

from dataclasses import dataclass, replace

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.fitting.sampling import temper
from sparkcast.search.belief import Around, CandidateRuns, JobAgreement, fits
from sparkcast.search.jobs import JobGrid, JobLaws

_N_JOBS = 1000
_FEWEST_JOBS = 200
_MOST_NUMBERS = 1_000_000  # of all jobs at all candidates
_LEAST_SHARE = 0.3  # of the jobs that must still count after each step, by their effective number
_MOVES = 5  # of each job after each step
_STEPS = (0.01, 0.3)  # how far a move goes, in terms of the range of a number
_MOVED = 0.3  # share of its numbers that a move touches
_LEAST_STEP = 1e-3  # of the runs let in at once: laws with jumps would ask for ever smaller ones


@dataclass(frozen=True, slots=True)
class Sampler:
    """The jobs of a law, all with the same addition to the logarithms of their times."""

    laws: JobLaws
    points: Floats
    around: Around
    told: CandidateRuns
    moved: Floats | float = 0.0
    is_flat: bool = False  # nothing is known of the answer, but of the failures

    def jobs(self, numbers: Floats) -> JobGrid:
        jobs = self.laws.jobs(numbers)
        return replace(jobs, log_times=jobs.log_times * (0.0 if self.is_flat else 1.0) + self.moved)

    def fits(self, numbers: Floats) -> JobAgreement:
        return fits(self.jobs(numbers), self.points, self.around, self.told)


@dataclass(frozen=True, slots=True)
class JobSample:
    """Jobs that all count the same, and the logarithm of how likely the runs are under the law."""

    jobs: JobGrid
    evidence: float


def sampled(sampler: Sampler, numbers: Floats, rng: "np.random.Generator") -> JobSample:
    """Begins with jobs as likely as before the first run."""
    found = temper(
        lambda numbers: sampler.fits(numbers).logs,
        numbers,
        Reflected(),
        n_particles=max(_FEWEST_JOBS, min(_N_JOBS, _MOST_NUMBERS // len(sampler.points))),
        n_moves=_MOVES,
        in_play=lambda n: _LEAST_SHARE * n,
        random=rng,
        least_step=_LEAST_STEP,
    )
    return JobSample(sampler.jobs(found.particles), found.evidence)


class Reflected:
    """Moves of numbers between 0 and 1: one number anew, or a few of them a little further."""

    def propose(self, particles: Floats, number: int, random: "np.random.Generator") -> Floats:
        n, width = particles.shape
        is_anew = np.arange(width) == random.integers(0, width, (n, 1))
        anew = np.where(is_anew, random.random((n, 1)), particles)
        least, most = np.log(_STEPS)
        sizes = np.exp(random.uniform(least, most, (n, 1)))
        steps = sizes * random.normal(size=(n, width)) * (random.random((n, width)) < _MOVED)
        further = np.abs((particles + steps + 1) % 2 - 1)  # reflected at 0 and 1
        return np.where(random.random((n, 1)) < 0.5, anew, further)

    def learn(self, accepted: float) -> None:
        """Long and short moves are mixed: there is nothing to adjust."""
