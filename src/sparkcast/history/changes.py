"""When a job changed, by how much, and what changed with it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import exp, expm1, log

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.history.follow import ShiftFound
from sparkcast.history.model import JobModel, ScoredRun
from sparkcast.history.places import ClusterMove, moves_of
from sparkcast.history.points import RunPoint
from sparkcast.study import StageRecord
from sparkcast.study.application import LAUNCH, Part
from sparkcast.units import show_bytes, show_percent, show_seconds

LEAST = 0.05  # a smaller change of the time is not told
_FIRST_RUNS = 5  # of a job that raise no alarm
_UNUSUAL = 0.9997  # of such runs take less
_FEWEST_SIZED, _MOST_SIZED = 5, 60  # runs on either side of a change that say how large it is
_COMPARED = 10  # runs before and after a change whose stages are compared
_SHARE = 0.15  # of a change, from which on a part or a stage is named
_AS_USUAL = 0.15  # of the input
_PARTS = {LAUNCH: "starting the driver", **{part.response: str(part.value) for part in Part}}
_90 = 1.645


@dataclass(frozen=True, slots=True)
class Cause:
    """What changed together with the time."""

    kind: str  # setting, part, stage, memory or cluster
    name: str
    text: str
    seconds: float  # that it takes longer in a run; 0 where that is not its unit


@dataclass(frozen=True, slots=True)
class JobChange:
    """Since a run, a job takes longer or shorter at the same input and slots."""

    job: str
    run_id: str  # the first one that is different
    since_s: float  # when it began, in seconds since the Unix epoch
    found_s: float  # of the run with which it showed
    change: float  # of the time, as a share
    low: float
    high: float  # 90% interval
    n_after: int
    causes: tuple[Cause, ...]

    sentence: str = ""  # `since 2026-11-03 22% longer at the same input (90%: 17% to 27%); stage 14 takes 3 min longer`

    def __post_init__(self) -> None:
        word = "longer" if self.change > 0 else "shorter"
        low, high = sorted((abs(self.low), abs(self.high)))
        told = f"since {date_of(self.since_s)} {show_percent(abs(self.change))} {word} at the same input"
        told += f" (90%: {show_percent(low)} to {show_percent(high)})"
        object.__setattr__(self, "sentence", "; ".join([told, *(cause.text for cause in self.causes)]))


@dataclass(frozen=True, slots=True)
class RunScore:
    """One run against its own forecast."""

    job: str
    run_id: str
    started_s: float
    took_s: float
    median_s: float
    most_s: float  # 99 of 100 such runs take less
    below: float  # the share of such runs that take less than this one
    is_unusual: bool
    extra: Mapping[str, float]  # seconds more than usual, by part, the largest first
    input_ratio: float | None  # against the runs before

    sentence: str = ""  # `took 41 min; 99 of 100 such runs take less than 29 min; 11 min more than usual are ...`

    def __post_init__(self) -> None:
        told = [f"took {show_seconds(self.took_s)}", f"99 of 100 such runs take less than {show_seconds(self.most_s)}"]
        told += [f"{show_seconds(more)} more than usual are {part}" for part, more in [*self.extra.items()][:2]]
        if self.input_ratio is not None:
            is_usual = abs(log(self.input_ratio)) < _AS_USUAL
            told.append("input as usual" if is_usual else f"input {self.input_ratio:.2g} times the usual one")
        object.__setattr__(self, "sentence", "; ".join(told))


def changes_of(job: str, model: JobModel) -> tuple[JobChange, ...]:
    """The changes of a job, in order of time, with what changed with each."""
    shifts = [
        _change(job, model, shift, _end(model, number))
        for number, shift in enumerate(model.shifts)
        if abs(shift.log_ratio) >= LEAST
    ]
    moves = [_move(job, model, move) for move in moves_of(model.points, model.places) if abs(move.log_ratio) >= LEAST]
    return tuple(sorted((*shifts, *moves), key=lambda one: one.since_s))


def _move(job: str, model: JobModel, move: ClusterMove) -> JobChange:
    """To another cluster, where it is slower or faster than was expected."""
    point = model.points[move.place]
    ratio, sd = move.log_ratio, move.sd
    return JobChange(
        job,
        point.run_id,
        point.started_s,
        model.points[move.found].started_s,
        expm1(ratio),
        expm1(ratio - _90 * sd),
        expm1(ratio + _90 * sd),
        len(model.points) - move.place,
        (Cause("cluster", move.since, f"since then on {move.since}, on {move.before} before", 0.0),),
    )


def _end(model: JobModel, number: int) -> int:
    return model.shifts[number + 1].place if number + 1 < len(model.shifts) else len(model.scored)


def _begin(model: JobModel, place: int) -> int:
    """The place of the first run since the change before."""
    return max((shift.place for shift in model.shifts if shift.place < place), default=0)


def _size(model: JobModel, shift: ShiftFound, begin: int, end: int, levels: Floats) -> tuple[float, float]:
    """Of a change, with all runs up to the next one: those with which it showed were likely the most different."""
    values = np.array([one.value for one in model.scored]) - levels
    sides = values[max(begin, shift.place - _MOST_SIZED) : shift.place], values[shift.place : end][:_MOST_SIZED]
    n_before, n_after = map(len, sides)
    if min(n_before, n_after) < _FEWEST_SIZED:
        return shift.log_ratio, shift.sd
    middles = [_robust_mean(side) for side in sides]
    errors = np.concatenate([side - middle for side, middle in zip(sides, middles, strict=True)])
    noise = 1.4826 * float(np.median(np.abs(errors))) * (len(errors) / (len(errors) - 2)) ** 0.5
    sd = noise * (1 / n_before + 1 / n_after) ** 0.5
    shrunk = model.prior.change_sd**2 / (model.prior.change_sd**2 + sd**2)
    return shrunk * (middles[1] - middles[0]), max(sd * shrunk**0.5, 1e-4) * _for_few(len(errors) - 2)


def _robust_mean(values: Floats) -> float:
    """Without what runs out of line would do to it."""
    middle = float(np.median(values))
    reach = max(2.5 * 1.4826 * float(np.median(np.abs(values - middle))), 1e-6)
    return float(np.clip(values, middle - reach, middle + reach).mean())


def _for_few(free: int) -> float:
    """By how much 90% of Student's distribution are wider than of the normal one (Cornish and Fisher)."""
    return 1 + (_90**2 + 1) / (4 * max(free, 1))


