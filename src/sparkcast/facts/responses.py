"""The responses of any Spark application, without its help: the same names for measured and for ingested runs."""

from sparkcast.facts.application import AppFacts
from sparkcast.study import Price
from sparkcast.study.application import (
    CORE_HOURS,
    INPUT_BYTES,
    INPUT_RECORDS,
    LAUNCH,
    OUTPUT_BYTES,
    STARTUP_TIME,
    TIME,
    TOTAL_TIME,
    Part,
)
from sparkcast.study.names import COST


def responses_of(facts: AppFacts, price: Price | None = None) -> dict[str, float]:
    """Times, what executors were held for, sums over tasks, and the parts of the time; nothing without a Spark job."""
    span, totals = facts.span, facts.totals
    if span.time_s is None:
        return {}
    held = facts.core_hours
    cost = {} if price is None else {COST: price.core_hour * held.paid + price.gib_hour * held.gib_hours}
    return {
        TIME: span.time_s,
        TOTAL_TIME: span.total_s,
        STARTUP_TIME: (span.first_job_ms - (span.submitted_ms or span.start_ms)) / 1e3,
        "task_s": totals.run_s,
        "cpu_s": totals.cpu_s,
        "gc_s": totals.gc_s,
        "task_count": float(totals.tasks),
        "stage_count": float(totals.stages),
        "shuffle_read_bytes": float(totals.shuffle_read_bytes),
        "shuffle_write_bytes": float(totals.shuffle_write_bytes),
        "spilled_bytes": float(totals.spilled_bytes),
        INPUT_BYTES: float(facts.input.bytes),
        INPUT_RECORDS: float(facts.input.records),
        OUTPUT_BYTES: float(facts.output.bytes),
        CORE_HOURS: held.paid,
        **cost,
        LAUNCH: span.launch_s,
        **{part.response: facts.parts[part] for part in Part},
    }
