"""The jobs of one attempt at a trial: planned, submitted when each is due, watched until all have ended.

A trial of one job is a stream of one, and `jobs: 3` is a stream in which all arrive at once.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sparkcast.engines import Exit, Handle
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.eventlogs import LogLimits, find_logs, read_log
from sparkcast.observe.outcome import ExitReport
from sparkcast.observe.run import RanJob
from sparkcast.runs.job import job_folders
from sparkcast.store.clock import RunClock
from sparkcast.study import Configuration, Study, Trial
from sparkcast.study.arrivals import FromLogs, dealt, shown_rate
from sparkcast.units import show_seconds
from sparkcast.workloads import Workload, complete, shape_of

_HEAD_BYTES = 4 * 2**20  # of a log: when its application started stands at its beginning


@dataclass(frozen=True, slots=True)
class PlannedJob:
    number: int
    at_s: float  # since the stream began
    settings: Configuration  # complete
    folder: Path


def with_arrivals(study: Study) -> Study:
    """The study with the times of its arrivals, where they have to be read from event logs first."""
    if not isinstance(study.arrivals, FromLogs):
        return study
    head = LogLimits(max_log_bytes=_HEAD_BYTES)
    starts = [read_log(log, head).application.started_ms for log in find_logs(study.arrivals.folder)]
    if silent := starts.count(0):
        raise NotEnoughDataError(
            f"{silent} of {len(starts)} event logs in {str(study.arrivals.folder)!r} do not tell when the application "
            "started",
            hint="take them out of the folder; the stream is then that of the others",
        )
    return replace(study, arrivals=study.arrivals.at([start / 1e3 for start in starts]))


def planned_jobs(study: Study, workload: Workload, trial: Trial, folder: Path = Path()) -> tuple[PlannedJob, ...]:
    """What a trial submits, and when: the same in every attempt."""
    times_s = arrival_times(study, workload, trial)
    parts = dealt(study.mix, len(times_s), seed=study.design.seed, replicate=trial.replicate)
    folders = job_folders(folder, len(times_s))
    return tuple(
        PlannedJob(number, at_s, complete(workload, trial.configuration | part), own)
        for number, (at_s, part, own) in enumerate(zip(times_s, parts, folders, strict=True), start=1)
    )


def arrival_times(study: Study, workload: Workload, trial: Trial) -> tuple[float, ...]:
    if study.arrivals is None:
        return (0.0,) * shape_of(workload, trial.configuration).jobs
    return study.arrivals.times_s(trial.configuration, trial.replicate)


def configurations_of(study: Study, configuration: Configuration) -> tuple[Configuration, ...]:
    """The settings of the jobs that a trial with these settings has."""
    return tuple(configuration | part.settings for part in study.mix) or (configuration,)


def require_time(study: Study, workload: Workload, trials: Sequence[Trial], job_s: float = 0.0) -> None:
    """Raise StudyError when a stream cannot end within its limit, or not one of them within that of all trials.

    `job_s` is how long a job alone takes, as far as that is known: a stream takes as long as its arrivals and one job.
    """
    if study.arrivals is None:
        return
    limit, total = study.limits.trial_s, study.limits.total_s
    lengths = {trial: arrival_times(study, workload, trial)[-1] + job_s for trial in trials}
    alone = f" and a job alone takes {show_seconds(job_s)}" if job_s else ""
    for trial, length in lengths.items():
        if limit is not None and length >= limit:
            rate = shown_rate(trial.configuration)
            n, at = len(arrival_times(study, workload, trial)), f" at {rate}" if rate else ""
            last = f"the last of {n} jobs{at} arrives after {show_seconds(length - job_s)}{alone}"
            raise StudyError(
                f"{study.where('arrivals')}{last}, so the stream cannot end within its limit of {show_seconds(limit)}",
                hint=f"allow at least limits: {{trial: {_longer(length)}}}, take fewer jobs, or let them come faster",
            )
    shortest = min(lengths.values())
    if total is not None and shortest >= total:
        raise StudyError(
            f"{study.where('arrivals')}a stream takes at least {show_seconds(shortest)}{alone}, so none can end within "
            f"the limit of {show_seconds(total)} in total",
            hint=f"allow at least limits: {{total: {_longer(shortest)}}}, take fewer jobs, or let them come faster",
        )


def _longer(seconds: float) -> str:
    return f"{int(1.25 * seconds / 60) + 1}m"


@dataclass(slots=True)
class _Submitted:
    job: PlannedJob
    handle: Handle
    at: float  # seconds since the Unix epoch
    ended_at: float | None = None


class Submitter:
    """Submits each job when it is due, and notes when it ends. After a failure no further job is submitted."""

    def __init__(self, jobs: Sequence[PlannedJob], submit: Callable[[PlannedJob], Handle], clock: RunClock) -> None:
        self._waiting, self._submit, self._clock = list(jobs), submit, clock
        self._submitted: list[_Submitted] = []
        self._n_jobs = len(jobs)
        self._begun = time.monotonic()

    def advance(self) -> bool:
        """Submit what is due and see what has ended; whether anything is left to wait for."""
        self._look()
        while self._waiting and self._waiting[0].at_s <= time.monotonic() - self._begun:
            job = self._waiting.pop(0)
            at = self._clock.now()
            self._submitted.append(_Submitted(job, self._submit(job), at))
            self._look()
        return bool(self._waiting) or any(one.ended_at is None for one in self._submitted)

    def _look(self) -> None:
        for one in self._submitted:
            if one.ended_at is None and (end := one.handle.poll()) is not None:
                one.ended_at = self._clock.now()
                if end.code != 0:
                    self._waiting.clear()  # the stream is broken: what more it would show is worth nothing

    def stop(self) -> None:
        """End all that runs, and submit nothing more."""
        self._waiting.clear()
        for one in self._submitted:
            if one.ended_at is None:
                one.handle.stop()
                one.ended_at = self._clock.now()

    def ran(self, stopped_because: str, cores_of: Callable[[Configuration], int]) -> tuple[RanJob, ...]:
        """What has been submitted, once all of it has ended."""
        return tuple(
            RanJob(
                one.job.folder,
                _report(one.handle.exit, stopped_because),
                one.at,
                one.at if one.ended_at is None else one.ended_at,
                one.job.settings,
                cores_of(one.job.settings),
            )
            for one in self._submitted
        )

    def standing(self) -> str:
        """For people: how far it is; "" of a single job. A job runs once its measured work has begun, if it tells."""
        if self._n_jobs == 1:
            return ""
        here = [one for one in self._submitted if one.ended_at is None]
        running = sum(_has_begun(one.job.folder) for one in here)
        done = len(self._submitted) - len(here)
        return (
            f"{len(self._submitted)} of {self._n_jobs} jobs have arrived: {len(here) - running} starting or waiting, "
            f"{running} running, {done} done"
        )


def _report(end: Exit | None, stopped_because: str) -> ExitReport:
    """Of a job that was stopped and whose cluster does not tell how it ended, what a killed process would say."""
    if end is None:
        return ExitReport(-9, stopped_because)
    return ExitReport(end.code, stopped_because or end.lost_because)


def _has_begun(folder: Path) -> bool:
    report = folder / "report.jsonl"
    return report.is_file() and b'"started"' in report.read_bytes()
