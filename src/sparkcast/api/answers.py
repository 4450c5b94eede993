"""Answers from runs or a model: what matters, what to expect, what to choose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkcast.data.sources import Data
from sparkcast.errors import StudyError
from sparkcast.study import Dataset, Level, Price

if TYPE_CHECKING:
    from sparkcast.analysis import Analysis
    from sparkcast.learned.knowledge import Knowledge
    from sparkcast.learned.predict import PredictionAt
    from sparkcast.recommend import Recommendation, RunningJob

_MOST_LISTED = 100  # candidates of a recommendation


def analyze(
    data: Data,
    response: str | None = None,
    *,
    formula: str | None = None,
    anova_type: int = 2,
    transform: str = "auto",
) -> "Analysis":
    """Which settings matter for a response, and how far to trust the answer.

    Args:
        data: Observations.
        response: What to explain; defaults to the time.
        formula: Terms in R notation, such as "executors * batch_size"; defaults to main effects and
            whatever else the runs can estimate.
        anova_type: The type of sums of squares: 1, 2 or 3.
        transform: "none", "log", "boxcox", or "auto": as measured, and also transformed if Box-Cox suggests it.

    Returns:
        The ANOVA table, effects, checks of its assumptions, and sentences.

    Raises:
        StudyError: No such response, a malformed formula, or a factor that never varies.
        NotEnoughDataError: Too few runs.

    >>> analysis = analyze(load_data("runs.csv"))
    >>> analysis.response, len(analysis.rows) > 2
    ('time_s', True)
    """
    from sparkcast.analysis.anova import analyze as explain

    if data.study is None:
        _require_varied(data.dataset)
    name = response or usual_response(data.dataset)
    return explain(data.dataset, name, formula=formula, anova_type=anova_type, transform=transform)


def usual_response(dataset: Dataset) -> str:
    """What is asked about when nobody says it: the time of a run."""
    return dataset.vocabulary.time or dataset.responses[0]


def _require_varied(dataset: Dataset) -> None:
    """Columns that somebody named as factors must vary; in a study that has only begun they may not do so yet."""
    for name in dataset.factors:
        seen = {o.configuration[name] for o in dataset.observations}
        if len(seen) == 1:
            raise StudyError(
                f"{dataset.name}: column {name!r} is {seen.pop()} in every row, so it is not a factor",
                hint="leave it out of --factors, or add runs with another value",
            )


def predict(
    data: "Data | Knowledge",
    at: Mapping[str, Level],
    *,
    response: str | None = None,
    model: str = "auto",
    level: float = 0.9,
    extrapolate: bool = False,
) -> "PredictionAt":
    """Predict a response, with an interval for the next run, at settings that need not have been run.

    Args:
        data: Observations or a model.
        at: The settings. May have a different number of epochs than the runs if they report the response per epoch.
        response: What to predict; defaults to the time.
        model: See `list_plugs("models")`; a model file brings its own.
        level: Of the interval.
        extrapolate: Answer, with a wide interval, even where the runs say nothing about the settings.

    Returns:
        The median, the interval, the mean, the failure probability, and which models answered.

    Raises:
        StudyError: No such setting or response.
        NotEnoughDataError: The runs say nothing about the settings; the hint names the run that would help most.

    >>> answer = predict(load_data("runs.csv"), {"executors": 2, "batch_size": 96}, model="ridge")
    >>> answer.prediction.low < answer.prediction.value < answer.prediction.high
    True
    """
    from sparkcast.learned.knowledge import knowledge_of
    from sparkcast.learned.predict import predict as answer

    known = knowledge_of(data, model)
    name = response or known.about.vocabulary.only(known.responses).time or known.responses[0]
    return answer(known, at, response=name, level=level, extrapolate=extrapolate)


@dataclass(frozen=True, slots=True)
class PresentLoad:
    """What the cluster does already."""

    jobs_running: int | str | None = None  # "store": the jobs of a `sparkcast run` of this study that goes on now
    running: "tuple[RunningJob, ...]" = ()  # those whose deadlines are known


def recommend(
    data: "Data | Knowledge",
    *,
    within_s: float | None = None,
    budget: float | None = None,
    min_accuracy: float | None = None,
    limits: Sequence[str] = (),
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
    """The best settings that meet every limit with the required probability.

    Candidates are the combinations of the study's levels that its rules allow, or of the levels in a table.

    Args:
        data: Observations or a model.
        within_s: The deadline: a limit on the time.
        budget: A limit on what one run costs.
        min_accuracy: The minimum quality: a limit on the response that is a share.
        limits: Limits on any response: "auc >= 0.9", "time_s <= 300s".
        confidence: The probability with which each limit must be met.
        maximize: A response or a numeric setting. Default objective: quality under a deadline or budget; under a
            deadline without a quality the lowest cost, or the fewest resources; else time.
        minimize: A response or a setting, instead of `maximize`.
        fix: Settings to hold at a given value.
        levels: Other values to choose from.
        free_epochs: Choose the number of epochs too, from the per-epoch curves.
        price: A price to use instead of the study's.
        max_failure: Leave out candidates that were never run and are more likely to fail than this.
        load: Jobs already running on the cluster; the new job is one more.
        recent: Runs made since the model was trained, to check whether it is still valid.
        model: See `list_plugs("models")`; a model file brings its own.
        extrapolate: Include candidates too far from what was measured.

    Returns:
        The chosen settings with their predictions, the runner-up, what each limit costs, the Pareto front, and lines to
        paste.

    Raises:
        StudyError: No such response or setting, or limits that make no sense.
        InfeasibleError: No candidate meets all limits; the hint names the nearest limit that can be met.
        NotEnoughDataError: Too few runs, or none near the candidates.

    >>> found = recommend(load_data("runs.csv"), within_s=60, model="ridge")
    >>> found.objective, found.chosen.probability > 0.95
    ('maximize accuracy', True)
    """
    from sparkcast.learned.knowledge import knowledge_of
    from sparkcast.recommend.advise import Present, advise, candidates_for
    from sparkcast.recommend.choose import Recommender
    from sparkcast.recommend.question import Question
    from sparkcast.runs.environment import here

    known = knowledge_of(data, model)
    price = price or known.about.price
    pool = candidates_for(known, levels or {}, free_epochs=free_epochs)
    recommender = Recommender(known, pool, price=price, extrapolate=extrapolate)
    question = Question(
        limits=recommender.limits(within_s=within_s, most_money=budget, least=min_accuracy, texts=limits),
        confidence=confidence,
        maximize=maximize,
        minimize=minimize,
        fix=fix or {},
        max_failure=max_failure,
        most=_MOST_LISTED,
    )
    n_running, jobs = _present(data, load)
    machine = here(known.about.fingerprints)
    present = Present(n_running, jobs, machine, None if recent is None else recent.dataset)
    return advise(recommender, known, question, present)


def _present(data: "Data | Knowledge", load: PresentLoad | None) -> "tuple[int | None, tuple[RunningJob, ...]]":
    """How many jobs run now, None when nobody asked, and what is known of them."""
    if load is None or (load.jobs_running is None and not load.running):
        return None, ()
    if load.jobs_running != "store":
        n_running = len(load.running) if load.jobs_running is None else int(load.jobs_running)
        return n_running, load.running
    import time

    from sparkcast.recommend.load import running_jobs
    from sparkcast.store import open_store, results_folder

    study = data.study if isinstance(data, Data) else None
    if study is None or study.path is None:
        raise StudyError("running jobs can only be counted for a study with a store", hint="give their number instead")
    store = open_store(results_folder(study.path))
    try:
        found = running_jobs(store.running(study.name), study.limits.trial_s, time.time(), study.vocabulary)
    finally:
        store.close()
    return len(found) + len(load.running), (*found, *load.running)
