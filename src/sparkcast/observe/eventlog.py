"""The event logs of one run, and what else is kept of them than facts."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from sparkcast.errors import StudyError
from sparkcast.eventlogs import LogRead, find_logs, read_log
from sparkcast.facts import facts_of
from sparkcast.facts.joined import JoinedFacts, join_facts
from sparkcast.observe.series import imbalance
from sparkcast.study.series import StageSpan


def read_run_logs(path: Path) -> tuple[LogRead, ...]:
    """The event logs in `path`, a run's folder for them, in the order of their names; one of each application."""
    return tuple(read_log(log) for log in find_logs(path)) if path.exists() else ()


def read_facts(logs: Iterable[LogRead]) -> JoinedFacts | None:
    """The facts of a run; None where it left no log, or only those of applications that never started."""
    found = []
    for log in logs:
        with suppress(StudyError):
            found.append(facts_of(log))
    return join_facts(found)


def stage_spans(logs: Iterable[LogRead]) -> tuple[StageSpan, ...]:
    """When the stages of a run's applications ran."""
    found = [stage for log in logs for stage in _stages(log)]
    return tuple(sorted(found, key=lambda stage: (stage.started_ms, stage.stage_id, stage.attempt)))


def _stages(log: LogRead) -> list[StageSpan]:
    """A stage whose end is not in the log ran until the last thing that is."""
    ends = (log.application.last_event_ms, *(stage.completed_ms for stage in log.stages))
    return [
        StageSpan(stage.stage_id, stage.attempt, stage.name, stage.submitted_ms, stage.completed_ms or max(ends))
        for stage in log.stages
        if stage.submitted_ms
    ]


def task_imbalance(logs: Iterable[LogRead]) -> float | None:
    """Of the time in tasks, among all executors there were, also those without any; None of logs without tasks.

    Of several applications the mean, weighted by their time in tasks.
    """
    weighted = total = 0.0
    for spent in (_spent(log) for log in logs if len(log.tasks)):
        weight = sum(spent.values()) or 1.0
        weighted, total = weighted + weight * imbalance(tuple(spent.values())), total + weight
    return weighted / total if total else None


def _spent(log: LogRead) -> dict[str, float]:
    spent = {one.executor_id: 0.0 for one in log.executors}
    for executor, run_ms in zip(log.tasks.text("executor"), log.tasks["run_ms"], strict=True):
        spent[str(executor)] = spent.get(str(executor), 0.0) + float(run_ms)
    return spent
