"""How much an application read from outside and wrote, and where it read from.

Spark counts a block that a task takes from the cache as input too. Such reads are left out: they repeat what came from
outside once.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparkcast.eventlogs import LogRead, PlanNode, Rdd, Stage
from sparkcast.study.redaction import redact_text

_LOCATION = re.compile(r"\[([^\]]*)\]?")  # InMemoryFileIndex(1 paths)[hdfs:/data/orders]
_MADE_HERE = ("ParallelCollectionRDD", "EmptyRDD")  # roots that read nothing from outside


@dataclass(frozen=True, slots=True)
class InputSource:
    """One place that an SQL query or an RDD read from. Numbers are None where the log does not record them."""

    path: str
    format: str = ""
    files: int | None = None
    bytes: int | None = None  # of the files that were read, whatever columns were wanted
    records: int | None = None


@dataclass(frozen=True, slots=True)
class Volume:
    """What tasks moved that were not in vain."""

    bytes: int = 0
    records: int = 0
    sources: tuple[InputSource, ...] = ()
    is_upper_bound: bool = False  # some stage read the cache and the outside at once, which the log counts together


def input_of(log: LogRead, is_lost: NDArray[np.bool_]) -> Volume:
    from_cache, mixed = _reads_of_cache(log)
    stage_ids = log.tasks["stage_id"]
    counted = ~is_lost & ~np.isin(stage_ids, np.fromiter(from_cache, dtype=np.int64))
    in_mixed = counted & np.isin(stage_ids, np.fromiter(mixed, dtype=np.int64))
    return Volume(
        int(log.tasks["input_bytes"][counted].sum()),
        int(log.tasks["input_records"][counted].sum()),
        tuple(_sources(log)),
        bool(log.tasks["input_bytes"][in_mixed].any()),
    )


def output_of(log: LogRead, is_lost: NDArray[np.bool_]) -> Volume:
    return Volume(int(log.tasks["output_bytes"][~is_lost].sum()), int(log.tasks["output_records"][~is_lost].sum()))


# ---------------------------------------------------------------- the cache


def _reads_of_cache(log: LogRead) -> tuple[set[int], set[int]]:
    """Stages whose input is all from the cache, and stages whose input is partly from it."""
    cached: set[int] = set()  # RDDs that an earlier stage has put there
    from_cache: set[int] = set()
    mixed: set[int] = set()
    for stage in sorted(log.stages, key=lambda stage: (stage.submitted_ms, stage.stage_id)):
        reads_cache, reads_outside = _reads(stage, cached)
        if reads_cache:
            (mixed if reads_outside else from_cache).add(stage.stage_id)
        cached |= {rdd.rdd_id for rdd in stage.rdds if rdd.is_cached}
    return from_cache, mixed


def _reads(stage: Stage, cached: set[int]) -> tuple[bool, bool]:
    """Whether a stage reads RDDs that were cached before it, and whether it reads from outside."""
    by_id = {rdd.rdd_id: rdd for rdd in stage.rdds}
    parents = {parent for rdd in stage.rdds for parent in rdd.parent_ids}
    queue, seen = [number for number in by_id if number not in parents], set[int]()
    reads_cache = reads_outside = False
    while queue:
        number = queue.pop()
        if number in seen or number not in by_id:  # what is not here was read through a shuffle
            continue
        seen.add(number)
        if number in cached:
            reads_cache = True
        elif by_id[number].parent_ids:
            queue += by_id[number].parent_ids
        else:
            reads_outside |= _is_outside(by_id[number])
    return reads_cache, reads_outside


def _is_outside(root: Rdd) -> bool:
    return not root.name.startswith(_MADE_HERE)


# ---------------------------------------------------------------- where it came from


def _sources(log: LogRead) -> Iterator[InputSource]:
    """Each place once, in the order in which queries read it; what one query reads twice counts twice."""
    found: dict[tuple[str, str], list[PlanNode]] = {}
    for query in log.sql_executions:
        for scan in query.scans:
            found.setdefault((_path(scan), scan.metadata.get("Format", "")), []).append(scan)
    for (path, form), scans in found.items():
        yield InputSource(
            path,
            form,
            _sum(scans, "number of files read"),
            _sum(scans, "size of files read"),
            _sum(scans, "number of output rows"),
        )
    names = (rdd.name for stage in log.stages for rdd in stage.rdds if not rdd.parent_ids and _is_path(rdd.name))
    yield from (InputSource(redact_text(name)) for name in dict.fromkeys(names))


def _path(scan: PlanNode) -> str:
    match = _LOCATION.search(scan.metadata.get("Location", ""))
    return redact_text(match[1] if match else scan.name)


def _is_path(name: str) -> bool:
    """RDDs of files are called by their path."""
    return "/" in name


def _sum(scans: list[PlanNode], metric: str) -> int | None:
    values = [value for scan in scans if (value := scan.value(metric)) is not None]
    return int(sum(values)) if values else None
