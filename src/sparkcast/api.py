"""What sparkcast does, as functions: the command line and the web service only parse, call one of these, and print."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sparkcast.errors import InfeasibleError, NotEnoughDataError, StudyError
from sparkcast.planning import PlanSummary, plan_of, predicted_time, summarise_plan, write_runs
from sparkcast.study import Configuration, Dataset, Level, Observation, Price, SparkOptions, Study

if TYPE_CHECKING:
    from sparkcast.analyse import Analysis
    from sparkcast.campaign import CampaignResult, OnProgress
    from sparkcast.models import Fitted
    from sparkcast.models.feasibility import Feasibility
    from sparkcast.models.saved import SavedModel
    from sparkcast.recommend import Prediction, Recommendation, RunningForecast, RunningJob, Staleness
    from sparkcast.recommend.choose import Pool, Recommender
    from sparkcast.replications import Replicated
    from sparkcast.report import Check
    from sparkcast.tuning import TuneResult
    from sparkcast.validate import OnStep, Validation

T = TypeVar("T")
Source = str | Path


# ---------------------------------------------------------------- study and plan


def load_study(path: Source) -> Study:
    """Read a study file, check it against its workload and design, and fill in the workload's defaults."""
    from sparkcast.designs import make_design
    from sparkcast.study.file import load_study as read
    from sparkcast.workloads import resolve

    study = resolve(read(Path(path)))
    make_design(study)
    return study


def plan(path: Source, *, budget_s: float | None = None, effect: str = "1") -> PlanSummary:
    """The runs of a study in order, what they take, and what they can tell."""
    study = load_study(path)
    time_of = predicted_time(study)
    made, seen = plan_of(study, time_of), _observations(study, Path(path))
    return summarise_plan(study, made, seen, budget_s=budget_s, effect=effect, time_of=time_of)


def write_plan(summary: PlanSummary, target: Source) -> int:
    """Write the runs of a plan to a CSV in run order; returns how many."""
    write_runs(summary, Path(target))
    return len(summary.trials)


def write_plan_figures(summary: PlanSummary, folder: Source, *, force: bool = False) -> list[Path]:
    """Write the alias map and the power curve of a plan; returns the files."""
    from sparkcast.report.figures import alias_map, power_curve, write_figures

    drawn = (alias_map(summary.description), power_curve(summary.description))
    return write_figures([figure for figure in drawn if figure is not None], Path(folder), force=force)


# ---------------------------------------------------------------- running


def run(
    path: Source,
    *,
    resume: bool = False,
    allow_changed: bool = False,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    on_progress: "OnProgress" = lambda progress: None,
) -> "CampaignResult":
    """Run the trials of a study that have no result yet. Results go to the folder beside the study file."""
    from sparkcast.campaign import run_campaign
    from sparkcast.store import results_folder

    study = with_spark(load_study(path), master, conf)
    return run_campaign(
        study,
        plan_of(study),
        results_folder(Path(path)),
        resume=resume,
        allow_changed=allow_changed,
        on_progress=on_progress,
    )


def dry_run(path: Source, *, master: str | None = None, conf: Mapping[str, str] | None = None) -> list[str]:
    """The spark-submit lines that `run` would execute, in order."""
    from sparkcast import campaign
    from sparkcast.store import results_folder

    study = with_spark(load_study(path), master, conf)
    return campaign.dry_run(study, plan_of(study), results_folder(Path(path)))


def with_spark(study: Study, master: str | None, conf: Mapping[str, str] | None) -> Study:
    """The study on another cluster, with more Spark properties."""
    options = SparkOptions(master or study.spark.master, {**study.spark.conf, **(conf or {})})
    return dataclasses.replace(study, spark=options)


# ---------------------------------------------------------------- searching with runs


def tune(
    path: Source,
    *,
    searcher: str | None = None,
    minimize: str | None = None,
    maximize: str | None = None,
    within_s: float | None = None,
    max_runs: int = 20,
    max_cost: float | None = None,
    seed: int = 0,
    replicates: int | None = None,
    fix: Mapping[str, Level] | None = None,
    earlier: Sequence[Source] = (),
    resume: bool = False,
    allow_changed: bool = False,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    on_progress: "OnProgress" = lambda progress: None,
) -> "TuneResult":
    """Find the best settings of a study by running few of them; without an objective, those with the shortest time.

    What was measured before is not run again. `earlier` are runs of other workloads; some searchers learn from them.
    """
    from sparkcast.recommend.searchers import SEARCHERS
    from sparkcast.store import results_folder
    from sparkcast.tuning import Budget, Quest, objective_of
    from sparkcast.tuning import tune as search

    study = with_spark(load_study(path), master, conf)
    quest = Quest(
        searcher=searcher or ("guided" if "guided" in SEARCHERS.names() else "random"),
        objective=objective_of(study, minimize, maximize),
        within_s=within_s,
        seed=seed,
        replicates=replicates,
        fix=fix or {},
        earlier=tuple(load_data(source).dataset for source in earlier),
    )
    return search(
        study,
        quest,
        Budget(max_runs, max_cost),
        results_folder(Path(path)),
        resume=resume,
        allow_changed=allow_changed,
        on_progress=on_progress,
    )


