"""The look all figures share."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import floor, log10
from typing import TYPE_CHECKING, Any

from sparkcast.report.figures._figure import NARROW_PX, Row, Spec, thin
from sparkcast.report.figures._panels import Panels
from sparkcast.report.labels import Word, axis_title, is_money, largest, level_title, ordered, show_value
from sparkcast.study import Kind, Level, Response
from sparkcast.units import money_unit

if TYPE_CHECKING:
    import altair as alt

# Middle tones: they stand out on white and on near-black alike. Told apart by most color-blind readers.
BLUE, ORANGE, GREEN, RED, GRAY = "#3b82c4", "#e08a2c", "#2c9f72", "#d1495b", "#8b929b"
PALETTE = (BLUE, ORANGE, GREEN, "#b65fa8", "#7a74c9", "#b08f26", "#3aa6b0", GRAY)
INK = "currentColor"  # the page's text color, so that one picture serves light and dark
FONT = "Arial, Helvetica, sans-serif"  # the metrics the drawing was laid out with
LEGEND_GAP_PX = 24  # between its columns
LOG = "log scale"


def inline(rows: Iterable[Row]) -> "alt.InlineData":
    """A few rows beside the figure's own: a line to draw."""
    import altair as alt

    return alt.InlineData(values=[dict(row) for row in rows])


def the_rows() -> "alt.NamedData":
    """The figure's rows, which `finish` adds: Altair would copy and check every row at every step."""
    import altair as alt

    return alt.NamedData(name="rows")


def finish(chart: Any, width: int, rows: Iterable[Row]) -> Spec:
    """The chart as Vega-Lite with its rows and the common look; single charts fill `width`, labels included."""
    spec: Spec = chart.to_dict(validate=False)  # see Figure
    spec.setdefault("datasets", {})["rows"] = list(rows)
    config: Spec = {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            "labelColor": INK,
            "titleColor": INK,
            "titleFontWeight": "normal",
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titlePadding": 8,
            "labelLimit": 150 if width <= NARROW_PX else 320,
            "domainColor": GRAY,
            "tickColor": GRAY,
            "gridColor": GRAY,
            "gridOpacity": 0.25,
        },
        "axisXQuantitative": {"tickCount": 5 if width <= NARROW_PX else 8},
        "axisYQuantitative": {"tickCount": 5},
        "legend": {
            "labelColor": INK,
            "titleColor": INK,
            "titleFontWeight": "normal",
            "labelFontSize": 12,
            "titleFontSize": 12,
            "labelLimit": width - 40,
            "columnPadding": LEGEND_GAP_PX,
            "orient": "bottom",
            "symbolOpacity": 1,
        },
        "title": {"color": INK, "fontWeight": "bold"},
        "text": {"color": INK, "fontSize": 12},
    }
    spec["config"] = config
    _announce_logarithms(spec)
    if "concat" not in spec:
        spec |= {"width": width, "autosize": {"type": "fit-x", "contains": "padding"}}
    return spec


def _announce_logarithms(part: Spec) -> None:
    """Where equal distances are equal ratios, the title of the axis says so."""
    for inner in part.get("concat", []):
        _announce_logarithms(inner)
    encodings = list(_encodings(part))
    for channel in ("x", "y", "color", "fill"):
        drawn = [encoding[channel] for encoding in encodings if isinstance(encoding.get(channel), dict)]
        if any((one.get("scale") or {}).get("type") == "log" for one in drawn):
            for one in drawn:
                if one.get("title"):
                    one["title"] = f"{one['title']}, {LOG}"


def _encodings(part: Spec) -> Iterator[Spec]:
    """Of one picture and all of its layers, which share their axes."""
    if "encoding" in part:
        yield part["encoding"]
    for layer in part.get("layer", []):
        yield from _encodings(layer)


def only(factor: str, column: str = "factor") -> str:
    """A filter for the rows of one factor, safe whatever its name."""
    return f"datum.{column} === {json.dumps(factor)}"


