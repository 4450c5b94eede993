"""The file that spark-submit runs for `ingest --engine spark`: logs in, what is kept of them out.

    spark-submit --py-files sparkcast.zip [options] spark_job.py REQUEST.json RESULT.json

REQUEST.json holds `logs` and `reading`; RESULT.json a row for each log, in the same order: `summary` and `made`.
"""

import sys
from pathlib import Path


def _forget_own_folder() -> None:
    """Take the script's folder, with its short names, off the path."""
    here = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != here]


if __name__ == "__main__":
    _forget_own_folder()

from sparkcast.data.ingest.applications import ObservedLog  # noqa: E402
from sparkcast.data.ingest.reading import LogQuery  # noqa: E402
from sparkcast.eventlogs import Log, Taken  # noqa: E402
from sparkcast.plain import from_json, from_plain, to_json  # noqa: E402


def write_request(path: Path, logs: list[Log], reading: LogQuery) -> None:
    path.write_bytes(to_json({"logs": logs, "reading": reading}))


def read_result(path: Path) -> list[Taken[ObservedLog | None]]:
    return from_plain(list[Taken[ObservedLog | None]], from_json(path.read_bytes()))


def write_result(path: Path, taken: list[Taken[ObservedLog | None]]) -> None:
    path.write_bytes(to_json(taken))


def main(request: Path, result: Path) -> None:
    from pyspark.sql import SparkSession

    from sparkcast.eventlogs.on_spark import read_logs_on_spark

    asked = from_json(request.read_bytes())
    logs = from_plain(list[Log], asked["logs"])
    spark = SparkSession.builder.getOrCreate()
    try:
        taken = read_logs_on_spark(spark, logs, LogQuery.from_plain(asked["reading"]).observe)
    finally:
        spark.stop()
    write_result(result, taken)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
