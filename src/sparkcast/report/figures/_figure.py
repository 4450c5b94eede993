"""A figure: its data, its words and its drawing, kept apart so that each can be tested."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeVar

from sparkcast.study import Response

if TYPE_CHECKING:
    import altair as alt

Cell = str | int | float | bool | None
Row = dict[str, Cell]
Spec = dict[str, Any]  # Vega-Lite, as JSON

WIDE_PX, NARROW_PX = 760, 340  # a desk and a phone: labels keep their size on both, so they stay readable


T = TypeVar("T")
_POINT = re.compile(
    r'(?P<point><path aria-label="(?P<words>[^"]*)" role="graphics-symbol"'
    r' aria-roledescription="point"[^>]*)/>'
)


class FigureSection(StrEnum):
    """Where in the report a figure belongs."""

    DESIGN = "design"
    RESULTS = "results"
    MACHINES = "machines"
    EFFECTS = "effects"
    CHECKS = "checks"  # whether to believe the effects
    TRUST = "trust"
    SCALING = "scaling"
    CHOICE = "choice"


@dataclass(frozen=True)
class Figure:
    name: str  # unique in a report, usable as a file name
    section: FigureSection
    title: str
    caption: str
    rows: tuple[Row, ...]
    draw: Callable[[int], Spec]  # for a width in pixels
    response: str = ""  # the response it is about; "" when it is about several
    heads: Mapping[str, str] = field(default_factory=dict)  # column -> title with unit, where the name does not say it
    values: Mapping[str, Response] = field(default_factory=dict)  # columns that hold values of a response

    @cached_property
    def spec(self) -> Spec:
        """The drawing for a desk, made when it is first asked for: not everyone needs both."""
        return self._drawn(WIDE_PX)

    @cached_property
    def narrow_spec(self) -> Spec:
        """The drawing for a phone."""
        return self._drawn(NARROW_PX)

    def svg(self, *, narrow: bool = False, titled: bool = True) -> str:
        """An SVG picture; its text takes the color of the page around it."""
        import vl_convert

        spec = self.narrow_spec if narrow else self.spec
        return _with_hints(vl_convert.vegalite_to_svg(self._titled(spec, narrow) if titled else spec))

    def png(self, *, scale: float = 2.0) -> bytes:
        """A PNG picture on white, `scale` pixels per point."""
        import vl_convert

        spec = {**self._titled(self.spec), "background": "white"}
        return bytes(vl_convert.vegalite_to_png(spec, scale=scale))

    def chart(self) -> "alt.TopLevelMixin":
        """The drawing as a chart of Altair, to be shown, changed or saved; the caption is its description."""
        import altair as alt
        from altair.utils.schemapi import debug_mode

        with debug_mode(False):
            kinds: dict[str, Any] = {
                "layer": alt.LayerChart,
                "concat": alt.ConcatChart,
                "facet": alt.FacetChart,
                "mark": alt.Chart,
            }
            kind = next(kind for part, kind in kinds.items() if part in self.spec)
            chart = kind.from_dict({**self._titled(self.spec), "description": self.caption}, validate=False)
        assert isinstance(chart, alt.TopLevelMixin)
        return chart

    def _drawn(self, width: int) -> Spec:
        from altair.utils.schemapi import debug_mode

        with debug_mode(False):  # tests check every figure against the schema; readers need not wait
            return self.draw(width)

    def _titled(self, spec: Spec, narrow: bool = False) -> Spec:
        lines = [part for line in self.title.splitlines() for part in wrap(line, 40 if narrow else 90)]
        return {**spec, "title": {"text": lines, "anchor": "start", "fontSize": 15, "offset": 14}}


def figure(
    name: str,
    section: FigureSection,
    title: str,
    caption: str,
    rows: Sequence[Row],
    draw: Callable[[int], Spec],
    *,
    response: str = "",
    heads: Mapping[str, str] | None = None,
    values: Mapping[str, Response] | None = None,
) -> Figure:
    """A figure that `draw` draws for a desk and for a phone, given the width in pixels."""
    # A response is named by whoever wrote the study; an id or a file is not.
    name = re.sub(r"[^\w-]+", "-", name)
    return Figure(name, section, title, caption, tuple(rows), draw, response, heads or {}, values or {})


def _with_hints(svg: str) -> str:
    """What a point is, shown when the mouse rests on it: in SVG that needs no script, as the description does not."""
    return _POINT.sub(r"\g<point>><title>\g<words></title></path>", svg)


def thin(items: Sequence[T], most: int) -> Sequence[T]:
    """At most `most` of the items, evenly taken, the ends included: a picture of 100,000 points shows less.

    >>> thin(range(10), 4)
    [0, 3, 6, 9]
    """
    if len(items) <= most:
        return items
    step = (len(items) - 1) / (most - 1)
    return [items[round(step * index)] for index in range(most)]


def thinned(shown: int, total: int, what: str) -> str:
    """The sentence a caption owes its reader when not all is shown; "" when all is."""
    return f" Shown: {shown:,} of {total:,} {what}, evenly spaced." if shown < total else ""
