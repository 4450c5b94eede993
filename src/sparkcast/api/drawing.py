"""Figures: in Python as charts of Altair, or as PNG, SVG and Vega-Lite files."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sparkcast.api.logs import read_one
from sparkcast.api.sources import data_of
from sparkcast.data.options import TableOptions
from sparkcast.data.sources import Source
from sparkcast.errors import NotEnoughDataError, StudyError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import altair as alt

    from sparkcast.analysis import Analysis
    from sparkcast.api.sources import Runs
    from sparkcast.designs.summary import PlanSummary
    from sparkcast.models import Fitted
    from sparkcast.queues.answer import QueueAnswer
    from sparkcast.recommend import Recommendation
    from sparkcast.report import Figure
    from sparkcast.validate import OnStep, Validation
    from sparkcast.validate.fits import FitCache

    Drawable = PlanSummary | Analysis | Validation | Recommendation | QueueAnswer | Runs


@dataclass(frozen=True, slots=True)
class DrawnFigures:
    """What was drawn, and what could not be."""

    files: tuple[Path, ...]
    missing: tuple[str, ...]  # what could not be drawn, and why


def figures(answer: "Drawable") -> "dict[str, alt.TopLevelMixin]":
    """The figures of an answer as Altair charts, which a notebook shows and `chart.save` writes.

    Args:
        answer: What `plan`, `analyze`, `validate`, `recommend` or `queue` returned (`queue` asked with
            `Effort(with_figures=True)`); or runs, as a path, a DataFrame or data; or the path of an event log.

    Returns:
        Charts by name, in reading order, each with its caption as `description`; none where there is nothing to draw.

    Raises:
        StudyError: The runs or the log cannot be read.

    >>> charts = figures(analyze("runs.csv"))
    >>> charts["pareto-time_s"].save("pareto.svg")
    """
    return {figure.name: figure.chart() for figure in _figures_of(answer) if figure is not None}


def _figures_of(answer: "Drawable") -> "Iterable[Figure | None]":
    from sparkcast.analysis import Analysis
    from sparkcast.designs.summary import PlanSummary
    from sparkcast.queues.answer import QueueAnswer
    from sparkcast.recommend import Recommendation
    from sparkcast.report import figures as draw
    from sparkcast.validate import Validation

    match answer:
        case Analysis():
            return draw.analysis_figures(answer)
        case Recommendation():
            return draw.recommendation_figures(answer)
        case PlanSummary():
            return (draw.alias_map(answer.description), draw.power_curve(answer.description))
        case QueueAnswer():
            return draw.queue_figures(answer)
        case Validation():
            return draw.validation_figures(None, answer, {})[0]
        case str() | Path() if _is_log(answer):
            return _application_figures(answer)
    return draw.run_figures(data_of(answer).dataset)


def _is_log(source: Source) -> bool:
    from sparkcast.observe.recognize import is_event_log

    return is_event_log(Path(source))


def _application_figures(log: Source) -> "Sequence[Figure]":
    from sparkcast.facts import facts_of
    from sparkcast.report.figures import application_figures

    read = read_one(log)
    return application_figures(read, facts_of(read))


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
    return _written(summary, folder, force)


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
    from sparkcast.report.figures import write_figures

    return write_figures(_application_figures(log), Path(folder), force=force)


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

    >>> len(write_figures(analyze("runs.csv"), "analysis")) > 6
    True
    """
    return _written(analysis, folder, force)


def write_validation_figures(
    data: "Runs",
    validation: "Validation",
    folder: Source,
    *,
    most: int = 3,
    with_learning_curve: bool = False,
    on_step: "OnStep | None" = None,
    fits: "FitCache | None" = None,
    force: bool = False,
    table: TableOptions | None = None,
) -> DrawnFigures:
    """The figures of a validation's best models as PNG, SVG and Vega-Lite files.

    Args:
        data: The runs that were validated on.
        validation: What `validate` returned.
        folder: Where the files go.
        most: How many of the best models to draw.
        with_learning_curve: Also draw the error by number of configurations; fits each model about 30 more times.
        on_step: Called before each size of the learning curve.
        fits: The `FitCache` passed to `validate`.
        force: Replace files that exist.
        table: As in `load_data`.

    Returns:
        The files, and what could not be drawn and why.

    Raises:
        StudyError: A file exists and `force` is not given.

    >>> drawn = write_validation_figures("runs.csv", validate("runs.csv", models="ridge"), "validation")
    >>> len(drawn.files) > 2
    True
    """
    from sparkcast.learned.fit import or_note
    from sparkcast.report.figures import validation_figures, write_figures
    from sparkcast.validate.fits import FitCache
    from sparkcast.validate.learning import learning_curve

    dataset = data_of(data, table, response=validation.response).dataset
    response, names = validation.response, [card.model for card in validation.scorecards[:most]]
    notes: list[str] = []
    fitted: dict[str, Fitted] = {}
    fits = fits or FitCache()
    for name in names:
        try:
            fitted[name], _ = fits.fit(name, dataset, response)
        except (NotEnoughDataError, StudyError) as error:
            notes.append(f"no scaling curve of {name}: {error.problem}")
    curve = None
    if with_learning_curve:
        curve = or_note(notes, lambda: learning_curve(dataset, response, names, seed=validation.seed, on_step=on_step))
    drawn, undrawn = validation_figures(dataset, validation, fitted, curve, most=most)
    return DrawnFigures(tuple(write_figures(drawn, Path(folder), force=force)), (*notes, *undrawn))


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

    >>> len(write_recommendation_figures(recommend("runs.csv", within_s=60, model="ridge"), "choice")) > 2
    True
    """
    return _written(recommendation, folder, force)


def write_queue_figures(answer: "QueueAnswer", folder: Source, *, force: bool = False) -> list[Path]:
    """Response time against arrival rate, the fan of percentiles, utilization, and a simulated day.

    Args:
        answer: What `queue` returned, asked with `Effort(with_figures=True)`.
        folder: Where PNG, SVG and Vega-Lite files go.
        force: Replace files that exist.

    Returns:
        The files that were written.

    Raises:
        StudyError: A file exists and `force` is not given.

    >>> small = queue(load=Load(0.02, service_time_s=30), effort=Effort(1000, replications=2, with_figures=True))
    >>> len(write_queue_figures(small, "queue-figures")) > 2
    True
    """
    return _written(answer, folder, force)


def _written(answer: "Drawable", folder: Source, force: bool) -> list[Path]:
    from sparkcast.report.figures import write_figures

    return write_figures([one for one in _figures_of(answer) if one is not None], Path(folder), force=force)