# ---------------------------------------------------------------- data


@dataclass(frozen=True, slots=True)
class Data:
    """Observations, and the study they came from when there is one."""

    dataset: Dataset
    study: Study | None = None

    @property
    def price(self) -> Price | None:
        """What makes a cost of a time; None where the study says by a formula of its own what `cost` is."""
        if self.study is None or any(r.name == "cost" and r.formula for r in self.study.responses):
            return None
        return self.study.price

    def candidates(self) -> list[Configuration]:
        """Every allowed combination of the levels at hand, as varied settings only."""
        if self.study is None:
            seen = {self.dataset.key(o): dict(o.configuration) for o in self.dataset.observations}
            return list(seen.values())
        return list[Configuration](self.study.space().candidates().configurations())


def load_data(
    source: Source, *, factors: Sequence[str] = (), responses: Sequence[str] = (), study: str | None = None
) -> Data:
    """A study file (with its results), a CSV, or a store (folder, file or database URL).

    A response may be a formula over measured ones: `cost = time_s / (100 * accuracy) ** 2`.
    When `factors` names the settings of a CSV, its other columns of numbers become metrics of the runs, which the model
    gray-box learns from.
    """
    from sparkcast.models.saved import is_model_file
    from sparkcast.store import open_store
    from sparkcast.store.table import read_csv
    from sparkcast.study.derive import derive_responses, make_dataset, parse_response

    path, wanted = Path(source), [parse_response(text) for text in responses]
    if is_model_file(path):
        raise StudyError(
            f"{path.name} is a model file, and this needs runs", hint="give the study, store or CSV instead"
        )
    if path.suffix in (".yaml", ".yml"):
        loaded = load_study(path)
        observations = _observations(loaded, path)
        if not observations:
            raise NotEnoughDataError(f"study {loaded.name!r} has no results yet", hint=f"sparkcast run {path.name}")
        return Data(derive_responses(make_dataset(loaded, observations), wanted), loaded)
    if path.suffix == ".csv":
        return Data(derive_responses(read_csv(path, factors, [n for r in wanted for n in r.needs]), wanted))
    store = open_store(str(source))
    try:
        name = store.only_study(study)
        stored = store.observations(name)
    finally:
        store.close()
    if not stored:
        raise NotEnoughDataError(f"study {name!r} has no results yet", hint="make some: sparkcast run STUDY")
    varied = tuple(n for n in stored[0].configuration if len({o.configuration.get(n) for o in stored}) > 1)
    measured = tuple(dict.fromkeys(n for o in stored for n in o.responses))
    return Data(derive_responses(Dataset(tuple(factors) or varied, stored, name, measured), wanted))


def load_model(path: Source) -> "SavedModel":
    """A model file that `save_model` wrote. Nothing in it is executed; StudyError for one that cannot be trusted."""
    from sparkcast.models.saved import load

    return load(Path(path))


def load_data_or_model(
    source: Source, *, factors: Sequence[str] = (), responses: Sequence[str] = (), study: str | None = None
) -> "Data | SavedModel":
    """What `load_data` takes, or a model file, which is known by its content."""
    from sparkcast.models.saved import is_model_file

    if not is_model_file(Path(source)):
        return load_data(source, factors=factors, responses=responses, study=study)
    if factors or study or any("=" in response for response in responses):
        raise StudyError(
            f"{Path(source).name} is a model file: its factors and responses were settled when it was fitted",
            hint="leave out --factors, --study and formulas, or give the data instead",
        )
    return load_model(source)


def _observations(study: Study, path: Path) -> tuple[Observation, ...]:
    """The results that fit the study: --allow-changed may have kept some with other fixed settings in the store."""
    from sparkcast.store import open_store, results_folder

    folder = results_folder(path)
    if not (folder / "store.sqlite").exists():
        return ()
    store = open_store(folder)
    try:
        stored = store.observations(study.name)
    finally:
        store.close()
    return tuple(o for o in stored if all(o.configuration.get(name) == v for name, v in study.fixed.items()))


