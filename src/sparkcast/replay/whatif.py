"""From logs and a question to the answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, log, log2
from statistics import median

from sparkcast.errors import InfeasibleError, NotEnoughDataError, StudyError
from sparkcast.eventlogs import LogRead
from sparkcast.facts import AppFacts
from sparkcast.replay.answer import Floor, Replayed, Trap, WhatIf, executors_of, shape_of
from sparkcast.replay.change import changed, following, share_following, share_in_doubt
from sparkcast.replay.cluster import Allocation, Node, ReplayCluster, cluster_like, cluster_of
from sparkcast.replay.intervals import LEVEL, ReplaySpread, interval_text, measured_spread, prior_spread
from sparkcast.replay.parallelism import default_parallelism, n_tasks_at
from sparkcast.replay.plans import broadcasts_of
from sparkcast.replay.play import Played, play
from sparkcast.replay.question import WhatIfQuestion
from sparkcast.replay.reading import workload_of
from sparkcast.replay.settling import settled
from sparkcast.replay.workload import Parallelism, RecordedWork
from sparkcast.study import Outcome
from sparkcast.units import show_bytes, show_percent, show_seconds

_KNEE = 1.1  # of the fastest time
_LOSES = 1.02  # by how much a trap costs more than another
_FOLLOWS = 0.01  # of the tasks' time: less does not move a floor
_FEW_STAGES = 3
_MANY_SLOTS, _MANY_CORES = 10_000_000, 10_000
_TELLING = 0.02  # of an effect, as a share of the time of tasks


@dataclass(frozen=True, slots=True)
class Recorded:
    """One log, ready to be played elsewhere."""

    log: LogRead
    facts: AppFacts
    work: RecordedWork
    cluster: ReplayCluster

    @property
    def executors(self) -> int:
        return self.facts.shape.executors

    @property
    def cores(self) -> int:
        return max(self.facts.shape.cores, 1)

    @property
    def profile_id(self) -> int:
        """Of most of the executors."""
        by_cores: dict[int, float] = {}
        for node in self.cluster.nodes:
            by_cores[node.profile_id] = by_cores.get(node.profile_id, 0.0) + node.cores
        return max(by_cores, key=lambda one: by_cores[one])

    @property
    def slots(self) -> int:
        return max(int(self.facts.shape.slots), 1)


def recorded(log_read: LogRead, facts: AppFacts) -> Recorded:
    """A log with its work and cluster.

    Raises:
        StudyError: It has no tasks, or no executors.
    """
    cluster = cluster_of(facts)
    work = workload_of(log_read, facts)
    if not cluster.slots:
        raise StudyError(
            f"{log_read.log}: the log records no executors", hint="give the whole log, with its first file"
        )
    return Recorded(log_read, facts, work, cluster)


def what_if(sources: Sequence[Recorded], question: WhatIfQuestion) -> WhatIf:
    """Play the work of one or several logs of a job on other clusters.

    Raises:
        StudyError: The question does not suit the log.
        NotEnoughDataError: More data would change a plan.
        InfeasibleError: A stage could not start on a cluster.
    """
    works = settled([source.work for source in sources])
    sources = [replace(source, work=work) for source, work in zip(sources, works, strict=True)]
    first = sources[0]
    for source in sources:
        require_same_plan(source, question.data)
    shapes = _shapes(first, question)
    spread = measured_spread([_Pair(a, b) for a in sources for b in sources if a is not b]) if sources[1:] else None
    measured = _measured(first, question)
    asked, left_out = _all_replayed(sources, shapes, question, spread)
    found = sorted(asked, key=lambda one: (one.slots, one.cores, one.executors))
    floor, why = _floor(first, question)
    return WhatIf(
        name=first.facts.application.name or first.facts.application.app_id,
        app_id=first.facts.application.app_id,
        logs=tuple(source.facts.log for source in sources),
        measured=measured,
        configurations=tuple(found),
        knee=_knee(found),
        floor=floor,
        traps=_traps(first, [measured, *found] if question.data == 1 else found, question),
        interval=interval_text(len(sources), spread, question.data),
        effects=_effects(first, question, spread),
        notes=(*dict.fromkeys(note for source in sources for note in _notes(source, question)), *left_out),
        currency=question.price.currency if question.price else "",
        data=question.data,
        partitions=question.partitions,
        is_partial=not first.facts.is_complete,
        floor_text=why,
        launch_s=first.facts.span.launch_s,
        master=first.facts.properties.get("spark.master", ""),
    )


def play_at(source: Recorded, executors: int, cores: int, question: WhatIfQuestion, *, follow: bool = True) -> Played:
    """One log's work on a cluster of its own kind with so many executors."""
    cluster = _cluster(source, executors, cores, question)
    work = changed(
        source.work,
        _total_cores(source, executors, cores),
        partitions=question.partitions,
        scale=question.data,
        follow_cores=follow,
        keep_surroundings=(executors, cores) == (source.executors, source.cores),
    )
    return play(work, cluster)


