"""A study's plan with what it will take and what it can tell: the edge between designs and what was measured before."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod, sqrt
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from sparkcast.errors import NotEnoughDataError, SparkcastError, StoreError, StudyError
from sparkcast.study import Configuration, Level, Observation, Plan, Study, Trial

if TYPE_CHECKING:
    from sparkcast.designs import TimeOf
    from sparkcast.designs.describe import Description

_MAX_TIMES = 50_000  # predicted at once


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """A plan with what it will take."""

    study: str
    design: str
    seed: int
    replicates: int
    trials: tuple[Mapping[str, Level], ...]  # varied settings in run order, with replicate, position, block and kind
    fixed: Configuration
    excluded: tuple[Configuration, ...]  # as far as they were listed
    n_excluded: int
    done: int
    trial_s: float | None  # how long one trial takes on average, if known
    total_s: float | None
    price: float | None
    estimated_from: str
    left_out: int  # trials that the limit leaves no time for
    left_out_trials: tuple[int, ...]  # their positions
    notes: tuple[str, ...]
    description: "Description"  # what it can tell apart, and how likely it is to see an effect


def plan_of(study: Study, time_of: "TimeOf | None" = None) -> Plan:
    """The trials of a study in run order. Never depends on the study's own results, which come in while it runs.

    `time_of` is the study's `predicted_time`, for who has it already.
    """
    from sparkcast.designs import make_plan

    return make_plan(study, time_of or predicted_time(study))


def summarise_plan(
    study: Study,
    plan: Plan,
    observations: Sequence[Observation] = (),
    *,
    budget_s: float | None = None,
    effect: str = "1",
    time_of: "TimeOf | None" = None,
) -> PlanSummary:
    """What a plan takes and tells. `effect` is the size to look for: 1.5 standard deviations of the noise, or 10%."""
    from sparkcast.designs.describe import describe
    from sparkcast.study.derive import run_cost

    times, source = _times(study, plan, observations, time_of)
    budget = budget_s if budget_s is not None else study.limits.total_s
    left_out = _left_out(plan, times, budget)
    price = None
    if study.price is not None and times:
        price = sum(run_cost(s, t.configuration, study.price) for s, t in zip(times, plan.trials, strict=True))
    return PlanSummary(
        study=study.name,
        design=plan.design,
        seed=plan.seed,
        replicates=study.design.replicates,
        trials=tuple(_planned(study, trial) for trial in plan.trials),
        fixed=study.fixed,
        excluded=tuple(study.varied(configuration) for configuration in plan.excluded),
        n_excluded=plan.n_excluded,
        done=len(observations),
        trial_s=fmean(times) if times else None,
        total_s=sum(times) if times else None,
        price=price,
        estimated_from=source,
        left_out=len(left_out),
        left_out_trials=tuple(trial.position for trial in left_out),
        notes=(*plan.notes, *_impossible_centres(study, plan)),
        description=describe(study, plan, effect_sd=effect_in_sd(study, observations, effect)),
    )


def write_runs(summary: PlanSummary, path: Path) -> None:
    """The runs in order as a CSV: run, factors, replicate, block, kind."""
    import csv

    names = [name for name in summary.trials[0] if name != "position"]
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["run", *names])
            writer.writerows([trial["position"], *(trial[name] for name in names)] for trial in summary.trials)
    except OSError as error:
        raise StoreError(
            f"cannot write {str(path)!r}: {error.strerror or error}", hint="choose another place for the file"
        ) from error


def _impossible_centres(study: Study, plan: Plan) -> tuple[str, ...]:
    """Centre points that the workload will refuse: nobody listed these levels, so nobody has seen them run."""
    from sparkcast.workloads import WORKLOADS, complete

    workload = WORKLOADS.get(study.workload)()
    notes: dict[str, None] = {}
    for trial in plan.trials:
        if trial.kind == "centre":
            try:
                workload.check(complete(workload, trial.configuration))
            except StudyError as error:
                notes[f"a centre point cannot be run: {error.problem}; {error.hint}"] = None
    return tuple(notes)


def _planned(study: Study, trial: Trial) -> dict[str, Level]:
    place: dict[str, Level] = {"replicate": trial.replicate, "position": trial.position}
    return {**study.varied(trial.configuration), **place, "block": trial.block, "kind": trial.kind}


# ---------------------------------------------------------------- time


def _times(
    study: Study, plan: Plan, observations: Sequence[Observation], time_of: "TimeOf | None"
) -> tuple[list[float], str]:
    """The expected time of each trial, and where it comes from; none when nothing is known."""
    measured: dict[object, list[float]] = defaultdict(list)
    for o in observations:
        if "total_s" in o.responses:
            measured[_key(study, o.configuration)].append(o.responses["total_s"])
    seen = [seconds for group in measured.values() for seconds in group]
    if seen:
        mean = fmean(seen)
        own = [measured.get(_key(study, t.configuration)) for t in plan.trials]
        return [fmean(group) if group else mean for group in own], f"the mean of {len(seen)} runs so far"
    given = time_of or _given_time(study)
    if given is not None:
        return [given(t.configuration) for t in plan.trials], "the design's own time of a run"
    if study.limits.trial_s is not None:
        return [study.limits.trial_s] * len(plan.trials), "the limit of one trial (an upper bound)"
    return [], "nothing is known yet: run one trial, or set limits: {trial: ...}"


def _key(study: Study, configuration: Configuration) -> object:
    return tuple(configuration.get(factor.name) for factor in study.factors)


def _left_out(plan: Plan, times: Sequence[float], budget: float | None) -> tuple[Trial, ...]:
    """The trials that come when the time is up."""
    if budget is None:
        return ()
    spent = 0.0
    for i, seconds in enumerate(times):
        spent += seconds
        if spent > budget * (1 + 1e-9):
            return plan.trials[i:]
    return ()


def _given_time(study: Study) -> "TimeOf | None":
    """The time of a run as the design's option `time` gives it."""
    from sparkcast.designs._time import RunTime

    predicted, text = predicted_time(study), _time_option(study)
    if predicted is not None or text is None:
        return predicted
    return lambda configuration: RunTime(text).of(study, configuration)


