"""What lies outside a picture's frame is shown at its edge: a vast error must not vanish, nor squeeze the others."""

from collections.abc import Sequence

from sparkcast.report.figures._figure import Row
from sparkcast.report.figures._style import numbers

_WIDE = 20.0  # ratio of largest to smallest from which the small ones would huddle in a corner
INSIDE, ABOVE, BELOW = "circle", "triangle-up", "triangle-down"  # as Vega-Lite calls the shapes


def is_wide(values: Sequence[float]) -> bool:
    """Whether positive values spread so far that ratios show more than differences."""
    return bool(values) and min(values) > 0 and max(values) / min(values) >= _WIDE


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
    return f" Triangles at the edge stand for {what} beyond it ({count})." if count else ""
