"""Same mark, same meaning: how an interval, a limit, a measured run, a change and an alarm are drawn, wherever.

Pictures of lists and of sliders are drawn here as SVG: a thousand of them take as long as one of Vega-Lite's, and a
page can move what is in them. Places are pixels, or percents of the picture's width. Colors are those of `tokens.css`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from pathlib import Path

from markupsafe import Markup, escape

from sparkcast.report.figures._style import BLUE, GREEN, RED

Place = float | str  # pixels, or "12.5%"

# What figures of Vega-Lite draw in middle tones has the page's own color where a page shows it.
_TOKENS = {BLUE: "--pred", RED: "--bad", GREEN: "--ok"}
_COLOR = re.compile(rf'(fill|stroke)="({"|".join(_TOKENS)})"')


@lru_cache(maxsize=1)
def marks_style() -> str:
    """Colors for light and dark, and the look of every mark."""
    folder = Path(__file__).parent
    return (folder / "tokens.css").read_text() + (folder / "marks.css").read_text()


def with_tokens(svg: str) -> str:
    """A drawing in the page's colors, which change with its theme.

    >>> with_tokens('<path fill="#3b82c4"/>')
    '<path fill="var(--pred, #3b82c4)"/>'
    """
    return _COLOR.sub(lambda found: f'{found[1]}="var({_TOKENS[found[2]]}, {found[2]})"', svg)


@dataclass(frozen=True, slots=True)
class Across:
    """Values along the width of a picture, in percent."""

    low: float
    high: float

    def share(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low)

    def at(self, value: float) -> str:
        """The place of a value; what lies outside is at the edge."""
        return f"{100 * min(max(self.share(value), 0.0), 1.0):.2f}%"

    def holds(self, value: float) -> bool:
        return isfinite(value) and 0 <= self.share(value) <= 1


def place(value: Place) -> str:
    return value if isinstance(value, str) else f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"


def interval(low: Place, high: Place, y: Place, *, is_far: bool = False) -> Markup:
    """Where 90 of 100 runs fall; dashed where it is extrapolated."""
    looks = "m-interval m-far" if is_far else "m-interval"
    return Markup('<line class="{}" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(
        looks, place(low), place(high), place(y), place(y)
    )


def predicted(x: Place, y: Place, r: float = 4.4) -> Markup:
    """One prediction, or that limits are kept."""
    return _circle("m-predicted", x, y, r)


def measured(x: Place, y: Place, r: float = 2.5) -> Markup:
    return _circle("m-measured", x, y, r)


def outside(x: Place, y: Place, r: float = 2.6) -> Markup:
    """A run outside its interval, as 1 run in 10 is."""
    return _circle("m-outside", x, y, r)


def alarm(x: Place, y: Place, r: float = 3.2) -> Markup:
    """A run that is told about."""
    return _circle("m-alarm", x, y, r)


def answer(x: Place, y: Place) -> Markup:
    """The ring around what was chosen."""
    return _circle("m-answer", x, y, 8)


def missed(x: Place, y: Place, r: float) -> Markup:
    """One of the equally likely runs that would be late."""
    return _circle("m-missed", x, y, r)


def late(x: Place, y: Place) -> Markup:
    """Too likely to break the deadline."""
    return Markup('<svg class="m-late" x="{}" y="{}"><path d="M-4 -4l8 8m0 -8l-8 8"/></svg>').format(place(x), place(y))


def over(x: Place, y: Place) -> Markup:
    """In time, but over the budget."""
    return Markup('<svg class="m-over" x="{}" y="{}"><path d="M-4 -4h8v8h-8Z"/></svg>').format(place(x), place(y))


def limit(x: Place, top: Place = 0, bottom: Place = "100%") -> Markup:
    """A deadline or a budget, upright."""
    return Markup('<line class="m-limit" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(
        place(x), place(x), place(top), place(bottom)
    )


def limit_across(y: Place, left: Place, right: Place) -> Markup:
    return Markup('<line class="m-limit" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(
        place(left), place(right), place(y), place(y)
    )


def change_point(x: float, top: float, bottom: float, size: float = 5) -> Markup:
    """Since when it is different: a rule with a diamond."""
    rule = Markup('<path class="m-change" d="M{} {}V{}"/>').format(place(x), place(top), place(bottom))
    diamond = Markup('<path class="m-diamond" d="M{} {}l{s} {s}-{s} {s}-{s}-{s}Z"/>')
    return rule + diamond.format(place(x), place(top - size), s=f"{size:g}")


def band(places: Sequence[tuple[float, float, float]]) -> Markup:
    """A forecast: for each x its lower and upper y."""
    if not places:
        return Markup()
    there = "L".join(f"{x:.4g} {high:.4g}" for x, _, high in places)
    back = "L".join(f"{x:.4g} {low:.4g}" for x, low, _ in reversed(places))
    return Markup('<path class="m-band" d="M{}L{}Z"/>').format(there, back)


def line(look: str, places: Iterable[tuple[float, float]]) -> Markup:
    """A line through all of these."""
    return Markup('<path class="{}" d="M{}"/>').format(look, "L".join(f"{x:.4g} {y:.4g}" for x, y in places))


def text(x: Place, y: Place, words: str, *, anchor: str = "start", look: str = "") -> Markup:
    return Markup('<text x="{}" y="{}" text-anchor="{}" class="{}">{}</text>').format(
        place(x), place(y), anchor, look, escape(words)
    )


def dots(look: str, places: Iterable[tuple[float, float]], size: float) -> Markup:
    """Many dots of one kind, as one path: a list of jobs has tens of thousands."""
    drawn = "".join(f"M{x:.5g} {y:.4g}h0" for x, y in places)
    return (
        Markup('<path class="m-dots {}" stroke-width="{}" d="{}"/>').format(look, f"{size:g}", drawn)
        if drawn
        else Markup()
    )


def _circle(look: str, x: Place, y: Place, r: float) -> Markup:
    return Markup('<circle class="{}" cx="{}" cy="{}" r="{}"/>').format(look, place(x), place(y), f"{r:g}")
