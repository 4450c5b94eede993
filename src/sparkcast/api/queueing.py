"""Clusters that jobs share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sparkcast.api.sources import source_of
from sparkcast.data.options import TableOptions

if TYPE_CHECKING:
    from sparkcast.api.sources import Known
    from sparkcast.queues.admission import Decision
    from sparkcast.queues.answer import OnStep, QueueAnswer
    from sparkcast.queues.described import Described
    from sparkcast.queues.load import Effort, Goal, Load
    from sparkcast.recommend.admission import SharedCluster


def queue(
    data: "Known | None" = None,
    load: "Load | None" = None,
    *,
    servers: int = 1,
    discipline: str | None = None,
    overtake: bool = False,
    places: int | None = None,
    goal: "Goal | None" = None,
    effort: "Effort | None" = None,
    model: str = "auto",
    extrapolate: bool = False,
    table: TableOptions | None = None,
    on_step: "OnStep" = lambda what, done, total: None,
) -> "QueueAnswer":
    """How long jobs wait for one another, how many a cluster can take, and what more servers would bring.

    Args:
        data: Runs whose times are the service times, or a model that predicts them; None where `load` has them.
        load: The jobs that come: `Load(arrival_rate, arrivals_s, arrival_scv, service_time_s, scv, width, at, mix)`.
            Without an arrival rate, only what the cluster can take within the goal is told.
        servers: Jobs that run at once; of jobs with a width, cores.
        discipline: "fifo", first come first served, "fair", all at once with equal shares, "priority", or "launching",
            where `data` show how jobs launch, wait in line for cores and run. By default priority where the mix
            has priorities, then launching where it is known, fair where `data` show how much jobs slow each other down,
            else fifo.
        overtake: Backfill: small jobs may start before large ones that do not fit yet.
        places: System capacity K: jobs in the system at most, others are rejected; None: as many as come.
        goal: The deadline that a percentile of the response times must meet, and numbers of servers to compare:
            `Goal(slo_s, percentile, compare, price_per_server_hour)`.
        effort: How much to simulate: `Effort(n_jobs, replications, seed, with_figures)`.
        model: See `list_plugs("models")`; only where the settings of the job were never run.
        extrapolate: Answer also where the runs say nothing about these settings.
        table: As in `load_data`.
        on_step: Called with what is simulated, steps done, and how many there are.

    Returns:
        Mean times (by a formula where one is exact, else simulated), the percentile, the deadline's verdict overall and
        for each job class, and what each number of servers can take.

    Raises:
        StudyError: A rate, time or number that cannot be.
        UnknownNameError: No such discipline.
        NotEnoughDataError: The runs do not show how long a job takes, or how much that varies.
        InfeasibleError: More work comes than the servers can do; the hint names the rate that is stable.

    >>> answer = queue(load=Load(arrival_rate=0.1, service_time_s=30), servers=4)
    >>> round(answer.closed_forms[0].mean_response_s, 3)
    45.283
    """
    from sparkcast.learned.service_times import service_times
    from sparkcast.queues.answer import answer
    from sparkcast.queues.load import Effort, Goal, Load, Servers, pose

    load = load or Load()
    shared = Servers(servers, discipline, overtake, places)
    source = None if data is None else source_of(data, table)
    known = [service_times(source, job, model=model, extrapolate=extrapolate) for job in load.classes]
    return answer(pose(load, known, shared, goal or Goal(), effort or Effort()), on_step)


def admit(
    running: "Sequence[Described]",
    new: "Described",
    data: "Known | None" = None,
    *,
    smaller: "Sequence[Described]" = (),
    cluster: "SharedCluster | None" = None,
    confidence: float = 0.95,
    may_delay: bool = True,
    model: str | None = None,
    extrapolate: bool = False,
    table: TableOptions | None = None,
) -> "Decision":
    """Whether one more job may start now, in a smaller form, or later, given those that run.

    Args:
        running: The jobs that run now: how long they have run or how far they are, and their deadlines.
        new: The job that wants to start; its deadline counts from now.
        data: Runs or a model that tell how long jobs take among how many; None where each job gives its own time.
            Where runs show how jobs launch, wait for cores and run, alone and several at once, the future is that of
            `sparkcast.queues.staggered`.
        smaller: Other forms of the new job, the most wanted first.
        cluster: What jobs share: `SharedCluster(servers, scv, slots, others)`.
        confidence: The probability with which deadlines must be met.
        may_delay: Whether to look for a later start.
        model: See `list_plugs("models")`; a model file brings its own. One that is named is used in any
            case; None: where the runs do not show how jobs launch, wait for cores and run.
        extrapolate: Answer also where the runs say nothing about so many jobs.
        table: As in `load_data`.

    Returns:
        The verdict, when every job ends without the new one and with it, and whose deadlines break.

    Raises:
        StudyError: A job that cannot be, or a setting that is not known.
        NotEnoughDataError: The runs do not show what so many jobs do to each other.

    >>> from sparkcast.queues.described import parse_described
    >>> admit([parse_described("time=100s,elapsed=50s,within=120s")], parse_described("time=60s,within=200s")).verdict
    'delay'
    """
    from sparkcast.recommend.admission import Admission, SharedCluster

    shared = cluster or SharedCluster()
    asked = Admission.of(running, (new, *smaller), shared, confidence=confidence, may_delay=may_delay)
    source = None if data is None else source_of(data, table)
    return asked.decide(source, model=model, extrapolate=extrapolate)
