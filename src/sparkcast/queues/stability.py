"""The arrival rate below which a queue has a steady state, where no formula says it: by simulation.

A job that waits for more cores than are free leaves those idle, so that jobs of different width never use all of a
cluster. First come first served, a queue is stable below the rate at which a cluster with an endless line of jobs
finishes them (the saturation rule; Baccelli and Foss, On the saturation rule for the stability of queues, Journal of
Applied Probability 32, 1995). With priorities, backfill or phases the order depends on who comes when: there the rate
above which the jobs of some class pile up is searched for.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from sparkcast.queues.serving import Served, by_priority
from sparkcast.queues.workload import ArrivalDraw, JobMix

_N_JOBS, _RUNS = 20_000, 3  # the rate to about a percent
_HALVINGS = 8
_PILES_UP = 0.01  # of the jobs of a class
_BY_CHANCE = 1.5  # standard deviations of their number
_CLEARLY = 4.0  # times the limit, from which on one run is enough

Serve = Callable[[ArrivalDraw], Served]


def saturated_rate(workload: JobMix, cores: int) -> float:
    """Jobs per second of a cluster that always has a line of jobs, first come first served."""
    used = np.mean([_used(workload, cores, run) for run in range(_RUNS)])
    return float(used) * cores / workload.mean_work


def _used(workload: JobMix, cores: int, run: int) -> float:
    """The share of the cores that work while jobs wait."""
    drawn = _drawn(workload, run)
    line = replace(drawn, arrive_s=np.zeros(len(drawn)), priority=np.zeros(len(drawn), dtype=int))
    served = by_priority(line, cores)
    until = float(served.start_s.max())  # from then on nobody waits
    held = np.minimum(served.end_s, until) - np.minimum(served.start_s, until)
    return float((held * line.width).sum()) / (cores * until)


def searched_rate(workload: JobMix, bound: float, serve: Serve) -> float:
    """The largest rate up to `bound` at which no class of jobs piles up, rather too small than too large."""
    streams = [_drawn(workload, run) for run in range(_RUNS)]
    low, high = 0.0, bound
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        piles_up = _piles_up([_at_rate(stream, middle, workload) for stream in streams], workload, serve)
        low, high = (low, middle) if piles_up else (middle, high)
    return low * (1 - _PILES_UP)


def _drawn(workload: JobMix, run: int) -> ArrivalDraw:
    return workload.draw(np.random.default_rng((run, _N_JOBS)), _N_JOBS)


def _at_rate(stream: ArrivalDraw, rate: float, workload: JobMix) -> ArrivalDraw:
    """The same jobs, so fast that they bring exactly the work of that rate, not a little more or less by chance."""
    work = float((stream.service_s * stream.width).sum())
    length = work / workload.mean_work / rate
    return replace(stream, arrive_s=stream.arrive_s * (length / float(stream.arrive_s[-1])))


def _piles_up(streams: Sequence[ArrivalDraw], workload: JobMix, serve: Serve) -> bool:
    n_classes, variability = len(workload.classes), workload.arrivals.scv + workload.scv
    left, came = np.zeros(n_classes), np.zeros(n_classes)
    excess = 0.0
    for stream in streams:
        is_left = serve(stream).end_s > stream.arrive_s[-1]
        left += np.bincount(stream.job_class[is_left], minlength=n_classes)
        came += np.bincount(stream.job_class, minlength=n_classes)
        limit = np.maximum(_PILES_UP * came, _BY_CHANCE * np.sqrt(variability * np.maximum(came, 1)))
        excess = float((left / limit).max())
        if excess > _CLEARLY:
            return True
    return excess > 1
