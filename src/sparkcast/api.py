"""What sparkcast does, as functions: the command line and the web service only parse, call one of these, and print."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparkcast.advising import PresentLoad, recommend
from sparkcast.data.sources import (
    Data,
    Source,
    load_data,
    load_study,
    stored_observations,
)
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.learning import (
    FitResult,
    FittedResponse,
    GridSearch,
    PredictionAt,
    Scores,
    fit,
    load_data_or_model,
    load_model,
    or_note,
    predict,
    save_model,
)
from sparkcast.planning import PlanSummary, plan_of, predicted_time, summarise_plan, write_runs
from sparkcast.study import Dataset, Level, SparkOptions, Study

if TYPE_CHECKING:
    from sparkcast.analyse import Analysis
    from sparkcast.models import Fitted
    from sparkcast.recommend import Recommendation
    from sparkcast.replications import Replicated
    from sparkcast.report import Check
    from sparkcast.runs.campaign import CampaignResult
    from sparkcast.runs.session import OnProgress
    from sparkcast.search.loop import TuneResult
    from sparkcast.validate import OnStep, Validation

__all__ = [
    "Data",
    "DrawnFigures",
    "FitResult",
    "FittedResponse",
    "GridSearch",
    "PredictionAt",
    "PresentLoad",
    "Scores",
    "Source",
    "analyze",
    "dry_run",
    "export",
    "fit",
    "list_plugs",
    "load_data",
    "load_data_or_model",
    "load_model",
    "load_study",
    "plan",
    "predict",
    "recommend",
    "replicate",
    "report",
    "run",
    "save_model",
    "starter_study",
    "tune",
    "validate",
    "with_spark",
    "write_figures",
    "write_plan",
    "write_plan_figures",
    "write_recommendation_figures",
    "write_validation_figures",
]


# ---------------------------------------------------------------- study and plan


def plan(path: Source, *, budget_s: float | None = None, effect: str = "1") -> PlanSummary:
    """The runs of a study in order, what they take, and what they can tell."""
    study = load_study(path)
    time_of = predicted_time(study)
    made, seen = plan_of(study, time_of), stored_observations(study, Path(path))
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
    from sparkcast.runs.campaign import run_campaign
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
    from sparkcast.runs import campaign
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
    from sparkcast.search.base import SEARCHERS
    from sparkcast.search.loop import Budget, Quest, objective_of
    from sparkcast.search.loop import tune as search
    from sparkcast.store import results_folder

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


def export(data: Data, target: Source) -> int:
    """Write the observations to a .csv or .parquet file; returns how many."""
    from sparkcast.data.table import write_table

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
        curve = or_note(
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
    """Name and one line for each design, workload, engine, model, searcher, protocol, grid or replication at hand."""
    from sparkcast.designs import DESIGNS
    from sparkcast.engines import ENGINES
    from sparkcast.errors import UnknownNameError
    from sparkcast.learned.grid_search import GRIDS
    from sparkcast.models import MODELS
    from sparkcast.registry import Registry, did_you_mean
    from sparkcast.replications import REPLICATIONS
    from sparkcast.search.base import SEARCHERS
    from sparkcast.validate import PROTOCOLS
    from sparkcast.workloads import WORKLOADS

    registries: list[Registry[Any]] = [DESIGNS, WORKLOADS, ENGINES, MODELS, SEARCHERS, PROTOCOLS, GRIDS, REPLICATIONS]
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
    analyses = [a for name in responses if (a := or_note(notes, analyze, data, name))]
    validations = [v for name in responses[:2] if (v := or_note(notes, validate, data, name))]
    chosen = {v.response: c[1] for v in validations if (c := or_note(notes, fit_best, data.dataset, v))}
    recommendation = or_note(notes, lambda: recommend(data, within_s=within_s))
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
