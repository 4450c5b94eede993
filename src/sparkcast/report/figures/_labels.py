"""Names beside points: each where it covers neither a point nor another name."""

from collections.abc import Sequence
from typing import Any

LETTER_PX, LINE_PX = 6.2, 14  # of 11 px text
_POINT_PX, _GAP_PX, _ACROSS_PX, _UP_PX = 6, 3, 8, 5

# How Vega-Lite writes a text at each corner or side of a point. Corners first: bars of intervals go straight.
SIDES: dict[str, dict[str, Any]] = {
    "upper left": {"align": "right", "baseline": "bottom", "dx": -_ACROSS_PX, "dy": -_UP_PX},
    "lower right": {"align": "left", "baseline": "top", "dx": _ACROSS_PX, "dy": _UP_PX},
    "upper right": {"align": "left", "baseline": "bottom", "dx": _ACROSS_PX, "dy": -_UP_PX},
    "lower left": {"align": "right", "baseline": "top", "dx": -_ACROSS_PX, "dy": _UP_PX},
    "right": {"align": "left", "baseline": "middle", "dx": 12},
    "left": {"align": "right", "baseline": "middle", "dx": -12},
}
Box = tuple[float, float, float, float]  # left, top, right, bottom


def sides(
    points: Sequence[tuple[float, float]],
    names: Sequence[str],
    frame: tuple[float, float],
    *,
    taken: Sequence[Box] = (),
    bars: Sequence[Box] = (),
) -> list[str]:
    """Where each name stands beside its point; "" where there is no room for it, or no name.

    Points are in pixels from the upper left corner of a frame of this width and height. Names never meet what is
    `taken`, and the `bars` of intervals only where nothing else is free. The first come first.

    >>> sides([(100, 50), (104, 50)], ["a", "b"], (200, 100))
    ['upper left', 'lower right']
    """
    full: list[Box] = [*map(_around, points), *taken]
    found = []
    for number, (point, name) in enumerate(zip(points, names, strict=True)):
        others = full[:number] + full[number + 1 :]
        boxes = {side: box_of(point, name, side) for side in SIDES} if name else {}
        free = [side for side, box in boxes.items() if _is_inside(box, frame) and not _meets(box, others)]
        side = next((one for one in free if not _meets(boxes[one], bars)), free[0] if free else "")
        found.append(side)
        if side:
            full.append(boxes[side])
    return found


def _around(point: tuple[float, float]) -> Box:
    x, y = point
    return (x - _POINT_PX, y - _POINT_PX, x + _POINT_PX, y + _POINT_PX)


def box_of(point: tuple[float, float], name: str, side: str) -> Box:
    """Where a name on this side of its point is drawn."""
    (x, y), wide, where = point, LETTER_PX * len(name), SIDES[side]
    left = x + where["dx"] - (wide if where["align"] == "right" else 0)
    top = {"bottom": y - _UP_PX - LINE_PX, "top": y + _UP_PX, "middle": y - LINE_PX / 2}[where["baseline"]]
    return (left, top, left + wide, top + LINE_PX)


def _is_inside(box: Box, frame: tuple[float, float]) -> bool:
    return box[0] >= 0 and box[1] >= 0 and box[2] <= frame[0] and box[3] <= frame[1]


def _meets(box: Box, others: Sequence[Box]) -> bool:
    left, top, right, bottom = box
    return any(left < r + _GAP_PX and x < right + _GAP_PX and top < b and y < bottom for x, y, r, b in others)
