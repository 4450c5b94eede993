"""From an event log and its facts to a workload."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sparkcast.errors import StudyError
from sparkcast.eventlogs import JobRecord, LogRead, Stage
from sparkcast.facts import AppFacts
from sparkcast.facts.attribution import StageKey, rows_by_stage
from sparkcast.replay.parallelism import TaskCounts
from sparkcast.replay.workload import JobWork, Parallelism, RecordedWork, StageWork
from sparkcast.study.names import SAMPLER_GROUP
from sparkcast.units import parse_seconds

Integers = NDArray[np.int64]

_MANY = 20  # tasks from which on what surrounds them is measured
_QUIET = 0.25  # of what surrounds the tasks: the rest waits for a driver or a machine that has other things to do
_PINNED = 0.5  # of a stage's tasks ran where their data were; others may have waited too long for a slot there
_ENOUGH_MS = 5  # after a job has ended, another may say that it began before


def workload_of(log: LogRead, facts: AppFacts) -> RecordedWork:
    """What an application did.

    Raises:
        StudyError: It ran no task.
    """
    if not len(log.tasks) or not log.jobs:
        raise StudyError(
            f"{log.log}: the log has no tasks to replay", hint="give the log of an application that ran Spark jobs"
        )
    return _WorkReader(log, facts).workload()


class _WorkReader:
    def __init__(self, log: LogRead, facts: AppFacts) -> None:
        self.log, self.facts = log, facts
        self.start, self.end = facts.span.start_ms, facts.span.end_ms
        times = facts.attribution.times
        self.launch, self.finish = times.launch, _freed(log, facts)
        took = (self.finish - self.launch) / 1e3
        tasks = log.tasks
        told = tasks.seconds("run_ms") + tasks.seconds("deserialize_ms") + tasks.seconds("result_serialization_ms")
        self.work_s = np.clip(told, 0.0, took)
        # A task that failed or was killed has no metrics: all of its time is work.
        self.work_s = np.where(times.is_lost & (told <= 0), took, self.work_s)
        self.around_s = took - self.work_s
        self.index = tasks["index"]
        self.rows = rows_by_stage(log)[1]
        self.jobs = sorted(
            (job for job in log.jobs if job.submitted_ms and job.group != SAMPLER_GROUP),
            key=lambda job: (job.submitted_ms, job.job_id),
        )
        self.job_ends = [self._end_of(job) for job in self.jobs]
        stages = [stage for stage in log.stages if stage.submitted_ms and len(self.rows[stage.key])]
        self.stages = sorted(stages, key=lambda stage: (stage.submitted_ms, *stage.key))
        self.completed = {stage.key: stage.completed_ms for stage in self.stages}
        self.notes: list[str] = []

    def workload(self) -> RecordedWork:
        owner = self._owners()
        self.stages = [stage for stage in self.stages if stage.key in owner]
        kinds = TaskCounts(self.log, self.facts, {job.job_id: job for job in self.jobs})
        stages = self._stage_works(owner, kinds)
        jobs = self._job_works(stages)
        ended = max(self.job_ends, default=self.end)
        self._note_unfinished()
        return RecordedWork(
            name=self.facts.application.name or self.facts.application.app_id,
            jobs=jobs,
            stages=stages,
            after_s=max(self.end - ended, 0) / 1e3,
            wall_s=self.facts.span.wall_s,
            default_cores=kinds.cores,
            is_fair=self.facts.properties.get("spark.scheduler.mode", "FIFO").upper() == "FAIR",
            locality_wait_s=_seconds(self.facts.properties.get("spark.locality.wait", "3s"), 3.0),
            task_cpus={one.profile_id: one.task_cpus for one in self.facts.shape.profiles},
            notes=tuple(self.notes),
            quiet_around_s=self._quiet(),
        )

    def _end_of(self, job: JobRecord) -> int:
        return max(job.completed_ms or self.end, job.submitted_ms)

    def _note_unfinished(self) -> None:
        n_open = sum(not job.completed_ms for job in self.jobs)
        if n_open:
            jobs = "1 job has" if n_open == 1 else f"{n_open} jobs have"
            self.notes.append(f"{jobs} no end in the log; the answer covers only tasks that ended")
        elif not self.facts.application.has_ended:
            self.notes.append("the application has not ended; the answer covers what has run")

    def _quiet(self) -> float:
        """What surrounds a task later than its executor's first ones."""
        later = np.ones(len(self.launch), dtype=bool)
        codes = self.log.tasks.texts["executor"]
        for one in self.facts.attribution.slots:
            words = self.log.tasks.words["executor"]
            code = words.index(one.executor.executor_id) if one.executor.executor_id in words else -1
            own = np.flatnonzero(codes == code)
            later[own[np.argsort(self.launch[own], kind="stable")[: max(int(one.n), 1)]]] = False
        quiet = self.around_s[later & ~self.facts.attribution.times.is_lost]
        return float(np.quantile(quiet if len(quiet) >= _MANY else self.around_s, _QUIET))

    def _owners(self) -> dict[StageKey, int]:
        """The job of each stage that ran: of those that list it, the last one that was submitted before it."""
        listed: dict[int, list[int]] = {}
        for place, job in enumerate(self.jobs):
            for stage_id in job.stage_ids:
                listed.setdefault(stage_id, []).append(place)
        owner = {}
        for stage in self.stages:
            lists = listed.get(stage.stage_id, [])
            running = [p for p in lists if self.jobs[p].submitted_ms <= stage.submitted_ms <= self.job_ends[p]]
            if running or lists:
                owner[stage.key] = (running or lists)[0]
        return owner

    def _stage_works(self, owner: Mapping[StageKey, int], kinds: TaskCounts) -> tuple[StageWork, ...]:
        place_of: dict[int, int] = {}  # the latest attempt so far
        caches: dict[int, int] = {}  # RDD -> place of the stage that made its partitions
        ends: list[int] = []
        made: list[StageWork] = []
        launches, finishes = np.sort(self.launch), np.sort(self.finish)
        for place, stage in enumerate(self.stages):
            parents = {place_of[one] for one in stage.parent_ids if one in place_of}
            if stage.stage_id in place_of:
                parents.add(place_of[stage.stage_id])  # an attempt after another
            parents = {one for one in parents if ends[one] <= stage.submitted_ms + _ENOUGH_MS}
            rows = self.rows[stage.key]
            rows = rows[np.lexsort((self.index[rows], self.launch[rows]))]
            end = int(self.finish[rows].max())
            ends.append(max(stage.completed_ms or end, end))
            job = owner[stage.key]
            ready = max([self.jobs[job].submitted_ms, *(ends[one] for one in parents)])
            kind, splits = kinds.of(stage, len(np.unique(self.index[rows])), rows, made, place_of)
            made.append(
                StageWork(
                    stage_id=stage.stage_id,
                    attempt=stage.attempt,
                    name=stage.name,
                    job=job,
                    parents=tuple(sorted(parents)),
                    delay_s=self._delay(stage, ready, int(self.launch[rows[0]]), launches, finishes),
                    tail_s=max(stage.completed_ms - end, 0) / 1e3 if stage.completed_ms else 0.0,
                    work_s=self.work_s[rows],
                    around_s=self.around_s[rows],
                    index=self.index[rows],
                    parallelism=kind,
                    splits=splits,
                    in_doubt=kind is Parallelism.CORES,
                    profile_id=stage.profile_id,
                    is_barrier=any(rdd.is_barrier for rdd in stage.rdds),
                    caches=tuple(rdd.rdd_id for rdd in stage.rdds if rdd.is_cached and rdd.rdd_id not in caches),
                    reads_cached=self._read_cached(stage, rows, caches),
                    bytes_read=kinds.bytes_read(rows),
                    retries=self._retries(rows),
                )
            )
            for rdd in made[-1].caches:
                caches[rdd] = place
            place_of[stage.stage_id] = place
        return tuple(made)

    def _retries(self, rows: NDArray[np.int64]) -> dict[int, int]:
        """The places of tasks that failed, and of those that repeat them. Speculative copies do not wait for one."""
        if len(np.unique(self.index[rows])) == len(rows):
            return {}
        found: dict[int, int] = {}
        latest: dict[int, int] = {}  # of each partition
        for place, (row, index) in enumerate(zip(rows.tolist(), self.index[rows].tolist(), strict=True)):
            before = latest.get(index)
            if before is not None and self.finish[rows[before]] <= self.launch[row]:
                found[before] = place
            latest[index] = place
        return found

    def _delay(self, stage: Stage, ready: int, first: int, launches: Integers, finishes: Integers) -> float:
        """Of the driver: not while all slots were taken, or none was ready."""
        running = np.searchsorted(launches, stage.submitted_ms, "right") - np.searchsorted(
            finishes, stage.submitted_ms, "right"
        )
        slots, came = 0.0, []
        facts = self.facts
        for one, since, until in zip(facts.attribution.slots, facts.ready_s, facts.retired_s, strict=True):
            ready_ms, retired_ms = (self.start + round(seconds * 1e3) for seconds in (since, until))
            if one.executor.profile_id == stage.profile_id and ready_ms <= max(stage.submitted_ms, first):
                came.append(ready_ms)
                slots += one.n if ready_ms <= stage.submitted_ms < retired_ms else 0.0
        before = max(stage.submitted_ms - ready, 0)
        if slots > 0:
            waited = self._free_until(stage.submitted_ms, first, slots, launches, finishes) if running < slots else 0
        else:
            waited = first - min((one for one in came if one > stage.submitted_ms), default=first)
        return (before + max(waited, 0)) / 1e3

    def _free_until(self, since: int, until: int, slots: float, launches: Integers, finishes: Integers) -> int:
        """For how long a slot was free, before tasks of other stages took them all."""
        low, high = np.searchsorted(launches, since, "right"), np.searchsorted(launches, until, "left")
        moments = launches[low:high]
        running = np.arange(low + 1, high + 1) - np.searchsorted(finishes, moments, "right")
        full = np.flatnonzero(running >= slots)
        return int(moments[full[0]]) - since if len(full) else until - since

    def _read_cached(self, stage: Stage, rows: NDArray[np.int64], caches: Mapping[int, int]) -> int:
        """The cached RDD to whose partitions the tasks of a stage went."""
        local = self.log.tasks.words["locality"]
        codes = self.log.tasks.texts["locality"][rows]
        if "PROCESS_LOCAL" not in local or np.mean(codes == local.index("PROCESS_LOCAL")) < _PINNED:
            return -1
        n_tasks = stage.n_tasks
        fit = [rdd.rdd_id for rdd in stage.rdds if rdd.rdd_id in caches and rdd.n_partitions == n_tasks]
        return max(fit, default=-1)

    def _job_works(self, stages: Sequence[StageWork]) -> tuple[JobWork, ...]:
        own: dict[int, list[int]] = {}
        for place, stage in enumerate(stages):
            own.setdefault(stage.job, []).append(place)
        order = sorted(range(len(self.jobs)), key=lambda place: self.job_ends[place])
        ends = [self.job_ends[place] for place in order]
        latest: list[int] = []  # of those that ended so far, the latest submission
        for place in order:
            latest.append(max(self.jobs[place].submitted_ms, latest[-1] if latest else 0))
        made = []
        for place, job in enumerate(self.jobs):
            n_ended = bisect_right(ends, job.submitted_ms)
            after: list[int] = []
            last = latest[n_ended - 1] if n_ended else 0
            at = n_ended - 1
            while at >= 0 and (ends[at] > last or not after):
                if order[at] != place:
                    after.append(order[at])
                at -= 1
            begun = max((self.job_ends[one] for one in after), default=self.start)
            mine = own.get(place, [])
            end = max((self._stage_end(stages[one]) for one in mine), default=job.submitted_ms)
            made.append(
                JobWork(
                    job_id=job.job_id,
                    description=job.description,
                    after=tuple(sorted(after)),
                    gap_s=max(job.submitted_ms - begun, 0) / 1e3,
                    tail_s=max(self.job_ends[place] - end, 0) / 1e3 if job.completed_ms else 0.0,
                    stages=tuple(mine),
                    pool=job.pool,
                )
            )
        return tuple(made)

    def _stage_end(self, stage: StageWork) -> int:
        key = (stage.stage_id, stage.attempt)
        return max(self.completed[key], int(self.finish[self.rows[key]].max()))


def _freed(log: LogRead, facts: AppFacts) -> Integers:
    """When the slot of each task was free: the driver books the end of a task after it has started the next one there.

    Of an executor with n slots, the task that is n later than the k-th to end cannot have started before that end.
    """
    times, codes = facts.attribution.times, log.tasks.texts["executor"]
    finish = times.finish.copy()
    words = {word: code for code, word in enumerate(log.tasks.words["executor"])}
    for one in facts.attribution.slots:
        own, n = np.flatnonzero(codes == words.get(one.executor.executor_id, -1)), int(one.n)
        if n < 1 or len(own) <= n:
            continue
        by_finish = own[np.argsort(finish[own], kind="stable")][: len(own) - n]
        latest = np.sort(times.launch[own])[n:]
        finish[by_finish] = np.maximum(np.minimum(finish[by_finish], latest), times.launch[by_finish])
    return finish


def _seconds(text: str, default: float) -> float:
    try:
        return parse_seconds(text)
    except StudyError:
        return default
