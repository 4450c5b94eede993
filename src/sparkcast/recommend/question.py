"""What is asked of a recommendation: an objective, and limits to keep to."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sparkcast.errors import StudyError
from sparkcast.recommend import Limit
from sparkcast.registry import did_you_mean
from sparkcast.study import Kind, Level, Response, Vocabulary
from sparkcast.study.names import COST
from sparkcast.units import parse_seconds

_LIMIT = re.compile(r"\s*(?P<name>[^<>=]+?)\s*(?P<sign><=|>=|<|>)\s*(?P<value>[^<>=]+?)\s*")
_WRITE_IT = "write it like 'auc >= 0.9' or 'time_s <= 300s'"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a recommendation, as people say it.

    >>> Question(within_s=60, minimize="cost", limits=["auc >= 0.9"]).confidence
    0.95
    """

    limits: Sequence[Limit | str] = ()  # on any response: "auc >= 0.9", "time_s <= 300s"
    confidence: float = 0.95  # the probability with which all limits must be met
    maximize: str | None = None  # a response or a numeric setting; see `objective_of` for neither
    minimize: str | None = None
    fix: Mapping[str, Level] = field(default_factory=dict)  # settings to hold at a given value
    max_failure: float = 0.1  # of candidates that were never run, those more likely to fail are left out
    most: int = 100  # how many of the candidates the answer lists
    within_s: float | None = None  # the deadline: a limit on the time
    budget: float | None = None  # a limit on what one run costs
    min_accuracy: float | None = None  # a limit on the response that is a share

    def __post_init__(self) -> None:
        object.__setattr__(self, "limits", (self.limits,) if isinstance(self.limits, str) else tuple(self.limits))
        for name, share in (("confidence", self.confidence), ("max_failure", self.max_failure)):
            if not 0 < share < 1:
                raise StudyError(f"{name} {share:g} is not between 0 and 1", hint="write 0.95 for 95%")

    @property
    def quantile_level(self) -> float:
        """The level of the interval whose upper end is the time that is met with `confidence`."""
        return round(2 * self.confidence - 1, 12) if self.confidence > 0.5 else 0.9


@dataclass(frozen=True, slots=True)
class Objective:
    response: str
    is_maximum: bool

    def __str__(self) -> str:
        return f"{'maximize' if self.is_maximum else 'minimize'} {self.response}"


def objective_of(
    words: Vocabulary,
    *,
    maximize: str | None = None,
    minimize: str | None = None,
    limited: Collection[str] = (),
    resources: str | None = None,
) -> Objective:
    """What `recommend` and `tune` optimize.

    1. What is said.
    2. The quality, where the time or the cost is `limited`.
    3. The cost, or else the `resources`, where the time is: nothing is won by being done long before a deadline.
    4. The time.
    """
    if maximize and minimize:
        raise StudyError(
            f"cannot both maximize {maximize} and minimize {minimize}", hint="choose one; limit the other instead"
        )
    if maximize or minimize:
        return Objective(maximize or minimize or "", maximize is not None)
    kinds = {words.response(name).kind for name in limited}
    if kinds & {Kind.TIME, Kind.MONEY} and words.quality is not None:
        return Objective(words.quality, True)
    cheapest = words.money or resources
    if Kind.TIME in kinds and cheapest is not None:
        return Objective(cheapest, False)
    return Objective(words.required_time(), False)


# ---------------------------------------------------------------- limits


def deadline(seconds: float, words: Vocabulary) -> Limit:
    """`--within`: at most this long."""
    if not (math.isfinite(seconds) and seconds > 0):
        raise StudyError(f"a deadline of {seconds:g} s is not positive", hint="give a positive time, e.g. 300s")
    name = words.required_time()
    return Limit(name, words.response(name).from_seconds(seconds))


def budget(amount: float, words: Vocabulary) -> Limit:
    """`--budget`: at most this much money for one run."""
    if not (math.isfinite(amount) and amount > 0):
        raise StudyError(f"a budget of {amount:g} is not positive", hint="give a positive amount, e.g. 0.25")
    return Limit(words.money or COST, amount)


def least_quality(share: float, words: Vocabulary) -> Limit:
    """`--min-accuracy`: at least this good."""
    if not 0 <= share <= 100:
        raise StudyError(f"an accuracy of {share:g} is not possible", hint="write 0.95 for 95%")
    if words.quality is None:
        raise StudyError(
            "none of the responses is an accuracy",
            hint="declare it with `roles={NAME: 'share'}`; or limit any response: `limits=['NAME >= 0.9']`",
        )
    return Limit(words.quality, share, is_upper=False)


def parse_limit(text: str, words: Vocabulary, known: Sequence[str]) -> Limit:
    """`--limit`: any response, with the sign and the unit people write.

    >>> minutes, auc = Response("minutes", kind=Kind.TIME, unit="min"), Response("auc", kind=Kind.SHARE)
    >>> words, known = Vocabulary(responses=(minutes, auc)), ["minutes", "auc"]
    >>> parse_limit("minutes <= 300s", words, known).value, parse_limit("auc >= 90%", words, known).value
    (5.0, 0.9)
    """
    found = _LIMIT.fullmatch(text)
    if found is None:
        raise StudyError(f"{text!r} is not a limit", hint=_WRITE_IT)
    if found["name"] not in known:
        raise StudyError(
            f"`limits=` {text!r}: there is no response {found['name']!r}", hint=did_you_mean(found["name"], list(known))
        )
    response, is_upper = words.response(found["name"]), found["sign"].startswith("<")
    value = _bound(text, found["value"], response)
    if is_upper and value <= 0 and response.kind in (Kind.TIME, Kind.MONEY):
        raise StudyError(f"{text!r}: not positive, so no run can meet it", hint="give a positive limit")
    return Limit(response.name, value, is_upper)


def _bound(text: str, value: str, response: Response) -> float:
    try:
        number = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
    except ValueError:
        if response.kind is not Kind.TIME:
            raise StudyError(f"{text!r}: {value!r} is not a number", hint=_WRITE_IT) from None
        number = response.from_seconds(parse_seconds(value))
    if not math.isfinite(number):
        raise StudyError(f"{text!r}: {value} is not finite", hint=_WRITE_IT)
    return number


def limits_of(question: Question, words: Vocabulary, known: Sequence[str]) -> tuple[Limit, ...]:
    """All limits of a question: the short forms, and those that are written out."""
    short = [
        None if question.within_s is None else deadline(question.within_s, words),
        None if question.budget is None else budget(question.budget, words),
        None if question.min_accuracy is None else least_quality(question.min_accuracy, words),
    ]
    written = [limit if isinstance(limit, Limit) else parse_limit(limit, words, known) for limit in question.limits]
    limits = (*(limit for limit in short if limit is not None), *written)
    sides = [(limit.response, limit.is_upper) for limit in limits]
    if len(set(sides)) < len(sides):
        name = next(name for name, is_upper in sides if sides.count((name, is_upper)) > 1)
        raise StudyError(f"{name} has two limits on the same side", hint="give only one")
    return limits
