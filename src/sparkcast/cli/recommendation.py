"""Deciding: recommend."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import Details, Force, Json, Verbose, emit, say, show, verbatim
from sparkcast.cli._tables import AS_IT_STANDS, TableArguments, reads_runs, understood
from sparkcast.cli.prediction import (
    USUAL_MODEL,
    DataOrModel,
    Extrapolate,
    JobName,
    ModelName,
    load,
    load_any,
    parse_fixed,
    response_name,
)

if TYPE_CHECKING:
    from sparkcast.api import Data
    from sparkcast.learned.saved import SavedModel
    from sparkcast.recommend import Recommendation
    from sparkcast.study import Level


def register(app: typer.Typer) -> None:
    app.command()(reads_runs(recommend))


def recommend(
    data: DataOrModel,
    job: JobName = None,
    within: Annotated[str | None, typer.Option(help="The deadline, e.g. 300s or 5m.")] = None,
    budget: Annotated[float | None, typer.Option(help="The maximum cost of a run; needs a price.")] = None,
    min_accuracy: Annotated[float | None, typer.Option(help="The minimum accuracy, e.g. 0.95.")] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'NAME >= VALUE'", help="A limit on any response: 'auc >= 0.9', 'time_s <= 300s'. Repeatable."
        ),
    ] = None,
    confidence: Annotated[float, typer.Option(help="The probability with which all limits must be met.")] = 0.95,
    maximize: Annotated[
        str | None, typer.Option(help="A response, e.g. accuracy, a numeric setting, or 'name = formula'.")
    ] = None,
    minimize: Annotated[
        str | None, typer.Option(help="A response, e.g. cost or time_s, a setting such as nodes, or 'name = formula'.")
    ] = None,
    fix: Annotated[list[str] | None, typer.Option(help="A setting to hold at a value, e.g. executors=2.")] = None,
    levels: Annotated[
        list[str] | None,
        typer.Option(help="Other values to choose from, e.g. executors=1..16 or batch_size=64,96,128."),
    ] = None,
    free_epochs: Annotated[
        bool, typer.Option("--free-epochs", help="Choose the number of epochs too, from the per-epoch curves.")
    ] = False,
    price: Annotated[
        str | None,
        typer.Option(
            help="Overrides the study's price: core_hour=0.05,currency=EUR, m4.large=0.1 or 'hour = 0.2 * nodes'."
        ),
    ] = None,
    max_failure: Annotated[
        float, typer.Option(help="Exclude settings that were never run and are more likely to fail than this.")
    ] = 0.1,
    jobs_running: Annotated[
        str | None,
        typer.Option(help="Jobs on the cluster now, or 'store' to count those of a sparkcast run in progress."),
    ] = None,
    running: Annotated[
        list[str] | None,
        typer.Option(help="A job running now: batch_size=128,elapsed=120s,within=300s. Would it miss its deadline?"),
    ] = None,
    earlier: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DATA",
            help="For a study that was never run: runs of other workloads with its settings. Repeatable.",
        ),
    ] = None,
    recent: Annotated[
        str | None,
        typer.Option(help="Runs made since the model was trained (DATA), to check whether it is still valid."),
    ] = None,
    as_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="Print only what starts the job: spark-submit, properties, sparkapplication, emr, databricks, "
            "airflow or json.",
        ),
    ] = None,
    details: Details = False,
    figures: Annotated[
        Path | None, typer.Option(help="A folder for the Pareto front and the candidates: PNG, SVG and Vega-Lite.")
    ] = None,
    force: Force = False,
    model: ModelName = USUAL_MODEL,
    extrapolate: Extrapolate = False,
    response: Annotated[
        list[str] | None,
        typer.Option(help="A response to tell of; of a table, a column. A time is what --within is about. Repeatable."),
    ] = None,
    reading: TableArguments = AS_IT_STANDS,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """The settings for a deadline, a budget or any other limit.

    Example: sparkcast recommend mnist.yaml --within 60s --maximize accuracy
    """
    from sparkcast import api
    from sparkcast.recommend.load import parse_running
    from sparkcast.study.derive import parse_price
    from sparkcast.units import parse_seconds

    if as_format is not None:
        _check_format(as_format, as_json)
    if earlier:
        answers = {
            "--within": within,
            "--budget": budget,
            "--min-accuracy": min_accuracy,
            "--limit": limit,
            "--maximize": maximize,
            "--levels": levels,
            "--format": as_format,
            "--figures": figures,
            "--job": job,
        }
        _require_none(answers)
        emit(api.recommend_unrun(data, earlier, minimize=minimize, fix=parse_fixed(fix or ())), as_json, show)
        return
    objective = maximize or minimize or ""
    wanted = [*(response or ()), *([objective] if "=" in objective else [])]
    log = _log(data, reading, response, extrapolate) if job is None else None
    given = log or load_any(data, reading, wanted, model, as_json, job=job)
    loaded = _timed(given, response)
    result = api.recommend(
        loaded,
        api.Question(
            limits=limit or (),
            confidence=confidence,
            maximize=response_name(maximize),
            minimize=response_name(minimize),
            fix=parse_fixed(fix or ()),
            max_failure=max_failure,
            within_s=None if within is None else parse_seconds(within),
            budget=budget,
            min_accuracy=min_accuracy,
        ),
        choices=api.Choices(dict(parse_levels(text) for text in levels or ()), free_epochs),
        price=None if price is None else parse_price(price),
        present=api.Present(
            _jobs_running(jobs_running),
            tuple(parse_running(text) for text in running or ()),
            None if recent is None else load(recent, reading, [], as_json),
        ),
        model=model,
        extrapolate=extrapolate,
    )
    if as_format is None:
        beside = None if isinstance(loaded, str) else understood(loaded)
        emit(result, as_json, lambda found: show(found, details), beside)
    else:
        _show_format(as_format, result)
    _write_figures(result, figures, force)


def _write_figures(result: "Recommendation", folder: Path | None, force: bool) -> None:
    from sparkcast import api

    if folder is not None:
        written = api.write_recommendation_figures(result, folder, force=force)
        say(f"wrote {len(written)} files to {folder}")


def _require_none(answers: Mapping[str, object]) -> None:
    """Earlier workloads say how settings compare, not how long a job takes that was never run."""
    from sparkcast.errors import StudyError

    asked = [name for name, given in answers.items() if given]
    if asked:
        raise StudyError(
            f"{asked[0]} needs runs of this job: earlier workloads only say how its settings compare",
            hint=f"leave out {asked[0]}, or search with few runs: sparkcast tune STUDY --earlier DATA",
        )


def _timed(loaded: "Data | SavedModel | str", response: list[str] | None) -> "Data | SavedModel | str":
    """With the time that is asked about as the time of a run."""
    from sparkcast import api
    from sparkcast.data.sources import timed_by
    from sparkcast.errors import StudyError

    if isinstance(loaded, api.Data):
        return timed_by(loaded, response or ())
    if response:
        raise StudyError("a model file has its responses, so --response does not apply", hint="leave out --response")
    return loaded


def _log(data: str, reading: "TableArguments", response: list[str] | None, extrapolate: bool) -> str | None:
    """The path of an event log; None of anything else."""
    from sparkcast.api.sources import is_log
    from sparkcast.data.options import TableOptions
    from sparkcast.errors import StudyError

    if not is_log(data):
        return None
    if response:
        raise StudyError(
            "--within is about the time from submission to exit",
            hint="for the time of its Spark jobs use --limit 'time_s <= 5m'",
        )
    if extrapolate or reading.study is not None or reading.options([]) != TableOptions():
        raise StudyError(
            f"{Path(data).name} is an event log, and options for tables, stores and models do not apply to it",
            hint="leave them out, or ingest the log into a store",
        )
    return data


def _check_format(name: str, as_json: bool) -> None:
    from sparkcast.errors import StudyError
    from sparkcast.recommend.formats import require_format

    require_format(name)
    if as_json:
        raise StudyError("--json and --format are both given", hint="--json has everything; --format only the command")


def _show_format(name: str, result: "Recommendation") -> None:
    """What goes into a file, on stdout; what to know of it, on stderr."""
    from sparkcast.recommend.formats import render

    text, notes = render(name, result.launch)
    verbatim(text)
    for note in (*notes, *result.notes):
        say(f"note: {note}")


def parse_levels(text: str) -> "tuple[str, tuple[Level, ...]]":
    """Parse `executors=1..16`, `batch_size=64..512..64` or `network=lenet5,simplenet`."""
    from sparkcast.errors import StudyError
    from sparkcast.study.model import require_few_levels

    name, separator, listed = (part.strip() for part in text.partition("="))
    items = [item.strip() for item in listed.split(",") if item.strip()]
    if not separator or not name or not items:
        raise StudyError(f"{text!r} is not name=levels", hint="e.g. executors=1..16 or batch_size=64,96,128")
    ranges = [_expanded(item) for item in items]
    require_few_levels(name, sum(map(len, ranges)))
    return name, tuple(dict.fromkeys(level for own in ranges for level in own))


def _expanded(item: str) -> "Sequence[Level]":
    from sparkcast.data.cell import parse_level
    from sparkcast.errors import StudyError

    if ".." not in item:
        return [parse_level(item)]
    try:
        first, last, *step = (int(part) for part in item.split(".."))
        values = range(first, last + 1, *step)
    except (TypeError, ValueError):
        values = range(0)
    if not values:
        raise StudyError(f"{item!r} is not a range of integers", hint="e.g. 1..16, or 64..512..64 in steps of 64")
    return values


def _jobs_running(text: str | None) -> int | str | None:
    from sparkcast.errors import StudyError

    if text is None or text == "store":
        return text
    if not text.isdigit():
        raise StudyError(f"--jobs-running {text!r} is not a number of jobs", hint="e.g. 2, or store")
    return int(text)
