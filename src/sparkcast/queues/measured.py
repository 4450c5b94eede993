"""What measured runs say about a queue: how long jobs take alone, and how much they slow each other down."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.queues.slowdown import MeasuredSlowdown, measured_slowdown
from sparkcast.queues.times import Measured
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, Dataset, Level, Observation, Role, same_level
from sparkcast.units import as_number


@dataclass(frozen=True, slots=True)
class Jobs:
    """Jobs as they were measured."""

    times: Measured  # alone on the cluster, in seconds
    configurations: int
    slowdown: MeasuredSlowdown | None = None  # None where no number of jobs was varied
    notes: tuple[str, ...] = ()


def measured_jobs(data: Dataset, at: Mapping[str, Level] | None = None) -> Jobs:
    """The jobs of all runs, or of those with the settings `at`.

    Raises NotEnoughDataError where no such job was measured alone, StudyError where there is no such setting.
    """
    name = data.vocabulary.required_time()
    chosen = _at(data, data.successful(name), at or {})
    # It counts also where it was the same in all runs: three at once are not alone.
    settings = dict.fromkeys((*data.factors, *(name for run in chosen for name in run.configuration)))
    jobs = data.vocabulary.first(Role.JOBS, among=settings)
    alone = [run for run in chosen if jobs is None or as_number(run.configuration.get(jobs, 1)) == 1]
    if not alone:
        raise NotEnoughDataError(
            "no run was alone on the cluster, so the time of a job running alone is unknown",
            hint=f"measure it: `{jobs}: [1, 2, 4]`" if chosen else "choose settings that were run",
        )
    response = data.vocabulary.response(name)
    times = Measured(tuple(response.seconds(run.responses[name]) for run in alone))
    n = len({data.key(run) for run in alone})
    notes = []
    if n > 1:
        notes.append(f"the jobs are a mix of the {n} configurations that were run; --at NAME=VALUE,... selects one")
    slowdown = None if jobs is None else _slowdown(data, chosen, jobs, name)
    if slowdown is not None:
        told = ", ".join(f"{n:g} × {f:.3g}" for n, f in zip(slowdown.jobs, slowdown.factors, strict=True))
        notes.append(
            f"slowdown as measured (jobs at once × factor): {told}; beyond {slowdown.jobs[-1]:g} jobs, "
            "throughput stops growing"
        )
    return Jobs(times, n, slowdown, tuple(notes))


def _at(data: Dataset, runs: Sequence[Observation], at: Mapping[str, Level]) -> list[Observation]:
    for name in at:
        if name not in data.factors:
            raise StudyError(f"{name!r} is not a factor", hint=did_you_mean(name, data.factors))
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
