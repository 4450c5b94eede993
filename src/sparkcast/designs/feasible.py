"""All combinations that the rules allow, or a sample of them where there are too many to list."""

from collections.abc import Sequence
from dataclasses import dataclass

from sparkcast.errors import StudyError
from sparkcast.study import Configuration, Study

MAX_LISTED = 20_000  # combinations
_SAMPLED = 10_000


@dataclass(frozen=True, slots=True)
class Feasible:
    configurations: Sequence[Configuration]  # with the fixed settings
    is_complete: bool
    notes: tuple[str, ...] = ()


def feasible(study: Study, most: int = _SAMPLED) -> Feasible:
    """Combinations of levels, with the fixed settings, that no rule excludes. At most `most` of them where they are too
    many to list: the same ones for the same seed."""
    space = study.space()
    count = space.count()
    is_complete = count is not None and count <= MAX_LISTED
    found = space.candidates() if is_complete else space.sample(most, study.design.seed)
    note = f"searched a random sample of {len(found):,} of {space.size:,} combinations"
    if is_complete:
        note = f"the rules exclude {space.size - len(found):,} of {space.size:,} combinations"
    if not len(found):
        looked = f"the rules exclude all {space.size}" if is_complete else "the rules seem to exclude all"
        raise StudyError(
            f"{study.where('rules')}{looked} combinations: {'; '.join(rule.text for rule in study.rules)}",
            hint="relax a rule or add levels that satisfy it",
        )
    notes = (note,) if len(found) < space.size else ()
    return Feasible([c | study.fixed for c in found.configurations()], is_complete, notes)
