"""Event logs for tests: made up line by line, compressed as Spark's own libraries do, and damaged in every way."""

import gzip
import io
import json
import random
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cramjam
import zstandard

# Written by Spark 3.5.9 for the workload `pi` on two executors; environment and paths taken out.
REAL_LOG = Path(__file__).parent / "data" / "eventlog-3.5-pi.zstd"
START = 1_700_000_000_000


def real_lines() -> list[bytes]:
    with REAL_LOG.open("rb") as raw:
        reader = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
        return io.BufferedReader(reader).readlines()


def task_end(task_id: int = 0, *, run_ms: int = 100, reason: dict[str, str] | None = None) -> dict[str, Any]:
    launch = START + 1000 + task_id
    return {
        "Event": "SparkListenerTaskEnd",
        "Stage ID": 0,
        "Stage Attempt ID": 0,
        "Task Type": "ResultTask",
        "Task End Reason": reason or {"Reason": "Success"},
        "Task Info": {
            "Task ID": task_id,
            "Index": task_id,
            "Attempt": 0,
            "Launch Time": launch,
            "Executor ID": "1",
            "Host": "worker",
            "Locality": "ANY",
            "Speculative": False,
            "Getting Result Time": 0,
            "Finish Time": launch + run_ms + 5,
            "Failed": False,
            "Killed": False,
            "Accumulables": [{"ID": 1, "Name": "internal.metrics.executorRunTime", "Update": run_ms, "Value": run_ms}],
        },
        "Task Executor Metrics": {"JVMHeapMemory": 1000 + task_id},
        "Task Metrics": {
            "Executor Run Time": run_ms,
            "Executor CPU Time": run_ms * 900_000,
            "JVM GC Time": 3,
            "Shuffle Read Metrics": {"Remote Bytes Read": 10, "Local Bytes Read": 5, "Fetch Wait Time": 2},
            "Shuffle Write Metrics": {"Shuffle Bytes Written": 7, "Shuffle Write Time": 1_000_000},
            "Input Metrics": {"Bytes Read": 11, "Records Read": 1},
            "Output Metrics": {"Bytes Written": 0, "Records Written": 0},
        },
    }


def application(n_tasks: int = 3) -> list[dict[str, Any]]:
    """A whole small application, as events."""
    stage = {"Stage ID": 0, "Stage Attempt ID": 0, "Stage Name": "count at job.py:1", "Number of Tasks": n_tasks}
    sql = "org.apache.spark.sql.execution.ui.SparkListener"
    plan = {
        "nodeName": "BroadcastExchange",
        "simpleString": "BroadcastExchange",
        "children": [],
        "metrics": [{"name": "data size", "accumulatorId": 7, "metricType": "size"}],
    }
    return [
        {"Event": "SparkListenerLogStart", "Spark Version": "3.5.1"},
        {
            "Event": "SparkListenerResourceProfileAdded",
            "Resource Profile Id": 0,
            "Executor Resource Requests": {"cores": {"Amount": 4}, "memory": {"Amount": 2048}},
            "Task Resource Requests": {"cpus": {"Amount": 1.0}},
        },
        {
            "Event": "SparkListenerEnvironmentUpdate",
            "Spark Properties": {"spark.executor.memory": "2g"},
            "JVM Information": {"Java Version": "17"},
            "System Properties": {"sun.java.command": "job.py --rows 10"},
        },
        {
            "Event": "SparkListenerApplicationStart",
            "App Name": "job",
            "App ID": "app-1",
            "Timestamp": START,
            "User": "me",
            "App Attempt ID": "2",
        },
        {
            "Event": "SparkListenerExecutorAdded",
            "Timestamp": START + 500,
            "Executor ID": "1",
            "Executor Info": {"Host": "worker", "Total Cores": 4, "Resource Profile Id": 0},
        },
        {
            "Event": f"{sql}SQLExecutionStart",
            "executionId": 3,
            "description": "count it",
            "time": START + 800,
            "sparkPlanInfo": plan,
            "modifiedConfigs": {"spark.sql.shuffle.partitions": "8"},
        },
        {
            "Event": "SparkListenerJobStart",
            "Job ID": 0,
            "Submission Time": START + 900,
            "Stage Infos": [stage],
            "Stage IDs": [0],
            "Properties": {
                "spark.job.description": "first",
                "spark.sql.execution.id": "3",
                "spark.sparkcast.rows": "10",
                "spark.secret": "not kept",
            },
        },
        {"Event": "SparkListenerStageSubmitted", "Stage Info": stage | {"Submission Time": START + 950}},
        *(task_end(number) for number in range(n_tasks)),
        {
            "Event": "SparkListenerStageCompleted",
            "Stage Info": stage
            | {
                "Submission Time": START + 950,
                "Completion Time": START + 2000,
                "RDD Info": [{"RDD ID": 1, "Name": "x", "Scope": '{"id":"1","name":"Exchange"}'}],
                "Accumulables": [
                    {"ID": 1, "Name": "internal.metrics.executorRunTime", "Value": 300},
                    {"ID": 9, "Name": "data sent to Python workers", "Value": "123"},
                ],
            },
        },
        {
            "Event": "SparkListenerJobEnd",
            "Job ID": 0,
            "Completion Time": START + 2010,
            "Job Result": {"Result": "JobSucceeded"},
        },
        {"Event": f"{sql}DriverAccumUpdates", "executionId": 3, "accumUpdates": [[7, 4096]]},
        {"Event": f"{sql}SQLExecutionEnd", "executionId": 3, "time": START + 2020, "errorMessage": ""},
        {
            "Event": "SparkListenerExecutorRemoved",
            "Timestamp": START + 2030,
            "Executor ID": "1",
            "Removed Reason": "Executor killed by driver.",
        },
        {"Event": "SparkListenerApplicationEnd", "Timestamp": START + 2100},
    ]


