"""How the time of a task divides among the parts of an application's time."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparkcast.eventlogs import ColumnTable
from sparkcast.study.application import Part

Seconds = NDArray[np.float64]


RUNNING = (
    *(Part.SCHEDULING, Part.SERIALIZATION, Part.CPU, Part.GC, Part.FETCH_WAIT, Part.SHUFFLE_WRITE),
    *(Part.SPILL, Part.UNINSTRUMENTED),
)


@dataclass(frozen=True, slots=True)
class TaskTimes:
    """Tasks by row: launch and finish in ms, which share of that went to what, and which were in vain."""

    launch: NDArray[np.int64]
    finish: NDArray[np.int64]
    shares: dict[Part, Seconds]  # between 0 and 1; together 1 for each task
    is_lost: NDArray[np.bool_]


def task_times(tasks: ColumnTable, start_ms: int, end_ms: int) -> TaskTimes:
    """A task cannot have run before the application began or after the log ends."""
    launch = np.clip(tasks["launch_ms"], start_ms, end_ms)
    finish = np.clip(np.maximum(tasks["finish_ms"], tasks["launch_ms"]), start_ms, end_ms)
    return TaskTimes(launch, finish, _shares(tasks), _lost(tasks))


def _shares(tasks: ColumnTable) -> dict[Part, Seconds]:
    whole = np.maximum(tasks.seconds("finish_ms") - tasks.seconds("launch_ms"), 0.0)
    serialization = _positive(tasks.seconds("deserialize_ms")) + _positive(tasks.seconds("result_serialization_ms"))
    run = _positive(tasks.seconds("run_ms"))
    # Clocks of driver and executors differ, and damaged logs say anything: what does not fit is shrunk to fit.
    fit = _ratio(whole, np.maximum(serialization + run, whole))
    serialization, run = serialization * fit, run * fit
    known = {
        Part.CPU: _positive(tasks.seconds("cpu_ns")),
        Part.GC: _positive(tasks.seconds("gc_ms")),
        Part.FETCH_WAIT: _positive(tasks.seconds("fetch_wait_ms")),
        Part.SHUFFLE_WRITE: _positive(tasks.seconds("shuffle_write_ns")),
    }
    total = np.asarray(sum(known.values()))
    fit = _ratio(run, np.maximum(total, run))  # writing a shuffle also takes CPU: they can be more than the run time
    parts = {part: seconds * fit for part, seconds in known.items()}
    rest = np.maximum(run - total, 0.0)
    parts[Part.SPILL] = rest * _spilled(tasks)
    parts[Part.UNINSTRUMENTED] = rest - parts[Part.SPILL]
    parts[Part.SERIALIZATION] = serialization
    scheduling = np.maximum(whole - serialization - run, 0.0)
    has_time = whole > 0
    shares = {part: np.where(has_time, _ratio(seconds, whole), 0.0) for part, seconds in parts.items()}
    shares[Part.SCHEDULING] = np.where(has_time, _ratio(scheduling, whole), 1.0)
    return shares


def _spilled(tasks: ColumnTable) -> Seconds:
    """Which share of the bytes a task moved was spilled: written once, read once."""
    spilled = 2.0 * _positive(tasks["disk_spilled_bytes"].astype(np.float64))
    others = ("input_bytes", "output_bytes", "remote_read_bytes", "local_read_bytes", "shuffle_write_bytes")
    moved = spilled + sum(_positive(tasks[name].astype(np.float64)) for name in others)
    return _ratio(spilled, moved)


def _lost(tasks: ColumnTable) -> NDArray[np.bool_]:
    """Tasks without success, and of several successes of one partition all but the first."""
    success = [code for code, word in enumerate(tasks.words["end_reason"]) if word == "Success"]
    failed = ~np.isin(tasks.texts["end_reason"], success) | tasks.flags("is_failed") | tasks.flags("is_killed")
    order = np.lexsort((tasks["finish_ms"], failed, tasks["index"], tasks["stage_id"]))
    stage, index = tasks["stage_id"][order], tasks["index"][order]
    again = np.zeros(len(order), dtype=np.bool_)
    again[1:] = (stage[1:] == stage[:-1]) & (index[1:] == index[:-1])
    lost = failed.copy()
    lost[order] |= again
    return np.asarray(lost, dtype=np.bool_)


def _positive(values: Seconds) -> Seconds:
    return np.maximum(values, 0.0)


def _ratio(part: Seconds, whole: Seconds) -> Seconds:
    return np.divide(part, whole, out=np.zeros_like(part, dtype=np.float64), where=whole > 0)
