"""A query of TPC-DS on generated tables, its rows checked against DuckDB's answer."""

import re
import time
from collections.abc import Mapping
from pathlib import Path

from sparkcast.errors import RunError, StudyError
from sparkcast.workloads.base import (
    TIME,
    WORK,
    WORKLOADS,
    Configuration,
    Job,
    Kind,
    Response,
    Role,
    Setting,
    require_extra,
)
from sparkcast_papers.workloads import _tpcds

_QUERIES = 99
_SMALLEST, _LARGEST = 0.01, 100_000  # DuckDB 1.5's generator hangs at 0.005; TPC-DS defines nothing above


@WORKLOADS.register("tpcds")
class TpcDs:
    """Runs a query of TPC-DS on tables of any scale and checks its rows."""

    settings: tuple[Setting, ...] = (
        # A name rather than a number: query 40 is not more than query 26.
        Setting("query", "q26", f"the query, written q1 to q{_QUERIES}"),
        Setting(
            "scale",
            0.01,
            f"scale factor, {_SMALLEST} or more: about this many GB of raw data",
            minimum=_SMALLEST,
            role=Role.DATA_SIZE,
        ),
        Setting("shuffle_partitions", 200, "tasks after a shuffle, at most", minimum=1),
    )
    responses: tuple[Response, ...] = (TIME, WORK, Response("rows", kind=Kind.COUNT))
    example: Mapping[str, object] = {
        "query": ["q26", "q40", "q52"],
        "scale": [0.01, 0.1],
        "executors": [1, 2],
        "shuffle_partitions": 8,
    }

    def check(self, settings: Configuration) -> None:
        query, scale = str(settings["query"]), float(settings["scale"])
        if not re.fullmatch(r"q[1-9][0-9]?", query):
            raise StudyError(f"query = {query!r} is not a query of TPC-DS", hint=f"write q1 to q{_QUERIES}")
        if not scale <= _LARGEST:
            raise StudyError(f"scale = {scale:g} is more than TPC-DS defines", hint=f"use up to {_LARGEST}")

    def prepare(self, settings: Configuration, data_dir: Path) -> str:
        require_extra("tpcds", ("duckdb", "duckdb_extension_tpcds"), needed_by="workload 'tpcds'")
        tables = _tables(settings, data_dir)
        _tpcds.generate_tables(tables, float(settings["scale"]))
        _tpcds.find_answer(str(settings["query"]), tables)
        return tables.name

    def spark_conf(self, settings: Configuration) -> Mapping[str, str]:
        return {"spark.sql.shuffle.partitions": str(settings["shuffle_partitions"])}

    def run(self, job: Job) -> None:
        from pyspark.sql import SparkSession

        tables, query = _tables(job.settings, job.data_dir), str(job.settings["query"])
        answer = _tpcds.read_answer(query, tables)
        session = SparkSession(job.spark_context())
        for table in answer.tables:
            session.read.parquet((tables / f"{table}.parquet").as_uri()).createOrReplaceTempView(table)
        job.started()
        start = time.perf_counter()
        rows = session.sql(answer.query).collect()
        time_s = time.perf_counter() - start
        if difference := answer.difference(rows):
            raise RunError(
                f"{query} gave another answer than DuckDB: {difference}", hint=f"delete {tables} if it is damaged"
            )
        job.result(work_s=time_s, rows=len(rows))


def _tables(settings: Configuration, data_dir: Path) -> Path:
    return data_dir.resolve() / f"tpcds-{float(settings['scale'])}"
