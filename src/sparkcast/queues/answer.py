"""The whole answer about a queue: closed forms beside a simulation, the percentile that was asked for, and capacity."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sparkcast.arrays import Array, Floats
from sparkcast.display import Displayed, frame_of, plain_row
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.queues import Measures, Queue, require_positive, require_share
from sparkcast.queues.approximations import GGc
from sparkcast.queues.arrivals import Given, Renewal
from sparkcast.queues.capacity import Point, ServerCapacity, Simulator, capacities, closed_form, curve, servers_needed
from sparkcast.queues.finite import MMcK
from sparkcast.queues.general import MG1, MG1Sharing
from sparkcast.queues.sharing import ProcessorSharing
from sparkcast.queues.simulate import Cluster, Simulation, require_fits, simulate, timeline
from sparkcast.queues.slowdown import Shared
from sparkcast.queues.steady import Estimate
from sparkcast.queues.workload import JobMix
from sparkcast.units import require_seed

if TYPE_CHECKING:
    import pandas as pd

DAY_S = 86_400.0
_FAN = (0.5, 0.75, 0.9, 0.95, 0.99)
_DAY_POINTS = 288  # every five minutes
_MOST_OF_A_DAY = 500_000  # jobs
_LEAST_GIVEN = 20  # arrivals that happened
_NEARLY_UNSTABLE = 0.98  # of the stable rate


@dataclass(frozen=True, slots=True)
class QueueQuestion:
    workload: JobMix  # its rate counts only where `has_rate`
    cluster: Cluster
    has_rate: bool = True
    slo_s: float | None = None
    share: float = 0.95  # the percentile
    places: int | None = None  # jobs in the system at most; None: as many as come
    servers: tuple[int, ...] = ()  # to compare; () for some around the cluster's
    price_per_server_hour: float | None = None
    with_figures: bool = False  # also what figures show: the curve over rates, and a day
    n_jobs: int = 20_000
    replications: int = 10
    seed: int = 0
    notes: tuple[str, ...] = ()  # what to know of the times behind it


@dataclass(frozen=True, slots=True)
class Moment:
    """The cluster at one moment of a simulated day."""

    at_s: float
    jobs: float  # in the system
    running: float
    cores: float  # that they hold, or ask for where they share


@dataclass(frozen=True, slots=True)
class QueueAnswer(Displayed):
    arrival_rate: float | None  # jobs per second; None where only capacity was asked for
    arrival_scv: float
    service_time_s: float
    service_scv: float
    servers: int
    discipline: str
    stable_rate: float  # below it queues do not grow without end
    share: float
    slo_s: float | None
    closed_forms: tuple[Measures, ...] = ()
    simulation: Simulation | None = None
    method: str = "simulated"  # what the mean times are from: "simulated", or the formula that is exact
    mean_response_s: Estimate | None = None  # exact where low equals high, like the two below
    mean_wait_s: Estimate | None = None
    response_s: Estimate | None = None  # the percentile
    meets_slo: bool | None = None  # of all jobs together; that of each class is with the simulation
    capacities: tuple[ServerCapacity, ...] = ()
    servers_needed: int | None = None
    curve: tuple[Point, ...] = ()
    day: tuple[Moment, ...] = ()
    is_slowdown_measured: bool = False  # of fair sharing: as runs showed it, not in equal parts of the servers
    notes: tuple[str, ...] = ()

    def frame(self) -> "pd.DataFrame":
        """A row for each number of servers that was compared: what it can take, and the percentile at this rate."""
        return frame_of(
            {**plain_row(one), "response_s": None if one.response_s is None else one.response_s.value}
            for one in self.capacities
        )


OnStep = Callable[[str, int, int], None]  # what is simulated, steps done, of how many


def answer(question: QueueQuestion, on_step: OnStep = lambda what, done, total: None) -> QueueAnswer:
    """Raises InfeasibleError where more work comes than the cluster can do; the hint names the stable rate."""
    _check(question)
    workload, cluster = question.workload, question.cluster
    simulator = Simulator(workload, cluster, question.n_jobs // 2, max(2, question.replications // 2), question.seed)
    forms: tuple[Measures, ...] = ()
    simulation = response = None
    if question.has_rate:
        forms = closed_forms(workload, cluster, question.places)
        simulation = None if question.places else _simulated(question, on_step)
        response = _response(question, simulation)
    headline = next((one for one in forms if one.is_exact or simulation is None), None)
    can_resize = cluster.slowdown is None and question.places is None
    within = None if response is None or question.slo_s is None else response.value <= question.slo_s
    compared = tuple(
        # One number for one question: the longer simulation's.
        replace(one, response_s=response) if one.servers == cluster.cores else one
        for one in _capacities(question, simulator, can_resize, on_step)
    )
    needed = None
    if question.has_rate and question.slo_s is not None and can_resize:
        needed = servers_needed(simulator, question.slo_s, question.share)
    return QueueAnswer(
        workload.arrivals.rate if question.has_rate else None,
        workload.arrivals.scv,
        workload.mean_s,
        workload.scv,
        cluster.cores,
        cluster.discipline,
        float("inf") if question.places else cluster.most_rate(workload),
        question.share,
        question.slo_s,
        forms,
        simulation,
        "simulated" if headline is None else headline.queue,
        *_means(headline, simulation),
        response,
        within,
        compared,
        needed,
        _curve(question, simulator, on_step),
        day(workload, cluster, question.seed) if question.with_figures and question.has_rate else (),
        cluster.slowdown is not None,
        (
            *question.notes,
            *_notes(question, can_resize),
            *_hopeless(simulation, can_resize and needed is None),
        ),
    )


def _hopeless(simulation: Simulation | None, is_so: bool) -> tuple[str, ...]:
    """The job classes that no number of servers makes fast enough."""
    if simulation is None or not is_so:
        return ()
    late = [one for one in simulation.classes if one.meets_slo is False]
    return tuple(f"{one.name} would miss its deadline even alone: no number of servers helps" for one in late)


def _means(exact: Measures | None, simulation: Simulation | None) -> tuple[Estimate | None, Estimate | None]:
    """The mean response and wait."""
    if exact is not None:
        response, wait = exact.mean_response_s, exact.mean_wait_s
        return Estimate(response, response, response), Estimate(wait, wait, wait)
    return (None, None) if simulation is None else (simulation.mean_response_s, simulation.mean_wait_s)


def closed_forms(workload: JobMix, cluster: Cluster, places: int | None = None) -> tuple[Measures, ...]:
    """Every formula that is about such a queue, exact ones first."""
    return tuple(queue.measures() for queue in _queues(workload, cluster, places))


def _queues(workload: JobMix, cluster: Cluster, places: int | None) -> Sequence[Queue]:
    rate, mean_s, scv = workload.arrivals.rate, workload.mean_s, workload.scv
    is_poisson = _is_poisson(workload)
    if not workload.is_uniform or cluster.discipline in ("priority", "launching"):
        return ()  # none is about jobs of different width or rank, or of several phases
    servers = cluster.cores // workload.widest
    if places is not None:
        is_exponential = is_poisson and scv == 1
        return (MMcK(rate, mean_s, servers, places, is_exact=is_exponential or (is_poisson and places == servers)),)
    if cluster.discipline == "fair":
        if not is_poisson or cluster.slots is not None or cluster.cores % workload.widest:
            return ()
        if servers == 1 and cluster.slowdown is None:
            return (MG1Sharing(rate, mean_s),)
        return (ProcessorSharing(rate, mean_s, cluster.slowdown or Shared(servers), servers),)
    if (exact := closed_form(workload, cluster)) is not None:
        return (exact,)
    if is_poisson and servers == 1:
        return (MG1(rate, mean_s, scv),)
    given = (rate, mean_s, servers, scv, workload.arrivals.scv)
    return (GGc(*given, "Whitt"), GGc(*given, "Allen-Cunneen"))


def _is_poisson(workload: JobMix) -> bool:
    return isinstance(workload.arrivals, Renewal) and workload.arrivals.scv == 1


def _check(question: QueueQuestion) -> None:
    require_seed(question.seed)
    require_share(question.share, "the percentile")
    require_fits(question.workload, question.cluster)
    if question.slo_s is not None:
        require_positive(question.slo_s, "the deadline", "s")
    if question.price_per_server_hour is not None and question.price_per_server_hour < 0:
        raise StudyError(f"a price of {question.price_per_server_hour:g} is not possible", hint="give 0 or more")
    if question.n_jobs < 1000 or question.replications < 2:
        raise StudyError(
            f"{question.replications} runs of {question.n_jobs} jobs are too few",
            hint="simulate at least 2 runs of 1000 jobs",
        )
    arrivals = question.workload.arrivals
    if isinstance(arrivals, Given) and len(arrivals.times_s) < _LEAST_GIVEN:
        raise NotEnoughDataError(
            f"{len(arrivals.times_s)} arrivals are too few to tell how long jobs wait",
            hint=f"give at least {_LEAST_GIVEN} arrival times, or only their rate: `arrival_rate=12/3600`",
        )
    if question.places is not None and question.cluster.discipline != "fifo":
        raise StudyError("a system capacity needs jobs that wait in line", hint="remove `places=`, or use fifo")
    if question.places is not None and not question.workload.is_uniform:
        raise StudyError(
            "there is no answer for a system capacity with jobs of different width",
            hint="remove `places=`, or give all jobs the same width",
        )
    if not question.has_rate and question.slo_s is None:
        raise StudyError(
            "neither an arrival rate nor a deadline is given",
            hint="give the arrival rate (`arrival_rate=12/3600`), the deadline (`slo_s=300`), or both",
        )


def _simulated(question: QueueQuestion, on_step: OnStep) -> Simulation:
    found = simulate(
        question.workload,
        question.cluster,
        n_jobs=question.n_jobs,
        replications=question.replications,
        seed=question.seed,
        shares=tuple(sorted({*_FAN, question.share})),
        on_progress=lambda done, total: on_step("the queue", done, total),
    )
    if question.slo_s is None:
        return found
    judged = (
        replace(one, meets_slo=one.response_percentiles[question.share].value <= question.slo_s)
        for one in found.classes
    )
    return replace(found, classes=tuple(judged))


def _response(question: QueueQuestion, simulation: Simulation | None) -> Estimate | None:
    if question.places is not None:
        return None
    if (exact := closed_form(question.workload, question.cluster)) is not None:
        value = exact.response_quantile(question.share)
        return Estimate(value, value, value)
    return None if simulation is None else simulation.response_percentiles[question.share]


def _capacities(
    question: QueueQuestion, simulator: Simulator, can_resize: bool, on_step: OnStep
) -> tuple[ServerCapacity, ...]:
    if question.slo_s is None and not question.servers:
        return ()
    if question.places is not None:
        return ()
    cores, step = question.cluster.cores, question.workload.widest
    around = tuple(n for n in (cores - step, cores, cores + step, cores + 2 * step) if n >= step)
    return capacities(
        simulator,
        (question.servers or around) if can_resize else (cores,),
        within_s=question.slo_s,
        share=question.share,
        rate=question.workload.arrivals.rate if question.has_rate else None,
        price_per_server_hour=question.price_per_server_hour,
        on_progress=lambda done, total: on_step("capacity", done, total),
    )


def _curve(question: QueueQuestion, simulator: Simulator, on_step: OnStep) -> tuple[Point, ...]:
    if not question.with_figures or question.places is not None:
        return ()
    shares = tuple(sorted({*_FAN, question.share}))
    return curve(simulator, shares, on_progress=lambda done, total: on_step("rates", done, total))


def day(workload: JobMix, cluster: Cluster, seed: int = 0) -> tuple[Moment, ...]:
    """One day that follows another like it, so that it does not begin with an empty cluster."""
    expected = int(2 * DAY_S * workload.arrivals.rate * 1.2) + 100
    served = cluster.serve(workload, min(expected, 2 * _MOST_OF_A_DAY), seed=(seed, 1))
    come, go, start = served.stream.arrive_s, served.end_s, served.start_s
    ends = min(2 * DAY_S, float(come[-1]))
    moments = np.linspace(max(0.0, ends - DAY_S), ends, _DAY_POINTS + 1)[:-1]
    columns = (timeline(come, go), timeline(start, go), timeline(start, go, served.stream.width))
    rows = [_at(times, values, moments).tolist() for times, values in columns]
    return tuple(Moment(t, *values) for t, *values in zip((moments - moments[0]).tolist(), *rows, strict=True))


def _at(times: Floats, values: Floats, moments: Array) -> Floats:
    """A step function at some moments."""
    return np.concatenate([[0.0], values])[np.searchsorted(times, moments, side="right")]


def _notes(question: QueueQuestion, can_resize: bool) -> tuple[str, ...]:
    notes = []
    workload, cluster = question.workload, question.cluster
    if cluster.discipline == "priority" or not workload.is_uniform:
        notes.append("there is no formula for jobs of different width or priority: all numbers are simulated")
    if not cluster.is_packed(workload):
        notes.append(
            "the stable rate is simulated (accurate to about 1%): cores idle while a job waits for more than are free"
        )
    most = float("inf") if question.places else cluster.most_rate(workload)
    if question.has_rate and workload.arrivals.rate > _NEARLY_UNSTABLE * most:
        notes.append("the arrival rate is within 2% of the stable rate: simulated times are uncertain")
    if not can_resize and question.slo_s is not None and question.places is None:
        notes.append("the slowdown was measured on this cluster, so the effect of more servers is unknown")
    if can_resize and cluster.machine is not None and (question.slo_s is not None or question.servers):
        notes.append("sparkcast assumes capacity scales linearly with cores")
    if question.places is not None:
        notes.append(
            "with a system capacity, the formula assumes exponential service and Poisson arrivals and gives no "
            "percentiles of the response time"
        )
    return tuple(notes)
