"""What queries write: too many files that are too small."""

import re
from collections.abc import Iterator

from sparkcast.facts.operators import label, plain
from sparkcast.facts.stages import StageFacts
from sparkcast.profile.findings.base import Evidence, Finding, ids, of, part_of
from sparkcast.profile.findings.plans import QueryPlan, plans, stages_with
from sparkcast.profile.findings.values import tasks_of
from sparkcast.study.application import Part
from sparkcast.units import show_bytes, show_seconds

_CLOSE_S = 20e-3  # of CPU time for a file of Parquet: its writers, their buffers and its footer
_FEWER = 2  # times as many files as there would be: below, little is gained
_FILES = "number of written files"
_COLUMNS = re.compile(r", (?:true|false), \[([^\]]+)\]")


def tiny_output(evidence: Evidence) -> Iterator[Finding]:
    limits = evidence.thresholds
    for plan in plans(evidence):
        for place, node in enumerate(plan.nodes):
            n_files, size = node.value(_FILES) or 0.0, node.value("written output") or 0.0
            if n_files < limits.small_files or size / n_files >= limits.small_file_bytes:
                continue
            stages = writing_stages(plan, place, evidence)
            if not stages:
                continue
            n, columns = tasks_of(size, evidence), _partition_columns(node.text)
            after = max(n, node.value("number of dynamic part") or 0.0) if columns else n
            if n_files < _FEWER * after:  # as few as the partitions of the table allow
                continue
            cost = _cost(stages, n_files, size, evidence) + (node.value("job commit time") or 0.0) / 1e3
            by = f"repartition({n}, {', '.join(columns)})" if columns else f"repartition({n})"
            yield Finding(
                "tiny-output",
                f"{label(node)} writes {of(n_files, 'file')} of {show_bytes(size / n_files)} on average. Opening and "
                f"committing them takes about {show_seconds(cost)}.",
                f"call {by} before writing: {of(after, 'file')} of {show_bytes(size / after)}.",
                cost,
                evidence={"files": n_files, "mean_bytes": size / n_files, "files_after": after},
                stage_ids=ids(stages),
                operator=label(node),
                values={"repartition": ", ".join([str(n), *columns])},
            )


def writing_stages(plan: QueryPlan, place: int, evidence: Evidence) -> list[StageFacts]:
    """The stages of a write: those that its metrics name, else those of its query that write."""
    jobs = {*plan.query.job_ids}
    written = {(task.stage_id, task.attempt) for task in evidence.stages if jobs & {*task.job_ids}}
    own = [stage for stage in stages_with(plan, place, evidence) if stage.key in written]
    return own or [
        stage
        for stage in evidence.stages
        if jobs & {*stage.job_ids} and not stage.shuffle_write_bytes and stage.records_written
    ]


def _cost(stages: list[StageFacts], n_files: float, size: float, evidence: Evidence) -> float:
    """Seconds. By Spark's own estimate a file costs as much to open as 4 MiB to read."""
    least = evidence.thresholds.small_file_bytes
    opening = least / (least + size / n_files)
    of_wall = max(stage.of_wall for stage in stages)
    computing = min(sum(part_of(stage, Part.CPU, Part.GC) for stage in stages), of_wall * _CLOSE_S * n_files)
    waiting = sum(part_of(stage, Part.UNINSTRUMENTED, Part.SCHEDULING, Part.SERIALIZATION) for stage in stages)
    return opening * (waiting + computing)


def _partition_columns(text: str) -> list[str]:
    match = _COLUMNS.search(plain(text))
    return [f'"{name.strip()}"' for name in match[1].split(",")] if match else []
