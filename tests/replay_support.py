"""Workloads and clusters made up for tests of replays."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eventlogs_support import START, application, as_lines, task_end
from sparkcast.replay import JobWork, Node, RecordedWork, ReplayCluster, StageWork


def stage(
    times: Sequence[float], *, job: int = 0, parents: Sequence[int] = (), number: int = 0, **more: Any
) -> StageWork:
    fields: dict[str, Any] = {"name": "collect", "delay_s": 0.0, "tail_s": 0.0} | more
    work = np.array(times, dtype=float)
    return StageWork(
        number, 0, fields.pop("name"), job, tuple(parents), fields.pop("delay_s"), fields.pop("tail_s"),
        work, np.zeros(len(work)), np.arange(len(work)), **fields,
    )  # fmt: skip


def workload(stages: Sequence[StageWork], jobs: Sequence[JobWork] | None = None, **more: Any) -> RecordedWork:
    """Without jobs: one that has all stages."""
    made = jobs if jobs is not None else [JobWork(0, "", (), 0.0, 0.0, tuple(range(len(stages))))]
    fields: dict[str, Any] = {"after_s": 0.0, "wall_s": 0.0, "default_cores": 4} | more
    return RecordedWork("job", tuple(made), tuple(stages), **fields)


def cluster(*slots: int, **more: Any) -> ReplayCluster:
    """Executors with so many slots."""
    return ReplayCluster(tuple(Node(n, float(n), **more) for n in slots))


def write_waves(
    path: Path, app_id: str, *, executors: int = 2, n_tasks: int = 12, seconds: float = 10.0, day: int = 0, **spark: str
) -> Path:
    """A log of equal tasks on executors of one core: launched 5 s after submission, 3 s until the first job."""
    start = START + day * 86_400_000
    waves = -(-n_tasks // executors)
    end = start + 3000 + round(waves * seconds * 1000)
    properties = {"spark.app.submitTime": str(start - 5000), "spark.default.parallelism": "12", "spark.master": "yarn"}
    events: list[dict[str, Any]] = []
    for event in application(0):
        match event["Event"]:
            case "SparkListenerApplicationStart":
                event |= {"App ID": app_id, "App Name": "nightly load", "App Attempt ID": "1", "Timestamp": start}
            case "SparkListenerEnvironmentUpdate":
                event["Spark Properties"] = properties | {key.replace("_", "."): text for key, text in spark.items()}
            case "SparkListenerResourceProfileAdded":
                event["Executor Resource Requests"]["cores"]["Amount"] = 1
            case "SparkListenerJobStart":
                event["Submission Time"] = start + 3000
                event["Stage Infos"][0]["Number of Tasks"] = n_tasks
                event["Properties"] = {}
            case "SparkListenerStageSubmitted":
                event["Stage Info"] |= {"Submission Time": start + 3000, "Number of Tasks": n_tasks}
            case "SparkListenerStageCompleted":
                event["Stage Info"] |= {
                    "Submission Time": start + 3000, "Completion Time": end, "Number of Tasks": n_tasks
                }  # fmt: skip
            case "SparkListenerJobEnd":
                event["Completion Time"] = end
            case "SparkListenerApplicationEnd":
                event["Timestamp"] = end + 1000
            case name if "sql" in name or name == "SparkListenerExecutorRemoved":
                continue
        if event["Event"] == "SparkListenerExecutorAdded":
            info = {"Host": "worker", "Total Cores": 1, "Resource Profile Id": 0}
            events += [
                {**event, "Timestamp": start + 500, "Executor ID": str(n), "Executor Info": info}
                for n in range(executors)
            ]
            continue
        if event["Event"] == "SparkListenerStageCompleted":
            events += [_task(n, start, executors, seconds) for n in range(n_tasks)]
        events.append(event)
    path.write_bytes(b"".join(as_lines(events)))
    return path


def _task(number: int, start: int, executors: int, seconds: float) -> dict[str, Any]:
    took = round(seconds * 1000)
    event = task_end(number, run_ms=took)
    launch = start + 3000 + number // executors * took
    times = {"Launch Time": launch, "Finish Time": launch + took, "Executor ID": str(number % executors)}
    event["Task Info"] |= times
    return event
