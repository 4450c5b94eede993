"""What sparkcast does, as functions: the command line and the web service only parse, call one of these, and print.

Every function raises a `sparkcast.errors.SparkcastError`, with a hint, for problems its caller can fix; the docstrings
name the subclasses. Files are given as paths or strings. DATA below is what `load_data` returns, MODEL what
`load_model` returns.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparkcast.data.sources import Data, Source, is_study_file, load_data, load_study, stored_observations
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.study import Configuration, Dataset, Level, Plan, Price, SparkOptions, Study

if TYPE_CHECKING:
    from sparkcast.analysis import Analysis
    from sparkcast.data.ingest import Ingested, IngestedLog
    from sparkcast.data.ingest.destination import Destination
    from sparkcast.data.samples import By, SampledRun
    from sparkcast.designs.summary import PlanSummary
    from sparkcast.eventlogs import LogRead
    from sparkcast.learned.fit import FitResult, GridSearch
    from sparkcast.learned.knowledge import FromRuns, Knowledge
    from sparkcast.learned.predict import PredictionAt
    from sparkcast.learned.saved import SavedModel
    from sparkcast.models import Fitted
    from sparkcast.profile import Comparison, Profile
    from sparkcast.queues.admission import Decision, Job, JobTimes
    from sparkcast.queues.answer import OnStep as OnQueueStep
    from sparkcast.queues.answer import QueueAnswer
    from sparkcast.queues.described import Described, DescribedClass
    from sparkcast.queues.measured import Jobs, Launching
    from sparkcast.queues.simulate import Discipline
    from sparkcast.queues.slowdown import Slowdown
    from sparkcast.queues.times import Times
    from sparkcast.recommend import Recommendation, RunningJob
    from sparkcast.registry import Registry
    from sparkcast.replications import Replicated
    from sparkcast.report import Check
    from sparkcast.runs.campaign import CampaignResult
    from sparkcast.runs.session import OnProgress
    from sparkcast.search.loop import TuneResult
    from sparkcast.validate import OnStep, Validation
    from sparkcast.validate.fits import Fits

__all__ = [
    "Data",
    "DrawnFigures",
    "PresentLoad",
    "Source",
    "admit",
    "analyze",
    "compare_profiles",
    "dry_run",
    "export",
    "export_samples",
    "fit",
    "ingest",
    "list_kinds",
    "list_plugs",
    "load_data",
    "load_data_or_model",
    "load_model",
    "load_study",
    "plan",
    "predict",
    "profile",
    "queue",
    "recommend",
    "replicate",
    "report",
    "report_log",
    "run",
    "samples",
    "save_model",
    "starter_study",
    "study_of_line",
    "tune",
    "validate",
    "with_spark",
    "write_figures",
    "write_plan",
    "write_plan_figures",
    "write_profile_figures",
    "write_queue_figures",
    "write_recommendation_figures",
    "write_validation_figures",
]

_MOST_LISTED = 100  # candidates of a recommendation
_MOST_LEFT_OUT_ONE_BY_ONE = 40  # configurations in a report


# ---------------------------------------------------------------- study and plan


def plan(path: Source, *, budget_s: float | None = None, effect: str = "1") -> "PlanSummary":
    """The runs of a study in order, how long they take, and what they can estimate.

    Args:
        path: A study file.
        budget_s: The most seconds all runs may take; defaults to the study's limit.
        effect: The size of effect to detect: "1.5" standard deviations of the noise, or "10%".

    Returns:
        The plan with its estimated time and price, the trials that the budget leaves out, aliases and power.

    Raises:
        StudyError: The study file or `effect` is malformed.
        NotEnoughDataError: An effect in percent needs replicates, and there are none yet.

    >>> summary = plan("study.yaml")
    >>> len(summary.trials), summary.design
    (8, 'full')
    """
    from sparkcast.designs import make_plan
    from sparkcast.designs.summary import summarize_plan
    from sparkcast.learned.run_time import run_times

    study = load_study(path)
    times = run_times(study)
    made, seen = make_plan(study, times.predicted), stored_observations(study, Path(path))
    notes = _impossible_centers(study, made)
    return summarize_plan(study, made, seen, budget_s=budget_s, effect=effect, time_of=times.given, notes=notes)


def _make_plan(study: Study) -> Plan:
    """The trials of a study in run order. Never depends on the study's own results, which come in while it runs."""
    from sparkcast.designs import make_plan
    from sparkcast.learned.run_time import run_times

    return make_plan(study, run_times(study).predicted)


def _impossible_centers(study: Study, made: Plan) -> tuple[str, ...]:
    """Center points that the workload will refuse: nobody listed these levels, so nobody has seen them run."""
    from sparkcast.workloads import complete, workload_of

    workload = workload_of(study)
    notes: dict[str, None] = {}
    for trial in made.trials:
        if trial.kind == "center":
            try:
                workload.check(complete(workload, trial.configuration))
            except StudyError as error:
                notes[f"a center point cannot be run: {error.problem}; {error.hint}"] = None
    return tuple(notes)


def write_plan(summary: "PlanSummary", target: Source) -> int:
    """Write the runs of a plan to a CSV in run order.

    Args:
        summary: What `plan` returned.
        target: The CSV file; an existing one is replaced.

    Returns:
        How many runs were written.

    Raises:
        StoreError: The file cannot be written.

    >>> write_plan(plan("study.yaml"), "plan.csv")
    8
    """
    from sparkcast.designs.summary import write_runs

    write_runs(summary, Path(target))
    return len(summary.trials)


