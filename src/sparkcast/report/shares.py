"""Where the time of typical runs goes: a bar of parts, and on the same scale another for the runs since a change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sparkcast.report import marks
from sparkcast.study.application import Part

_HEIGHT, _BAR, _GAP = 116.0, 22.0, 26.0
_TOP = 18.0
_LABELED = ("work", "shuffle-write")  # looks that are dark enough for words inside
# Work is green, shuffle plum, waiting gray, trouble orange; blue is a prediction and nothing else.
_LOOKS: Mapping[str, str] = {
    Part.NO_EXECUTORS: "waiting",
    Part.TO_LAUNCH: "waiting",
    Part.SCHEDULING: "scheduling",
    Part.SERIALIZATION: "scheduling",
    Part.CPU: "work",
    Part.GC: "collection",
    Part.FETCH_WAIT: "shuffle-read",
    Part.SHUFFLE_WRITE: "shuffle-write",
    Part.SPILL: "shuffle-write",
    Part.UNINSTRUMENTED: "reading",
    Part.SLOW_TASKS: "trouble",
    Part.IDLE: "trouble",
    Part.LOST: "trouble",
}


@dataclass(frozen=True, slots=True)
class TimeBar:
    """The parts of a typical run, in order, with a title that says which."""

    title: str
    parts: Mapping[str, float]

    @property
    def total(self) -> float:
        return sum(self.parts.values())


def look_of(part: str) -> str:
    """The class of a part: its color."""
    return f"p-{_LOOKS.get(part, 'driver')}"


def swatch(part: str) -> Markup:
    """The color of a part beside its name."""
    return Markup(
        '<svg class="swatch" width="10" height="10" aria-hidden="true"><rect class="{}" width="10" height="10"/></svg>'
    ).format(look_of(part))


def time_bars(bars: Sequence[TimeBar], *, grown: str = "", more: str = "", narrow: bool = False) -> Markup:
    """One bar, or two whose `grown` part is joined; `more` says by how much."""
    width = 358.0 if narrow else 640.0
    scale = width / max((bar.total for bar in bars), default=0.0) if any(bar.total for bar in bars) else 0.0
    height = _HEIGHT if len(bars) > 1 else _TOP + _BAR + 2
    parts = []
    ends: list[tuple[float, float]] = []
    for k, bar in enumerate(bars):
        y = _TOP + k * (_BAR + _GAP)
        parts.append(marks.text(0, y - 6 if k == 0 else y + _BAR + 14, bar.title, look="k"))
        drawn, places = _segments(bar, y, scale)
        parts.append(drawn)
        ends += [places[grown]] if grown in places else []
    if len(ends) == 2:
        parts.append(_joined(ends[0], ends[1], more, width))
    return Markup('<svg viewBox="0 0 {} {}" width="{}" height="{}" aria-hidden="true" class="{}">{}</svg>').format(
        f"{width:g}", f"{height:g}", f"{width:g}", f"{height:g}", "narrow" if narrow else "wide", Markup("").join(parts)
    )


def _segments(bar: TimeBar, y: float, scale: float) -> tuple[Markup, dict[str, tuple[float, float]]]:
    drawn, places, x = [], {}, 0.0
    for name, seconds in bar.parts.items():
        wide = seconds * scale
        if wide < 0.4:
            continue
        places[name] = (x, x + wide)
        rect = Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>')
        drawn.append(rect.format(look_of(name), f"{x:.1f}", f"{y:g}", f"{max(wide - 1.2, 0.4):.1f}", f"{_BAR:g}"))
        if look_of(name).removeprefix("p-") in _LABELED and wide > 7.5 * len(name):
            drawn.append(marks.text(x + 5, y + 15, name, look="inside"))
        x += wide
    return Markup("").join(drawn), places


def _joined(before: tuple[float, float], since: tuple[float, float], more: str, width: float) -> Markup:
    """The same part of both bars."""
    top, bottom = _TOP + _BAR, _TOP + _BAR + _GAP
    shape = Markup('<path class="m-joined" d="M{} {}H{}L{} {}H{}Z"/>').format(
        f"{before[0]:.1f}", f"{top:g}", f"{before[1]:.1f}", f"{since[1]:.1f}", f"{bottom:g}", f"{since[0]:.1f}"
    )
    middle = (before[0] + before[1] + since[0] + since[1]) / 4
    anchor = "start" if middle < 60 else "end" if middle > width - 60 else "middle"
    return shape + marks.text(middle, top + 17, more, anchor=anchor, look="k b")
