"""Event logs of applications that come, grow and end, made of the lines of a real one."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from eventlogs_support import real_lines

DAY_MS = 86_400_000
_READ = 1_000_000  # bytes of a run of usual size


@cache
def _lines() -> tuple[str, ...]:
    return tuple(line.decode() for line in real_lines())


@cache
def _head() -> tuple[str, int]:
    """The id of the real application, and when it began."""
    for line in _lines():
        if '"Event":"SparkListenerApplicationStart"' in line:
            event = json.loads(line)
            return str(event["App ID"]), int(event["Timestamp"])
    raise AssertionError("no start")


def log_lines(
    app_id: str,
    name: str = "nightly",
    *,
    later_ms: int = 0,
    attempt: str | None = None,
    read: float = 1.0,
    properties: Mapping[str, str] | None = None,
) -> list[str]:
    """The lines of an application that began `later_ms` after the real one and read so much of the usual input."""
    real_id, _ = _head()
    made = []
    for line in _lines():
        event = json.loads(line.replace(real_id, app_id))
        _shift(event, later_ms)
        kind = event["Event"]
        if kind == "SparkListenerApplicationStart":
            event["App Name"] = name
            if attempt is not None:
                event["App Attempt ID"] = attempt
        elif kind == "SparkListenerEnvironmentUpdate":
            event["Spark Properties"] |= {"spark.app.name": name, **(properties or {})}
        elif kind == "SparkListenerTaskEnd" and read:
            event["Task Metrics"]["Input Metrics"] = {"Bytes Read": int(_READ * read), "Records Read": int(100 * read)}
        elif kind.endswith("StageSubmitted") or kind.endswith("StageCompleted"):
            for rdd in event["Stage Info"]["RDD Info"]:
                rdd["Name"] = rdd["Name"].replace("ParallelCollectionRDD", "FileScanRDD")
        made.append(json.dumps(event))
    return made


def write_log(folder: Path, app_id: str, name: str = "nightly", *, lines: list[str] | None = None) -> Path:
    path = folder / app_id
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in (log_lines(app_id, name) if lines is None else lines)))
    return path


_MOMENTS = ("Timestamp", "time", "Submission Time", "Completion Time", "Launch Time", "Finish Time")


def _shift(value: object, later_ms: int) -> None:
    if isinstance(value, dict):
        for key, one in value.items():
            if key in _MOMENTS and isinstance(one, int) and one > 0:
                value[key] = one + later_ms
            else:
                _shift(one, later_ms)
        if "spark.app.submitTime" in value:
            value["spark.app.submitTime"] = str(int(value["spark.app.submitTime"]) + later_ms)
    elif isinstance(value, list):
        for one in value:
            _shift(one, later_ms)
