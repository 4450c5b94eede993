"""What was measured: runs, learning curves, and how busy the machine was."""

from statistics import fmean
from typing import Any

from sparkcast.report.figures._figure import NARROW_PX, Figure, FigureSection, Row, Spec, figure, thin, thinned
from sparkcast.report.figures._style import (
    INK,
    PALETTE,
    RED,
    configuration_axis,
    finish,
    level_axis,
    only,
    panels,
    response_axis,
    series_color,
    shown,
    the_rows,
)
from sparkcast.report.labels import axis_title, finite, in_order, ordered, plain_name, settings_title, short_settings
from sparkcast.study import Configuration, Dataset, Observation, Response
from sparkcast.study.application import EXIT, LAUNCH, PART_RESPONSES, Part

# The parts of a run's time in groups, as more than eight colors cannot be told apart.
_PART_GROUPS: dict[str, tuple[str, ...]] = {
    "start-up": (LAUNCH, Part.BEFORE_FIRST_JOB.response),
    "driver only": (Part.DRIVER_ONLY.response,),
    "CPU": (Part.CPU.response, Part.GC.response),
    "shuffle and spill": (Part.FETCH_WAIT.response, Part.SHUFFLE_WRITE.response, Part.SPILL.response),
    "I/O and other": (Part.UNINSTRUMENTED.response, Part.SCHEDULING.response, Part.SERIALIZATION.response),
    "idle or waiting slots": (
        *(Part.NO_EXECUTORS.response, Part.TO_LAUNCH.response),
        *(Part.SLOW_TASKS.response, Part.IDLE.response),
    ),
    "lost work": (Part.LOST.response,),
    "exit": (EXIT,),
}
_MOST_SERIES = 8  # more colors cannot be told apart
_MOST_RUNS, _MOST_LINES, _MOST_BARS = 1000, 60, 24


def results(data: Dataset, response: str) -> Figure | None:
    """Every run: the response against each factor, failures marked; None without runs."""
    rows = result_rows(data, response)
    if not rows or not data.factors:
        return None
    meaning = data.vocabulary.response(response)
    name, shown = plain_name(meaning), len(rows) // len(data.factors)
    failed = sum(not row["ok"] for row in rows) // len(data.factors)
    crosses = f" A cross at the top is a run that failed ({failed} did)." if failed else ""
    return figure(
        f"results-{response}",
        FigureSection.RESULTS,
        f"Measured {name} of every run",
        "One point per run, once in each panel; within a level, runs go from left to right in run "
        f"order.{crosses}{thinned(shown, len(_shown_runs(data, response)), 'runs')}",
        rows,
        lambda width: _draw_results(rows, data, response, width),
        response=response,
        heads={"value": axis_title(meaning)},
        values={"value": meaning},
    )


def result_rows(data: Dataset, response: str) -> tuple[Row, ...]:
    """One row per run and factor. A run that ended well but did not measure the response is left out.

    Columns have fixed names: a response's own name may hold what Vega-Lite reads as a path.
    """
    return tuple(
        {
            "factor": factor,
            "level": run.configuration[factor],
            "value": finite(run.responses[response]) if run.ok else None,
            "configuration": str(data.key(run)),
            "outcome": str(run.outcome),
            "ok": run.ok,
            "order": run.position or number,
        }
        for factor in data.factors
        for number, run in thin(_shown_runs(data, response), _MOST_RUNS)
    )


def _shown_runs(data: Dataset, response: str) -> list[tuple[int, Observation]]:
    numbered = enumerate(data.observations, start=1)
    return [(number, run) for number, run in numbered if not run.ok or response in run.responses]


