"""What a job could save, with a value to set. What its history does not tell is not promised."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, exp, log, sqrt

import numpy as np

from sparkcast.history.mixture import StudentMixture
from sparkcast.history.model import JobModel
from sparkcast.history.points import RunPoint
from sparkcast.history.replayed import dynamic_share, log_ratio
from sparkcast.recommend.submit import property_options
from sparkcast.study import Price
from sparkcast.units import show_bytes, show_percent

GIB = 1024**3
GIB_WORTH = 0.134  # core-hours: what a GiB-hour costs on a public cloud beside a core-hour, where no price is given
_FEWEST = 5  # runs since the last change
_FEWEST_PEAKS = 8  # runs that say how much memory is used
_LAST = 20  # runs that count
_SLOWER = 0.10  # of the time: fewer executors that cost more are not advised
_WORTH_IT = 0.05  # of the core-hours or GiB-hours
_PER_DOUBLING = 0.10  # standard deviation of a replay's error, of the logarithm, for half the slots
_HEADROOM = 1.25
_PEAK_SCORE = 2.33  # of a run in a hundred
_SMALLER = 0.8  # of the memory; anything nearer is left as it is
_DYNAMIC_ERROR = 0.15  # standard deviation of what dynamic allocation holds, as a share of what it saves
_DYNAMIC_WORTH = 0.15  # of the core-hours
_90 = 1.645
_PARTITIONS = "spark.sql.shuffle.partitions"


@dataclass(frozen=True, slots=True)
class Saving:
    """One change to one job. Amounts are of the runs of the period, 90% intervals."""

    job: str
    what: str  # executors, memory, partitions, dynamic allocation
    properties: Mapping[str, str]
    text: str  # `spark.executor.instances 16 -> 6`
    core_hours: float
    low_core_hours: float
    high_core_hours: float
    gib_hours: float
    worth: float  # in money, or in core-hours where no price is given
    low: float
    high: float
    risk: float | None  # that a run takes longer than 95% of its runs do now; None where that is not known
    n_runs: int  # in the period
    evidence: str
    line: str = ""  # what to paste into the spark-submit line

    def __post_init__(self) -> None:
        object.__setattr__(self, "line", " ".join(property_options(self.properties)))


def savings_of(job: str, model: JobModel, since_s: float, price: Price | None) -> tuple[Saving, ...]:
    """What could be saved on the runs since a moment, the most first."""
    period = [point for point in model.points if point.started_s >= since_s]
    recent = model.points[max(model.since, len(model.points) - _LAST) :]
    if len(recent) < _FEWEST or not period:
        return ()
    found = [*_executors(job, model, recent, period, price), *_dynamic(job, model, recent, period, price)]
    best = sorted(found, key=lambda one: -one.worth)[:1]
    share = _share_left(best, period)
    others = (*_memory(job, recent, period, price, share), *_partitions(job, recent, period))
    return tuple(sorted((*best, *others), key=lambda one: -one.worth))


def worth_of(core_hours: float, gib_hours: float, price: Price | None) -> float:
    """Money, or core-hours where there is no price."""
    if price is None:
        return core_hours + GIB_WORTH * gib_hours
    return price.core_hour * core_hours + price.gib_hour * gib_hours


# ---------------------------------------------------------------- executors


def _executors(
    job: str, model: JobModel, recent: Sequence[RunPoint], period: Sequence[RunPoint], price: Price | None
) -> Iterator[Saving]:
    executors, cores = model.usual_executors, model.usual_cores
    if not executors or not cores or executors < 2:
        return
    best: tuple[float, int, _Ratio] | None = None
    for fewer in range(1, executors):
        ratio = _time_ratio(model, recent, executors * cores, fewer * cores)
        if ratio is None or ratio.mean > log(1 + _SLOWER):
            continue
        left = fewer / executors * exp(ratio.mean)
        if best is None or left < best[0]:
            best = (left, fewer, ratio)
    if best is None:
        return
    left, fewer, ratio = best
    sure = fewer / executors * exp(ratio.mean + _90 * ratio.sd)
    if left > 1 - _WORTH_IT or sure >= 1:
        return
    most = max(fewer / executors * exp(ratio.mean - _90 * ratio.sd), 0.0)
    hours, gib = _sum(period, "core"), _sum(period, "gib")
    properties = {"spark.executor.instances": str(fewer)}
    if "spark.cores.max" in (recent[-1].record.properties if recent[-1].record else {}):
        properties["spark.cores.max"] = str(fewer * cores)
    forecast = model.forecast()
    slower = forecast.moved(ratio.mean).wider(ratio.sd)
    yield Saving(
        job,
        "executors",
        properties,
        f"spark.executor.instances {executors} -> {fewer}",
        hours * (1 - left),
        hours * (1 - sure),
        hours * (1 - most),
        gib * (1 - left),
        worth_of(hours, gib, price) * (1 - left),
        worth_of(hours, gib, price) * (1 - sure),
        worth_of(hours, gib, price) * (1 - most),
        _risk(forecast, slower),
        len(period),
        f"{ratio.text}: {_slower(ratio.mean)}",
    )


@dataclass(frozen=True, slots=True)
class _Ratio:
    """Of the time with other slots: its logarithm."""

    mean: float
    sd: float
    text: str


def _time_ratio(model: JobModel, recent: Sequence[RunPoint], slots: int, others: int) -> _Ratio | None:
    """From runs with other slots, else from the stages of the last runs."""
    seen = {point.slots for point in model.points if point.slots}
    doublings = abs(log(others / slots)) / log(2)
    if len(seen) > 1 and min(seen) <= others:
        now, then = (model.forecast(executors=n, cores=1) for n in (slots, others))
        between = float(np.sqrt(max(then.sd**2 - now.sd**2, 0.0)))
        return _Ratio(then.mean - now.mean, max(between, 0.03 * doublings), "runs with other executors")
    found = [
        ratio
        for point in recent[-10:]
        if point.record is not None and point.slots == slots
        for ratio in [log_ratio(point.record, slots, others)]
        if ratio is not None
    ]
    if len(found) < _FEWEST:
        return None
    sd = sqrt(float(np.var(found)) + (_PER_DOUBLING * doublings) ** 2 * _exposed(float(np.mean(found)), doublings))
    return _Ratio(float(np.mean(found)), sd, f"stages of the last {len(found)} runs, replayed")


def _exposed(ratio: float, doublings: float) -> float:
    """How much of the time hangs on the slots: nothing of it can be wrong where no task waits for one."""
    return min(max(ratio / (doublings * log(2)), 0.05), 1.0)


def _slower(ratio: float) -> str:
    change = math.expm1(ratio)
    return "about as fast" if abs(change) < 0.01 else f"{show_percent(change)} slower"


def _risk(now: StudentMixture, then: StudentMixture) -> float:
    """That a run takes longer than 95 of 100 do now."""
    limit = now.distribution().quantile(0.95)
    return 1 - then.below(log(limit))


# ---------------------------------------------------------------- dynamic allocation


def _dynamic(
    job: str, model: JobModel, recent: Sequence[RunPoint], period: Sequence[RunPoint], price: Price | None
) -> Iterator[Saving]:
    """Where stages leave most executors idle for long."""
    executors, cores = model.usual_executors, model.usual_cores
    if not executors or not cores or executors < 4:
        return
    shares = [dynamic_share(point.record, executors, cores) for point in recent[-10:] if point.record is not None]
    if len(shares) < _FEWEST:
        return
    saved = 1 - float(np.mean(shares))
    if saved < _DYNAMIC_WORTH:
        return
    sd = sqrt(float(np.var(shares)) + (_DYNAMIC_ERROR * saved) ** 2)
    low, high = saved - _90 * sd, min(saved + _90 * sd, 1.0)
    if low <= 0:
        return
    hours, gib = _sum(period, "core"), _sum(period, "gib")
    whole = worth_of(hours, gib, price)
    properties = {
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.enabled": "true",
        "spark.dynamicAllocation.maxExecutors": str(executors),
    }
    yield Saving(
        job,
        "dynamic allocation",
        properties,
        f"dynamic allocation, up to {executors} executors",
        hours * saved,
        hours * low,
        hours * high,
        gib * saved,
        whole * saved,
        whole * low,
        whole * high,
        None,
        len(period),
        f"stages of the last {len(shares)} runs leave executors idle for more than a minute",
    )


# ---------------------------------------------------------------- memory


def _memory(
    job: str, recent: Sequence[RunPoint], period: Sequence[RunPoint], price: Price | None, share: float
) -> Iterator[Saving]:
    """By what nearly all runs stay below, with headroom; `share` of the hours is left by other savings."""
    records = [point.record for point in recent if point.record is not None and point.record.memory.peak_heap > 0]
    if len(records) < _FEWEST_PEAKS or any(stage.spilled_bytes for one in records for stage in one.stages):
        return
    heap = records[-1].memory.heap
    if heap <= 0 or any(one.memory.heap != heap for one in records):
        return
    logs = np.log([one.memory.peak_heap for one in records])
    upper = max(float(logs.mean() + _PEAK_SCORE * logs.std(ddof=1)), float(logs.max()))
    needed = max(ceil(exp(upper) * _HEADROOM / GIB), 1)
    if needed * GIB > _SMALLER * heap:
        return
    container = max(records[-1].memory.container, heap)
    saved_share = (heap - needed * GIB) * max(container / heap, 1.0) / container
    gib = _sum(period, "gib") * share * min(saved_share, 1.0)
    if gib <= 0:
        return
    worth = worth_of(0.0, gib, price)
    yield Saving(
        job,
        "memory",
        {"spark.executor.memory": f"{needed}g"},
        f"spark.executor.memory {heap / GIB:g}g -> {needed}g",
        0.0,
        0.0,
        0.0,
        gib,
        worth,
        0.85 * worth,
        1.05 * worth,
        0.01,
        len(period),
        f"heap of the last {len(records)} runs peaks at {show_bytes(exp(float(logs.max())))}; 25% headroom",
    )


# ---------------------------------------------------------------- partitions


def _partitions(job: str, recent: Sequence[RunPoint], period: Sequence[RunPoint]) -> Iterator[Saving]:
    """Where tasks spill, so many partitions that a task holds what it spilled. What that saves is not known."""
    records = [point.record for point in recent[-10:] if point.record is not None]
    spills = [max(one.stages, key=lambda stage: stage.spilled_bytes) for one in records if one.stages]
    spills = [stage for stage in spills if stage.spilled_bytes > GIB and stage.shuffle_read_bytes > 0]
    if len(records) < _FEWEST or len(spills) < len(records) / 2:
        return
    now = records[-1].properties.get(_PARTITIONS, "200")
    ratio = float(np.median([stage.spilled_bytes / stage.shuffle_read_bytes for stage in spills]))
    if not now.isdigit() or any(stage.n_tasks != int(now) for stage in spills):
        return  # the number of its tasks follows something else
    wanted = int(now) * 2 ** ceil(log(1 + ratio, 2))
    spilled = float(np.median([stage.spilled_bytes for stage in spills]))
    yield Saving(
        job,
        "partitions",
        {_PARTITIONS: str(wanted)},
        f"{_PARTITIONS} {now} -> {wanted}",
        *(0.0,) * 7,
        None,
        len(period),
        f"{spills[-1].label} spills {show_bytes(spilled)} in {len(spills)} of the last {len(records)} runs; "
        "what that costs is not known",
    )


def _share_left(found: Sequence[Saving], period: Sequence[RunPoint]) -> float:
    hours = _sum(period, "core")
    return 1 - sum(one.core_hours for one in found) / hours if hours else 1.0


def _sum(points: Sequence[RunPoint], what: str) -> float:
    return sum((point.core_hours if what == "core" else point.gib_hours) or 0.0 for point in points)
