"""One row for each stage that ran: what it did, and where its time went."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparkcast.eventlogs import LogRead, Stage
from sparkcast.facts.attribution import Attribution, StageKey
from sparkcast.facts.parts import RUNNING
from sparkcast.study.application import Part


@dataclass(frozen=True, slots=True)
class StageFacts:
    """One attempt of one stage. `parts` are seconds of the application's life, so that stages can be added up."""

    stage_id: int
    attempt: int
    name: str
    job_ids: tuple[int, ...]
    n_tasks: int  # ends of tasks, copies and second attempts among them
    most_at_once: int
    started_s: float  # since the application began
    duration_s: float
    parts: Mapping[str, float]
    task_s: float  # sum over its tasks
    median_task_s: float
    longest_task_s: float
    median_bytes: float  # read by a task: input and shuffle
    longest_bytes: float  # by the longest task
    median_records: float  # read and written by a task
    longest_records: float
    input_bytes: int
    shuffle_read_bytes: int
    shuffle_write_bytes: int
    records_read: int
    records_written: int  # to shuffles and files
    spilled_bytes: int  # to disk
    memory_spilled_bytes: int  # the same, as they were in memory
    n_lost: int
    operator: str = ""  # of a query, that it is best called by: "SortMergeJoin customer_id"

    @property
    def key(self) -> StageKey:
        return self.stage_id, self.attempt

    @property
    def wall_s(self) -> float:
        """Its part of the application's life: what would go if it were not there."""
        return sum(self.parts.values())

    @property
    def of_wall(self) -> float:
        """Seconds of the application's life for a second of its tasks."""
        return sum(self.parts[part.value] for part in (*RUNNING, Part.LOST)) / self.task_s if self.task_s else 0.0

    @property
    def short_name(self) -> str:
        return short_name(self.name)

    @property
    def label(self) -> str:
        attempt = [f"attempt {self.attempt}"] if self.attempt else []
        told = ", ".join([*attempt, *([self.operator] if self.operator else [])])
        return f"stage {self.stage_id}" + (f" ({told})" if told else "")


def short_name(name: str) -> str:
    """`collect at /home/me/jobs/report.py:35` is `collect at report.py:35`."""
    what, at, where = name.partition(" at ")
    return f"{what}{at}{where.rpartition('/')[2]}"


def stages_of(log: LogRead, found: Attribution) -> tuple[StageFacts, ...]:
    known = {stage.key: stage for stage in log.stages}
    jobs: dict[int, list[int]] = {}
    for job in log.jobs:
        for stage_id in job.stage_ids:
            jobs.setdefault(stage_id, []).append(job.job_id)
    tasks = log.tasks
    columns = {
        name: tasks[name].astype(np.float64)
        for name in (
            "input_bytes",
            "remote_read_bytes",
            "local_read_bytes",
            "shuffle_write_bytes",
            "disk_spilled_bytes",
            "memory_spilled_bytes",
            "input_records",
            "shuffle_records_read",
            "output_records",
            "shuffle_records_written",
        )
    }
    columns["shuffle_read_bytes"] = columns.pop("remote_read_bytes") + columns.pop("local_read_bytes")
    columns["read_bytes"] = columns["input_bytes"] + columns["shuffle_read_bytes"]
    columns["records_read"] = columns.pop("input_records") + columns.pop("shuffle_records_read")
    columns["records_written"] = columns.pop("output_records") + columns.pop("shuffle_records_written")
    stage, attempt = tasks["stage_id"], tasks["stage_attempt"]
    order = np.lexsort((attempt, stage))
    ids, attempts = stage[order], attempt[order]
    profiles = []
    for key, parts in found.stages.items():
        low, high = int(np.searchsorted(ids, key[0], "left")), int(np.searchsorted(ids, key[0], "right"))
        same = attempts[low:high]
        rows = order[low:high][int(np.searchsorted(same, key[1], "left")) : int(np.searchsorted(same, key[1], "right"))]
        profiles.append(_profile(key, known.get(key), tuple(jobs.get(key[0], ())), parts, rows, columns, found))
    return tuple(sorted(profiles, key=lambda one: (one.started_s, one.key)))


def _profile(
    key: StageKey,
    stage: Stage | None,
    job_ids: tuple[int, ...],
    parts: dict[Part, float],
    rows: NDArray[np.int64],
    columns: Mapping[str, NDArray[np.float64]],
    found: Attribution,
) -> StageFacts:
    times = found.times
    took = (times.finish[rows] - times.launch[rows]) / 1e3
    good = ~times.is_lost[rows]
    useful = took[good] if good.any() else took
    read = columns["read_bytes"][rows]
    read_useful = read[good] if good.any() else read
    records = columns["records_read"][rows] + columns["records_written"][rows]
    records_useful = records[good] if good.any() else records
    start, end = _interval(stage, rows, found)
    return StageFacts(
        stage_id=key[0],
        attempt=key[1],
        name=stage.name if stage is not None else "",
        job_ids=job_ids,
        n_tasks=len(rows),
        most_at_once=found.peaks.get(key, 0),
        started_s=(start - found.span.start_ms) / 1e3,
        duration_s=(end - start) / 1e3,
        parts={part.value: seconds for part, seconds in parts.items()},
        task_s=float(took.sum()),
        median_task_s=_median(useful),
        longest_task_s=float(useful.max(initial=0.0)),
        median_bytes=_median(read_useful),
        longest_bytes=float(read_useful[useful.argmax()]) if len(useful) else 0.0,
        median_records=_median(records_useful),
        longest_records=float(records_useful[useful.argmax()]) if len(useful) else 0.0,
        input_bytes=int(columns["input_bytes"][rows].sum()),
        shuffle_read_bytes=int(columns["shuffle_read_bytes"][rows].sum()),
        shuffle_write_bytes=int(columns["shuffle_write_bytes"][rows].sum()),
        records_read=int(columns["records_read"][rows].sum()),
        records_written=int(columns["records_written"][rows].sum()),
        spilled_bytes=int(columns["disk_spilled_bytes"][rows].sum()),
        memory_spilled_bytes=int(columns["memory_spilled_bytes"][rows].sum()),
        n_lost=int((~good).sum()),
    )


def _median(values: NDArray[np.float64]) -> float:
    """The lower of the two in the middle: of two tasks the other one, when the question is how slow the slowest is."""
    return float(np.partition(values, (len(values) - 1) // 2)[(len(values) - 1) // 2]) if len(values) else 0.0


def _interval(stage: Stage | None, rows: NDArray[np.int64], found: Attribution) -> tuple[int, int]:
    first = int(found.times.launch[rows].min()) if len(rows) else found.span.start_ms
    last = int(found.times.finish[rows].max()) if len(rows) else first
    if stage is None:
        return first, last
    start = stage.submitted_ms or first
    return start, max(stage.completed_ms or last, start)