def write_plan_figures(summary: "PlanSummary", folder: Source, *, force: bool = False) -> list[Path]:
    """Write the alias map and the power curve of a plan.

    Args:
        summary: What `plan` returned.
        folder: Where PNG, SVG and Vega-Lite files go.
        force: Replace files that exist.

    Returns:
        The files that were written.

    Raises:
        StudyError: A file exists and `force` is not given.

    >>> sorted({file.suffix for file in write_plan_figures(plan("study.yaml"), "figures")})
    ['.json', '.png', '.svg']
    """
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
    """Run the trials of a study that have no result yet. Results go to the folder next to the study file.

    Args:
        path: A study file.
        resume: Continue a study with finished trials.
        allow_changed: Keep earlier results that still apply even though the study file has changed.
        master: A cluster to use instead of the study's: "embedded", "spark://host:7077", "yarn", ...
        conf: Spark properties, which override sparkcast's own.
        on_progress: Called with progress while trials run.

    Returns:
        What was measured, and what a limit or an interruption left out.

    Raises:
        StudyError: The study is malformed, or has results and `resume` is not set.
        StudyChangedError: Its results belong to a different definition.
        CapacityError, RunError: The cluster is too small, or failed.

    >>> run("study.yaml", resume=True).finished                        # doctest: +SKIP
    8
    """
    from sparkcast.runs.campaign import run_campaign
    from sparkcast.store import results_folder

    study = with_spark(load_study(path), master, conf)
    return run_campaign(
        study,
        _make_plan(study),
        results_folder(Path(path)),
        resume=resume,
        allow_changed=allow_changed,
        on_progress=on_progress,
    )


def dry_run(path: Source, *, master: str | None = None, conf: Mapping[str, str] | None = None) -> list[str]:
    """The spark-submit lines that `run` would execute, in order.

    Args:
        path: A study file.
        master: As in `run`.
        conf: As in `run`.

    Returns:
        One command per trial.

    Raises:
        StudyError, CapacityError: As in `run`.

    >>> len(dry_run("study.yaml"))
    8
    """
    from sparkcast.runs import campaign
    from sparkcast.store import results_folder

    study = with_spark(load_study(path), master, conf)
    return campaign.dry_run(study, _make_plan(study), results_folder(Path(path)))


def with_spark(study: Study, master: str | None, conf: Mapping[str, str] | None) -> Study:
    """The study on another cluster, with more Spark properties.

    Args:
        study: What `load_study` returned.
        master: The cluster; None keeps the study's.
        conf: Properties to add or replace.

    Returns:
        An otherwise identical study.

    >>> with_spark(load_study("study.yaml"), "local[2]", {"spark.ui.enabled": "false"}).spark.master
    'local[2]'
    """
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
    """Find the best settings of a study in few runs.

    Args:
        path: A study file; existing results are reused.
        searcher: See `list_plugs("searchers")`; defaults to the registered default.
        minimize: A response; if there is no objective, the time.
        maximize: A response, instead of `minimize`.
        within_s: A run that takes longer does not qualify.
        max_runs: The maximum number of runs.
        max_cost: The maximum cost of all runs at the study's price.
        seed: For searchers with randomness.
        replicates: Runs per configuration; defaults to the searcher's own.
        fix: Settings to hold at a given value.
        earlier: Runs of other workloads, which some searchers learn from.
        resume: Continue a search that was stopped.
        allow_changed: Keep results even though the study or the options have changed.
        master: As in `run`.
        conf: As in `run`.
        on_progress: As in `run`.

    Returns:
        The best settings found, the whole history, and why it stopped.

    Raises:
        StudyError, StudyChangedError: The study or an option is malformed, or has changed.
        InfeasibleError: No run qualifies.
        RunError: The cluster failed.

    >>> tune("study.yaml", minimize="cost", max_runs=8).best           # doctest: +SKIP
    """
    from sparkcast.search.base import SEARCHERS
    from sparkcast.search.loop import Budget, TuneOptions, objective_of
    from sparkcast.search.loop import tune as search
    from sparkcast.store import results_folder

    study = with_spark(load_study(path), master, conf)
    options = TuneOptions(
        searcher=searcher or SEARCHERS.default(),
        objective=objective_of(study, minimize, maximize),
        within_s=within_s,
        seed=seed,
        replicates=replicates,
        fix=Configuration(fix or {}),
        earlier=tuple(load_data(source).dataset for source in earlier),
    )
    return search(
        study,
        options,
        Budget(max_runs, max_cost),
        results_folder(Path(path)),
        resume=resume,
        allow_changed=allow_changed,
        on_progress=on_progress,
    )


# ---------------------------------------------------------------- event logs


def profile(log: Source, *, thresholds: Mapping[str, float] | None = None) -> "Profile":
    """Where the time of one Spark application went, what was paid for, and what could be better.

    Args:
        log: An event log of any kind that Spark writes: a file, the folder of a rolling log, a URL.
        thresholds: From which number on a finding is told, where it should differ from
            `sparkcast.profile.Thresholds`.

    Returns:
        Seconds by part, which add up to the life of the application, core-hours, findings (worst first) and stages.

    Raises:
        StudyError: There is no such log, several are meant, or it cannot be read.
        UnknownNameError: There is no such threshold.

    >>> found = profile("log.zstd")
    >>> abs(sum(found.parts.values()) - found.wall_s) < 0.001
    True
    """
    from sparkcast.profile import profile_log, with_thresholds

    limits = with_thresholds(thresholds or {})
    return profile_log(_read_one(log), limits)


def write_profile_figures(log: Source, folder: Source, *, force: bool = False) -> list[Path]:
    """Draw one application: where its time went, stages and jobs, tasks by executor, running tasks against slots.

    Args:
        log: An event log, as in `profile`.
        folder: Where PNG, SVG and Vega-Lite files go.
        force: Replace files that exist.

    Returns:
        The files that were written.

    Raises:
        StudyError: As in `profile`; or a file exists and `force` is not given.

    >>> sorted(file.name for file in write_profile_figures("log.zstd", "profile") if file.suffix == ".svg")
    ['attribution.svg', 'slots.svg', 'stages.svg', 'tasks.svg']
    """
    from sparkcast.report.figures import application_figures, write_figures

    return write_figures(application_figures(_read_one(log)), Path(folder), force=force)


def report_log(log: Source, output: Source) -> None:
    """Write one self-contained HTML file about one application: findings, figures, parts and stages.

    Args:
        log: An event log, as in `profile`.
        output: The HTML file; an existing one is replaced.

    Raises:
        StudyError: As in `profile`.
        StoreError: The file cannot be written.

    >>> report_log("log.zstd", "log.html")
    """
    from datetime import datetime

    from sparkcast import __version__
    from sparkcast.report.page import render_application, write_page

    created = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    write_page(Path(output), render_application(_read_one(log), created=created, version=__version__))