def as_lines(events: list[dict[str, Any]]) -> list[bytes]:
    """As Spark spells them: no spaces."""
    return [json.dumps(event, separators=(",", ":")).encode() + b"\n" for event in events]


# Compression as the Java libraries write it.


def lz4_java(data: bytes, block: int = 1000) -> bytes:
    out = b""
    for piece in _pieces(data, block):
        packed = bytes(cramjam.lz4.compress_block(piece, store_size=False))
        method, packed = (0x10, piece) if len(packed) >= len(piece) else (0x20, packed)
        out += struct.pack("<8sBiii", b"LZ4Block", method | 6, len(packed), len(piece), 0) + packed
    return out + struct.pack("<8sBiii", b"LZ4Block", 0x16, 0, 0, 0)


def snappy_java(data: bytes, block: int = 1000) -> bytes:
    out = b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1)
    for piece in _pieces(data, block):
        packed = bytes(cramjam.snappy.compress_raw(piece))
        out += struct.pack(">i", len(packed)) + packed
    return out


def lzf(data: bytes, block: int = 1000) -> bytes:
    out = b""
    for piece in _pieces(data, block):
        packed = _lzf_packed(piece)
        if len(packed) < len(piece):
            out += b"ZV\1" + struct.pack(">HH", len(packed), len(piece)) + packed
        else:
            out += b"ZV\0" + struct.pack(">H", len(piece)) + piece
    return out


def _lzf_packed(data: bytes) -> bytes:
    """Greedy, with every kind of token: literals, short and long matches, matches that overlap themselves."""
    out, plain, at = bytearray(), bytearray(), 0
    seen: dict[bytes, int] = {}

    def flush() -> None:
        for start in range(0, len(plain), 32):
            run = plain[start : start + 32]
            out.extend((len(run) - 1, *run))
        plain.clear()

    while at < len(data):
        key = data[at : at + 3]
        before = seen.get(key) if len(key) == 3 else None
        seen[key] = at
        if before is None or at - before > 8191:
            plain.append(data[at])
            at += 1
            continue
        length = 3
        while length < 264 and at + length < len(data) and data[before + length] == data[at + length]:
            length += 1
        flush()
        offset, code = at - before - 1, length - 2
        if code < 7:
            out.extend(((code << 5) | (offset >> 8), offset & 255))
        else:
            out.extend(((7 << 5) | (offset >> 8), code - 7, offset & 255))
        at += length
    flush()
    return bytes(out)


