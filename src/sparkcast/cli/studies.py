"""Before anything runs: init, list, design."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import Details, Force, Json, Verbose, emit, require_free, say, shell, table, tell, verbatim
from sparkcast.units import show_level, show_probability

if TYPE_CHECKING:
    from sparkcast.designs.describe import Description
    from sparkcast.designs.power import Power
    from sparkcast.designs.summary import PlanSummary

_MOST_RUNS = 40  # shown; of more only the first
_FIRST_RUNS = 20
_MOST_LINES = 24  # of aliases, correlations and excluded combinations

StudyFile = Annotated[Path, typer.Argument(metavar="STUDY", help="The study file (YAML).")]


def register(app: typer.Typer) -> None:
    app.command()(init)
    app.command("list")(list_plugs)
    app.command()(design)


@dataclass(frozen=True, slots=True)
class Starter:
    """What `init --json` tells."""

    workload: str
    study: str


@dataclass(frozen=True, slots=True)
class Kinds:
    """What `list --json` tells: the names of each kind, and which package brings them."""

    kinds: dict[str, tuple[str, ...]]
    packages: dict[str, dict[str, tuple[str, ...]]]  # kind -> package -> names


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
    counted = f"{len(plan.trials)} runs, {plan.done} done; {plan.n_excluded} combinations excluded by rules"
    if details:
        _show_runs(plan)
        tell(counted)
        _show_excluded(plan)
        _show_resolution(plan.description)
        _show_aliases(plan.description)
        _show_correlation(plan.description)
    else:
        tell(f"{plan.study}: {plan.design} design, {counted}")
        tell(plan.description.resolution_text)
    if plan.description.effects:
        _show_power(plan.description.power, details)
    _show_cost(plan)
    for note in plan.notes:
        tell(f"note: {note}")
    if not details:
        shell("the runs, aliases and correlations:", f"sparkcast design {shlex.quote(study)} --details")
        if plan.done >= len(plan.trials):
            shell("next:", f"sparkcast analyze {shlex.quote(study)}")
        else:
            shell("next:", f"sparkcast run {shlex.quote(study)}{' --resume' if plan.done else ''}")


def _show_runs(plan: "PlanSummary") -> None:
    hidden = {"position"}
    if len({t["block"] for t in plan.trials}) == plan.replicates:
        hidden.add("block")  # each replicate is one
    if not plan.description.center_points:
        hidden.add("kind")
    header = ["run", *(name for name in plan.trials[0] if name not in hidden)]
    shown = plan.trials if len(plan.trials) <= _MOST_RUNS else plan.trials[:_FIRST_RUNS]
    rows = [[t["position"], *(t[name] for name in header[1:])] for t in shown]
    table(f"{plan.study}: {plan.design} design, seed {plan.seed}", header, rows)
    if len(shown) < len(plan.trials):
        tell(f"... and {len(plan.trials) - len(shown)} more; --csv FILE writes all")


def _show_excluded(plan: "PlanSummary") -> None:

    for configuration in plan.excluded[:_MOST_LINES]:
        tell(f"  excluded: {configuration}")
    if (more := plan.n_excluded - len(plan.excluded[:_MOST_LINES])) and plan.excluded:
        tell(f"  ... and {more} more" + ("; --json has all" if plan.n_excluded == len(plan.excluded) else ""))


def _show_resolution(description: "Description") -> None:
    tell(description.resolution_text)
    if description.generators:
        tell(f"generators: {_some(description.generators, 12, '; ')}")
    if description.defining_relation:
        more = description.n_words - len(description.defining_relation)
        words = [*description.defining_relation[:12]]
        more += len(description.defining_relation) - len(words)
        tell(f"defining relation: I = {' = '.join(words)}" + (f" = ... ({more} more words)" if more else ""))


def _show_aliases(description: "Description") -> None:
    """What shares a column: main effects and pairs first, and of long chains only the start."""
    if description.is_regular:
        rows = [
            (chain[0], " = ".join(chain[1:5]) + (f" = ... ({len(chain) - 5} more)" if len(chain) > 5 else ""))
            for chain in description.aliases
            if chain[0].count(":") < 2
        ]
        if rows:
            table("aliases: effects that this plan cannot separate", ("effect", "is also"), rows[:_MOST_LINES])
        if len(rows) > _MOST_LINES:
            tell(f"... and {len(rows) - _MOST_LINES} more; --json has all up to third order")
        if description.aliases and description.clear:
            tell(f"clear of each other: {_some(description.clear, 30, ', ')}")
    elif description.partial_aliases:
        pairs = [(p.a, p.b, f"{p.value:.2f}") for p in description.partial_aliases[:_MOST_LINES]]
        table("partly aliased: correlations of 0.2 or more", ("effect", "with", "correlation"), pairs)
        if len(description.partial_aliases) > _MOST_LINES:
            tell(f"... and {len(description.partial_aliases) - _MOST_LINES} more; --json has all")


def _show_correlation(description: "Description") -> None:
    worst = description.largest
    if worst is not None and worst.value < 1e-6:
        tell("main effects and two-factor interactions are uncorrelated")
    elif worst is not None:
        tell(f"largest correlation: {worst.value:.2f}, of {worst.a} with {worst.b}")
    inflation = description.variance_inflation
    if inflation and max(inflation.values()) > 1.005:
        name = max(inflation, key=lambda name: inflation[name])
        tell(f"main effects: variance x {inflation[name]:.2f} at most, due to correlation with each other ({name})")
    if not description.is_regular and description.d_efficiency is not None:
        tell(f"D-efficiency of main effects: {description.d_efficiency:.2f} of an orthogonal two-level design")


def _show_power(power: "Power", details: bool) -> None:
    unit = "standard deviation" if power.effect_sd == 1 else "standard deviations"
    size = f"an effect of {power.effect_sd:.3g} {unit} of the noise"
    main, pair = power.lowest("main effect"), power.lowest("interaction")
    if power.reason:
        tell(f"power unknown: {power.reason}")
    elif main is not None:
        kept = " that stays in the model" if power.left_out else ""
        also = f", {show_probability(pair)} for an interaction{kept}" if pair is not None else ""
        test = f"level {power.alpha:g}, {_degrees(power.residual_df)} of freedom"
        tell(f"power: {show_probability(main)} for {size}{also} ({test})")
        if power.left_out and not details:
            tell(f"  {len(power.left_out)} of the effects are dropped from the model and count as noise")
        elif power.left_out:
            left = f"  the effects that the runs can estimate leave {_degrees(power.whole_df)} of freedom for the noise"
            tell(f"{left}, so these are dropped from the model and count as noise: {_some(power.left_out, 12, ', ')}")
    needed = [f"{n} for {show_level(float(target))}" for target, n in power.replicates_for.items() if n is not None]
    if needed:
        tell(f"replicates needed to detect {size}: {', '.join(needed)}")
    else:
        tell(f"no number of replicates up to 100 detects {size} with 80% power")


def _degrees(count: int) -> str:
    return f"{count} degree{'' if count == 1 else 's'}"


def _show_cost(plan: "PlanSummary") -> None:
    from sparkcast.units import show_money, show_seconds

    if plan.total_s is not None and plan.trial_s is not None:
        tell(f"about {show_seconds(plan.total_s)} in total, {show_seconds(plan.trial_s)} each ({plan.estimated_from})")
    else:
        tell(f"time: {plan.estimated_from}")
    if plan.price is not None:
        tell(f"about {show_money(plan.price, plan.currency)} at the study's price")
    if plan.left_out:
        first, last = plan.left_out_trials[0], plan.left_out_trials[-1]
        which = f"run {first}" if first == last else f"runs {first} to {last}"
        tell(f"the time limit leaves out about {plan.left_out} runs: {which}")


def _some(items: Sequence[str], most: int, separator: str) -> str:
    more = f"{separator}... ({len(items) - most} more)" if len(items) > most else ""
    return separator.join(items[:most]) + more