def export(data: Data, target: Source) -> int:
    """Write the observations to a .csv or .parquet file; returns how many."""
    from sparkcast.store.table import write_table

    write_table(data.dataset, Path(target))
    return len(data.dataset.observations)


# ---------------------------------------------------------------- answers


def analyze(
    data: Data,
    response: str = "time_s",
    *,
    formula: str | None = None,
    anova_type: int = 2,
    transform: str = "auto",
) -> "Analysis":
    """Which settings matter for a response, and whether to believe it."""
    from sparkcast.analyse.anova import analyze as analyse

    if data.study is None:
        _require_varied(data.dataset)
    return analyse(data.dataset, response, formula=formula, anova_type=anova_type, transform=transform)


def _require_varied(dataset: Dataset) -> None:
    """Columns that somebody named as factors must vary; in a study that has only begun they may not do so yet."""
    for name in dataset.factors:
        seen = {o.configuration[name] for o in dataset.observations}
        if len(seen) == 1:
            raise StudyError(
                f"{dataset.name}: column {name!r} is {seen.pop()} in every row, so it is no factor",
                hint="leave it out of --factors, or add runs with another value",
            )


def write_figures(analysis: "Analysis", folder: Source, *, force: bool = False) -> list[Path]:
    """The figures of an analysis as PNG, SVG and Vega-Lite files."""
    from sparkcast.report.figures import analysis_figures, write_figures

    return write_figures(analysis_figures(analysis), Path(folder), force=force)


@dataclass(frozen=True, slots=True)
class DrawnFigures:
    files: tuple[Path, ...]
    missing: tuple[str, ...]  # what could not be drawn, and why


def write_validation_figures(
    data: Data,
    validation: "Validation",
    folder: Source,
    *,
    most: int = 3,
    with_learning_curve: bool = False,
    on_step: "OnStep | None" = None,
    force: bool = False,
) -> DrawnFigures:
    """The figures of a validation's best models as PNG, SVG and Vega-Lite files.

    A learning curve fits each of the models some 30 times more; `on_step` is called before each of its sizes.
    """
    from sparkcast.models import MODELS
    from sparkcast.report.figures import validation_figures, write_figures
    from sparkcast.validate.learning import learning_curve

    response, names = validation.response, [card.model for card in validation.scorecards[:most]]
    notes: list[str] = []
    fitted: dict[str, Fitted] = {}
    for name in names:
        try:
            fitted[name] = MODELS.get(name)().fit(data.dataset, response)
        except (NotEnoughDataError, StudyError) as error:
            notes.append(f"no scaling curve of {name}: {error.problem}")
    curve = None
    if with_learning_curve:
        curve = _or_note(
            notes, lambda: learning_curve(data.dataset, response, names, seed=validation.seed, on_step=on_step)
        )
    drawn, undrawn = validation_figures(data.dataset, validation, fitted, curve, most=most)
    return DrawnFigures(tuple(write_figures(drawn, Path(folder), force=force)), (*notes, *undrawn))


def validate(
    data: Data,
    response: str = "time_s",
    *,
    protocol: str = "loo",
    models: Sequence[str] | None = None,
    level: float = 0.9,
    seed: int = 0,
    on_step: "OnStep | None" = None,
) -> "Validation":
    """How well models predict configurations they have not seen.

    `protocol` says which ones those are: "loo", "kfold:5", "holdout:0.2", "interpolate:executors",
    "extrapolate:executors>8", "cases:data_size=250+750|1000". `seed` is for the random ones; `on_step` is called before
    each fit.
    """
    from sparkcast.validate.score import validate as score

    return score(data.dataset, response, protocol=protocol, models=models, level=level, seed=seed, on_step=on_step)


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
    fit_one = _fit if search is None else partial(_fit_searched, search=search, found=found)
    learned = _learn(data, wanted, model, notes=None if responses else notes, fit_one=fit_one)
    notes += found
    curves = _curves(data.dataset, tuple(learned.fitted), notes)
    summaries = tuple(_summary(data.dataset, name, model, fitted) for name, fitted in learned.fitted.items())
    return FitResult(summaries, tuple(notes), dataclasses.replace(learned, curves=curves))


