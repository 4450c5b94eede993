"""Input: small files, and work done again for want of a cache."""

from collections.abc import Iterator, Mapping

from sparkcast.facts.attribution import StageKey
from sparkcast.facts.stages import StageFacts
from sparkcast.profile.findings.base import Evidence, Finding, costliest, ids, named, of, part_of
from sparkcast.profile.findings.values import tasks_of
from sparkcast.study.application import Part
from sparkcast.units import show_bytes, show_seconds

_OPEN_S = 1e-3  # of CPU time to open a file: text takes half of it, Parquet more
_MANY_RECORDS = 100  # by each task
_FILES, _SIZE = "number of files read", "size of files read"


def small_files(evidence: Evidence) -> Iterator[Finding]:
    limits = evidence.thresholds
    n_files = n_bytes = 0.0
    jobs: set[int] = set()
    for execution in evidence.log.sql_executions:
        for scan in execution.scans:
            count, total = scan.value(_FILES) or 0.0, scan.value(_SIZE) or 0.0
            if count > 0 and total / count < limits.small_file_bytes:
                n_files, n_bytes = n_files + count, n_bytes + total
                jobs |= set(execution.job_ids)
    if n_files < limits.small_files:
        return
    stages = [stage for stage in evidence.stages if jobs & set(stage.job_ids) and stage.input_bytes > 0]
    # By Spark's own estimate a file costs as much to open as 4 MiB to read.
    opening = limits.small_file_bytes / (limits.small_file_bytes + n_bytes / n_files)
    of_wall = max((stage.of_wall for stage in stages), default=0.0)
    computing = min(sum(part_of(stage, Part.CPU) for stage in stages), of_wall * _OPEN_S * n_files)
    waiting = sum(part_of(stage, Part.UNINSTRUMENTED, Part.SCHEDULING, Part.SERIALIZATION) for stage in stages)
    cost = opening * (waiting + computing)
    wanted = tasks_of(n_bytes, evidence)
    operator = costliest(stages, lambda stage: stage.wall_s)[0].operator if stages else ""
    yield Finding(
        "small-files",
        f"The application reads {of(n_files, 'file')} of {show_bytes(n_bytes / n_files)} on average. Opening them "
        f"takes about {show_seconds(cost)}.",
        f"write them as {of(wanted, 'file')} of {show_bytes(n_bytes / wanted)}: repartition({wanted}) before writing, "
        "or compact the table (OPTIMIZE).",
        cost,
        evidence={"files": n_files, "mean_bytes": n_bytes / n_files},
        stage_ids=ids(stages),
        operator=operator,
        values={"files": str(wanted)},
    )


def repeated_stages(evidence: Evidence) -> Iterator[Finding]:
    """Stages that do the same as an earlier one: each group of them, or many that cost little together."""
    groups: dict[object, list[StageFacts]] = {}
    shared = _shared_rdds(evidence)
    for stage in evidence.stages:
        signature = _signature(stage, evidence, shared)
        if signature is not None and stage.attempt == 0 and not evidence.streaming_jobs & set(stage.job_ids):
            groups.setdefault(signature, []).append(stage)
    again = [stages for stages in groups.values() if len(stages) > 1]
    small = [stages for stages in again if not evidence.is_worth_telling(_repeated(stages))]
    yield from (_repeated(stages) for stages in again if stages not in small)
    if small:
        yield _repeated(*small)


def _repeated(*groups: list[StageFacts]) -> Finding:
    largest = max(groups, key=lambda stages: sum(stage.wall_s for stage in stages[1:]))
    first = largest[0]
    later = costliest((stage for stages in groups for stage in stages[1:]), lambda stage: stage.wall_s)
    cost = sum(stage.wall_s for stage in later)
    data = f" on the same {show_bytes(first.input_bytes)}" if first.input_bytes else ""
    repeat = "repeats" if len(later) == 1 else "repeat"
    others = "and other stages" if len(groups) > 1 else f"({first.operator or first.name.split(' at ')[0]})"
    which, rows = named(later), max(first.records_written, first.records_read)
    return Finding(
        "repeated-stages",
        f"{which[0].upper()}{which[1:]} {repeat} the work of stage {first.stage_id} {others}{data}.",
        f"cache() or persist() the result of stage {first.stage_id} ({of(rows, 'row')}{_as_bytes(first)}), or write it "
        "once.",
        cost,
        evidence={"times": float(len(largest)), "input_bytes": float(first.input_bytes)},
        stage_ids=ids([first, *later]),
        operator=first.operator,
        values={"cache": f"stage {first.stage_id}"},
    )


def _as_bytes(stage: StageFacts) -> str:
    size = stage.shuffle_write_bytes or stage.input_bytes
    return f", {show_bytes(size)}" if size else ""


def _shared_rdds(evidence: Evidence) -> dict[StageKey, int]:
    """By stage, the last RDD that it computes out of others and that another stage computes too."""
    queries = {stage_id: job.sql_execution_id for job in evidence.log.jobs for stage_id in job.stage_ids}
    computed: dict[StageKey, set[int]] = {}
    users: dict[int, set[int]] = {}  # the queries of an RDD; stages without a query are taken for different ones
    for stage in evidence.log.stages:
        if stage.name.startswith("sort"):
            continue  # sorting RDDs begins with a sample of them
        inside = {rdd.rdd_id for rdd in stage.rdds}
        computed[stage.key] = {rdd.rdd_id for rdd in stage.rdds if inside & set(rdd.parent_ids)}
        query = queries.get(stage.stage_id, -1)
        for rdd_id in computed[stage.key]:
            users.setdefault(rdd_id, set()).add(query if query >= 0 else -1 - stage.stage_id)
    # Within one query it is Spark that goes over them twice, to find the ranges of a sort.
    last = {key: max((one for one in found if len(users[one]) > 1), default=-1) for key, found in computed.items()}
    return {key: rdd_id for key, rdd_id in last.items() if rdd_id >= 0}


def _signature(stage: StageFacts, evidence: Evidence, shared: Mapping[StageKey, int]) -> object | None:
    """What two stages that do the same have in common; None for one that moves nothing or reads a cache."""
    logged = evidence.logged.get(stage.key)
    if logged is None or not logged.rdds or any(rdd.is_cached for rdd in logged.rdds):
        return None
    n_tasks = stage.n_tasks - stage.n_lost
    if stage.key in shared:
        return n_tasks, shared[stage.key]
    # A count of rows by each task looks the same whatever was counted.
    if not stage.input_bytes and max(stage.records_read, stage.records_written) < _MANY_RECORDS * n_tasks:
        return None
    # RDDs of a DataFrame are made anew by each action: their operators tell, not their numbers.
    operators = tuple(sorted((rdd.name, rdd.scope, rdd.n_partitions) for rdd in logged.rdds))
    sizes = (stage.input_bytes, stage.shuffle_read_bytes, stage.shuffle_write_bytes)
    return n_tasks, *sizes, stage.records_read, stage.records_written, operators
