"""A finished run and its Observation."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from sparkcast.observe.eventlog import read_task_totals
from sparkcast.observe.outcome import JobEnd, classify
from sparkcast.observe.output import read_output
from sparkcast.observe.parts import parts_of
from sparkcast.observe.report import JobReport, read_report
from sparkcast.study import Fingerprint, Observation, Outcome, TaskTotals, Trial, Utilisation
from sparkcast.study.names import STARTUP_TIME, TOTAL_TIME
from sparkcast.workloads import Application

_TAIL_BYTES = 20_000
_WORST_FIRST = (Outcome.LOST, Outcome.OOM, Outcome.TIMEOUT, Outcome.ERROR, Outcome.OK)


@dataclass(frozen=True, slots=True)
class Run:
    """What one attempt at a trial left behind: one folder per job (most trials have one job)."""

    trial: Trial
    folders: tuple[Path, ...]
    ends: tuple[JobEnd, ...]
    launched_at: float
    ended_at: float
    utilisation: Utilisation | None
    fingerprint: Fingerprint | None
    program: Application | None = None  # that was submitted in place of sparkcast's driver


def observe(run: Run, *, run_id: str = "", artefacts: str = "") -> Observation:
    """Read everything the run wrote. With several jobs, responses are means over them and the worst outcome counts."""
    jobs = [_observe_job(run, folder, end) for folder, end in zip(run.folders, run.ends, strict=True)]
    worst = min(jobs, key=lambda job: _WORST_FIRST.index(job.outcome))
    responses = _mean_responses(jobs, run) if worst.outcome is Outcome.OK else {}
    return Observation(
        configuration=run.trial.configuration,
        responses=responses,
        outcome=worst.outcome,
        cause=worst.cause,
        replicate=run.trial.replicate,
        position=run.trial.position,
        curve=jobs[0].report.curve,
        utilisation=run.utilisation,
        tasks=jobs[0].tasks,
        fingerprint=run.fingerprint,
        started_at=run.launched_at,
        artefacts=artefacts,
        run_id=run_id,
    )


@dataclass(frozen=True, slots=True)
class _ObservedJob:
    outcome: Outcome
    cause: str
    report: JobReport
    tasks: TaskTotals | None


def _observe_job(run: Run, folder: Path, end: JobEnd) -> _ObservedJob:
    tasks = read_task_totals(folder / "eventlog") if (folder / "eventlog").is_dir() else None
    if run.program is None:
        report = read_report(folder / "report.jsonl")
    else:
        cluster = run.fingerprint.cluster if run.fingerprint else ""
        report = read_output(folder, run.program, tasks, end.exit_code, cluster=cluster)
    outcome, cause = classify(end, report, tasks, _tail(folder / "driver.log"))
    return _ObservedJob(outcome, cause, report, tasks)


def _mean_responses(jobs: list[_ObservedJob], run: Run) -> Mapping[str, float]:
    names = set.intersection(*(set(job.report.responses) for job in jobs))
    responses = {name: fmean(job.report.responses[name] for job in jobs) for name in sorted(names)}
    begun = [job.report.started_at for job in jobs if job.report.started_at is not None]
    if begun:
        responses[STARTUP_TIME] = fmean(begun) - run.launched_at
    responses[TOTAL_TIME] = run.ended_at - run.launched_at
    loading = [job.report.loading_at for job in jobs if job.report.loading_at is not None]
    return responses | parts_of(responses, fmean(loading) - run.launched_at if loading else None)


def _tail(path: Path) -> str:
    if not path.exists():
        return ""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        return file.read().decode(errors="replace")
