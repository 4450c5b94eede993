"""The lines a driver wrote about its own progress (see workloads/driver.py)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sparkcast.plain import from_json
from sparkcast.study import Epoch


@dataclass(frozen=True, slots=True)
class JobReport:
    """What one driver said. Everything may be missing: drivers die."""

    started_at: float | None = None  # when the measured work began, seconds since the Unix epoch
    curve: tuple[Epoch, ...] = ()
    responses: Mapping[str, float] = field(default_factory=dict)
    failure: str = ""
    notes: tuple[str, ...] = ()  # what people should know of a run that went well
    missing: tuple[str, ...] = ()  # of each response that it promised and did not report, why


def read_report(path: Path) -> JobReport:
    """Parse a report; a last line cut off by a crash is passed over."""
    started_at, failure = None, ""
    curve: list[Epoch] = []
    responses: dict[str, float] = {}
    notes: list[str] = []
    for line in path.read_bytes().splitlines() if path.exists() else ():
        entry = from_json(line) or {}
        match entry.get("kind"):
            case "started":
                started_at = float(entry["at"])
            case "epoch":
                curve.append(Epoch(int(entry["number"]), float(entry["time_s"]), entry.get("values", {})))
            case "result":
                responses = {name: float(value) for name, value in entry["responses"].items()}
            case "note":
                notes.append(str(entry["text"]))
            case "failed":
                failure = f"{entry.get('error', '')}: {entry.get('message', '')}\n{entry.get('cause', '')}".strip()
    return JobReport(started_at, tuple(curve), responses, failure, tuple(notes))
