"""What a report says, before anyone decides how it looks. Takes the types of the stages, and nothing else."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sparkcast.analysis import Analysis
from sparkcast.data.understood import Understood
from sparkcast.errors import NotEnoughDataError
from sparkcast.models import Fitted
from sparkcast.recommend import Recommendation
from sparkcast.report import figures
from sparkcast.report.figures import Figure
from sparkcast.report.labels import ordered
from sparkcast.study import Configuration, Dataset, Fingerprint, Observation, Plan, Response, Sharing, Study
from sparkcast.study.redaction import redact
from sparkcast.study.series import RunSeries
from sparkcast.units import show_bytes, show_percent, show_seconds
from sparkcast.validate import Validation

NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class CheckRun:
    """A run made to see whether a prediction holds. `measured` is None when the run did not end well."""

    settings: Configuration
    response: Response
    predicted: float
    low: float
    high: float
    level: float
    measured: float | None

    @property
    def inside(self) -> bool:
        return self.measured is not None and self.low <= self.measured <= self.high


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One line of the list of runs: a trial and what became of it."""

    position: int
    settings: Configuration
    replicate: int
    outcome: str  # an Outcome, or NOT_RUN
    responses: Mapping[str, float]
    cause: str = ""


@dataclass(frozen=True, slots=True)
class ReportContent:
    study: str
    workload: str
    created: str  # as it is to be printed
    version: str  # of sparkcast
    data: Dataset
    plan: tuple[PlannedRun, ...]
    facts: tuple[tuple[str, str], ...]  # what was varied, held, ruled out and limited
    analyses: tuple[Analysis, ...]
    validations: tuple[Validation, ...]
    figures: tuple[Figure, ...]
    recommendation: Recommendation | None
    check: CheckRun | None
    fingerprints: tuple[tuple[Fingerprint, int], ...]  # where runs were made, and how many there
    notes: tuple[str, ...]  # what was left out, and why


def build_content(
    data: Dataset,
    *,
    created: str,
    version: str,
    study: Study | None = None,
    plan: Plan | None = None,
    analyses: Sequence[Analysis] = (),
    validations: Sequence[Validation] = (),
    recommendation: Recommendation | None = None,
    check: CheckRun | None = None,
    fitted: Mapping[str, Fitted] | None = None,
    sampled: Sequence[tuple[Observation, RunSeries]] = (),
    notes: Sequence[str] = (),
) -> ReportContent:
    """Everything a report needs, from what the stages returned. Only `data` must be there.

    `fitted` holds the model to draw for each response; `sampled` are runs whose machines are drawn.
    """
    runs = planned_runs(data, plan)
    drawn, undrawn = draw_figures(data, analyses, validations, recommendation, fitted or {})
    where = Counter(run.fingerprint for run in data.observations if run.fingerprint is not None)
    return ReportContent(
        study=study.name if study else data.name,
        workload=study.workload if study else "",
        created=created,
        version=version,
        data=data,
        plan=runs,
        facts=tuple(_facts(study, plan, data)),
        analyses=tuple(analyses),
        validations=tuple(validations),
        figures=(*drawn, *machine_figures(data, sampled)),
        recommendation=recommendation,
        check=check,
        fingerprints=tuple(where.most_common()),
        notes=(*_left_out(runs, len(where)), *notes, *undrawn),
    )


def planned_runs(data: Dataset, plan: Plan | None) -> tuple[PlannedRun, ...]:
    """Trials in the order of the plan, each with its runs; then runs that no plan asked for."""
    runs: dict[tuple[Configuration, int], list[Observation]] = {}
    for run in data.observations:
        if not run.is_ingested:
            runs.setdefault((data.key(run), run.replicate), []).append(run)
    lines: list[PlannedRun] = []
    planned: set[int] = set()
    for trial in plan.trials if plan else ():
        settings = trial.configuration.only(data.factors)
        found = runs.pop((settings, trial.replicate), [])
        planned.update(map(id, found))
        lines.extend(_line(run, data, trial.position) for run in found)
        if not found:
            lines.append(PlannedRun(trial.position, settings, trial.replicate, NOT_RUN, {}))
    others = sorted((run for run in data.observations if id(run) not in planned), key=lambda run: run.position)
    return (*lines, *(_line(run, data, run.position) for run in others))


def _line(run: Observation, data: Dataset, position: int) -> PlannedRun:
    return PlannedRun(position, data.key(run), run.replicate, str(run.outcome), dict(run.responses), run.cause)