def ingest(
    paths: Source | Sequence[Source],
    into: Source,
    *,
    settings: Sequence[str] = (),
    job: str | None = None,
    price: Price | None = None,
    processes: int | None = None,
    engine: str | None = None,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    force: bool = False,
    on_log: "Callable[[IngestedLog], None]" = lambda log: None,
) -> "Ingested":
    """Make runs from logs: Spark's event logs, or the driver logs of BigDL. Twice is as good as once.

    Args:
        paths: Logs, folders of them, patterns, URLs.
        into: A .csv file, where runs of a second job go to a file of their own beside it; a store (folder, SQLite file
            or database URL), where each job is a study of its own; or a study file, which takes the runs of one job
            that tell its settings.
        settings: Parameters of the job's own, as `NAME=REGEX`; its group is the value. They are looked for in the
            command line, the name of the application, the descriptions of jobs and the path of the log. Properties
            that begin with `spark.sparkcast.` are taken without, and for a study also the options of the job's
            command line that its study file names.
        job: A regular expression that the name of the application must match; its first group names the job.
        price: Per core-hour and GiB-hour; the cost of a run is that of its executors from first to last. A study has
            its own.
        processes: Logs read at once; by default as many as there are cores.
        engine: "spark" reads the logs as a Spark job; by default processes of this machine do.
        master: With engine "spark", the master URL; by default an embedded cluster.
        conf: Spark properties of that job.
        force: Replace a table that was not written by `ingest`, or changed since.
        on_log: Called after each log.

    Returns:
        How it went with each log, and where the runs of each job are.

    Raises:
        StudyError: A path does not exist, an expression is malformed, the table is somebody else's, or the logs are of
            several jobs and go into one study.
        RunError: The cluster that was to read the logs failed.

    >>> [log.status.value for log in ingest("log.zstd", "ingested.csv").logs]
    ['ok']
    """
    from functools import partial

    from sparkcast.data.ingest import Reader, Reading, ingest_logs, parse_pattern, read_here

    if price is not None and (price.machine_hours or price.hour is not None):
        raise StudyError("a log knows cores and memory, not machines", hint="give --price core_hour=0.05,gib_hour=0.01")
    reading = Reading(tuple(parse_pattern(text) for text in settings), price)
    reader: Reader = partial(read_here, processes=processes)
    if engine is not None:
        from sparkcast.data.ingest.on_spark import reader_on
        from sparkcast.engines import ENGINES

        ENGINES.get(engine)  # raises for a name that is none
        reader = reader_on(SparkOptions(master or SparkOptions().master, conf or {}))
    elif master or conf:
        raise StudyError("--master and --conf are for reading on a cluster", hint="add --engine spark")
    return ingest_logs(
        [str(paths)] if isinstance(paths, str | Path) else [str(path) for path in paths],
        _destination(into, has_price=price is not None, force=force),
        reading=reading,
        job=job,
        reader=reader,
        on_log=on_log,
    )


def _destination(into: Source, *, has_price: bool, force: bool) -> "Destination":
    from sparkcast.data.ingest.into_store import IntoStore
    from sparkcast.data.ingest.into_study import IntoStudy
    from sparkcast.data.ingest.into_table import IntoTable

    if "://" not in str(into) and Path(into).suffix.lower() == ".csv":
        return IntoTable(Path(into), force=force)
    if not is_study_file(into):
        return IntoStore(str(into))
    if has_price:
        raise StudyError(
            "a study has its own price, for all of its runs",
            hint="leave out --price; the study file has `price:`",
        )
    return IntoStudy(load_study(into))


def _read_one(source: Source) -> "LogRead":
    from sparkcast.eventlogs import find_logs, read_log

    logs = find_logs(source)
    if len(logs) != 1:
        raise StudyError(
            f"{str(source)!r} contains {len(logs)} files or rolling logs, not one log"
            if logs
            else f"{str(source)!r} contains no event log",
            hint="give one of them: " + ", ".join(log.name for log in logs[:3]) if logs else "give an event log",
        )
    return read_log(logs[0])


def compare_profiles(before: Source, after: Source, *, thresholds: Mapping[str, float] | None = None) -> "Comparison":
    """Two runs of a job side by side: what changed in settings and in time, by part and by stage.

    Args:
        before: An event log, as in `profile`.
        after: Another one.
        thresholds: As in `profile`.

    Returns:
        Both profiles, and their differences.

    Raises:
        StudyError, UnknownNameError: As in `profile`.

    >>> compare_profiles("log.zstd", "log.zstd").more_s
    0.0
    """
    from sparkcast.profile import compare

    return compare(profile(before, thresholds=thresholds), profile(after, thresholds=thresholds))


# ---------------------------------------------------------------- data and models


def export(data: Data, target: Source) -> int:
    """Write the observations to a table with typed columns, or to MLflow.

    Args:
        data: Observations.
        target: A .csv or .parquet file, of which an existing one is replaced; or "mlflow:" and a tracking folder or
            URL, where they become the runs of a new experiment.

    Returns:
        How many observations were written.

    Raises:
        StudyError: The file type is not supported, a package is missing, or the experiment already has runs.

    >>> export(load_data("runs.csv"), "copy.csv")
    16
    """
    from sparkcast.data.sources import MLFLOW
    from sparkcast.data.table import write_table

    if str(target).startswith(MLFLOW):
        from sparkcast.data.tracking import write_runs

        write_runs(data.dataset, str(target))
    else:
        write_table(data.dataset, Path(target))
    return len(data.dataset.observations)


def samples(data: Data) -> "tuple[SampledRun, ...]":
    """What was sampled each second on the machines of runs, and how busy they were during each stage.

    Args:
        data: Observations of a study or a store; a table has no samples.

    Returns:
        The runs that have samples, each with the counters of its machines (`series.hosts`), the times of its stages
        (`series.stages`), and the means of each machine over each stage (`stages`).

    Raises:
        StoreError: The samples cannot be read.

    >>> samples(load_data("runs.csv"))
    ()
    """
    from sparkcast.data.samples import sampled_runs

    return sampled_runs(data)


