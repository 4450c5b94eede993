"""How long an application still takes: from its job's past and from what it has done so far.

Each run of the past is cut into steps, which are its stages in their order, or its Spark jobs. A run that is slower
so far is likely to stay so; how likely, the past says: what runs had left after the same step is regressed on how late
they were then, on the scale of logarithms. With few runs, a run keeps half of its lateness.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.display import Displayed
from sparkcast.errors import NotEnoughDataError
from sparkcast.fitting.distribution import Distribution
from sparkcast.history.changes import labeled
from sparkcast.history.jobs import JobHistory
from sparkcast.history.mixture import StudentMixture
from sparkcast.history.model import JobModel
from sparkcast.history.names import job_name
from sparkcast.history.points import RunPoint, points_of
from sparkcast.history.prior import FleetPrior
from sparkcast.history.resembling import NewJob, resembling, words_of
from sparkcast.study import AppRecord

_FEWEST = 3  # runs of the past
_MOST = 60  # of them that count: the latest
_LEAST_S = 0.5  # of a time whose logarithm is taken
_SLOPE, _SLOPE_RUNS = 0.5, 3.0  # how late a run stays, before the past says it, and what this is worth in runs
_NOISE, _NOISE_RUNS = 0.2, 2.0
_RECENT = 4  # steps of which the pace counts by itself


@dataclass(frozen=True, slots=True)
class EndedRun:
    """A run that ended: its steps, and when each of them did. Seconds since it began."""

    ends_s: tuple[float, ...]
    total_s: float
    labels: tuple[str, ...] = ()
    size: float = 0.0  # of its input


@dataclass(frozen=True, slots=True)
class SoFar:
    """A run that goes on."""

    ends_s: tuple[float, ...]
    elapsed_s: float
    labels: tuple[str, ...] = ()
    size: float = 0.0


@dataclass(frozen=True, slots=True)
class Eta(Displayed):
    """When an application will be done."""

    job: str
    app_id: str
    elapsed_s: float  # since it began
    remaining: Distribution  # seconds
    total: Distribution
    done: float  # share of the time that is over, as expected
    steps: int  # finished stages
    usual_steps: int
    n_runs: int  # of the past
    notes: tuple[str, ...] = ()


def remaining(past: Sequence[EndedRun], now: SoFar) -> StudentMixture:
    """The logarithm of the seconds that are left.

    Raises:
        NotEnoughDataError: too few runs of the past.
    """
    if len(past) < _FEWEST:
        raise NotEnoughDataError(
            f"{len(past)} run{'' if len(past) == 1 else 's'} of this job ended; {_FEWEST} are needed",
            hint="ingest logs of more runs of it",
        )
    runs = list(past)[-_MOST:]
    step = len(now.ends_s)
    reached = [run for run in runs if len(run.ends_s) >= step]
    runs = reached if len(reached) >= _FEWEST else runs
    left = np.array([_log(run.total_s - _end(run.ends_s, step)) for run in runs])
    columns = [np.array([_log(_end(run.ends_s, step)) for run in runs])]
    asked = [_log(_end(now.ends_s, step))]
    if step > _RECENT:
        columns.append(np.array([_log(_recent(run.ends_s, step)) for run in runs]))
        asked.append(_log(_recent(now.ends_s, step)))
    if step == 0:
        columns, asked = [], []
    if now.size > 0 and all(run.size > 0 for run in runs) and step < _RECENT:
        columns.append(np.log([run.size for run in runs]))
        asked.append(log(now.size))
    found = _regressed(left, columns, asked)
    return _after(found, now.elapsed_s - _end(now.ends_s, step))


def _regressed(left: Floats, columns: list[Floats], asked: list[float]) -> StudentMixture:
    """Ridge regression towards a slope that is usual, with outliers counting less, and its predictive distribution."""
    n, k = len(left), len(columns)
    center = float(np.median(left))
    middles = [float(np.median(column)) for column in columns]
    x = np.array([column - middle for column, middle in zip(columns, middles, strict=True)]).T.reshape(n, k)
    at = np.array([value - middle for value, middle in zip(asked, middles, strict=True)])
    spreads = np.array([max(float(np.var(x[:, j])), 1e-4) for j in range(k)])
    usual = np.full(k, _SLOPE / max(k, 1))
    weight, mean, slopes = np.ones(n), center, usual
    square, cover = _NOISE**2, np.eye(k)
    for _ in range(5):
        total = weight.sum()
        mean = float((weight * (left - x @ slopes)).sum() / total)
        inner = (x * weight[:, None]).T @ x + np.diag(_SLOPE_RUNS * spreads)
        slopes = np.linalg.solve(inner, (x * weight[:, None]).T @ (left - mean) + _SLOPE_RUNS * spreads * usual)
        errors = left - mean - x @ slopes
        free = max(total - 1 - k / 2, 0.5) + _NOISE_RUNS
        square = float(((weight * errors**2).sum() + _NOISE_RUNS * _NOISE**2) / free)
        weight = 1 / np.maximum(1.0, np.abs(errors) / (2.0 * sqrt(square)))
        cover = np.linalg.inv(inner)
    far = float(at @ cover @ at) if k else 0.0
    scale = sqrt(square * (1 + 1 / n + far))
    df = max(min(n - 1 - k + _NOISE_RUNS, 30.0), 3.0)
    return StudentMixture(np.array([mean + float(at @ slopes)]), np.array([scale]), np.array([1.0]), df)


def _after(found: StudentMixture, waited_s: float) -> StudentMixture:
    """What is left when a part of it is over already: the next step has not ended yet."""
    if waited_s <= _LEAST_S:
        return found
    scores = np.linspace(-4, 4, 161)
    values = np.exp(found.loc[0] + found.scale[0] * scores)
    density = (1 + scores**2 / found.df) ** (-(found.df + 1) / 2)
    alive = values > waited_s + _LEAST_S
    if alive.sum() < 5:
        return StudentMixture(np.array([log(waited_s)]), np.array([0.7]), np.array([1.0]), found.df)
    rest, weight = np.log(values[alive] - waited_s), density[alive] / density[alive].sum()
    mean = float(weight @ rest)
    sd = sqrt(float(weight @ (rest - mean) ** 2))
    return StudentMixture(np.array([mean]), np.array([max(sd, 0.02)]), np.array([1.0]), max(found.df, 30.0))


def _end(ends_s: Sequence[float], step: int) -> float:
    return ends_s[min(step, len(ends_s)) - 1] if step and ends_s else 0.0


def _recent(ends_s: Sequence[float], step: int) -> float:
    return _end(ends_s, step) - _end(ends_s, step - _RECENT)


def _log(seconds: float) -> float:
    return log(max(seconds, _LEAST_S))


# ---------------------------------------------------------------- of applications


def past_of(record: AppRecord) -> EndedRun:
    """The steps of an application that ended."""
    steps = sorted((stage.started_after_s + stage.duration_s, label) for label, stage in labeled(record.stages))
    return EndedRun(
        tuple(end for end, _ in steps), record.wall_s, tuple(label for _, label in steps), float(record.input_bytes)
    )


def so_far(record: AppRecord, now_s: float | None = None) -> SoFar:
    """An application that goes on. `now_s`: the moment that is asked about, else the last that its log tells."""
    moment = (record.ended_s if now_s is None else max(now_s, record.ended_s)) - record.started_s
    done = sorted(
        (stage.started_after_s + stage.duration_s, label)
        for label, stage in labeled(record.stages)
        if stage.started_after_s + stage.duration_s < record.wall_s - 1e-3 and stage.n_tasks
    )
    size = 0.0  # it has not read everything yet
    return SoFar(tuple(end for end, _ in done), moment, tuple(label for _, label in done), size)


def eta_of(history: JobHistory, record: AppRecord, now_s: float | None = None) -> Eta:
    """When an application of a job will be done."""
    others = [run.record for run in history.complete if run.record is not None and run.record.app_id != record.app_id]
    counting = _since_change(history, others)
    past = [past_of(one) for one in counting]
    now = so_far(record, now_s)
    left = remaining(past, now)
    found = left.distribution()
    expected = found.median
    whole = _shifted(left, now.elapsed_s)
    notes = []
    if len(counting) < len(others):
        notes.append(f"the {len(counting)} runs since its time changed count, of {len(others)}")
    steps = sorted(len(run.ends_s) for run in past)
    if now.ends_s and len(now.ends_s) > steps[-1]:
        notes.append("it has more stages than any of its earlier runs, so this is little better than a guess")
    return Eta(
        history.name,
        record.app_id,
        now.elapsed_s,
        found,
        whole,
        now.elapsed_s / (now.elapsed_s + expected),
        len(now.ends_s),
        steps[len(steps) // 2],
        len(past),
        tuple(notes),
    )


def eta_from_others(
    record: AppRecord, jobs: Mapping[str, Sequence[RunPoint]], now_s: float | None = None
) -> Eta | None:
    """The same of a job that never ran, from jobs that resemble what it has done so far. None of too few jobs."""
    name = job_name(record.name)
    words = words_of(record.name, *record.command_line.split()[-3:])
    slots = record.executors[-1].cores if record.executors else None
    asked = NewJob(None, slots, record.memory.heap or None, words, record.shape)
    found = resembling({job: points for job, points in jobs.items() if job != name}, asked)
    if found is None:
        return None
    now = so_far(record, now_s)
    left = _after(found.time, now.elapsed_s)
    expected = left.distribution()
    told = f"no three runs of its own ended: time as of {found.n_jobs} other jobs, most alike {', '.join(found.jobs)}"
    done = now.elapsed_s / (now.elapsed_s + expected.median)
    whole = _shifted(left, now.elapsed_s)
    return Eta(name, record.app_id, now.elapsed_s, expected, whole, done, len(now.ends_s), 0, 0, (told,))


def _since_change(history: JobHistory, records: Sequence[AppRecord]) -> list[AppRecord]:
    """Those since the job's time last changed, where they are enough; else all."""
    points = points_of(history.runs)
    model = JobModel(points, FleetPrior())
    if not model.shifts:
        return list(records)
    begin = model.points[model.since].started_s
    since = [one for one in records if one.started_s >= begin]
    return since if len(since) >= _FEWEST else list(records)


def _shifted(left: StudentMixture, elapsed_s: float) -> Distribution:
    """Of the whole time: what is over, and what is left."""
    low, middle, high = (exp(left.mean + score * left.sd) + elapsed_s for score in (-1.645, 0.0, 1.645))
    sd = max((log(high) - log(low)) / (2 * 1.645), 1e-4)
    found = StudentMixture(np.array([log(middle)]), np.array([sd]), np.array([1.0]), left.df)
    return found.distribution(least=elapsed_s)


def etas_of(history: JobHistory, records: Iterable[AppRecord]) -> Iterator[Eta]:
    """One answer for each state of an application, as its log grows."""
    for record in records:
        yield eta_of(history, record)
