"""Recommending: what `recommend` puts together of models, present load and the age of a model."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkcast.data.sources import Data
from sparkcast.errors import StudyError
from sparkcast.learning import fit_model
from sparkcast.study import Dataset, Level, Price

if TYPE_CHECKING:
    from sparkcast.learned.saved import SavedModel
    from sparkcast.recommend import Recommendation, RunningForecast, RunningJob, Staleness
    from sparkcast.recommend.choose import Recommender
    from sparkcast.study import Pool


_MOST_LISTED = 100


@dataclass(frozen=True, slots=True)
class PresentLoad:
    """What the cluster does already."""

    jobs_running: int | str | None = None  # "store": the jobs of a `sparkcast run` of this study that goes on now
    running: "tuple[RunningJob, ...]" = ()  # those whose deadlines are known


def recommend(
    data: "Data | SavedModel",
    *,
    within_s: float | None = None,
    budget: float | None = None,
    min_accuracy: float | None = None,
    confidence: float = 0.95,
    maximize: str | None = None,
    minimize: str | None = None,
    fix: Mapping[str, Level] | None = None,
    levels: Mapping[str, Sequence[Level]] | None = None,
    free_epochs: bool = False,
    price: Price | None = None,
    max_failure: float = 0.1,
    load: PresentLoad | None = None,
    recent: Data | None = None,
    model: str = "auto",
    extrapolate: bool = False,
) -> "Recommendation":
    """The settings that keep to every limit with the wanted probability and are best otherwise.

    Candidates are the combinations of the study's levels that its rules allow, or those that a CSV has; `levels` and
    `fix` give other values. Candidates too far from what was measured are left out unless `extrapolate`. With a `load`
    the new job is one more than those that run now. `recent` are runs made since the model was fitted, to see whether
    it still holds.
    """
    from sparkcast.recommend.choose import Recommender
    from sparkcast.recommend.question import Question

    known, pool, own_price = _parts(data)
    pool = _with_levels(known, pool, levels or {}, free_epochs)
    recommender = Recommender(known, pool, price=price or own_price, model=model, extrapolate=extrapolate)
    n_running, jobs = _present(data, load)
    question = Question(
        within_s=within_s,
        budget=budget,
        min_accuracy=min_accuracy,
        confidence=confidence,
        maximize=maximize,
        minimize=minimize,
        fix=_with_load(recommender.known.factors, fix or {}, n_running),
        max_failure=max_failure,
        most=_MOST_LISTED,
    )
    answer = recommender.ask(question)
    return dataclasses.replace(
        answer,
        running=_forecasts(recommender, jobs, n_running, confidence),
        staleness=_staleness(data, recommender, n_running, recent),
    )


def _parts(data: "Data | SavedModel") -> "tuple[Dataset | SavedModel, Pool, Price | None]":
    """What is learned from or learned already, where candidates come from, and the price."""
    if isinstance(data, Data):
        return data.dataset, data.pool(), data.price
    return data, data.about.pool(), data.about.price


def _with_levels(
    known: "Dataset | SavedModel", pool: "Pool", levels: Mapping[str, Sequence[Level]], free_epochs: bool
) -> "Pool":
    """The candidates with other values for some settings."""
    from sparkcast.learned.curves import EPOCHS
    from sparkcast.recommend.choose import measured_epochs
    from sparkcast.registry import did_you_mean

    factors = known.factors if isinstance(known, Dataset) else known.about.factors
    wanted = dict(levels)
    if free_epochs and EPOCHS not in factors:
        wanted = {EPOCHS: measured_epochs(known), **wanted}
    for name in wanted:
        if name not in (*factors, EPOCHS):
            raise StudyError(f"{name!r} is no factor, so it has no other values", hint=did_you_mean(name, factors))
    return pool.with_levels(wanted)


def _present(data: "Data | SavedModel", load: PresentLoad | None) -> "tuple[int | None, tuple[RunningJob, ...]]":
    """How many jobs run now, None when nobody asked, and what is known of them."""
    import time

    from sparkcast.recommend.load import running_in
    from sparkcast.store import open_store, results_folder

    if load is None or (load.jobs_running is None and not load.running):
        return None, ()
    if load.jobs_running != "store":
        n_running = len(load.running) if load.jobs_running is None else int(load.jobs_running)
        return n_running, load.running
    if not isinstance(data, Data) or data.study is None or data.study.path is None:
        raise StudyError("only a study has a store whose running jobs can be counted", hint="give their number instead")
    store = open_store(results_folder(data.study.path))
    try:
        found = running_in(store, data.study.name, data.study.limits.trial_s, time.time())
    finally:
        store.close()
    return len(found) + len(load.running), (*found, *load.running)


def _with_load(factors: Sequence[str], fix: Mapping[str, Level], n_running: int | None) -> Mapping[str, Level]:
    from sparkcast.recommend.load import jobs_factor

    if n_running is None:
        return fix
    factor = jobs_factor(factors)
    if factor in fix and fix[factor] != n_running + 1:
        raise StudyError(
            f"{factor} cannot be {fix[factor]} when the new job is one beside {n_running} running ones",
            hint=f"leave out --fix {factor}={fix[factor]}, or the running jobs",
        )
    return {**fix, factor: n_running + 1}


def _forecasts(
    recommender: "Recommender", jobs: "Sequence[RunningJob]", n_running: int | None, confidence: float
) -> "tuple[RunningForecast, ...]":
    from sparkcast.recommend.load import forecast_running, jobs_factor

    if not jobs or n_running is None:
        return ()
    _, times = recommender.fitted("time_s", is_by_epoch=False)
    factor = jobs_factor(recommender.known.factors)
    return forecast_running(times, jobs, factor=factor, n_running=n_running, confidence=confidence)


def _staleness(
    data: "Data | SavedModel", recommender: "Recommender", n_running: int | None, recent: Data | None
) -> "Staleness":
    """Whether the model speaks of the present: the machine, the load, and the latest runs."""
    from sparkcast.learned.saved import constants_in, fingerprints_in, seen_in
    from sparkcast.learned.support import Extrapolating
    from sparkcast.recommend.staleness import drift, drift_within, here, staleness

    if isinstance(data, Data):
        training, seen, fixed = fingerprints_in(data.dataset), seen_in(data.dataset), constants_in(data.dataset)
    else:
        training, seen, fixed = data.about.fingerprints, data.about.seen, data.about.fixed
    drifted = None
    if recent is not None:
        _, times = recommender.fitted("time_s", is_by_epoch=False)
        times = times.fitted if isinstance(times, Extrapolating) else times
        drifted = drift(times, recent.dataset.successful("time_s"), "time_s", n_learned=len(seen))
    elif isinstance(data, Data):
        # Which model is best does not matter here, and trying them all would take longer than the answer.
        drifted = drift_within(data.dataset, "time_s", lambda runs, response: fit_model(runs, response, "ridge"))
    return staleness(
        training,
        here(training),
        n_jobs=None if n_running is None else n_running + 1,
        measured=[{**fixed, **known.configuration} for known in seen],
        drifted=drifted,
    )
