"""A finished run and its Observation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

from sparkcast.eventlogs import LogRead
from sparkcast.facts.joined import JoinedFacts, join_totals
from sparkcast.facts.totals import totals_of
from sparkcast.observe.eventlog import read_facts, read_run_logs, stage_spans, task_imbalance
from sparkcast.observe.got import settings_got
from sparkcast.observe.outcome import ExitReport, classify
from sparkcast.observe.output import read_output, tail_lines
from sparkcast.observe.report import JobReport, read_report
from sparkcast.observe.series import machine_metrics, node_imbalance, utilization
from sparkcast.study import (
    Configuration,
    Fingerprint,
    JobRun,
    Observation,
    Outcome,
    Role,
    Sharing,
    TaskTotals,
    Trial,
    Utilization,
)
from sparkcast.study.application import (
    CPU_TIME,
    EXIT,
    LAUNCH,
    PART_RESPONSES,
    STARTUP_TIME,
    TIME,
    TOTAL_TIME,
    WORK_TIME,
)
from sparkcast.study.names import IMBALANCE
from sparkcast.study.series import HostSeries, RunSeries, StageSpan
from sparkcast.study.streams import stream_responses
from sparkcast.workloads import SubmittedApplication

_WORST_FIRST = (Outcome.LOST, Outcome.OOM, Outcome.TIMEOUT, Outcome.ERROR, Outcome.OK)


@dataclass(frozen=True, slots=True)
class RanJob:
    """One job of an attempt: where it wrote, how it ended, and when. Moments are seconds since the Unix epoch."""

    folder: Path
    end: ExitReport
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
    program: SubmittedApplication | None = None  # that was submitted in place of sparkcast's driver
    sharing: Sharing | None = None  # of several jobs
    roles: Mapping[str, Role] = field(default_factory=dict)  # of the settings of its trial
    own_cpu_s: float | None = None  # of all its processes, where they ran on the machine that was sampled
    uncontrolled: frozenset[Role] = frozenset()  # what no run of the study can decide: the number of executors locally


@dataclass(frozen=True, slots=True)
class Observed:
    observation: Observation
    series: RunSeries
    notes: tuple[str, ...] = ()  # that people should read at once


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
    used = utilization(
        series, run.launched_at, run.ended_at, own_cpu_s=run.own_cpu_s, wanted_cores=_wanted_cores(run, jobs)
    )
    got = settings_got(run.trial.configuration, run.roles, jobs[0].facts) if len(jobs) == 1 else {}
    observation = Observation(
        configuration={**run.trial.configuration, **got},
        responses=responses,
        outcome=worst.outcome,
        cause=worst.cause,
        replicate=run.trial.replicate,
        position=run.trial.position,
        curve=jobs[0].report.curve,
        utilization=used,
        tasks=jobs[0].tasks,
        fingerprint=run.fingerprint,
        started_at=run.launched_at,
        artifacts=artifacts,
        run_id=run_id,
        jobs=each if len(each) > 1 else (),
        sharing=run.sharing if len(each) > 1 else None,
        requested=run.trial.configuration if got else None,
        leaves_open=any(run.roles[name] not in run.uncontrolled for name in got),
    )
    notes = [note for job in jobs for note in job.notes]
    return Observed(observation, series, (*notes, *([_crowded(used)] if used and used.is_crowded else [])))


def _crowded(used: Utilization) -> str:
    return (
        f"other work kept {used.other_cores:.1f} of {used.cores} cores busy meanwhile, so its times are too long; "
        f"{CPU_TIME} hardly depends on that"
    )


def _wanted_cores(run: Run, jobs: "list[_ObservedJob]") -> float:
    """What its executors and, on the machine that was sampled, its drivers could use; 0 where nobody knows."""
    held = [
        job.facts.shape.executors * job.facts.shape.cores if job.facts is not None else ran.cores
        for ran, job in zip(run.jobs, jobs, strict=True)
    ]
    drivers = 0 if run.own_cpu_s is None else len(jobs)
    return 0.0 if not all(held) else float(sum(cores or 0 for cores in held) + drivers)


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
    responses: Mapping[str, float]
    tasks: TaskTotals | None = None
    facts: JoinedFacts | None = None
    stages: tuple[StageSpan, ...] = ()
    imbalance: float | None = None  # of the time in tasks, among executors
    notes: tuple[str, ...] = ()


def _observe_job(run: Run, folder: Path, end: ExitReport) -> _ObservedJob:
    logs = read_run_logs(folder / "eventlog")
    facts = read_facts(logs)
    tasks = join_totals([totals_of(log) for log in logs])
    if run.program is None:
        report = read_report(folder / "report.jsonl")
    else:
        cluster = run.fingerprint.cluster if run.fingerprint else ""
        report = read_output(folder, run.program, tasks, end.exit_code, cluster=cluster)
    measured = {} if facts is None or report.failure else facts.responses()
    responses, notes = _joined(measured, report.responses)
    said = "\n".join([*_losses(logs), *tail_lines(folder / "driver.log")])
    outcome, cause = classify(end, replace(report, responses=responses), tasks, said)
    if facts is not None and (different := facts.different_shapes):
        notes = (*notes, f"its {len(facts.applications)} Spark applications had different executors: {different}")
    notes = (*notes, *report.missing)
    return _ObservedJob(outcome, cause, report, responses, tasks, facts, stage_spans(logs), task_imbalance(logs), notes)


def _losses(logs: Sequence[LogRead]) -> list[str]:
    """What Spark noted of executors that vanished."""
    gone = [one for log in logs for one in log.executors if one.is_lost]
    return [f"Lost executor {one.executor_id} on {one.host}: {one.removed_reason}" for one in gone]


def _joined(measured: Mapping[str, float], reported: Mapping[str, float]) -> tuple[dict[str, float], tuple[str, ...]]:
    """What the event log shows and what the job said of itself. Times mean the same in every run, so the log's win."""
    if not measured:  # a run without an event log: its own word is all there is
        note = "the run left no event log: its times are what the job itself reports, and may cover another part of it"
        return dict(reported), (note,) if reported else ()
    own = own_responses(reported)
    note = f"the job reports a {TIME} of its own: it is stored as {WORK_TIME}, since {TIME} is measured by sparkcast"
    return {**own, **measured}, (note,) if TIME in reported else ()