def export_samples(data: Data, target: Source, *, by: "By" = "sample") -> int:
    """Write what was sampled on the machines of runs to a table.

    Args:
        data: Observations of a study or a store.
        target: A .csv or .parquet file; an existing one is replaced.
        by: One row per "sample", or per "stage" with the means over it; of each machine of each run.

    Returns:
        How many runs have samples.

    Raises:
        NotEnoughDataError: None has.
        StudyError: The file type is not supported, or a package is missing.

    >>> export_samples(load_data("runs.csv"), "samples.csv")
    Traceback (most recent call last):
    sparkcast.errors.NotEnoughDataError: no sample of a machine is stored with these runs
      hint: samples are taken by `sparkcast run` and stay in the store: give the study, not a table
    """
    from sparkcast.data.samples import write_samples

    return write_samples(data, Path(target), by)


def load_model(path: Source) -> "SavedModel":
    """Load a model file written by `save_model`. Nothing in it is executed.

    Args:
        path: The file.

    Returns:
        A model that `predict` and `recommend` take in place of DATA.

    Raises:
        StudyError: The file is damaged, newer or older than this sparkcast supports, or contains unsafe types.

    >>> save_model(fit(load_data("runs.csv"), model="ridge").model, "ridge.sparkcast", force=True)
    >>> load_model("ridge.sparkcast").about.factors
    ('executors', 'batch_size')
    """
    from sparkcast.learned.saved import load

    return load(Path(path))


def load_data_or_model(
    source: Source,
    *,
    factors: Sequence[str] = (),
    responses: Sequence[str] = (),
    study: str | None = None,
    roles: Mapping[str, str] | None = None,
    ignore: Sequence[str] = (),
    na: Sequence[str] = (),
    time_unit: str | None = None,
    decimal: str | None = None,
) -> "Data | SavedModel":
    """Load whatever `load_data` takes, or a model file, recognized by its content.

    Args:
        source: A study file, table, store, MLflow runs, or a model file.
        factors: As in `load_data`; like the other options, not for a model file.
        responses: As in `load_data`.
        study: As in `load_data`.
        roles: As in `load_data`.
        ignore: As in `load_data`.
        na: As in `load_data`.
        time_unit: As in `load_data`.
        decimal: As in `load_data`.

    Returns:
        DATA or MODEL.

    Raises:
        StudyError: The file cannot be read, or an option does not apply to a model file.
        NotEnoughDataError: The study has no results yet.

    >>> type(load_data_or_model("runs.csv")).__name__
    'Data'
    """
    from sparkcast.data.sources import is_model_file, is_tracking

    if is_tracking(source) or not is_model_file(Path(source)):
        return load_data(
            source,
            factors=factors,
            responses=responses,
            study=study,
            roles=roles,
            ignore=ignore,
            na=na,
            time_unit=time_unit,
            decimal=decimal,
        )
    of_tables = (factors, study, roles, ignore, na, time_unit, decimal)
    if any(of_tables) or any("=" in response for response in responses):
        raise StudyError(
            f"{Path(source).name} is a model file: its factors, roles and responses were fixed when it was fitted",
            hint="leave out --factors, --role, --study, formulas and options for tables, or pass the data instead",
        )
    return load_model(source)


def save_model(model: "SavedModel", path: Source, *, force: bool = False) -> None:
    """Write a trained model to a file, atomically.

    Args:
        model: `fit(...).model`.
        path: The file.
        force: Replace an existing file.

    Raises:
        StudyError: The file exists, cannot be written, or the model contains types that cannot be saved.

    >>> save_model(fit(load_data("runs.csv"), model="median").model, "median.sparkcast", force=True)
    """
    from sparkcast.learned.saved import save

    about, curves, feasibility = model.about, model.curves, model.feasibility
    save(model.fitted, Path(path), about=about, curves=curves, feasibility=feasibility, force=force)


# ---------------------------------------------------------------- answers


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
    from sparkcast.analysis.anova import analyze as analyze

    if data.study is None:
        _require_varied(data.dataset)
    name = response or _usual_response(data.dataset)
    return analyze(data.dataset, name, formula=formula, anova_type=anova_type, transform=transform)


def _usual_response(dataset: Dataset) -> str:
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


def write_figures(analysis: "Analysis", folder: Source, *, force: bool = False) -> list[Path]:
    """The figures of an analysis as PNG, SVG and Vega-Lite files.

    Args:
        analysis: What `analyze` returned.
        folder: Where the files go.
        force: Replace files that exist.

    Returns:
        The files that were written.

    Raises:
        StudyError: A file exists and `force` is not given.

    >>> len(write_figures(analyze(load_data("runs.csv")), "analysis")) > 6
    True
    """
    from sparkcast.report.figures import analysis_figures, write_figures

    return write_figures(analysis_figures(analysis), Path(folder), force=force)


def validate(
    data: Data,
    response: str | None = None,
    *,
    protocol: str = "loo",
    models: Sequence[str] | None = None,
    level: float = 0.9,
    seed: int = 0,
    on_step: "OnStep | None" = None,
    fits: "Fits | None" = None,
) -> "Validation":
    """How well models predict configurations they have not seen.

    Args:
        data: Observations.
        response: What to predict; defaults to the time.
        protocol: Which configurations are held out: "loo", "kfold:5", "holdout:0.2", "interpolate:executors",
            "extrapolate:executors>8", "cases:data_size=250+750|1000".
        models: Names of models; defaults to the usual ones.
        level: Of the intervals.
        seed: For protocols with random draws.
        on_step: Called before each fit.
        fits: A `sparkcast.validate.fits.Fits()` to share with `write_validation_figures`, so that nothing is refitted.

    Returns:
        A scorecard for each model, best first, and the noise floor.

    Raises:
        StudyError: No such response, protocol or model.
        NotEnoughDataError: Too few configurations.

    >>> validation = validate(load_data("runs.csv"), models=["ridge", "median"])
    >>> [card.model for card in validation.scorecards]
    ['ridge', 'median']
    """
    from sparkcast.validate.score import validate as score

    name = response or _usual_response(data.dataset)
    return score(
        *(data.dataset, name, protocol, models, level),
        seed=seed,
        on_step=on_step,
        fits=fits,
    )


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
    fits: "Fits | None" = None,
    force: bool = False,
) -> DrawnFigures:
    """The figures of a validation's best models as PNG, SVG and Vega-Lite files.

    Args:
        data: The observations that were validated on.
        validation: What `validate` returned.
        folder: Where the files go.
        most: How many of the best models to draw.
        with_learning_curve: Also draw the error by number of configurations; fits each model about 30 more times.
        on_step: Called before each size of the learning curve.
        fits: The `Fits` passed to `validate`.
        force: Replace files that exist.

    Returns:
        The files, and what could not be drawn and why.

    Raises:
        StudyError: A file exists and `force` is not given.

    >>> data = load_data("runs.csv")
    >>> drawn = write_validation_figures(data, validate(data, models=["ridge"]), "validation")
    >>> len(drawn.files) > 2
    True
    """
    from sparkcast.learned.fit import or_note
    from sparkcast.report.figures import validation_figures, write_figures
    from sparkcast.validate.fits import Fits
    from sparkcast.validate.learning import learning_curve

    response, names = validation.response, [card.model for card in validation.scorecards[:most]]
    notes: list[str] = []
    fitted: dict[str, Fitted] = {}
    fits = fits or Fits()
    for name in names:
        try:
            fitted[name], _ = fits.fit(name, data.dataset, response)
        except (NotEnoughDataError, StudyError) as error:
            notes.append(f"no scaling curve of {name}: {error.problem}")
    curve = None
    if with_learning_curve:
        curve = or_note(
            notes, lambda: learning_curve(data.dataset, response, names, seed=validation.seed, on_step=on_step)
        )
    drawn, undrawn = validation_figures(data.dataset, validation, fitted, curve, most=most)
    return DrawnFigures(tuple(write_figures(drawn, Path(folder), force=force)), (*notes, *undrawn))


