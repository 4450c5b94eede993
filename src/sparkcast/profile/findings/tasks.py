"""What tasks spend time on beside their work: spill, garbage collection, failures, slow hosts, Python."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from sparkcast.eventlogs import Stage
from sparkcast.facts.attribution import Slots
from sparkcast.facts.operators import functions
from sparkcast.facts.parts import Seconds
from sparkcast.facts.shape import lost_executors
from sparkcast.facts.stages import StageFacts
from sparkcast.profile.findings.base import RUN, Evidence, Finding, costliest, ids, named, of, part_of, stages_have
from sparkcast.profile.findings.joins import spilled_for_a_join
from sparkcast.profile.findings.values import (
    PARTITIONS,
    as_fix,
    heap_setting,
    more_memory,
    overhead,
    set_,
    times_for_spill,
)
from sparkcast.study.application import Part
from sparkcast.study.redaction import redact_text
from sparkcast.units import show_bytes, show_percent, show_seconds

_SETTING = re.compile(r"(spark\.[\w.]+)=([\w-]+)")
_MULTIPLIER, _QUANTILE = 3.0, 0.9  # of speculation, as Spark 4 has them
_HEAP_FOR_GC = 2.0  # times as large: then what lives fills half of it at most
_PACKED_PER_S = 200e6  # bytes that one core compresses with LZ4, reads back and merges in a second


def spill(evidence: Evidence) -> Iterator[Finding]:
    """Memory was short, so that sorting and joining went over the disk."""
    of_joins = spilled_for_a_join(evidence)
    stages = [stage for stage in evidence.stages if stage.spilled_bytes > 0 and stage.stage_id not in of_joins]
    if not stages:
        return
    worst = costliest(stages, _spilling)
    times = times_for_spill(worst[0], evidence)
    n, memory = str(math.ceil(worst[0].n_tasks * times)), more_memory(evidence, times)
    name = PARTITIONS if worst[0].shuffle_read_bytes and worst[0].operator else "repartition"
    total = sum(stage.spilled_bytes for stage in stages)
    cost = sum(map(_spilling, stages))
    yield Finding(
        "spill",
        f"{show_bytes(total)} spilled to disk in {named(worst)}, where a task reads "
        f"{show_bytes(worst[0].median_bytes)} (median).",
        as_fix(name, n) + (f", or {set_(heap_setting(evidence), memory)}." if memory else "."),
        cost,
        evidence={"spilled_bytes": total, "median_bytes": worst[0].median_bytes},
        stage_ids=ids(worst),
        operator=worst[0].operator,
        values={name: n, **({heap_setting(evidence): memory} if memory else {})},
    )


def _spilling(stage: StageFacts) -> float:
    """Seconds: the part of the time that no metric explains, and the CPU time of packing and unpacking."""
    packing = min(stage.memory_spilled_bytes / _PACKED_PER_S * stage.of_wall, part_of(stage, Part.CPU))
    return part_of(stage, Part.SPILL) + packing


def gc_pressure(evidence: Evidence) -> Iterator[Finding]:
    share = evidence.thresholds.gc_share
    stages = [stage for stage in evidence.stages if part_of(stage, Part.GC) >= share * max(part_of(stage, *RUN), 1e-9)]
    cost = sum(part_of(stage, Part.GC) for stage in stages)
    if not stages or cost <= 0:
        return
    worst = costliest(stages, lambda stage: part_of(stage, Part.GC))
    memory = more_memory(evidence, _HEAP_FOR_GC)
    of_run = cost / sum(part_of(stage, *RUN) for stage in stages)
    yield Finding(
        "gc-pressure",
        f"Garbage collection takes {show_percent(of_run)} of the tasks' run time in {named(worst)}.",
        f"{set_(heap_setting(evidence), memory)}, or cache less.",
        cost,
        evidence={"share_of_run_time": of_run},
        stage_ids=ids(worst),
        operator=worst[0].operator,
        values={heap_setting(evidence): memory},
    )


def lost_work(evidence: Evidence) -> Iterator[Finding]:
    """Tasks that failed, were killed or were recomputed; executors that died; memory that ran out."""
    lost, tasks = evidence.attribution.times.is_lost, evidence.log.tasks
    dead = lost_executors(evidence.log)
    gone = [one for one in evidence.attribution.slots if one.executor in dead]
    failed = [job for job in evidence.log.jobs if job.succeeded is False and "cancelled" not in job.failure.lower()]
    if not lost.any() and not gone and not failed:
        return
    n_lost, copies = int(lost.sum()), int((lost & tasks.flags("is_speculative")).sum())
    without_s = _missing_slots(evidence, gone)
    cost = evidence.seconds(Part.LOST) + without_s
    shortage = evidence.facts.shortage
    name = "executor-lost" if gone else "speculation" if copies * 2 > n_lost and not failed else "failed-tasks"
    name = name if shortage is None else "out-of-memory"
    yield Finding(
        name,
        " ".join(_losses(evidence, gone, len(failed), n_lost, without_s)),
        _against_loss(name, evidence) if shortage is None else shortage.fix,
        cost,
        evidence.cores.lost,
        {
            "lost_tasks": float(n_lost),
            "speculative": float(copies),
            "lost_slots_s": without_s,
            "died": float(len(gone)),
            "failed_jobs": float(len(failed)),
        },
        tuple(np.unique(tasks["stage_id"][lost]).tolist()),
        is_failure=name != "speculation",
        is_news=bool(gone or failed or shortage),
        values=_values_against_loss(name, evidence),
    )


def _losses(evidence: Evidence, gone: Sequence[Slots], n_failed: int, n_lost: int, without_s: float) -> Iterator[str]:
    """What was lost, in sentences."""
    if evidence.facts.shortage is not None:
        what = evidence.facts.shortage.what
        yield f"{what[0].upper()}{what[1:]}."
    if gone:
        yield f"{of(len(gone), 'executor')} died ({_first_line(gone[0].executor.removed_reason)})."
    if n_failed:
        yield f"{n_failed} of {of(len(evidence.log.jobs), 'job')} failed."
    if n_lost:
        yield f"{of(n_lost, 'task')} wasted {show_seconds(evidence.seconds(Part.LOST))}{_reasons(evidence)}."
    if without_s >= 0.1:
        yield f"Slots were missing for {show_seconds(without_s)}."


def _against_loss(name: str, evidence: Evidence) -> str:
    told = ", ".join(f"{setting}={value}" for setting, value in _values_against_loss(name, evidence).items())
    if name == "speculation":
        return f"start fewer copies: set {told}."
    if name == "executor-lost":
        return (
            f"find out why executors die. If their container had too little memory, set {told}; keep off spot machines."
        )
    where = evidence.by_place(cluster="executor logs have", local="log has")
    return f"correct what fails{_first_failure(evidence)}; the {where} the stack trace."


def _values_against_loss(name: str, evidence: Evidence) -> dict[str, str]:
    if name == "speculation":
        return {"spark.speculation.multiplier": f"{_MULTIPLIER:g}", "spark.speculation.quantile": f"{_QUANTILE:g}"}
    if evidence.facts.shortage is not None:
        return dict(_SETTING.findall(evidence.facts.shortage.fix))
    return {"spark.executor.memoryOverhead": overhead(evidence)} if name == "executor-lost" else {}


def _first_failure(evidence: Evidence) -> str:
    """The stage in which the first task failed."""
    lost, tasks = evidence.attribution.times.is_lost, evidence.log.tasks
    failed = lost & (tasks.text("end_reason") != "Success")
    if not failed.any():
        return ""
    row = int(np.flatnonzero(failed)[tasks["finish_ms"][failed].argmin()])
    key = int(tasks["stage_id"][row]), int(tasks["stage_attempt"][row])
    stage = next((one for one in evidence.stages if one.key == key), None)
    return "" if stage is None else f" in {stage.label} ({stage.short_name})"


def _reasons(evidence: Evidence) -> str:
    """Why tasks were in vain, the most common reasons first."""
    lost, tasks = evidence.attribution.times.is_lost, evidence.log.tasks
    reasons = Counter("recomputed" if text == "Success" else text for text in tasks.text("end_reason")[lost].tolist())
    details = Counter(text for text in tasks.text("end_detail")[lost].tolist() if text)
    told = [f"{count:,} {reason}" for reason, count in reasons.most_common(3)]
    told += [f"most often: {_first_line(details.most_common(1)[0][0])}"] if details else []
    return f" ({', '.join(told)})" if told else ""


def _missing_slots(evidence: Evidence, gone: Sequence[Slots]) -> float:
    """Seconds lost until another executor came in the place of one that died, or the last job ended."""
    last = evidence.facts.span.last_job_ms or evidence.facts.span.end_ms
    total = 0.0
    starts = sorted(one.start_ms for one in evidence.attribution.slots)
    for one in gone:
        following = next((start for start in starts if start >= one.end_ms), last)
        total += max(min(following, last) - one.end_ms, 0) / 1e3 * one.n / evidence.n_slots
    return total


def _first_line(text: str) -> str:
    return (redact_text(text).splitlines() or [""])[0][:90]


def slow_host(evidence: Evidence) -> Iterator[Finding]:
    """One host on which the same tasks take longer than on the others."""
    tasks, limits = evidence.log.tasks, evidence.thresholds
    host = tasks.texts["host"].astype(np.int64)
    if len(np.unique(host)) < 2:
        return
    took = (evidence.attribution.times.finish - evidence.attribution.times.launch) / 1e3
    usual = _stage_medians(evidence)
    known = (usual > 0) & ~evidence.attribution.times.is_lost
    for code in np.unique(host[known]):
        here, there = known & (host == code), known & (host != code)
        if here.sum() < limits.host_tasks or there.sum() < limits.host_tasks:
            continue
        ratio = float(
            np.median((took / np.maximum(usual, 1e-9))[here]) / np.median((took / np.maximum(usual, 1e-9))[there])
        )
        if ratio < limits.host_ratio:
            continue
        more_s = float(took[here].sum()) * (1 - 1 / ratio)
        yield Finding(
            "slow-host",
            f"The {of(int(here.sum()), 'task')} on host {tasks.words['host'][int(code)]} take {ratio:.1f} times as "
            "long as tasks of the same stages elsewhere.",
            f"check {tasks.words['host'][int(code)]} (disk, noisy neighbors, CPU frequency) or remove it. "
            "spark.speculation=true starts copies of its tasks elsewhere.",
            more_s / evidence.n_slots,
            more_s / 3600,
            {"ratio": ratio, "tasks": float(here.sum())},
            values={"host": tasks.words["host"][int(code)]},
        )


def _stage_medians(evidence: Evidence) -> Seconds:
    medians = {stage.key: stage.median_task_s for stage in evidence.stages}
    tasks = evidence.log.tasks
    pairs = zip(tasks["stage_id"].tolist(), tasks["stage_attempt"].tolist(), strict=True)
    return np.array([medians.get(pair, 0.0) for pair in pairs])


def python_workers(evidence: Evidence) -> Iterator[Finding]:
    """Time that the JVM waited for Python, row by row. Spark's own functions or Arrow do the same many times faster."""
    stages = [stage for stage in evidence.stages if _is_row_by_row(stage, evidence.logged.get(stage.key))]
    cost = sum(part_of(stage, Part.UNINSTRUMENTED) for stage in stages)
    if cost < evidence.thresholds.python_share * evidence.wall_s:
        return
    worst = costliest(stages, lambda stage: part_of(stage, Part.UNINSTRUMENTED))
    names = list(dict.fromkeys(name for stage in worst for name in _functions_of(stage, evidence)))[:_MOST_NAMES]
    called = f" ({', '.join(names)})" if names else f" ({worst[0].short_name})"
    version = evidence.facts.application.spark_version
    is_old = version.startswith(("2.", "3.0", "3.1", "3.2", "3.3", "3.4"))
    has_arrow = bool(names) and not is_old and evidence.setting(_BY_ARROW, "false") != "true"
    yield Finding(
        "python-workers",
        f"{stages_have(worst)} row-by-row Python functions{called}, which take {show_seconds(cost)} outside the JVM.",
        (f"{set_(_BY_ARROW, 'true')}, which sends rows in batches, or write " if has_arrow else "write ")
        + (f"{' and '.join(names)} with " if names else "them with ")
        + "Spark's own functions or pandas_udf.",
        cost,
        evidence={"share": cost / evidence.wall_s},
        stage_ids=ids(worst),
        operator=worst[0].operator,
        values={_BY_ARROW: "true"} if has_arrow else {"functions": ", ".join(names) or worst[0].short_name},
    )


