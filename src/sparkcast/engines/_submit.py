"""Building a spark-submit command."""

import sys
from collections.abc import Mapping

from sparkcast.engines import SparkJob, Submission
from sparkcast.engines._installation import SparkInstallation
from sparkcast.engines._java import Java
from sparkcast.study.redaction import split_secrets


def build_submission(
    job: SparkJob,
    master: str,
    spark: SparkInstallation,
    java: Java,
    *,
    env: Mapping[str, str] | None = None,
) -> Submission:
    argv = [str(spark.home / "bin" / "spark-submit"), "--master", master, "--name", job.name, *job.options]
    conf, secrets = split_secrets(job.conf)
    for key, value in sorted(conf.items()):
        argv += ["--conf", f"{key}={value}"]
    argv += [str(job.application), *job.arguments]
    base = {
        "JAVA_HOME": str(java.home),
        "SPARK_HOME": str(spark.home),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    environment = base | dict(job.environment) | dict(env or {})
    return Submission(
        tuple(argv), environment, secrets, job.properties_file, directory=job.directory, output=job.output
    )
