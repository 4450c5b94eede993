"""A finished run and its Observation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from sparkcast.observe.eventlog import read_only_log, stage_spans, task_imbalance, total
from sparkcast.observe.outcome import JobEnd, classify
from sparkcast.observe.output import read_output
from sparkcast.observe.parts import parts_in_tasks, parts_of
from sparkcast.observe.report import JobReport, read_report
from sparkcast.observe.series import machine_metrics, node_imbalance, utilization
from sparkcast.study import (
    Configuration,
    Fingerprint,
    JobRun,
    Observation,
    Outcome,
    Sharing,
    TaskTotals,
    Trial,
)
from sparkcast.study.names import IMBALANCE, STARTUP_TIME, TIME, TOTAL_TIME
from sparkcast.study.series import HostSeries, RunSeries, StageSpan
from sparkcast.study.streams import stream_responses
from sparkcast.workloads import Application

_TAIL_BYTES = 20_000
_WORST_FIRST = (Outcome.LOST, Outcome.OOM, Outcome.TIMEOUT, Outcome.ERROR, Outcome.OK)


@dataclass(frozen=True, slots=True)
class RanJob:
    """One job of an attempt: where it wrote, how it ended, and when. Moments are seconds since the Unix epoch."""

    folder: Path
    end: JobEnd
    submitted_at: float
    ended_at: float
    configuration: Configuration = field(default_factory=Configuration)
    cores: int | None = None  # that it may hold at most


@dataclass(frozen=True, slots=True)
class Run:
    """What one attempt at a trial left behind (most trials have one job)."""

    trial: Trial
    jobs: tuple[RanJob, ...]  # in order of submission
    launched_at: float
    ended_at: float
    hosts: tuple[HostSeries, ...]  # that were sampled
    fingerprint: Fingerprint | None
    program: Application | None = None  # that was submitted in place of sparkcast's driver
    sharing: Sharing | None = None  # of several jobs


@dataclass(frozen=True, slots=True)
class Observed:
    observation: Observation
    series: RunSeries


def observe(run: Run, *, run_id: str = "", artifacts: str = "") -> Observed:
    """Read everything the run wrote. With several jobs, responses are means over them and the worst outcome counts."""
    jobs = [_observe_job(run, job.folder, job.end) for job in run.jobs]
    worst = min(jobs, key=lambda job: _WORST_FIRST.index(job.outcome))
    each = tuple(_job_run(n, run, ran, job, artifacts) for n, (ran, job) in enumerate(zip(run.jobs, jobs, strict=True)))
    cores = None if run.sharing is None else run.sharing.cores
    series = RunSeries(run.hosts, tuple(stage for job in jobs for stage in job.stages))
    responses: dict[str, float] = {}
    if worst.outcome is Outcome.OK:
        responses = {**_metrics(jobs, run, series), **_mean_responses(jobs, run), **stream_responses(each, cores)}
    observation = Observation(
        configuration=run.trial.configuration,
        responses=responses,
        outcome=worst.outcome,
        cause=worst.cause,
        replicate=run.trial.replicate,
        position=run.trial.position,
        curve=jobs[0].report.curve,
        utilization=utilization(series, run.launched_at, run.ended_at),
        tasks=jobs[0].tasks,
        fingerprint=run.fingerprint,
        started_at=run.launched_at,
        artifacts=artifacts,
        run_id=run_id,
        jobs=each if len(each) > 1 else (),
        sharing=run.sharing if len(each) > 1 else None,
    )
    return Observed(observation, series)


def _metrics(jobs: "list[_ObservedJob]", run: Run, series: RunSeries) -> dict[str, float]:
    """What models may learn from besides the settings, though nobody knows it before a run."""
    uneven = [job.imbalance for job in jobs if job.imbalance is not None]
    moments = run.launched_at, run.ended_at
    found = {**machine_metrics(series, *moments), **node_imbalance(series, *moments)}
    return found | ({IMBALANCE: fmean(uneven)} if len(uneven) == len(jobs) else {})


@dataclass(frozen=True, slots=True)
class _ObservedJob:
    outcome: Outcome
    cause: str
    report: JobReport
    tasks: TaskTotals | None
    stages: tuple[StageSpan, ...] = ()
    imbalance: float | None = None  # of the time in tasks, among executors
    in_tasks: Mapping[str, float] = field(default_factory=dict)  # parts of the measured time


def _observe_job(run: Run, folder: Path, end: JobEnd) -> _ObservedJob:
    log = read_only_log(folder / "eventlog")
    tasks = None if log is None else total(log)
    if run.program is None:
        report = read_report(folder / "report.jsonl")
    else:
        cluster = run.fingerprint.cluster if run.fingerprint else ""
        report = read_output(folder, run.program, tasks, end.exit_code, cluster=cluster)
    outcome, cause = classify(end, report, tasks, _tail(folder / "driver.log"))
    if log is None:
        return _ObservedJob(outcome, cause, report, tasks)
    in_tasks = {}
    if report.started_at is not None and TIME in report.responses:
        in_tasks = parts_in_tasks(log, report.started_at, report.responses[TIME])
    return _ObservedJob(outcome, cause, report, tasks, stage_spans(log), task_imbalance(log), in_tasks)


def _job_run(index: int, run: Run, ran: RanJob, job: _ObservedJob, artifacts: str) -> JobRun:
    def since(moment: float | None) -> float | None:
        return None if moment is None else moment - run.launched_at

    return JobRun(
        number=index + 1,
        configuration=ran.configuration,
        arrived_s=ran.submitted_at - run.launched_at,
        registered_s=since(job.tasks.registered_s if job.tasks else None),
        started_s=since(job.tasks.first_executor_s if job.tasks else None),
        ended_s=ran.ended_at - run.launched_at,
        responses=job.report.responses,
        outcome=job.outcome,
        cause=job.cause,
        curve=job.report.curve,
        tasks=job.tasks,
        artifacts=f"{artifacts}/{ran.folder.name}",
        cores=ran.cores,
    )


def _mean_responses(jobs: list[_ObservedJob], run: Run) -> Mapping[str, float]:
    names = set.intersection(*(set(job.report.responses) for job in jobs))
    responses = {name: fmean(job.report.responses[name] for job in jobs) for name in sorted(names)}
    begun = [
        job.report.started_at - ran.submitted_at
        for ran, job in zip(run.jobs, jobs, strict=True)
        if job.report.started_at is not None
    ]
    if begun:
        responses[STARTUP_TIME] = fmean(begun)
    responses[TOTAL_TIME] = run.ended_at - run.launched_at
    if len(jobs) > 1 or not begun:
        return responses
    told = {**jobs[0].in_tasks, **responses}  # a workload knows better than its tasks
    return responses | parts_of(told, _boot_s(jobs[0], run.jobs[0].submitted_at, responses[STARTUP_TIME]))


def _boot_s(job: _ObservedJob, submitted_at: float, startup_s: float) -> float:
    """Until data were made ready, as the workload told, or else until the first executor was there."""
    ready = job.report.loading_at or (job.tasks.first_executor_s if job.tasks else None)
    return startup_s if ready is None else min(max(ready - submitted_at, 0.0), startup_s)


def _tail(path: Path) -> str:
    if not path.exists():
        return ""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        return file.read().decode(errors="replace")
