"""Learning from runs, and predicting: what `fit` and `predict` do."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sparkcast.data.sources import Data, Source, load_data
from sparkcast.errors import InfeasibleError, NotEnoughDataError, StudyError
from sparkcast.study import Configuration, Dataset, Listed, Space

if TYPE_CHECKING:
    from sparkcast.learned.feasibility import Feasibility
    from sparkcast.learned.saved import SavedModel
    from sparkcast.models import Fitted
    from sparkcast.recommend import Prediction

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
    model: "SavedModel"


def fit(
    data: Data, responses: Sequence[str] = (), *, model: str = "auto", search: "GridSearch | None" = None
) -> FitResult:
    """Learn responses from runs; without `responses` those that `recommend` needs: time_s, and accuracy if measured.

    `search` finds the settings of the model among those that a paper searched; the notes tell which ones.
    """
    measured = [name for name in ("time_s", "accuracy") if data.dataset.successful(name)]
    notes: list[str] = []
    wanted = responses or measured or ["time_s"]
    found: list[str] = []
    fit_one = fit_model if search is None else partial(_fit_searched, search=search, found=found)
    learned = _learn(data, wanted, model, notes=None if responses else notes, fit_one=fit_one)
    notes += found
    curves = _curves(data.dataset, tuple(learned.fitted), notes)
    summaries = tuple(_summary(data.dataset, name, model, fitted) for name, fitted in learned.fitted.items())
    return FitResult(summaries, tuple(notes), dataclasses.replace(learned, curves=curves))


def load_model(path: Source) -> "SavedModel":
    """A model file that `save_model` wrote. Nothing in it is executed; StudyError for one that cannot be trusted."""
    from sparkcast.learned.saved import load

    return load(Path(path))


def load_data_or_model(
    source: Source, *, factors: Sequence[str] = (), responses: Sequence[str] = (), study: str | None = None
) -> "Data | SavedModel":
    """What `load_data` takes, or a model file, which is known by its content."""
    from sparkcast.data.sources import is_model_file

    if not is_model_file(Path(source)):
        return load_data(source, factors=factors, responses=responses, study=study)
    if factors or study or any("=" in response for response in responses):
        raise StudyError(
            f"{Path(source).name} is a model file: its factors and responses were settled when it was fitted",
            hint="leave out --factors, --study and formulas, or give the data instead",
        )
    return load_model(source)


def save_model(model: "SavedModel", path: Source, *, force: bool = False) -> None:
    """Write what `fit` learned to a model file; an existing one is replaced only with `force`."""
    from sparkcast.learned.saved import save

    target, feasibility = Path(path), model.feasibility
    save(model.fitted, target, about=model.about, curves=model.curves, feasibility=feasibility, force=force)


@dataclass(frozen=True, slots=True)
class GridSearch:
    """A search for the settings of a model among those that a paper tried."""

    paper: str
    method: str = "grid"  # or tpe
    trials: int | None = None
    seed: int = 0


def _fit_searched(dataset: Dataset, response: str, model: str, *, search: GridSearch, found: list[str]) -> "Fitted":
    from sparkcast.fitting.problem import pose
    from sparkcast.learned.grid_search import paper_grid
    from sparkcast.learned.grid_search import search as best_settings

    space = paper_grid(search.paper, model)
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


def fit_model(dataset: Dataset, response: str, model: str) -> "Fitted":
    from sparkcast.models import MODELS

    return MODELS.get(model)().fit(dataset, response)


def _learn(
    data: Data,
    responses: Sequence[str],
    model: str,
    *,
    notes: list[str] | None = None,
    fit_one: "Callable[[Dataset, str, str], Fitted]" = fit_model,
) -> "SavedModel":
    """What a model file holds, but for the curves. With `notes`, responses after the first may be refused."""
    from sparkcast.learned.feasibility import fit_feasibility
    from sparkcast.learned.saved import SavedModel, about_of

    dataset = data.dataset
    fitted = {responses[0]: fit_one(dataset, responses[0], model)}
    for name in responses[1:]:
        found = fit_one(dataset, name, model) if notes is None else or_note(notes, fit_one, dataset, name, model)
        fitted |= {} if found is None else {name: found}
    pool = data.pool()
    about = dataclasses.replace(
        about_of(dataset, fitted, model),
        candidates=pool.configurations if isinstance(pool, Listed) else (),
        space=pool if isinstance(pool, Space) else None,
        price=data.price,
    )
    return SavedModel(about, fitted, feasibility=fit_feasibility(dataset))


def _curves(dataset: Dataset, responses: Sequence[str], notes: list[str]) -> "dict[str, Fitted]":
    from sparkcast.learned.curves import fit_curve, has_curves

    told = [name for name in responses if has_curves(dataset, name)]
    return {name: curve for name in told if (curve := or_note(notes, fit_curve, dataset, name)) is not None}


def _summary(dataset: Dataset, response: str, model: str, fitted: "Fitted") -> FittedResponse:
    from statistics import median

    runs = dataset.successful(response)
    at = list({dataset.key(run): {name: run.configuration[name] for name in dataset.factors} for run in runs}.values())
    # Inside the measured range, half the width of this interval is the median error of left-out configurations.
    answers = zip(fitted.predict(at), fitted.interval(at, level=0.5), strict=True)
    errors = [50 * (high - low) / abs(value) for value, (low, high) in answers if value]
    choices = tuple(
        Scores(choice.question, choice.protocol, dict(choice.scores), choice.answering, choice.error)
        for choice in getattr(fitted, "choices", ())
    )
    return FittedResponse(response, model, len(runs), len(at), median(errors) if errors else 0.0, choices)


@dataclass(frozen=True, slots=True)
class PredictionAt:
    configuration: Configuration
    model: str
    prediction: "Prediction"
    failure_probability: float | None = None
    failed_runs: int = 0  # from which that was learned; without any it is a rule of thumb
    question: str | None = None  # of auto: where the settings lie, who answers there, and how far off these were
    answered_by: tuple[str, ...] = ()
    left_out_error: float | None = None  # percent


def predict(
    data: "Data | SavedModel",
    at: Configuration,
    *,
    response: str = "time_s",
    model: str = "auto",
    level: float = 0.9,
    extrapolate: bool = False,
) -> PredictionAt:
    """A response at settings that need not have been run, with the interval of the next run.

    Where the runs say nothing about the settings, NotEnoughDataError, or with `extrapolate` an answer with a wide
    interval. Another number of epochs than the runs had may be asked for when they tell the response by epoch.
    """
    from sparkcast.learned.support import Extrapolating, categories_of, like_known, require_support
    from sparkcast.models.auto import Combined
    from sparkcast.recommend import Prediction

    if not 0 < level < 1:
        raise StudyError(f"the level {level:g} is not between 0 and 1", hint="e.g. --level 0.9")
    asked, is_by_epoch = _asked(data, at, response)
    learned = _learn(data, [response], model) if isinstance(data, Data) else data
    name, fitted = _who_answers(data, learned, response, is_by_epoch)
    about = learned.about
    categories = categories_of([seen.configuration for seen in about.seen if seen.ok], about.factors)
    if not extrapolate:
        require_support(fitted, [asked], categories)
    asking = Extrapolating(fitted, response, categories) if extrapolate else fitted
    [value], [(low, high)] = asking.predict([asked]), asking.interval([asked], level=level)
    found = PredictionAt(at, name, Prediction(response, value, low, high, level))
    if isinstance(fitted, Combined):
        chosen = fitted.choice_for(like_known(asked, categories)[0])
        found = dataclasses.replace(
            found, question=chosen.question, answered_by=chosen.answering, left_out_error=chosen.error
        )
    return found if learned.feasibility is None else _with_failures(found, learned.feasibility, about.factors)


def _asked(data: "Data | SavedModel", at: Configuration, response: str) -> tuple[Configuration, bool]:
    """The settings to ask a model for, checked, and whether that is one by epoch."""
    import math

    from sparkcast.learned.curves import EPOCHS, has_curves
    from sparkcast.learned.saved import constants_in
    from sparkcast.registry import did_you_mean
    from sparkcast.study import same_level

    if isinstance(data, Data):
        name, factors, fixed = data.dataset.name, data.dataset.factors, constants_in(data.dataset)
        has_epochs = has_curves(data.dataset, response)
    else:
        name, factors, fixed = data.about.data, data.about.factors, data.about.fixed
        has_epochs = response in data.curves
    for setting, value in at.items():
        if setting not in factors and not (setting == EPOCHS and has_epochs):
            raise StudyError(f"{setting!r} is not a factor of {name!r}", hint=did_you_mean(setting, factors))
        if isinstance(value, float) and not math.isfinite(value):
            raise StudyError(f"{setting} = {value} is not a number", hint="give a finite number or a level")
    if EPOCHS not in at or EPOCHS in factors:
        return at, False
    if EPOCHS in fixed and same_level(at[EPOCHS], fixed[EPOCHS]):
        return {setting: value for setting, value in at.items() if setting != EPOCHS}, False
    return at, True


def _who_answers(
    data: "Data | SavedModel", learned: "SavedModel", response: str, is_by_epoch: bool
) -> "tuple[str, Fitted]":
    from sparkcast.learned.curves import fit_curve
    from sparkcast.registry import did_you_mean

    if is_by_epoch:
        return "curve", fit_curve(data.dataset, response) if isinstance(data, Data) else learned.curves[response]
    if response not in learned.fitted:
        hint = did_you_mean(response, tuple(learned.fitted))
        raise StudyError(f"the model file has no model of {response!r}", hint=hint)
    return learned.about.responses[response].model, learned.fitted[response]


def _with_failures(found: PredictionAt, failures: "Feasibility", factors: Sequence[str]) -> PredictionAt:
    """The prediction with the chance of failing; of a category that was never run, that of the worst known one."""
    chance = failures.worst_at({name: found.configuration[name] for name in factors})
    return dataclasses.replace(found, failure_probability=chance, failed_runs=failures.n_failed)


def or_note(notes: list[str], compute: Callable[..., T], *arguments: Any) -> T | None:
    """The result, or None and a note why there is none: a report shows what it can."""
    try:
        return compute(*arguments)
    except (NotEnoughDataError, InfeasibleError, StudyError) as error:
        notes.append(error.problem)
        return None