def fit(
    data: Data, responses: Sequence[str] = (), *, model: str = "auto", search: "GridSearch | None" = None
) -> "FitResult":
    """Train models on runs once, to predict often.

    Args:
        data: Observations.
        responses: What to learn; defaults to what `recommend` needs: the time, and the quality if it was measured.
        model: See `list_plugs("models")`.
        search: The hyperparameters to search; the notes say which were chosen.

    Returns:
        The trained model, to save or query, and its error on held-out configurations.

    Raises:
        StudyError: No such response or model.
        NotEnoughDataError: Too few configurations.

    >>> fit(load_data("runs.csv"), model="ridge").responses[0].configurations
    8
    """
    from sparkcast.learned.fit import fit as learn

    return learn(data, responses, model=model, search=search)


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


def write_recommendation_figures(
    recommendation: "Recommendation", folder: Source, *, force: bool = False
) -> list[Path]:
    """The candidates and the Pareto front of a recommendation as PNG, SVG and Vega-Lite files.

    Args:
        recommendation: What `recommend` returned.
        folder: Where the files go.
        force: Replace files that exist.

    Returns:
        The files that were written.

    Raises:
        StudyError: A file exists and `force` is not given.

    >>> len(write_recommendation_figures(recommend(load_data("runs.csv"), within_s=60, model="ridge"), "choice")) > 2
    True
    """
    from sparkcast.report.figures import recommendation_figures, write_figures

    return write_figures(recommendation_figures(recommendation), Path(folder), force=force)


# ---------------------------------------------------------------- sharing a cluster


def queue(
    data: "Data | Knowledge | None" = None,
    *,
    service_time_s: float | None = None,
    scv: float | None = None,
    arrival_rate: float | None = None,
    arrivals_s: Sequence[float] = (),
    arrival_scv: float = 1.0,
    servers: int = 1,
    width: int = 1,
    discipline: "Discipline | None" = None,
    overtake: bool = False,
    mix: "Sequence[DescribedClass]" = (),
    places: int | None = None,
    at: Mapping[str, Level] | None = None,
    slo_s: float | None = None,
    percentile: float = 95.0,
    compare: Sequence[int] = (),
    price_per_server_hour: float | None = None,
    with_figures: bool = False,
    n_jobs: int = 20_000,
    replications: int = 10,
    seed: int = 0,
    model: str = "auto",
    extrapolate: bool = False,
    on_step: "OnQueueStep" = lambda what, done, total: None,
) -> "QueueAnswer":
    """How long jobs wait for one another, how many a cluster can take, and what more servers would bring.

    Args:
        data: Runs whose times are the service times, or a model that predicts them; None where `service_time_s` is
            given.
        service_time_s: The mean time of a job alone.
        scv: Variance of the service times over their squared mean: 0 all equal, 1 exponential. With `data`, instead of
            what was measured. By default 1 for plain numbers.
        arrival_rate: Jobs per second. Without it, only what the cluster can take within `slo_s` is told.
        arrivals_s: Times of arrival in seconds, in place of a random stream; with `arrival_rate` they are scaled to it.
        arrival_scv: Of the times between arrivals: 1 Poisson, more in bursts, less regular.
        servers: Jobs that run at once; with `width`, cores.
        width: Cores that one job holds.
        discipline: "fifo", first come first served, "fair", all at once with equal shares, "priority", or "launching",
            where `data` show how jobs launch, wait in line for cores and run. By default priority where the mix
            has priorities, then launching where it is known, fair where `data` show how much jobs slow each other down,
            else fifo.
        overtake: Whether narrow jobs may pass wide ones that do not fit yet.
        mix: Jobs of several sorts with their shares, in place of `service_time_s`, `scv`, `width` and `at`.
        places: Jobs in the system at most, others are turned away; None: as many as come.
        at: Settings of the job, of which `data` tell the time.
        slo_s: The deadline that the percentile must keep to.
        percentile: Of the response time: 95 or 0.95.
        compare: Numbers of servers to compare; by default some around `servers`.
        price_per_server_hour: What one server costs.
        with_figures: Also simulate what `write_queue_figures` shows.
        n_jobs: In each simulated run.
        replications: Simulated runs.
        seed: Of the simulation.
        model: See `list_plugs("models")`; only where `at` was never run.
        extrapolate: Answer also where the runs say nothing about `at`.
        on_step: Called with what is simulated, steps done, and how many there are.

    Returns:
        Formulas beside a simulation with intervals, the percentile, and what each number of servers can take.

    Raises:
        StudyError: A rate, time or number that cannot be.
        NotEnoughDataError: The runs do not show how long a job takes, or how much that varies.
        InfeasibleError: More work comes than the servers can do; the hint names the rate that is stable.

    >>> answer = queue(service_time_s=30, arrival_rate=0.1, servers=4)
    >>> round(answer.closed_forms[0].mean_response_s, 3)
    45.283
    """
    from sparkcast.queues import share_of_percentile
    from sparkcast.queues.answer import Question, answer
    from sparkcast.queues.arrivals import Arrivals, Given, Renewal
    from sparkcast.queues.described import shares_of
    from sparkcast.queues.simulate import Cluster
    from sparkcast.queues.workload import JobClass, Workload

    if mix:
        if service_time_s is not None or scv is not None or at or width != 1:
            raise StudyError(
                "a mix of jobs says the time and the settings of each sort itself",
                hint="leave out --service-time, --scv, --width and --at, or leave out --job",
            )
        known = [_service_times(data, c.alone_s, c.scv, c.settings, model, extrapolate) for c in mix]
        classes = tuple(
            JobClass(c.text, one.times, share, c.width, c.priority)
            for c, one, share in zip(mix, known, shares_of(mix), strict=True)
        )
    else:
        known = [_service_times(data, service_time_s, scv, at or {}, model, extrapolate)]
        classes = (JobClass("job", known[0].times, width=width),)
    slowdown = next((one.slowdown for one in known if one.slowdown is not None), None)
    launching = [one.launching for one in known if one.launching is not None]
    machine = launching[0].machine if len(launching) == len(known) else None
    way: Discipline = "launching" if machine is not None else "fifo" if slowdown is None else "fair"
    if len({one.priority for one in mix}) > 1:
        way = "priority"
    way = discipline or way
    slowdown, machine = slowdown if way == "fair" else None, machine if way == "launching" else None
    if machine is not None:
        servers = machine.cores
        classes = tuple(
            dataclasses.replace(c, times=one.times, phases=one.phases, width=one.phases.width)
            for c, one in zip(classes, launching, strict=True)
        )
    told = [one.notes for one in (known if machine is None else launching)]
    notes = tuple(dict.fromkeys(note for some in told for note in some))
    if arrival_rate is None and not arrivals_s:
        arrival_rate = known[0].arrival_rate
    has_rate = arrival_rate is not None or bool(arrivals_s)
    arrivals: Arrivals = Renewal(1.0 if arrival_rate is None else arrival_rate, arrival_scv)
    if arrivals_s:
        arrivals = Given(tuple(arrivals_s))
        arrivals = arrivals if arrival_rate is None else arrivals.at_rate(arrival_rate)
    question = Question(
        Workload(arrivals, classes),
        Cluster(servers, way, slowdown, overtake=overtake, machine=machine),
        has_rate,
        slo_s,
        share_of_percentile(percentile),
        places,
        tuple(compare),
        price_per_server_hour,
        with_figures,
        n_jobs,
        replications,
        seed,
    )
    found = answer(question, on_step)
    return dataclasses.replace(found, notes=(*notes, *found.notes))