def _draw_results(rows: tuple[Row, ...], data: Dataset, response: str, width: int) -> Spec:
    import altair as alt

    values = [value for row in rows if isinstance(value := row["value"], (int, float))]
    failed, meaning = any(not row["ok"] for row in rows), data.vocabulary.response(response)
    y = response_axis("value", meaning, [*values, *([max(values) * 1.15] if values and failed else [])], kind=alt.Y)
    if not values:
        y = alt.Y("value:Q", title=f"no {axis_title(meaning)} measured", axis=alt.Axis(labels=False, ticks=False))

    def panel(factor: str) -> Any:
        base = alt.Chart(the_rows()).transform_filter(only(factor))
        x = level_axis(data.vocabulary.setting(factor), data.levels(factor), gap=0.4)
        base = base.encode(x=x, xOffset=alt.XOffset("order:Q"), description=alt.Description("tip:N"))
        points = base.transform_filter("datum.ok").mark_point(filled=True, size=45, color=INK, opacity=0.75).encode(y=y)
        crosses = base.transform_filter("!datum.ok").mark_point(
            shape="M-.7,-1L0,-.3L.7,-1L1,-.7L.3,0L1,.7L.7,1L0,.3L-.7,1L-1,.7L-.3,0L-1,-.7Z",
            filled=True,
            size=90,
            color=RED,
            opacity=0.9,
        )
        return alt.layer(points, crosses.encode(y=alt.value(8)))

    drawn = panels([panel(factor) for factor in data.factors], width)
    # The room beside a level depends on how many levels a factor has; panels would share that of the first.
    told = [{**row, "tip": f"{row['configuration']}: {_came_of(row, meaning)}"} for row in rows]
    return finish(drawn.resolve_scale(xOffset="independent"), width, told)


def _came_of(row: Row, response: Response) -> str:
    return shown(response, row["value"]) if row["ok"] else str(row["outcome"])


def learning_curves(data: Dataset) -> Figure | None:
    """Accuracy over training time, one line per configuration; None when no run has such a curve."""
    rows, quality = learning_curve_rows(data), data.vocabulary.quality
    if not rows or quality is None:
        return None
    return figure(
        "learning-curves",
        FigureSection.RESULTS,
        "How fast each configuration learns",
        "One line per configuration, one point per epoch; the mean of its repeated runs.",
        rows,
        lambda width: _draw_learning_curves(rows, data, quality, width),
        response=quality,
        heads={"configuration": settings_title(data.factors), "training_s": "training time (s)"}
        | {"quality": axis_title(data.vocabulary.response(quality))}
        | {f"setting {name}": axis_title(data.vocabulary.setting(name)) for name in data.factors},
    )


def learning_curve_rows(data: Dataset) -> tuple[Row, ...]:
    """Mean time and quality after each epoch; an epoch counts where every repeated run has it."""
    quality = data.vocabulary.quality or ""
    groups: dict[Configuration, list[Observation]] = {}
    for run in data.observations:
        if run.ok and any(quality in epoch.values for epoch in run.curve):
            groups.setdefault(data.key(run), []).append(run)
    rows: list[Row] = []
    for key in thin(in_order(groups, data.factors), _MOST_LINES):
        runs = groups[key]
        curves = [
            {e.number: (e.time_s, e.values[str(quality)]) for e in run.curve if quality in e.values} for run in runs
        ]
        for number in sorted(set.intersection(*(set(curve) for curve in curves))):
            row: Row = {
                "configuration": short_settings(runs[0].configuration, data.factors),
                "epoch": number,
                "training_s": fmean(curve[number][0] for curve in curves),
                "quality": fmean(curve[number][1] for curve in curves),
                "runs": len(runs),
            }
            rows.append(row | {f"setting {name}": runs[0].configuration[name] for name in data.factors})
    return tuple(rows)


def _draw_learning_curves(rows: tuple[Row, ...], data: Dataset, quality: str, width: int) -> Spec:
    import altair as alt

    by, names = _series(rows, data)
    words, reached = data.vocabulary, [float(row["quality"] or 0.0) for row in rows]
    title = axis_title(words.setting(by.removeprefix("setting ")))
    title = settings_title(data.factors) if by == "configuration" else title
    series = [{**row, "series": str(row[by])} for row in rows]
    base = alt.Chart(the_rows()).encode(
        x=alt.X("training_s:Q", title="training time (s)", scale=alt.Scale(zero=True, nice=False)),
        y=response_axis("quality", words.response(quality), reached, kind=alt.Y),
        color=series_color("series", names, title, width),
        detail=alt.Detail("configuration:N"),
    )
    lines = base.mark_line(strokeWidth=2)
    points = base.mark_point(filled=True, size=40, opacity=1)
    return finish(alt.layer(lines, points).properties(height=260 if width > NARROW_PX else 220), width, series)


def _series(rows: tuple[Row, ...], data: Dataset) -> tuple[str, list[str]]:
    """What colors the lines: the configuration while there are few, else the first factor with few levels."""
    for column in ("configuration", *(f"setting {name}" for name in data.factors)):
        names = list(dict.fromkeys(str(row[column]) for row in rows))
        if len(names) <= _MOST_SERIES or column.removeprefix("setting ") == data.factors[-1]:
            if column != "configuration":
                levels = [str(level) for level in ordered(data.levels(column.removeprefix("setting ")))]
                names = [level for level in levels if level in names]
            return column, names
    return "configuration", []


