"""Thousands of logs as a Spark job: executors read as this machine would, and only what was made of a log comes back.

Executors need Python with what the reader imports (numpy, msgspec, and zstandard for logs of that kind) and
sparkcast itself, which `ingest` sends along. They must see the logs where `find_logs` saw them: a shared folder, or
URLs with their fsspec package.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from sparkcast.eventlogs.layout import Log
from sparkcast.eventlogs.limits import LogLimits
from sparkcast.eventlogs.parallel import Taken, failed, take
from sparkcast.eventlogs.result import LogRead

T = TypeVar("T")


def read_logs_on_spark(
    spark: Any, logs: Iterable[Log], make: Callable[[LogRead], T], *, limits: LogLimits | None = None
) -> list[Taken[T]]:
    """The same rows in the same order as `read_logs`, read by the executors of a SparkSession, a task for each log.

    A log that kills its executor every time makes Spark give up the whole job. Then both halves are read on their own,
    and so on, until that log is alone: it has failed, and all others are read.
    """
    given = list(logs)
    if not given:
        return []
    tasks = spark.sparkContext.parallelize(given, len(given))
    try:
        taken: list[Taken[T]] = tasks.map(lambda log: take(log, make, limits)).collect()
        return taken
    except Exception as error:
        if _is_gone(spark):
            raise
        if len(given) == 1:
            return [failed(given[0], f"its task failed: {_first_line(error)}")]
    half = len(given) // 2
    return [
        *read_logs_on_spark(spark, given[:half], make, limits=limits),
        *read_logs_on_spark(spark, given[half:], make, limits=limits),
    ]


def _is_gone(spark: Any) -> bool:
    """Whether there is no cluster any more to ask again."""
    try:
        return bool(spark.sparkContext._jsc.sc().isStopped())
    except Exception:  # not even the driver's JVM
        return True


def _first_line(error: Exception) -> str:
    """Of an error of the JVM, the message behind the name of the call that failed."""
    lines = [line.strip(" :") for line in str(error).splitlines() if line.strip(" :")]
    told = next((line for line in lines if "SparkException" in line or "Error" in line), lines[0] if lines else "")
    return told or type(error).__name__