@dataclasses.dataclass(frozen=True)
class _JobTimes:
    """What is known of the jobs of a queue."""

    times: "Times"
    slowdown: "Slowdown | None" = None
    notes: tuple[str, ...] = ()
    arrival_rate: float | None = None
    launching: "Launching | None" = None


def _service_times(
    data: "Data | Knowledge | None",
    service_time_s: float | None,
    scv: float | None,
    at: Mapping[str, Level],
    model: str,
    extrapolate: bool,
) -> _JobTimes:
    """How long jobs take alone, how much they slow each other down where that is known, and what to know of both."""
    from sparkcast.queues.times import Spread

    if data is None:
        if service_time_s is None:
            raise StudyError(
                "nothing says how long a job takes", hint="give runs (DATA), or the time: --service-time 30s"
            )
        if at:
            told = ", ".join(f"{name}={level}" for name, level in at.items())
            raise StudyError(f"{told}: settings mean nothing without runs", hint="give DATA, or correct the name")
        return _JobTimes(Spread(service_time_s, 1.0 if scv is None else scv))
    if service_time_s is not None:
        raise StudyError("the service time is given twice: by the data and as a number", hint="leave out one of them")
    if isinstance(data, Data):
        try:
            return _measured_times(_measured(data, at), scv)
        except _NeverRun:
            pass
    from sparkcast.learned.knowledge import knowledge_of
    from sparkcast.learned.service_times import predicted_times

    if not at:
        raise StudyError(
            "a model predicts the time of given settings", hint="say which: --at executors=2,batch_size=64"
        )
    times = predicted_times(knowledge_of(data, model), at, extrapolate=extrapolate)
    told = ", ".join(f"{name}={level}" for name, level in at.items())
    note = f"service times at {told} are predicted, not measured"
    return _JobTimes(times if scv is None else Spread(times.mean_s, scv), notes=(note,))


class _NeverRun(Exception):
    """The settings that were asked for have no runs."""


def _measured(data: Data, at: Mapping[str, Level]) -> "Jobs":
    from sparkcast.queues.measured import measured_jobs
    from sparkcast.study import Observation, same_level
    from sparkcast.study.streams import is_stream

    if any(is_stream(run) for run in data.dataset.observations):
        return measured_jobs(data.dataset, at)

    def is_asked(run: Observation) -> bool:
        return run.ok and all(same_level(run.configuration.get(name, ""), level) for name, level in at.items())

    if at and not any(is_asked(run) for run in data.dataset.observations):
        known = data.dataset.factors
        if unknown := next((name for name in at if name not in known), None):
            from sparkcast.registry import did_you_mean

            raise StudyError(f"{unknown!r} is no factor", hint=did_you_mean(unknown, known))
        raise _NeverRun
    return measured_jobs(data.dataset, at)


def _measured_times(jobs: "Jobs", scv: float | None) -> _JobTimes:
    from sparkcast.queues.times import Spread

    known = (jobs.slowdown, jobs.notes, jobs.arrival_rate)
    if scv is not None:
        launching = jobs.launching
        if launching is not None:
            launching = dataclasses.replace(launching, times=Spread(launching.times.mean_s, scv))
        return _JobTimes(Spread(jobs.times.mean_s, scv), *known, launching)
    if len(jobs.times.values) == 1:
        raise NotEnoughDataError(
            "one run shows how long a job takes, but not how much that varies, on which waiting depends",
            hint="run it a few times more, or say how much it varies: --scv 1 (exponential), --scv 0.1",
        )
    return _JobTimes(jobs.times, *known, jobs.launching)


