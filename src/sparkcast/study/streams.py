"""What the jobs of one run say together: response times, how full the cluster was, how much jobs slowed each other."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf
from statistics import fmean, quantiles

from sparkcast.study.application import TOTAL_TIME
from sparkcast.study.arrivals import ARRIVAL_RATE
from sparkcast.study.configuration import Configuration
from sparkcast.study.names import RESPONSE_TIME
from sparkcast.study.observation import JobRun, Observation
from sparkcast.study.setting import Role
from sparkcast.study.vocabulary import Vocabulary
from sparkcast.units import as_number

PERCENTILES = (50, 90, 95)
SLOWDOWN = "slowdown"
_AT_ONCE_S = 0.5  # submitting a job may take as long on a busy machine


def is_stream(run: Observation) -> bool:
    """Whether a run ended well and had jobs that came one after the other, not all at once."""
    return run.ok and bool(run.jobs) and run.jobs[-1].arrived_s - run.jobs[0].arrived_s > _AT_ONCE_S * len(run.jobs)


def stream_responses(jobs: Sequence[JobRun], cores: int | None) -> dict[str, float]:
    """Means and percentiles over the jobs of a run that ended well; shares of cores only where their number is known.

    Busy cores are those that run a task, held ones those of executors that are there.
    """
    responses = {RESPONSE_TIME: fmean(job.response_s for job in jobs)}
    if len(jobs) < 2:
        return responses
    by_percent = quantiles((job.response_s for job in jobs), n=100, method="inclusive")
    responses |= {f"response_p{percent}_s": by_percent[percent - 1] for percent in PERCENTILES}
    for name, values in (("waiting_s", [j.waiting_s for j in jobs]), ("service_s", [j.service_s for j in jobs])):
        if None not in values:
            responses[name] = fmean(value for value in values if value is not None)
    span_s = max(job.ended_s for job in jobs) - min(job.arrived_s for job in jobs)
    responses["jobs_in_system"] = sum(job.response_s for job in jobs) / span_s
    return responses | (_shares_of_cores(jobs, span_s, cores) if cores else {})


def _shares_of_cores(jobs: Sequence[JobRun], span_s: float, cores: int) -> dict[str, float]:
    shares = {}
    if all(job.tasks is not None for job in jobs):
        shares["cores_busy"] = sum(job.tasks.run_s for job in jobs if job.tasks) / span_s / cores
    if all(job.cores is not None and job.service_s is not None for job in jobs):
        shares["cores_held"] = sum((job.cores or 0) * (job.service_s or 0.0) for job in jobs) / span_s / cores
    return shares


def jobs_in_system(jobs: Iterable[JobRun]) -> tuple[tuple[float, int, int], ...]:
    """When the number of jobs changes: the moment, how many are there from then on, and how many of them run."""
    changes: dict[float, list[int]] = {}
    for job in jobs:
        begun = job.ended_s if job.started_s is None else job.started_s
        for moment, here, running in ((job.arrived_s, 1, 0), (begun, 0, 1), (job.ended_s, -1, -1)):
            change = changes.setdefault(moment, [0, 0])
            change[0] += here
            change[1] += running
    found, here, running = [], 0, 0
    for moment, (more, begun_or_over) in sorted(changes.items()):
        here, running = here + more, running + begun_or_over
        found.append((moment, here, running))
    return tuple(found)


def mean_company(job: JobRun, jobs: Sequence[JobRun]) -> float:
    """How many jobs were there on average while this one was, itself included.

    >>> def job(number, arrived_s, ended_s):
    ...     return JobRun(number, Configuration(), arrived_s, None, None, ended_s, {})
    >>> first, second = job(1, 0.0, 10.0), job(2, 5.0, 15.0)
    >>> mean_company(first, [first, second])
    1.5
    """
    together = sum(max(0.0, min(job.ended_s, o.ended_s) - max(job.arrived_s, o.arrived_s)) for o in jobs)
    return together / job.response_s if job.response_s else 1.0


def alone_times(observations: Iterable[Observation], words: Vocabulary) -> dict[Configuration, list[float]]:
    """Response times of jobs that had the cluster to themselves, by their settings."""
    found: dict[Configuration, list[float]] = {}
    for run in observations:
        if not run.ok:
            continue
        for configuration, time_s in _alone(run, words):
            found.setdefault(configuration, []).append(time_s)
    return found


def met_nobody(jobs: Sequence[JobRun]) -> list[JobRun]:
    """Those of a stream that had the cluster to themselves all along."""
    lonely, all_ended_s = [], 0.0
    nexts_s = (*(job.arrived_s for job in jobs[1:]), inf)
    for job, next_s in zip(jobs, nexts_s, strict=True):
        if all_ended_s <= job.arrived_s and job.ended_s <= next_s:
            lonely.append(job)
        all_ended_s = max(all_ended_s, job.ended_s)
    return lonely


def _alone(run: Observation, words: Vocabulary) -> list[tuple[Configuration, float]]:
    if run.jobs:
        return [(job.configuration, job.response_s) for job in met_nobody(run.jobs)]
    name = words.first(Role.JOBS, among=run.configuration)
    time_s = run.responses.get(RESPONSE_TIME, run.responses.get(TOTAL_TIME))
    if time_s is None or (name is not None and as_number(run.configuration[name]) != 1):
        return []
    return [(run.configuration.without(name or "", ARRIVAL_RATE), time_s)]


def with_slowdowns(observations: Sequence[Observation], words: Vocabulary) -> tuple[Observation, ...]:
    """The runs with how much slower each of their jobs was than the same job alone, where runs show that."""
    if not any(run.jobs for run in observations):
        return tuple(observations)
    alone = {settings: fmean(times) for settings, times in alone_times(observations, words).items()}
    return tuple(_with_slowdown(run, alone) if run.jobs and run.ok else run for run in observations)


def _with_slowdown(run: Observation, alone: dict[Configuration, float]) -> Observation:
    jobs = tuple(
        replace(job, slowdown=job.response_s / alone[job.configuration]) if job.configuration in alone else job
        for job in run.jobs
    )
    known = [job.slowdown for job in jobs if job.slowdown is not None]
    mean = {SLOWDOWN: fmean(known)} if len(known) == len(jobs) else {}
    return replace(run, jobs=jobs, responses={**run.responses, **mean})