def _functions_of(stage: StageFacts, evidence: Evidence) -> list[str]:
    plan = evidence.facts.plans.get(stage.key)
    nodes = plan.nodes if plan is not None else ()
    return [name for node in nodes if "BatchEvalPython" in node.name for name in functions(node)]


_BY_ARROW = "spark.sql.execution.pythonUDF.arrow.enabled"  # since Spark 3.5
_MOST_NAMES = 4
_ARROW = ("Arrow", "InPandas")
_UDF = "BatchEvalPython"  # of a query
_RECORD_S = 1e-3  # Python has a hundred thousand steps in that


def is_python(stage: Stage | None) -> bool:
    return any("Python" in name or _is_arrow(name) for name in _operators(stage))


def _is_row_by_row(stage: StageFacts, logged: Stage | None) -> bool:
    """Of RDDs nobody knows what Python does with them. Where a record takes long, it is no plain function of rows."""
    if not is_python(logged) or any(map(_is_arrow, _operators(logged))):
        return False
    return any(_UDF in name for name in _operators(logged)) or stage.task_s < _RECORD_S * stage.records_read


def _is_arrow(name: str) -> bool:
    return any(word in name for word in _ARROW)


def _operators(stage: Stage | None) -> tuple[str, ...]:
    if stage is None:
        return ()
    return (*(text for rdd in stage.rdds for text in (rdd.name, rdd.scope)), *stage.accumulators)
