"""What the history of each job shows, run by run: measured against forecast, changes, parts, and the next run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import exp, log
from statistics import fmean, median

from sparkcast.errors import NotEnoughDataError
from sparkcast.history.changes import JobChange, RunScore, changes_of, score_run, unusual_places
from sparkcast.history.jobs import JobHistory
from sparkcast.history.learn import learn_prior
from sparkcast.history.model import JobModel
from sparkcast.history.points import RunPoint, points_of
from sparkcast.history.prior import FleetPrior
from sparkcast.history.remaining import eta_of
from sparkcast.history.savings import Saving, savings_of, worth_of
from sparkcast.study import Observation, Price
from sparkcast.study.application import EXIT, LAUNCH, Part

_PARTS = {LAUNCH: "starting the driver", **{part.response: str(part.value) for part in Part}, EXIT: "stopping"}
ENOUGH = 8  # runs from which alarms are believed
SAFE = 0.95  # a deadline that is kept less often is at risk
_COMPARED = 10  # runs before and after a change whose parts are compared
_STALE_GAPS, _STALE_S = 3.0, 3 * 86400.0  # without a run for so many times the usual gap, and for so long


@dataclass(frozen=True, slots=True)
class StoryRun:
    """One run that ended well, and what the runs before it let expect at its input."""

    run_id: str
    started_s: float
    took_s: float
    low_s: float  # 90 % of such runs fall between these; after a change, without the change
    middle_s: float
    high_s: float
    input_size: float
    executors: int | None
    core_hours: float | None
    is_alarm: bool
    changed: tuple[str, ...]  # settings that differ from the run before

    @property
    def is_inside(self) -> bool:
        return self.low_s <= self.took_s <= self.high_s


@dataclass(frozen=True, slots=True)
class PartsShift:
    """Where the time of typical runs went before a change, and since."""

    before: Mapping[str, float]  # seconds, by what people call the part
    since: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class JobStory:
    """One recurring job."""

    name: str
    runs: tuple[StoryRun, ...]  # in order of time
    n_runs: int  # with those that failed or have not ended
    n_failed: int
    n_running: int
    user: str
    queue: str
    usual_s: float | None
    core_hours: float  # of the period
    worth: float  # the same in money, where there is a price
    next_s: tuple[float, float, float] | None  # of the next run: 5 %, median, 95 %, with what was learned since
    changes: tuple[JobChange, ...]
    latest: RunScore | None  # the last run, where it took unusually long
    savings: tuple[Saving, ...]
    parts: PartsShift | None
    last_s: float | None
    is_stale: bool
    spent: Mapping[str, float]  # seconds of a typical run of the last ones, by what people call the part
    deadline_s: float | None = None  # that somebody gave it
    in_time: float | None = None  # the probability that the next run keeps it
    ends: tuple[float, float, float] | None = None  # of a run that goes on: the moments, 5 %, median, 95 %
    reasons: tuple[str, ...] = field(default=(), repr=False)

    @property
    def change(self) -> JobChange | None:
        """The last one."""
        return self.changes[-1] if self.changes else None

    @property
    def is_at_risk(self) -> bool:
        return self.in_time is not None and self.in_time < SAFE

    @property
    def coverage(self) -> tuple[int, int] | None:
        """How many runs fell inside their interval, of how many that followed enough others."""
        judged = self.runs[ENOUGH:]
        before = [run for run in judged if self.change is None or run.started_s < self.change.since_s]
        return (sum(run.is_inside for run in before), len(before)) if before else None

    @property
    def error(self) -> float | None:
        """The mean error of the forecasts, as a share."""
        judged = [run for run in self.runs[ENOUGH:] if self.change is None or run.started_s < self.change.since_s]
        return fmean(abs(run.took_s / run.middle_s - 1) for run in judged) if judged else None


def stories_of(
    histories: Sequence[JobHistory],
    *,
    since_s: float,
    until_s: float,
    price: Price | None = None,
    deadlines: Mapping[str, float] | None = None,
    prior: FleetPrior | None = None,
) -> Iterator[JobStory]:
    """One after the other, by name. `deadlines`: seconds that a run of a job may take."""
    points = {one.name: points_of(one.runs) for one in histories}
    learned = prior or learn_prior(points.values())
    period = _Period(since_s, until_s, price)
    for history in histories:
        yield _story(history, points[history.name], learned, period, (deadlines or {}).get(history.name))


@dataclass(frozen=True, slots=True)
class _Period:
    """The runs that are added up, and at which price."""

    since_s: float
    until_s: float
    price: Price | None


def _story(
    history: JobHistory, points: Sequence[RunPoint], prior: FleetPrior, period: _Period, deadline_s: float | None
) -> JobStory:
    runs: tuple[StoryRun, ...] = ()
    changes: tuple[JobChange, ...] = ()
    latest: RunScore | None = None
    following: tuple[float, float, float] | None = None
    parts: PartsShift | None = None
    last = max((run.started_at or 0.0 for run in history.runs), default=None)
    savings: tuple[Saving, ...] = ()
    is_stale = False
    in_time: float | None = None
    if points:
        model = JobModel(points, prior)
        runs, changes, latest = _judged(history.name, model, prior)
        is_stale = _is_stale(runs, last, period.until_s)
        following = _next(model) if len(runs) > 1 else None
        parts = _parts(model) if changes else None
        if not is_stale:
            in_time = _in_time(model, deadline_s)
            savings = _offered(history.name, model, period, in_time)
    hours, worth = _spent(points, period.since_s, period.price)
    record = next((run.record for run in reversed(history.runs) if run.record is not None), None)
    return JobStory(
        history.name,
        runs,
        len(history.runs),
        sum(_has_failed(run) for run in history.runs),
        len(history.running),
        "" if record is None else record.user,
        "" if record is None else record.queue,
        median([run.took_s for run in runs[-20:]]) if runs else None,
        hours,
        worth,
        following,
        changes,
        latest,
        savings,
        parts,
        last,
        is_stale,
        _typical_parts(points[-_COMPARED:]),
        deadline_s,
        in_time,
        _ends(history, last),
        history.reasons,
    )


def _in_time(model: JobModel, deadline_s: float | None) -> float | None:
    """The probability that the next run keeps its deadline; one run says nothing of the next."""
    return None if deadline_s is None or len(model.points) < 2 else model.forecast().below(log(deadline_s))


def _offered(name: str, model: JobModel, period: _Period, in_time: float | None) -> tuple[Saving, ...]:
    """What could be saved: nothing while a deadline is at risk, nor what has no price, such as memory."""
    if in_time is not None and in_time < SAFE:
        return ()
    return tuple(one for one in savings_of(name, model, period.since_s, period.price) if one.worth > 0)


def _judged(
    name: str, model: JobModel, prior: FleetPrior
) -> tuple[tuple[StoryRun, ...], tuple[JobChange, ...], RunScore | None]:
    """The runs, the changes, and the last run where it was unusual. Of a few runs nothing is told."""
    n = len(model.scored)
    if n < ENOUGH:
        return tuple(_runs(model, set(), prior)), (), None
    alarms = set(unusual_places(model))
    latest = score_run(name, model, n - 1) if n - 1 in alarms else None
    return tuple(_runs(model, alarms, prior)), changes_of(name, model), latest


def _ends(history: JobHistory, last: float | None) -> tuple[float, float, float] | None:
    """When the run that goes on will end: the last one, where nothing began after it."""
    record = next((run.record for run in history.running if run.started_at == last), None)
    if record is None:
        return None
    try:
        left = eta_of(history, record).remaining
    except NotEnoughDataError:
        return None
    low, high = left.interval(0.9)
    return record.ended_s + low, record.ended_s + left.median, record.ended_s + high


def _is_stale(runs: Sequence[StoryRun], last: float | None, until_s: float) -> bool:
    gaps = [after.started_s - before.started_s for before, after in pairwise(runs)]
    return last is not None and bool(gaps) and until_s - last > max(_STALE_GAPS * median(gaps), _STALE_S)


def _spent(points: Sequence[RunPoint], since_s: float, price: Price | None) -> tuple[float, float]:
    """Core-hours since then, and what they are worth."""
    recent = [point for point in points if point.started_s >= since_s]
    hours = sum(point.core_hours or 0.0 for point in recent)
    return hours, worth_of(hours, sum(point.gib_hours or 0.0 for point in recent), price)


def _has_failed(run: Observation) -> bool:
    return not run.ok and (run.origin is None or run.origin.is_complete)


def _runs(model: JobModel, alarms: set[int], prior: FleetPrior) -> Iterator[StoryRun]:
    """After the last change the forecast is that of the runs before it: the band shows what would have been."""
    place = model.shifts[-1].place if model.shifts else len(model.scored)
    before = JobModel(model.points[:place], prior) if place < len(model.scored) else None
    for at, one in enumerate(model.scored):
        point, expected = one.point, one.expected
        if before is not None and at >= place:
            size = point.input_size or None
            expected = before.forecast(
                input_size=size, executors=point.executors, cores=point.cores, cluster=point.cluster
            )
        reach = _reach(expected.df) * expected.sd
        low, middle, high = (exp(expected.mean + by) for by in (-reach, 0.0, reach))
        took = exp(one.value)
        is_since = at >= place and took > high
        yield StoryRun(
            point.run_id,
            point.started_s,
            took,
            low,
            middle,
            high,
            point.input_size,
            point.executors,
            point.core_hours,
            at in alarms or is_since,
            one.changed,
        )


def _reach(df: float) -> float:
    """Standard deviations of Student's distribution between which 90 % lie (Cornish and Fisher)."""
    z = 1.645
    return z if df > 200 else z + (z**3 + z) / (4 * df) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2)


def _next(model: JobModel) -> tuple[float, float, float]:
    low, high = (found := model.forecast().distribution()).interval(0.9)
    return low, found.median, high


def _parts(model: JobModel) -> PartsShift | None:
    """The medians of a few runs on either side of the last change."""
    place = model.shifts[-1].place
    sides = (model.points[max(place - _COMPARED, 0) : place], model.points[place : place + _COMPARED])
    if not all(sides):
        return None
    before, since = (_typical_parts(side) for side in sides)
    return PartsShift(before, since)


def _typical_parts(points: Sequence[RunPoint]) -> dict[str, float]:
    return {title: _typical(points, name) for name, title in _PARTS.items()} if points else {}


def _typical(points: Sequence[RunPoint], part: str) -> float:
    return median(point.responses.get(part, 0.0) for point in points)