def _pieces(data: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


def zstd_frames(data: bytes, block: int = 5000) -> bytes:
    return b"".join(zstandard.ZstdCompressor().compress(piece) for piece in _pieces(data, block))


def gzip_members(data: bytes, block: int = 5000) -> bytes:
    return b"".join(gzip.compress(piece, mtime=0) for piece in _pieces(data, block))


CODECS: dict[str, Callable[[bytes], bytes]] = {
    "zstd": zstd_frames,
    "gz": gzip_members,
    "lz4": lz4_java,
    "snappy": snappy_java,
    "lzf": lzf,
}

# Damage.


def damaged_log(draw: random.Random, lines: list[bytes]) -> bytes:
    """A log with one to three kinds of damage, compressed by any codec or none, and perhaps damaged again."""
    lines = list(lines)
    for _ in range(draw.randint(1, 3)):
        draw.choice(_DAMAGES)(draw, lines)
    data = b"".join(lines)
    codec = draw.choice([None, *CODECS])
    if codec is not None:
        data = CODECS[codec](data)
    if draw.random() < 0.5:
        data = draw.choice([_cut, _flipped, _with_hole, _with_noise])(draw, data)
    return data


def bomb(draw: random.Random) -> bytes:
    """A small file that unpacks to 64 MB of something."""
    what = draw.choice([b"\0", b"\n", b"{}\n", b"[", b'{"Event":"SparkListenerTaskEnd"}\n', b'{"Event":"x"}\n'])
    data = what * (2**26 // len(what))
    return gzip.compress(data, 9) if draw.random() < 0.3 else zstandard.ZstdCompressor().compress(data)


def _cut(draw: random.Random, data: bytes) -> bytes:
    return data[: draw.randrange(len(data) + 1)]


def _flipped(draw: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.randint(1, 20) if data else 0):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _with_hole(draw: random.Random, data: bytes) -> bytes:
    start = draw.randrange(len(data) + 1)
    return data[:start] + data[start + draw.randrange(200) :]


def _with_noise(draw: random.Random, data: bytes) -> bytes:
    start = draw.randrange(len(data) + 1)
    return data[:start] + draw.randbytes(draw.randrange(200)) + data[start:]


def _reorder(draw: random.Random, lines: list[bytes]) -> None:
    draw.shuffle(lines)


def _duplicate(draw: random.Random, lines: list[bytes]) -> None:
    lines += draw.choices(lines, k=draw.randint(1, 20))


def _drop(draw: random.Random, lines: list[bytes]) -> None:
    del lines[draw.randrange(len(lines)) :: draw.randint(1, 5)]
    lines.append(b"\n")


def _change_values(draw: random.Random, lines: list[bytes]) -> None:
    """Huge numbers, wrong types, missing and strange fields, anywhere."""
    for place in draw.sample(range(len(lines)), min(len(lines), 5)):
        try:
            event = json.loads(lines[place])
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and event:
            _change_somewhere(draw, event)
            lines[place] = json.dumps(event, separators=draw.choice([(",", ":"), (", ", ": ")])).encode() + b"\n"


_VALUES: list[Any] = [
    *(10**18, 10**30, -(10**30), 10**4000, -1, 0, 1.5, 1e308, float("nan"), float("inf")),
    *(None, True, "", "x" * 5000, "12", "NaN", "\ud800", [], [[]], {}, {"a": {"b": []}}, [1, "a", None], "é\0ü"),
]


def _change_somewhere(draw: random.Random, event: dict[str, Any]) -> None:
    part: Any = event
    while True:
        key = draw.choice(list(part) if isinstance(part, dict) else range(len(part)))
        if isinstance(part[key], dict | list) and part[key] and draw.random() < 0.8:
            part = part[key]
            continue
        if draw.random() < 0.2:
            del part[key]
        else:
            part[key] = draw.choice(_VALUES)
        return


def _break_text(draw: random.Random, lines: list[bytes]) -> None:
    """Bytes that are no UTF-8 inside texts."""
    for place in draw.sample(range(len(lines)), min(len(lines), 5)):
        line, quote = lines[place], lines[place].find(b'"', draw.randrange(len(lines[place]) + 1))
        lines[place] = line[: quote + 1] + draw.choice([b"\xff\xfe", b"\xc3", b"\0", b"\\ud800"]) + line[quote + 1 :]


def _nest(draw: random.Random, lines: list[bytes]) -> None:
    deep = b'{"Event":"SparkListenerTaskEnd","Task Info":' + b"[" * draw.choice([10, 2000, 200_000])
    lines.insert(draw.randrange(len(lines) + 1), deep + b"\n")


def _damage_bytes(draw: random.Random, lines: list[bytes]) -> None:
    data = draw.choice([_cut, _flipped, _with_hole, _with_noise])(draw, b"".join(lines))
    lines[:] = data.splitlines(keepends=True) or [b"\n"]


_DAMAGES = (_reorder, _duplicate, _drop, _change_values, _change_values, _break_text, _nest, _damage_bytes)


def write_log(
    path: Path,
    app_id: str,
    *,
    name: str = "job",
    command: str = "job.py --rows 10",
    attempt: str = "2",
    n_executors: int = 1,
    has_ended: bool = True,
    job_end_ms: int = 2010,
    ends_later_ms: int = 0,
    **spark: str,
) -> Path:
    """The log of one application that differs from `application` in this."""
    events: list[dict[str, Any]] = []
    for event in application():
        match event["Event"]:
            case "SparkListenerApplicationStart":
                event |= {"App ID": app_id, "App Name": name, "App Attempt ID": attempt}
            case "SparkListenerEnvironmentUpdate":
                event["System Properties"] = {"sun.java.command": command}
                event["Spark Properties"] = {key.replace("_", "."): value for key, value in spark.items()}
            case "SparkListenerJobEnd":
                event["Completion Time"] = START + job_end_ms
            case "SparkListenerApplicationEnd" if not has_ended:
                continue
            case "SparkListenerApplicationEnd":
                event["Timestamp"] += ends_later_ms
        event.pop("modifiedConfigs", None)
        events.append(event)
        if event["Event"] == "SparkListenerExecutorAdded":
            events += [{**event, "Executor ID": str(2 + more)} for more in range(n_executors - 1)]
    path.write_bytes(b"".join(as_lines(events)))
    return path
