"""Logs read by a cluster: `spark_job.py`, submitted to any master with sparkcast itself in its luggage."""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import sparkcast
from sparkcast.data.ingest import spark_job
from sparkcast.data.ingest.applications import ObservedLog
from sparkcast.data.ingest.reading import LogQuery, Reader
from sparkcast.engines import SparkJob, engine_for
from sparkcast.engines.conf import join_conf
from sparkcast.engines.handle import wait_for
from sparkcast.errors import RunError
from sparkcast.eventlogs import Log, Taken
from sparkcast.study import SparkOptions

_LAST_LINES = 5


def reader_on(options: SparkOptions) -> Reader:
    """A reader that reads on this cluster.

    Raises:
        RunError: the cluster cannot be reached, or its job failed as a whole.
    """

    def read(logs: Sequence[Log], reading: LogQuery) -> list[Taken[ObservedLog | None]]:
        if not logs:
            return []
        with tempfile.TemporaryDirectory(prefix="sparkcast-") as name:
            return _read(options, [_absolute(log) for log in logs], reading, Path(name))

    return read


def _read(options: SparkOptions, logs: list[Log], reading: LogQuery, folder: Path) -> list[Taken[ObservedLog | None]]:
    request, result, package = folder / "request.json", folder / "result.json", folder / "sparkcast.zip"
    spark_job.write_request(request, logs, reading)
    _pack(package)
    engine = engine_for(options)
    engine.capacity([])
    with engine:
        job = SparkJob(
            Path(spark_job.__file__),
            (str(request), str(result)),
            join_conf(engine.defaults(), options.conf),
            "sparkcast ingest",
            ("--py-files", str(package)),
        )
        end = wait_for(engine.start(engine.submission(job), folder / "driver.log"))  # Ctrl-C stops it
    if end.code != 0 or not result.exists():
        lines = [line for line in (folder / "driver.log").read_text("utf-8", "replace").splitlines() if line.strip()]
        raise RunError(
            f"the Spark job that reads the logs failed (exit code {end.code}): " + " | ".join(lines[-_LAST_LINES:]),
            hint="is sparkcast's Python on all executors (`conf={'spark.pyspark.python': ...}`)? Without "
            "`engine='spark'` this machine reads the logs",
        )
    return spark_job.read_result(result)


def _absolute(log: Log) -> Log:
    """Its files as executors find them, whatever folder they run in; its name as it was given."""
    return replace(log, files=tuple(file if "://" in file else str(Path(file).absolute()) for file in log.files))


def _pack(package: Path) -> None:
    """This sparkcast as a file that Python imports from."""
    root = Path(sparkcast.__file__).parent
    with ZipFile(package, "w", ZIP_DEFLATED) as archive:
        for file in sorted(root.rglob("*.py")):
            archive.write(file, Path(root.name) / file.relative_to(root))
