"""Whether a person sat at an application: shells, notebooks and servers run whatever is typed, and are no job.

What they did in all says nothing about how long a job takes: their times are those of people who think.
"""

import re

from sparkcast.eventlogs import LogRead

_PAUSE_MS = 30_000  # between Spark jobs: a program seldom waits so long for nothing
_FEWEST_PAUSES = 3
# The main class of the driver, or the name that a tool gives its application, and what that is called.
_PROGRAMS = {
    "org.apache.spark.repl.Main": "spark-shell",
    "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2": "the Thrift server",
    "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver": "spark-sql",
    "org.apache.spark.sql.connect.service.SparkConnectServer": "the Spark Connect server",
    "org.apache.zeppelin": "Zeppelin",
    "org.apache.livy.repl": "a Livy session",
    "org.apache.livy.rsc": "a Livy session",
    "org.apache.toree": "Toree",
    "almond.": "Almond",
    "sparkr-shell": "the SparkR shell",
    "-name PySparkShell": "the pyspark shell",
    "kyuubi.engine": "Kyuubi",
}
_NAMES = {
    r"spark shell": "spark-shell",
    r"pysparkshell": "the pyspark shell",
    r"sparkr": "the SparkR shell",
    r"sparksql::.*": "spark-sql",
    r"thrift jdbc/odbc server": "the Thrift server",
    r"spark connect server": "the Spark Connect server",
    r"zeppelin\b.*": "Zeppelin",
    r"livy-session-\d+.*": "a Livy session",
    r"databricks shell": "a Databricks notebook",
    r"sparklyr": "sparklyr",
    r"apache toree": "Toree",
    r"kyuubi_.*": "Kyuubi",
}
_SCRIPT = re.compile(r"\s-(?:f|e|i|I)\s")  # a file or a text for a shell to run: then it is a job
_HINT = re.compile(r"pyspark-shell|jupyter|ipykernel|notebook", re.IGNORECASE)
_CLUSTER_NAME = "spark.databricks.clusterUsageTags.clusterName"


def interactive_program(log: LogRead) -> str:
    """The shell, notebook or server that an application is, as people call it; "" of a job."""
    command, name = log.environment.command_line, log.application.name.strip()
    if _SCRIPT.search(command) or log.environment.spark.get(_CLUSTER_NAME, "").startswith("job-"):
        return ""
    for start, program in _PROGRAMS.items():
        if start in command:
            return program
    for pattern, program in _NAMES.items():
        if re.fullmatch(pattern, name, re.IGNORECASE):
            return program
    if "spark.repl.class.uri" in log.environment.spark or "spark.repl.class.outputDir" in log.environment.spark:
        return "a shell"
    # Programs that are started by `python` are called alike: only long pauses tell them from notebooks, or that they
    # never ended, since a script ends its session when it does.
    is_open = command.endswith("pyspark-shell") and not log.application.has_ended
    return "a notebook or shell" if is_open or (_HINT.search(f"{command} {name}") and _has_pauses(log)) else ""


def is_interactive(log: LogRead) -> bool:
    return bool(interactive_program(log))


def _has_pauses(log: LogRead) -> bool:
    """Whether Spark mostly waited, several times, between its first job and its last."""
    jobs = sorted((job.submitted_ms, job.completed_ms) for job in log.jobs if 0 < job.submitted_ms <= job.completed_ms)
    if not jobs:
        return False
    pauses, reached = [], jobs[0][1]
    for submitted, completed in jobs[1:]:
        pauses.append(submitted - reached)
        reached = max(reached, completed)
    long = [pause for pause in pauses if pause >= _PAUSE_MS]
    return len(long) >= _FEWEST_PAUSES and 2 * sum(long) > reached - jobs[0][0]
