"""One application: where its time went, its stages and jobs, its tasks by executor, and how full its slots were."""

import heapq
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sparkcast.eventlogs import LogRead
from sparkcast.facts import AppFacts, Attribution
from sparkcast.report.figures._figure import NARROW_PX, Figure, FigureSection, Row, Spec, figure, thin, thinned
from sparkcast.report.figures._style import BLUE, GRAY, GREEN, ORANGE, RED, finish, inline, the_rows
from sparkcast.study.application import Part

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_MOST_STAGES, _MOST_TASKS, _MOST_LANES, _MOST_MOMENTS = 40, 2000, 64, 400
# Work, its overhead, waiting, waste: kinds of time have kinds of colors.
_COLORS = {
    Part.BEFORE_FIRST_JOB: "#c7ccd3",
    Part.DRIVER_ONLY: GRAY,
    Part.NO_EXECUTORS: "#5d646e",
    Part.TO_LAUNCH: "#8f7a5c",
    Part.SCHEDULING: "#b08f26",
    Part.SERIALIZATION: "#d9b84a",
    Part.CPU: GREEN,
    Part.GC: "#b65fa8",
    Part.FETCH_WAIT: "#3aa6b0",
    Part.SHUFFLE_WRITE: BLUE,
    Part.SPILL: "#d46a9f",
    Part.UNINSTRUMENTED: "#7a74c9",
    Part.SLOW_TASKS: ORANGE,
    Part.IDLE: "#f0c08a",
    Part.LOST: RED,
}
_SECONDS = "s since the application began"


def application_figures(log: LogRead, facts: AppFacts) -> list[Figure]:
    """All figures of one log, in reading order."""
    found = facts.attribution
    drawn = (attribution_bar(facts), stage_timeline(log, facts), task_gantt(log, found), slot_usage(log, found))
    return [one for one in drawn if one is not None]


def attribution_bar(facts: AppFacts) -> Figure:
    """One bar as long as the application, divided among the parts."""
    rows: list[Row] = []
    begun = 0.0
    for part in Part:
        seconds = facts.parts[part]
        if seconds > 0.0005 * facts.span.wall_s:
            share = 100 * seconds / facts.span.wall_s
            rows.append(
                {"part": part.value, "start": begun, "end": begun + seconds, "seconds": seconds, "percent": share}
            )
            begun += seconds
    return figure(
        "attribution",
        FigureSection.RESULTS,
        "Where the time went",
        f"All {facts.span.wall_s:.1f} s of the application. Each moment is divided among the slots there were, "
        "and each slot's "
        "piece goes to what its task spent its time on; the parts add up to the whole.",
        rows,
        lambda width: _draw_bar(rows, width),
        heads={"start": "from (s)", "end": "to (s)"},
    )


def _draw_bar(rows: Sequence[Row], width: int) -> Spec:
    import altair as alt

    names = [str(row["part"]) for row in rows]
    colors = [_COLORS[Part(name)] for name in names]
    legend = alt.Legend(columns=1 if width <= NARROW_PX else 4)
    chart = (
        alt.Chart(the_rows())
        .mark_bar(height=46)
        .encode(
            x=alt.X("start:Q", title="time (s)", scale=alt.Scale(nice=False)),
            x2=alt.X2("end:Q"),
            color=alt.Color(
                "part:N", title=None, sort=names, scale=alt.Scale(domain=names, range=colors), legend=legend
            ),
            tooltip=["part:N", alt.Tooltip("seconds:Q", format=".1f"), alt.Tooltip("percent:Q", format=".1f")],
        )
        .properties(height=60)
    )
    return finish(chart, width, rows)


