"""The operational laws of Courier (ICPE 2021): passes over the data, each with its time on the CPU and at the disk.

    E[T] = N (E[S] + D),    N = epochs * records / batch,    D = 1 / (mu - lambda) >= 0

The paper inverts this in each run for the disk's rate mu, which explodes where T / N comes near the time on the CPU S
and turns negative below it. Here S (one for each level of each category) and the time at the disk D are estimated
together by non-negative least squares on relative errors; D grows with the batch and with the load on the disk,
max(1, processes / workers). So D is never negative or unbounded, and the runs that are faster than the CPU alone could
be are named.
"""

from dataclasses import dataclass

from sparkcast.arrays import Floats
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.models.base import MODELS, Domain, LearnedPoints, Model, Problem, relative_nnls, require_times
from sparkcast.study import Role
from sparkcast.study.setting import PASSES, SIZES
from sparkcast_papers.models.courier import cpu, setting

_LOAD = (Role.TOTAL_CORES, Role.MACHINES, Role.CORES, Role.JOBS)  # who asks the disk at once
_KNOWN = (Role.BATCH, *PASSES, *SIZES, *_LOAD)


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """Coefficients of the law; times are per pass, and in units of unknown settings where passes are not known."""

    domain: Domain
    workers: float
    cpu_s: tuple[float, ...]  # for each level of each category; one number without categories
    disk_s: tuple[float, ...]  # by batch, by load, by batch times load
    unexplained: tuple[str, ...] = ()  # configurations whose passes are faster than the CPU alone

    def __call__(self, x: Floats) -> Floats:
        return passes(self.domain, x) * (self.cpu_time(x) + self.disk_time(x))

    def cpu_time(self, x: Floats) -> Floats:
        """E[S], seconds of one pass on the CPU."""
        return categories(self.domain, x) @ self.cpu_s

    def disk_time(self, x: Floats) -> Floats:
        """1 / (mu - lambda), seconds of one pass at the disk."""
        return _load_terms(self.domain, x, self.workers) @ self.disk_s

    def disk_rate(self, x: Floats) -> Floats:
        """mu: the requests per second that the disk would serve, infinite where it costs no time."""
        import numpy as np

        with np.errstate(divide="ignore"):
            return load(self.domain, x, self.workers) / self.cpu_time(x) + 1 / self.disk_time(x)


@MODELS.register("operational-laws")
class OperationalLaws(Model):
    """Time = passes * (CPU + disk), the disk slowed by batch size and processes (operational laws, Courier).

    Knows batch size, epochs, records, cpu, jobs and categories; other numbers are taken to change nothing. `workers`
    are the machines that share the load.
    """

    def __init__(self, workers: float = 1.0) -> None:
        if not workers > 0:
            raise StudyError(f"{workers} is not a valid number of workers", hint="give the number of machines")
        self._workers = workers

    def learn(self, problem: Problem) -> LearnedPoints:
        import numpy as np

        require_times(problem, "operational-laws")
        domain, x = problem.domain, problem.x
        require_known(domain, "operational-laws")
        kinds, loads = categories(domain, x), _load_terms(domain, x, self._workers)
        found = relative_nnls(problem, passes(domain, x)[:, None] * np.column_stack([kinds, loads]))
        cpu_s, disk_s = np.split(found, [kinds.shape[1]])
        unexplained = faster_than_cpu(problem, kinds @ cpu_s)
        return LearnedPoints(Law(domain, self._workers, tuple(cpu_s.tolist()), tuple(disk_s.tolist()), unexplained))


def faster_than_cpu(problem: Problem, cpu_time: Floats) -> tuple[str, ...]:
    """The configurations whose passes take less than the CPU alone does: no time at a disk explains them."""
    import numpy as np

    too_fast = np.flatnonzero(problem.target < passes(problem.domain, problem.x) * cpu_time * (1 - 1e-9))
    return tuple(str(problem.configurations[i]) for i in too_fast)


def passes(domain: Domain, x: Floats) -> Floats:
    """Batches that are worked through: epochs * records / batch, each 1 where it is not a setting."""
    batch = setting(domain, x, Role.BATCH)
    if domain.first(Role.BATCH) and not domain.first(Role.EPOCHS) and domain.first(Role.ITERATIONS):
        return setting(domain, x, Role.ITERATIONS)
    return setting(domain, x, *PASSES) * setting(domain, x, *SIZES) / batch


def load(domain: Domain, x: Floats, workers: float) -> Floats:
    """How many ask the disk at once: max(1, processes / workers)."""
    import numpy as np

    return np.maximum(1.0, cpu(domain, x) * setting(domain, x, Role.JOBS) / workers)


def _load_terms(domain: Domain, x: Floats, workers: float) -> Floats:
    import numpy as np

    batch, waiting = setting(domain, x, Role.BATCH), load(domain, x, workers)
    # What is the same in every run belongs to the CPU: only a batch or load that varies shows the disk.
    terms = (batch * _varies(domain, Role.BATCH), waiting * _varies(domain, *_LOAD))
    return np.column_stack([*terms, terms[0] * terms[1]])


def categories(domain: Domain, x: Floats) -> Floats:
    """One column per level of each category; a single one without categories."""
    import numpy as np

    found = [
        (x[:, j] == code) * 1.0
        for j, axis in enumerate(domain.axes)
        if not axis.is_number and not axis.is_constant
        for code in range(len(axis.levels))
    ]
    return np.column_stack(found) if found else np.ones((len(x), 1))


def _varies(domain: Domain, *roles: Role) -> bool:
    return any(axis.role in roles and axis.is_number and not axis.is_constant for axis in domain.axes)


def require_known(domain: Domain, model: str) -> None:
    """Raise where no setting varies that the laws know, or one of them is not positive."""
    if not any(axis.role in _KNOWN and not axis.is_constant for axis in domain.axes):
        raise NotEnoughDataError(
            f"{model} cannot model {', '.join(axis.name for axis in domain.axes)}",
            hint="vary the batch size, epochs, records, machines, cores or jobs; "
            "`roles={NAME: 'batch'}` says which is which",
        )
    wrong = [axis.name for axis in domain.axes if axis.role in _KNOWN and not axis.is_positive]
    if wrong:
        raise StudyError(f"{model} needs {wrong[0]} as positive numbers", hint="use another model")
