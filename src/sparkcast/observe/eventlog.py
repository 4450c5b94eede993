"""Spark event logs: totals over tasks, read as a stream.

Layouts and fields as written by Spark 3 and 4: a single file `<app>[.codec][.inprogress]`, or a rolling folder
`eventlog_v2_<app>/events_<n>_<app>[.codec]`.
"""

import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from sparkcast.errors import StudyError
from sparkcast.study import TaskTotals

# TaskStart lines are as many as TaskEnd and say nothing that TaskEnd does not: skipped unparsed.
_SKIPPED = (b'{"Event":"SparkListenerTaskStart"', b'{"Event":"SparkListenerTaskGettingResult"')
# Executors that Spark itself lets go are not lost.
_LET_GO = ("killed by driver", "idle", "finished", "shutdown")


def read_task_totals(path: Path) -> TaskTotals | None:
    """Totals of the event log at `path` (file, rolling folder, or a folder holding one log); None without one."""
    files = log_files(path)
    return total(read_events(files)) if files else None


def log_files(path: Path) -> list[Path]:
    """The files of one application's log, in order."""
    if path.is_file():
        return [path]
    inside = sorted(p for p in path.glob("*") if not p.name.startswith("."))
    rolling = [p for p in inside if p.is_dir() and p.name.startswith("eventlog_v2_")]
    if rolling:
        return log_files(rolling[0])
    events = [p for p in inside if p.name.startswith("events_")]
    if events:
        return sorted(events, key=_rolling_index)
    return [p for p in inside if p.is_file()][:1]


def _rolling_index(path: Path) -> int:
    match = re.match(r"events_(\d+)_", path.name)
    return int(match[1]) if match else 0


def read_events(files: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """The events worth knowing. A last line cut off by a crash, or one that is no JSON, is passed over."""
    for file in files:
        for line in _lines(file):
            if line.startswith(_SKIPPED):
                continue
            try:
                event = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
            if isinstance(event, dict) and "Event" in event:
                yield event


def _lines(file: Path) -> Iterator[bytes]:
    name = file.name.removesuffix(".inprogress").removesuffix(".compact")
    if name.endswith((".lz4", ".snappy", ".lzf")):
        raise StudyError(
            f"{file.name}: this compression is not readable yet", hint="spark.eventLog.compression.codec=zstd"
        )
    with file.open("rb") as raw:
        if not name.endswith((".zstd", ".zst")):
            yield from raw
            return
        import zstandard

        # Spark starts a new frame at each flush; the last one is unfinished while the application runs.
        reader = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
        try:
            yield from io.BufferedReader(reader)
        except zstandard.ZstdError:
            return  # cut off: what came before is still good


def total(events: Iterable[dict[str, Any]]) -> TaskTotals:
    """Sum a log up. Unknown events are ignored; missing fields count as nothing."""
    counts = dict.fromkeys(("jobs", "stages", "tasks", "failed_tasks", "executors", "lost_executors"), 0)
    sums = dict.fromkeys(("run_ms", "cpu_ns", "gc_ms", "deserialize_ms", "read", "written", "spilled"), 0)
    first_task_ms: int | None = None
    for event in events:
        match event["Event"]:
            case "SparkListenerJobStart":
                counts["jobs"] += 1
            case "SparkListenerStageCompleted":
                counts["stages"] += 1
            case "SparkListenerExecutorAdded":
                counts["executors"] += 1
            case "SparkListenerExecutorRemoved":
                reason = str(event.get("Removed Reason", "")).lower()
                counts["lost_executors"] += not any(word in reason for word in _LET_GO)
            case "SparkListenerTaskEnd":
                counts["tasks"] += 1
                counts["failed_tasks"] += event.get("Task End Reason", {}).get("Reason") != "Success"
                launch = event.get("Task Info", {}).get("Launch Time")
                if launch is not None and (first_task_ms is None or launch < first_task_ms):
                    first_task_ms = launch
                _add_metrics(sums, event.get("Task Metrics") or {})
    return TaskTotals(
        **counts,
        run_s=sums["run_ms"] / 1e3,
        cpu_s=sums["cpu_ns"] / 1e9,
        gc_s=sums["gc_ms"] / 1e3,
        deserialize_s=sums["deserialize_ms"] / 1e3,
        shuffle_read_bytes=sums["read"],
        shuffle_write_bytes=sums["written"],
        spilled_bytes=sums["spilled"],
        first_task_s=None if first_task_ms is None else first_task_ms / 1e3,
    )


def _add_metrics(sums: dict[str, int], metrics: dict[str, Any]) -> None:
    sums["run_ms"] += metrics.get("Executor Run Time", 0)
    sums["cpu_ns"] += metrics.get("Executor CPU Time", 0)
    sums["gc_ms"] += metrics.get("JVM GC Time", 0)
    sums["deserialize_ms"] += metrics.get("Executor Deserialize Time", 0)
    sums["spilled"] += metrics.get("Disk Bytes Spilled", 0)
    read = metrics.get("Shuffle Read Metrics", {})
    sums["read"] += read.get("Remote Bytes Read", 0) + read.get("Local Bytes Read", 0)
    sums["written"] += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
