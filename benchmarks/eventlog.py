"""How fast an event log is read, beside `json.loads` for every line, and how much memory that takes.

    python benchmarks/eventlog.py [--data DIR] [--scratch DIR] [--rounds 3] [--tasks 1000000]

Three logs: a real one of 48 MB (`nds_q72_dataproc_2_2.zstd` in --data, else left out), 1 GB as Spark 3.5 writes it,
and `--tasks` tasks as briefly as Spark 2.4 did. Two plain readers stand beside ours: one only adds every metric up, the
other keeps the same table. Each reading is a process of its own, in turn; all sums must agree.
"""

import argparse
import io
import json
import resource
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from _event_logs import write_log

REAL = "nds_q72_dataproc_2_2.zstd"
FULL_TASKS = 300_000  # about 1 GB
INFO = {
    "task_id": "Task ID",
    "launch_ms": "Launch Time",
    "finish_ms": "Finish Time",
    "index": "Index",
    "attempt": "Attempt",
}
METRICS = {
    "deserialize_ms": "Executor Deserialize Time",
    "deserialize_cpu_ns": "Executor Deserialize CPU Time",
    "run_ms": "Executor Run Time",
    "cpu_ns": "Executor CPU Time",
    "gc_ms": "JVM GC Time",
    "result_serialization_ms": "Result Serialization Time",
    "result_bytes": "Result Size",
    "peak_execution_memory_bytes": "Peak Execution Memory",
    "memory_spilled_bytes": "Memory Bytes Spilled",
    "disk_spilled_bytes": "Disk Bytes Spilled",
}
PARTS = {
    "Shuffle Read Metrics": {
        "fetch_wait_ms": "Fetch Wait Time",
        "remote_read_bytes": "Remote Bytes Read",
        "remote_read_to_disk_bytes": "Remote Bytes Read To Disk",
        "local_read_bytes": "Local Bytes Read",
        "remote_blocks": "Remote Blocks Fetched",
        "local_blocks": "Local Blocks Fetched",
        "shuffle_records_read": "Total Records Read",
    },
    "Shuffle Write Metrics": {
        "shuffle_write_bytes": "Shuffle Bytes Written",
        "shuffle_write_ns": "Shuffle Write Time",
        "shuffle_records_written": "Shuffle Records Written",
    },
    "Input Metrics": {"input_bytes": "Bytes Read", "input_records": "Records Read"},
    "Output Metrics": {"output_bytes": "Bytes Written", "output_records": "Records Written"},
}
MEMORY = {
    "jvm_heap_bytes": "JVMHeapMemory",
    "jvm_off_heap_bytes": "JVMOffHeapMemory",
    "jvm_rss_bytes": "ProcessTreeJVMRSSMemory",
    "python_rss_bytes": "ProcessTreePythonRSSMemory",
}
NAMES = [*INFO, *METRICS, *(name for part in PARTS.values() for name in part), *MEMORY]
Totals = dict[str, int]
Names = tuple[tuple[str, str], ...]
INFO_NAMES, METRIC_NAMES, MEMORY_NAMES = (tuple(names.items()) for names in (INFO, METRICS, MEMORY))
PART_NAMES = tuple((key, tuple(names.items())) for key, names in PARTS.items())
COUNTED = {
    "SparkListenerTaskEnd": "tasks",
    "SparkListenerJobStart": "jobs",
    "SparkListenerStageCompleted": "stages",
}


def ours(path: Path) -> tuple[Totals, int]:
    from sparkcast.eventlogs import read_log

    log = read_log(path)
    counts = {"tasks": len(log.tasks), "jobs": len(log.jobs), "stages": len(log.stages)}
    return counts | {name: log.tasks.total(name) for name in NAMES}, log.counts.log_bytes


def plain_sums(path: Path) -> tuple[Totals, int]:
    """`json.loads` for every line; of tasks the sums only, which is less than our job."""
    totals = dict.fromkeys(NAMES, 0)
    counts, size = dict.fromkeys(COUNTED.values(), 0), 0
    for line in _lines(path):
        size += len(line)
        event = json.loads(line)
        if event["Event"] in COUNTED:
            counts[COUNTED[event["Event"]]] += 1
        if event["Event"] == "SparkListenerTaskEnd":
            for part, names in _parts(event):
                for name, key in names:
                    totals[name] += part.get(key, 0)
    return counts | totals, size


