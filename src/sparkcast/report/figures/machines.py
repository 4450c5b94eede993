"""The machines of a run over time, with bands where stages ran (javaheri2021 drew such curves of its cluster)."""

import json
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.observe.series import rates
from sparkcast.report.figures._figure import NARROW_PX, Figure, FigureSection, Row, Spec, figure
from sparkcast.report.figures._style import BLUE, GRAY, GREEN, ORANGE, PALETTE, RED, finish, inline, only, the_rows
from sparkcast.study.series import HostSeries, RunSeries, StageSpan

_MOST_MOMENTS, _MOST_WORKERS, _MOST_BANDS = 300, 8, 60
_NARROWEST = 0.004  # of the picture's width: bands closer to each other than this become one
_MIB = 2**20
_SECONDS = "s since sampling began"
# Panels: their axis, and what each line shows, with its color and how much one unit of the axis is.
_Lines = Mapping[str, tuple[str, str, float]]
_CPU, _EACH, _MEMORY, _DISK, _NETWORK = (
    "CPU (%)",
    "CPU of each machine (%)",
    "memory (GiB)",
    "disk (MiB/s)",
    "net (MiB/s)",
)
_PANELS: dict[str, _Lines] = {
    _CPU: {
        "user": ("user_percent", GREEN, 1),
        "system": ("system_percent", ORANGE, 1),
        "waiting for I/O": ("iowait_percent", RED, 1),
    },
    _MEMORY: {"in use": ("memory_bytes", BLUE, 1024 * _MIB)},
    _DISK: {
        "read": ("disk_read_bytes_per_s", BLUE, _MIB),
        "written": ("disk_written_bytes_per_s", ORANGE, _MIB),
    },
    _NETWORK: {
        "in": ("network_in_bytes_per_s", BLUE, _MIB),
        "out": ("network_out_bytes_per_s", ORANGE, _MIB),
        "loopback": ("loopback_bytes_per_s", GRAY, _MIB),
    },
}


def machine_curves(run: RunSeries, name: str, title: str) -> Figure | None:
    """CPU, memory, disk and network over time, means of the machines that ran executors; None without samples."""
    workers = [host for host in run.workers if len(host) > 1]
    rows = curve_rows(workers)
    if not rows:
        return None
    begun = min(host.at_ms[0] for host in workers)
    end_s = max(float(str(row["time"])) for row in rows)
    bands = stage_bands(run.stages, begun, end_s)
    machines = f"the mean of {len(workers)} machines" if len(workers) > 1 else f"{workers[0].host}, all cores together"
    return figure(
        name,
        FigureSection.MACHINES,
        title,
        f"Sampled each second: {machines}. Gray bands: stages run, with their numbers where there is room; between "
        "them only the driver works, or Spark starts or ends.",
        rows,
        lambda width: _draw(rows, bands, end_s, width),
        heads={"time": _SECONDS},
    )


def curve_rows(workers: Sequence[HostSeries]) -> tuple[Row, ...]:
    """One row per moment, panel and line; at most so many moments, each the mean of the time since the one before."""
    if not workers:
        return ()
    start, end = min(host.at_ms[0] for host in workers), max(host.at_ms[-1] for host in workers)
    n = min(_MOST_MOMENTS, max(len(host) for host in workers) - 1)
    edges = np.linspace(start, end, n + 1, dtype=np.float64)
    seen = [rates(host, edges) for host in workers]
    time = (edges - start) / 1e3
    rows: list[Row] = []
    for panel, lines in _PANELS.items():
        for line, (rate, _, unit) in lines.items():
            values = np.mean([one[rate] for one in seen], axis=0) / unit
            rows += _rows(time, panel, line, values)
    if len(workers) > 1:
        for host, one in list(zip(workers, seen, strict=True))[:_MOST_WORKERS]:
            rows += _rows(time, _EACH, host.host, one["cpu_percent"])
    return tuple(rows)


def _rows(time: Floats, panel: str, line: str, values: Floats) -> list[Row]:
    """With the first value at the beginning as well, where curves start."""
    return [
        {"time": round(float(at), 3), "panel": panel, "line": line, "value": round(float(value), 4)}
        for at, value in zip(time, [values[0], *values], strict=True)
    ]


