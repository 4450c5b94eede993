"""Which combinations to run. A design chooses them; order, replicates and rules are the same for all."""

import random
from collections.abc import Sequence
from typing import Protocol

from sparkcast.errors import StudyError
from sparkcast.registry import Registry
from sparkcast.study import Configuration, Plan, Study, Trial


class Design(Protocol):
    """Chooses combinations of levels; settings that are fixed in the study are part of each."""

    def combinations(self, study: Study) -> Sequence[Configuration]: ...


DESIGNS: Registry[Design] = Registry("design", __name__)


def make_plan(study: Study) -> Plan:
    """The trials of a study in run order. Pure: the same study gives the same plan.

    Rules come first: a combination they exclude is never run. Each replicate is a block with its own random order, so
    that a study stopped early has whole replicates, and drift of the machine is spread over all settings.
    """
    wanted = DESIGNS.get(study.design.kind)().combinations(study)
    allowed = [c for c in wanted if study.allows(c)]
    excluded = tuple(c for c in wanted if not study.allows(c))
    if not allowed:
        rules = "; ".join(rule.text for rule in study.rules)
        raise StudyError(
            f"{study.where('rules')}the rules exclude all {len(excluded)} combinations: {rules}",
            hint="relax a rule or add levels that satisfy it",
        )
    shuffler = random.Random(study.design.seed)
    trials: list[Trial] = []
    for replicate in range(1, study.design.replicates + 1):
        block = list(allowed)
        shuffler.shuffle(block)
        trials += [Trial(c, replicate, len(trials) + i) for i, c in enumerate(block, start=1)]
    return Plan(study.design.kind, study.design.seed, tuple(trials), excluded)
