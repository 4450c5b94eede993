"""Histories of jobs as pictures: measured runs on the band of their forecasts, changes, alarms, and the next run."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from markupsafe import Markup

from sparkcast.history.changes import JobChange
from sparkcast.history.stories import JobStory, StoryRun
from sparkcast.report import marks

SPARK_RUNS, SPARK_WIDTH, SPARK_HEIGHT = 30, 151, 34
WIDE_RUNS, NARROW_RUNS = 90, 36
FEWEST_DRAWN = 5  # runs from which a forecast is worth drawing
_WIDEST_BAR = 14.0
_FAR_LIMIT = 2.5  # times the longest run
_FIRST_TOLD = 3  # runs of a job before whose forecast there is next to nothing known


def spark(story: JobStory) -> Markup:
    """The last runs in a line of a list."""
    runs = story.runs[-SPARK_RUNS:]
    if not runs:
        return Markup()
    has_band = len(story.runs) >= FEWEST_DRAWN
    y = _scale(runs, top=3.0, bottom=SPARK_HEIGHT - 3.0, has_band=has_band)
    first = SPARK_WIDTH - 3 - 5 * (len(runs) - 1)
    places = [first + 5.0 * k for k in range(len(runs))]
    parts = []
    if has_band and not story.is_stale:
        parts.append(marks.band([(x, y(run.low_s), y(run.high_s)) for x, run in zip(places, runs, strict=True)]))
    at = _change_at(story, runs)
    if at is not None:
        parts.append(marks.change_point(places[at] - 2.5, 0, SPARK_HEIGHT, size=3.5))
    usual = [(x, y(run.took_s)) for x, run in zip(places, runs, strict=True) if not run.is_alarm]
    alarms = [(x, y(run.took_s)) for x, run in zip(places, runs, strict=True) if run.is_alarm]
    parts += [marks.dots("", usual, 2.8), marks.dots("alarm", alarms, 4.4)]
    return Markup('<svg width="{}" height="{}" role="img" aria-label="{}">{}</svg>').format(
        SPARK_WIDTH, SPARK_HEIGHT, spark_words(story), Markup("").join(parts)
    )


def spark_words(story: JobStory) -> str:
    """What the picture shows."""
    n = min(len(story.runs), SPARK_RUNS)
    last = f"Last {n} runs of {story.name}" if n > 1 else f"The only run of {story.name}"
    if len(story.runs) < FEWEST_DRAWN:
        return f"{last}: no forecast yet"
    runs = story.runs[-SPARK_RUNS:]
    if _change_at(story, runs) is not None and story.change is not None:
        word = "slower" if story.change.change > 0 else "faster"
        return f"{last}: {word} than forecast since {day(story.change.since_s)}"
    if runs[-1].is_alarm:
        return f"{last}: the last one far above its forecast"
    inside = sum(run.is_inside for run in runs)
    return f"{last}: {inside} inside their forecast"


def history(story: JobStory, *, narrow: bool = False, deadline_s: float | None = None) -> Markup:
    """All of the last runs with axes; a phone has room for fewer."""
    runs = story.runs[-(NARROW_RUNS if narrow else WIDE_RUNS) :]
    width, height = (358.0, 270.0) if narrow else (1112.0, 310.0)
    left, right, top, bottom = 44.0, width - (64 if narrow else 122), 24.0, height - 66
    has_band = len(story.runs) >= FEWEST_DRAWN
    if deadline_s and deadline_s > _FAR_LIMIT * max((run.took_s for run in runs), default=0.0):
        deadline_s = None  # so far above the runs that it would flatten them
    more = [deadline_s] if deadline_s else []
    more += list(story.next_s or ())
    y = _scale(runs, top=top, bottom=bottom, has_band=has_band, others=more)
    step = (right - left - 16) / max(1, len(runs) - 1)
    places = [left + 8 + step * k for k in range(len(runs))]
    parts = [_grid(runs, y, left, right, has_band, more), _inputs(runs, places, step, height, right, narrow)]
    parts.append(_dates(runs, places, height, narrow))
    own = list(zip(places, runs, strict=True))
    if has_band:
        known = own[max(0, _FIRST_TOLD - (len(story.runs) - len(runs))) :]
        parts.append(marks.band([(x, y(run.low_s), y(run.high_s)) for x, run in known]))
        parts.append(marks.line("m-median", [(x, y(run.middle_s)) for x, run in known]))
    if deadline_s:
        parts.append(marks.limit_across(y(deadline_s), left, right))
        parts.append(marks.text(left + 4, y(deadline_s) - 5, f"deadline {_minutes(deadline_s)}", look="limit"))
    at = _change_at(story, runs)
    if at is not None and story.change is not None:
        parts.append(_change(story.change, places[at] - step / 2, bottom, width))
    parts += _measured(own, y, has_band)
    if story.next_s is not None and not story.is_stale:
        parts.append(_next(story.next_s, right, y))
    parts.append(Markup('<path class="m-change cursor" d=""/>'))
    return Markup(
        '<svg viewBox="0 0 {} {}" width="{}" height="{}" aria-hidden="true" class="{}" data-left="{}" data-step="{}" '
        'data-runs="{}" data-bottom="{}">{}</svg>'
    ).format(
        *(f"{width:g}", f"{height:g}", f"{width:g}", f"{height:g}", "narrow" if narrow else "wide"),
        *(f"{left + 8:g}", f"{step:.4f}", len(runs), f"{bottom:g}", Markup("").join(parts)),
    )


def _change(change: JobChange, x: float, bottom: float, width: float) -> Markup:
    """The rule at which it became different, with its name on the side that has room."""
    anchor, away = ("end", -10) if x > width / 2 else ("start", 10)
    words = f"{day(change.since_s, short=True)}: {_percent(change.change)}"
    return marks.change_point(x, 14, bottom) + marks.text(x + away, 14, words, anchor=anchor, look="k b")


def _measured(own: Sequence[tuple[float, StoryRun]], y: Callable[[float], float], has_band: bool) -> list[Markup]:
    """Runs inside their forecast, outside it, and with an alarm."""
    usual = [(x, run) for x, run in own if not run.is_alarm]
    inside = [(x, y(run.took_s)) for x, run in usual if run.is_inside or not has_band]
    rings = [marks.outside(x, y(run.took_s)) for x, run in usual if has_band and not run.is_inside]
    alarms = [(x, y(run.took_s)) for x, run in own if run.is_alarm]
    return [marks.dots("", inside, 5), *rings, marks.dots("alarm", alarms, 6.4)]


def _next(forecast: tuple[float, float, float], right: float, y: Callable[[float], float]) -> Markup:
    low, middle, high = forecast
    return Markup("").join(
        [
            _upright(right + 10, y(low), y(high)),
            marks.predicted(right + 10, y(middle), 4),
            marks.text(right + 19, y(middle) - 1, "next run", look="k"),
            marks.text(right + 19, y(middle) + 14, _minutes(middle)),
        ]
    )


def _upright(x: float, low: float, high: float) -> Markup:
    return Markup('<line class="m-interval" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(
        marks.place(x), marks.place(x), marks.place(low), marks.place(high)
    )


def _scale(
    runs: Sequence[StoryRun],
    *,
    top: float,
    bottom: float,
    has_band: bool,
    others: Sequence[float] = (),
) -> Callable[[float], float]:
    low, high = _ends(runs, has_band, others)
    spread = (high - low) or high or 1.0

    def place(seconds: float) -> float:
        share = (seconds - low) / spread
        return round(bottom - min(max(share, 0.0), 1.0) * (bottom - top), 2)

    return place


def _ends(runs: Sequence[StoryRun], has_band: bool, others: Sequence[float]) -> tuple[float, float]:
    values = [run.took_s for run in runs] + list(others)
    if has_band:
        values += [end for run in runs[FEWEST_DRAWN:] or runs for end in (run.low_s, run.high_s)]
    low, high = min(values), max(values)
    return max(0.0, low - 0.04 * (high - low)), high + 0.04 * (high - low)


def _change_at(story: JobStory, runs: Sequence[StoryRun]) -> int | None:
    """The first of these runs that is different, where the change is among them."""
    change = story.change
    if change is None:
        return None
    return next((k for k, run in enumerate(runs) if run.run_id == change.run_id and k), None)


def _grid(
    runs: Sequence[StoryRun],
    y: Callable[[float], float],
    left: float,
    right: float,
    has_band: bool,
    more: Sequence[float],
) -> Markup:
    low, high = _ends(runs, has_band, more)
    unit, name = (1.0, "seconds") if high < 180 else (60.0, "minutes") if high < 3 * 3600 else (3600.0, "hours")
    steps = [float(f"{digit}e{exponent}") for exponent in range(-2, 5) for digit in (1, 2, 5)]
    step = next((s for s in steps if (high - low) / unit / s <= 6), steps[-1])
    ticks = [
        step * k for k in range(int(low / unit / step), int(high / unit / step) + 2) if low <= step * k * unit <= high
    ]
    parts = [marks.text(0, 10, name)]
    for tick in ticks:
        at = y(tick * unit)
        parts.append(Markup('<path class="m-grid" d="M{} {}H{}"/>').format(f"{left:g}", f"{at:g}", f"{right:g}"))
        parts.append(marks.text(left - 6, at + 4, f"{tick:g}", anchor="end"))
    return Markup("").join(parts)


def _inputs(
    runs: Sequence[StoryRun], places: Sequence[float], step: float, height: float, right: float, narrow: bool
) -> Markup:
    """What each run read, as bars below."""
    most = max((run.input_size for run in runs), default=0.0)
    if most <= 0:
        return Markup()
    bars = "".join(
        f"M{x:.5g} {height - 18:g}v{-17 * run.input_size / most:.3g}" for x, run in zip(places, runs, strict=True)
    )
    drawn = Markup('<path class="m-bars" stroke-width="{}" d="{}"/>').format(
        f"{min(max(1.0, 0.6 * step), _WIDEST_BAR):.3g}", bars
    )
    last = "" if narrow else f"{_size(runs[-1].input_size)} last"
    return drawn + marks.text(0, height - 46, "input read") + marks.text(right + 6, height - 26, last)


def _dates(runs: Sequence[StoryRun], places: Sequence[float], height: float, narrow: bool) -> Markup:
    parts, before, last_x = [], "", -100.0
    for x, run in zip(places, runs, strict=True):
        when = datetime.fromtimestamp(run.started_s, UTC)
        label = f"{when:%b} {when.day}"
        month = f"{when:%Y-%m}"
        if ((month != before and before) or (not before and len(runs) < 3)) and x - last_x > 50:
            parts.append(marks.text(x, height - 2, label, anchor="middle"))
            last_x = x
        before = month
    if not parts:
        for k in {0, len(runs) - 1}:
            when = datetime.fromtimestamp(runs[k].started_s, UTC)
            parts.append(marks.text(places[k], height - 2, f"{when:%b} {when.day}", anchor="start" if not k else "end"))
    return Markup("").join(parts)


def day(moment_s: float, *, short: bool = False) -> str:
    when = datetime.fromtimestamp(moment_s, UTC)
    return f"{when:%b} {when.day}" if short else f"{when:%B} {when.day}"


def _percent(change: float) -> str:
    return f"{abs(100 * change):.0f}% {'slower' if change > 0 else 'faster'}"


def _minutes(seconds: float) -> str:
    return (
        f"{seconds:.3g} s"
        if seconds < 100
        else f"{seconds / 60:.3g} min"
        if seconds < 6000
        else f"{seconds / 3600:.3g} h"
    )


def _size(size: float) -> str:
    from sparkcast.units import show_bytes

    return show_bytes(size)
