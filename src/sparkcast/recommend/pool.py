"""Candidates by the settings that models know."""

from collections.abc import Mapping

import numpy as np

from sparkcast.arrays import Bools
from sparkcast.errors import InfeasibleError, NotEnoughDataError, StudyError
from sparkcast.learned.knowledge import Knowledge
from sparkcast.recommend.evaluation import RunRecord, rows_like
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, Level, same_level
from sparkcast.study.space import Candidates, Pool


def candidates_of(pool: Pool, fix: Mapping[str, Level], known: RunRecord) -> Candidates:
    """The candidates with the fixed settings, which may have values that no candidate has by itself."""
    given = {name: value for name, value in fix.items() if not is_repeated(known, name, value)}
    for name, value in given.items():
        if name in known.factors or (name == known.epochs and name in known.constants):
            continue
        if name in known.constants:
            raise _never_varied(name, value, known.constants[name])
        names = tuple(dict.fromkeys((*known.factors, *known.constants)))
        raise StudyError(f"cannot fix {name!r}: there is no such setting", hint=did_you_mean(name, names))
    return _as_known(pool.fixing(given).candidates(), known)


def _as_known(candidates: Candidates, known: RunRecord) -> Candidates:
    """The candidates by the settings that models know; others must be what every run had."""
    kept = list(known.factors)
    for name, levels in candidates.levels.items():
        others = [level for level in levels if not is_repeated(known, name, level)]
        if name == known.epochs and others and name not in kept:
            kept.append(name)
        elif name not in kept and name in known.constants and others:
            raise _never_varied(name, others[0], known.constants[name])
    for name in kept:
        if name not in candidates.levels:
            raise StudyError(f"a candidate has no value for {name!r}", hint="give every varied setting")
    return candidates if kept == list(candidates.levels) else candidates.only(kept)


def measured_epochs(knowledge: Knowledge) -> tuple[int, ...]:
    """1 to the longest run; raises NotEnoughDataError when no run tells its epochs."""
    if knowledge.last_epoch < 1:
        raise NotEnoughDataError(
            "no run reports its epochs, so their number cannot be free",
            hint="make the number of epochs a factor, or measure with a workload that reports every epoch",
        )
    return tuple(range(1, knowledge.last_epoch + 1))


def having(candidates: Candidates, fix: Mapping[str, Level], known: RunRecord) -> Bools:
    """Which candidates have the fixed settings; none when one of these is not among their settings."""
    given = {name: value for name, value in fix.items() if not is_repeated(known, name, value)}
    if not given.keys() <= candidates.levels.keys():
        return np.zeros(len(candidates), dtype=bool)
    return rows_like(candidates, given, tuple(given))


def is_repeated(known: RunRecord, name: str, value: Level) -> bool:
    """Whether this only says what every run had."""
    return name not in known.factors and name in known.constants and same_level(value, known.constants[name])


def _never_varied(name: str, value: Level, seen: Level) -> NotEnoughDataError:
    return NotEnoughDataError(
        f"every run has {name} = {seen}, so nothing is known about {name} = {value}",
        hint=f"run the study with {name} = {value} as an additional level",
    )


def nothing_left(pool: Pool, fix: Mapping[str, Level]) -> InfeasibleError:
    """No candidate is left: which fixed setting or which rule alone stands in the way."""
    hints = [
        f"leave out `fix={ {name: fix[name]} }`"
        for name in fix
        if len(pool.fixing({other: value for other, value in fix.items() if other != name}).candidates())
    ]
    relaxed = pool.fixing(fix).without_each_rule()
    hints += [f"relax the rule {rule.text!r}" for rule, left in relaxed if len(left.candidates())]
    given = f" with {Configuration(fix)}" if fix else ""
    return InfeasibleError(
        f"the rules leave no candidate{given}", hint=", or ".join(hints) or "relax more than one of the rules"
    )
