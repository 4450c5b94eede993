"""Measuring: run, demo."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import Details, Json, Verbose, emit, say, shell, show, tell, verbatim
from sparkcast.cli._progress import show_progress
from sparkcast.cli.studies import StudyFile

if TYPE_CHECKING:
    from sparkcast.demo import DemoResult
    from sparkcast.runs.campaign import CampaignResult

INTERRUPTED = 130  # what shells report after Ctrl-C

Master = Annotated[str | None, typer.Option(help="embedded, spark://host:7077, yarn, k8s://..., local[2].")]
Conf = Annotated[
    list[str] | None, typer.Option(help="Spark property key=value; repeatable. Overrides sparkcast's own.")
]
StoreUrl = Annotated[
    str | None,
    typer.Option("--store", metavar="URL", help="A database to keep results in: postgresql://HOST/DATABASE."),
]
Artifacts = Annotated[
    str | None,
    typer.Option(metavar="URL", help="A folder or URL to copy logs and output of each run to: s3://BUCKET/FOLDER."),
]
PropertiesFile = Annotated[Path | None, typer.Option(help="A file of Spark properties, as for spark-submit.")]


def register(app: typer.Typer) -> None:
    app.command()(demo)
    app.command()(run)


def run(
    study: StudyFile,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the spark-submit commands.")] = False,
    details: Details = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue: run the trials without a result.")] = False,
    retry: Annotated[
        list[str] | None,
        typer.Option(metavar="OUTCOME", help="Repeat what failed: error, timeout, oom, lost, or failed for all."),
    ] = None,
    allow_changed: Annotated[
        bool, typer.Option("--allow-changed", help="Keep results even though the study file has changed.")
    ] = False,
    master: Master = None,
    conf: Conf = None,
    properties_file: PropertiesFile = None,
    store: StoreUrl = None,
    artifacts: Artifacts = None,
    runners: Annotated[
        int | None, typer.Option(min=1, help="Trials at once, also beside runners of other machines. Default: one.")
    ] = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Run the trials of a study.

    Example: sparkcast run mnist.yaml --resume
    """
    from sparkcast import api

    properties = spark_properties(properties_file, conf)
    if dry_run:
        lines = api.dry_run(study, master=master, conf=properties)
        emit(lines, as_json, lambda found: _show_lines(found, str(study), details))
        return
    with show_progress() as on_progress:
        result = api.run(
            api.load_study(study, store=store, artifacts=artifacts),
            resume=resume,
            retry=[name.strip() for text in retry or () for name in text.split(",")],
            allow_changed=allow_changed,
            master=master,
            conf=properties,
            runners=runners,
            on_progress=on_progress,
        )
    emit(result, as_json, lambda found: _show_run(found, str(study), details))
    if result.interrupted:
        say(f"Interrupted. Continue with: sparkcast run {study} --resume")
        raise typer.Exit(INTERRUPTED)


def spark_properties(file: Path | None, conf: Sequence[str] | None) -> dict[str, str]:
    """Those of a file, and over them those of the command line."""
    from sparkcast.engines.conf import parse_conf_option, read_properties

    properties = read_properties(file) if file else {}
    return properties | dict(parse_conf_option(text) for text in conf or ())


def _show_lines(lines: Sequence[str], study: str, details: bool) -> None:
    for line in lines if details else lines[:1]:
        verbatim(f"{line}\n")
    if len(lines) > 1 and not details:
        tell(f"This is the first of {len(lines)} runs.")
        shell("all of them:", f"sparkcast run {shlex.quote(study)} --dry-run --details")


def _show_run(result: "CampaignResult", study: str, details: bool) -> None:
    show(result, details)
    if result.failed and not result.interrupted:
        outcomes = ",".join(dict.fromkeys(o.outcome.value for o in result.new if not o.ok)) or "failed"
        shell("repeat them:", f"sparkcast run {shlex.quote(study)} --retry {outcomes}")
    if result.finished > result.failed and not result.interrupted:
        shell("next:", f"sparkcast analyze {shlex.quote(study)}")


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the study, its results and the report.")] = Path("demo"),
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and smaller runs: under two minutes.")] = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """The whole loop on a real Spark cluster, ending in a report.

    Example: sparkcast demo --out demo
    """
    from sparkcast.demo import run_demo

    try:
        with show_progress() as on_progress:
            result = run_demo(out, quick=quick, on_progress=on_progress)
    except KeyboardInterrupt:
        say("Interrupted. The same command continues.")
        raise typer.Exit(INTERRUPTED) from None
    emit(result, as_json, _show_demo)


def _show_demo(result: "DemoResult") -> None:
    for line in result.lines:
        tell(line, hang=" " * 13)
