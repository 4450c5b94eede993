"""Simulate a stream of jobs on a cluster, often enough to say how far the answer can be trusted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import inf
from typing import Literal

import numpy as np

from sparkcast.arrays import Floats, Ints
from sparkcast.errors import StudyError
from sparkcast.queues import require_share, too_busy
from sparkcast.queues.arrivals import Given, Renewal
from sparkcast.queues.launching import Phases, SharedMachine
from sparkcast.queues.serving import Served, as_launched, by_priority, first_come, shared
from sparkcast.queues.slowdown import Shared, Slowdown
from sparkcast.queues.stability import saturated_rate, searched_rate
from sparkcast.queues.steady import Estimate, over_replications, warm_up
from sparkcast.queues.workload import ArrivalDraw, JobClass, JobMix

Discipline = Literal["fifo", "fair", "priority", "launching"]
OnProgress = Callable[[int, int], None]  # replications done, of how many
PERCENTILES = (0.5, 0.9, 0.95, 0.99)
_AT_LEAST = 10  # MSER-5 tends to cut too little of a queue that fills slowly: no less than a tenth is warm-up


@dataclass(frozen=True, slots=True)
class Cluster:
    """What jobs share."""

    cores: int = 1  # or slots; a job holds as many as its width
    discipline: Discipline = "fifo"
    slowdown: Slowdown | None = None  # of fair sharing; by default equal shares of the cores
    slots: int | None = None  # of fair sharing: jobs at once, others wait; None: as many as come
    overtake: bool = False  # backfill: small jobs may start before large ones that do not fit yet
    machine: SharedMachine | None = (
        None  # as measured; of jobs that launch, wait in line for cores and run ("launching")
    )

    def __post_init__(self) -> None:
        if self.cores < 1 or (self.slots is not None and self.slots < 1):
            raise StudyError("a cluster needs at least 1 core and 1 slot", hint="give an integer above 0")
        if self.discipline == "launching" and self.machine is None:
            raise StudyError(
                "how jobs launch, wait for cores and run is not known",
                hint="give a study that sparkcast ran, with jobs alone and several at once: `jobs: [1, 3]`",
            )

    @property
    def sharing(self) -> Slowdown:
        return self.slowdown or Shared(self.cores)

    def most_rate(self, workload: JobMix) -> float:
        """The arrival rate below which queues do not grow without end: exact, or as a simulation shows."""
        scv = 1.0 if isinstance(workload.arrivals, Given) else workload.arrivals.scv
        return _most_rate(self, workload.classes, scv)

    def is_packed(self, workload: JobMix) -> bool:
        """Whether no core that could be used is idle while jobs wait, so that the stable rate needs no simulation."""
        if self.machine is not None:
            running = self.machine.cores // workload.widest
            return workload.is_uniform and (self.machine.carried == inf or running >= self.machine.carried)
        return self.discipline == "fair" or workload.is_uniform

    def _most_work(self, workload: JobMix) -> float:
        """Jobs per second when no core that could be used is idle."""
        if self.discipline == "fair":
            return self._fair_capacity() / workload.mean_s if self.slowdown else self.cores / workload.mean_work
        cores = self.cores if not workload.is_uniform else self.cores - self.cores % workload.widest
        if self.machine is not None:
            return _launching_capacity(workload, self.machine, cores)
        return cores / workload.mean_work

    def _fair_capacity(self) -> float:
        limit = self.sharing.capacity
        return limit if self.slots is None else min(limit, self.slots / self.sharing(self.slots))

    def resized(self, cores: int) -> "Cluster":
        machine = None if self.machine is None else self.machine.with_cores(cores)
        return replace(self, cores=cores, machine=machine)

    def serve(self, workload: JobMix, n_jobs: int, *, seed: int | tuple[int, ...] = 0) -> Served:
        """One run, from an empty cluster on."""
        return self.serve_stream(workload, workload.draw(np.random.default_rng(seed), n_jobs))

    def serve_stream(self, workload: JobMix, stream: ArrivalDraw) -> Served:
        if self.discipline == "fair":
            # A measured slowdown counts jobs, whatever they hold; equal shares are shares of the cores.
            load = stream if self.slowdown is None else replace(stream, width=np.ones(len(stream), dtype=int))
            return replace(shared(load, self.sharing, slots=self.slots), stream=stream)
        if self.machine is not None:
            return as_launched(stream, _phases(workload), self.machine)
        if self.discipline == "fifo" and workload.is_uniform:
            return first_come(stream, self.cores)
        if self.discipline == "fifo":
            stream = _without_priorities(stream)
        return by_priority(stream, self.cores, overtake=self.overtake)


def _phases(workload: JobMix) -> list[Phases]:
    found = [one.phases for one in workload.classes if one.phases is not None]
    if len(found) < len(workload.classes):
        raise StudyError("of some jobs the phases are not known", hint="ask for fifo or fair")
    return found


@lru_cache(maxsize=1024)
def _most_rate(cluster: Cluster, classes: tuple[JobClass, ...], arrival_scv: float) -> float:
    workload = JobMix(Renewal(1.0, arrival_scv), classes)
    most = cluster._most_work(workload)
    if cluster.is_packed(workload) or workload.widest > cluster.cores:
        return most
    has_ranks = cluster.discipline == "priority" and len({one.priority for one in classes}) > 1
    if cluster.machine is None and not has_ranks and not cluster.overtake:
        return saturated_rate(workload, cluster.cores)
    return searched_rate(workload, most, lambda stream: cluster.serve_stream(workload, stream))


def _launching_capacity(workload: JobMix, machine: SharedMachine, cores: int) -> float:
    """Jobs per second when cores, or else the processors, are never idle."""
    total = sum(one.share for one in workload.classes)
    held = taken = 0.0  # core-seconds, and seconds with the machine to itself, of a job on average
    for one, phases in zip(workload.classes, _phases(workload), strict=True):
        factor = one.share / total * one.times.mean_s / phases.alone_s
        held += factor * phases.width * phases.run_s
        taken += factor * phases.alone_s
    return min(cores / held, machine.carried / taken)


@dataclass(frozen=True, slots=True)
class ClassResult:
    """What became of the jobs of one class."""

    name: str
    share: float  # of all jobs
    mean_response_s: Estimate
    mean_wait_s: Estimate
    response_percentiles: dict[float, Estimate] = field(default_factory=dict)
    meets_slo: bool | None = None  # whether the percentile of this class meets the deadline; None without one


@dataclass(frozen=True, slots=True)
class Simulation:
    """What was seen over several runs after warm-up; times in seconds."""

    n_jobs: int  # in each run
    replications: int
    warm_up_jobs: int  # dropped from the beginning of each run
    mean_response_s: Estimate
    mean_wait_s: Estimate
    mean_jobs: Estimate
    utilization: Estimate
    probability_of_waiting: Estimate
    response_percentiles: dict[float, Estimate] = field(default_factory=dict)
    wait_percentiles: dict[float, Estimate] = field(default_factory=dict)
    classes: tuple[ClassResult, ...] = ()  # of jobs of several classes


def simulate(
    workload: JobMix,
    cluster: Cluster,
    *,
    n_jobs: int = 20_000,
    replications: int = 10,
    seed: int = 0,
    shares: Sequence[float] = PERCENTILES,
    level: float = 0.95,
    on_progress: OnProgress = lambda done, total: None,
) -> Simulation:
    """Independent runs of `n_jobs` jobs each; raises InfeasibleError where queues would grow without end."""
    for share in shares:
        require_share(share, "a percentile")
    require_stable_on(workload, cluster)
    runs = []
    for run in range(replications):
        runs.append(cluster.serve(workload, n_jobs, seed=(seed, run)))
        on_progress(run + 1, replications)
    # One cut for all, from their mean: single runs are so bursty that the rule would cut off chance, not warm-up.
    cut = max(warm_up(np.mean([served.response_s for served in runs], axis=0)), len(runs[0].stream) // _AT_LEAST)
    rows = [_numbers(served, cut, cluster, shares) for served in runs]
    mean, wait, jobs, busy, waits, *over = (
        over_replications([row[i] for row in rows], level) for i in range(len(rows[0]))
    )
    return Simulation(
        n_jobs,
        replications,
        cut,
        mean,
        wait,
        jobs,
        busy,
        waits,
        dict(zip(shares, over[: len(shares)], strict=True)),
        dict(zip(shares, over[len(shares) :], strict=True)),
        _classes(workload, runs, cut, shares, level),
    )


def _classes(
    workload: JobMix, runs: Sequence[Served], cut: int, shares: Sequence[float], level: float
) -> tuple[ClassResult, ...]:
    if len(workload.classes) < 2:
        return ()
    found, total = [], sum(one.share for one in workload.classes)
    for index, one in enumerate(workload.classes):
        rows = [_numbers_of_class(served, cut, index, shares) for served in runs]
        if any(row is None for row in rows):
            raise StudyError(
                f"a run of {len(runs[0].stream)} jobs has none of {one.name}",
                hint="simulate more jobs: `n_jobs=100000`",
            )
        mean, wait, *over = (over_replications([row[i] for row in rows if row], level) for i in range(2 + len(shares)))
        by_share = dict(zip(shares, over, strict=True))
        found.append(ClassResult(one.name, one.share / total, mean, wait, by_share))
    return tuple(found)


def _numbers_of_class(served: Served, cut: int, index: int, shares: Sequence[float]) -> list[float] | None:
    is_one = served.stream.job_class[cut:] == index
    if not is_one.any():
        return None
    response = served.response_s[cut:][is_one]
    return [float(response.mean()), float(served.wait_s[cut:][is_one].mean()), *np.quantile(response, shares).tolist()]


def require_fits(workload: JobMix, cluster: Cluster) -> None:
    """Raise StudyError for a job that never finds enough cores."""
    if workload.widest > cluster.cores and cluster.discipline != "fair":
        raise StudyError(
            f"a job holds {workload.widest} cores and the cluster has {cluster.cores}",
            hint="give more cores, or a smaller job",
        )


def require_stable_on(workload: JobMix, cluster: Cluster) -> None:
    """Raise InfeasibleError where more work comes than the cluster does; StudyError for a job that never fits."""
    require_fits(workload, cluster)
    most = cluster.most_rate(workload)
    if workload.arrivals.rate >= most:
        needed = stable_cores(workload, cluster) if cluster.slowdown is None else None
        raise too_busy(workload.arrivals.rate, most, cluster.cores, needed)


def stable_cores(workload: JobMix, cluster: Cluster) -> int:
    """The fewest cores with which the queue does not grow without end."""
    rate, least = workload.arrivals.rate, max(1, workload.widest)

    def is_stable(cores: int) -> bool:
        return rate < cluster.resized(cores).most_rate(workload)

    low, high = least - 1, max(least, int(rate * workload.mean_work) + 1)
    while not is_stable(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_stable(middle) else (middle, high)
    return high


def _numbers(served: Served, cut: int, cluster: Cluster, shares: Sequence[float]) -> list[float]:
    response, wait = served.response_s[cut:], served.wait_s[cut:]
    arrive = served.stream.arrive_s
    begin, end = float(arrive[cut]), float(arrive[-1])
    jobs = mean_number(served.stream.arrive_s, served.end_s, begin, end)
    busy = _busy(served, cluster, begin, end)
    return [
        float(response.mean()),
        float(wait.mean()),
        jobs,
        busy,
        float((wait > 0).mean()),
        *np.quantile(response, shares).tolist(),
        *np.quantile(wait, shares).tolist(),
    ]


def mean_number(come: Floats, go: Floats, begin: float, end: float) -> float:
    """The time average of how many are there between two moments."""
    if end <= begin:
        return float("nan")
    inside = np.minimum(go, end) - np.maximum(come, begin)
    return float(np.maximum(inside, 0.0).sum() / (end - begin))


def _busy(served: Served, cluster: Cluster, begin: float, end: float) -> float:
    """The share of the cores that are at work; with a measured slowdown, of the time that any job runs."""
    stream = served.stream
    if cluster.discipline != "fair":
        held = np.maximum(np.minimum(served.end_s, end) - np.maximum(served.start_s, begin), 0.0)
        return float((held * stream.width).sum() / (end - begin) / cluster.cores)
    times, load = timeline(served.start_s, served.end_s, weights=stream.width)
    spans = np.diff(np.clip(np.append(times, end), begin, end))
    used = np.minimum(load / cluster.cores, 1.0) if cluster.slowdown is None else (load > 0) * 1.0
    return float((spans * used).sum() / (end - begin))


def timeline(come: Floats, go: Floats, weights: Floats | Ints | None = None) -> tuple[Floats, Floats]:
    """When the number of those present (or their weight) changes, and to what."""
    amount = np.ones(len(come)) if weights is None else np.asarray(weights, dtype=float)
    times = np.concatenate([come, go])
    change = np.concatenate([amount, -amount])
    order = np.argsort(times, kind="stable")
    return times[order], np.cumsum(change[order])


def _without_priorities(stream: ArrivalDraw) -> ArrivalDraw:
    return replace(stream, priority=np.zeros(len(stream), dtype=int))
