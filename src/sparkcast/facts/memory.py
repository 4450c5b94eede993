"""Which memory was too small, by the words of Spark, the JVM, Python and resource managers, and what to set."""

import re
from dataclasses import dataclass

from sparkcast.eventlogs import LogRead
from sparkcast.facts.shape import memory_bytes
from sparkcast.units import show_bytes

_MIB, _GIB = 1024**2, 1024**3
_MORE = 1.5
_LEAST_OVERHEAD = 384 * _MIB  # spark.executor.minMemoryOverhead

_RESULTS = re.compile(r"bigger than spark\.driver\.maxResultSize|exceeds? .*spark\.driver\.maxResultSize")
_BROADCAST = re.compile(r"Not enough memory to build and broadcast|Cannot broadcast the table")
_CONTAINER = re.compile(
    r"Container killed .* memory|OOMKilled|exceeding (?:physical |virtual )?memory limits|"
    r"beyond (?:the )?'?(?:physical|virtual)?'? ?memory limit",
    re.IGNORECASE,
)
_PYTHON = re.compile(r"(?<!Of)\bMemoryError\b|unable to allocate [\d.]+ [KMGT]iB", re.IGNORECASE)
_OFF_HEAP = re.compile(r"Direct buffer memory|Cannot reserve \d+ bytes of direct buffer", re.IGNORECASE)
_HEAP = re.compile(
    r"Java heap space|GC overhead limit|Requested array size|OutOfMemoryError|exit(?:ed with)? code:? 52\b",
    re.IGNORECASE,
)
_OF_A_TASK = re.compile(r"Lost task|ExecutorLostFailure", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MemoryShortage:
    what: str  # that ran out: "an executor ran out of heap memory (4.0 GiB)"
    fix: str


def memory_shortage(log: LogRead) -> MemoryShortage | None:
    """What an application ran out of, if its log says so; containers before heaps, since they kill what is inside."""
    jobs = "\n".join(job.failure for job in log.jobs)
    workers = "\n".join((*(one.removed_reason for one in log.executors), *log.tasks.words["end_detail"]))
    every = f"{jobs}\n{workers}"
    is_local = any(one.executor_id == "driver" for one in log.executors) and len(log.executors) == 1
    if _RESULTS.search(every):
        limit = log.environment.spark.get("spark.driver.maxResultSize", "1g")
        return MemoryShortage(
            f"the results of tasks exceeded spark.driver.maxResultSize ({limit})",
            "collect less (write results instead), or raise spark.driver.maxResultSize and spark.driver.memory.",
        )
    if _BROADCAST.search(every):
        return MemoryShortage(
            "the driver ran out of memory while it built a broadcast",
            f"{_raised('spark.driver.memory', _driver_bytes(log))}, or set spark.sql.autoBroadcastJoinThreshold=-1.",
        )
    if _CONTAINER.search(every):
        return _of_a_container(log)
    if _PYTHON.search(every):
        return MemoryShortage(
            "a Python worker ran out of memory",
            "process fewer rows at a time (more partitions, smaller Arrow batches), "
            f"or {_raised('spark.executor.memoryOverhead', _overhead_bytes(log))}.",
        )
    if _OFF_HEAP.search(every):
        return MemoryShortage(
            "the JVM ran out of off-heap memory (direct buffers)",
            f"{_raised('spark.executor.memoryOverhead', _overhead_bytes(log))}, or fetch fewer blocks concurrently "
            "(spark.reducer.maxReqsInFlight).",
        )
    if not _HEAP.search(every):
        return None
    if is_local or not (_HEAP.search(workers) or _OF_A_TASK.search(jobs)):
        heap = _driver_bytes(log)
        return MemoryShortage(
            f"the driver ran out of heap memory ({show_bytes(heap)})",
            f"{_raised('spark.driver.memory', heap)} (it must be set before the driver starts)"
            + ("." if is_local else ", or collect and broadcast less."),
        )
    heap = _executor_bytes(log)
    return MemoryShortage(
        f"an executor ran out of heap memory ({show_bytes(heap)})",
        f"{_raised('spark.executor.memory', heap)}, use more partitions, or fewer cores per executor.",
    )


def _of_a_container(log: LogRead) -> MemoryShortage:
    overhead = _overhead_bytes(log)
    size = show_bytes(_executor_bytes(log) + overhead)
    return MemoryShortage(
        f"an executor exceeded the memory of its container ({size} with {show_bytes(overhead)} of overhead)",
        f"{_raised('spark.executor.memoryOverhead', overhead)}; the heap itself was large enough.",
    )


def _raised(name: str, size: float) -> str:
    """The setting with half as much again, in whole GiB where that is some."""
    wanted = size * _MORE
    text = f"{-int(-wanted // _GIB)}g" if wanted > _GIB else f"{-int(-wanted // _MIB)}m"
    return f"set {name}={text}"


def _executor_bytes(log: LogRead) -> int:
    heaps = [one.memory_mib * _MIB for one in log.resource_profiles if one.memory_mib]
    return max(heaps, default=0) or memory_bytes(log.environment.spark.get("spark.executor.memory", "1g"))


def _driver_bytes(log: LogRead) -> int:
    return memory_bytes(log.environment.spark.get("spark.driver.memory", "1g"))


def _overhead_bytes(log: LogRead) -> int:
    told = [one.memory_overhead_mib * _MIB for one in log.resource_profiles if one.memory_overhead_mib]
    text = log.environment.spark.get("spark.executor.memoryOverhead", "")
    return max(told, default=0) or memory_bytes(text) or max(_executor_bytes(log) // 10, _LEAST_OVERHEAD)
