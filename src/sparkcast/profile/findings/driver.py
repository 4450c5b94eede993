"""The driver: the time in which no task runs, and what it sends around."""

from collections.abc import Iterator

from sparkcast.facts.stages import short_name
from sparkcast.profile.findings.base import Evidence, Finding, of
from sparkcast.profile.findings.values import BROADCAST, idle_timeout, size
from sparkcast.study.application import Part
from sparkcast.units import show_bytes, show_seconds

_TIMEOUT = "spark.dynamicAllocation.executorIdleTimeout"


def driver_bound(evidence: Evidence) -> Iterator[Finding]:
    """No stage runs, after the first job or before it with executors that wait."""
    limits, wall_s = evidence.thresholds, evidence.wall_s
    if evidence.is_stream() or evidence.facts.is_interactive:  # waits for data, for its next batch, or for people
        return
    first = _before_first_job(evidence)
    cost = max(evidence.seconds(Part.DRIVER_ONLY) - _broadcasting(evidence)[2], 0.0)
    cost = cost if cost >= max(limits.driver_share * wall_s, limits.driver_s) else 0.0
    cost += first if first >= max(limits.startup_share * wall_s, limits.first_job_s) else 0.0
    if not cost:
        return
    longest, when = _longest_gap(evidence)
    timeout = idle_timeout(longest)
    yield Finding(
        "driver-bound",
        f"No stage runs for {show_seconds(cost)}: only the driver works. The longest stretch takes "
        f"{show_seconds(longest)} and starts {show_seconds(when)} after the start.",
        f"move that code{_between(longest, when, evidence)} into Spark, or run independent jobs in threads."
        + evidence.by_place(
            cluster=f" Release executors meanwhile: spark.dynamicAllocation.enabled=true, {_TIMEOUT}={timeout}.",
            local="",
        ),
        cost,
        cost * evidence.cores.mean_cores / 3600,
        {"share": cost / evidence.wall_s, "longest_s": longest, "longest_starts_s": when},
        values={} if evidence.is_local() else {"spark.dynamicAllocation.enabled": "true", _TIMEOUT: timeout},
    )


def idle_session(evidence: Evidence) -> Iterator[Finding]:
    """Executors that wait for people: a shell, a notebook or a server between two jobs."""
    shape = evidence.facts.shape
    if not evidence.facts.is_interactive or shape.is_local or shape.is_dynamic:
        return
    idle_s = evidence.seconds(Part.DRIVER_ONLY)
    yield Finding(
        "idle-session",
        f"This is an interactive session. Its executors wait {show_seconds(idle_s)} for the next job.",
        f"set spark.dynamicAllocation.enabled=true and {_TIMEOUT}=60s, or stop the session when it is not used.",
        cost_core_hours=idle_s * evidence.cores.mean_cores / 3600,
        evidence={"idle_s": idle_s},
        values={"spark.dynamicAllocation.enabled": "true", _TIMEOUT: "60s"},
    )


def _between(longest_s: float, when_s: float, evidence: Evidence) -> str:
    """The jobs between which the longest stretch is."""
    jobs = evidence.facts.timeline.jobs
    before = max(
        (job for job in jobs if job.ended_s <= when_s + 0.5 * longest_s), key=lambda job: job.ended_s, default=None
    )
    after = next((job for job in jobs if job.started_s >= when_s + 0.5 * longest_s), None)
    told = [f"after job {before.job_id} ({short_name(before.name)})"] if before is not None else []
    told += [f"before job {after.job_id} ({short_name(after.name)})"] if after is not None else []
    return f" ({' and '.join(told)})" if told else ""


def _longest_gap(evidence: Evidence) -> tuple[float, float]:
    """The longest time without a stage since there were executors, and when it began; seconds."""
    span = evidence.attribution.span
    busy = sorted((stage.started_s, stage.started_s + stage.duration_s) for stage in evidence.stages)
    longest, begins = 0.0, 0.0
    until = busy[0][0] - _before_first_job(evidence) if busy else 0.0
    for start, end in [*busy, (span.wall_s, span.wall_s)]:
        if start - until > longest:
            longest, begins = start - until, until
        until = max(until, end)
    return longest, begins


def _before_first_job(evidence: Evidence) -> float:
    """Seconds before the first job in which an executor is there: the program's own."""
    span, first_job = evidence.attribution.span, evidence.facts.span.first_job_ms
    ready = min((one.start_ms for one in evidence.attribution.slots if one.n), default=first_job)
    return min(max(first_job - max(ready, span.start_ms), 0) / 1e3, evidence.seconds(Part.BEFORE_FIRST_JOB))


def large_broadcast(evidence: Evidence) -> Iterator[Finding]:
    sizes, collecting_s, sending_s = _broadcasting(evidence)
    if sizes:
        cost, value = collecting_s + sending_s, size(evidence.thresholds.broadcast_bytes / 10)
        yield Finding(
            "large-broadcast",
            f"{of(len(sizes), 'broadcast')} of up to {show_bytes(max(sizes))}: Spark takes {show_seconds(cost)} to "
            "collect, build and send them.",
            f"set {BROADCAST}={value}, or remove the broadcast hint.",
            cost,
            evidence={"largest_bytes": max(sizes), "broadcasts": float(len(sizes))},
            operator="BroadcastExchange",
            values={BROADCAST: value},
        )


def _broadcasting(evidence: Evidence) -> tuple[list[float], float, float]:
    """The large broadcasts: their sizes, and the seconds of collecting (by tasks) and of building and sending them."""
    found: list[float] = []
    collecting_ms = sending_ms = 0.0
    for execution in evidence.log.sql_executions:
        told = [metric for node in execution.plan if node.name == "BroadcastExchange" for metric in node.metrics]
        sizes = [metric.value or 0.0 for metric in told if metric.name == "data size"]
        large = [one for one in sizes if one > evidence.thresholds.broadcast_bytes]
        if large:
            found += large
            share = len(large) / len(sizes)
            times = [(metric.name, metric.value or 0.0) for metric in told if metric.kind == "timing"]
            collecting_ms += share * sum(value for name, value in times if "collect" in name)
            sending_ms += share * sum(value for name, value in times if "collect" not in name)
    return found, collecting_ms / 1e3, sending_ms / 1e3