def admit(
    running: "Sequence[Described]",
    new: "Described",
    data: "Data | Knowledge | None" = None,
    *,
    smaller: "Sequence[Described]" = (),
    servers: int = 1,
    scv: float = 0.0,
    slots: int | None = None,
    others: int = 0,
    confidence: float = 0.95,
    may_delay: bool = True,
    model: str | None = None,
    extrapolate: bool = False,
) -> "Decision":
    """Whether one more job may start now, in a smaller form, or later, given those that run.

    Args:
        running: The jobs that run now: how long they have run or how far they are, and their deadlines.
        new: The job that wants to start; its deadline counts from now.
        data: Runs or a model that tell how long jobs take among how many; None where each job gives its own time.
            Where runs show how jobs launch, wait for cores and run, alone and several at once, the future is that of
            `sparkcast.queues.staggered`.
        smaller: Other forms of the new job, the most wanted first.
        servers: Without `data`: jobs that run at once without slowing each other down; more share them equally.
        scv: Without `data`: variance of the times over their squared mean.
        slots: Jobs at once; others wait in line. None: as many as come.
        others: Jobs that also run, of which nothing else is known.
        confidence: The probability with which deadlines must be met.
        may_delay: Whether to look for a later start.
        model: See `list_plugs("models")`; a model file brings its own. One that is named is used in any
            case; None: where the runs do not show how jobs launch, wait for cores and run.
        extrapolate: Answer also where the runs say nothing about so many jobs.

    Returns:
        The verdict, when every job ends without the new one and with it, and whose deadlines break.

    Raises:
        StudyError: A job that cannot be, or a setting that is not known.
        NotEnoughDataError: The runs do not show what so many jobs do to each other.

    >>> from sparkcast.queues.described import parse_described
    >>> admit([parse_described("time=100s,elapsed=50s,within=120s")], parse_described("time=60s,within=200s")).verdict
    'delay'
    """
    from sparkcast.queues.admission import decide

    named = [(f"running job {place}", job) for place, job in enumerate(running, start=1)]
    forms = [("new job", new), *((f"new job, form {place}", job) for place, job in enumerate(smaller, start=2))]
    if slots is None and model is None and isinstance(data, Data):
        found = _admit_launching(named, forms, data, others, confidence, may_delay)
        if found is not None:
            return found
    known = None
    if data is not None:
        from sparkcast.learned.knowledge import knowledge_of
        from sparkcast.recommend.load import jobs_factor

        known = knowledge_of(data, model or "auto")
        jobs_factor(known.about.factors, known.about.vocabulary)
    present, (first, *rest) = (
        [_job(name, job, known, servers, scv, extrapolate) for name, job in jobs] for jobs in (named, forms)
    )
    return decide(
        present,
        first,
        smaller=rest,
        slots=slots,
        background=others,
        confidence=confidence,
        may_delay=may_delay,
    )


def _admit_launching(
    running: "Sequence[tuple[str, Described]]",
    forms: "Sequence[tuple[str, Described]]",
    data: Data,
    others: int,
    confidence: float,
    may_delay: bool,
) -> "Decision | None":
    """By how jobs launch, wait for cores and run, where the runs show that of all of them; else None."""
    from sparkcast.queues.admission import Job
    from sparkcast.queues.calibration import calibrated
    from sparkcast.queues.staggered import decide, without_others

    if (known := calibrated(data.dataset)) is None:
        return None
    jobs = []
    for name, one in (*running, *forms):
        phases = None if one.alone_s is not None else known.phases_of(one.settings)
        if phases is None:
            return None
        jobs.append(Job(_label(name, one), phases, one.elapsed_s or 0.0, one.within_s, one.done))
    present, (first, *rest) = jobs[: len(running)], jobs[len(running) :]
    machine = without_others(known.machine, others)
    found = decide(present, first, machine, smaller=rest, confidence=confidence, may_delay=may_delay)
    return dataclasses.replace(found, notes=(known.told(),))


def _label(name: str, job: "Described") -> str:
    return f"{name} ({job.settings})" if job.settings else name


def _job(
    name: str, job: "Described", known: "Knowledge | None", servers: int, scv: float, extrapolate: bool
) -> "Job[JobTimes]":
    from sparkcast.queues.admission import Job, JobTimes, Slowed
    from sparkcast.queues.slowdown import Shared

    times: JobTimes
    label = _label(name, job)
    if known is None:
        if job.alone_s is None:
            raise StudyError(f"nothing says how long {label} takes", hint="give DATA, or its time alone: time=300s")
        if job.settings:
            raise StudyError(
                f"{label}: settings mean nothing without runs", hint="give DATA, or only its time: time=300s"
            )
        times = Slowed(job.alone_s, Shared(servers), scv)
    else:
        if job.alone_s is not None:
            raise StudyError(f"{label}: its time is given twice, by the data and as a number", hint="leave out time=")
        times = _fitted_times(known, job.settings, extrapolate)
    return Job(label, times, job.elapsed_s or 0.0, job.within_s, job.done)


def _fitted_times(known: "Knowledge", settings: Configuration, extrapolate: bool) -> "JobTimes":
    from sparkcast.learned.service_times import FittedTimes
    from sparkcast.registry import did_you_mean

    factors = known.about.factors
    if unknown := next((name for name in settings if name not in factors), None):
        raise StudyError(f"{unknown!r} is no factor", hint=did_you_mean(unknown, factors))
    return FittedTimes.of(known, settings, extrapolate=extrapolate)


def write_queue_figures(answer: "QueueAnswer", folder: Source, *, force: bool = False) -> list[Path]:
    """Response time against arrival rate, the fan of percentiles, utilization, and a simulated day.

    Args:
        answer: What `queue` returned, asked `with_figures`.
        folder: Where PNG, SVG and Vega-Lite files go.
        force: Replace files that exist.

    Returns:
        The files that were written.

    Raises:
        StudyError: A file exists and `force` is not given.

    >>> small = queue(service_time_s=30, arrival_rate=0.02, n_jobs=1000, replications=2, with_figures=True)
    >>> len(write_queue_figures(small, "queue-figures")) > 2
    True
    """
    from sparkcast.report.figures import queue_figures, write_figures

    return write_figures(queue_figures(answer), Path(folder), force=force)


