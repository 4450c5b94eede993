"""A study's plan with what it will take and what it can tell."""

import csv
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from sparkcast.designs import TimeOf
from sparkcast.designs.describe import Description, describe
from sparkcast.display import Displayed, frame_of
from sparkcast.errors import NotEnoughDataError, StoreError, StudyError
from sparkcast.study import Configuration, Level, Observation, Plan, Price, Study, Trial
from sparkcast.study.application import TOTAL_TIME
from sparkcast.study.arrivals import At, Poisson
from sparkcast.study.derive import make_dataset, time_cost, total_cost
from sparkcast.study.spreadsheet import escaped

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class PlanSummary(Displayed):
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
    description: Description  # what it can tell apart, and how likely it is to see an effect
    currency: str = ""  # of the price

    def frame(self) -> "pd.DataFrame":
        """The runs in order."""
        return frame_of(self.trials)


def summarize_plan(
    study: Study,
    plan: Plan,
    observations: Sequence[Observation] = (),
    *,
    budget_s: float | None = None,
    effect: str = "1",
    time_of: TimeOf | None = None,
    notes: Sequence[str] = (),
) -> PlanSummary:
    """What a plan takes and tells. `effect` is the size to look for: 1.5 standard deviations of the noise, or 10%."""
    times, source = _times(study, plan, observations, time_of)
    budget = budget_s if budget_s is not None else study.limits.total_s
    left_out = _left_out(plan, times, budget)
    price = None
    if (
        study.price is not None and times and study.arrivals is None
    ):  # of streams, jobs overlap by nobody knows how much
        share = _paid_share(study, study.price, observations)
        price = share * sum(
            time_cost(s, t.configuration, study.price, study.vocabulary)
            for s, t in zip(times, plan.trials, strict=True)
        )
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
        notes=(*plan.notes, *notes),
        description=describe(study, plan, effect_sd=effect_in_sd(study, observations, effect)),
        currency="" if study.price is None else study.price.currency,
    )


def write_runs(summary: PlanSummary, path: Path) -> None:
    """The runs in order as a CSV: run, factors, replicate, block, kind."""
    names = [name for name in summary.trials[0] if name != "position"]
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["run", *map(escaped, names)])
            writer.writerows([trial["position"], *(escaped(trial[name]) for name in names)] for trial in summary.trials)
    except OSError as error:
        raise StoreError(
            f"cannot write {str(path)!r}: {error.strerror or error}", hint="choose another location"
        ) from error


def _planned(study: Study, trial: Trial) -> dict[str, Level]:
    place: dict[str, Level] = {"replicate": trial.replicate, "position": trial.position}
    return {**study.varied(trial.configuration), **place, "block": trial.block, "kind": trial.kind}


def _paid_share(study: Study, price: Price, observations: Sequence[Observation]) -> float:
    """What runs cost so far, over what they would have cost had executors been held from submission to exit."""
    paid = whole = 0.0
    for run in observations:
        cost = total_cost(run, price, study.vocabulary)
        if cost is not None and TOTAL_TIME in run.responses:
            paid += cost
            whole += time_cost(run.responses[TOTAL_TIME], run.configuration, price, study.vocabulary)
    return paid / whole if whole else 1.0


# ---------------------------------------------------------------- time


def _times(
    study: Study, plan: Plan, observations: Sequence[Observation], time_of: TimeOf | None
) -> tuple[list[float], str]:
    """The mean time of each trial, and where it comes from; none when nothing is known."""
    measured: dict[Configuration, list[float]] = defaultdict(list)
    for o in observations:
        if TOTAL_TIME in o.responses:
            measured[study.varied(o.configuration)].append(o.responses[TOTAL_TIME])
    seen = [seconds for group in measured.values() for seconds in group]
    if seen:
        mean = fmean(seen)
        own = [measured.get(study.varied(t.configuration)) for t in plan.trials]
        return [fmean(group) if group else mean for group in own], f"the mean of {len(seen)} runs so far"
    if isinstance(study.arrivals, Poisson | At):
        arrivals = study.arrivals
        last_s = [arrivals.times_s(t.configuration, t.replicate)[-1] for t in plan.trials]
        return last_s, "when the last job of each stream arrives (a lower bound)"
    if time_of is not None:
        return [time_of(t.configuration) for t in plan.trials], "the design's time formula"
    if study.limits.trial_s is not None:
        return [study.limits.trial_s] * len(plan.trials), "the limit on one trial (an upper bound)"
    return [], "nothing is known yet: run one trial, or set limits: {trial: ...}"


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
            f"the effect {effect!r} is not a positive number",
            hint="`effect='1.5'` (standard deviations) or `effect='10%'`",
        )
    return size / (100 * relative_noise(study, observations)) if text.endswith("%") else size


def relative_noise(study: Study, observations: Sequence[Observation]) -> float:
    """The noise of the first response between replicates, as a share of its mean."""
    response = study.responses[0].name
    data = make_dataset(study, tuple(observations))
    groups: dict[object, list[float]] = defaultdict(list)
    for run in data.successful(response):
        groups[data.key(run)].append(run.responses[response])
    df = sum(len(values) - 1 for values in groups.values())
    squares = sum((value - fmean(values)) ** 2 for values in groups.values() for value in values)
    if df < 1 or squares <= 0:
        raise NotEnoughDataError(
            f"without replicates, an effect in percent cannot be compared with the noise of {response}",
            hint="run some combinations twice first, or give the effect in standard deviations: `effect='1.0'`",
        )
    return sqrt(squares / df) / abs(fmean(value for values in groups.values() for value in values))
