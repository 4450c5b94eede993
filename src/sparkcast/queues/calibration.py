"""The numbers of `queues.launching` from runs: how jobs launch and run alone, and how many the machine carries.

The phases come from jobs that were alone; the machine carries as many jobs without slowing them down as make runs of
several take as long as they did.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from statistics import fmean

from sparkcast.errors import NotEnoughDataError
from sparkcast.queues import require_positive
from sparkcast.queues.launching import Launched, Phases, SharedMachine, launched
from sparkcast.study import Configuration, Dataset, JobRun, Observation, Role, Vocabulary
from sparkcast.study.configuration import Levels, same_level
from sparkcast.study.names import RESPONSE_TIME
from sparkcast.study.streams import met_nobody
from sparkcast.units import as_number

_CLOSE = 1e-6  # of the capacity that is looked for
_MOST_AT_ONCE = 1000.0


@dataclass(frozen=True, slots=True)
class Timed:
    """One job as it was measured. Moments are seconds since its run began."""

    arrived_s: float
    registered_s: float
    ended_s: float
    sort: Configuration = field(default_factory=Configuration)  # jobs of the same sort are alike
    width: int = 1  # cores

    @property
    def response_s(self) -> float:
        return self.ended_s - self.arrived_s


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What jobs do alone, by sort, and the machine that they share."""

    machine: SharedMachine
    phases: Mapping[Configuration, Phases]
    alone: tuple[Timed, ...]  # the jobs that were measured alone
    n_shared: int  # runs of several jobs

    def sort_of(self, settings: Levels) -> Configuration | None:
        """The sort of jobs with these settings; None where none or several have them."""
        found = [
            sort
            for sort in self.phases
            if all(name in sort and same_level(sort[name], level) for name, level in settings.items())
        ]
        return found[0] if len(found) == 1 else None

    def phases_of(self, settings: Levels) -> Phases | None:
        sort = self.sort_of(settings)
        return None if sort is None else self.phases[sort]

    def told(self) -> str:
        """For people."""
        machine = self.machine
        many = f"{_counted(len(self.alone), 'job')} alone and {_counted(self.n_shared, 'run')} of several"
        slowed = f"more than {machine.carried:.3g} at once slow each other down"
        return f"jobs launch, wait for {machine.cores} cores and run as in {many}: {slowed}"


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def calibrate(alone: Sequence[Timed], together: Sequence[Sequence[Timed]], cores: int) -> Calibrated:
    """From jobs that were alone, and runs of several. What varies beyond the prediction is the spread of the times."""
    by_sort: dict[Configuration, list[Timed]] = {}
    for job in alone:
        by_sort.setdefault(job.sort, []).append(job)
    phases = {sort: _mean_phases(jobs) for sort, jobs in by_sort.items()}
    arrived = [[Launched(job.arrived_s, phases[job.sort]) for job in jobs] for jobs in together]
    mean_s = [fmean(job.response_s for job in jobs) for jobs in together]
    machine = SharedMachine(cores, carried_by(list(zip(arrived, mean_s, strict=True)), cores))
    misses = [(job.response_s / phases[job.sort].alone_s - 1) ** 2 for job in alone]
    for jobs, coming in zip(together, arrived, strict=True):
        for job, fate in zip(jobs, launched(coming, machine), strict=True):
            misses.append((job.response_s / (fate.ended_s - job.arrived_s) - 1) ** 2)
    spread = fmean(misses)
    with_spread = {sort: replace(one, scv=spread) for sort, one in phases.items()}
    return Calibrated(machine, with_spread, tuple(alone), len(together))


def _mean_phases(jobs: Sequence[Timed]) -> Phases:
    launch_s = fmean(job.registered_s - job.arrived_s for job in jobs)
    return Phases(launch_s, fmean(job.response_s for job in jobs) - launch_s, jobs[0].width)


def carried_by(runs: Sequence[tuple[Sequence[Launched], float]], cores: int) -> float:
    """How many jobs the machine carries without slowing down, so that runs of several take as long as measured.

    A run is its jobs and the mean of their response times.
    """
    if not any(jobs for jobs, _ in runs):
        raise NotEnoughDataError("no jobs ran at once", hint="measure some: `jobs: 3`")
    for _, measured_s in runs:
        require_positive(measured_s, "a measured response time", "s")
    measured = sum(len(jobs) * measured_s for jobs, measured_s in runs)

    def predicted(carried: float) -> float:
        machine = SharedMachine(cores, carried)
        return sum(
            fate.ended_s - job.arrive_s
            for jobs, _ in runs
            for fate, job in zip(launched(jobs, machine), jobs, strict=True)
        )

    low, high = 1 / _MOST_AT_ONCE, _MOST_AT_ONCE  # more carried: faster
    while high / low > 1 + _CLOSE:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if predicted(middle) > measured else (low, middle)
    return high


def calibrated(data: Dataset) -> Calibrated | None:
    """From the runs of a study; None where they do not show a sort of job alone and several jobs at once."""
    runs = [run for run in data.observations if run.ok]
    shared = [run for run in runs if run.jobs and run.sharing is not None]
    all_cores = {run.sharing.cores for run in shared if run.sharing is not None}
    cores = all_cores.pop() if len(all_cores) == 1 else None
    if not cores:
        return None
    # No job gets more cores than there are, whatever it may hold.
    width = {job.configuration: min(job.cores or 1, cores) for run in shared for job in run.jobs}
    single = [_timed_alone(run, data.vocabulary, width) for run in runs if not run.jobs]
    alone = [job for job in (*_met_nobody(shared, width), *single) if job is not None]
    together = list(_together(shared, width, {job.sort for job in alone}))
    return calibrate(alone, together, cores) if alone and together else None


def _met_nobody(shared: Sequence[Observation], width: Mapping[Configuration, int]) -> list[Timed | None]:
    return [_timed(job, width) for run in shared for job in met_nobody(run.jobs)]


def _together(
    shared: Sequence[Observation], width: Mapping[Configuration, int], sorts: Set[Configuration]
) -> Iterator[list[Timed]]:
    """Runs in which jobs met, where each of their jobs tells and is of a sort that was alone."""
    for run in shared:
        jobs = [timed for job in run.jobs if (timed := _timed(job, width)) is not None and timed.sort in sorts]
        if len(jobs) == len(run.jobs) > len(met_nobody(run.jobs)):
            yield jobs


def _timed(job: JobRun, width: Mapping[Configuration, int]) -> Timed | None:
    """None where it is not known when it registered, or on another clock."""
    if job.registered_s is None or not job.arrived_s <= job.registered_s <= job.ended_s:
        return None
    return Timed(job.arrived_s, job.registered_s, job.ended_s, job.configuration, width[job.configuration])


def _timed_alone(run: Observation, words: Vocabulary, width: Mapping[Configuration, int]) -> Timed | None:
    """A run of one job; None where it does not tell, or where no run of several had such a job."""
    name = words.first(Role.JOBS, among=run.configuration)
    sort, ended_s = run.configuration.without(name or ""), run.responses.get(RESPONSE_TIME)
    if sort not in width or (name is not None and as_number(run.configuration[name]) != 1):
        return None
    if run.tasks is None or run.tasks.registered_s is None or run.started_at is None or ended_s is None:
        return None
    registered_s = run.tasks.registered_s - run.started_at
    return Timed(0.0, registered_s, ended_s, sort, width[sort]) if 0 <= registered_s <= ended_s else None
