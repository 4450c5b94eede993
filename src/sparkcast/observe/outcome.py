"""How a run ended, and the few lines that say why."""

from dataclasses import dataclass

from sparkcast.facts.failure import outcome_of_failure
from sparkcast.observe.cause import cause_of, without_chatter
from sparkcast.observe.report import JobReport
from sparkcast.study import Outcome, TaskTotals


@dataclass(frozen=True, slots=True)
class ExitReport:
    """How one submitted application ended, as its launcher saw it."""

    exit_code: int
    stopped_because: str = ""  # "timeout", or why the cluster was not healthy, when sparkcast stopped it


def classify(end: ExitReport, report: JobReport, tasks: TaskTotals | None, log_tail: str) -> tuple[Outcome, str]:
    """The outcome and its cause. What the job said of itself comes before the noise of Spark shutting down."""
    if end.stopped_because == "timeout":
        return Outcome.TIMEOUT, "stopped at its time limit"
    if end.stopped_because:
        return Outcome.LOST, end.stopped_because
    if end.exit_code == 0 and report.responses and not (tasks and tasks.lost_executors):
        return Outcome.OK, ""
    if end.exit_code == 0 and report.failure and not (tasks and tasks.lost_executors):
        return Outcome.ERROR, report.failure  # it ended well, and without anything that can be measured
    lines = log_tail.splitlines()
    cause = report.failure or cause_of(lines, end.exit_code) or _last_lines(lines)
    cause = cause or f"the driver exited with code {end.exit_code}"
    text = f"{report.failure}\n{log_tail}"
    outcome = outcome_of_failure(text)
    if outcome is not Outcome.OOM and tasks and tasks.lost_executors:
        return Outcome.LOST, f"{tasks.lost_executors} executor(s) lost during the run: {cause}"
    if outcome is Outcome.ERROR and end.exit_code in (-9, 137, -15, 143):
        return Outcome.LOST, cause
    return outcome, cause


def _last_lines(lines: list[str], count: int = 5) -> str:
    return "\n".join(without_chatter(lines)[-count:])
