"""Joins that cost more than they must: each row with each, and shuffles for the sake of a small side."""

import re
from collections.abc import Iterator

from sparkcast.facts.operators import NESTED_LOOPS, SHUFFLED_JOINS, condition, label
from sparkcast.profile.findings.base import RUN, Evidence, Finding, ids, named, of, part_of
from sparkcast.profile.findings.plans import QueryPlan, plans, stage_plans, stages_with
from sparkcast.profile.findings.values import BROADCAST, broadcast_threshold, heap, set_, setting_bytes
from sparkcast.study.application import Part
from sparkcast.study.redaction import redact_text
from sparkcast.units import show_bytes

_PAIR_S = 100e-9  # of a core, to compare two rows: plain conditions take a tenth of it
_FEWEST_ROWS = 10  # of the smaller side: with fewer, comparing with each costs no more than hashing
# What one core packs for a shuffle, reads back, sorts and merges in a second.
_BYTES_PER_S, _ROWS_PER_S = 100e6, 2e6
_HEAP_SHARE = 1 / 8  # of a heap, that a broadcast may take
_MAY_BROADCAST = {"Inner": (0, 1), "Cross": (0, 1), "LeftOuter": (1,), "LeftSemi": (1,), "LeftAnti": (1,)}
_MAY_BROADCAST |= {"ExistenceJoin": (1,), "RightOuter": (0,)}
_TYPE = re.compile(r"\], (\w+)")


def nested_loop_join(evidence: Evidence) -> Iterator[Finding]:
    for plan in plans(evidence):
        for place, node in enumerate(plan.nodes):
            sides = [plan.rows(child) for child in plan.children.get(place, [])]
            stages = stages_with(plan, place, evidence) if node.name in NESTED_LOOPS else []
            rows = [side for side in sides if side is not None]
            if not stages or len(rows) != 2 or min(rows) < _FEWEST_ROWS:
                continue
            pairs, groups = rows[0] * rows[1], min(rows)
            compared = sum(min(pairs * _PAIR_S * stage.of_wall, part_of(stage, *RUN)) for stage in stages)
            matching = node.value("number of output rows")
            on = redact_text(condition(node))
            yield Finding(
                "nested-loop-join",
                f"{label(node)} compares each of {max(rows):,.0f} rows with each of {groups:,.0f} in {named(stages)}: "
                f"{pairs:,.0f} pairs" + (f", of which {matching:,.0f} match." if matching is not None else "."),
                "join on an equality as well, which Spark can hash: " + _equality(on) + f" in about {groups:,.0f} "
                "groups, as many as the smaller side has rows, leaves "
                f"{show_pairs(max(rows))} to compare.",
                compared * (1 - 1 / groups),
                evidence={"pairs": pairs, "groups": groups},
                stage_ids=ids(stages),
                operator=label(node),
                values={"groups": f"{groups:.0f}"},
            )


def show_pairs(pairs: float) -> str:
    return of(pairs, "pair")


def _equality(on: str) -> str:
    if re.search(r"[<>]", on):
        return f"equal buckets (floor(column / width)) beside the range `{on[:80]}`,"
    return f"a key that both sides share beside `{on[:80]}`," if on else "a key that both sides share,"


def missed_broadcast(evidence: Evidence) -> Iterator[Finding]:
    for plan in plans(evidence):
        for place, node in enumerate(plan.nodes):
            if node.name not in SHUFFLED_JOINS or "skew=true" in node.text:
                continue
            sides = [_exchange(plan, child) for child in plan.children.get(place, [])]
            found = _small_side(plan, node.text, sides, evidence)
            if found is None or sides[1 - found] is None:
                continue
            yield from _missed(plan, place, [side for side in sides if side is not None], found, evidence)


