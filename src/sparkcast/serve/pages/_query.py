"""What is asked on the page about the next run: everything is in its address."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from sparkcast.errors import SparkcastError, StudyError
from sparkcast.study import Level
from sparkcast.units import parse_seconds

HOLD = "hold."  # in front of a setting that is held at a value
_MOST_PINNED = 4
Pairs = Iterable[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class RunQuery:
    """The limits and the held settings of an address. A part that makes no sense is left out, and told."""

    job: str = ""
    within_s: float | None = None
    is_limited: bool = False  # whether the address says anything of the deadline
    budget: float | None = None
    confidence: float = 0.95
    best: str = ""  # the objective: "-time_s", "+accuracy"; "" is the usual one
    hold: Mapping[str, Level] = field(default_factory=dict)
    running: int | None = None
    is_far_allowed: bool = False
    pinned: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @classmethod
    def of(cls, pairs: Pairs) -> "RunQuery":
        query, problems = cls(), []
        for name, text in pairs:
            try:
                query = query._with(name, text.strip())
            except (SparkcastError, ValueError) as error:
                told = error.problem if isinstance(error, SparkcastError) else f"{text!r} is not a number"
                problems.append(f"{name}: {told}")
        return replace(query, problems=tuple(problems))

    def _with(self, name: str, text: str) -> "RunQuery":
        if name == "job":
            return replace(self, job=text)
        if name == "within":
            return replace(self, within_s=_positive(parse_seconds(text)) if _is_given(text) else None, is_limited=True)
        if name == "budget":
            return replace(self, budget=_positive(_amount(text)) if _is_given(text) else None)
        if name == "confidence":
            return replace(self, confidence=_share(text)) if text else self
        if name == "best":
            return replace(self, best=text)
        if name == "running":
            return replace(self, running=_whole(text)) if text else self
        if name == "extrapolate":
            return replace(self, is_far_allowed=text == "1")
        if name == "pin":
            return replace(self, pinned=tuple(dict.fromkeys((*self.pinned, text)))[-_MOST_PINNED:])
        if name.startswith(HOLD) and _is_given(text):
            return replace(self, hold={**self.hold, name.removeprefix(HOLD): level_of(text)})
        return self

    def address(self, **changes: object) -> str:
        """The address that asks this, with something else in it."""
        own = replace(self, **changes)  # type: ignore[arg-type]
        pairs = [("job", own.job)]
        if own.within_s is not None or own.is_limited:
            pairs.append(("within", "any" if own.within_s is None else f"{own.within_s:g}s"))
        pairs += [] if own.budget is None else [("budget", f"{own.budget:g}")]
        pairs += [] if own.confidence == 0.95 else [("confidence", f"{own.confidence:g}")]
        pairs += [("best", own.best)] if own.best else []
        pairs += [(HOLD + name, str(level)) for name, level in own.hold.items()]
        pairs += [] if own.running is None else [("running", str(own.running))]
        pairs += [("extrapolate", "1")] if own.is_far_allowed else []
        pairs += [("pin", label) for label in own.pinned]
        return f"/run?{urlencode(pairs)}"


def _is_given(text: str) -> bool:
    return text.lower() not in ("", "any", "none")


def _positive(number: float) -> float:
    if not 0 < number < float("inf"):
        raise StudyError(f"{number:g} is not above 0", hint="write a positive limit")
    return number


def _amount(text: str) -> float:
    number = text.lstrip("$€£").replace(",", "").split(" ")[0]
    return float(number.removesuffix("¢")) / (100 if number.endswith("¢") else 1)


def _share(text: str) -> float:
    """0.95, 95%, 95 or "95 of 100 runs"."""
    number = float(text.split(" ")[0].removesuffix("%"))
    share = number / 100 if number >= 1 else number
    if not 0.01 <= share <= 0.995:
        raise StudyError(f"a confidence of {text} is not possible", hint="write 95 for 95 of 100 runs")
    return share


def _whole(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 1000:
        raise StudyError(f"{number} running jobs are not possible", hint="write a number from 0 to 1000")
    return number


def level_of(text: str) -> Level:
    """A level as a study file would read it."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)
