"""Refusing the trials that a cluster can never start, all at once and before the first runs."""

from collections.abc import Sequence

from sparkcast.engines import ClusterCapacity
from sparkcast.errors import CapacityError
from sparkcast.study import Role, Vocabulary
from sparkcast.units import parse_bytes
from sparkcast.workloads import Shape

_MOST_LISTED = 10  # shapes


def require_room(words: Vocabulary, capacity: ClusterCapacity, trials: Sequence[Sequence[Shape]]) -> None:
    """Raise CapacityError for all trials with a job that does not fit; a trial is the shapes of its jobs."""
    shapes = dict.fromkeys(shape for jobs in trials for shape in jobs)
    excess = [shape for shape in shapes if shape.executors > capacity.room_for(shape)]
    if not excess:
        return
    n_trials = sum(any(shape in excess for shape in jobs) for jobs in trials)
    largest_last = sorted(excess, key=lambda shape: (shape.executors * shape.cores, shape.executors, shape.memory))
    listed = [f"{shape} ({capacity.room_for(shape)} fit)" for shape in largest_last[:_MOST_LISTED]]
    more = [f"and {len(excess) - _MOST_LISTED} more"] if len(excess) > _MOST_LISTED else []
    raise CapacityError(
        f"{n_trials} of {len(trials)} trials can never start, because the cluster has {capacity}: "
        f"{'; '.join([*listed, *more])}",
        hint=_advice(words, capacity, [shape for shape in shapes if shape not in excess], excess),
    )


def _advice(words: Vocabulary, capacity: ClusterCapacity, possible: Sequence[Shape], excess: Sequence[Shape]) -> str:
    """Levels to remove and a rule to add, each where that alone excludes what does not fit and nothing else."""
    machines, cores, memory = (words.first(role) or "" for role in (Role.MACHINES, Role.CORES, Role.MEMORY))
    if not possible:
        return f"lower {machines}, {cores} or {memory}, or use a larger cluster"
    remedies = []
    for name, levels, others in (
        (machines, {one.executors for one in excess}, {one.executors for one in possible}),
        (cores, {one.cores for one in excess}, {one.cores for one in possible}),
        (memory, {one.memory for one in excess}, {one.memory for one in possible}),
    ):
        if not levels & others:
            remedies.append(f"remove {name} {', '.join(map(str, sorted(levels, key=parse_bytes)))}")
    least = min(one.executors * one.cores for one in excess)
    most = max(one.executors * one.cores for one in possible)
    if most < least:
        remedies.append(f"add the rule `{machines} * {cores} <= {capacity.cores if capacity.cores < least else most}`")
    return ", ".join([*(remedies or ["add rules that exclude these"]), "or use a larger cluster"])