def save_model(model: "SavedModel", path: Source, *, force: bool = False) -> None:
    """Write what `fit` learned to a model file; an existing one is replaced only with `force`."""
    from sparkcast.models.saved import save

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
    from sparkcast.models._problem import pose
    from sparkcast.models.search import paper_grid
    from sparkcast.models.search import search as best_settings

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


def _fit(dataset: Dataset, response: str, model: str) -> "Fitted":
    from sparkcast.models import MODELS

    return MODELS.get(model)().fit(dataset, response)


def _learn(
    data: Data,
    responses: Sequence[str],
    model: str,
    *,
    notes: list[str] | None = None,
    fit_one: "Callable[[Dataset, str, str], Fitted]" = _fit,
) -> "SavedModel":
    """What a model file holds, but for the curves. With `notes`, responses after the first may be refused."""
    from sparkcast.models.feasibility import fit_feasibility
    from sparkcast.models.saved import About, LearnedFrom, SavedModel, constants_in, fingerprints_in, seen_in

    dataset = data.dataset
    fitted = {responses[0]: fit_one(dataset, responses[0], model)}
    for name in responses[1:]:
        found = fit_one(dataset, name, model) if notes is None else _or_note(notes, fit_one, dataset, name, model)
        fitted |= {} if found is None else {name: found}
    runs = {name: dataset.successful(name) for name in fitted}
    about = About(
        data=dataset.name,
        factors=dataset.factors,
        responses={n: LearnedFrom(model, len(ok), len({*map(dataset.key, ok)})) for n, ok in runs.items()},
        runs=len(dataset.observations),
        fixed=constants_in(dataset),
        seen=seen_in(dataset),
        candidates=() if data.study else tuple({n: c[n] for n in dataset.factors} for c in data.candidates()),
        space=data.study.space() if data.study else None,
        price=data.price,
        fingerprints=fingerprints_in(dataset),
    )
    return SavedModel(about, fitted, feasibility=fit_feasibility(dataset))


def _curves(dataset: Dataset, responses: Sequence[str], notes: list[str]) -> "dict[str, Fitted]":
    from sparkcast.models.curves import fit_curve, has_curves

    told = [name for name in responses if has_curves(dataset, name)]
    return {name: curve for name in told if (curve := _or_note(notes, fit_curve, dataset, name)) is not None}


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
    from sparkcast.models.auto import Combined
    from sparkcast.models.support import Extrapolating, categories_of, like_known, require_support
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

    from sparkcast.analyse.runs import same_level
    from sparkcast.models.curves import EPOCHS, has_curves
    from sparkcast.models.saved import constants_in
    from sparkcast.registry import did_you_mean

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
    from sparkcast.models.curves import fit_curve
    from sparkcast.registry import did_you_mean

    if is_by_epoch:
        return "curve", fit_curve(data.dataset, response) if isinstance(data, Data) else learned.curves[response]
    if response not in learned.fitted:
        hint = did_you_mean(response, tuple(learned.fitted))
        raise StudyError(f"the model file has no model of {response!r}", hint=hint)
    return learned.about.responses[response].model, learned.fitted[response]


def _with_failures(found: PredictionAt, failures: "Feasibility", factors: Sequence[str]) -> PredictionAt:
    """The prediction with the chance of failing; of a category that was never run, that of the worst known one."""
    from sparkcast.models.support import like_known

    varied = {name: found.configuration[name] for name in factors}
    categories = {axis.name: axis.levels for axis in failures.domain.axes if not axis.is_number}
    chance = max(failures.probability_of_failure(like_known(varied, categories)))
    return dataclasses.replace(found, failure_probability=chance, failed_runs=failures.n_failed)


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

    known, _ = _known_and_pool(data)
    own_price = data.price if isinstance(data, Data) else data.about.price
    pool = _pool(data, levels or {}, free_epochs)
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
    )
    answer = recommender.ask(question)
    return dataclasses.replace(
        answer,
        running=_forecasts(recommender, jobs, n_running, confidence),
        staleness=_staleness(data, recommender, n_running, recent),
    )


def _known_and_pool(data: "Data | SavedModel") -> "tuple[Dataset | SavedModel, Pool]":
    if isinstance(data, Data):
        return data.dataset, data.study.space() if data.study else data.candidates()
    return data, data.about.space or data.about.candidates


