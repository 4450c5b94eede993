"""Which combinations to run: designs, one file each, see `sparkcast.designs.base`. Order, replicates, blocks, center
points and rules are the same for all."""

import random
from collections import Counter
from collections.abc import Sequence

from sparkcast.designs.base import DESIGNS, Chosen, Design, TimeOf
from sparkcast.errors import StudyError
from sparkcast.study import Configuration, Plan, Study, Trial
from sparkcast.study.hours import gap_s, n_blocks
from sparkcast.study.trial import TrialKind
from sparkcast.units import show_seconds

__all__ = ["DESIGNS", "Chosen", "Design", "TimeOf", "make_design", "make_plan"]


def make_design(study: Study) -> Design:
    """The study's design with its options. Raises StudyError, naming the line, for an option it does not take."""
    from sparkcast.designs._options import with_options

    return with_options(DESIGNS.get(study.design.kind), study)


def make_plan(study: Study, time_of: TimeOf | None = None) -> Plan:
    """The trials of a study in run order. Pure: the same study gives the same plan.

    Rules come first: a combination they exclude is never run. Each replicate is a block with its own random order, or
    several blocks when the study asks for them, so that a study stopped early has whole replicates, and drift of the
    machine is spread over all settings.
    """
    from sparkcast.designs._blocks import make_blocks
    from sparkcast.designs._center import center_points
    from sparkcast.designs._rules import what_rules_cost
    from sparkcast.designs._size import require_few_runs

    chosen = make_design(study).choose(study, time_of)
    configurations = [Configuration(c) | study.fixed for c in chosen.configurations]
    verdicts = study.space().allows(configurations)
    allowed = [c for c, is_allowed in zip(configurations, verdicts, strict=True) if is_allowed]
    excluded = tuple(c for c, is_allowed in zip(configurations, verdicts, strict=True) if not is_allowed)
    if not allowed:
        rules = "; ".join(rule.text for rule in study.rules)
        raise StudyError(
            f"{study.where('rules')}the rules exclude all {len(excluded) + chosen.n_unlisted} combinations: {rules}",
            hint="relax a rule or add levels that satisfy it",
        )
    design, where = study.design, study.where("design", "replicates")
    require_few_runs(
        (len(allowed) + design.center_points) * design.replicates,
        f"{len(allowed):,} combinations and {design.center_points:,} center points, {design.replicates:,} of each,",
        where,
    )
    center = center_points(study)
    blocks = make_blocks(study, allowed)
    notes = (*chosen.notes, *what_rules_cost(study, allowed, excluded, chosen.n_unlisted), *center.notes, *blocks.notes)
    notes = (*notes, *_over_hours(study))
    members: list[list[_Point]] = [[] for _ in range(study.design.blocks)]
    for configuration, block in zip(allowed, blocks.of, strict=True):
        members[block].append((configuration, "factorial"))
    for i, configuration in enumerate(center.configurations):
        members[i % len(members)].append((configuration, "center"))
    trials = _in_random_order(members, study)
    return Plan(study.design.kind, study.design.seed, trials, excluded, notes, blocks.confounded, chosen.n_unlisted)


def _over_hours(study: Study) -> tuple[str, ...]:
    """What to know of a study whose blocks run at different hours. Raises StudyError where there is only one."""
    design, gap = study.design, gap_s(study.design)
    if gap is None:
        return ()
    if design.replicates * design.blocks == 1:
        raise StudyError(
            f"{study.where('design', 'spread')}one replicate in one block cannot be spread over hours",
            hint="add replicates: design: {replicates: 4, spread: 24h}",
        )
    each = show_seconds(gap)
    return (f"spread over {show_seconds(design.spread_s or 0.0)}: {n_blocks(design)} blocks, one every {each}",)


_Point = tuple[Configuration, TrialKind]


def _in_random_order(blocks: Sequence[Sequence[_Point]], study: Study) -> tuple[Trial, ...]:
    """Each replicate has all blocks; within a block the order is random."""
    shuffler = random.Random(study.design.seed)
    number = _Replicates(blocks, study.design.replicates)
    trials: list[Trial] = []
    for _ in range(study.design.replicates):
        order = list(blocks)
        if len(order) > 1:
            shuffler.shuffle(order)
        for members in order:
            block = trials[-1].block + 1 if trials else 1
            shuffled = list(members)
            shuffler.shuffle(shuffled)
            for configuration, kind in shuffled:
                replicate = number.next(configuration, kind)
                trials.append(Trial(configuration, replicate, len(trials) + 1, block, kind))
    return tuple(trials)


class _Replicates:
    """Numbers the runs of each combination: a trial is told from others by its combination and this number.

    A center point may be a combination that the design runs as well. Its numbers come after the design's own, which
    therefore do not depend on whether there are center points.
    """

    def __init__(self, blocks: Sequence[Sequence[_Point]], replicates: int) -> None:
        own = Counter(c for members in blocks for c, kind in members if kind == "factorial")
        self._used: Counter[tuple[Configuration, TrialKind]] = Counter()
        self._before_center = {configuration: n * replicates for configuration, n in own.items()}

    def next(self, configuration: Configuration, kind: TrialKind) -> int:
        self._used[configuration, kind] += 1
        before = self._before_center.get(configuration, 0) if kind == "center" else 0
        return self._used[configuration, kind] + before
