"""What a model says between and beyond the measured settings."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil, nan
from textwrap import fill
from typing import Any

from sparkcast.models import Fitted
from sparkcast.report.figures._figure import NARROW_PX, Figure, FigureSection, Row, Spec, figure, thin
from sparkcast.report.figures._frame import cut_off, framed, whole_scale
from sparkcast.report.figures._style import (
    BLUE,
    GRAY,
    finish,
    inline,
    numbers,
    only,
    panel_title,
    panels,
    scale_ticks,
    size_ticks,
    the_rows,
)
from sparkcast.report.labels import axis_title, finite, level_title, ordered, plain_name
from sparkcast.study import Configuration, Dataset, Level, Observation, Response, Role
from sparkcast.units import as_number, show_level

_GRID = 40  # points of a smooth line
_MOST_SERIES, _MOST_RUNS = 5, 1000
_TITLE_WIDTH = 84  # letters in a line of the title


def scaling_curve(
    data: Dataset,
    response: str,
    fitted: Fitted,
    *,
    factor: str | None = None,
    by: str | None = None,
    single: bool = False,
    at: Configuration | None = None,
    upto: float | None = None,
    level: float = 0.9,
    model: str = "",
) -> Figure | None:
    """The response along one numeric factor: prediction, interval, and the runs made there.

    Along the machines unless `factor` says otherwise, else the number with most levels. A panel for each level of
    `by`, the first other factor unless named, or one in all when `single`. Other settings are held at `at`,
    else where most was run; `upto` draws on beyond the largest measured level. None when no factor is numeric or
    nothing was measured.
    """
    runs = data.successful(response)
    factor = factor or scaling_factor(data)
    if factor is None or not runs:
        return None
    others = [name for name in data.factors if name != factor]
    by = None if single else by or next(iter(others), None)
    held = _held(runs, [name for name in others if name != by], factor, at or Configuration())
    rows = scaling_rows(data, response, fitted, factor=factor, by=by, held=held, upto=upto, level=level)
    if not numbers(row["value"] for row in rows):
        return None
    words = data.vocabulary
    name = plain_name(words.response(response))
    told = f" by {model}" if model else ""
    where = f" Other settings: {held}." if held else ""
    beyond = " Dashed, on gray: beyond what was measured." if any(row["extrapolated"] for row in rows) else ""
    place = f" at {held}" if held else ""
    return figure(
        f"scaling-{response}",
        FigureSection.SCALING,
        fill(f"Predicted {name} along {plain_name(words.setting(factor))}{place}", _TITLE_WIDTH),
        f"Lines are predictions{told}, bands are {show_level(level)} intervals for the next run, points are "
        f"measured runs.{where}{beyond}{cut_off(rows, _scale(rows, words.response(response)).domain, 'low', 'high')}",
        rows,
        lambda width: _draw_scaling(rows, data, response, factor, by, width),
        response=response,
        heads={"x": axis_title(words.setting(factor)), "value": axis_title(words.response(response))}
        | ({"series": axis_title(words.setting(by))} if by else {}),
        values=dict.fromkeys(("value", "low", "high"), words.response(response)),
    )


def _scale(rows: Sequence[Row], response: Response) -> Any:
    """One for all panels: from the lines and the runs, with all of the bands."""
    lines = numbers(row["value"] for row in rows)
    return whole_scale(response, lines, numbers(row[side] for row in rows for side in ("low", "high")))


def scaling_rows(
    data: Dataset,
    response: str,
    fitted: Fitted,
    *,
    factor: str,
    by: str | None,
    held: Configuration,
    upto: float | None = None,
    level: float = 0.9,
) -> tuple[Row, ...]:
    """Predictions on a grid and the measured runs at the held settings, one row each."""
    grid = _grid(data.levels(factor), upto)
    largest = max(_place(value) for value in data.levels(factor))
    series: list[Level | None] = [None] if by is None else list(thin(ordered(data.levels(by)), _MOST_SERIES))
    runs = data.successful(response)
    rows: list[Row] = []
    for name in series:
        shared = {**runs[0].configuration, **held}
        if by is not None and name is not None:
            shared[by] = name
        places = [{**shared, factor: value} for value in grid]
        values, intervals = fitted.predict(places), fitted.interval(places, level=level)
        for x, value, ends in zip(grid, values, intervals, strict=True):
            rows.append(_row("predicted", x, name, value, ends, extrapolated=_place(x) > largest))
    here = [run for run in runs if _drawn_here(run.configuration, held, by, series)]
    for run in thin(here, _MOST_RUNS):
        name = None if by is None else run.configuration[by]
        rows.append(_row("measured", run.configuration[factor], name, run.responses[response], (nan, nan)))
    return tuple(rows)


def _row(
    kind: str, x: Level, series: Level | None, value: float, ends: tuple[float, float], *, extrapolated: bool = False
) -> Row:
    return {
        "kind": kind,
        "x": x,
        "series": None if series is None else str(series),
        "value": finite(value),
        "low": finite(ends[0]),
        "high": finite(ends[1]),
        "extrapolated": extrapolated,
    }


def _drawn_here(at: Configuration, held: Configuration, by: str | None, series: Sequence[Level | None]) -> bool:
    """Only runs at the settings the lines are drawn for can be compared with them."""
    return all(at.get(name) == value for name, value in held.items()) and (by is None or at[by] in series)


def _draw_scaling(rows: tuple[Row, ...], data: Dataset, response: str, factor: str, by: str | None, width: int) -> Spec:
    import altair as alt

    plain: list[Row] = [{**row, "x": _place(row["x"]), "series": str(row["series"])} for row in rows]
    levels = data.levels(factor)
    written = any(isinstance(level, str) for level in levels)
    largest = max(_place(level) for level in levels)
    x = alt.X(
        "x:Q",
        title=level_title(data.vocabulary.setting(factor), levels),
        scale=alt.Scale(zero=False, nice=False, padding=12),
        axis=size_ticks(levels, [_place(level) for level in levels]) if written else _number_ticks(plain),
    )
    meaning = data.vocabulary.response(response)
    scale = _scale(plain, meaning)
    names = list(dict.fromkeys(str(row["series"]) for row in plain))
    charts = [_panel(name, plain, meaning, x, scale, largest) for name in names]
    drawn = framed(plain, "value", scale.domain, "low", "high")
    if len(names) == 1:
        spec = finish(charts[0].properties(height=300 if width > NARROW_PX else 240), width, drawn)
    else:
        setting = plain_name(data.vocabulary.setting(by or ""))
        titled = [
            chart.properties(title=panel_title(f"{setting} {name}")) for chart, name in zip(charts, names, strict=True)
        ]
        spec = finish(panels(titled, width), width, drawn)
    spec["config"]["lineBreak"] = "\n"
    return spec


def _panel(name: str, plain: Sequence[Row], response: Response, x: Any, scale: Any, largest: float) -> Any:
    """The line, the band and the runs of one level: bands of several in one frame would hide each other."""
    import altair as alt

    title, ticks = axis_title(response, scale.domain), scale_ticks(response, scale)
    y, low = (alt.Y(f"{column}:Q", title=title, scale=scale, axis=ticks) for column in ("value", "low"))
    base = alt.Chart(the_rows()).transform_filter(only(name, "series")).encode(x=x, color=alt.value(BLUE))
    predicted = base.transform_filter("datum.kind == 'predicted'")
    band = predicted.transform_filter("isValid(datum.low) && isValid(datum.high)")
    within, beyond = f"datum.x <= {largest!r}", f"datum.x >= {largest!r}"
    return alt.layer(
        *_beyond_measured(plain, largest, x),
        band.transform_filter(within).mark_area(opacity=0.22).encode(y=low, y2=alt.Y2("high:Q")),
        band.transform_filter(beyond).mark_area(opacity=0.1).encode(y=low, y2=alt.Y2("high:Q")),
        predicted.transform_filter(within).mark_line(strokeWidth=2.2).encode(y=y),
        predicted.transform_filter(beyond).mark_line(strokeWidth=2.2, strokeDash=[5, 4]).encode(y=y),
        base.transform_filter("datum.kind == 'measured'").mark_point(filled=True, size=50, opacity=0.95).encode(y=y),
    )


def _beyond_measured(plain: Sequence[Row], largest: float, x: Any) -> list[Any]:
    """A gray ground where the line goes on without runs."""
    import altair as alt

    end = max(numbers(row["x"] for row in plain))
    if end <= largest:
        return []
    ground = alt.Chart(inline([{"x": largest, "end": end, "text": "not measured"}])).encode(x=x)
    words = ground.mark_text(align="left", baseline="top", dx=5, dy=5).encode(text=alt.Text("text:N"), y=alt.value(0))
    return [ground.mark_rect(color=GRAY, opacity=0.14).encode(x2=alt.X2("end:Q")), words]


def scaling_factor(data: Dataset) -> str | None:
    """What a scaling curve runs along: the machines, else the number with most levels."""
    numeric = [n for n in data.factors if all(as_number(level) is not None for level in data.levels(n))]
    machines = data.vocabulary.first(Role.MACHINES, among=numeric)
    return machines or max(numeric, key=lambda n: len(data.levels(n)), default=None)


def half_as_far_again(levels: Sequence[Level]) -> float:
    """Where to stop beyond the measured levels: half their range further; a share ends at 1.

    >>> half_as_far_again([1, 2, 4, 8]), half_as_far_again([0.2, 0.6, 0.9])
    (12, 1.0)
    """
    places = [_place(level) for level in levels]
    end = max(places) + (max(places) - min(places)) / 2
    if all(isinstance(level, int) for level in levels):
        return ceil(end)
    return max(1.0, max(places)) if max(places) <= 1 < end else end


def _held(runs: Sequence[Observation], names: Sequence[str], factor: str, at: Configuration) -> Configuration:
    """Where the settings that are not drawn stay: as asked, else in the combination with most levels of the factor.

    Of equals the one with most runs, then with the most frequent levels, then nearest the middle. A combination of
    frequent levels that was never run itself would have no points to show.
    """
    asked = {name: at[name] for name in names if name in at}
    free = [name for name in names if name not in at]
    near = [run for run in runs if all(run.configuration[name] == value for name, value in asked.items())] or runs
    seen = {name: Counter(run.configuration[name] for run in near) for name in free}
    ladders = {name: ordered(levels) for name, levels in seen.items()}
    groups: dict[tuple[Level, ...], list[Level]] = {}
    for run in near:
        groups.setdefault(tuple(run.configuration[name] for name in free), []).append(run.configuration[factor])

    def rank(key: tuple[Level, ...]) -> tuple[int, int, int, float]:
        place = dict(zip(free, key, strict=True))
        frequency = sum(seen[name][level] for name, level in place.items())
        middle = sum(abs(ladders[name].index(level) - (len(ladders[name]) - 1) / 2) for name, level in place.items())
        return len(set(groups[key])), len(groups[key]), frequency, -middle

    chosen: tuple[Level, ...] = max(groups, key=rank)
    return (Configuration(asked) | dict(zip(free, chosen, strict=True))).only(names)


def _grid(levels: Sequence[Level], upto: float | None) -> list[Level]:
    """Where the line is computed. Only the measured levels when they are written with units ("1g")."""
    if any(isinstance(level, str) for level in levels):
        return ordered(levels)
    places = [_place(level) for level in levels]
    low, high = min(places), max([*places, *([upto] if upto is not None else [])])
    even = [low + (high - low) * step / (_GRID - 1) for step in range(_GRID)]
    if all(isinstance(level, int) for level in levels):
        return sorted({round(number) for number in (*even, *places)})
    return sorted({*even, *places})


def _number_ticks(plain: Sequence[Mapping[str, object]]) -> Any:
    import altair as alt

    places = sorted({place for row in plain if isinstance(place := row["x"], (int, float))})
    whole = all(float(place).is_integer() for place in places)
    # Half an executor does not exist: small whole ranges get a tick at each number.
    if whole and places and places[-1] - places[0] <= 16:
        return alt.Axis(values=list(range(int(places[0]), int(places[-1]) + 1)), format="d", grid=False)
    return alt.Axis(grid=False)


def _place(level: object) -> float:
    return as_number(level) or 0.0