def _pool(data: "Data | SavedModel", levels: Mapping[str, Sequence[Level]], free_epochs: bool) -> "Pool":
    """Where candidates come from, with other values for some settings."""
    from sparkcast.models.curves import EPOCHS
    from sparkcast.recommend.choose import measured_epochs, with_levels
    from sparkcast.registry import did_you_mean

    known, pool = _known_and_pool(data)
    factors = known.factors if isinstance(known, Dataset) else known.about.factors
    wanted = dict(levels)
    if free_epochs and EPOCHS not in factors:
        wanted = {EPOCHS: measured_epochs(known), **wanted}
    for name in wanted:
        if name not in (*factors, EPOCHS):
            raise StudyError(f"{name!r} is no factor, so it has no other values", hint=did_you_mean(name, factors))
    return with_levels(pool, wanted)


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
    from sparkcast.models.saved import constants_in, fingerprints_in, seen_in
    from sparkcast.models.support import Extrapolating
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
        drifted = drift_within(data.dataset, "time_s", lambda runs, response: _fit(runs, response, "ridge"))
    return staleness(
        training,
        here(training),
        n_jobs=None if n_running is None else n_running + 1,
        measured=[{**fixed, **known.configuration} for known in seen],
        drifted=drifted,
    )


def write_recommendation_figures(
    recommendation: "Recommendation", folder: Source, *, force: bool = False
) -> list[Path]:
    """The candidates and the Pareto front of a recommendation as PNG, SVG and Vega-Lite files."""
    from sparkcast.report.figures import recommendation_figures, write_figures

    return write_figures(recommendation_figures(recommendation), Path(folder), force=force)


# ---------------------------------------------------------------- getting started


def starter_study(workload: str) -> str:
    """The text of a commented study file."""
    from sparkcast.workloads.starter import starter_study as make

    return make(workload)


def list_plugs(kind: str) -> dict[str, str]:
    """Name and one line for each design, workload, engine, model, searcher, protocol or replication at hand."""
    from sparkcast.designs import DESIGNS
    from sparkcast.engines import ENGINES
    from sparkcast.errors import UnknownNameError
    from sparkcast.models import MODELS
    from sparkcast.recommend.searchers import SEARCHERS
    from sparkcast.registry import Registry, did_you_mean
    from sparkcast.replications import REPLICATIONS
    from sparkcast.validate import PROTOCOLS
    from sparkcast.workloads import WORKLOADS

    registries: tuple[Registry[Any], ...] = (DESIGNS, WORKLOADS, ENGINES, MODELS, SEARCHERS, PROTOCOLS, REPLICATIONS)
    known = {f"{registry.kind}s": registry for registry in registries}
    if kind not in known:
        raise UnknownNameError(f"no list of {kind!r}", hint=did_you_mean(kind, tuple(known)))
    return known[kind].summaries()


# ---------------------------------------------------------------- papers


def replicate(paper: str, *, part: str | None = None, data: Source | None = None) -> "Replicated":
    """A paper's numbers beside ours, and its mistakes beside what is true. `data` holds the authors' measurements."""
    from sparkcast.replications import replicate as do_again

    return do_again(paper, part, None if data is None else Path(data))


# ---------------------------------------------------------------- report


def report(path: Source, output: Source, *, within_s: float | None = None, check: "Check | None" = None) -> None:
    """Write one self-contained HTML file about a study. What cannot be computed yet is left out with a note."""
    from datetime import datetime

    from sparkcast import __version__
    from sparkcast.report import build_content, write_report
    from sparkcast.validate.score import fit_best

    data = load_data(path)
    assert data.study is not None
    responses = [name for name in data.dataset.responses if data.dataset.successful(name)]
    notes: list[str] = []
    analyses = [a for name in responses if (a := _or_note(notes, analyze, data, name))]
    validations = [v for name in responses[:2] if (v := _or_note(notes, validate, data, name))]
    chosen = {v.response: c[1] for v in validations if (c := _or_note(notes, fit_best, data.dataset, v))}
    recommendation = _or_note(notes, lambda: recommend(data, within_s=within_s))
    content = build_content(
        data.dataset,
        created=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        version=__version__,
        study=data.study,
        plan=plan_of(data.study),
        analyses=analyses,
        validations=validations,
        recommendation=recommendation,
        check=check,
        fitted=chosen,
        notes=tuple(dict.fromkeys(notes)),
    )
    write_report(Path(output), content)


def _or_note(notes: list[str], compute: Callable[..., T], *arguments: Any) -> T | None:
    """The result, or None and a note why there is none: a report shows what it can."""
    try:
        return compute(*arguments)
    except (NotEnoughDataError, InfeasibleError, StudyError) as error:
        notes.append(error.problem)
        return None
