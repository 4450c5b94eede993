"""Before anything runs: init, list, design."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import Json, Verbose, emit, table

if TYPE_CHECKING:
    from sparkcast.api import PlanSummary

StudyFile = Annotated[Path, typer.Argument(metavar="STUDY", help="The study file (YAML).")]


def register(app: typer.Typer) -> None:
    app.command()(init)
    app.command("list")(list_plugs)
    app.command()(design)


WorkloadName = Annotated[str, typer.Argument(metavar="WORKLOAD", help="See: sparkcast list workloads.")]


def init(workload: WorkloadName, as_json: Json = False, verbose: Verbose = False) -> None:
    """Write a commented study file to stdout.

    Example: sparkcast init mnist-training > mnist.yaml
    """
    from sparkcast import api

    text = api.starter_study(workload)
    emit({"workload": workload, "study": text}, as_json, lambda _: print(text, end=""))


def list_plugs(
    kind: Annotated[str, typer.Argument(help="designs, workloads, engines, models, searchers or protocols")],
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """What is built in or installed.

    Example: sparkcast list models
    """
    from sparkcast import api

    emit(api.list_plugs(kind), as_json, lambda found: table("", ("name", "what it is"), list(found.items())))


def design(
    study: StudyFile,
    budget: Annotated[str | None, typer.Option(help="The most time to spend, e.g. 30m.")] = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """The plan: runs, order, estimated time and price.

    Example: sparkcast design mnist.yaml --budget 30m
    """
    from sparkcast import api
    from sparkcast.units import parse_seconds

    emit(api.plan(study, budget_s=None if budget is None else parse_seconds(budget)), as_json, _show_plan)


def _show_plan(plan: "PlanSummary") -> None:
    from sparkcast.study import show_configuration
    from sparkcast.units import show_seconds

    header = ["run", *(name for name in plan.trials[0] if name != "position")]
    rows = [[t["position"], *(t[name] for name in header[1:])] for t in plan.trials]
    table(f"{plan.study}: {plan.design} design, seed {plan.seed}", header, rows)
    print(f"{len(plan.trials)} runs, {plan.done} done; {len(plan.excluded)} combinations excluded by rules")
    for configuration in plan.excluded:
        print(f"  excluded: {show_configuration(configuration)}")
    if plan.total_s is not None and plan.trial_s is not None:
        print(f"about {show_seconds(plan.total_s)} in all, {show_seconds(plan.trial_s)} each ({plan.estimated_from})")
    else:
        print(f"time: {plan.estimated_from}")
    if plan.price is not None:
        print(f"about {plan.price:.4f} at the study's price")
    if plan.left_out:
        print(f"the time limit leaves out about {plan.left_out} runs")
