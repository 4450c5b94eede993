"""How a run ended, and the few lines that say why."""

import re
from dataclasses import dataclass

from sparkcast.observe.report import JobReport
from sparkcast.study import Outcome, TaskTotals

# Who kills for want of memory says so: YARN that a container is beyond its limits, Kubernetes OOMKilled, Spark's own
# executors by exit code 52. Code 137 alone is a SIGKILL from anywhere (a preempted container, an administrator, the
# kernel), and no proof that the settings ask for too little memory, whatever Spark adds ("possible container OOM").
_OOM = re.compile(
    r"OutOfMemoryError|Java heap space|MemoryError\b|exit(?:ed with)? code:? 52\b|Container killed .* memory|"
    r"OOMKilled|can(?:'t|not) allocate memory|unable to allocate [\d.]+ [KMGT]iB|"
    r"exceeding (?:physical |virtual )?memory limits|beyond (?:the )?'?(?:physical|virtual)?'? ?memory limit",
    re.IGNORECASE,
)
_LOST = re.compile(
    r"ExecutorLostFailure|Lost executor|Lost worker|Master removed our application|All masters are unresponsive|"
    r"Disconnected from Spark cluster|SparkContext (?:has been|was) shut ?down|Connection refused|"
    r"exit(?:ed with)? (?:code|status)(?:: ?| is | )137\b|Worker shutting down",
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
    outcome = outcome_of_failure(text)
    if outcome is not Outcome.OOM and tasks and tasks.lost_executors:
        return Outcome.LOST, f"{tasks.lost_executors} executor(s) lost during the run: {cause}"
    if outcome is Outcome.ERROR and end.exit_code in (-9, 137, -15, 143):
        return Outcome.LOST, cause
    return outcome, cause


def outcome_of_failure(text: str) -> Outcome:
    """What made a run fail, by the words that Spark, Python and resource managers have for it."""
    if _OOM.search(text):
        return Outcome.OOM
    return Outcome.LOST if _LOST.search(text) else Outcome.ERROR


def _last_lines(text: str, count: int = 5) -> str:
    return "\n".join([line for line in text.splitlines() if line.strip()][-count:])