def _missed(plan: QueryPlan, place: int, sides: list[int], small: int, evidence: Evidence) -> Iterator[Finding]:
    stages = stages_with(plan, place, evidence)
    if not stages:
        return
    node, size = plan.nodes[place], _size(plan, sides[small])
    value = broadcast_threshold(max(size, _files(plan, sides[small])))
    now = evidence.setting(BROADCAST, "10m")
    is_enough = setting_bytes(now) >= size
    moved = sum(_size(plan, side) for side in sides)
    side = _name(plan, sides[small])
    yield Finding(
        "missed-broadcast",
        f"{label(node)} in {named(stages)} shuffles and sorts {show_bytes(moved)}, although one side{side} has only "
        f"{show_bytes(size)}.",
        ("broadcast it with the hint broadcast(...)" if is_enough else f"{set_(BROADCAST, value)} (now {now})")
        + f": each executor then gets {show_bytes(size)} once, and the other side stays where it is"
        + ("." if is_enough else ". The hint broadcast(...) does the same for this join alone."),
        _shuffling(plan, place, sides, evidence),
        evidence={"side_bytes": size, "moved_bytes": moved},
        stage_ids=ids(stages),
        operator=label(node),
        values={"hint": "broadcast"} if is_enough else {BROADCAST: value},
    )


def spilled_for_a_join(evidence: Evidence) -> frozenset[int]:
    """Stages that spill because they sort for a join that needs no sorting: that goes with it."""
    found = [one for one in missed_broadcast(evidence) if evidence.is_worth_telling(one)]
    return frozenset(stage_id for one in found for stage_id in one.stage_ids)


def _exchange(plan: QueryPlan, side: int) -> int | None:
    """The shuffle that a side of a join comes from; None where something else is between."""
    for place in plan.below(side, until="Exchange"):
        name = plan.nodes[place].name
        if name == "Exchange":
            return place
        if len(plan.children.get(place, [])) > 1 or "Join" in name or "BroadcastExchange" in name:
            return None
    return None


def _small_side(plan: QueryPlan, text: str, sides: list[int | None], evidence: Evidence) -> int | None:
    """Which side may be broadcast and is small enough."""
    match = _TYPE.search(text.partition("], [")[2])
    may = _MAY_BROADCAST.get(match[1], ()) if match else ()
    most = min(evidence.thresholds.broadcast_bytes, heap(evidence) * _HEAP_SHARE)
    sizes = {which: _size(plan, side) for which in may if len(sides) == 2 and (side := sides[which]) is not None}
    fitting = [which for which, size in sizes.items() if 0 < size <= most]
    return min(fitting, key=lambda which: sizes[which], default=None)


def _size(plan: QueryPlan, exchange: int) -> float:
    return plan.nodes[exchange].value("data size") or 0.0


def _files(plan: QueryPlan, exchange: int) -> float:
    """Of the files below, by which Spark judges before it runs."""
    return sum(plan.nodes[place].value("size of files read") or 0.0 for place in plan.below(exchange))


def _name(plan: QueryPlan, exchange: int) -> str:
    scans = [label(plan.nodes[place]) for place in plan.below(exchange) if plan.nodes[place].is_scan]
    return f" ({scans[0]})" if len(scans) == 1 else ""


def _shuffling(plan: QueryPlan, join: int, sides: list[int], evidence: Evidence) -> float:
    """Seconds: what metrics time of sorting, writing and fetching, what sorts spill, and an estimate of packing rows.

    That is CPU time: where tasks waited for the CPU, it took as much longer as all of their work.
    """
    sorts = {place for place in plan.below(join, until="Exchange") if plan.nodes[place].name == "Sort"}
    cost = cpu_s = run_s = of_wall = 0.0
    rows = sum(plan.nodes[side].value("shuffle records written") or 0.0 for side in sides)
    packing = max(sum(_size(plan, side) for side in sides) / _BYTES_PER_S, rows / _ROWS_PER_S)
    for stage, told in stage_plans(plan, evidence):
        cost += sum(told.times.get(place, 0.0) for place in (*sorts, *sides)) * stage.of_wall
        if join in told.places and any(plan.nodes[place].value("spill size") for place in sorts):
            cost += part_of(stage, Part.SPILL)
        if join in told.places or {*sides} & {*told.places}:
            cpu_s += part_of(stage, Part.CPU)
            run_s += part_of(stage, Part.CPU, Part.GC, Part.UNINSTRUMENTED)
            of_wall = max(of_wall, stage.of_wall)
    return cost + min(packing * of_wall * run_s / max(cpu_s, 1e-9), run_s)