def draw_figures(
    data: Dataset,
    analyses: Sequence[Analysis],
    validations: Sequence[Validation],
    recommendation: Recommendation | None,
    fitted: Mapping[str, Fitted],
) -> tuple[tuple[Figure, ...], tuple[str, ...]]:
    """The figures there are data for, in the order of the report, and why others are missing."""
    drawn: list[Figure | None] = [*figures.run_figures(data)]
    for analysis in analyses:
        drawn += figures.analysis_figures(analysis)
    drawn += [figures.predicted_vs_actual(validation) for validation in validations]
    undrawn: list[str] = []
    models = {v.response: v.scorecards[0].model for v in validations if v.scorecards}
    models |= recommendation.models if recommendation else {}
    at = recommendation.chosen.configuration if recommendation else None
    for response, model in fitted.items():
        name = models.get(response, "")
        try:
            drawn.append(figures.scaling_curve(data, response, model, at=at, model=name))
        except NotEnoughDataError as error:
            undrawn.append(f"No scaling curve of {response}: {error.problem}.")
    drawn += figures.recommendation_figures(recommendation) if recommendation else []
    return tuple(figure for figure in drawn if figure is not None), tuple(undrawn)


def machine_figures(data: Dataset, sampled: Sequence[tuple[Observation, RunSeries]]) -> Iterator[Figure]:
    """The machines of each run; the quickest comes first."""
    time = data.vocabulary.time
    for place, (run, series) in enumerate(sampled):
        which = ("The only run" if len(sampled) == 1 else "The fastest run", "The slowest run")[min(place, 1)]
        took = f", {show_seconds(run.responses[time])}" if time is not None and time in run.responses else ""
        title = f"{which}: {data.key(run)}{took}" if data.factors else f"{which}{took}"
        if (drawn := figures.machine_curves(series, f"machines-{place + 1}", title)) is not None:
            yield drawn


def table_facts(table: Understood | None) -> Iterator[tuple[str, str]]:
    """Which file it was: a table that has changed since has another hash."""
    if table is not None:
        yield "Table", table.source
        if table.sha256:
            yield "SHA-256", table.sha256


def _facts(study: Study | None, plan: Plan | None, data: Dataset) -> Iterator[tuple[str, str]]:
    for name in data.factors:
        yield f"Varied: {name}", ", ".join(str(level) for level in ordered(data.levels(name))) or "no runs"
    if study:
        yield from _job_facts(study)
    if shared := dict.fromkeys(run.sharing for run in data.observations if run.sharing):
        yield "Shared by", "; ".join(_shared(one) for one in shared)
    if study and study.rules:
        yield "Rules", "; ".join(rule.text for rule in study.rules)
    if plan:
        replicates = max((trial.replicate for trial in plan.trials), default=1)
        repeated = f", each {replicates} times" if replicates > 1 else ", each once"
        yield "Design", f"{plan.design}: {len(plan.configurations)} configurations{repeated}"
        yield "Order", f"randomized with seed {plan.seed}, so that machine drift does not look like an effect"
    if study:
        yield "Limits", _limits(study)
        yield "Spark master", study.spark.master
        if study.spark.conf:
            shown = redact(study.spark.conf)  # reports are passed around
            yield "Spark properties", ", ".join(f"{name}={value}" for name, value in shown.items())
    if study and study.price:
        yield "Price", str(study.price)


def _job_facts(study: Study) -> Iterator[tuple[str, str]]:
    if study.fixed:
        yield "Held fixed", str(study.fixed)
    if study.arrivals:
        yield "Arrivals", str(study.arrivals)
    if study.mix:
        yield "Mix of jobs", "; ".join(f"{show_percent(part.share, 3)} {part.settings}" for part in study.mix)


def _shared(sharing: Sharing) -> str:
    cores = "" if sharing.cores is None else f", {sharing.cores} cores"
    return f"{sharing.policy or 'the rules of the cluster'}{cores}; within an application: {sharing.mode}"


def _limits(study: Study) -> str:
    total, trial = study.limits.total_s, study.limits.trial_s
    parts = [
        f"{show_seconds(total)} in total" if total is not None else "",
        f"{show_seconds(trial)} per run" if trial is not None else "",
    ]
    return ", ".join(part for part in parts if part) or "none"


def _left_out(runs: Sequence[PlannedRun], places: int) -> Iterator[str]:
    missing = sum(run.outcome == NOT_RUN for run in runs)
    if missing:
        yield f"{missing} of {len(runs)} planned runs are missing; the conclusions rest on the others."
    if places > 1:
        yield f"The runs come from {places} different environments (see Provenance); they are not replicates."


def describe(place: Fingerprint) -> tuple[tuple[str, str], ...]:
    """Where runs were made, line by line."""
    return (
        ("Processor", f"{place.cpu}, {place.cores} cores"),
        ("Memory", show_bytes(place.memory_bytes)),
        ("System", place.system),
        ("Spark", place.spark),
        ("Java", place.java),
        ("Python", place.python),
        ("Cluster", f"{place.cluster}; {place.affinity}" if place.affinity else place.cluster),
        ("Data", place.data or "not recorded"),
    )
