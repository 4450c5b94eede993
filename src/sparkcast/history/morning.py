"""The morning list of a fleet: what could be saved, what changed, what failed, and where the core-hours went."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sparkcast.display import Displayed
from sparkcast.errors import NotEnoughDataError
from sparkcast.history.changes import JobChange, RunScore, changes_of, date_of, score_run, unusual_places
from sparkcast.history.jobs import JobHistory
from sparkcast.history.learn import learn_prior
from sparkcast.history.model import JobModel
from sparkcast.history.points import points_of
from sparkcast.history.prior import FleetPrior
from sparkcast.history.savings import Saving, savings_of, worth_of
from sparkcast.study import Observation, Price
from sparkcast.study.application import CORE_HOURS, GIB_HOURS

MOST = 20  # jobs with the most to save
_TASK_TIME = "task_s"
_ORDINARY = re.compile(r"\d+|0x[0-9a-f]+|[0-9a-f]{8,}")
_LONGEST_CAUSE = 90


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Runs that failed alike, and what executors were held for in vain."""

    cause: str
    n_runs: int
    jobs: tuple[str, ...]
    core_hours: float
    gib_hours: float
    worth: float
    last_s: float
    n_unknown: int = 0  # of them, whose cost their logs do not tell


@dataclass(frozen=True, slots=True)
class FleetTotal:
    """Core-hours of some runs, and the share of them in which no task ran, or that failed runs took."""

    name: str
    n_runs: int
    n_failed: int
    core_hours: float
    gib_hours: float
    worth: float
    wasted: float  # share


@dataclass(frozen=True, slots=True)
class FleetReport(Displayed):
    """What the runs of a period cost, and what could be saved."""

    since_s: float
    until_s: float
    n_jobs: int
    n_runs: int
    total: FleetTotal
    savings: tuple[Saving, ...]  # the most first
    changes: tuple[JobChange, ...]  # that showed in the period, the latest first
    unusual: tuple[RunScore, ...]
    failures: tuple[FailureGroup, ...]
    by_job: tuple[FleetTotal, ...]
    by_user: tuple[FleetTotal, ...]
    by_queue: tuple[FleetTotal, ...]
    by_day: tuple[FleetTotal, ...]
    currency: str  # "" where amounts are core-hours
    notes: tuple[str, ...] = ()


def fleet_report(
    histories: Sequence[JobHistory],
    *,
    since_s: float,
    until_s: float,
    price: Price | None = None,
    prior: FleetPrior | None = None,
) -> FleetReport:
    """The morning list of the runs that began in a period. Older ones say what is usual.

    Raises:
        NotEnoughDataError: no run began in it.
    """
    runs = {one.name: [run for run in one.runs if since_s <= _began(run) <= until_s] for one in histories}
    _require_runs(runs, histories, since_s)
    models = _models(histories, runs, until_s, prior)
    savings = [one for name, model in models.items() for one in savings_of(name, model, since_s, price)]
    changes = [one for name, model in models.items() for one in changes_of(name, model) if one.found_s >= since_s]
    unusual = [one for name, model in models.items() for one in _unusual(name, model, since_s)]
    everything = [(name, run) for name, own_runs in runs.items() for run in own_runs]
    by_job, by_user, by_queue, by_day = _divided(everything, price)
    return FleetReport(
        since_s,
        until_s,
        sum(map(bool, runs.values())),
        len(everything),
        _total("all", [run for _, run in everything], price),
        tuple(sorted(savings, key=lambda one: -one.worth)),
        tuple(sorted(changes, key=lambda one: -one.since_s)),
        tuple(sorted(unusual, key=lambda one: -one.started_s)),
        _failures(everything, price),
        by_job,
        by_user,
        by_queue,
        by_day,
        price.currency if price else "",
        tuple(_notes(everything)),
    )


def _models(
    histories: Sequence[JobHistory],
    runs: Mapping[str, Sequence[Observation]],
    until_s: float,
    prior: FleetPrior | None,
) -> dict[str, JobModel]:
    """Of the jobs that ran in the period."""
    points = {one.name: points_of(run for run in one.runs if _began(run) <= until_s) for one in histories}
    learned = prior or learn_prior(points.values())
    return {name: JobModel(own, learned) for name, own in points.items() if runs[name] and own}


def _require_runs(runs: Mapping[str, Sequence[Observation]], histories: Sequence[JobHistory], since_s: float) -> None:
    if any(runs.values()):
        return
    last = max((_began(run) for one in histories for run in one.runs), default=None)
    told = "`watch` and `ingest` fill the store" if last is None else f"the last one began on {date_of(last)}"
    raise NotEnoughDataError(f"no run began since {date_of(since_s)}", hint=f"{told}; give a longer `since=`")


