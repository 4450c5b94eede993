"""How a run ended, and the few lines that say why."""

import re
from dataclasses import dataclass

from sparkcast.observe.report import JobReport
from sparkcast.study import Outcome, TaskTotals

_OOM = re.compile(
    r"OutOfMemoryError|Java heap space|MemoryError\b|exit(?:ed with)? code:? 52\b|Container killed .* memory|"
    r"OOMKilled|can(?:'t|not) allocate memory|unable to allocate [\d.]+ [KMGT]iB|exceeding (?:physical )?memory limits",
    re.IGNORECASE,
)
_LOST = re.compile(
    r"ExecutorLostFailure|Lost executor|Lost worker|Master removed our application|All masters are unresponsive|"
    r"Disconnected from Spark cluster|SparkContext (?:has been|was) shut ?down|Connection refused|"
    r"exit(?:ed with)? code:? 137\b|Worker shutting down",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class JobEnd:
    """How one submitted application ended, as its launcher saw it."""

    exit_code: int
    stopped_because: str = ""  # "timeout", or why the cluster was not healthy, when sparkcast stopped it


def classify(end: JobEnd, report: JobReport, tasks: TaskTotals | None, log_tail: str) -> tuple[Outcome, str]:
    """The outcome and its cause. What the job said of itself comes before the noise of Spark shutting down."""
    if end.stopped_because == "timeout":
        return Outcome.TIMEOUT, "stopped at its time limit"
    if end.stopped_because:
        return Outcome.LOST, end.stopped_because
    if end.exit_code == 0 and report.responses and not (tasks and tasks.lost_executors):
        return Outcome.OK, ""
    if end.exit_code == 0 and report.failure and not (tasks and tasks.lost_executors):
        return Outcome.ERROR, report.failure  # it ended well, and without what it should have told
    cause = report.failure or _last_lines(log_tail) or f"the driver exited with code {end.exit_code}"
    text = f"{report.failure}\n{log_tail}"
    if _OOM.search(text):
        return Outcome.OOM, cause
    if tasks and tasks.lost_executors:
        return Outcome.LOST, f"{tasks.lost_executors} executor(s) lost during the run: {cause}"
    if end.exit_code in (-9, 137, -15, 143) or _LOST.search(text):
        return Outcome.LOST, cause
    return Outcome.ERROR, cause


def _last_lines(text: str, count: int = 5) -> str:
    return "\n".join([line for line in text.splitlines() if line.strip()][-count:])