def stage_timeline(log: LogRead, facts: AppFacts) -> Figure | None:
    """Stages over time, with bands for the jobs; the longest ones when there are many."""
    stages = sorted(facts.stages, key=lambda stage: -stage.duration_s)[:_MOST_STAGES]
    if not stages:
        return None
    rows: list[Row] = [
        {
            "stage": f"{stage.stage_id}{f'.{stage.attempt}' if stage.attempt else ''} {stage.short_name[:28]}",
            "start": stage.started_s,
            "end": stage.started_s + stage.duration_s,
            "tasks": stage.n_tasks,
        }
        for stage in sorted(stages, key=lambda stage: (stage.started_s, stage.key))
    ]
    began = log.application.started_ms or min(job.submitted_ms for job in log.jobs)
    bands = _bands([(job.submitted_ms - began, job.completed_ms - began) for job in log.jobs if job.completed_ms])
    shown = f" Shown: the {len(stages)} longest of {len(facts.stages)}." if len(stages) < len(facts.stages) else ""
    return figure(
        "stages",
        FigureSection.RESULTS,
        "Stages and jobs over time",
        f"One line for each stage, from its submission to its end. Gray bands are jobs: between them only the "
        f"driver works.{shown}",
        rows,
        lambda width: _draw_stages(rows, bands, width),
        heads={"start": "from (s)", "end": "to (s)"},
    )


def _bands(jobs: Sequence[tuple[int, int]]) -> list[Row]:
    """Times, in s, at which at least one job runs."""
    joined: list[list[int]] = []
    for start, end in sorted(jobs):
        if joined and start <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([start, end])
    return [{"start": start / 1e3, "end": end / 1e3} for start, end in joined]


def _draw_stages(rows: Sequence[Row], bands: Sequence[Row], width: int) -> Spec:
    import altair as alt

    x = alt.X("start:Q", title=_SECONDS, scale=alt.Scale(nice=False))
    behind = alt.Chart(inline(bands)).mark_rect(color=GRAY, opacity=0.18).encode(x=x, x2=alt.X2("end:Q"))
    order = [str(row["stage"]) for row in rows]
    bars = (
        alt.Chart(the_rows())
        .mark_bar(color=BLUE, minBandSize=2)
        .encode(
            x=x,
            x2=alt.X2("end:Q"),
            y=alt.Y("stage:N", sort=order, title=None),
            tooltip=[alt.Tooltip("stage:N"), alt.Tooltip("tasks:Q")],
        )
    )
    return finish(alt.layer(behind, bars).properties(height=max(18 * len(rows), 60)), width, rows)


def task_gantt(log: LogRead, found: Attribution) -> Figure | None:
    """Every task as a line in the slot that ran it."""
    n_tasks = len(log.tasks)
    if not n_tasks:
        return None
    executors, times = [str(name) for name in log.tasks.text("executor")], found.times
    room = {one.executor.executor_id: int(one.n) for one in found.slots}
    lanes, label = _lanes(times.launch, times.finish, executors, room)
    order = sorted(dict.fromkeys(label), key=_executor_order)
    kept = set(order[:_MOST_LANES])
    rows: list[Row] = [
        {
            "slot": label[row],
            "start": (int(times.launch[row]) - found.span.start_ms) / 1e3,
            "end": (int(times.finish[row]) - found.span.start_ms) / 1e3,
            "kind": "lost or repeated" if times.is_lost[row] else "useful",
        }
        for row in lanes
        if label[row] in kept
    ]
    drawn = list(thin(rows, _MOST_TASKS))
    slots = [name for name in order if name in kept]
    return figure(
        "tasks",
        FigureSection.RESULTS,
        "Tasks by executor",
        f"One line for each slot of each executor (executor.slot), with its "
        f"tasks.{thinned(len(drawn), n_tasks, 'tasks')}",
        drawn,
        lambda width: _draw_gantt(drawn, slots, width),
        heads={"start": "from (s)", "end": "to (s)"},
    )


