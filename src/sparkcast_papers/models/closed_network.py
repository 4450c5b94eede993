"""Courier's network, solved: processes go round between their CPUs, where nobody waits, and a disk, where they do.

    T = N R(n),    N = epochs * records / batch,    n = max(1, processes / workers)

Of one pass, a process spends S + r * batch / cores on its CPU (each level of each category has its own S and r) and
D + d * batch of service at the disk; R(n) is the time of a round with n processes on each worker by exact mean value
analysis (`networks.closed`). The paper (ICPE 2021) inverts an open M/M/1 in each run for the disk's rate, which
explodes or turns negative; in a closed network no load is too much, and every time is positive. All are estimated
together by least squares on logarithms that a few spoiled runs cannot bend. Runs faster than the CPU alone could be are
named.
"""

from dataclasses import dataclass, replace

from sparkcast.arrays import Floats
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.models.base import MODELS, Domain, LearnedPoints, Model, Problem, require_times
from sparkcast.study import Role
from sparkcast_papers.models.courier import cpu, setting
from sparkcast_papers.models.operational_laws import categories, faster_than_cpu, load, passes, require_known
from sparkcast_papers.networks.closed import delay_and_queue

_SPOILED = 0.1  # relative error beyond which a run counts less
_STARTS = (0.02, 0.1)  # shares of a pass that the disk is first taken to need
_MOST_PROCESSES = 2000  # on one worker
_RANGE = 1e6  # of a coefficient, around where its search begins


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """Seconds of one pass; in units of unknown settings where passes are not known."""

    domain: Domain
    workers: float
    cpu_s: tuple[float, ...]  # for each level of each category; one number without categories
    cpu_per_record_s: tuple[float, ...]  # likewise, on one core
    disk_s: tuple[float, ...]  # of a batch, and of each record in it
    unexplained: tuple[str, ...] = ()  # configurations whose passes are faster than the CPU alone

    def __call__(self, x: Floats) -> Floats:
        on_worker = load(self.domain, x, self.workers)
        return passes(self.domain, x) * delay_and_queue(self.cpu_time(x), self.disk_time(x), on_worker)

    def cpu_time(self, x: Floats) -> Floats:
        """Seconds of one pass on the CPU: a delay, because each process has cores of its own."""
        kinds, shared = categories(self.domain, x), _per_core(self.domain, x)
        return kinds @ self.cpu_s + kinds @ self.cpu_per_record_s * shared

    def disk_time(self, x: Floats) -> Floats:
        """Seconds of service at the disk in one pass, waiting not among them."""
        return self.disk_s[0] + self.disk_s[1] * setting(self.domain, x, Role.BATCH)


@MODELS.register("closed-network")
class ClosedNetwork(Model):
    """Time = passes * round of CPU (delay) and disk (queue), by exact mean value analysis (Courier's network, closed).

    Knows batch size, epochs, records, cpu, jobs and categories; other numbers are taken to change nothing. `workers`
    are the machines that share the load.
    """

    def __init__(self, workers: float = 1.0) -> None:
        if not workers > 0:
            raise StudyError(f"{workers} workers cannot be", hint="give the number of machines")
        self._workers = workers

    def learn(self, problem: Problem) -> LearnedPoints:
        import numpy as np

        require_times(problem, "closed-network")
        domain, x = problem.domain, problem.x
        require_known(domain, "closed-network")
        if load(domain, x, self._workers).max() > _MOST_PROCESSES:
            raise NotEnoughDataError(
                f"more than {_MOST_PROCESSES} processes on a worker are too many for exact numbers",
                hint="give the number of machines: workers",
            )
        found = min((self._fit(problem, share) for share in _STARTS), key=lambda fitted: fitted[0])[1]
        n = (len(found) - 2) // 2
        parts = (tuple(part.tolist()) for part in np.split(found, [n, 2 * n]))
        network = Network(domain, self._workers, *parts)
        return LearnedPoints(replace(network, unexplained=faster_than_cpu(problem, network.cpu_time(x))))

    def _fit(self, problem: Problem, disk_share: float) -> tuple[float, Floats]:
        """The loss and the coefficients, all positive, from one beginning."""
        import numpy as np
        from scipy.optimize import least_squares

        domain, x = problem.domain, problem.x
        kinds, shared, batch = categories(domain, x), _per_core(domain, x), setting(domain, x, Role.BATCH)
        n, on_worker = kinds.shape[1], load(domain, x, self._workers)
        measured = np.log(problem.target / passes(domain, x))
        weights = np.sqrt(problem.weights)
        typical, per_level = float(np.exp(np.median(measured))), float(kinds.sum(axis=1).max())

        def errors(logs: Floats) -> Floats:
            values = np.exp(logs)
            on_cpu = kinds @ values[:n] + kinds @ values[n : 2 * n] * shared
            disk = values[-2] + values[-1] * batch
            return np.asarray(weights * (np.log(delay_and_queue(on_cpu, disk, on_worker)) - measured))

        begin = np.log(
            typical
            * np.concatenate(
                [
                    np.full(n, 0.7 / per_level),
                    np.full(n, 0.1 / per_level / float(np.median(shared))),
                    [disk_share, 0.1 * disk_share / float(np.median(batch))],
                ]
            )
        )
        reach = np.log(_RANGE)
        solved = least_squares(errors, begin, bounds=(begin - reach, begin + reach), loss="soft_l1", f_scale=_SPOILED)
        return float(solved.cost), np.asarray(np.exp(solved.x))


def _per_core(domain: Domain, x: Floats) -> Floats:
    """Records of a batch that one core works on."""
    return setting(domain, x, Role.BATCH) / cpu(domain, x)
