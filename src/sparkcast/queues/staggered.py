"""May one more job start, where runs have shown how jobs launch, wait in line for cores, and run.

The past is played through with what is known of it, which is when each job was submitted (and how far it is, if
somebody knows), then the future with the new job and without: `queues.launching` does both. Every time each job is as
much slower or faster than usual as another quantile says; what counts are the plays in which those that run now have
not ended yet. A job that has ended in all of them is held up, see `queues.admission`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from sparkcast.arrays import Floats
from sparkcast.errors import StudyError
from sparkcast.queues import admission
from sparkcast.queues.admission import (
    DRAWS,
    AdmittedJob,
    Decision,
    End,
    Future,
    drawn_shares,
    left_when_held_up,
    require_names,
)
from sparkcast.queues.launching import Launched, Phases, Play, SharedMachine, launched

_ENDLESS_S = 1e9


def decide(
    running: Sequence[AdmittedJob[Phases]],
    new: AdmittedJob[Phases],
    machine: SharedMachine,
    *,
    smaller: Sequence[AdmittedJob[Phases]] = (),
    confidence: float = 0.95,
    may_delay: bool = True,
    seed: int = 0,
) -> Decision:
    """As `queues.admission.decide`, of jobs that wait for the cores of a machine."""
    require_names([*running, new, *smaller])
    future = _future(running, machine, seed)
    return future.decide((new, *smaller), confidence=confidence, may_delay=may_delay)


def forecast(
    running: Sequence[AdmittedJob[Phases]],
    machine: SharedMachine,
    *,
    new: AdmittedJob[Phases] | None = None,
    seed: int = 0,
) -> tuple[End, ...]:
    """When the jobs that run now end, and the new one if it is submitted now."""
    require_names([*running, *([new] if new else [])])
    return _future(running, machine, seed).ends(new)[0]


@dataclass(frozen=True, slots=True)
class _Played:
    """One way in which the past may have gone: the jobs that run now, submitted before the moment 0."""

    jobs: tuple[Launched, ...]
    draw: int  # its number


def _play_of(pasts: Sequence[_Played], machine: SharedMachine, shares: Floats) -> admission.Play[Phases]:
    """Every past goes on, with the new job at its own quantile."""

    def play(new: AdmittedJob[Phases] | None, start_after: int) -> tuple[Floats, Floats]:
        left, submitted = [], np.zeros(len(pasts))
        for row, past in enumerate(pasts):
            coming = past.jobs
            if new is not None:
                submitted[row] = _nth_end(coming, machine, start_after)
                coming = (*coming, Launched(float(submitted[row]), _drawn(new.times, shares[past.draw])))
            left.append([max(fate.ended_s, 0.0) for fate in launched(coming, machine)])
        found = np.array(left)
        if new is not None:
            found[:, -1] = np.maximum(found[:, -1], submitted)
        return found, submitted

    return play


def _nth_end(jobs: Sequence[Launched], machine: SharedMachine, n: int) -> float:
    if n == 0:
        return 0.0
    return max(0.0, sorted(fate.ended_s for fate in launched(jobs, machine))[n - 1])


def _future(running: Sequence[AdmittedJob[Phases]], machine: SharedMachine, seed: int) -> Future[Phases]:
    shares = [drawn_shares(seed, j).tolist() for j in range(len(running))]
    pasts = []
    for draw in range(DRAWS if running else 1):
        drawn = [
            Launched(-job.elapsed_s, _drawn(job.times, shares[j][draw])) if job.done is None else _so_far(job)
            for j, job in enumerate(running)
        ]
        pasts.append(_Played(_as_far_as_known(running, drawn, machine), draw))
    for j, job in enumerate(running):
        if job.done is None:
            pasts = _held_up(pasts, j, machine, shares[j])
    present = [sum(fate.ended_s > 0 for fate in launched(past.jobs, machine)) for past in pasts]
    kept = tuple(past for past, n in zip(pasts, present, strict=True) if n == max(present))
    return Future(tuple(running), _play_of(kept, machine, drawn_shares(seed, None)))


def _drawn(phases: Phases, share: float) -> Phases:
    """The times of a job at a quantile, with logarithms that are normal."""
    if phases.scv == 0:
        return phases

    return phases.scaled(math.exp(math.sqrt(math.log1p(phases.scv)) * float(ndtri(share))))


def _so_far(job: AdmittedJob[Phases]) -> Launched:
    """A job of which is known how far it is: one that does not end while the past is played."""
    return Launched(-job.elapsed_s, replace(job.times, run_s=_ENDLESS_S))


def _as_far_as_known(
    running: Sequence[AdmittedJob[Phases]], drawn: Sequence[Launched], machine: SharedMachine
) -> tuple[Launched, ...]:
    """How far a job is tells how fast it has been: the rest goes on like that."""
    if all(job.done is None for job in running):
        return tuple(drawn)
    play = Play.of(drawn, machine)
    play.advance(0.0)
    found = []
    for i, (job, one) in enumerate(zip(running, drawn, strict=True)):
        if job.done is None:
            found.append(one)
        elif job.done and job.elapsed_s:
            found.append(Launched(one.arrive_s, _of_length(job.times, play.done_s(i) / job.done)))
        else:
            done_s = job.done * job.times.alone_s
            launch_s = max(0.0, job.times.launch_s - done_s)
            run_s = job.times.alone_s - done_s - launch_s
            found.append(Launched(0.0, replace(job.times, launch_s=launch_s, run_s=run_s)))
    return tuple(found)


def _of_length(phases: Phases, alone_s: float) -> Phases:
    return phases.scaled(alone_s / phases.alone_s)


def _held_up(pasts: Sequence[_Played], j: int, machine: SharedMachine, shares: Sequence[float]) -> list[_Played]:
    """The same where one job has not ended in some of them; else with what is left of a job that is so late."""
    ended = [launched(past.jobs, machine)[j].ended_s for past in pasts]
    if max(ended) > 0:
        return list(pasts)
    found = []
    for past, at in zip(pasts, ended, strict=True):
        late = -at or past.jobs[j].phases.alone_s
        more_s = (late + left_when_held_up(late, shares[past.draw])) / machine.slowdown(len(past.jobs))
        longer = replace(past.jobs[j].phases, run_s=past.jobs[j].phases.run_s + more_s)
        jobs = (*past.jobs[:j], replace(past.jobs[j], phases=longer), *past.jobs[j + 1 :])
        found.append(_Played(jobs, past.draw))
    return found


def without_others(machine: SharedMachine, others: int) -> SharedMachine:
    """The machine that is left when other jobs, of which nothing else is known, hold a core each all along."""
    if others == 0:
        return machine
    if others >= machine.cores:
        raise StudyError(
            f"{others} other jobs hold all {machine.cores} cores, for how long nobody knows",
            hint="describe them with `running=`, or leave them out",
        )
    return replace(machine, cores=machine.cores - others, beside=machine.beside + others)
