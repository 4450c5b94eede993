"""Before anything runs: init, list, design."""

import shlex
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import (
    Details,
    Force,
    Json,
    Verbose,
    emit,
    require_free,
    say,
    shell,
    show,
    table,
    tell,
    verbatim,
)
from sparkcast.wire.results import Kinds, Starter

if TYPE_CHECKING:
    from sparkcast.designs.summary import PlanSummary

StudyFile = Annotated[Path, typer.Argument(metavar="STUDY", help="The study file (YAML).")]


def register(app: typer.Typer) -> None:
    app.command()(init)
    app.command("list")(list_plugs)
    app.command()(design)


StartingPoint = Annotated[
    list[str],
    typer.Argument(
        metavar="WORKLOAD | -- spark-submit ...",
        help="A workload (see: sparkcast list workloads), or the line that starts your own job.",
    ),
]


def with_pasted_line_apart(words: Sequence[str]) -> list[str]:
    """The words of our own command line, with `--` in front of a pasted one whose options would be taken for ours."""
    is_pasted = [*words[:1]] == ["init"] and PurePath(*words[1:2]).name == "spark-submit"
    return [*words[:1], "--", *words[1:]] if is_pasted else [*words]


def init(start: StartingPoint, as_json: Json = False, verbose: Verbose = False) -> None:
    """Write a commented study file to stdout, of a workload or of your own job.

    Example: sparkcast init -- spark-submit --num-executors 4 train.py --rows 1000000 > train.yaml
    """
    from sparkcast import api

    is_line = len(start) > 1 or "spark-submit" in start[0]
    text = api.study_of_line(start) if is_line else api.starter_study(start[0])
    name = "command" if is_line else start[0]
    emit(Starter(name, text), as_json, lambda _: verbatim(text.removesuffix("\n")), is_users=True)


def list_plugs(
    kind: Annotated[
        str | None,
        typer.Argument(
            help="designs, workloads, engines, models, searchers, protocols, grids or replications; default: all.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """What is built in or installed.

    Example: sparkcast list models
    """
    from sparkcast import api

    if kind is None:
        kinds = api.list_kinds()
        emit(Kinds(kinds, {kind: api.list_packages(kind) for kind in kinds}), as_json, _show_kinds)
    else:
        packages = api.list_packages(kind)
        emit(api.list_plugs(kind), as_json, lambda found: _show_plugs(found, packages))


def _show_plugs(found: dict[str, str], packages: dict[str, tuple[str, ...]]) -> None:
    for package, names in packages.items():
        table(_heading(package), ("name", "description"), [(name, found[name]) for name in names])


def _show_kinds(found: "Kinds") -> None:
    longest = max(map(len, found.kinds)) + 5
    for package in dict.fromkeys(package for by_package in found.packages.values() for package in by_package):
        if heading := _heading(package):
            tell(heading)
        for kind, by_package in found.packages.items():
            if names := by_package.get(package):
                label = f"{kind} ({len(names)})"
                tell(f"{label:<{longest}} {', '.join(names)}", hang=" " * (longest + 1))
    shell("descriptions:", "sparkcast list models")


def _heading(package: str) -> str:
    """What stands above the plugins of a package; nothing above our own."""
    return "" if package == "sparkcast" else f"From {package.replace('_', '-')}:"


def design(
    study: StudyFile,
    budget: Annotated[str | None, typer.Option(help="The maximum total time, e.g. 30m.")] = None,
    effect: Annotated[
        str, typer.Option(help="The effect to detect: 1.5 standard deviations of the noise, or 10% (needs replicates).")
    ] = "1.0",
    details: Details = False,
    csv: Annotated[Path | None, typer.Option(help="Write the plan to this file, in run order.")] = None,
    figures: Annotated[Path | None, typer.Option(help="Write figures (.png, .svg, .vl.json) to this folder.")] = None,
    force: Force = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """The plan: runs, order, aliases, power, estimated time and price.

    Example: sparkcast design mnist.yaml --budget 30m --effect 1.5 --csv plan.csv
    """
    from sparkcast import api
    from sparkcast.units import parse_seconds

    if csv is not None:
        require_free(csv, force)
    plan = api.plan(study, budget_s=None if budget is None else parse_seconds(budget), effect=effect)
    if csv is not None:
        say(f"wrote {api.write_plan(plan, csv)} runs to {csv}")
    if figures is not None:
        for path in api.write_plan_figures(plan, figures, force=force):
            say(f"wrote {path}")
    emit(plan, as_json, lambda found: _show_plan(found, str(study), details))


def _show_plan(plan: "PlanSummary", study: str, details: bool) -> None:
    show(plan, details)
    if details:
        return
    shell("the runs, aliases and correlations:", f"sparkcast design {shlex.quote(study)} --details")
    if plan.done >= len(plan.trials):
        shell("next:", f"sparkcast analyze {shlex.quote(study)}")
    else:
        shell("next:", f"sparkcast run {shlex.quote(study)}{' --resume' if plan.done else ''}")