def _total_cores(source: Recorded, executors: int, cores: int) -> int:
    others = sum(node.cores for node in source.cluster.nodes if node.profile_id != source.profile_id)
    return default_parallelism(executors * cores + round(others), is_local=source.facts.shape.is_local)


def _cluster(source: Recorded, executors: int, cores: int, question: WhatIfQuestion) -> ReplayCluster:
    same = (executors, cores) == (source.executors, source.cores) and question.dynamic is None
    if same and not source.facts.shape.is_dynamic:
        return source.cluster
    task_cpus = source.work.task_cpus.get(source.profile_id, 1.0)
    made = cluster_like(source.cluster, executors, cores, task_cpus, source.profile_id)
    made = _within_gpus(source, made)
    if not any(node.slots for node in made.nodes if node.profile_id == source.profile_id):
        raise InfeasibleError(
            f"an executor of {cores} cores runs no task: each takes {task_cpus:g}", hint="give executors more cores"
        )
    if question.dynamic is None:
        return made
    lag = median(node.ready_s - node.registered_s for node in made.nodes)
    came = min((node.registered_s for node in made.nodes), default=0.0)
    nodes = tuple(replace(node, registered_s=came, ready_s=came + lag) for node in made.nodes)
    return ReplayCluster(nodes, Allocation(*question.dynamic, lag_s=lag + _START_S))


_START_S = 5.0  # of an executor that dynamic allocation asks for: logs do not record it


def _within_gpus(source: Recorded, cluster: ReplayCluster) -> ReplayCluster:
    """Tasks of an executor are limited by its GPUs too."""
    limit = _gpu_slots(source)
    if limit is None:
        return cluster
    nodes = (
        replace(node, slots=min(node.slots, limit)) if node.profile_id == source.profile_id else node
        for node in cluster.nodes
    )
    return ReplayCluster(tuple(nodes), cluster.allocation)


def _gpu_slots(source: Recorded) -> int | None:
    for profile in source.log.resource_profiles:
        if profile.profile_id == source.profile_id:
            has, needs = profile.executor_resources.get("gpu", 0.0), profile.task_resources.get("gpu", 0.0)
            return int(has / needs) if has and needs else None
    return None


def _require_varied(source: Recorded, question: WhatIfQuestion) -> None:
    """What is to vary can vary there."""
    shape = source.facts.shape
    if shape.is_local and (question.dynamic or (question.executors or (1,)) != (1,)):
        raise StudyError(
            "the log is of local mode, where the driver is the only executor",
            hint="vary `cores=`, or give the log of a run on a cluster",
        )
    if question.cores and any(cores != source.cores for cores in question.cores) and _gpu_slots(source) is not None:
        raise StudyError(
            "tasks ask for GPUs, so the cores of an executor do not set how many run",
            hint="vary `executors=`, and leave `cores=` out",
        )


def _shapes(source: Recorded, question: WhatIfQuestion) -> list[tuple[int, int]]:
    _require_varied(source, question)
    if question.dynamic is not None:
        return [(question.dynamic[1], cores) for cores in question.cores or (source.cores,)]
    if question.executors or question.cores:
        executors, cores = question.executors or (source.executors,), question.cores or (source.cores,)
        return list(dict.fromkeys((e, c) for e in executors for c in cores))
    if question.partitions is not None or question.data != 1:
        return [(source.executors, source.cores)]
    if source.facts.shape.is_local:
        return [(1, cores) for cores in around(source.cores)]
    return [(executors, source.cores) for executors in around(source.executors)]


def around(n: int) -> list[int]:
    """A quarter of what there was to four times as much."""
    return sorted({max(round(n * factor), 1) for factor in (0.25, 0.5, 0.75, 1, 1.5, 2, 4)})


def _measured(source: Recorded, question: WhatIfQuestion) -> Replayed:
    facts = source.facts
    hours, wall = facts.core_hours, facts.span.wall_s
    slot_s = sum(one.n * (one.end_ms - one.start_ms) / 1e3 for one in facts.attribution.slots)
    return Replayed(
        executors=source.executors,
        cores=source.cores,
        slots=source.slots,
        dynamic=facts.shape.is_dynamic,
        time_s=wall,
        low_s=wall,
        high_s=wall,
        level=LEVEL,
        core_hours=hours.paid,
        cost=_cost(question, hours.paid, hours.gib_hours),
        utilization=min(source.work.task_s / slot_s, 1.0) if slot_s else 0.0,
        change=0.0,
        change_core_hours=0.0,
        jobs_s=facts.span.time_s or 0.0,
        is_measured=True,
    )