def own_responses(reported: Mapping[str, float]) -> dict[str, float]:
    """What a job reports, by the names under which it is stored beside what its event log shows."""
    return {WORK_TIME if name == TIME else name: value for name, value in reported.items()}


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
        responses=job.responses,
        outcome=job.outcome,
        cause=job.cause,
        curve=job.report.curve,
        tasks=job.tasks,
        artifacts=f"{artifacts}/{ran.folder.name}",
        cores=ran.cores,
    )


def _mean_responses(jobs: list[_ObservedJob], run: Run) -> Mapping[str, float]:
    names = set.intersection(*(set(job.responses) for job in jobs)) - ({*PART_RESPONSES} if len(jobs) > 1 else set())
    responses = {name: fmean(job.responses[name] for job in jobs) for name in sorted(names)}
    begun = [
        started - ran.submitted_at
        for ran, job in zip(run.jobs, jobs, strict=True)
        if (started := _started_at(job)) is not None
    ]
    if begun:
        responses[STARTUP_TIME] = fmean(begun)
    responses[TOTAL_TIME] = run.ended_at - run.launched_at
    if len(jobs) == 1 and jobs[0].facts is not None:
        responses |= _outside_the_application(jobs[0].facts, run)
    return responses


def _started_at(job: _ObservedJob) -> float | None:
    """When the first Spark job was submitted; without a log, when the job said that its work began."""
    return (job.tasks.first_job_s if job.tasks else None) or job.report.started_at


def _outside_the_application(facts: JoinedFacts, run: Run) -> dict[str, float]:
    """The time before and after the application's own life, as its launcher saw it: with it, the parts add up."""
    launch_s = max(facts.span.start_ms / 1e3 - run.launched_at, 0.0)
    return {LAUNCH: launch_s, EXIT: run.ended_at - run.launched_at - launch_s - facts.span.wall_s}