def _lanes(
    launch: Integers, finish: Integers, executors: Sequence[str], room: Mapping[str, int]
) -> tuple[list[int], list[str]]:
    """Rows in the order of their launch, and for each the first slot of its executor that is free."""
    rows = [int(row) for row in np.argsort(launch, kind="stable")]
    free: dict[str, list[int]] = {}
    busy: dict[str, list[tuple[int, int]]] = {}
    label = [""] * len(rows)
    for row in rows:
        name = executors[row]
        lanes, running = free.setdefault(name, []), busy.setdefault(name, [])
        while running and running[0][0] <= launch[row]:
            heapq.heappush(lanes, heapq.heappop(running)[1])
        if not lanes and len(running) >= room.get(name, len(running) + 1):
            # The driver hears of the end of a task some ms after its slot has begun the next one.
            heapq.heappush(lanes, heapq.heappop(running)[1])
        lane = heapq.heappop(lanes) if lanes else len(running)
        heapq.heappush(running, (int(finish[row]), lane))
        label[row] = f"{name}.{lane + 1}"
    return rows, label


def _executor_order(slot: str) -> tuple[int, str, int]:
    name, _, lane = slot.rpartition(".")
    return (int(name) if name.isdigit() else -1, name, int(lane))


def _draw_gantt(rows: Sequence[Row], slots: Sequence[str], width: int) -> Spec:
    import altair as alt

    colors = alt.Scale(domain=["useful", "lost or repeated"], range=[BLUE, RED])
    chart = (
        alt.Chart(the_rows())
        .mark_bar(stroke="white", strokeWidth=0.4)
        .encode(
            x=alt.X("start:Q", title=_SECONDS, scale=alt.Scale(nice=False)),
            x2=alt.X2("end:Q"),
            y=alt.Y("slot:N", sort=list(slots), title="executor and slot"),
            color=alt.Color("kind:N", title=None, scale=colors),
        )
        .properties(height=max(14 * len(slots), 110))
    )
    return finish(chart, width, rows)


def slot_usage(log: LogRead, found: Attribution) -> Figure | None:
    """How many tasks ran, and how many could have."""
    if not len(log.tasks):
        return None
    span, times = found.span, found.times
    moments = np.linspace(span.start_ms, span.end_ms, _MOST_MOMENTS, dtype=np.float64)
    running = _at(moments, times.launch, times.finish, np.ones(len(times.launch)))
    starts, ends = (np.array([getattr(one, name) for one in found.slots]) for name in ("start_ms", "end_ms"))
    slots = _at(moments, starts, ends, np.array([one.n for one in found.slots]))
    rows: list[Row] = [
        {"time": float((at - span.start_ms) / 1e3), "running": float(busy), "slots": float(there)}
        for at, busy, there in zip(moments, running, slots, strict=True)
    ]
    return figure(
        "slots",
        FigureSection.RESULTS,
        "Running tasks against slots",
        "Filled: tasks that run. Line: slots of the executors there are at that time. What lies between them "
        "is paid for and idle.",
        rows,
        lambda width: _draw_slots(rows, width),
        heads={"time": "s", "running": "tasks that run", "slots": "slots"},
    )


def _at(moments: Floats, starts: Integers, ends: Integers, weights: Floats) -> Floats:
    """The sum of weights between their starts and ends, at each moment."""
    begun, over = np.argsort(starts), np.argsort(ends)
    more = np.concatenate([[0.0], np.cumsum(weights[begun])])[np.searchsorted(starts[begun], moments, "right")]
    less = np.concatenate([[0.0], np.cumsum(weights[over])])[np.searchsorted(ends[over], moments, "right")]
    return np.asarray(more - less, dtype=np.float64)


def _draw_slots(rows: Sequence[Row], width: int) -> Spec:
    import altair as alt

    x = alt.X("time:Q", title=_SECONDS, scale=alt.Scale(nice=False))
    title = "tasks that run, and slots"
    area = alt.Chart(the_rows()).mark_area(color=BLUE, opacity=0.7, interpolate="step-after")
    line = alt.Chart(the_rows()).mark_line(color=ORANGE, strokeWidth=2, interpolate="step-after")
    layers = (
        area.encode(x=x, y=alt.Y("running:Q", title=title, axis=alt.Axis(tickMinStep=1))),
        line.encode(x=x, y=alt.Y("slots:Q", title=title)),
    )
    return finish(alt.layer(*layers).properties(height=220), width, rows)
