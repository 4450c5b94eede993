"""The event log of one run, and what else is kept of it than facts."""

from pathlib import Path

from sparkcast.errors import StudyError
from sparkcast.eventlogs import LogRead, find_logs, read_log
from sparkcast.facts import AppFacts, facts_of
from sparkcast.observe.series import imbalance
from sparkcast.study.series import StageSpan


def read_only_log(path: Path) -> LogRead | None:
    """The event log at `path` (file, rolling folder, or a folder holding one log); None without one."""
    logs = find_logs(path) if path.exists() else ()
    return read_log(logs[0]) if logs else None


def read_facts(log: LogRead | None) -> AppFacts | None:
    """The facts of a run; None where it left no log, or one of an application that never started."""
    if log is None:
        return None
    try:
        return facts_of(log)
    except StudyError:
        return None


def stage_spans(log: LogRead) -> tuple[StageSpan, ...]:
    """When its stages ran; one whose end is not in the log, until the last thing that is."""
    ends = (log.application.last_event_ms, *(stage.completed_ms for stage in log.stages))
    found = [
        StageSpan(stage.stage_id, stage.attempt, stage.name, stage.submitted_ms, stage.completed_ms or max(ends))
        for stage in log.stages
        if stage.submitted_ms
    ]
    return tuple(sorted(found, key=lambda stage: (stage.started_ms, stage.stage_id, stage.attempt)))


def task_imbalance(log: LogRead) -> float | None:
    """Of the time in tasks, among all executors there were, also those without any; None of a log without tasks."""
    if not len(log.tasks):
        return None
    spent = {one.executor_id: 0.0 for one in log.executors}
    for executor, run_ms in zip(log.tasks.text("executor"), log.tasks["run_ms"], strict=True):
        spent[str(executor)] = spent.get(str(executor), 0.0) + float(run_ms)
    return imbalance(tuple(spent.values()))
