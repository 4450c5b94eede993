"""The responses of any Spark application, without its help: the same names for measured and for ingested runs."""

from sparkcast.facts.application import AppFacts
from sparkcast.study import Price
from sparkcast.study.application import (
    CORE_HOURS,
    GIB_HOURS,
    INPUT_BYTES,
    INPUT_RECORDS,
    LAUNCH,
    OUTPUT_BYTES,
    STARTUP_TIME,
    TIME,
    TOTAL_TIME,
    Part,
)
from sparkcast.study.derive import held_cost
from sparkcast.study.names import COST


def responses_of(facts: AppFacts, price: Price | None = None) -> dict[str, float]:
    """Times, what executors were held for, sums over tasks, and the parts of the time; nothing without a Spark job."""
    span, totals = facts.span, facts.totals
    if span.time_s is None:
        return {}
    held = {CORE_HOURS: facts.core_hours.paid, GIB_HOURS: facts.core_hours.gib_hours}
    cost = None if price is None else held_cost(held, price)
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
        **held,
        **({} if cost is None else {COST: cost}),
        LAUNCH: span.launch_s,
        **{part.response: facts.parts[part] for part in Part},
    }
