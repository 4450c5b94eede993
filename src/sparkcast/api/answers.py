"""Answers from runs or a model: what matters, what to expect, what to choose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, overload

from sparkcast.api.meant import with_input_named, with_usual, with_usual_size
from sparkcast.api.replays import is_replayed, may_replay, recommend_clusters, with_cluster
from sparkcast.api.sources import data_of, is_log, response_name, source_of
from sparkcast.data.options import TableOptions
from sparkcast.data.sources import Data
from sparkcast.errors import StudyError
from sparkcast.study import Dataset, Level, Price

if TYPE_CHECKING:
    from pandas import DataFrame

    from sparkcast.analysis import Analysis
    from sparkcast.api.sources import Known, Runs
    from sparkcast.learned.knowledge import Knowledge
    from sparkcast.learned.predict import PredictionAt, Predictions
    from sparkcast.recommend import Recommendation, RunningJob
    from sparkcast.recommend.advise import Choices
    from sparkcast.recommend.question import Question


def analyze(
    data: "Runs",
    response: str | None = None,
    *,
    formula: str | None = None,
    anova_type: int = 2,
    transform: str = "auto",
    table: TableOptions | None = None,
) -> "Analysis":
    """Which settings matter for a response, and how far to trust the answer.

    Args:
        data: Runs.
        response: What to explain; defaults to the time.
        formula: Terms in R notation, such as "executors * batch_size"; defaults to main effects and
            whatever else the runs can estimate.
        anova_type: The type of sums of squares: 1, 2 or 3.
        transform: "none", "log", "boxcox", or "auto": as measured, and also transformed if Box-Cox suggests it.
        table: As in `load_data`.

    Returns:
        The ANOVA table, effects, checks of its assumptions, and sentences.

    Raises:
        StudyError: No such response, a malformed formula, or a factor that never varies.
        NotEnoughDataError: Too few runs.

    >>> analysis = analyze("runs.csv")
    >>> analysis.response, len(analysis.rows) > 2
    ('time_s', True)
    """
    from sparkcast.analysis.anova import analyze as explain

    runs = data_of(data, table, response=response)
    if runs.study is None:
        _require_varied(runs.dataset)
    name = response_name(response) if response else usual_response(runs.dataset)
    return explain(runs.dataset, name, formula=formula, anova_type=anova_type, transform=transform)


def usual_among(known: "Knowledge") -> str:
    """The time, or the first response of which something is known."""
    return known.about.vocabulary.only(known.responses).time or known.responses[0]


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
                hint="leave it out of `factors=`, or add runs with another value",
            )


@overload
def predict(
    data: "Known",
    at: Mapping[str, Level],
    *,
    response: str | None = None,
    model: str = "auto",
    level: float = 0.9,
    extrapolate: bool = False,
    table: TableOptions | None = None,
) -> "PredictionAt": ...


@overload
def predict(
    data: "Known",
    at: "Sequence[Mapping[str, Level]] | DataFrame",
    *,
    response: str | None = None,
    model: str = "auto",
    level: float = 0.9,
    extrapolate: bool = False,
    table: TableOptions | None = None,
) -> "Predictions": ...


def predict(
    data: "Known",
    at: "Mapping[str, Level] | Sequence[Mapping[str, Level]] | DataFrame",
    *,
    response: str | None = None,
    model: str = "auto",
    level: float = 0.9,
    extrapolate: bool = False,
    table: TableOptions | None = None,
) -> "PredictionAt | Predictions":
    """Predict a response, with an interval for the next run, at settings that need not have been run.

    Args:
        data: Runs or a model.
        at: The settings; or many of them, as a list or a DataFrame with a row for each. May have a different number of
            epochs than the runs if they report the response per epoch.
        response: What to predict; defaults to the time.
        model: See `list_plugs("models")`; a model file brings its own.
        level: Of the interval.
        extrapolate: Answer, with a wide interval, even where the runs say nothing about the settings.
        table: As in `load_data`.

    Returns:
        The median, the interval, the mean, the failure probability, and which models answered. It is a distribution:
        `quantile(0.99)`, `probability(at_most=300)`, `interval(0.9)`, `sample(1000)`. Of many settings, all of these in
        their order, with `frame()`.

    Raises:
        StudyError: No such setting or response.
        NotEnoughDataError: The runs say nothing about the settings; the hint names the run that would help most.

    >>> answer = predict("runs.csv", {"executors": 2, "batch_size": 96}, model="ridge")
    >>> answer.prediction.low < answer.prediction.value < answer.prediction.high < answer.quantile(0.99)
    True
    >>> round(answer.probability(at_most=answer.quantile(0.99)), 6)
    0.99
    """
    from sparkcast.learned.knowledge import knowledge_of
    from sparkcast.learned.predict import Predictions
    from sparkcast.learned.predict import predict as answer

    source = source_of(data, table, response=response)
    rows = [with_input_named(row, source) for row in ([at] if isinstance(at, Mapping) else _rows_of(at))]
    notes: tuple[str, ...] = ()
    if isinstance(source, Data):
        source, model, notes = with_cluster(source, model, rows)
    known = knowledge_of(source, model)
    name = response_name(response) if response else usual_among(known)
    found = []
    for row in rows:
        settings, filled = with_usual(row, source)
        one = answer(known, settings, response=name, level=level, extrapolate=extrapolate)
        told = source.notes if isinstance(source, Data) else ()
        found.append(replace(one, notes=(*notes, *one.notes, *filled, *told)))
    return found[0] if isinstance(at, Mapping) else Predictions(tuple(found))


def _rows_of(at: "Sequence[Mapping[str, Level]] | DataFrame") -> Sequence[Mapping[str, Level]]:
    """Settings by row; an empty cell of a DataFrame is a setting that is not given."""
    if isinstance(at, Sequence):
        return at
    return [{str(name): level for name, level in row.items() if level == level} for row in at.to_dict("records")]


@dataclass(frozen=True, slots=True)
class Present:
    """What the cluster does now, and what ran lately."""

    jobs_running: int | str | None = None  # "store": the jobs of a `sparkcast run` of this study that goes on now
    running: "tuple[RunningJob, ...]" = ()  # those whose deadlines are known
    recent: "Runs | None" = None  # runs made since the model was trained, to check whether it is still valid


def recommend(
    data: "Known",
    question: "Question | None" = None,
    *,
    within_s: float | None = None,
    maximize: str | None = None,
    minimize: str | None = None,
    fix: Mapping[str, Level] | None = None,
    choices: "Choices | None" = None,
    price: Price | None = None,
    present: Present | None = None,
    model: str = "auto",
    extrapolate: bool = False,
    table: TableOptions | None = None,
) -> "Recommendation":
    """The best settings that meet every limit with the required probability.

    Candidates are the combinations of the study's levels that its rules allow, or of the levels in a table.

    Args:
        data: Runs or a model; or an event log, which is replayed on other clusters, as ingested runs are whose
            executors never varied.
        question: Limits and objective: `Question(limits, confidence, maximize, minimize, fix, max_failure, within_s,
            budget, min_accuracy)`, of which four can be given here as well.
        within_s: The deadline: a limit on the time.
        maximize: A response or a numeric setting. Default objective: quality under a deadline or budget; under a
            deadline without a quality the lowest cost, or the fewest resources; else time.
        minimize: A response or a setting, instead of `maximize`.
        fix: Settings to hold at a given value.
        choices: Other values to choose from: `Choices(levels, free_epochs)`.
        price: A price to use instead of the study's.
        present: Jobs already running on the cluster, which the new job joins, and recent runs:
            `Present(jobs_running, running, recent)`.
        model: See `list_plugs("models")`; a model file brings its own.
        extrapolate: Include candidates too far from what was measured.
        table: As in `load_data`.

    Returns:
        The chosen settings with their predictions, the runner-up, what each limit costs, the Pareto front, and lines to
        paste.

    Raises:
        StudyError: No such response or setting, or limits that make no sense.
        InfeasibleError: No candidate meets all limits; the hint names the nearest limit that can be met.
        NotEnoughDataError: Too few runs, or none near the candidates.

    >>> found = recommend("runs.csv", within_s=60, model="ridge")
    >>> found.objective, found.chosen.probability > 0.95
    ('maximize accuracy', True)
    """
    from sparkcast.api.advisor import Advisor
    from sparkcast.recommend.question import Question

    asked = question or Question()
    asked = replace(
        asked,
        within_s=asked.within_s if within_s is None else within_s,
        maximize=maximize or asked.maximize,
        minimize=minimize or asked.minimize,
        fix={**asked.fix, **(fix or {})},
    )
    if is_log(data):
        _refuse_for_log(model, present, table)
        return recommend_clusters(data, asked, choices=choices, price=price)  # type: ignore[arg-type]
    source = source_of(data, table)
    held, filled = with_usual_size(with_input_named(asked.fix, source), source)
    asked = replace(asked, fix=held)
    told = (*filled, *source.notes) if isinstance(source, Data) else ()
    if isinstance(source, Data) and _is_empty(present) and is_replayed(source, model, choices):
        found = recommend_clusters(source, asked, choices=choices, price=price)
    else:
        advisor = Advisor.of(source, model, choices=choices, price=price, extrapolate=extrapolate)
        found = advisor.recommend(asked, present or Present())
    return replace(found, notes=(*found.notes, *told))


def _is_empty(present: Present | None) -> bool:
    return present is None or (present.jobs_running is None and not present.running and present.recent is None)


def _refuse_for_log(model: str, present: Present | None, table: TableOptions | None) -> None:
    if not may_replay(model):
        raise StudyError(
            f"a model such as {model} learns from runs, and one event log is replayed",
            hint="leave out `model=`, or `ingest` the logs of several runs",
        )
    if not _is_empty(present):
        raise StudyError(
            "jobs that run now or ran lately are compared with runs, and this is an event log",
            hint="`ingest` the log, and ask the store",
        )
    if table is not None and table != TableOptions():
        raise StudyError("options for tables do not apply to an event log", hint="leave them out")
