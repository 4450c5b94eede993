"""What lies outside a picture's frame is shown at its edge: a vast error must not vanish, nor squeeze the others."""

from collections.abc import Sequence
from typing import Any

from sparkcast.report.figures._figure import Row
from sparkcast.report.figures._style import is_share, numbers, value_scale
from sparkcast.report.labels import Word

_WIDE = 20.0  # ratio of largest to smallest from which the small ones would huddle in a corner
_DECADE = 10.0
_FAR = 1000.0  # times what was measured; an interval that goes on beyond says no more than that it does
INSIDE, ABOVE, BELOW = "circle", "triangle-up", "triangle-down"  # as Vega-Lite calls the shapes


def is_wide(values: Sequence[float]) -> bool:
    """Whether positive values spread so far that ratios show more than differences."""
    return bool(values) and min(values) > 0 and max(values) / min(values) >= _WIDE


def whole_scale(word: Word, points: Sequence[float], bounds: Sequence[float]) -> Any:
    """A scale that holds all points and all of their intervals; logarithmic where these reach beyond a decade.

    Only what lies three decades beyond the points is left to the edge.
    """
    size = max(map(abs, points))
    near = [bound for bound in bounds if abs(bound) <= _FAR * size] if size else list(bounds)
    known = [*points, *near]
    if is_share(word) or min(points) <= 0 or not (is_wide(points) or max(known) >= _DECADE * max(points)):
        scale = value_scale(word, known)
    else:
        scale = value_scale(word, [value for value in known if value >= min(points) / _FAR], log=True)
    scale.nice = False
    return scale


def framed(rows: Sequence[Row], column: str, ends: Sequence[float], *others: str) -> list[Row]:
    """The rows with a `column` no further than the ends, and a `shape` that says which points were moved there."""
    return [_framed(row, column, ends, others) for row in rows]


def _framed(row: Row, column: str, ends: Sequence[float], others: Sequence[str]) -> Row:
    moved = {name: _moved(row[name], ends) for name in (column, *others)}
    return {**row, **moved, "shape": shape_at(row[column], ends)}


def shape_at(value: object, ends: Sequence[float]) -> str:
    for number in numbers([value]):
        if number > ends[1]:
            return ABOVE
        if number < ends[0]:
            return BELOW
    return INSIDE


def _moved(value: object, ends: Sequence[float]) -> float | None:
    return next((min(max(number, ends[0]), ends[1]) for number in numbers([value])), None)


def at_the_edge(rows: Sequence[Row], what: str) -> str:
    """The sentence a caption owes its reader when points were moved; "" when none were."""
    count = sum(row["shape"] != INSIDE for row in rows)
    return f" Triangles at the edge mark {what} beyond it ({count})." if count else ""


def cut_off(rows: Sequence[Row], ends: Sequence[float], *columns: str) -> str:
    """The sentence a caption owes its reader when intervals go on beyond the picture; "" when all are whole."""
    count = sum(any(not ends[0] <= end <= ends[1] for end in numbers(row[c] for c in columns)) for row in rows)
    return f" Intervals that touch the edge extend beyond it ({count})." if count else ""
