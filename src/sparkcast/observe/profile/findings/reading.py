"""Input: small files, and work done again for want of a cache."""

from collections.abc import Iterator

from sparkcast.observe.profile.findings.base import Evidence, Finding, costliest, ids, named, of, part_of
from sparkcast.observe.profile.parts import Part
from sparkcast.observe.profile.stages import StageProfile
from sparkcast.units import show_bytes, show_seconds

_FILES, _SIZE = "number of files read", "size of files read"


def small_files(evidence: Evidence) -> Iterator[Finding]:
    limits = evidence.thresholds
    n_files = n_bytes = 0.0
    jobs: set[int] = set()
    for execution in evidence.log.sql_executions:
        # Metrics of a scan follow one another; scans that read nothing tell no number.
        files = [metric.value or 0.0 for metric in execution.metrics if metric.name == _FILES]
        sizes = [metric.value or 0.0 for metric in execution.metrics if metric.name == _SIZE]
        for count, total in zip(files, sizes, strict=False):
            if count > 0 and total / count < limits.small_file_bytes:
                n_files, n_bytes = n_files + count, n_bytes + total
                jobs |= set(execution.job_ids)
    if n_files < limits.small_files:
        return
    stages = [stage for stage in evidence.stages if jobs & set(stage.job_ids) and stage.input_bytes > 0]
    # By Spark's own estimate a file costs as much to open as 4 MiB to read.
    opening = limits.small_file_bytes / (limits.small_file_bytes + n_bytes / n_files)
    cost = opening * sum(part_of(stage, Part.UNINSTRUMENTED, Part.SCHEDULING, Part.SERIALIZATION) for stage in stages)
    yield Finding(
        "small-files",
        f"{of(n_files, 'file')} of {show_bytes(n_bytes / n_files)} on average are read; opening them takes about "
        f"{show_seconds(cost)}",
        "write fewer, larger files (repartition before writing, OPTIMIZE or compaction of the table)",
        cost,
        evidence={"files": n_files, "mean_bytes": n_bytes / n_files},
        stage_ids=ids(stages),
    )


def repeated_stages(evidence: Evidence) -> Iterator[Finding]:
    """Stages that read and do the same as an earlier one."""
    groups: dict[object, list[StageProfile]] = {}
    for stage in evidence.stages:
        signature = _signature(stage, evidence)
        if signature is not None and stage.attempt == 0:
            groups.setdefault(signature, []).append(stage)
    for stages in groups.values():
        if len(stages) < 2:
            continue
        again = costliest(stages[1:], lambda stage: stage.wall_s)
        cost = sum(stage.wall_s for stage in again)
        yield Finding(
            "repeated-stages",
            f"{named(again)} ({stages[0].name.split(' at ')[0]}) read the same {show_bytes(stages[0].input_bytes)} "
            "and do the same "
            f"as stage {stages[0].stage_id}: {show_seconds(cost)}",
            "cache() or persist() what they share, or write it once",
            cost,
            evidence={"times": float(len(stages)), "input_bytes": float(stages[0].input_bytes)},
            stage_ids=ids(stages),
        )


def _signature(stage: StageProfile, evidence: Evidence) -> object | None:
    """What two stages that do the same have in common; None for one that reads nothing or reads a cache."""
    logged = evidence.logged.get(stage.key)
    if logged is None or not logged.rdds or any(rdd.is_cached for rdd in logged.rdds) or not stage.input_bytes:
        return None
    # RDDs of a DataFrame are made anew by each action: their operators tell, not their numbers.
    operators = tuple(sorted((rdd.name, rdd.scope, rdd.n_partitions) for rdd in logged.rdds))
    return (
        stage.n_tasks - stage.n_lost,
        stage.input_bytes,
        stage.shuffle_read_bytes,
        stage.shuffle_write_bytes,
        operators,
    )
