"""Where the time of a run went: profile."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import Details, Force, Json, Verbose, emit, say, table, tell
from sparkcast.units import show_level, show_percent

if TYPE_CHECKING:
    from sparkcast.profile import Finding, LogComparison, Profile

_FEW_FINDINGS, _FEW_PARTS, _FEW_CHANGES, _FEW_STAGES = 3, 6, 4, 30


def register(app: typer.Typer) -> None:
    app.command()(profile)


def profile(
    log: Annotated[str, typer.Argument(metavar="LOG", help="A Spark event log: file, rolling log's folder, URL.")],
    other: Annotated[
        str | None, typer.Argument(metavar="[LOG2]", help="A later run of the same job, to be compared with the first.")
    ] = None,
    fail_above: Annotated[
        str | None, typer.Option(help="With two logs: exit with 5 when the second takes longer by more, e.g. 10%.")
    ] = None,
    threshold: Annotated[
        list[str] | None, typer.Option(help="When to report a finding, e.g. skew_ratio=5. Repeatable.")
    ] = None,
    figures: Annotated[Path | None, typer.Option(help="Write figures of the (second) log to this folder.")] = None,
    force: Force = False,
    details: Details = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Where the time of a run went, and what to change; of two runs, what is different.

    Example: sparkcast profile eventlogs/application_1700000000000_0001.zstd
    """
    from sparkcast import api
    from sparkcast.errors import StudyError

    limits = dict(_threshold(text) for text in threshold or ())
    if other is None:
        if fail_above is not None:
            raise StudyError("--fail-above needs two logs", hint="give the earlier run first, then the later one")
        emit(api.profile(log, thresholds=limits), as_json, lambda found: _show(found, details))
    else:
        most = None if fail_above is None else _share(fail_above)
        compared = api.compare_profiles(log, other, thresholds=limits)
        emit(compared, as_json, lambda found: _show_comparison(found, details))
    if figures is not None:
        written = api.write_profile_figures(other or log, figures, force=force)
        say(f"wrote {len(written)} files to {figures}")
    if other is not None and most is not None and compared.more_share > most:
        say(f"{show_percent(compared.more_share, 3, sign=True)} is more than {show_level(most)}")
        raise typer.Exit(5)


def _threshold(text: str) -> tuple[str, float]:
    from sparkcast.errors import StudyError

    name, _, value = text.partition("=")
    try:
        return name.strip(), float(value)
    except ValueError:
        raise StudyError(f"--threshold {text!r}: no number", hint="write NAME=NUMBER, e.g. skew_ratio=5") from None


def _share(text: str) -> float:
    from sparkcast.errors import StudyError

    number = text.strip().removesuffix("%")
    try:
        share = float(number) / 100
    except ValueError:
        raise StudyError(f"--fail-above {text!r}: not a percentage", hint="write it as 10%") from None
    if not 0 <= share < 1000:
        raise StudyError(f"--fail-above {text!r}: not a percentage of 0 or more", hint="write it as 10%")
    return share


# ---------------------------------------------------------------- one log


def _show(found: "Profile", details: bool) -> None:
    _show_head(found)
    if details:
        _show_parts(found)
        _show_stages(found)
    else:
        tell(f"  {_main_parts(found)}", hang="  ")
    cores = found.core_hours
    tell(
        f"  core-hours: {_hours(cores.paid)} paid, {_hours(cores.in_tasks)} held by tasks, {_hours(cores.cpu)} of CPU "
        f"({cores.n_executors} executor{'' if cores.n_executors == 1 else 's'}, at most {cores.most_cores:g} cores)"
    )
    shown = found.findings if details else found.findings[:_FEW_FINDINGS]
    for number, finding in enumerate(shown, 1):
        _show_finding(number, finding, found.wall_s)
    if not found.findings:
        tell("Healthy: nothing found that costs enough to be worth a change.")
    if not details:
        more = len(found.findings) - len(shown)
        tell(f"{f'{more} more, ' if more > 0 else ''}all parts and stages: --details")


def _show_head(found: "Profile") -> None:
    from sparkcast.units import show_seconds

    attempt = f" attempt {found.attempt_id}" if found.attempt_id else ""
    tell(
        f"{found.name or found.app_id} ({found.app_id}{attempt}, Spark {found.spark_version}): "
        f"{show_seconds(found.wall_s)}, {_n(found.n_jobs, 'job')}, {_n(found.n_tasks, 'task')} on "
        f"{_n(found.n_slots, 'slot')}"
    )
    if found.status != "ok":
        say(f"{found.status}: {found.reason}")


def _n(count: float, noun: str) -> str:
    return f"{count:,.0f} {noun}" + ("" if count == 1 else "s")


def _hours(hours: float) -> str:
    return f"{hours:,.2f}" if hours >= 0.1 else f"{hours:.4f}"


def _main_parts(found: "Profile") -> str:
    """The largest parts, and how much is left."""
    ranked = sorted(found.parts.items(), key=lambda part: -part[1])
    shown = [part for part in ranked[:_FEW_PARTS] if part[1] >= 0.01 * found.wall_s]
    rest = found.wall_s - sum(seconds for _, seconds in shown)
    told = [f"{show_percent(seconds / found.wall_s)} {name}" for name, seconds in shown]
    told += [f"{show_percent(rest / found.wall_s)} other"] if rest >= 0.005 * found.wall_s else []
    return ", ".join(told)


