"""Whether as many tasks as cores follow the cores: logs of the same job on another number of cores tell."""

from collections.abc import Sequence
from dataclasses import replace

from sparkcast.replay.workload import Parallelism, RecordedWork, StageWork

_Kind = tuple[str, str]  # the description of its job, and its name


def settled(works: Sequence[RecordedWork]) -> list[RecordedWork]:
    """Each work, with the stages in doubt of which the others tell that they follow the cores, or that they do not."""
    if len({work.default_cores for work in works}) < 2:
        return list(works)
    kinds = [_by_kind(work) for work in works]
    return [
        _settled(work, [(other.default_cores, kinds[at]) for at, other in enumerate(works)], kinds[place])
        for place, work in enumerate(works)
    ]


def _by_kind(work: RecordedWork) -> dict[_Kind, list[StageWork]]:
    found: dict[_Kind, list[StageWork]] = {}
    for stage in work.stages:
        found.setdefault(_kind(work, stage), []).append(stage)
    return found


def _kind(work: RecordedWork, stage: StageWork) -> _Kind:
    return work.jobs[stage.job].description, stage.name


def _settled(
    work: RecordedWork, others: Sequence[tuple[int, dict[_Kind, list[StageWork]]]], own: dict[_Kind, list[StageWork]]
) -> RecordedWork:
    stages = []
    for stage in work.stages:
        told: list[tuple[int, int]] = []
        if stage.in_doubt:
            kind = _kind(work, stage)
            place = next(at for at, one in enumerate(own[kind]) if one is stage)
            told = [
                (cores, alike[place].n_partitions)
                for cores, by_kind in others
                if cores != work.default_cores and len(alike := by_kind.get(kind, [])) == len(own[kind])
            ]
        stages.append(_settled_stage(stage, told) if told else stage)
    return replace(work, stages=tuple(stages))


def _settled_stage(stage: StageWork, told: Sequence[tuple[int, int]]) -> StageWork:
    if all(n == stage.n_partitions for _, n in told):
        return replace(stage, parallelism=Parallelism.FIXED, in_doubt=False)
    return replace(stage, in_doubt=any(n != cores for cores, n in told))
