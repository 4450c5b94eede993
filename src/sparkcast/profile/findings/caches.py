"""Cached data: what did not fit and was made again, and what nobody read."""

from collections.abc import Iterator

from sparkcast.eventlogs import Rdd, Stage
from sparkcast.facts.operators import label
from sparkcast.facts.stages import StageFacts
from sparkcast.profile.findings.base import RUN, Evidence, Finding, ids, named, of, part_of
from sparkcast.profile.findings.plans import QueryPlan, plans
from sparkcast.profile.findings.values import for_cache, heap, heap_setting, set_
from sparkcast.study.application import Part
from sparkcast.units import show_bytes, show_percent

_ROWS = "number of output rows"
_PACKED_PER_S = 200e6  # bytes that one core compresses for the cache in a second
_LEAST_AGAIN = 0.02  # of the rows: less is the work of a task that was repeated


def small_cache(evidence: Evidence) -> Iterator[Finding]:
    """Rows of a cached plan that are made again after all of them have been made once."""
    for name, (accumulator, held) in _cached_plans(evidence).items():
        made = _rows_made(accumulator, evidence)
        first = next((at for at, (stage, _) in enumerate(made) if _is_whole(evidence.logged[stage.key])), None)
        if first is None:
            continue
        # What cannot be kept is not even made to its end while the cache is filled: readers tell how much there is.
        maker, every = made[first][0], max(made[first][1], held)
        later = [(stage, rows / every) for stage, rows in made[first + 1 :]]
        again = [(stage, share) for stage, share in later if share >= _LEAST_AGAIN]
        if not again:
            continue
        readers = [stage for stage in _readers(maker, evidence) if stage.started_s > maker.started_s]
        missing = sum(share for _, share in again) / max(len(readers), len(again))
        fits = max(1 - missing, 0.0)
        cost = sum(min(share * _run_s(maker) * stage.of_wall, part_of(stage, *RUN)) for stage, share in again)
        value, on_disk = for_cache(evidence, fits), "persist(StorageLevel.MEMORY_AND_DISK)"
        stages = [stage for stage, _ in again]
        yield Finding(
            "small-cache",
            f"The cache of {name}, made in {maker.label.partition(' (')[0]}, holds about {show_percent(fits)} of its "
            f"rows in a heap of {show_bytes(heap(evidence))}: {named(stages)} "
            f"{'makes' if len(stages) == 1 else 'make'} the others again.",
            (f"{set_(heap_setting(evidence), value)}, or {on_disk}" if value else f"use {on_disk}")
            + f", which saves making {sum(share for _, share in again) * every:,.0f} rows again.",
            cost,
            evidence={"fits": fits, "rows_again": sum(share for _, share in again) * every},
            stage_ids=ids(stages),
            operator=name,
            values={heap_setting(evidence): value} if value else {"persist": "MEMORY_AND_DISK"},
        )


def _run_s(stage: StageFacts) -> float:
    """Of its tasks, without waiting to be started."""
    return part_of(stage, *RUN) / stage.of_wall if stage.of_wall else 0.0


def _cached_plans(evidence: Evidence) -> dict[str, tuple[int, float]]:
    """Of each cached plan, by its operator: a metric that counts the rows made for it, and how many were read of it."""
    names: dict[int, str] = {}
    held: dict[int, float] = {}
    for plan in plans(evidence):
        for place, node in enumerate(plan.nodes):
            if node.name.startswith("InMemoryTableScan"):
                told = _first_count(plan, place)
                if told is not None:
                    names.setdefault(
                        told[1], told[0] if told[0] not in names.values() else f"{told[0]} ({len(names) + 1})"
                    )
                    held[told[1]] = max(held.get(told[1], 0.0), node.value(_ROWS) or 0.0)
    return {name: (accumulator, held[accumulator]) for accumulator, name in names.items()}


def _first_count(plan: QueryPlan, scan: int) -> tuple[str, int] | None:
    for place in plan.below(scan):
        if place != scan:
            for metric in plan.nodes[place].metrics:
                if metric.name == _ROWS and metric.value:
                    return label(plan.nodes[place]), metric.accumulator_id
    return None


def _rows_made(accumulator: int, evidence: Evidence) -> list[tuple[StageFacts, float]]:
    """How many rows each stage made, in the order in which stages ended: accumulators only grow."""
    told = (
        [stage for stage in evidence.stages if accumulator in evidence.logged[stage.key].accumulated]
        if (evidence.logged)
        else []
    )
    before, found = 0.0, []
    for stage in sorted(told, key=lambda one: one.started_s + one.duration_s):
        value = evidence.logged[stage.key].accumulated[accumulator]
        if value > before:
            found.append((stage, value - before))
            before = value
    return found


def _cached(stage: Stage) -> list[Rdd]:
    return [rdd for rdd in stage.rdds if rdd.is_cached]


def _is_whole(stage: Stage) -> bool:
    """Whether it went over all partitions of what it caches."""
    kept = _cached(stage)
    return bool(kept) and stage.n_tasks >= max(rdd.n_partitions for rdd in kept)


def _readers(maker: StageFacts, evidence: Evidence) -> list[StageFacts]:
    own = {rdd.rdd_id for rdd in _cached(evidence.logged[maker.key])}
    return [
        stage
        for stage in evidence.stages
        if stage.key in evidence.logged and own & {rdd.rdd_id for rdd in _cached(evidence.logged[stage.key])}
    ]


def unread_cache(evidence: Evidence) -> Iterator[Finding]:
    """What was packed for the cache and read by no later stage."""
    if not evidence.log.application.has_ended or evidence.facts.is_interactive:
        return
    users: dict[int, list[StageFacts]] = {}
    names: dict[int, str] = {}
    for stage in evidence.stages:
        logged = evidence.logged.get(stage.key)
        for rdd in _cached(logged) if logged is not None else []:
            users.setdefault(rdd.rdd_id, []).append(stage)
            names[rdd.rdd_id] = " ".join(rdd.name.split())[:40]
    for rdd_id, stages in users.items():
        maker = stages[0]
        size = maker.input_bytes + maker.shuffle_read_bytes
        if len(stages) == 1 and size and not evidence.streaming_jobs & {*maker.job_ids}:
            yield Finding(
                "unread-cache",
                f"The cache of {names[rdd_id]} (RDD {rdd_id}), made in {maker.label} out of {show_bytes(size)}, is "
                "never read.",
                f"remove cache() or persist() there: {of(maker.n_tasks, 'task')} pack rows that no stage reads again.",
                min(size / _PACKED_PER_S * maker.of_wall, part_of(maker, Part.CPU)),
                evidence={"bytes": float(size)},
                stage_ids=(maker.stage_id,),
                operator=names[rdd_id],
                values={"rdd": str(rdd_id)},
            )