# ---------------------------------------------------------------- getting started


def starter_study(workload: str) -> str:
    """The text of a commented study file.

    Args:
        workload: See `list_plugs("workloads")`.

    Returns:
        YAML, with every setting of the workload explained.

    Raises:
        UnknownNameError: No such workload.

    >>> starter_study("pi").splitlines()[2]
    'study: pi-study'
    """
    from sparkcast.workloads.starter import starter_study as make

    return make(workload)


def study_of_line(words: Sequence[str]) -> str:
    """The text of a commented study file for a job of your own, from the line that starts it.

    Args:
        words: The words of a `spark-submit` line, as a program gets them: no shell is involved.

    Returns:
        YAML: what Spark knows and the options of the job as settings, everything else kept as it is.

    Raises:
        StudyError: `spark-submit` would refuse the line, or it submits no job.

    >>> study_of_line(["spark-submit", "train.py", "--rows", "1000"]).splitlines()[9].strip()
    'arguments: [--rows, "{rows}"]'
    """
    from sparkcast.workloads.pasted import study_of_line as make

    return make(words)


def list_plugs(kind: str) -> dict[str, str]:
    """The plugins of a kind, built in or installed.

    Args:
        kind: "designs", "workloads", "engines", "models", "searchers", "protocols", "grids" or "replications".

    Returns:
        The name and a one-line description of each.

    Raises:
        UnknownNameError: No such kind.

    >>> "ridge" in list_plugs("models")
    True
    """
    from sparkcast.errors import UnknownNameError
    from sparkcast.registry import did_you_mean

    known = _registries()
    if kind not in known:
        raise UnknownNameError(f"no list of {kind!r}", hint=did_you_mean(kind, tuple(known)))
    return known[kind].summaries()


def list_kinds() -> dict[str, tuple[str, ...]]:
    """The kinds of plugs, and what is at hand of each.

    Returns:
        The names of each kind.

    Raises:
        ImportError: A package of others does not import.

    >>> "full" in list_kinds()["designs"]
    True
    """
    return {kind: registry.names() for kind, registry in _registries().items()}


def _registries() -> "dict[str, Registry[Any]]":
    from sparkcast.designs import DESIGNS
    from sparkcast.engines import ENGINES
    from sparkcast.learned.grid_search import GRIDS
    from sparkcast.models import MODELS
    from sparkcast.replications import REPLICATIONS
    from sparkcast.search.base import SEARCHERS
    from sparkcast.validate import PROTOCOLS
    from sparkcast.workloads import WORKLOADS

    registries: list[Registry[Any]] = [DESIGNS, WORKLOADS, ENGINES, MODELS, SEARCHERS, PROTOCOLS, GRIDS, REPLICATIONS]
    return {f"{registry.kind}s": registry for registry in registries}


# ---------------------------------------------------------------- papers


def replicate(paper: str, *, part: str | None = None, data: Source | None = None) -> "Replicated":
    """Compare a paper's numbers with ours, and its claims with what is true.

    Args:
        paper: See `list_plugs("replications")`.
        part: One part of it; defaults to all parts that `data` allows.
        data: A folder with the authors' measurements.

    Returns:
        Rows with the paper's number, ours, and whether they agree.

    Raises:
        UnknownNameError: No such paper or part.
        StudyError: The part needs `data`.

    >>> replicate("marinos2020", part="design").paper
    'marinos2020'
    """
    from sparkcast.replications import replicate as do_again

    return do_again(paper, part, None if data is None else Path(data))


# ---------------------------------------------------------------- report


def report(data: Data | Source, output: Source, *, within_s: float | None = None, check: "Check | None" = None) -> None:
    """Write one self-contained HTML file about a study or a table. What cannot be computed is left out, with a note.

    Args:
        data: Observations, or a study file, CSV or store.
        output: The HTML file; an existing one is replaced.
        within_s: A deadline for the recommendation.
        check: A run that checks a prediction.

    Raises:
        StudyError: The data cannot be read.
        NotEnoughDataError: There are no results yet.

    >>> report("runs.csv", "report.html", within_s=60)                 # doctest: +SKIP
    """
    from datetime import datetime

    from sparkcast import __version__
    from sparkcast.data.samples import fastest_and_slowest, sampled_runs
    from sparkcast.learned.fit import or_note
    from sparkcast.learned.knowledge import FromRuns
    from sparkcast.report import build_content, write_report

    data = data if isinstance(data, Data) else load_data(data)
    responses = [name for name in data.dataset.responses if data.dataset.successful(name)]
    notes: list[str] = []
    analyses = [a for name in responses if (a := or_note(notes, analyze, data, name))]
    validations = [v for name in responses[:2] if (v := or_note(notes, _validate_for_report, data, name))]
    known = FromRuns(data.dataset, pool=data.pool(), price=data.price)
    fitted = {v.response: best for v in validations if (best := or_note(notes, _fit_best, known, v))}
    recommendation = or_note(notes, lambda: recommend(known, within_s=within_s))
    content = build_content(
        data.dataset,
        created=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        version=__version__,
        study=data.study,
        plan=None if data.study is None else _make_plan(data.study),
        analyses=analyses,
        validations=validations,
        recommendation=recommendation,
        check=check,
        fitted=fitted,
        sampled=[(run.observation, run.series) for run in sampled_runs(data, fastest_and_slowest(data))],
        notes=tuple(dict.fromkeys(notes)),
    )
    write_report(Path(output), content)


def _validate_for_report(data: Data, response: str) -> "Validation":
    """A report does not keep anybody waiting: of many configurations, groups are left out instead of single ones."""
    n = len({data.dataset.key(run) for run in data.dataset.successful(response)})
    return validate(data, response, protocol="loo" if n <= _MOST_LEFT_OUT_ONE_BY_ONE else "kfold:5")


def _fit_best(known: "FromRuns", validation: "Validation") -> "Fitted":
    """The best model of a validation, fitted to everything; not again where it was fitted for other questions."""
    from sparkcast.models import MODELS
    from sparkcast.validate.score import best_of

    name, response = best_of(validation), validation.response
    return known.model_of(response)[1] if name == known.model else MODELS.get(name)().fit(known.runs, response)
