"""Building a spark-submit command."""

import sys
from collections.abc import Mapping
from pathlib import Path

from sparkcast.engines import SparkJob, Submission
from sparkcast.engines._distribution import Distribution
from sparkcast.engines._java import Java


def build_submission(
    job: SparkJob,
    master: str,
    spark: Distribution,
    java: Java,
    *,
    env: Mapping[str, str] | None = None,
    properties: Path | None = None,
) -> Submission:
    argv = [str(spark.home / "bin" / "spark-submit"), "--master", master, "--name", job.name]
    if properties:
        argv += ["--properties-file", str(properties)]
    for key, value in sorted(job.conf.items()):
        argv += ["--conf", f"{key}={value}"]
    argv += [str(job.application), *job.arguments]
    base = {
        "JAVA_HOME": str(java.home),
        "SPARK_HOME": str(spark.home),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    return Submission(tuple(argv), base | dict(env or {}))
