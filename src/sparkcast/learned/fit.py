"""Learning from runs: what `fit` does, and what it tells of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from sparkcast.analysis.runs import usable_runs
from sparkcast.data.sources import Data
from sparkcast.display import Displayed, frame_of, plain_row
from sparkcast.errors import InfeasibleError, NotEnoughDataError, StudyError
from sparkcast.fitting.problem import pose
from sparkcast.learned.across_blocks import model_inside
from sparkcast.learned.grid_search import Settings, check_method, space_of
from sparkcast.learned.grid_search import search as best_settings
from sparkcast.learned.saved import SavedModel
from sparkcast.models import MODELS, Fitted
from sparkcast.study import Dataset
from sparkcast.study.environment import mixed_environments

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Scores:
    """How the candidates of a model that chooses did on one kind of question."""

    question: str
    protocol: str
    errors: dict[str, float]  # mean error of runs of left-out configurations in percent, best first
    answered_by: tuple[str, ...]
    error: float | None  # of their common answer, like the others; None when nothing could be left out


@dataclass(frozen=True, slots=True)
class FittedResponse:
    """What was learned about one response."""

    response: str
    model: str
    runs: int
    configurations: int
    mean_error: float | None  # of runs of left-out configurations in percent, as in `validate`; None where unknown
    choices: tuple[Scores, ...] = ()


@dataclass(frozen=True, slots=True)
class FitResult(Displayed):
    responses: tuple[FittedResponse, ...]
    notes: tuple[str, ...]  # what was not learned, and why
    model: SavedModel

    def frame(self) -> "pd.DataFrame":
        """A row for each response."""
        return frame_of(plain_row(one) for one in self.responses)


def fit(
    data: Data, responses: Sequence[str] = (), *, model: str = "auto", search: "GridSearch | None" = None
) -> FitResult:
    """See `sparkcast.api.fit`."""
    dataset, words = data.dataset, data.dataset.vocabulary
    usual = [name for name in (words.time, words.quality) if name is not None and dataset.successful(name)]
    wanted = list(responses) or usual or [words.time or dataset.responses[0]]
    _check(dataset, wanted if responses else wanted[:1], model, search)
    notes: list[str] = []
    grid = "" if search is None else search.paper
    settings: dict[str, Settings] = {}  # found one after the other
    learned = SavedModel(dataset, model, data.pool(), data.price, trained=tuple(wanted), grid=grid, settings=settings)
    trained = []
    for i, name in enumerate(wanted):
        compute = partial(_learn, learned, name, search, settings, notes)
        if bool(responses) or i == 0:
            compute()
        elif or_note(notes, compute) is None:
            continue
        trained.append(name)
    learned = replace(learned, trained=tuple(trained))
    notes += [note] if (note := mixed_environments(learned.about.fingerprints)) else []
    notes += [f"{name}: {about.note}" for name, about in learned.about.responses.items() if about.note]
    for name in trained:
        if learned.has_curve(name):
            or_note(notes, learned.curve_of, name)
    return FitResult(tuple(_summary(learned, name) for name in trained), tuple(notes), learned)


def _learn(
    learned: SavedModel, response: str, search: "GridSearch | None", settings: dict[str, Settings], notes: list[str]
) -> Fitted:
    if search is not None:
        settings[response] = _searched(learned.sample(response).runs, response, learned.model, search, notes)
    return learned.model_of(response)[1]


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


def _searched(dataset: Dataset, response: str, model: str, search: GridSearch, notes: list[str]) -> Settings:
    space = space_of(search.paper, model)
    best = best_settings(
        pose(dataset, response),
        space.make,
        space.grid,
        method=search.method,
        n_trials=search.trials,
        seed=search.seed,
    )
    shown = ", ".join(f"{name}={value}" for name, value in best.settings.items())
    notes.append(f"{response}: the best of {len(best.trials)} combinations of {search.paper} is {shown}")
    return best.settings


def _summary(learned: SavedModel, response: str) -> FittedResponse:
    dataset, (model, found) = learned.sample(response).runs, learned.model_of(response)
    fitted = model_inside(found)
    runs = dataset.successful(response)
    choices = tuple(
        Scores(choice.question, choice.protocol, dict(choice.scores), choice.answering, choice.error)
        for choice in getattr(fitted, "choices", ())
    )
    error = choices[0].error if choices else getattr(fitted, "left_out_error", None)
    return FittedResponse(response, model, len(runs), len({*map(dataset.key, runs)}), error, choices)


def or_note(notes: list[str], compute: Callable[..., T], *arguments: Any) -> T | None:
    """The result, or None and a note why there is none: a report shows what it can."""
    try:
        return compute(*arguments)
    except (NotEnoughDataError, InfeasibleError, StudyError) as error:
        notes.append(error.problem)
        return None
