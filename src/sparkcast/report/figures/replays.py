"""Replays of an application: time and cost of other clusters, and the replayed tasks beside the measured ones."""

from collections.abc import Sequence

from sparkcast.errors import SparkcastError
from sparkcast.eventlogs import LogRead
from sparkcast.facts import AppFacts
from sparkcast.replay import Played, Recorded, Replayed, WhatIf, WhatIfQuestion, play, recorded, what_if
from sparkcast.report.figures._figure import NARROW_PX, Figure, FigureSection, Row, Spec, figure, thin, thinned
from sparkcast.report.figures._style import BLUE, GREEN, INK, finish, inline, the_rows
from sparkcast.study import Outcome

_MOST_TASKS, _MOST_LANES = 2000, 64
_SECONDS = "s since the application began"


def replays_of(log: LogRead, facts: AppFacts) -> list[Figure]:
    """Of an application that ended well; none where there is nothing to replay."""
    if not facts.is_complete or facts.outcome is not Outcome.OK or facts.is_interactive:
        return []
    try:
        source = recorded(log, facts)
        return replay_figures(what_if([source], WhatIfQuestion()), source)
    except SparkcastError:
        return []


def replay_figures(found: WhatIf, source: Recorded) -> list[Figure]:
    """All figures of a replay, in reading order."""
    drawn = (replay_curves(found), replay_gantt(source))
    return [one for one in drawn if one is not None]


def replay_curves(found: WhatIf) -> Figure | None:
    """Time with its interval and cost, against executors; against cores where only these vary."""
    if len({one.slots for one in found.configurations}) < 2:
        return None
    by_cores = len({one.executors for one in found.configurations}) == 1
    with_cost = found.measured.cost is not None
    spend = f"cost ({found.currency})" if with_cost else "core-hours"
    rows = [_row(one, found, by_cores, with_cost) for one in found.configurations]
    axis = "cores of an executor" if by_cores else "executors"
    return figure(
        "whatif",
        FigureSection.RESULTS,
        "Time and cost of other clusters",
        "Replayed time with the interval of 90% of runs, and what the executors cost. Rings: as measured and, "
        "green, the knee, the fewest slots within 10% of the fastest.",
        rows,
        lambda width: _draw_curves(rows, _marks(found, by_cores), axis, spend, width),
        heads={"n": axis, "time": "time (s)", "low": "from (s)", "high": "to (s)", "spent": spend},
    )


def _row(one: Replayed, found: WhatIf, by_cores: bool, with_cost: bool) -> Row:
    return {
        "n": one.cores if by_cores else one.executors,
        "series": _count(one.executors, "executor") if by_cores else _count(one.cores, "core"),
        "time": one.time_s,
        "low": one.low_s,
        "high": one.high_s,
        "spent": (one.cost or 0.0) if with_cost else one.core_hours,
    }


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _marks(found: WhatIf, by_cores: bool) -> list[Row]:
    marks: list[Row] = []
    for kind, one in (("as measured", found.measured), ("knee", found.knee)):
        if one is not None:
            marks.append({"n": one.cores if by_cores else one.executors, "time": one.time_s, "kind": kind})
    return marks


def _draw_curves(rows: Sequence[Row], marks: Sequence[Row], axis: str, spend: str, width: int) -> Spec:
    import altair as alt

    x = alt.X("n:Q", title=axis, scale=alt.Scale(nice=False, padding=12))
    color = alt.Color("series:N", title=None, sort=None)
    base = alt.Chart(the_rows())
    band = base.mark_area(opacity=0.2).encode(x=x, y=alt.Y("low:Q", title="time (s)"), y2="high:Q", color=color)
    line = base.mark_line(point=True).encode(x=x, y=alt.Y("time:Q", title="time (s)"), color=color)
    kinds = alt.Scale(domain=["as measured", "knee"], range=[INK, GREEN])
    points = (
        alt.Chart(inline(marks))
        .mark_point(size=140, filled=False, strokeWidth=3)
        .encode(x="n:Q", y="time:Q", stroke=alt.Stroke("kind:N", title=None, scale=kinds))
    )
    cost = base.mark_line(point=True, strokeDash=[4, 3]).encode(x=x, y=alt.Y("spent:Q", title=spend), color=color)
    wide = width if width <= NARROW_PX else width - 120
    upper = alt.layer(band, line, points).properties(width=wide - 60, height=220)
    chart = alt.vconcat(upper, cost.properties(width=wide - 60, height=120))
    return finish(chart, width, rows)


def replay_gantt(source: Recorded) -> Figure | None:
    """The tasks as measured and as replayed on the same executors."""
    played = play(source.work, source.cluster, record=True)
    if not played.tasks:
        return None
    rows = [*_measured_rows(source), *_replayed_rows(played)]
    drawn = list(thin(rows, _MOST_TASKS))
    error = played.wall_s / source.facts.span.wall_s - 1
    return figure(
        "replayed-tasks",
        FigureSection.RESULTS,
        "Measured and replayed tasks",
        f"Above as measured, below as replayed on the same executors, one line for each executor. The replay takes "
        f"{played.wall_s:.1f} s, {100 * error:+.1f}%.{thinned(len(drawn), len(rows), 'tasks')}",
        drawn,
        lambda width: _draw_gantt(drawn, width),
        heads={"start": "from (s)", "end": "to (s)"},
    )


def _measured_rows(source: Recorded) -> list[Row]:
    facts, tasks = source.facts, source.log.tasks
    times = facts.attribution.times
    rows: list[Row] = []
    starts, ends = ((moments - facts.span.start_ms) / 1e3 for moments in (times.launch, times.finish))
    for name, start, end in zip(tasks.text("executor"), starts.tolist(), ends.tolist(), strict=True):
        rows.append({"which": "measured", "executor": str(name), "start": start, "end": end})
    return _shown(rows)


def _replayed_rows(played: Played) -> list[Row]:
    return _shown(
        [
            {"which": "replayed", "executor": str(one.node + 1), "start": one.launch_s, "end": one.finish_s}
            for one in played.tasks
        ]
    )


def _shown(rows: list[Row]) -> list[Row]:
    kept = set(sorted({str(row["executor"]) for row in rows}, key=lambda name: (len(name), name))[:_MOST_LANES])
    return [row for row in rows if row["executor"] in kept]


def _draw_gantt(rows: Sequence[Row], width: int) -> Spec:
    import altair as alt

    charts = []
    latest = max(float(str(row["end"])) for row in rows)
    for which, color in (("measured", INK), ("replayed", BLUE)):
        own = [row for row in rows if row["which"] == which]
        names = sorted({str(row["executor"]) for row in own}, key=lambda name: (len(name), name))
        charts.append(
            alt.Chart(the_rows())
            .transform_filter(alt.datum.which == which)
            .mark_bar(color=color, opacity=0.6, stroke="white", strokeWidth=0.3)
            .encode(
                x=alt.X("start:Q", title=_SECONDS, scale=alt.Scale(domain=[0, latest], nice=False)),
                x2=alt.X2("end:Q"),
                y=alt.Y("executor:N", sort=names, title=f"{which}: executor"),
            )
            .properties(width=(width if width <= NARROW_PX else width - 120) - 60, height=max(14 * len(names), 60))
        )
    return finish(alt.vconcat(*charts), width, rows)
