"""The driver: the time in which no task runs, and what it sends around."""

from collections.abc import Iterator

from sparkcast.observe.profile.findings.base import Evidence, Finding, of
from sparkcast.observe.profile.parts import Part
from sparkcast.units import show_bytes, show_seconds


def driver_bound(evidence: Evidence) -> Iterator[Finding]:
    """After the first job, no stage runs."""
    cost, limits = evidence.seconds(Part.DRIVER_ONLY), evidence.thresholds
    if cost < max(limits.driver_share * evidence.wall_s, limits.driver_s):
        return
    longest, when = _longest_gap(evidence)
    yield Finding(
        "driver-bound",
        f"for {show_seconds(cost)} ({100 * cost / evidence.wall_s:.0f} % of the time) no stage runs, only the "
        f"driver; the longest stretch is {show_seconds(longest)}, {show_seconds(when)} after the start",
        "move that code into Spark, run independent jobs in threads, or release executors while it runs "
        "(spark.dynamicAllocation.enabled=true)",
        cost,
        cost * evidence.cores.mean_cores / 3600,
        {"share": cost / evidence.wall_s, "longest_s": longest, "longest_starts_s": when},
    )


def _longest_gap(evidence: Evidence) -> tuple[float, float]:
    """The longest time without a stage after the first job, and when it began; seconds."""
    span = evidence.attribution.span
    busy = sorted((stage.started_s, stage.started_s + stage.duration_s) for stage in evidence.stages)
    longest, begins = 0.0, 0.0
    until = busy[0][0] if busy else 0.0
    for start, end in [*busy, (span.wall_s, span.wall_s)]:
        if start - until > longest:
            longest, begins = start - until, until
        until = max(until, end)
    return longest, begins


def large_broadcast(evidence: Evidence) -> Iterator[Finding]:
    largest = total_ms = 0.0
    count = 0
    for execution in evidence.log.sql_executions:
        sizes = [m.value or 0.0 for m in execution.metrics if m.node == "BroadcastExchange" and m.name == "data size"]
        large = [one for one in sizes if one > evidence.thresholds.broadcast_bytes]
        if not large:
            continue
        count, largest = count + len(large), max(largest, *large)
        times = [m.value or 0.0 for m in execution.metrics if m.node == "BroadcastExchange" and m.kind == "timing"]
        total_ms += sum(times) * len(large) / len(sizes)
    if count:
        yield Finding(
            "large-broadcast",
            f"{of(count, 'broadcast')} of up to {show_bytes(largest)}: collecting, building and sending takes "
            f"{show_seconds(total_ms / 1e3)}",
            "lower spark.sql.autoBroadcastJoinThreshold, or drop the broadcast hint, and let Spark sort and merge",
            total_ms / 1e3,
            evidence={"largest_bytes": largest, "broadcasts": float(count)},
        )