def _change(job: str, model: JobModel, shift: ShiftFound, end: int) -> JobChange:
    place = shift.place
    levels = model.expected_offsets()
    ratio, sd = _size(model, shift, _begin(model, place), end, levels)
    before = range(max(place - _COMPARED, 0), place)
    after = range(place, min(place + _COMPARED, end))
    point = model.scored[place].point
    return JobChange(
        job,
        point.run_id,
        point.started_s,
        model.scored[shift.found].point.started_s,
        expm1(ratio),
        expm1(ratio - _90 * sd),
        expm1(ratio + _90 * sd),
        end - place,
        (
            *_settings(model.scored, place),
            *_stages(model, before, after, levels, ratio),
            *_parts(model, before, after, levels, ratio),
            *_spills(model, before, after),
        ),
    )


# ---------------------------------------------------------------- what changed with it


def _settings(scored: Sequence[ScoredRun], place: int) -> list[Cause]:
    """Those that were set within a run of the change."""
    near = [n for n in (place, place - 1, place + 1) if 0 < n < len(scored) and scored[n].changed]
    if not near:
        return []
    now, last = scored[near[0]].point.settings, scored[near[0] - 1].point.settings
    told = []
    for name in scored[near[0]].changed:
        text = f"{name} {last.get(name, 'not set')} -> {now.get(name, 'not set')}"
        told.append(Cause("setting", name, text, 0.0))
    return told


def _stages(model: JobModel, before: range, after: range, levels: Floats, ratio: float) -> list[Cause]:
    """The stage that takes most of the change, at the same input."""
    earlier = _medians(model, before, levels, _by_stage)
    later = _medians(model, after, levels, _by_stage)
    common = {*earlier, *later} if earlier and later else set()
    more = {name: later.get(name, 0.0) - earlier.get(name, 0.0) for name in common}
    return _named("stage", "stage ", more, ratio)


def _parts(model: JobModel, before: range, after: range, levels: Floats, ratio: float) -> list[Cause]:
    earlier = _medians(model, before, levels, _by_part)
    later = _medians(model, after, levels, _by_part)
    more = {name: later.get(name, 0.0) - earlier.get(name, 0.0) for name in {*earlier, *later}}
    return _named("part", "", more, ratio)


