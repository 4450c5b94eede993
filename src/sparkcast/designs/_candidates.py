"""All combinations that the rules allow, or a sample of them where there are too many to list."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from sparkcast.errors import StudyError
from sparkcast.study import Configuration, Study

MAX_LISTED = 20_000
_SAMPLED = 10_000
_TRIES = 80_000


@dataclass(frozen=True, slots=True)
class Candidates:
    configurations: Sequence[Configuration]
    is_complete: bool
    notes: tuple[str, ...] = ()


def feasible(study: Study, most: int = _SAMPLED) -> Candidates:
    """Combinations of levels, with the fixed settings, that no rule excludes."""
    total = prod(len(factor.levels) for factor in study.factors)
    if total <= MAX_LISTED:
        found: list[Configuration] = [c for c in study.combinations() if study.allows(c)]
        notes = (f"the rules exclude {total - len(found):,} of {total:,} combinations",) if len(found) < total else ()
        candidates = Candidates(found, True, notes)
    else:
        sample = _sample(study, most)
        candidates = Candidates(sample, False, (f"looked at a random {len(sample):,} of {total:,} combinations",))
    if not candidates.configurations:
        rules = "; ".join(rule.text for rule in study.rules)
        raise StudyError(
            f"{study.where('rules')}the rules exclude all {total} combinations: {rules}",
            hint="relax a rule or add levels that satisfy it",
        )
    return candidates


def _sample(study: Study, most: int) -> list[Configuration]:
    """Different allowed combinations by chance, the same for the same seed."""
    generator = random.Random(study.design.seed)
    seen: dict[tuple[object, ...], Configuration] = {}
    for _ in range(max(_TRIES, 4 * most)):
        if len(seen) >= most:
            break
        levels = {factor.name: generator.choice(factor.levels) for factor in study.factors}
        configuration = Configuration(levels) | study.fixed
        key = tuple(levels.values())
        if key not in seen and study.allows(configuration):
            seen[key] = configuration
    return list(seen.values())