def plain_table(path: Path) -> tuple[Totals, int]:
    """`json.loads` for every line, and the same table of tasks."""
    columns = {name: array("q") for name in NAMES}
    texts: dict[str, list[str]] = {name: [] for name in ("Executor ID", "Host", "Locality", "Reason")}
    counts, size = dict.fromkeys(COUNTED.values(), 0), 0
    for line in _lines(path):
        size += len(line)
        event = json.loads(line)
        if event["Event"] in COUNTED:
            counts[COUNTED[event["Event"]]] += 1
        if event["Event"] == "SparkListenerTaskEnd":
            for part, names in _parts(event):
                for name, key in names:
                    columns[name].append(part.get(key, 0))
            for name in ("Executor ID", "Host", "Locality"):
                texts[name].append(sys.intern(event["Task Info"].get(name, "")))
            texts["Reason"].append(sys.intern(event["Task End Reason"].get("Reason", "")))
    return counts | {name: sum(column) for name, column in columns.items()}, size


READERS = {"ours": ours, "json, sums": plain_sums, "json, table": plain_table}


def _parts(event: dict[str, Any]) -> Iterator[tuple[dict[str, int], Names]]:
    """The parts of a task's end, and what to take from each: few steps, so that plain readers lose no time here."""
    metrics = event.get("Task Metrics", {})
    yield event["Task Info"], INFO_NAMES
    yield metrics, METRIC_NAMES
    yield event.get("Task Executor Metrics", {}), MEMORY_NAMES
    for key, names in PART_NAMES:
        yield metrics.get(key, {}), names


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as raw:
        if path.suffix != ".zstd":
            yield from raw
            return
        import zstandard

        yield from io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True), 1 << 20)


def measure(reader: str, path: Path) -> dict[str, Any]:
    """One reading in a process of its own."""
    answer = subprocess.run([sys.executable, __file__, "--read", reader, str(path)], capture_output=True, check=True)
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


def _read(reader: str, path: Path) -> None:
    import sparkcast.eventlogs  # noqa: F401 - imports are no part of the measurement

    begun, used = time.perf_counter(), time.process_time()
    totals, size = READERS[reader](path)
    took, used = time.perf_counter() - begun, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": took, "cpu": used, "bytes": size, "rss": peak, "totals": totals}))


def compare(path: Path, rounds: int) -> None:
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in READERS}
    for _ in range(rounds):
        for name in READERS:
            found[name].append(measure(name, path))
    totals = found["ours"][0]["totals"]
    size = found["ours"][0]["bytes"]
    print(f"\n{path.name}: {size / 1e6:,.0f} MB, {totals['tasks']:,} tasks, best of {rounds}")
    least = {name: min(one["seconds"] for one in ones) for name, ones in found.items()}
    cpu = {name: min(one["cpu"] for one in ones) for name, ones in found.items()}
    for name, ones in found.items():
        same = "same sums" if all(one["totals"] == totals for one in ones) else "SUMS DIFFER"
        rss = max(one["rss"] for one in ones) / 1e6
        ratio = f"{least[name] / least['ours']:.1f} x the time, {cpu[name] / cpu['ours']:.1f} x the CPU time of ours"
        speed = f"{least[name]:7.2f} s {size / 1e6 / least[name]:6.0f} MB/s {cpu[name]:7.2f} s of CPU"
        print(f"  {name:12} {speed} {rss:5.0f} MB peak  {same}  {ratio if name != 'ours' else ''}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder of the real log")
    parser.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()), help="where made-up logs are kept")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--read", nargs=2, metavar=("READER", "LOG"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        _read(options.read[0], Path(options.read[1]))
        return
    if options.data:
        compare(options.data / REAL, options.rounds)
    for name, n_tasks, is_full in (("full", FULL_TASKS, True), ("brief", options.tasks, False)):
        path = options.scratch / f"made-up-{name}-{n_tasks}"
        if not path.exists():
            write_log(path, n_tasks, is_full=is_full)
        compare(path, options.rounds)


if __name__ == "__main__":
    main()
