"""Where the time went. It adds up because every moment is divided, never because something is left over.

A moment at which no stage runs is the driver's, and so is one at which all tasks of the running stages have ended. If
no task runs although slots are free and stages have tasks to start, these wait to be launched. Any other moment is
divided equally among the slots there are (or the tasks that run, should these be more): a slot with a task passes its
piece on to what that task spent its time on; a free slot waits for stragglers when a running stage has used it and has
no more tasks to start; otherwise it is idle.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparkcast.eventlogs import Executor, LogRead, Stage
from sparkcast.facts.parts import RUNNING, Seconds, TaskTimes, task_times
from sparkcast.facts.span import Span, span_of
from sparkcast.study.application import Part

Integers = NDArray[np.int64]
StageKey = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Slots:
    """One executor's slots and when they were there, ms."""

    executor: Executor
    n: float
    cpus: float  # cores that one slot takes
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class Attribution:
    """Seconds of the application's life by part, in total and by stage; `peaks`: the most tasks of a stage at once."""

    span: Span
    total: dict[Part, float]
    stages: dict[StageKey, dict[Part, float]]
    peaks: dict[StageKey, int]
    times: TaskTimes
    slots: tuple[Slots, ...]
    moments: Integers  # between which everything stays the same, ms
    driver_s: Seconds  # until each of them, without a stage at work

    @property
    def wall_s(self) -> float:
        return self.span.wall_s

    @property
    def at_work_s(self) -> float:
        """The time in which stages run."""
        return sum(self.total.values()) - self.total[Part.BEFORE_FIRST_JOB] - self.total[Part.DRIVER_ONLY]

    def driver_until(self, moments: Integers) -> Seconds:
        """Seconds from the start to each of some moments in which no stage was at work."""
        return np.interp(moments, self.moments, self.driver_s)


def attribute(log: LogRead) -> Attribution:
    """Divide the life of an application among the parts.

    Raises:
        StudyError: the log does not record when the application started and ended.
    """
    span = span_of(log)
    times = task_times(log.tasks, span.start_ms, span.end_ms)
    slots = slots_of(log, span)
    keys, rows = rows_by_stage(log)
    line = _Timeline(span, log, times, slots, {key: rows[key] for key in keys})
    stages = {key: line.of_stage(key, rows[key]) for key in keys}
    return Attribution(span, line.total(), stages, line.peaks, times, slots, line.moments, line.driver_s)


