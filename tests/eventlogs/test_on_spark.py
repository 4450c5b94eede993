import os
from pathlib import Path

import pytest

from eventlogs_support import application, as_lines
from sparkcast.eventlogs import LogRead, LogStatus, find_logs, read_logs
from sparkcast.eventlogs.on_spark import read_logs_on_spark


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)  # py4j's sockets
def test_a_spark_job_gives_the_same_rows_as_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from pyspark.sql import SparkSession

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    for number in range(1, 7):
        (tmp_path / f"app-{number}").write_bytes(b"".join(as_lines(application(number))))
    (tmp_path / "readme.txt").write_bytes(b"not a log\n")
    logs = find_logs(tmp_path)

    def run_ms(log: LogRead) -> tuple[str, int]:
        return log.application.app_id, log.tasks.total("run_ms")

    def kill_a_worker(log: LogRead) -> str:
        if log.log.endswith("app-5"):
            os._exit(1)  # as the kernel does when memory is short
        return log.application.app_id

    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        taken = read_logs_on_spark(spark, logs, run_ms)
        spark.sparkContext.setLogLevel("OFF")
        survivors = read_logs_on_spark(spark, logs, kill_a_worker)
    finally:
        spark.stop()
    assert taken == list(read_logs(logs, run_ms, processes=1))
    assert [one.summary.status for one in taken] == [LogStatus.OK] * 6 + [LogStatus.SKIPPED]
    statuses = [LogStatus.OK] * 4 + [LogStatus.FAILED, LogStatus.OK, LogStatus.SKIPPED]
    assert [one.summary.status for one in survivors] == statuses
    assert "task failed" in survivors[4].summary.reason
