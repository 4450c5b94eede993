"""Clusters that jobs share."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sparkcast.data.sources import Data
from sparkcast.study import Level

if TYPE_CHECKING:
    from sparkcast.learned.knowledge import Knowledge
    from sparkcast.queues.admission import Decision
    from sparkcast.queues.answer import OnStep, QueueAnswer
    from sparkcast.queues.described import Described, DescribedClass


def queue(
    data: "Data | Knowledge | None" = None,
    *,
    service_time_s: float | None = None,
    scv: float | None = None,
    arrival_rate: float | None = None,
    arrivals_s: Sequence[float] = (),
    arrival_scv: float = 1.0,
    servers: int = 1,
    width: int = 1,
    discipline: str | None = None,
    overtake: bool = False,
    mix: "Sequence[DescribedClass]" = (),
    places: int | None = None,
    at: Mapping[str, Level] | None = None,
    slo_s: float | None = None,
    percentile: float = 95.0,
    compare: Sequence[int] = (),
    price_per_server_hour: float | None = None,
    with_figures: bool = False,
    n_jobs: int = 20_000,
    replications: int = 10,
    seed: int = 0,
    model: str = "auto",
    extrapolate: bool = False,
    on_step: "OnStep" = lambda what, done, total: None,
) -> "QueueAnswer":
    """How long jobs wait for one another, how many a cluster can take, and what more servers would bring.

    Args:
        data: Runs whose times are the service times, or a model that predicts them; None where `service_time_s` is
            given.
        service_time_s: The mean time of a job alone.
        scv: Variance of the service times over their squared mean: 0 all equal, 1 exponential. With `data`, instead of
            what was measured. By default 1 for plain numbers.
        arrival_rate: Jobs per second. Without it, only what the cluster can take within `slo_s` is told.
        arrivals_s: Times of arrival in seconds, in place of a random stream; with `arrival_rate` they are scaled to it.
        arrival_scv: Of the times between arrivals: 1 Poisson, more in bursts, less regular.
        servers: Jobs that run at once; with `width`, cores.
        width: Cores that one job holds.
        discipline: "fifo", first come first served, "fair", all at once with equal shares, "priority", or "launching",
            where `data` show how jobs launch, wait in line for cores and run. By default priority where the mix
            has priorities, then launching where it is known, fair where `data` show how much jobs slow each other down,
            else fifo.
        overtake: Whether narrow jobs may pass wide ones that do not fit yet.
        mix: Jobs of several sorts with their shares, in place of `service_time_s`, `scv`, `width` and `at`.
        places: Jobs in the system at most, others are turned away; None: as many as come.
        at: Settings of the job, of which `data` tell the time.
        slo_s: The deadline that the percentile must keep to.
        percentile: Of the response time, in percent.
        compare: Numbers of servers to compare; by default some around `servers`.
        price_per_server_hour: What one server costs.
        with_figures: Also simulate what `write_queue_figures` shows.
        n_jobs: In each simulated run.
        replications: Simulated runs.
        seed: Of the simulation.
        model: See `list_plugs("models")`; only where `at` was never run.
        extrapolate: Answer also where the runs say nothing about `at`.
        on_step: Called with what is simulated, steps done, and how many there are.

    Returns:
        Formulas beside a simulation with intervals, the percentile, and what each number of servers can take.

    Raises:
        StudyError: A rate, time or number that cannot be.
        NotEnoughDataError: The runs do not show how long a job takes, or how much that varies.
        InfeasibleError: More work comes than the servers can do; the hint names the rate that is stable.

    >>> answer = queue(service_time_s=30, arrival_rate=0.1, servers=4)
    >>> round(answer.closed_forms[0].mean_response_s, 3)
    45.283
    """
    from sparkcast.learned.service_times import service_times
    from sparkcast.queues.answer import answer
    from sparkcast.queues.load import Effort, Goal, Load, Servers, pose

    load = Load(arrival_rate, arrivals_s, arrival_scv, service_time_s, scv, width, at or {}, mix)
    known = [service_times(data, job, model=model, extrapolate=extrapolate) for job in load.classes]
    servers_ = Servers(servers, discipline, overtake, places)
    goal = Goal(slo_s, percentile, compare, price_per_server_hour)
    return answer(pose(load, known, servers_, goal, Effort(n_jobs, replications, seed, with_figures)), on_step)


def admit(
    running: "Sequence[Described]",
    new: "Described",
    data: "Data | Knowledge | None" = None,
    *,
    smaller: "Sequence[Described]" = (),
    servers: int = 1,
    scv: float = 0.0,
    slots: int | None = None,
    others: int = 0,
    confidence: float = 0.95,
    may_delay: bool = True,
    model: str | None = None,
    extrapolate: bool = False,
) -> "Decision":
    """Whether one more job may start now, in a smaller form, or later, given those that run.

    Args:
        running: The jobs that run now: how long they have run or how far they are, and their deadlines.
        new: The job that wants to start; its deadline counts from now.
        data: Runs or a model that tell how long jobs take among how many; None where each job gives its own time.
            Where runs show how jobs launch, wait for cores and run, alone and several at once, the future is that of
            `sparkcast.queues.staggered`.
        smaller: Other forms of the new job, the most wanted first.
        servers: Without `data`: jobs that run at once without slowing each other down; more share them equally.
        scv: Without `data`: variance of the times over their squared mean.
        slots: Jobs at once; others wait in line. None: as many as come.
        others: Jobs that also run, of which nothing else is known.
        confidence: The probability with which deadlines must be met.
        may_delay: Whether to look for a later start.
        model: See `list_plugs("models")`; a model file brings its own. One that is named is used in any
            case; None: where the runs do not show how jobs launch, wait for cores and run.
        extrapolate: Answer also where the runs say nothing about so many jobs.

    Returns:
        The verdict, when every job ends without the new one and with it, and whose deadlines break.

    Raises:
        StudyError: A job that cannot be, or a setting that is not known.
        NotEnoughDataError: The runs do not show what so many jobs do to each other.

    >>> from sparkcast.queues.described import parse_described
    >>> admit([parse_described("time=100s,elapsed=50s,within=120s")], parse_described("time=60s,within=200s")).verdict
    'delay'
    """
    from sparkcast.recommend.admission import Admission, Surroundings

    cluster = Surroundings(servers, scv, slots, others)
    asked = Admission.of(running, (new, *smaller), cluster, confidence=confidence, may_delay=may_delay)
    return asked.decide(data, model=model, extrapolate=extrapolate)
