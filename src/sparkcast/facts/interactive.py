"""Whether people sat before an application: shells, notebooks and servers that wait for the next query."""

import re

from sparkcast.eventlogs import LogRead

_NAMES = re.compile(
    r"^(Spark shell|PySparkShell|SparkR|sparklyr|Databricks Shell|Apache Toree|Zeppelin|livy-session-\d+|"
    r"Thrift JDBC/ODBC Server|Spark Connect server|SparkSQL::.*|kyuubi_.*)$",
    re.IGNORECASE,
)
_PROGRAMS = re.compile(
    r"org\.apache\.spark\.repl\.|sparkr-shell|-name PySparkShell|thriftserver\.HiveThriftServer2|SparkConnectServer|"
    r"livy\.(?:repl|rsc)\.|zeppelin|toree|almond|ipykernel|jupyter|kyuubi\.engine",
    re.IGNORECASE,
)
_PROPERTIES = ("spark.repl.class.uri", "spark.repl.class.outputDir", "spark.databricks.notebook.path")
_STARTED_BY_PYTHON = "pyspark-shell"  # by a notebook, but by `python job.py` as well


def is_interactive(log: LogRead) -> bool:
    """By the application's name, the program that was submitted and its properties.

    A driver that Python started is a notebook if it never ended: a script ends its session when it does.
    """
    properties, command = log.environment.spark, log.environment.system.get("sun.java.command", "")
    if any(_NAMES.match(name) for name in (log.application.name, properties.get("spark.app.name", ""))):
        return True
    if _PROGRAMS.search(command) or any(name in properties for name in _PROPERTIES):
        return True
    return command.endswith(_STARTED_BY_PYTHON) and not log.application.has_ended