def _time_option(study: Study) -> str | int | float | None:
    from sparkcast.designs import make_design

    return getattr(make_design(study), "time", None)


def predicted_time(study: Study) -> "TimeOf | None":
    """Times from a model of earlier runs, when the design's option `time` names a file of them."""
    from sparkcast.designs._time import RunTime

    text = _time_option(study)
    name = RunTime(text).file if text is not None else ""
    if not name:
        return None
    try:
        return _learned_time(study, name)
    except SparkcastError as error:
        raise type(error)(f"{study.where('design', 'time')}{error.problem}", hint=error.hint) from error


def _learned_time(study: Study, name: str) -> "TimeOf":
    from sparkcast.data.table import read_csv
    from sparkcast.models import MODELS

    folder = study.path.parent if study.path else Path()
    data = read_csv(folder / name)
    known = {**{f.name: f.levels for f in study.factors}, **{n: (v,) for n, v in study.fixed.items()}}
    missing = [factor for factor in data.factors if factor not in known]
    if missing:
        raise StudyError(
            f"{name} varies {', '.join(missing)}, which the study does not set",
            hint="give it a value under settings, or take the column out of the file",
        )
    fitted = MODELS.get("auto")().fit(data, "time_s")
    times: dict[tuple[Level, ...], float] = {}
    if prod(len(known[factor]) for factor in data.factors) <= _MAX_TIMES:
        keys = list(product(*(known[factor] for factor in data.factors)))
        points = [dict(zip(data.factors, key, strict=True)) for key in keys]
        times = dict(zip(keys, fitted.predict(points), strict=True))

    def time_of(configuration: Configuration) -> float:
        key = tuple(configuration[factor] for factor in data.factors)
        if key not in times:
            [times[key]] = fitted.predict([dict(zip(data.factors, key, strict=True))])
        return max(times[key], 1e-3)  # a model of anything may leave the range of times

    return time_of


# ---------------------------------------------------------------- the size of an effect


def effect_in_sd(study: Study, observations: Sequence[Observation], effect: str) -> float:
    """The size of an effect in standard deviations of the noise: 1.5 is one, 10% needs earlier replicates."""
    text = effect.strip()
    try:
        size = float(text.removesuffix("%"))
    except ValueError:
        size = -1.0
    if not 0 < size < float("inf"):
        raise StudyError(
            f"the effect {effect!r} is not a positive number", hint="--effect 1.5 (standard deviations) or --effect 10%"
        )
    return size / (100 * relative_noise(study, observations)) if text.endswith("%") else size


def relative_noise(study: Study, observations: Sequence[Observation]) -> float:
    """The noise of the first response between replicates, as a share of its mean."""
    from sparkcast.study.derive import make_dataset

    response = study.responses[0].name
    data = make_dataset(study, tuple(observations))
    groups: dict[object, list[float]] = defaultdict(list)
    for run in data.successful(response):
        groups[data.key(run)].append(run.responses[response])
    df = sum(len(values) - 1 for values in groups.values())
    squares = sum((value - fmean(values)) ** 2 for values in groups.values() for value in values)
    if df < 1 or squares <= 0:
        raise NotEnoughDataError(
            f"how large an effect in percent is beside the noise of {response} is not known without replicates",
            hint="run some combinations twice first, or give the effect in standard deviations: --effect 1.0",
        )
    return sqrt(squares / df) / abs(fmean(value for values in groups.values() for value in values))