def panels(charts: Sequence[Any], width: int, *, most: int = 3) -> Panels:
    """Charts side by side on a desk, at most so many in a row, and below one another on a phone."""
    columns = 2 if len(charts) == 4 else min(len(charts), most)
    return Panels(charts, 1 if width <= NARROW_PX else columns, panel_width(columns, width), height=200)


def panel_width(columns: int, width: int) -> int:
    """What axis labels, title and gap leave of a panel; concatenated charts cannot measure it themselves."""
    columns = 1 if width <= NARROW_PX else columns
    return min(max(120, width // columns - 82), 420)


def panel_title(text: str, below: str = "") -> "alt.TitleParams":
    """What a panel shows, in one line and a softer second one."""
    import altair as alt

    words: dict[str, Any] = {"subtitle": below, "subtitleColor": INK, "subtitleFontSize": 12} if below else {}
    return alt.TitleParams(text, anchor="start", frame="group", fontSize=12, offset=8, **words)


def level_axis(word: Word, levels: Iterable[Level], *, gap: float | None = None) -> "alt.X":
    """An axis with one place per level, in order, whatever the type of the level."""
    import altair as alt

    order = ordered(levels)
    crowded = sum(len(str(level)) + 1 for level in order) > 28
    axis = alt.Axis(labelAngle=-35 if crowded else 0, labelLimit=110)
    scale = alt.Undefined if gap is None else alt.Scale(paddingInner=gap, paddingOuter=gap / 2)
    return alt.X("level:O", sort=names_in_order(order), title=level_title(word, order), axis=axis, scale=scale)


def names_in_order(names: Iterable[Any]) -> Any:
    """An explicit order for `sort`, whose declared type has no room for levels of mixed types."""
    return list(names)


def response_axis(
    field: str, word: Word, values: Iterable[float | None], *, kind: type["alt.Y"] | type["alt.X"]
) -> Any:
    """A quantitative axis with the response's unit; the domain is given, so that panels can be compared."""
    import altair as alt

    known = list(values)
    scale = alt.Scale(domain=domain(word, known))
    return kind(field, type="quantitative", title=axis_title(word, known), scale=scale, axis=value_ticks(word, known))


def value_ticks(word: Word, values: Iterable[object], /, **options: Any) -> "alt.Axis":
    """The ticks of a response's values. Small amounts of money are counted in cents, as the title says."""
    import altair as alt

    return alt.Axis(**options, **value_labels(word, values))


def round_numbers(low: float, high: float, most: int = 4) -> list[float]:
    """A few of 1, 2, 5, 10, 20, ... between the ends of a logarithmic scale, evenly spaced.

    >>> round_numbers(0.002, 0.9), round_numbers(1.5, 4)
    ([0.002, 0.01, 0.1, 0.5], [2.0])
    """
    exponents = range(floor(log10(low)), floor(log10(high)) + 1)
    steps = [float(f"{digit}e{exponent}") for exponent in exponents for digit in (1, 2, 5)]
    return list(thin([step for step in steps if low <= step <= high], most))


def scale_ticks(word: Word, scale: Any, *, most: int = 5, **options: Any) -> "alt.Axis":
    """The ticks of a scale of values; of a logarithmic one a few round numbers, where Vega would draw every digit."""
    if scale.to_dict().get("type") == "log":
        low, high = scale.domain
        options = {"values": round_numbers(low, high, most), "format": ",~g"} | options
    return value_ticks(word, scale.domain, **options)


def value_labels(word: Word, values: Iterable[object]) -> dict[str, Any]:
    per = money_unit(word.unit, largest(values))[1] if is_money(word) else 1.0
    return {} if per == 1 else {"labelExpr": f"format(datum.value * {per:g}, ',~r')"}


def domain(word: Word, values: Iterable[float | None]) -> list[float]:
    """The range of an axis: with some air, from 0 unless differences would vanish, as those of a share do."""
    known = [value for value in values if value is not None]
    if not known:
        return [0.0, 1.0]
    low, high = min(known), max(known)
    air = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    if is_share(word):
        # Above 1.5 it is given in percent. An interval may end where no share can, and is shown whole.
        top = 1.0 if high <= 1.5 else 100.0
        return [low - air if low < 0 else max(0.0, low - air), high + air if high > top else min(top, high + air)]
    return [0.0 if low >= 0 else low - air, high + air]


def is_share(word: Word) -> bool:
    return isinstance(word, Response) and word.kind is Kind.SHARE


def value_scale(word: Word, values: Iterable[object], *, log: bool = False) -> "alt.Scale":
    """The scale for all panels of a figure; of a model of logarithms it shows ratios as equal distances."""
    import altair as alt

    known = numbers(values)
    if not log or not known or min(known) <= 0:
        return alt.Scale(domain=domain(word, known))
    air = (max(known) / min(known)) ** 0.06 if max(known) > min(known) else 1.1
    return alt.Scale(type="log", domain=[min(known) / air, max(known) * air], nice=False)


def kind_color(colors: Mapping[str, str], width: int) -> "alt.Color":
    """Colors for the column `kind`; on a phone one line of the legend for each."""
    import altair as alt

    kinds = list(colors)
    scale = alt.Scale(domain=kinds, range=list(colors.values()))
    legend = alt.Legend(columns=1 if width <= NARROW_PX else len(kinds))
    return alt.Color("kind:N", title=None, sort=kinds, scale=scale, legend=legend)


def configuration_axis(labels: Iterable[Any], title: str) -> "alt.Y":
    """One line per configuration; the title stands above the labels, where it has room."""
    import altair as alt

    names = [str(label) for label in labels]
    left = -7 * max(len(name) for name in names)
    axis = alt.Axis(titleAngle=0, titleAlign="left", titleX=left, titleY=-10, titleBaseline="bottom", ticks=False)
    return alt.Y("configuration:N", sort=names, title=title, axis=axis)


def within_reach(points: Sequence[float], ends: Iterable[float | None]) -> list[float]:
    """Limits that may widen an axis; one that lies far off would push the points into a corner."""
    if not points:
        return []
    reach = (max(points) - min(points)) or abs(max(points)) or 1.0
    return [end for end in ends if end is not None and min(points) - reach <= end <= max(points) + reach]


def shown(response: Response, cell: object) -> str:
    """A cell as the report writes it; one without a number had no bound."""
    return next((show_value(response, number) for number in numbers([cell])), "no bound")


def numbers(values: Iterable[object]) -> list[float]:
    """The numbers among cells."""
    return [float(value) for value in values if isinstance(value, (int, float))]


def series_color(field: str, names: Sequence[Any], title: str, width: int) -> "alt.Color":
    """Colors of a few series, in the order given, with a legend that fits the width."""
    import altair as alt

    longest = max((len(str(name)) for name in names), default=1)
    columns = max(1, min(len(names), (width - 20) // (8 * longest + 24 + LEGEND_GAP_PX)))
    return alt.Color(
        field,
        type="nominal",
        sort=list(names),
        title=title,
        scale=alt.Scale(domain=list(names), range=[PALETTE[i % len(PALETTE)] for i in range(len(names))]),
        legend=alt.Legend(columns=columns, titleOrient="top"),
    )


def size_ticks(levels: Iterable[Level], numbers: Iterable[float]) -> "alt.Axis":
    """Ticks at the levels themselves, written as the study writes them: 1g, not 1,073,741,824."""
    import altair as alt

    names = {f"{number:.0f}": str(level) for level, number in zip(levels, numbers, strict=True)}
    return alt.Axis(values=[float(name) for name in names], labelExpr=f"{json.dumps(names)}[datum.value]", grid=False)