def _unusual(name: str, model: JobModel, since_s: float) -> list[RunScore]:
    """Runs that took longer than usual, but for those with which a change showed."""
    of_changes = {place for shift in model.shifts for place in range(shift.place, shift.found + 1)}
    places = [n for n in unusual_places(model) if model.scored[n].point.started_s >= since_s and n not in of_changes]
    return [score_run(name, model, place) for place in places]


def _began(run: Observation) -> float:
    return run.started_at or 0.0


def _notes(runs: Iterable[tuple[str, Observation]]) -> Iterable[str]:
    without = sum(CORE_HOURS not in run.responses and _held(run) is None for _, run in runs)
    if without:
        yield f"{without} run{'s' if without > 1 else ''} whose core-hours are not known count as none"


# ---------------------------------------------------------------- totals


def _totals(
    runs: Sequence[tuple[str, Observation]], key: Callable[[str, Observation], str], price: Price | None
) -> tuple[FleetTotal, ...]:
    groups: dict[str, list[Observation]] = {}
    for name, run in runs:
        groups.setdefault(key(name, run), []).append(run)
    found = [_total(name, group, price) for name, group in groups.items()]
    return tuple(sorted(found, key=lambda one: (-one.worth, one.name)))


_Totals = tuple[FleetTotal, ...]


def _divided(runs: Sequence[tuple[str, Observation]], price: Price | None) -> tuple[_Totals, _Totals, _Totals, _Totals]:
    """By job, user, queue and day."""
    by_day = _totals(runs, lambda _, run: date_of(_began(run)), price)
    return (
        _totals(runs, lambda name, run: name, price),
        _totals(runs, lambda _, run: run.record.user if run.record else "", price),
        _totals(runs, lambda _, run: run.record.queue if run.record else "", price),
        tuple(sorted(by_day, key=lambda one: one.name)),
    )


def _total(name: str, runs: Sequence[Observation], price: Price | None) -> FleetTotal:
    hours = gib = used = told = 0.0
    for run in runs:
        own, own_gib = _hours(run)
        hours, gib = hours + own, gib + own_gib
        if not run.ok or _TASK_TIME in run.responses:  # else nobody knows how much of it was used
            told += own
            used += min(run.responses.get(_TASK_TIME, 0.0) / 3600, own) if run.ok else 0.0
    n_failed = sum(not run.ok for run in runs)
    wasted = 1 - used / told if told else 0.0
    return FleetTotal(name, len(runs), n_failed, hours, gib, worth_of(hours, gib, price), max(wasted, 0.0))


def _hours(run: Observation) -> tuple[float, float]:
    """Core-hours and GiB-hours that executors were held for."""
    told = run.responses
    if CORE_HOURS in told:
        return told[CORE_HOURS], told.get(GIB_HOURS, 0.0)
    return _held(run) or (0.0, 0.0)


def _held(run: Observation) -> tuple[float, float] | None:
    """Of a run whose log tells no times: from the executors that it had."""
    record = run.record
    if record is None or not record.executors:
        return None
    ends = [*(one.after_s for one in record.executors[1:]), max(record.wall_s, 0.0)]
    spans = [(one, max(end - one.after_s, 0.0)) for one, end in zip(record.executors, ends, strict=True)]
    core = sum(one.cores * took for one, took in spans) / 3600
    gib = sum(one.executors * took for one, took in spans) / 3600 * record.memory.container / 1024**3
    return core, gib


# ---------------------------------------------------------------- failures


def _failures(runs: Sequence[tuple[str, Observation]], price: Price | None) -> tuple[FailureGroup, ...]:
    groups: dict[str, list[tuple[str, Observation]]] = {}
    for name, run in runs:
        if not run.ok and (run.origin is None or run.origin.is_complete):
            groups.setdefault(_alike(run), []).append((name, run))
    found = []
    for cause, group in groups.items():
        hours = [_hours(run) for _, run in group]
        core, gib = sum(one for one, _ in hours), sum(one for _, one in hours)
        jobs = tuple(dict.fromkeys(name for name, _ in group))
        unknown = sum(not one and not other for one, other in hours)
        last = max(_began(run) for _, run in group)
        found.append(
            FailureGroup(cause, len(group), jobs, core, gib, worth_of(core, gib, price), last, n_unknown=unknown)
        )
    return tuple(sorted(found, key=lambda one: (-one.worth, -one.n_runs, one.cause)))


def _alike(run: Observation) -> str:
    """The cause without numbers, which differ from run to run."""
    first = run.cause.strip().splitlines()[0] if run.cause.strip() else "no cause in the log"
    short = _ORDINARY.sub("#", first)
    short = short if len(short) <= _LONGEST_CAUSE else short[:_LONGEST_CAUSE].rsplit(" ", 1)[0] + " ..."
    return f"{run.outcome.value}: {short}"


def days_before(moment_s: float, period_s: float) -> float:
    """The moment so long before, at the beginning of its day where the period is of whole days."""
    begin = moment_s - period_s
    if period_s % 86400:
        return begin
    day = datetime.fromtimestamp(begin, UTC)
    return day.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
