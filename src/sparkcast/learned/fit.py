"""Learning from runs: what `fit` does, and what it tells of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import Any, TypeVar

from sparkcast.analysis.runs import usable_runs
from sparkcast.data.sources import Data
from sparkcast.errors import InfeasibleError, NotEnoughDataError, StudyError
from sparkcast.fitting.problem import pose
from sparkcast.fitting.uncertainty import FittedPoints
from sparkcast.learned.curves import fit_curve
from sparkcast.learned.grid_search import check_method, space_of
from sparkcast.learned.grid_search import search as best_settings
from sparkcast.learned.knowledge import FromRuns
from sparkcast.learned.saved import SavedModel
from sparkcast.models import MODELS, Fitted
from sparkcast.study import Dataset
from sparkcast.study.environment import mixed_environments

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Scores:
    """How the candidates of a model that chooses did on one kind of question."""

    question: str
    protocol: str
    errors: dict[str, float]  # mean absolute error on left-out configurations in percent, best first
    answered_by: tuple[str, ...]
    error: float | None  # of their common answer, like the others; None when nothing could be left out


@dataclass(frozen=True, slots=True)
class FittedResponse:
    """What was learned about one response."""

    response: str
    model: str
    runs: int
    configurations: int
    typical_error: float  # percent; half of the runs of left-out configurations were nearer
    choices: tuple[Scores, ...] = ()


@dataclass(frozen=True, slots=True)
class FitResult:
    responses: tuple[FittedResponse, ...]
    notes: tuple[str, ...]  # what was not learned, and why
    model: SavedModel


def fit(
    data: Data, responses: Sequence[str] = (), *, model: str = "auto", search: "GridSearch | None" = None
) -> FitResult:
    """See `sparkcast.api.fit`."""
    dataset, words = data.dataset, data.dataset.vocabulary
    usual = [name for name in (words.time, words.quality) if name is not None and dataset.successful(name)]
    wanted = list(responses) or usual or [words.time or dataset.responses[0]]
    _check(dataset, wanted if responses else wanted[:1], model, search)
    notes: list[str] = []
    known = FromRuns(dataset, model, data.pool(), data.price)
    learn = _fit_model if search is None else partial(_fit_searched, search=search, found=notes)
    fitted: dict[str, Fitted] = {}
    for i, name in enumerate(wanted):
        is_needed, runs = bool(responses) or i == 0, known.sample(name).runs
        found = learn(runs, name, model) if is_needed else or_note(notes, learn, runs, name, model)
        fitted |= {} if found is None else {name: found}
    about = replace(known.about, responses={name: known.about.responses[name] for name in fitted})
    notes += [note] if (note := mixed_environments(about.fingerprints)) else []
    notes += [f"{name}: {learned.note}" for name, learned in about.responses.items() if learned.note]
    learned = SavedModel(about, fitted, _curves(known, tuple(fitted), notes), known.feasibility)
    summaries = [_summary(known.sample(name).runs, name, model, found) for name, found in fitted.items()]
    return FitResult(tuple(summaries), tuple(notes), learned)


def _check(data: Dataset, responses: Sequence[str], model: str, search: "GridSearch | None") -> None:
    """Say what is wrong with the question before anybody waits for a model."""
    for response in responses:
        usable_runs(data, response)
    if search is None:
        MODELS.get(model)
    else:
        check_method(search.method, search.trials)
        space_of(search.paper, model)


@dataclass(frozen=True, slots=True)
class GridSearch:
    """A search for the settings of a model among those that a paper tried."""

    paper: str
    method: str = "grid"  # or tpe
    trials: int | None = None
    seed: int = 0


def _fit_searched(dataset: Dataset, response: str, model: str, *, search: GridSearch, found: list[str]) -> Fitted:
    space = space_of(search.paper, model)
    best = best_settings(
        pose(dataset, response),
        space.make,
        space.grid,
        method=search.method,
        n_trials=search.trials,
        seed=search.seed,
    )
    settings = ", ".join(f"{name}={value}" for name, value in best.settings.items())
    found.append(f"{response}: the best of {len(best.trials)} combinations of {search.paper} is {settings}")
    return space.make(**best.settings).fit(dataset, response)


def _fit_model(dataset: Dataset, response: str, model: str) -> Fitted:
    return MODELS.get(model)().fit(dataset, response)


def _curves(known: FromRuns, responses: Sequence[str], notes: list[str]) -> dict[str, FittedPoints]:
    told = {name: known.sample(name).runs for name in responses if known.has_curve(name)}
    fitted = {name: or_note(notes, fit_curve, runs, name) for name, runs in told.items()}
    return {name: curve for name, curve in fitted.items() if curve is not None}


def _summary(dataset: Dataset, response: str, model: str, fitted: Fitted) -> FittedResponse:
    runs = dataset.successful(response)
    at = list(dict.fromkeys(map(dataset.key, runs)))
    # Inside the measured range, half the width of this interval is the median error of left-out configurations.
    answers = zip(fitted.predict(at), fitted.interval(at, level=0.5), strict=True)
    errors = [50 * (high - low) / abs(value) for value, (low, high) in answers if value]
    choices = tuple(
        Scores(choice.question, choice.protocol, dict(choice.scores), choice.answering, choice.error)
        for choice in getattr(fitted, "choices", ())
    )
    return FittedResponse(response, model, len(runs), len(at), median(errors) if errors else 0.0, choices)


def or_note(notes: list[str], compute: Callable[..., T], *arguments: Any) -> T | None:
    """The result, or None and a note why there is none: a report shows what it can."""
    try:
        return compute(*arguments)
    except (NotEnoughDataError, InfeasibleError, StudyError) as error:
        notes.append(error.problem)
        return None
