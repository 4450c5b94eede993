"""What a run of one job leaves behind: an event log and a driver's report."""

import json
from pathlib import Path
from typing import Any

from eventlogs_support import as_lines, task_end
from sparkcast.observe.outcome import ExitReport
from sparkcast.observe.run import RanJob

START_S = 1000.0


def events(*, executor: dict[str, Any], properties: dict[str, str] | None = None) -> list[dict[str, Any]]:
    """An application from 1002 s to 1010 s, with one job from 1004 to 1009."""
    end = task_end(0)
    end["Task Info"] |= {"Launch Time": 1_004_000, "Finish Time": 1_009_000}
    return [
        {"Event": "SparkListenerApplicationStart", "App Name": "a", "App ID": "app-1", "Timestamp": 1_002_000},
        {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": properties or {}},
        {"Event": "SparkListenerExecutorAdded", "Timestamp": 1_003_000, "Executor ID": "1", "Executor Info": executor},
        {"Event": "SparkListenerJobStart", "Job ID": 0, "Submission Time": 1_004_000, "Stage IDs": [0]},
        end,
        {
            "Event": "SparkListenerJobEnd",
            "Job ID": 0,
            "Completion Time": 1_009_000,
            "Job Result": {"Result": "JobSucceeded"},
        },
        {"Event": "SparkListenerApplicationEnd", "Timestamp": 1_010_000},
    ]


def leave(folder: Path, told: dict[str, float], log: list[dict[str, Any]]) -> RanJob:
    (folder / "eventlog").mkdir(parents=True)
    (folder / "eventlog" / "app-1").write_bytes(b"".join(as_lines(log)))
    result = {"kind": "result", "at": 1010.1, "responses": told}
    (folder / "report.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in ({"kind": "started", "at": 1006.0}, result))
    )
    return RanJob(folder, ExitReport(0), START_S, START_S + 12)
