"""What a model says between and beyond the measured settings."""

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

from sparkcast.models import Fitted
from sparkcast.report.figures._figure import NARROW_PX, Figure, Row, Section, Spec, figure, thin
from sparkcast.report.figures._style import (
    BLUE,
    domain,
    finish,
    numbers,
    series_colour,
    size_ticks,
    the_rows,
    within_reach,
)
from sparkcast.report.labels import axis_title, finite, ordered, plain_name, show_percent
from sparkcast.study import Configuration, Dataset, Level, show_configuration
from sparkcast.units import as_number

_GRID = 40  # points of a smooth line
_MOST_SERIES, _MOST_RUNS = 5, 1000


def scaling_curve(
    data: Dataset,
    response: str,
    fitted: Fitted,
    *,
    factor: str | None = None,
    colour: str | None = None,
    at: Configuration | None = None,
    upto: float | None = None,
    level: float = 0.9,
    model: str = "",
) -> Figure | None:
    """The response along one numeric factor: prediction, interval, and the runs made there.

    Along `executors` unless `factor` says otherwise; other settings are held at `at`, else at their middle level;
    `upto` draws on beyond the largest measured level. None when no factor is numeric or nothing was measured.
    """
    factor = factor or _scaling_factor(data)
    if factor is None or not data.successful(response):
        return None
    others = [name for name in data.factors if name != factor]
    colour = colour or next(iter(others), None)
    held = _held(data, [name for name in others if name != colour], at or {})
    rows = scaling_rows(data, response, fitted, factor=factor, colour=colour, held=held, upto=upto, level=level)
    name = plain_name(response)
    by = f" by {model}" if model else ""
    where = f" Other settings: {show_configuration(held)}." if held else ""
    beyond = " Dashed: beyond what was measured." if any(row["extrapolated"] for row in rows) else ""
    return figure(
        f"scaling-{response}",
        Section.SCALING,
        f"Predicted {name} along {plain_name(factor)}",
        f"Lines are predictions{by}, bands hold the next run with {show_percent(level)} probability, points are "
        f"measured runs.{where}{beyond}",
        rows,
        lambda width: _draw_scaling(rows, data, response, factor, colour, width),
        response=response,
        heads={"x": axis_title(factor), "value": axis_title(response), "series": axis_title(colour or "")},
    )


def scaling_rows(
    data: Dataset,
    response: str,
    fitted: Fitted,
    *,
    factor: str,
    colour: str | None,
    held: Configuration,
    upto: float | None = None,
    level: float = 0.9,
) -> tuple[Row, ...]:
    """Predictions on a grid and the measured runs at the held settings, one row each."""
    grid = _grid(data.levels(factor), upto)
    largest = max(_place(value) for value in data.levels(factor))
    series: list[Level | None] = [None] if colour is None else list(thin(ordered(data.levels(colour)), _MOST_SERIES))
    runs = data.successful(response)
    rows: list[Row] = []
    for name in series:
        shared = {**runs[0].configuration, **held}
        if colour is not None and name is not None:
            shared[colour] = name
        places = [{**shared, factor: value} for value in grid]
        values, intervals = fitted.predict(places), fitted.interval(places, level=level)
        for x, value, ends in zip(grid, values, intervals, strict=True):
            rows.append(_row("predicted", x, name, value, ends, extrapolated=_place(x) > largest))
    here = [run for run in runs if _drawn_here(run.configuration, held, colour, series)]
    for run in thin(here, _MOST_RUNS):
        name = None if colour is None else run.configuration[colour]
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


def _drawn_here(at: Configuration, held: Configuration, colour: str | None, series: Sequence[Level | None]) -> bool:
    """Only runs at the settings the lines are drawn for can be compared with them."""
    return all(at.get(name) == value for name, value in held.items()) and (colour is None or at[colour] in series)


def _draw_scaling(
    rows: tuple[Row, ...], data: Dataset, response: str, factor: str, colour: str | None, width: int
) -> Spec:
    import altair as alt

    plain = [{**row, "x": _place(row["x"])} for row in rows]
    levels = data.levels(factor)
    written = any(isinstance(level, str) for level in levels)
    largest = max(_place(level) for level in levels)
    x = alt.X(
        "x:Q",
        title=axis_title(factor),
        scale=alt.Scale(zero=False, nice=False, padding=12),
        axis=size_ticks(levels, [_place(level) for level in levels]) if written else _number_ticks(plain),
    )
    # Bands near the edge of the data can be vast; they are clipped so that the lines stay readable.
    known = numbers(row["value"] for row in plain)
    bounds = numbers(row[side] for row in plain for side in ("low", "high"))
    ends = domain(response, [*known, *within_reach(known, bounds)])
    scale = alt.Scale(domain=ends, nice=False)
    y = alt.Y("value:Q", title=axis_title(response), scale=scale)
    names = list(dict.fromkeys(str(row["series"]) for row in plain))
    hue = alt.value(BLUE) if colour is None else series_colour("series", names, axis_title(colour), width)
    base = alt.Chart(the_rows()).encode(x=x, color=hue)
    predicted = base.transform_filter("datum.kind == 'predicted'")
    band = predicted.transform_filter("isValid(datum.low) && isValid(datum.high)")
    layers = [
        band.mark_area(opacity=0.16, clip=True).encode(
            y=alt.Y("low:Q", scale=scale, title=axis_title(response)), y2="high:Q"
        ),
        predicted.transform_filter(f"datum.x <= {largest!r}").mark_line(strokeWidth=2.2, clip=True).encode(y=y),
        predicted.transform_filter(f"datum.x >= {largest!r}")
        .mark_line(strokeWidth=2.2, strokeDash=[5, 4], clip=True)
        .encode(y=y),
        base.transform_filter("datum.kind == 'measured'").mark_point(filled=True, size=50, opacity=0.95).encode(y=y),
    ]
    return finish(alt.layer(*layers).properties(height=300 if width > NARROW_PX else 240), width, plain)


def _scaling_factor(data: Dataset) -> str | None:
    numeric = [n for n in data.factors if all(as_number(level) is not None for level in data.levels(n))]
    return "executors" if "executors" in numeric else next(iter(numeric), None)


def _held(data: Dataset, names: Sequence[str], at: Configuration) -> dict[str, Level]:
    """Where the settings that are not drawn stay: as asked, else at their middle level."""
    levels = {name: ordered(data.levels(name)) for name in names}
    return {name: at.get(name, options[(len(options) - 1) // 2]) for name, options in levels.items()}


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
