"""Data between tasks: shuffles and how they are written."""

from collections.abc import Iterator

from sparkcast.facts.stages import StageFacts
from sparkcast.profile.findings.base import Evidence, Finding, costliest, ids, named, part_of, stages_have
from sparkcast.profile.findings.tasks import is_python
from sparkcast.study.application import Part
from sparkcast.units import show_bytes, show_percent, show_seconds

_KRYO = "org.apache.spark.serializer.KryoSerializer"


def shuffle_bound(evidence: Evidence) -> Iterator[Finding]:
    cost = evidence.seconds(Part.FETCH_WAIT, Part.SHUFFLE_WRITE)
    if cost < evidence.thresholds.shuffle_share * evidence.wall_s:
        return
    worst = costliest(evidence.stages, _shuffling)
    worst = [stage for stage in worst if _shuffling(stage) > 0]
    moved = sum(stage.shuffle_write_bytes for stage in evidence.stages)
    first = costliest(evidence.stages, lambda stage: stage.shuffle_write_bytes)[0]
    share = first.shuffle_write_bytes / max(moved, 1)
    largest = f"the {show_bytes(first.shuffle_write_bytes)} ({show_percent(share)}) that {first.label} shuffles"
    wait, write = (evidence.seconds(part) for part in (Part.FETCH_WAIT, Part.SHUFFLE_WRITE))
    yield Finding(
        "shuffle-bound",
        f"{stages_have(worst)} shuffles, {show_bytes(moved)} in all: fetching takes {show_seconds(wait)}, writing "
        f"{show_seconds(write)}.",
        f"move less of {largest}: filter and aggregate before it, and drop columns that are not needed"
        + evidence.by_place(cluster=", or use faster local disks and networks.", local=", or use a faster local disk."),
        cost,
        evidence={"fetch_wait_s": wait, "shuffle_write_s": write, "shuffle_bytes": moved},
        stage_ids=ids(worst),
        operator=first.operator,
        values={"stage": str(first.stage_id)},
    )


def _shuffling(stage: StageFacts) -> float:
    return part_of(stage, Part.FETCH_WAIT, Part.SHUFFLE_WRITE)


def serializer(evidence: Evidence) -> Iterator[Finding]:
    """Java's serializer for RDDs of objects. DataFrames and Python have forms of their own."""
    if evidence.settings.get("spark.serializer", "").endswith("KryoSerializer"):
        return
    of_sql = {stage_id for job in evidence.log.jobs if job.sql_execution_id >= 0 for stage_id in job.stage_ids}
    stages = [
        stage
        for stage in evidence.stages
        if stage.stage_id not in of_sql and not is_python(evidence.logged.get(stage.key)) and _shuffling(stage) > 0
    ]
    cost = sum(map(_shuffling, stages))
    if stages:
        moved = sum(stage.shuffle_write_bytes for stage in stages)
        worst = costliest(stages, _shuffling)
        yield Finding(
            "serializer",
            f"Java's serializer shuffles RDDs of {show_bytes(moved)} in {named(worst)}.",
            f"set spark.serializer={_KRYO}.",
            cost,
            evidence={"shuffle_bytes": moved},
            stage_ids=ids(worst),
            values={"spark.serializer": _KRYO},
        )
