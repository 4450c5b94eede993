"""The list of jobs as an address asks for it, and what of it needs a look."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from sparkcast.history.changes import Cause, RunScore
from sparkcast.history.morning import FleetReport
from sparkcast.history.savings import Saving
from sparkcast.history.stories import ENOUGH, JobStory
from sparkcast.report.histories import day
from sparkcast.serve.pages import _words as words
from sparkcast.serve.pages._board import JobBoard
from sparkcast.study.names import COST

FIRST, MORE, MOST = 12, 50, 5000  # rows
_RECENT_S = 7 * 86400.0  # for which a change is news
_DAY_S = 86400.0
_AS_USUAL = 0.15  # of the input


@dataclass(frozen=True, slots=True)
class ListQuery:
    """Search, filter, order and length: all in the address."""

    find: str = ""
    show: str = "all"
    sort: str = "saves"
    n: int = FIRST

    @classmethod
    def of(cls, given: "dict[str, str]") -> "ListQuery":
        number = given.get("n", "")
        n = min(max(int(number), 1), MOST) if number.isdigit() and len(number) < 6 else FIRST
        show = given.get("show", "all")
        sort = given.get("sort", "saves")
        return cls(
            given.get("find", "")[:100], show if show in FILTERS else "all", sort if sort in ORDERS else "saves", n
        )

    def address(self, **changes: object) -> str:
        one, usual = replace(self, **changes), ListQuery()  # type: ignore[arg-type]
        pairs = [(name, getattr(one, name)) for name in ("find", "show", "sort", "n")]
        kept = [(name, value) for name, value in pairs if value != getattr(usual, name)]
        return f"/?{urlencode(kept)}" if kept else "/"


@dataclass(frozen=True, slots=True)
class JobLine:
    """A job in the list."""

    story: JobStory
    spark: Markup
    notes: tuple[tuple[str, str], ...]  # a class of the style, and words

    @property
    def saving(self) -> tuple[float, float, float] | None:
        return together(self.story.savings)


def together(savings: Sequence[Saving]) -> tuple[float, float, float] | None:
    """The sum, with an interval: errors of different savings have nothing to do with each other."""
    if not savings:
        return None
    worth = sum(one.worth for one in savings)
    low = worth - sum((one.worth - one.low) ** 2 for one in savings) ** 0.5
    return worth, max(low, 0.0), worth + sum((one.high - one.worth) ** 2 for one in savings) ** 0.5


def lines_of(board: JobBoard, stories: Sequence[JobStory]) -> list[JobLine]:
    drawn = dict(zip((story.name for story in board.stories), board.sparks, strict=True))
    return [JobLine(story, Markup(drawn[story.name]), tuple(notes_of(story, board.until_s))) for story in stories]


def notes_of(story: JobStory, until_s: float) -> list[tuple[str, str]]:
    """What is to be said of a job in the list: alarms first, then what is not known, then what to change."""
    notes = []
    if is_slower(story) and story.change is not None:
        notes.append(
            ("bad", f"▲ {100 * story.change.change:.0f}% slower since {day(story.change.since_s, short=True)}")
        )
    if story.latest is not None and not story.is_stale:
        took, most = words.duration(story.latest.took_s), words.duration(story.latest.most_s)
        notes.append(("bad", f"▲ Last run {took}; 99 of 100 take under {most}"))
    if story.is_at_risk and story.in_time is not None:
        notes.append(("bad", f"◷ Deadline at risk: {words.in_hundred(story.in_time)} keep it"))
    n = len(story.runs)
    if story.is_stale and story.last_s is not None:
        age = max(1, round((until_s - story.last_s) / _DAY_S))
        told = (
            f"Forecast is {words.count(age, 'day')} old: its logs stopped arriving on {day(story.last_s, short=True)}"
        )
        notes.append(("doubt", told))
    elif n == 0:
        notes.append(("", f"{words.count(story.n_runs, 'run')}, none ended well"))
    elif n == 1:
        notes.append(("", "1 run: where its time went, nothing more"))
    elif n < ENOUGH:
        notes.append(("", f"{n} runs: the forecast is wide, no alarms yet"))
    notes += [("", one.text.replace(" -> ", " → ")) for one in story.savings[:2]]
    return notes


def is_slower(story: JobStory) -> bool:
    return story.change is not None and story.change.change > 0 and not story.is_stale


FILTERS: dict[str, tuple[str, Callable[[JobLine], bool]]] = {
    "all": ("All", lambda line: True),
    "save": ("Can save", lambda line: bool(line.story.savings)),
    "slower": ("Slower", lambda line: is_slower(line.story)),
    "unusual": ("Last run unusual", lambda line: line.story.latest is not None and not line.story.is_stale),
    "deadline": ("Deadline at risk", lambda line: line.story.is_at_risk),
    "failed": ("With failures", lambda line: line.story.n_failed > 0),
    "few": ("Too few runs", lambda line: len(line.story.runs) < ENOUGH),
}
ORDERS: dict[str, Callable[[JobLine], Any]] = {
    "saves": lambda line: (-(line.saving or (0.0,))[0], not is_slower(line.story) and line.story.latest is None),
    "job": lambda line: line.story.name.lower(),
    "time": lambda line: -(line.story.usual_s or 0.0),
    "hours": lambda line: -line.story.worth,
    "deadline": lambda line: 2.0 if line.story.in_time is None else line.story.in_time,
    "last": lambda line: -(line.story.last_s or 0.0),
}


def found_in(lines: Sequence[JobLine], query: ListQuery) -> list[JobLine]:
    """Those that are asked for, in the order that is asked for."""
    wanted = query.find.lower()
    kept = [line for line in lines if not wanted or wanted in _text(line)]
    kept = [line for line in kept if FILTERS[query.show][1](line)]
    return sorted(kept, key=lambda line: (ORDERS[query.sort](line), line.story.name))


def _text(line: JobLine) -> str:
    story = line.story
    return " ".join((story.name, story.user, story.queue, *(one.text for one in story.savings))).lower()


@dataclass(frozen=True, slots=True)
class FleetSums:
    """What all jobs took in the period, and what of it could be saved."""

    spent: float
    saving: tuple[float, float, float] | None
    failed: float
    n_saving: int
    needs_look: tuple[JobStory, ...]
    currency: str
    deadlines: tuple[JobStory, ...] = ()  # of jobs that have one, the one at most risk first

    @property
    def headline(self) -> str:
        n = len(self.needs_look)
        look = f" {number(n).capitalize()} {'job needs' if n == 1 else 'jobs need'} a look." if n else ""
        risk = sum(story.is_at_risk for story in self.deadlines)
        if risk:
            look += f" {number(risk).capitalize()} {'deadline is' if risk == 1 else 'deadlines are'} at risk."
        if self.saving is None:
            return f"Nothing worth changing: differences are within the noise.{look}"
        jobs = "job" if self.n_saving == 1 else "jobs"
        less = f"{words.worth(self.saving[0], self.currency)} less a month"
        verb = COST if self.currency else "take"
        return f"{self.n_saving} {jobs} could {verb} about {less}.{look}"


def sums_of(stories: Sequence[JobStory], until_s: float, report: FleetReport | None) -> FleetSums:
    savings = [one for story in stories for one in story.savings]
    look = [story for story in stories if _needs_look(story, until_s)]
    failed = sum(one.worth for one in report.failures) if report is not None else 0.0
    look.sort(key=lambda story: -(story.change.since_s if story.change else story.last_s or 0.0))
    spent = report.total.worth if report is not None else sum(story.worth for story in stories)
    currency = report.currency if report is not None else ""
    n = sum(bool(story.savings) for story in stories)
    deadlines = sorted((story for story in stories if story.in_time is not None), key=lambda one: one.in_time or 0.0)
    return FleetSums(spent, together(savings), failed, n, tuple(look), currency, tuple(deadlines))


def _needs_look(story: JobStory, until_s: float) -> bool:
    if story.latest is not None and not story.is_stale:
        return True
    return is_slower(story) and story.change is not None and until_s - story.change.found_s < _RECENT_S


def number(n: int) -> str:
    named = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return named[n] if n < len(named) else f"{n:,}"


def look_sentence(story: JobStory) -> str:
    """After the name of the job: what is the matter, and with what it came."""
    if is_slower(story) and story.change is not None:
        change = story.change
        likely = f"likely {100 * change.low:.0f}% to {100 * change.high:.0f}%"
        told = f"is {100 * change.change:.0f}% slower at the same input since {day(change.since_s)} ({likely})."
        return f"{told} {cause_sentence(story)}"
    if story.latest is not None and not story.is_stale:
        return _unusual_sentence(story.latest)
    return ""


def cause_sentence(story: JobStory) -> str:
    """What came with the change."""
    if story.change is None or not story.change.causes:
        return "No setting, input or plan changed with it."
    return f"With it: {cause_text(story.change.causes[0])}."


def _unusual_sentence(score: RunScore) -> str:
    most = words.duration(score.most_s)
    told = f"took {words.duration(score.took_s)}; 99 of 100 such runs take less than {most}."
    parts = [f"{words.duration(more)} more than usual went into {part}" for part, more in score.extra.items()][:1]
    if (ratio := score.input_ratio) is not None:
        is_usual = abs(ratio - 1) < _AS_USUAL
        parts.append("its input was as usual" if is_usual else f"its input was {ratio:.2g} times the usual")
    text = "; ".join(parts)
    return f"{told} {text[:1].upper()}{text[1:]}." if text else told


def cause_text(cause: Cause) -> str:
    """What changed with the time, as a sentence goes on."""
    return cause.text.replace(" -> ", " → ")