def _cost(question: WhatIfQuestion, core_hours: float, gib_hours: float) -> float | None:
    price = question.price
    return None if price is None else core_hours * price.core_hour + gib_hours * price.gib_hour


def _all_replayed(
    sources: Sequence[Recorded],
    shapes: Sequence[tuple[int, int]],
    question: WhatIfQuestion,
    spread: ReplaySpread | None,
) -> tuple[list[Replayed], list[str]]:
    """Each cluster that the work can run on, and a note on those that are left out.

    Raises:
        InfeasibleError: It can run on none of them.
    """
    found: list[Replayed] = []
    refused: list[tuple[str, InfeasibleError]] = []
    for executors, cores in shapes:
        try:
            found.append(_replayed(sources, executors, cores, question, spread))
        except InfeasibleError as error:
            refused.append((shape_of(executors, cores), error))
    if refused and not found:
        raise refused[-1][1]
    return found, [f"left out {shape}: {error.problem}" for shape, error in refused]


def _replayed(
    sources: Sequence[Recorded], executors: int, cores: int, question: WhatIfQuestion, spread: ReplaySpread | None
) -> Replayed:
    first = sources[0]
    played = [play_at(source, executors, cores, question) for source in sources]
    slots = _cluster(first, executors, cores, question).slots
    distances = [log2(slots / source.slots) for source in sources]
    used = spread or prior_spread()
    center, sd = used.at([log(one.wall_s) for one in played], distances, question.data)
    factor = exp(center) / played[0].wall_s
    unsure = doubt(first, executors, cores, question, played[0])
    half, other = exp(sd * 1.645), exp(unsure)
    time = exp(center)
    hours, gib = played[0].core_hours * factor, played[0].gib_hours * factor
    slot_s = hours * 3600 / max(first.cluster.cores / first.cluster.slots, 1e-9)
    measured = first.facts
    return Replayed(
        executors=executors,
        cores=cores,
        slots=slots,
        dynamic=question.dynamic is not None,
        time_s=time,
        low_s=time * min(other, 1.0) / half,
        high_s=time * max(other, 1.0) * half,
        level=LEVEL,
        core_hours=hours,
        cost=_cost(question, hours, gib),
        utilization=min(played[0].busy_s / slot_s, 1.0) if slot_s else 0.0,
        change=time / measured.span.wall_s - 1,
        change_core_hours=hours / measured.core_hours.paid - 1 if measured.core_hours.paid else 0.0,
        jobs_s=played[0].in_jobs_s * factor,
        is_measured=_is_measured(first, executors, cores, question),
    )


def doubt(source: Recorded, executors: int, cores: int, question: WhatIfQuestion, played: Played) -> float:
    """How much longer it takes (in logarithms) if the number of tasks does not follow the cores after all."""
    same = source.work.default_cores == _total_cores(source, executors, cores)
    if same or share_in_doubt(source.work) <= _FOLLOWS:
        return 0.0
    return log(play_at(source, executors, cores, question, follow=False).wall_s / played.wall_s)


