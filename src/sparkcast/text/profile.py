"""Where the time of a run went, in words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from sparkcast.text._page import Page
from sparkcast.units import show_percent

if TYPE_CHECKING:
    from sparkcast.profile import Finding, LogComparison, Profile

_NUMBERS = dict(enumerate(("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), 2))
_FEW_FINDINGS, _FEW_PARTS, _FEW_CHANGES, _FEW_STAGES = 3, 6, 4, 30
_LONGEST_NAME, _FEW_SHOWN = 48, 2
_FEW_QUERIES, _FEW_OPERATORS, _LEAST_SHARE = 10, 8, 0.01


def write(page: Page, found: "Profile") -> None:
    details = page.details
    page.tell(f"{_headline(found)}{_promise(found.findings)}.")
    _say_partial(page, found)
    page.labeled(list(_labeled(found)))
    if details:
        _show_parts(page, found)
        _show_queries(page, found)
        _show_stages(page, found)
    shown = found.findings if details else found.findings[:_FEW_FINDINGS]
    for number, finding in enumerate(shown, 1):
        _show_finding(page, number, finding, found.wall_s)
    if not details:
        more = len(found.findings) - len(shown)
        rest = f"{more} more findings and " if more > 0 else ""
        page.tell(f"Next: add `.text(details=True)` for {rest}all parts and stages.")


def _headline(found: "Profile") -> str:
    from sparkcast.units import show_seconds

    name, took = found.name or found.app_id, show_seconds(found.wall_s)
    if found.outcome != "ok":
        return f"{name} failed after {took}: {found.cause}"
    if found.is_interactive:
        return f"{name}, an interactive session, was open for {took}"
    return f"{name} took {took}" if found.status == "ok" else f"{name} ran for {took} as far as the log goes"


def _promise(findings: "Sequence[Finding]") -> str:
    """What changes could bring, after the headline."""
    saving = [one for one in findings if not one.is_failure]
    if not findings:
        return "; no change is worth making"
    if not saving:
        return ""
    memory = [one for one in saving if one.name == "unused-memory"]
    kinds = [
        *(["time"] if any(one.cost_s for one in saving) else []),
        *(["core-hours"] if any(not one.cost_s for one in saving if one not in memory) else []),
        *(["memory"] if memory else []),
    ]
    changes = "one change" if len(saving) == 1 else f"{_NUMBERS.get(len(saving), len(saving))} changes"
    return f"; {changes} could save {' and '.join(kinds)}"


def _labeled(found: "Profile") -> "Iterator[tuple[str, str]]":
    attempt = f" attempt {found.attempt_id}" if found.attempt_id else ""
    yield "App", f"{found.app_id}{attempt}, Spark {found.spark_version}"
    cores = found.core_hours
    cluster = "local mode" if found.is_local else _n(cores.n_executors, "executor")
    yield "Work", f"{_n(found.n_jobs, 'job')}, {_n(found.n_tasks, 'task')} on {_n(found.n_slots, 'slot')} ({cluster})"
    yield "Time", _main_parts(found)
    if queries := _main_operators(found):
        yield "SQL", queries
    yield (
        "Core-hours",
        (
            f"{_hours(cores.paid)} allocated, {_hours(cores.in_tasks)} used by tasks{_of(cores.in_tasks, cores.paid)}, "
            f"{_hours(cores.cpu)} on CPU{_of(cores.cpu, cores.paid)}"
        ),
    )
    if found.alternative is not None:
        from sparkcast.replay import compared, executors_of

        yield "What if", f"{executors_of(found.alternative)}: {compared(found.alternative)} (replayed; see whatif)"


def _of(part: float, whole: float) -> str:
    return f" ({show_percent(part / whole)})" if whole > 0 else ""


def _say_partial(page: Page, found: "Profile") -> None:
    if found.status != "ok":
        page.say(f"{found.status}: {found.reason}")


def _n(count: float, noun: str) -> str:
    return f"{count:,.0f} {noun}" + ("" if count == 1 else "s")


def _hours(hours: float) -> str:
    return f"{hours:,.2f}" if hours >= 0.1 else f"{hours:.4f}"


def _main_parts(found: "Profile") -> str:
    """The largest parts, and how much is left."""
    ranked = sorted(found.parts.items(), key=lambda part: -part[1])
    shown = [part for part in ranked[:_FEW_PARTS] if part[1] >= 0.01 * found.wall_s]
    rest = found.wall_s - sum(seconds for _, seconds in shown)
    told = [f"{100 * seconds / found.wall_s:.0f}% {name}" for name, seconds in shown]
    told += [f"{100 * rest / found.wall_s:.0f}% other"] if rest >= 0.005 * found.wall_s else []
    return ", ".join(told)


def _main_operators(found: "Profile") -> str:
    """How much of the time queries take, and the operators that take most of it."""
    queries = found.queries.queries
    spent = sum(query.wall_s for query in queries)
    if spent < _LEAST_SHARE * found.wall_s:
        return ""
    lines = sorted((line for query in queries for line in query.operators), key=lambda line: -line.wall_s)
    shown = [line for line in lines[:_FEW_SHOWN] if line.wall_s >= _LEAST_SHARE * found.wall_s]
    told = [f"{show_percent(line.wall_s / found.wall_s)} {line.operator}" for line in shown]
    which = "1 query" if len(queries) == 1 else f"{len(queries):,} queries"
    return f"{show_percent(spent / found.wall_s)} in {which}" + (f"; largest: {', '.join(told)}" if told else "")


def _show_finding(page: Page, number: int, finding: "Finding", wall_s: float) -> None:
    page.tell(f"{number}. {finding.name}{_saving(finding, wall_s)}", hang="   ")
    page.tell(f"   {finding.problem}", hang="")
    page.tell(f"   Fix: {finding.fix}", hang="")


def _saving(finding: "Finding", wall_s: float) -> str:
    from sparkcast.units import show_seconds

    verb = "it cost" if finding.is_failure else "could save up to"
    if finding.cost_s:
        return f": {verb} {show_seconds(finding.cost_s)} ({show_percent(finding.cost_s / wall_s)})"
    if not finding.cost_core_hours:
        return ""
    like = "the equivalent of " if finding.name == "unused-memory" else ""
    return f": could save {like}{_hours(finding.cost_core_hours)} core-hours"


def _show_parts(page: Page, found: "Profile") -> None:
    rows = [
        (name, f"{seconds:.1f}", show_percent(seconds / found.wall_s, 3))
        for name, seconds in sorted(found.parts.items(), key=lambda part: -part[1])
    ]
    total = sum(found.parts.values())
    page.table(
        "\nWhere the time went",
        ("part", "s", "share"),
        [*rows, ("total", f"{total:.1f}", show_percent(total / found.wall_s, 3))],
    )


def _show_queries(page: Page, found: "Profile") -> None:
    """SQL queries, each with its operators; with the rest, they are all of the time."""
    ranked = sorted(found.queries.queries, key=lambda query: -query.wall_s)
    shown = [query for query in ranked if query.wall_s >= _LEAST_SHARE * found.wall_s][:_FEW_QUERIES]
    if not shown:
        return
    rows = []
    for query in shown:
        about = " ".join(query.description.split())[:40]
        rows.append((f"query {query.query_id}", *_spent(query.wall_s, query.core_s, found), "", about))
        lines = [line for line in query.operators if line.wall_s >= _LEAST_SHARE * found.wall_s][:_FEW_OPERATORS]
        for line in lines:
            kind = "" if line.is_measured else " *"
            rows.append(("", *_spent(line.wall_s, line.core_s, found), _listed(line.stage_ids), line.operator + kind))
        rest_s = query.stages_s - sum(line.wall_s for line in lines)
        rest_core_s = query.core_s - sum(line.core_s for line in lines)
        if rest_s >= 0.05:
            rows.append(("", *_spent(rest_s, rest_core_s, found), "", "other operators"))
        if query.driver_s >= 0.05:
            rows.append(("", *_spent(query.driver_s, 0.0, found), "", "driver: planning, committing"))
    others = [query for query in ranked if query not in shown]
    if others:
        spent = _spent(sum(one.wall_s for one in others), sum(one.core_s for one in others), found)
        rows.append((f"{len(others):,} more", *spent, "", "queries"))
    rows.append(
        ("outside", *_spent(found.queries.outside_s, found.queries.outside_core_s, found), "", "of SQL queries")
    )
    header = ("query", "s", "share", "core-s", "stages", "operator")
    page.table("Queries and operators (* a pipeline, with its waiting: only its main operator is named)", header, rows)


def _spent(wall_s: float, core_s: float, found: "Profile") -> tuple[str, str, str]:
    return f"{wall_s:.1f}", show_percent(wall_s / found.wall_s, 3), f"{core_s:.1f}"


def _listed(stage_ids: Sequence[int]) -> str:
    """`3`, or `3, 5, +2`."""
    shown = ", ".join(map(str, stage_ids[:2]))
    return f"{shown}, +{len(stage_ids) - 2}" if len(stage_ids) > 2 else shown


def _show_stages(page: Page, found: "Profile") -> None:
    ranked = sorted(found.stages, key=lambda stage: -stage.wall_s)[:_FEW_STAGES]
    rows = [
        (
            f"{stage.stage_id}{f'.{stage.attempt}' if stage.attempt else ''}",
            f"{stage.wall_s:.1f}",
            f"{stage.duration_s:.1f}",
            stage.n_tasks,
            f"{stage.median_task_s:.2f}",
            f"{stage.longest_task_s:.2f}",
            (stage.operator or stage.short_name)[:_LONGEST_NAME],
            _largest(stage.parts),
        )
        for stage in ranked
    ]
    header = ("stage", "s", "duration (s)", "tasks", "median (s)", "longest (s)", "name", "mostly")
    more = len(found.stages) - len(ranked)
    title = "Stages by share of run time" + (f" (the first {len(ranked)} of {len(found.stages)})" if more > 0 else "")
    page.table(title, header, rows, optional=("mostly", "duration (s)", "median (s)"))


def _largest(parts: Mapping[str, float]) -> str:
    ranked = sorted(parts.items(), key=lambda part: -part[1])[:2]
    return ", ".join(name for name, seconds in ranked if seconds > 0)


def write_comparison(page: Page, found: "LogComparison") -> None:
    details = page.details
    from sparkcast.units import show_seconds

    before, after = found.before, found.after
    for one in (before, after):
        page.tell(f"{_headline(one)} ({one.app_id}).")
        _say_partial(page, one)
    word = "longer" if found.more_s >= 0 else "less"
    page.tell(
        f"The second takes {show_seconds(abs(found.more_s))} {word} ({show_percent(found.more_share, 3, sign=True)})."
    )
    _show_part_changes(page, found, details)
    _show_stage_changes(page, found, details)
    _show_setting_changes(page, found, details)
    gone = [one.name for one in before.findings if one.name not in {other.name for other in after.findings}]
    new = [one.name for one in after.findings if one.name not in {other.name for other in before.findings}]
    if gone or new:
        page.tell(f"findings: {', '.join([*(f'+ {name}' for name in new), *(f'- {name}' for name in gone)])}")
    if not details:
        page.tell("Next: add `.text(details=True)` for everything that changed.")


def _show_part_changes(page: Page, found: "LogComparison", details: bool) -> None:
    ranked = sorted(found.parts.items(), key=lambda part: -abs(part[1]))
    if details:
        rows = [
            (n, f"{found.before.parts[n]:.1f}", f"{found.after.parts[n]:.1f}", f"{more:+.1f}") for n, more in ranked
        ]
        page.table("\nParts", ("part", "first (s)", "second (s)", "change (s)"), rows)
    else:
        page.tell(f"  by part: {_changes([(name, more) for name, more in ranked])}")


def _show_stage_changes(page: Page, found: "LogComparison", details: bool) -> None:
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
        page.table(
            "Stages (outside of stages: " + f"{found.outside_stages_s:+.1f} s)", header, rows, optional=("name",)
        )
        return
    changes = [(f"{_pair(one.before_id, one.after_id)} ({one.short_name[:40]})", one.more_s) for one in found.stages]
    page.tell(f"  by stage: {_changes([*changes[:_FEW_CHANGES], ('outside of stages', found.outside_stages_s)])}")


def _pair(before: int | None, after: int | None) -> str:
    if before is None or after is None:
        return f"stage {after} is new" if before is None else f"stage {before} is gone"
    return f"stage {after}" if before == after else f"stage {before} -> {after}"


def _changes(changes: Sequence[tuple[str, float]]) -> str:
    told = [f"{name} {more:+.1f} s" for name, more in changes if abs(more) >= 0.05]
    return ", ".join(told[: _FEW_CHANGES + 1]) or "no change"


def _show_setting_changes(page: Page, found: "LogComparison", details: bool) -> None:
    if not found.settings:
        page.tell("  settings: the same")
        return
    shown = found.settings if details else found.settings[:_FEW_CHANGES]
    if details:
        rows = [(one.name, _value(one.before), _value(one.after)) for one in shown]
        page.table("Settings that differ", ("setting", "first", "second"), rows)
        return
    told = [f"{one.name} {_value(one.before)[:30]} -> {_value(one.after)[:30]}" for one in shown]
    more = len(found.settings) - len(shown)
    page.tell(f"  settings: {'; '.join(told)}" + (f"; {more} more" if more else ""))


def _value(value: str | None) -> str:
    """A property that is set to nothing is not one that is not set."""
    return "(not set)" if value is None else value or "(empty)"
