"""How much data there is, is not a choice: less of it is faster, but answers another question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sparkcast.errors import StudyError
from sparkcast.recommend import Limit
from sparkcast.recommend.evaluation import RunRecord
from sparkcast.recommend.question import Objective
from sparkcast.study import Configuration, Level, Role, Vocabulary
from sparkcast.study.names import names_a_job
from sparkcast.units import as_number


@dataclass(frozen=True, slots=True)
class WholeData:
    """The amounts of data that a question leaves open, each at the largest that was measured."""

    settings: Configuration = field(default_factory=Configuration)
    notes: tuple[str, ...] = ()


def whole_data(
    known: RunRecord,
    given: Mapping[str, Level | None],
    objective: Objective,
    limits: Sequence[Limit],
    words: Vocabulary,
) -> WholeData:
    """`given`: settings that the question fixes, or gives values to choose from (None)."""
    _require_one_job(known, given)
    decisive = {objective.response, *(limit.response for limit in limits)}
    # A share of the data is what an accuracy is bought with.
    roles = (Role.DATA_SIZE,) if words.quality in decisive else (Role.DATA_SIZE, Role.FRACTION)
    names = [name for name in known.factors if words.role(name) in roles and name not in {*given, *decisive}]
    held: dict[str, Level] = {}
    notes: list[str] = []
    like = _categories(known, given)
    for name in names:
        ran = [seen for seen in known.seen if seen.ok and seen.configuration.includes(held)]
        if not ran:
            continue
        # The largest that this job or machine had, where it is fixed: another's says nothing of it.
        ran = [seen for seen in ran if seen.configuration.includes(like)] or ran
        held[name] = _largest(name, [seen.configuration[name] for seen in ran])
        notes += _failed_above(known, name, held[name])
    return WholeData(Configuration(held), tuple(notes))


def _failed_above(known: RunRecord, name: str, held: Level) -> list[str]:
    failed = [seen.configuration[name] for seen in known.seen if seen.failed and not seen.ok]
    larger = [level for level in failed if _number(level) > _number(held)]
    return [f"{name}={_largest(name, larger)} was run as well, but every run of it failed"] if larger else []


def _categories(known: RunRecord, given: Mapping[str, Level | None]) -> Configuration:
    """Those that a question fixes."""
    fixed = {name: level for name, level in given.items() if level is not None and name in known.factors}
    return Configuration({name: level for name, level in fixed.items() if as_number(level) is None})


def _require_one_job(known: RunRecord, given: Mapping[str, Level | None]) -> None:
    """Jobs do different work: the quickest of them is no answer about the others."""
    for name in (one for one in known.factors if one not in given and names_a_job(one)):
        jobs = tuple(dict.fromkeys(seen.configuration[name] for seen in known.seen if seen.ok))
        if len(jobs) > 1 and any(as_number(job) is None for job in jobs):
            shown, one = ", ".join(map(str, jobs[:3])) + ", ..." * (len(jobs) > 3), {name: jobs[0]}
            raise StudyError(
                f"{name} says which job ran ({shown}), and nobody chooses that",
                hint=f"read the rows of one: `where={one}`; or, of a study, say which: `fix={one}`",
            )


def _largest(name: str, levels: Sequence[Level]) -> Level:
    different = tuple(dict.fromkeys(levels))
    if len(different) > 1 and any(as_number(level) is None for level in different):
        raise StudyError(
            f"{name} is an amount of data, and the largest of {', '.join(map(str, different))} cannot be told",
            hint=f"say which one you have: `fix={ {name: different[-1]} }`",
        )
    return max(different, key=_number)


def _number(level: Level) -> float:
    number = as_number(level)
    return float("-inf") if number is None else number


def shown_amounts(held: Mapping[str, Level]) -> str:
    """What was held, and how to ask about another amount.

    >>> shown_amounts({"rows": 90000})
    "rows=90000, the largest measured; `fix={'rows': ...}` asks about another amount"
    """
    return f"{Configuration(held)}, the largest measured; {_another(held)} asks about another amount"


def less_data(held: Mapping[str, Level]) -> str:
    """How to ask about less, where the amount that was held is too much.

    >>> less_data({"rows": 90000})
    "ask about less data than rows=90000, the largest measured: `fix={'rows': ...}`"
    """
    return f"ask about less data than {Configuration(held)}, the largest measured: {_another(held)}"


def _another(held: Mapping[str, Level]) -> str:
    [*names] = held
    return f"`fix={{{names[0]!r}: ...}}`"
