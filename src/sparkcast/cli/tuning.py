"""Searching with real runs: tune."""

import shlex
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import Json, Verbose, emit, say, shell, show
from sparkcast.cli._progress import show_progress
from sparkcast.cli.prediction import parse_fixed, parse_settings
from sparkcast.cli.running import INTERRUPTED, Artifacts, Conf, Master, PropertiesFile, StoreUrl, spark_properties
from sparkcast.cli.studies import StudyFile

if TYPE_CHECKING:
    from sparkcast.search.loop import Tried, TuneResult


_MORE_RUNS = 2  # of each configuration, when the first ones do not tell which is better


def register(app: typer.Typer) -> None:
    app.command()(tune)


def tune(
    study: StudyFile,
    searcher: Annotated[
        str | None, typer.Option(help="See: sparkcast list searchers. Default: guided.", show_default=False)
    ] = None,
    minimize: Annotated[
        str | None,
        typer.Option(
            help="A response, e.g. cost. Default as in recommend: with --within the highest accuracy, else the lowest "
            "cost or the fewest resources; without, the shortest time.",
            show_default=False,
        ),
    ] = None,
    maximize: Annotated[str | None, typer.Option(help="A response, e.g. accuracy.")] = None,
    within: Annotated[str | None, typer.Option(help="A run that takes longer does not qualify, e.g. 60s.")] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(help="What a run must keep to, as in recommend, e.g. 'accuracy >= 0.95'; repeatable."),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            help="Go on until the next run of the answer meets --within with this probability, e.g. 0.95.",
            show_default=False,
        ),
    ] = None,
    stop_late: Annotated[
        bool, typer.Option("--stop-late", help="Stop a run once it has missed --within: cheaper, but it teaches less.")
    ] = False,
    runs_to_come: Annotated[
        int | None,
        typer.Option(help="How often the job will run: the search stops where it no longer pays.", show_default=False),
    ] = None,
    instead_of: Annotated[
        str | None,
        typer.Option(
            metavar="SETTINGS",
            help="The settings of today, e.g. executors=2,cores=4: run first, to see what the search saves.",
        ),
    ] = None,
    max_runs: Annotated[int, typer.Option(help="Maximum number of runs; earlier measurements are free.")] = 20,
    runners: Annotated[
        int,
        typer.Option(help="Runs to make at once, each on a cluster or a share of one. Default: one after the other."),
    ] = 1,
    max_cost: Annotated[
        float | None, typer.Option(metavar="MONEY", help="Maximum cost of all runs at the study's price.")
    ] = None,
    fix: Annotated[
        list[str] | None, typer.Option(help="A setting to hold at a value, e.g. executors=2; repeatable.")
    ] = None,
    replicates: Annotated[
        int | None, typer.Option(help="Runs per configuration. Default: the searcher's own.", show_default=False)
    ] = None,
    earlier: Annotated[
        list[str] | None,
        typer.Option(metavar="DATA", help="Runs of another workload (study, store or CSV) to learn from; repeatable."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed, for searchers with randomness.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a search that was stopped.")] = False,
    allow_changed: Annotated[
        bool,
        typer.Option("--allow-changed", help="Keep results even though the study file or the options have changed."),
    ] = False,
    master: Master = None,
    conf: Conf = None,
    properties_file: PropertiesFile = None,
    store: StoreUrl = None,
    artifacts: Artifacts = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Find the best settings with few runs.

    Example: sparkcast tune mnist.yaml --minimize cost --max-runs 12
    """
    from sparkcast import api
    from sparkcast.units import parse_seconds

    with show_progress() as on_progress:
        result = api.tune(
            api.load_study(study, store=store, artifacts=artifacts),
            minimize=minimize,
            maximize=maximize,
            within_s=None if within is None else parse_seconds(within),
            fix=parse_fixed(fix or ()),
            searcher=api.SearchMethod(
                searcher, seed, replicates, earlier or (), tuple(limit or ()), confidence, stop_late
            ),
            budget=api.Budget(
                max_runs,
                max_cost,
                runs_to_come,
                None if instead_of is None else parse_settings(instead_of),
                runners,
            ),
            resume=resume,
            allow_changed=allow_changed,
            master=master,
            conf=spark_properties(properties_file, conf),
            on_progress=on_progress,
        )
    emit(result, as_json, lambda found: _show(found, str(study)))
    if result.interrupted:
        say(f"Interrupted. Continue with: {_this_command()}")
        raise typer.Exit(INTERRUPTED)


def _this_command() -> str:
    from sparkcast.study.redaction import redact_word

    words = [redact_word(word) for word in sys.argv[1:] if word != "--resume"]
    return shlex.join(["sparkcast", *words, "--resume"])


def _show(result: "TuneResult", study: str) -> None:
    show(result)
    if result.findings is not None:
        return
    for command in _deciding(result, study):
        shell("to decide:", command)
    if result.best is not None and not result.interrupted:
        shell("ask on:", _next_question(result, result.best, study))


def _deciding(result: "TuneResult", study: str) -> list[str]:
    """Runs that tell the best and the next apart, where noise may have."""
    if not result.is_tie or not result.is_candidate or result.best is None or result.runner_up is None:
        return []
    direction, response = result.objective.split()
    n = result.best.replicates + _MORE_RUNS
    given = f"--searcher exhaustive --{direction} {response} --replicates {n} --allow-changed"
    fixed = [
        " ".join(f"--fix {shlex.quote(f'{name}={level}')}" for name, level in tried.configuration.items())
        for tried in (result.best, result.runner_up)
    ]
    return [f"sparkcast tune {study} {settings} {given}" for settings in fixed]


def _next_question(result: "TuneResult", best: "Tried", study: str) -> str:
    direction, response = result.objective.split()
    if result.is_candidate:
        return f"sparkcast recommend {study} --{direction} {response}"
    at = ",".join(f"{name}={level}" for name, level in best.configuration.items())  # no level that `recommend` knows
    return f"sparkcast predict {study} --at {at} --response {response}"