def _show_finding(number: int, finding: "Finding", wall_s: float) -> None:
    from sparkcast.units import show_seconds

    cost = (
        f"{show_seconds(finding.cost_s)} ({show_percent(finding.cost_s / wall_s)})"
        if finding.cost_s
        else f"{_hours(finding.cost_core_hours)} core-hours"
    )
    tell(f"{number}. {finding.name}, {cost}: {finding.problem}", hang="   ")
    tell(f"   fix: {finding.fix}", hang="  ")


def _show_parts(found: "Profile") -> None:
    rows = [
        (name, f"{seconds:.1f}", show_percent(seconds / found.wall_s, 3))
        for name, seconds in sorted(found.parts.items(), key=lambda part: -part[1])
    ]
    total = sum(found.parts.values())
    table(
        "\nWhere the time went",
        ("part", "s", "share"),
        [*rows, ("together", f"{total:.1f}", show_percent(total / found.wall_s, 3))],
    )


def _show_stages(found: "Profile") -> None:
    ranked = sorted(found.stages, key=lambda stage: -stage.wall_s)[:_FEW_STAGES]
    rows = [
        (
            f"{stage.stage_id}{f'.{stage.attempt}' if stage.attempt else ''}",
            f"{stage.wall_s:.1f}",
            f"{stage.duration_s:.1f}",
            stage.n_tasks,
            f"{stage.median_task_s:.2f}",
            f"{stage.longest_task_s:.2f}",
            _largest(stage.parts),
            stage.short_name[:60],
        )
        for stage in ranked
    ]
    header = ("stage", "s", "duration (s)", "tasks", "median (s)", "longest (s)", "mostly", "name")
    more = len(found.stages) - len(ranked)
    title = "Stages by their part of the time" + (
        f" (the first {len(ranked)} of {len(found.stages)})" if more > 0 else ""
    )
    table(title, header, rows, optional=("name", "duration (s)", "median (s)"))


def _largest(parts: Mapping[str, float]) -> str:
    ranked = sorted(parts.items(), key=lambda part: -part[1])[:2]
    return ", ".join(name for name, seconds in ranked if seconds > 0)


# ---------------------------------------------------------------- two logs


def _show_comparison(found: "LogComparison", details: bool) -> None:
    from sparkcast.units import show_seconds

    before, after = found.before, found.after
    for one in (before, after):
        _show_head(one)
    word = "longer" if found.more_s >= 0 else "less"
    tell(f"The second takes {show_seconds(abs(found.more_s))} {word} ({show_percent(found.more_share, 3, sign=True)}).")
    _show_part_changes(found, details)
    _show_stage_changes(found, details)
    _show_setting_changes(found, details)
    gone = [one.name for one in before.findings if one.name not in {other.name for other in after.findings}]
    new = [one.name for one in after.findings if one.name not in {other.name for other in before.findings}]
    if gone or new:
        tell(f"findings: {', '.join([*(f'+ {name}' for name in new), *(f'- {name}' for name in gone)])}")
    if not details:
        tell("everything that changed: --details")


def _show_part_changes(found: "LogComparison", details: bool) -> None:
    ranked = sorted(found.parts.items(), key=lambda part: -abs(part[1]))
    if details:
        rows = [
            (n, f"{found.before.parts[n]:.1f}", f"{found.after.parts[n]:.1f}", f"{more:+.1f}") for n, more in ranked
        ]
        table("\nParts", ("part", "first (s)", "second (s)", "change (s)"), rows)
    else:
        tell(f"  by part: {_changes([(name, more) for name, more in ranked])}")


def _show_stage_changes(found: "LogComparison", details: bool) -> None:
    if details:
        rows = [
            (
                "-" if one.before_id is None else one.before_id,
                "-" if one.after_id is None else one.after_id,
                f"{one.before_s:.1f}",
                f"{one.after_s:.1f}",
                f"{one.more_s:+.1f}",
                one.short_name[:60],
            )
            for one in found.stages[:_FEW_STAGES]
        ]
        header = ("first", "second", "first (s)", "second (s)", "change (s)", "name")
        table("Stages (outside of stages: " + f"{found.outside_stages_s:+.1f} s)", header, rows, optional=("name",))
        return
    changes = [(f"{_pair(one.before_id, one.after_id)} ({one.short_name[:40]})", one.more_s) for one in found.stages]
    tell(f"  by stage: {_changes([*changes[:_FEW_CHANGES], ('outside of stages', found.outside_stages_s)])}")


def _pair(before: int | None, after: int | None) -> str:
    if before is None or after is None:
        return f"stage {after} is new" if before is None else f"stage {before} is gone"
    return f"stage {after}" if before == after else f"stage {before} -> {after}"


def _changes(changes: Sequence[tuple[str, float]]) -> str:
    told = [f"{name} {more:+.1f} s" for name, more in changes if abs(more) >= 0.05]
    return ", ".join(told[: _FEW_CHANGES + 1]) or "no change"


def _show_setting_changes(found: "LogComparison", details: bool) -> None:
    if not found.settings:
        tell("  settings: the same")
        return
    shown = found.settings if details else found.settings[:_FEW_CHANGES]
    if details:
        rows = [(one.name, one.before or "(not set)", one.after or "(not set)") for one in shown]
        table("Settings that differ", ("setting", "first", "second"), rows)
        return
    told = [f"{one.name} {one.before[:30] or '(not set)'} -> {one.after[:30] or '(not set)'}" for one in shown]
    more = len(found.settings) - len(shown)
    tell(f"  settings: {'; '.join(told)}" + (f"; {more} more" if more else ""))
