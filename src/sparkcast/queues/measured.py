"""What measured runs say about a queue: how long jobs take alone, and how much they slow each other down."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.queues.calibration import calibrated
from sparkcast.queues.launching import Phases, SharedMachine
from sparkcast.queues.slowdown import MeasuredSlowdown, measured_slowdown
from sparkcast.queues.times import EmpiricalTimes, Times
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, Dataset, Level, Observation, Role, same_level
from sparkcast.study.names import RESPONSE_TIME
from sparkcast.study.streams import alone_times, is_stream, mean_company
from sparkcast.units import as_number, show_rate


@dataclass(frozen=True, slots=True)
class MeasuredJobs:
    """Jobs as they were measured."""

    times: EmpiricalTimes  # alone on the cluster, in seconds
    configurations: int
    slowdown: MeasuredSlowdown | None = None  # None where no number of jobs was varied
    notes: tuple[str, ...] = ()
    arrival_rate: float | None = None  # of measured streams, jobs per second
    launching: "Launching | None" = None  # where runs show how jobs launch, wait for cores and run


@dataclass(frozen=True, slots=True)
class Launching:
    """The same jobs as Spark runs them."""

    times: Times  # from submission to exit, alone, in seconds
    phases: Phases
    machine: SharedMachine
    notes: tuple[str, ...]


def measured_jobs(data: Dataset, at: Mapping[str, Level] | None = None) -> MeasuredJobs:
    """The jobs of all runs, or of those with the settings `at`.

    Raises NotEnoughDataError where no such job was measured alone, StudyError where there is no such setting.
    """
    launching = _launching(data, at or {})
    if any(is_stream(run) for run in data.observations):
        return _jobs_of_streams(data, at or {}, launching)
    name = data.vocabulary.required_time()
    chosen = _at(data, data.successful(name), at or {})
    jobs = _jobs_setting(data, chosen)
    alone = [run for run in chosen if jobs is None or as_number(run.configuration.get(jobs, 1)) == 1]
    if not alone:
        raise NotEnoughDataError(
            "no run was alone on the cluster, so the time of a job running alone is unknown",
            hint=f"measure it: `{jobs}: [1, 2, 4]`" if chosen else "choose settings that were run",
        )
    response = data.vocabulary.response(name)
    times = EmpiricalTimes(tuple(response.seconds(run.responses[name]) for run in alone))
    n = len({data.key(run) for run in alone})
    notes = []
    if n > 1:
        notes.append(f"the jobs are a mix of the {n} configurations that were run; `at={{...}}` selects one")
    if name != RESPONSE_TIME and all(RESPONSE_TIME in run.responses for run in alone):
        notes.append(f"{name} is the service time, without start-up; the runs also show {RESPONSE_TIME}")
    slowdown = None if jobs is None else _slowdown(data, chosen, jobs, name)
    if slowdown is not None:
        notes.append(_slowdown_note(slowdown, "jobs at once × factor"))
    return MeasuredJobs(times, n, slowdown, tuple(notes), launching=launching)


def _jobs_setting(data: Dataset, runs: Sequence[Observation]) -> str | None:
    """The number of jobs at once, also where it was the same in all runs: three at once are not alone."""
    settings = dict.fromkeys((*data.factors, *(name for run in runs for name in run.configuration)))
    return data.vocabulary.first(Role.JOBS, among=settings)


def _launching(data: Dataset, at: Mapping[str, Level]) -> Launching | None:
    """None where runs do not show it of the one sort of jobs that is meant."""
    known = calibrated(data)
    sort = None if known is None else known.sort_of(at)
    if known is None or sort is None:
        return None
    times = EmpiricalTimes(tuple(job.response_s for job in known.alone if job.sort == sort))
    return Launching(times, known.phases[sort], known.machine, (known.told(),))


def _jobs_of_streams(data: Dataset, at: Mapping[str, Level], launching: Launching | None) -> MeasuredJobs:
    """From what each job of measured streams showed: its response time is what people wait for."""
    streams = [run for run in data.observations if is_stream(run)]
    names = dict.fromkeys(name for run in streams for job in run.jobs for name in job.configuration)
    require_factors(at, names)
    wanted = {
        settings: times
        for settings, times in alone_times(data.observations, data.vocabulary).items()
        if all(same_level(settings.get(name, ""), level) for name, level in at.items())
    }
    if not wanted:
        raise NotEnoughDataError(
            "no such job of these streams was alone on the cluster, so its time alone is unknown",
            hint="let some arrive when no other runs: at a lower rate, or with `arrivals: {at: [...]}` far apart",
        )
    slowdown = _slowdown_in_streams(streams, wanted)
    span_s = sum(run.jobs[-1].arrived_s - run.jobs[0].arrived_s for run in streams)
    rate = sum(len(run.jobs) - 1 for run in streams) / span_s
    n_alone = sum(len(times) for times in wanted.values())
    notes = [f"response times of {n_alone} jobs that were alone, start-up included, are the service times"]
    if slowdown is not None:
        notes.append(_slowdown_note(slowdown, "jobs in the system on average × factor"))
    came = f"{show_rate(rate)} arrived in {len(streams)} measured stream{'' if len(streams) == 1 else 's'}"
    if launching is not None:
        launching = replace(launching, notes=(*launching.notes, came))
    times_s = tuple(time for times in wanted.values() for time in times)
    return MeasuredJobs(EmpiricalTimes(times_s), len(wanted), slowdown, (*notes, came), rate, launching)


def _slowdown_in_streams(
    streams: Sequence[Observation], alone: Mapping[Configuration, Sequence[float]]
) -> MeasuredSlowdown | None:
    """The middle of what jobs show, by how many were there with each; None where they met no other."""
    ratios: dict[float, list[float]] = {}
    for run in streams:
        for job in run.jobs:
            company = round(mean_company(job, run.jobs))
            if job.configuration in alone and company > 1:
                ratios.setdefault(company, []).append(job.response_s / fmean(alone[job.configuration]))
    return measured_slowdown({1: 1.0, **{n: median(found) for n, found in ratios.items()}}) if ratios else None


def _slowdown_note(slowdown: MeasuredSlowdown, what: str) -> str:
    told = ", ".join(f"{n:g} × {f:.3g}" for n, f in zip(slowdown.jobs, slowdown.factors, strict=True))
    return f"slowdown as measured ({what}): {told}; beyond {slowdown.jobs[-1]:g} jobs, throughput stops growing"


def require_factors(at: Mapping[str, Level], known: Iterable[str]) -> None:
    """Raise StudyError for a setting that is none of these."""
    for name in at:
        if name not in known:
            raise StudyError(f"{name!r} is not a factor", hint=did_you_mean(name, tuple(known)))


def _at(data: Dataset, runs: Sequence[Observation], at: Mapping[str, Level]) -> list[Observation]:
    require_factors(at, data.factors)
    return [run for run in runs if all(same_level(run.configuration[name], level) for name, level in at.items())]


def _slowdown(data: Dataset, runs: list[Observation], jobs: str, time: str) -> MeasuredSlowdown | None:
    """The middle of what configurations show that were measured alone and among others."""
    groups: dict[Configuration, dict[float, list[float]]] = {}
    for run in runs:
        n = as_number(run.configuration.get(jobs, 1))
        if n is None or n < 1:
            raise StudyError(
                f"{jobs} = {run.configuration[jobs]} is not a number of jobs", hint="correct or drop the run"
            )
        key = run.configuration.only([name for name in data.factors if name != jobs])
        groups.setdefault(key, {}).setdefault(n, []).append(run.responses[time])
    ratios: dict[float, list[float]] = {}
    for by_number in groups.values():
        if 1 in by_number:
            for n, times in by_number.items():
                ratios.setdefault(n, []).append(fmean(times) / fmean(by_number[1]))
    if len(ratios) < 2:
        return None
    return measured_slowdown({n: median(found) for n, found in ratios.items()})