def slots_of(log: LogRead, span: Span) -> tuple[Slots, ...]:
    found = []
    for one in log.executors:
        per_task = task_cpus(log, one.profile_id)
        start = min(max(one.added_ms or span.start_ms, span.start_ms), span.end_ms)
        end = min(max(one.removed_ms or span.end_ms, start), span.end_ms)
        found.append(Slots(one, float(one.cores // per_task) if per_task >= 1 else one.cores, per_task, start, end))
    return tuple(found)


def task_cpus(log: LogRead, profile_id: int) -> float:
    """Cores that one task of a resource profile takes."""
    for profile in log.resource_profiles:
        if profile.profile_id == profile_id:
            return profile.task_cpus or 1.0
    try:
        return float(log.environment.spark.get("spark.task.cpus", "")) or 1.0
    except ValueError:
        return 1.0


def rows_by_stage(log: LogRead) -> tuple[list[StageKey], dict[StageKey, Integers]]:
    """Every stage that the log tells of or that a task belongs to, with the rows of its tasks."""
    stage, attempt = log.tasks["stage_id"], log.tasks["stage_attempt"]
    order = np.lexsort((attempt, stage))
    changes = np.flatnonzero((np.diff(stage[order]) != 0) | (np.diff(attempt[order]) != 0)) + 1
    groups = np.split(order, changes) if len(order) else []
    rows = {(int(stage[group[0]]), int(attempt[group[0]])): group for group in groups}
    for known in log.stages:
        rows.setdefault(known.key, np.zeros(0, dtype=np.int64))
    return sorted(rows), rows


class _Timeline:
    """How many there were of everything between one event and the next, and what that makes of the time."""

    def __init__(
        self,
        span: Span,
        log: LogRead,
        times: TaskTimes,
        slots: Sequence[Slots],
        rows: dict[StageKey, Integers],
    ) -> None:
        self._span, self._times = span, times
        self._stages = {stage.key: self._interval(stage) for stage in log.stages}
        # A copy or a second attempt of a task starts while the others wait for it.
        is_first = ~log.tasks.flags("is_speculative") & (log.tasks["attempt"] == 0)
        self._tails = {key: _tail(times, is_first[group], group) for key, group in rows.items() if len(group)}
        self.peaks = {key: tail.peak for key, tail in self._tails.items()}
        jobs = [(job.submitted_ms, job.completed_ms or span.end_ms) for job in log.jobs if job.submitted_ms]
        active = [interval for interval in self._stages.values() if interval is not None]
        self._pending, unknown = self._launches(log, is_first, rows)
        waiting = list(self._pending.values())
        steps = [
            np.array([span.start_ms, span.end_ms], dtype=np.int64),
            *(self._clip(np.array(pairs, dtype=np.int64).ravel()) for pairs in (jobs, active, waiting, unknown)),
            np.array([moment for one in slots for moment in (one.start_ms, one.end_ms)], dtype=np.int64),
            times.launch,
            times.finish,
        ]
        self._at = np.unique(np.concatenate(steps))
        n_slots = self._count([one.start_ms for one in slots], [one.end_ms for one in slots], [one.n for one in slots])
        self._running = self._count(times.launch, times.finish)
        n_jobs = self._count(*_ends(jobs))
        self._n_active = self._count(*_ends(active))
        self._n_pending = np.round(self._count(*_ends(waiting)))
        self._divide(n_slots, n_jobs, np.round(self._count(*_ends(unknown))) > 0, span.first_job_ms or span.end_ms)

    def _clip(self, moments: Integers) -> Integers:
        return np.clip(moments, self._span.start_ms, self._span.end_ms)

    def _interval(self, stage: Stage) -> tuple[int, int] | None:
        if not stage.submitted_ms:
            return None
        end = stage.completed_ms or self._span.end_ms
        start, end = self._clip(np.array([stage.submitted_ms, max(end, stage.submitted_ms)], dtype=np.int64)).tolist()
        return start, end

    def _launches(
        self, log: LogRead, is_first: NDArray[np.bool_], rows: dict[StageKey, Integers]
    ) -> tuple[dict[StageKey, tuple[int, int]], list[tuple[int, int]]]:
        """By stage, from its submission to the start of its last task; and when tasks may run that the log lacks.

        Tasks are logged when they end: those of a stage that was cut short may have run to its end.
        """
        pending, unknown = {}, []
        for stage in log.stages:
            interval = self._stages[stage.key]
            if interval is None:
                continue
            start, end = interval
            group = rows[stage.key]
            first = self._times.launch[group[is_first[group]]]
            last = min(max(int(first.max(initial=start)), start), end)
            if last > start:
                pending[stage.key] = (start, last)
            if len(np.unique(log.tasks["index"][group])) < stage.n_tasks:
                unknown.append((last, end))
        return pending, unknown

    def _count(
        self, starts: Sequence[int] | Integers, ends: Sequence[int] | Integers, weights: Sequence[float] | None = None
    ) -> Seconds:
        """How many there are in each interval of time between two events."""
        weight = np.ones(len(starts)) if weights is None else np.asarray(weights, dtype=np.float64)
        return self._steps(np.concatenate([starts, ends]), np.concatenate([weight, -weight]))

    def _steps(self, moments: Integers, changes: Seconds) -> Seconds:
        places = np.searchsorted(self._at, self._clip(moments.astype(np.int64)))
        return np.cumsum(np.bincount(places, changes, minlength=len(self._at)).astype(np.float64))[:-1]

    def _waits(self) -> Seconds:
        """How many slots wait for stragglers of any stage, as far as the stages alone can tell."""
        tails = list(self._tails.values())
        if not tails:
            return np.zeros(len(self._at) - 1)
        moments = np.concatenate([tail.moments for tail in tails])
        changes = np.concatenate([tail.changes for tail in tails])
        return np.maximum(self._steps(moments, changes), 0.0)

    def _divide(self, n_slots: Seconds, n_jobs: Seconds, unknown: NDArray[np.bool_], first_job_ms: int) -> None:
        length, waits = np.diff(self._at) / 1e3, self._waits()
        # Without the events of a stage, a running task shows that the cluster is at work.
        at_work = (np.round(self._running) > 0) | ((np.round(n_jobs) > 0) & (np.round(self._n_active) > 0))
        room = np.maximum(n_slots, self._running)
        is_quiet = at_work & (room > 0.5) & (np.round(self._running) == 0) & ~unknown
        to_launch = is_quiet & (self._n_pending > 0)
        at_work &= ~is_quiet | to_launch  # all tasks have ended: the driver handles their results
        self.moments, self.driver_s = self._at, self._sum(length * ~at_work)
        before = ~at_work & (self._at[:-1] < first_job_ms)
        has_room = at_work & (room > 0.5) & ~to_launch
        piece = np.divide(length, room, out=np.zeros_like(length), where=has_room)  # seconds for each slot
        free = np.maximum(room - self._running, 0.0)
        waiting = np.minimum(free, waits)
        idle = free - waiting
        self._task_s = self._sum(piece)
        self._wait_s = self._sum(np.divide(piece * waiting, waits, out=np.zeros_like(piece), where=waits > 0.5))
        active = np.round(self._n_active)
        nobody = at_work & ~has_room & ~to_launch
        self._launch_s = self._sum(
            np.divide(length * to_launch, self._n_pending, out=np.zeros_like(piece), where=self._n_pending > 0)
        )
        self._idle_s = self._sum(np.divide(piece * idle, active, out=np.zeros_like(piece), where=active > 0))
        self._nobody_s = self._sum(np.divide(length * nobody, active, out=np.zeros_like(piece), where=active > 0))
        self._sums = {
            Part.BEFORE_FIRST_JOB: float(length[before].sum()),
            Part.DRIVER_ONLY: float(length[~at_work & ~before].sum()),
            Part.NO_EXECUTORS: float(length[nobody].sum()),
            Part.TO_LAUNCH: float(length[to_launch].sum()),
            Part.SLOW_TASKS: float((piece * waiting).sum()),
            Part.IDLE: float((piece * idle).sum()),
        }

    @staticmethod
    def _sum(seconds: Seconds) -> Seconds:
        return np.concatenate([[0.0], np.cumsum(seconds)])

    def _between(self, sums: Seconds, starts: Integers, ends: Integers) -> Seconds:
        at = self._at
        return np.asarray(sums[np.searchsorted(at, ends)] - sums[np.searchsorted(at, starts)], dtype=np.float64)

    def total(self) -> dict[Part, float]:
        every = np.arange(len(self._times.launch))
        return {part: {**self._sums, **self._of_tasks(every)}[part] for part in Part}

    def of_stage(self, key: StageKey, rows: Integers) -> dict[Part, float]:
        found = self._of_tasks(rows)
        if key in self._tails:
            tail = self._tails[key]
            ends = np.full(len(tail.moments), tail.end)
            found[Part.SLOW_TASKS] = float((self._between(self._wait_s, tail.moments, ends) * tail.changes).sum())
        interval = self._stages.get(key)
        if interval is not None:
            start, end = (np.array([moment], dtype=np.int64) for moment in interval)
            found[Part.IDLE] = float(self._between(self._idle_s, start, end)[0])
            found[Part.NO_EXECUTORS] = float(self._between(self._nobody_s, start, end)[0])
        if key in self._pending:
            start, end = (np.array([moment], dtype=np.int64) for moment in self._pending[key])
            found[Part.TO_LAUNCH] = float(self._between(self._launch_s, start, end)[0])
        return {part: found.get(part, 0.0) for part in Part}

    def _of_tasks(self, rows: Integers) -> dict[Part, float]:
        times = self._times
        seconds = self._between(self._task_s, times.launch[rows], times.finish[rows])
        useful = np.where(times.is_lost[rows], 0.0, seconds)
        found = {part: float((useful * times.shares[part][rows]).sum()) for part in RUNNING}
        return found | {Part.LOST: float(seconds[times.is_lost[rows]].sum())}


@dataclass(frozen=True, slots=True)
class _Tail:
    """The end of a stage, from the start of its last task on: how the number of slots changes that it has left."""

    peak: int
    moments: Integers
    changes: Seconds
    end: int


def _tail(times: TaskTimes, is_first: NDArray[np.bool_], rows: Integers) -> _Tail:
    launch, finish = times.launch[rows], times.finish[rows]
    last = int(launch[is_first].max()) if is_first.any() else int(launch.max())
    end = int(finish.max())
    peak = _most_at_once(launch, finish)
    running = int(((launch <= last) & (finish > last)).sum())
    later, ended = launch[launch > last], finish[finish > last]
    moments = np.concatenate([[last], later, ended, [end]]).astype(np.int64)
    n_now = peak - running
    left = n_now - len(later) + len(ended)  # what the changes add up to at the end: all slots are given back there
    changes = np.concatenate([[n_now], -np.ones(len(later)), np.ones(len(ended)), [-left]])
    return _Tail(peak, moments, changes, end)


def _most_at_once(launch: Integers, finish: Integers) -> int:
    starts, ends = np.sort(launch), np.sort(finish)
    at_once = np.arange(1, len(starts) + 1) - np.searchsorted(ends, starts, side="right")
    return max(int(at_once.max(initial=0)), 1)


def _ends(intervals: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [start for start, _ in intervals], [max(start, end) for start, end in intervals]