def _is_measured(source: Recorded, executors: int, cores: int, question: WhatIfQuestion) -> bool:
    is_same = (executors, cores) == (source.executors, source.cores)
    return is_same and question.dynamic is None and question.data == 1 and question.partitions is None


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two logs of a job: how wrong the replay of the first is about the second."""

    source: Recorded
    target: Recorded

    @property
    def error(self) -> float:
        question = WhatIfQuestion()
        predicted = play_at(self.source, self.target.executors, self.target.cores, question)
        return log(self.target.facts.span.wall_s / predicted.wall_s)

    @property
    def distance(self) -> float:
        return log2(self.target.slots / self.source.slots)


def require_same_plan(source: Recorded, scale: float) -> None:
    for one in broadcasts_of(source.log, source.facts):
        if one.flips(scale):
            raise NotEnoughDataError(
                f"with {scale:g}x the data query {one.query_id} would no longer broadcast: "
                f"{show_bytes(one.size_bytes * scale)} is more than spark.sql.autoBroadcastJoinThreshold = "
                f"{show_bytes(one.threshold_bytes)} (now {show_bytes(one.size_bytes)})",
                hint="ingest a log of a run with as much data, or set the threshold so that the plan stays",
            )


def _knee(found: Sequence[Replayed]) -> Replayed | None:
    if len(found) < 2:
        return None
    fastest = min(one.time_s for one in found)
    return min((one for one in found if one.time_s <= _KNEE * fastest), key=lambda one: (one.slots, one.time_s))


def _floor(source: Recorded, question: WhatIfQuestion) -> tuple[Floor | None, str]:
    share = share_following(source.work)
    if share > _FOLLOWS:
        return None, f"{show_percent(share)} of the tasks' time is in stages whose number of tasks follows the cores"
    node = source.cluster.nodes[0]
    profiles = {one.profile_id for one in source.cluster.nodes}
    ready = min(one.ready_s for one in source.cluster.nodes)
    nodes = tuple(Node(_MANY_SLOTS, node.cores, ready, ready, profile_id=profile) for profile in profiles)
    # Scans and AQE split their bytes further where there are more cores than the log lets expect.
    work = changed(source.work, _MANY_CORES, partitions=question.partitions, scale=question.data, follow_cores=False)
    played = play(work, ReplayCluster(nodes))
    longest = sorted(zip(work.stages, played.stages, strict=True), key=lambda pair: pair[1][0] - pair[1][1])
    stages = tuple((stage.label, end - start) for stage, (start, end) in longest[:_FEW_STAGES])
    busy, until = 0.0, 0.0
    for start, end in sorted(played.stages):
        busy += max(end - max(start, until), 0.0)
        until = max(until, end)
    return Floor(played.wall_s, played.wall_s - busy, stages), ""


def _traps(source: Recorded, found: Sequence[Replayed], question: WhatIfQuestion) -> tuple[Trap, ...]:
    traps = []
    for one in found:
        better = [
            other
            for other in found
            if one.time_s > _LOSES * other.time_s and one.core_hours > _LOSES * other.core_hours
        ]
        if not better or one.is_measured:
            continue
        best = min(better, key=lambda other: (other.time_s, other.core_hours))
        why = _waves(source, one, question)
        text = (
            f"{executors_of(one)} take {show_seconds(one.time_s)} and {one.core_hours:.3g} core-hours; "
            f"{executors_of(best)} take {show_seconds(best.time_s)} and {best.core_hours:.3g}{why}"
        )
        traps.append(Trap(one.executors, one.cores, text))
    return tuple(traps)


def _waves(source: Recorded, one: Replayed, question: WhatIfQuestion) -> str:
    """The costliest stage with a last wave that few tasks fill."""
    stages = sorted(source.work.stages, key=lambda stage: -float(stage.work_s.sum()))
    for stage in stages[:_FEW_STAGES]:
        cores = _total_cores(source, one.executors, one.cores)
        n = n_tasks_at(stage, cores, source.work.default_cores, question.partitions, question.data)
        rest = n % one.slots
        if n > one.slots and 0 < rest <= 0.5 * one.slots:
            return f" ({stage.label} has {n} tasks on {one.slots} slots: {n // one.slots + 1} waves)"
    return ""


def _effects(source: Recorded, question: WhatIfQuestion, spread: ReplaySpread | None) -> tuple[str, ...]:
    work, seconds = source.work, following(source.work)
    total = max(sum(seconds.values()), 1e-9)
    lag = max((node.ready_s - node.registered_s for node in source.cluster.nodes), default=0.0)
    told = [f"each task takes its own work and {work.quiet_around_s * 1e3:.0f} ms around it"]
    for kind, text in (
        (Parallelism.CORES, "have as many tasks as cores"),
        (Parallelism.BYTES, "split files by their bytes, and by cores while these are few"),
        (Parallelism.ADAPTIVE, "are coalesced by AQE, which looks at the cores"),
        (Parallelism.PARTITIONS, "have spark.sql.shuffle.partitions tasks"),
    ):
        if seconds.get(kind, 0.0) > _TELLING * total:
            told.append(f"stages with {show_percent(seconds[kind] / total)} of the tasks' time {text}")
    if lag > 1:
        told.append(f"executors take tasks up to {show_seconds(lag)} after they registered")
    if any(stage.reads_cached >= 0 for stage in work.stages):
        told.append("tasks go to the executor that caches their partition")
    if any(stage.is_barrier for stage in work.stages):
        told.append("tasks of barrier stages start together")
    if source.facts.totals.failed_tasks:
        told.append("failed tasks fail again")
    if spread is not None and abs(spread.slope) > 0.002:
        told.append(f"{show_percent(spread.slope, sign=True)} of time per doubling of slots, learned from the logs")
    return tuple(told)


def _notes(source: Recorded, question: WhatIfQuestion) -> list[str]:
    notes = list(source.work.notes)
    if source.facts.outcome is not Outcome.OK:
        notes.append("the application failed; the answer covers what it ran until then")
    if source.facts.is_interactive:
        notes.append("an interactive session: the time between its jobs is people's, and stays as it was")
    if question.cores and any(cores > source.cores for cores in question.cores):
        notes.append("more tasks share an executor's memory: spilling is not replayed")
    if question.dynamic is not None:
        notes.append(f"logs do not record how fast executors start; {_START_S:.0f} s are assumed")
    if source.facts.shape.is_dynamic and question.dynamic is None:
        notes.append("the run used dynamic allocation; the replayed clusters keep their executors")
    return notes