def stage_bands(
    stages: Sequence[StageSpan], begun_ms: int, end_s: float, narrowest: float = _NARROWEST
) -> tuple[Row, ...]:
    """Where stages ran; those that touch, or nearly do, are one band with the numbers of the first and the last."""
    gap, joined = narrowest * end_s, list[list[float]]()
    for stage in sorted(stages, key=lambda stage: stage.started_ms):
        start, end = (max(0.0, (at - begun_ms) / 1e3) for at in (stage.started_ms, stage.ended_ms))
        if joined and start <= joined[-1][1] + gap:
            joined[-1][1] = max(joined[-1][1], end)
            joined[-1][3] = stage.stage_id
        else:
            joined.append([start, end, stage.stage_id, stage.stage_id])
    if len(joined) > _MOST_BANDS:
        return stage_bands(stages, begun_ms, end_s, 2 * narrowest)
    return tuple(
        {"start": start, "end": min(end, end_s), "label": _label(int(first), int(last))}
        for start, end, first, last in joined
        if start < end_s
    )


def _label(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first}–{last}"


def _draw(rows: Sequence[Row], bands: Sequence[Row], end_s: float, width: int) -> Spec:
    import altair as alt

    inner = max(160, width - 84)
    scale = alt.Scale(domain=[0, end_s], nice=False)
    has_each = any(row["panel"] == _EACH for row in rows)
    order = [_CPU, *([_EACH] if has_each else []), *list(_PANELS)[1:]]
    shown = [band for band in bands if _has_room(band, end_s, inner)]

    def panel(name: str, is_first: bool, is_last: bool) -> Any:
        axis = alt.Axis(labels=is_last, ticks=is_last, title=_SECONDS if is_last else None)
        x = alt.X("time:Q", scale=scale, axis=axis)
        lines = list(dict.fromkeys(str(row["line"]) for row in rows if row["panel"] == name))
        colors = [_PANELS[name][line][1] if name in _PANELS else PALETTE[i % 8] for i, line in enumerate(lines)]
        legend = alt.Legend(
            orient="right" if width > NARROW_PX else "bottom", symbolType="square" if name == _CPU else "stroke"
        )
        color = alt.Color(
            "line:N",
            title=None,
            sort=list(lines),
            scale=alt.Scale(domain=lines, range=colors),
            legend=legend if len(lines) > 1 else None,
        )
        base = alt.Chart(the_rows()).transform_filter(only(name, "panel"))
        full = alt.Scale(domain=[0, 100]) if name in (_CPU, _EACH) else alt.Scale(zero=True)
        y = alt.Y("value:Q", title=name, scale=full, stack="zero" if name == _CPU else None)
        mark = (
            base.mark_area(opacity=0.75, interpolate="step-before") if name == _CPU else base.mark_line(strokeWidth=1.5)
        )
        behind = alt.Chart(inline(bands)).mark_rect(color=GRAY, opacity=0.2)
        drawn = mark.encode(x=x, y=y, color=color)
        if name == _CPU:  # stacked in the order of the legend, not of the alphabet
            drawn = drawn.encode(order=alt.Order("place:Q")).transform_calculate(place=_place(lines))
        layers = [behind.encode(x=alt.X("start:Q", scale=scale, axis=axis), x2=alt.X2("end:Q")), drawn]
        if is_first and shown:
            text = alt.Chart(inline({**band, "at": _middle(band)} for band in shown)).mark_text(
                baseline="bottom", dy=-3
            )
            layers.append(
                text.encode(x=alt.X("at:Q", scale=scale, axis=axis), y=alt.value(0), text=alt.Text("label:N"))
            )
        room = 92 if width > NARROW_PX else 0  # of the legend
        return alt.layer(*layers).properties(width=inner - room, height=110 if name == _CPU else 70)

    charts = [panel(name, name == order[0], name == order[-1]) for name in order]
    drawn = alt.concat(*charts, columns=1, spacing=8).resolve_scale(color="independent")
    return finish(drawn, width, rows)


def _place(lines: Sequence[str]) -> str:
    return f"indexof({json.dumps(lines)}, datum.line)"


def _has_room(band: Row, end_s: float, width: int) -> bool:
    """Whether its label fits into it, more or less."""
    length = (float(str(band["end"])) - float(str(band["start"]))) / end_s * width
    return length > 6 * len(str(band["label"]))


def _middle(band: Row) -> float:
    return fmean((float(str(band["start"])), float(str(band["end"]))))