def parts(data: Dataset) -> Figure | None:
    """Where the time of each configuration went; None without runs whose event logs show it."""
    rows, title = part_rows(data), settings_title(data.factors)
    if not rows:
        return None
    return figure(
        "parts",
        FigureSection.RESULTS,
        "Where the time went",
        "Mean over the runs of each configuration, from submitting the job to its exit. While stages run, each moment "
        "is divided equally among the slots of the executors; CPU includes garbage collection, and I/O and other is "
        "run time that no Spark metric explains.",
        rows,
        lambda width: _draw_parts(rows, title, width),
        heads={"configuration": title} | {label: f"{label} (s)" for label in _PART_GROUPS},
    )


def part_rows(data: Dataset) -> tuple[Row, ...]:
    """One row per configuration, one column per group of parts."""
    groups: dict[Configuration, list[Observation]] = {}
    for run in data.observations:
        if run.ok and all(part in run.responses for part in PART_RESPONSES if part != Part.TO_LAUNCH.response):
            groups.setdefault(data.key(run), []).append(run)
    return tuple(
        {
            "configuration": short_settings(runs[0].configuration, data.factors),
            **{
                label: fmean(
                    sum(run.responses.get(part, 0.0) for part in group) for run in runs
                )  # older runs lack a part
                for label, group in _PART_GROUPS.items()
            },
            "runs": len(runs),
        }
        for runs in (groups[key] for key in thin(in_order(groups, data.factors), _MOST_BARS))
    )


def _draw_parts(rows: tuple[Row, ...], title: str, width: int) -> Spec:
    import altair as alt

    labels = list(_PART_GROUPS)
    tall: list[Row] = [
        {"configuration": row["configuration"], "part": label, "order": order, "seconds": row[label]}
        for row in rows
        for order, label in enumerate(labels)
    ]
    chart = alt.Chart(the_rows()).mark_bar(size=14)
    chart = chart.encode(
        x=alt.X("seconds:Q", title="time (s)"),
        y=configuration_axis((row["configuration"] for row in rows), title),
        color=series_color("part", labels, "", width),
        order=alt.Order("order:Q"),
    )
    return finish(chart.properties(height=alt.Step(24)), width, tall)


def utilization(data: Dataset) -> Figure | None:
    """How busy the processors were in each configuration; None when nothing was sampled."""
    rows, title = utilization_rows(data), settings_title(data.factors)
    if not rows:
        return None
    return figure(
        "utilization",
        FigureSection.RESULTS,
        "How busy the machine was",
        "Mean share of processor time over the runs of each configuration. "
        "If the wait for I/O is long, more cores will not help.",
        rows,
        lambda width: _draw_utilization(rows, title, width),
        heads={"configuration": title},
    )


def utilization_rows(data: Dataset) -> tuple[Row, ...]:
    groups: dict[Configuration, list[Observation]] = {}
    for run in data.observations:
        if run.ok and run.utilization is not None:
            groups.setdefault(data.key(run), []).append(run)
    return tuple(
        {
            "configuration": short_settings(runs[0].configuration, data.factors),
            "cpu_percent": fmean(run.utilization.cpu_percent for run in runs if run.utilization),
            "iowait_percent": fmean(run.utilization.iowait_percent for run in runs if run.utilization),
            "runs": len(runs),
        }
        for runs in (groups[key] for key in thin(in_order(groups, data.factors), _MOST_BARS))
    )


def _draw_utilization(rows: tuple[Row, ...], title: str, width: int) -> Spec:
    import altair as alt

    kinds = {"cpu_percent": "computing", "iowait_percent": "waiting for I/O"}
    tall: list[Row] = [
        {"configuration": row["configuration"], "kind": kinds[kind], "percent": row[kind]}
        for row in rows
        for kind in kinds
    ]
    chart = alt.Chart(the_rows()).mark_bar(size=14)
    chart = chart.encode(
        x=alt.X("percent:Q", title="processor time (%)", scale=alt.Scale(domain=[0, 100])),
        y=configuration_axis((row["configuration"] for row in rows), title),
        color=alt.Color(
            "kind:N",
            title=None,
            sort=list(kinds.values()),
            scale=alt.Scale(domain=list(kinds.values()), range=list(PALETTE[:2])),
        ),
        order=alt.Order("kind:N"),
    )
    return finish(chart.properties(height=alt.Step(24)), width, tall)
