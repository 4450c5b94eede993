"""The file that spark-submit runs for `ingest --engine spark`: logs in, what is kept of them out.

    spark-submit --py-files sparkcast.zip [options] spark_job.py REQUEST.json RESULT.json

REQUEST.json holds `logs` and `reading`; RESULT.json a row for each log, in the same order: `summary` and `made`.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any


def _forget_own_folder() -> None:
    """Take the script's folder, with its short names, off the path."""
    here = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != here]


if __name__ == "__main__":
    _forget_own_folder()

from sparkcast.data.ingest.reading import Reading  # noqa: E402
from sparkcast.eventlogs import Application, Counts, Log, LogStatus, LogSummary, Taken  # noqa: E402
from sparkcast.study import IngestedRun  # noqa: E402


def write_request(path: Path, logs: "list[Log]", reading: Reading) -> None:
    path.write_text(json.dumps({"logs": [asdict(log) for log in logs], "reading": reading.as_plain()}), "utf-8")


def read_result(path: Path) -> list[Taken[IngestedRun | None]]:
    return [_taken(row) for row in json.loads(path.read_text("utf-8"))]


def _taken(row: dict[str, Any]) -> Taken[IngestedRun | None]:
    plain = row["summary"]
    plain |= {"counts": Counts(**plain["counts"]), "application": Application(**plain["application"])}
    made = None if row["made"] is None else IngestedRun.from_plain(row["made"])
    return Taken(LogSummary(**{**plain, "status": LogStatus(plain["status"])}), made)


def write_result(path: Path, taken: "list[Taken[IngestedRun | None]]") -> None:
    rows = [{"summary": asdict(one.summary), "made": None if one.made is None else asdict(one.made)} for one in taken]
    path.write_text(json.dumps(rows), "utf-8")


def main(request: Path, result: Path) -> None:
    from pyspark.sql import SparkSession

    from sparkcast.eventlogs.on_spark import read_logs_on_spark

    asked = json.loads(request.read_text("utf-8"))
    logs = [Log(**{**log, "files": tuple(log["files"])}) for log in asked["logs"]]
    spark = SparkSession.builder.getOrCreate()
    try:
        taken = read_logs_on_spark(spark, logs, Reading.from_plain(asked["reading"]).keep)
    finally:
        spark.stop()
    write_result(result, taken)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