def _named(kind: str, label: str, more: Mapping[str, float], ratio: float) -> list[Cause]:
    """What moved most, in the direction of the change."""
    sign = 1 if ratio > 0 else -1
    whole = sum(sign * seconds for seconds in more.values() if sign * seconds > 0)
    if whole <= 0:
        return []
    name, seconds = max(more.items(), key=lambda item: (sign * item[1], item[0]))
    if sign * seconds < _SHARE * whole:
        return []
    word = "longer" if sign > 0 else "shorter"
    text = f"{label}{name} takes {show_seconds(abs(seconds))} {word}"
    return [
        Cause(
            kind,
            name,
            text if label else f"{show_seconds(abs(seconds))} {'more' if sign > 0 else 'less'} {name}",
            seconds,
        )
    ]


def _spills(model: JobModel, before: range, after: range) -> list[Cause]:
    earlier, later = (
        float(np.median([model.scored[n].point.responses.get("spilled_bytes", 0.0) for n in places] or [0.0]))
        for places in (before, after)
    )
    if later > 2 * earlier and later > 2**30:
        return [Cause("memory", "spill", f"{show_bytes(later)} spilled, {show_bytes(earlier)} before", 0.0)]
    return []


def _medians(
    model: JobModel,
    places: range,
    levels: Floats,
    seconds_by: Callable[[RunPoint], Mapping[str, float]],
) -> dict[str, float]:
    """Seconds by name at a usual input, in the middle of these runs."""
    rows = [(seconds_by(model.scored[n].point), exp(-float(levels[n]))) for n in places]
    rows = [(row, factor) for row, factor in rows if row]
    names = {name for row, _ in rows for name in row}
    return {name: float(np.median([row.get(name, 0.0) * factor for row, factor in rows])) for name in names}


def _by_part(point: RunPoint) -> dict[str, float]:
    return {words: point.responses[name] for name, words in _PARTS.items() if name in point.responses}


def _by_stage(point: RunPoint) -> dict[str, float]:
    return stage_seconds(point.record.stages) if point.record is not None else {}


def stage_seconds(stages: Sequence[StageRecord]) -> dict[str, float]:
    """Seconds of the run by stage. Stages of one name are told apart by their order."""
    found: dict[str, float] = {}
    for name, stage in labeled(stages):
        found[name] = found.get(name, 0.0) + stage.wall_s
    return found


def labeled(stages: Sequence[StageRecord]) -> list[tuple[str, StageRecord]]:
    """Stages with names that are the same in every run of a job; an attempt has that of its stage."""
    count: dict[str, int] = {}
    number: dict[int, str] = {}
    found = []
    for stage in stages:
        if stage.stage_id not in number:
            count[stage.label] = count.get(stage.label, 0) + 1
            more = f" #{count[stage.label]}" if count[stage.label] > 1 else ""
            number[stage.stage_id] = f"{stage.label}{more}"
        found.append((number[stage.stage_id], stage))
    return found


# ---------------------------------------------------------------- one run


def scores_of(job: str, model: JobModel) -> tuple[RunScore, ...]:
    """Every run of a job against the forecast from those before it."""
    levels = model.expected_offsets()
    return tuple(_score(job, model, place, levels) for place in range(len(model.scored)))


def score_run(job: str, model: JobModel, place: int) -> RunScore:
    """One of them."""
    return _score(job, model, place, model.expected_offsets())


def unusual_places(model: JobModel) -> list[int]:
    """Runs that took longer than nearly all such runs, of a job that has run a few times."""
    scored = model.scored
    return [place for place in range(_FIRST_RUNS, len(scored)) if scored[place].below > _UNUSUAL]


def _score(job: str, model: JobModel, place: int, levels: Floats) -> RunScore:
    one = model.scored[place]
    before = range(max(place - _COMPARED, 0), place)
    usual = _medians(model, before, levels, _by_part)
    factor = exp(float(levels[place]))
    extra = {part: took - usual.get(part, 0.0) * factor for part, took in _by_part(one.point).items()}
    took = exp(one.value)
    more = took - exp(one.expected.mean)
    named = {part: s for part, s in extra.items() if s > max(_SHARE * abs(more), 1.0)} if place else {}
    inputs = [model.scored[n].point.input_size for n in before if model.scored[n].point.input_size > 0]
    ratio = one.point.input_size / float(np.median(inputs)) if inputs and one.point.input_size > 0 else None
    found = one.expected.distribution()
    return RunScore(
        job,
        one.point.run_id,
        one.point.started_s,
        took,
        found.median,
        found.quantile(0.99),
        one.below,
        place >= _FIRST_RUNS and one.below > _UNUSUAL,
        dict(sorted(named.items(), key=lambda item: -item[1])),
        ratio,
    )


def date_of(moment_s: float) -> str:
    return datetime.fromtimestamp(moment_s, UTC).strftime("%Y-%m-%d")
