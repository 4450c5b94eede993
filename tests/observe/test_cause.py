"""The cause of a failed run, from logs as Spark, Python and the shell write them."""

import pytest

from sparkcast.observe.cause import cause_of, without_chatter
from sparkcast.observe.outcome import ExitReport, classify
from sparkcast.observe.report import JobReport
from sparkcast.study import Outcome

SHUTDOWN = """\
26/01/31 10:00:09 INFO SparkContext: Invoking stop() from shutdown hook
26/01/31 10:00:09 INFO MapOutputTrackerMasterEndpoint: MapOutputTrackerMasterEndpoint stopped!
26/01/31 10:00:09 INFO BlockManagerMaster: BlockManagerMaster stopped
26/01/31 10:00:09 INFO SparkContext: Successfully stopped SparkContext
26/01/31 10:00:09 INFO ShutdownHookManager: Shutdown hook called
26/01/31 10:00:09 INFO ShutdownHookManager: Deleting directory /tmp/spark-1
"""
PYTHON = """\
26/01/31 10:00:01 INFO SparkContext: Running Spark version 3.5.9
Traceback (most recent call last):
  File "/jobs/train.py", line 12, in <module>
    train(rows)
26/01/31 10:00:02 WARN NativeCodeLoader: Unable to load native-hadoop library
ValueError: no rows
"""
IN_EXECUTOR = """\
26/01/31 10:00:03 ERROR Executor: Exception in task 0.0 in stage 0.0 (TID 0)
Traceback (most recent call last):
  File "/jobs/train.py", line 9, in <module>
    rdd.count()
py4j.protocol.Py4JJavaError: An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most recent \
failure: Lost task 0.3 in stage 0.0 (TID 3) (10.0.0.7 executor 1): org.apache.spark.api.python.PythonException: \
Traceback (most recent call last):
  File "/opt/spark/worker.py", line 1247, in main
    process()
ZeroDivisionError: division by zero

\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:572)
Driver stacktrace:
\tat org.apache.spark.scheduler.DAGScheduler.failJobAndIndependentStages(DAGScheduler.scala:2856)
"""
JAVA_TASK = """\
26/01/31 10:00:04 ERROR TaskSetManager: Task 0 in stage 1.0 failed 4 times; aborting job
Exception in thread "main" org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed
\tat org.apache.spark.scheduler.DAGScheduler.failJobAndIndependentStages(DAGScheduler.scala:2856)
Caused by: java.lang.NumberFormatException: For input string: "x"
\tat java.base/java.lang.Integer.parseInt(Integer.java:668)
"""
HEAP = """\
26/01/31 10:00:04 ERROR Executor: Exception in task 0.0 in stage 0.0 (TID 0)
java.lang.OutOfMemoryError: Java heap space
\tat java.base/java.util.Arrays.copyOf(Arrays.java:3745)
26/01/31 10:00:05 ERROR SparkUncaughtExceptionHandler: Uncaught exception in thread Thread[Executor task]
"""
CONTAINER = (
    "26/01/31 10:00:04 ERROR YarnScheduler: Lost executor 2 on node7: Container killed by YARN for exceeding physical "
    "memory limits. 1.5 GB of 1.5 GB physical memory used.\n"
)
CUT_HOST = """\
26/01/31 10:00:04 ERROR TaskSchedulerImpl: Lost executor 0 on 10.0.0.5: Remote RPC client disassociated. Likely due to \
containers exceeding thresholds, or network issues.
26/01/31 10:00:05 WARN TaskSetManager: Lost task 1.0 in stage 0.0 (TID 1) (10.0.0.5 executor 0): ExecutorLostFailure
"""
NO_MASTER = """\
26/01/31 10:00:04 WARN StandaloneAppClient$ClientEndpoint: Failed to connect to master 10.0.0.1:7077
26/01/31 10:01:04 ERROR StandaloneSchedulerBackend: Application has been killed. Reason: All masters are unresponsive! \
Giving up.
26/01/31 10:01:04 WARN StandaloneSchedulerBackend: Application ID is not initialized yet.
"""
REFUSED = """\
26/01/31 10:00:04 ERROR SparkContext: Error initializing SparkContext.
java.net.ConnectException: Call From a/1 to b:8020 failed on connection exception: java.net.ConnectException: \
Connection refused
\tat java.base/sun.nio.ch.Net.connect0(Native Method)
"""


@pytest.mark.parametrize(
    ("log", "cause"),
    [
        (PYTHON, "ValueError: no rows"),
        (IN_EXECUTOR, "ZeroDivisionError: division by zero"),
        (JAVA_TASK, 'java.lang.NumberFormatException: For input string: "x"'),
        (HEAP, "java.lang.OutOfMemoryError: Java heap space"),
        (CONTAINER, "Lost executor 2 on node7: Container killed by YARN for exceeding physical memory limits."),
        (CUT_HOST, "Lost executor 0 on 10.0.0.5: Remote RPC client disassociated."),
        (NO_MASTER, "Application has been killed. Reason: All masters are unresponsive!"),
        (REFUSED, "java.net.ConnectException: Call From a/1 to b:8020 failed"),
        ("Error: Failed to load class org.example.Train.\n", "Error: Failed to load class org.example.Train."),
        ("/opt/run.sh: line 3: pyspark: command not found\n", "/opt/run.sh: line 3: pyspark: command not found"),
        ("python3: can't open file '/jobs/x.py': [Errno 2]\n", "python3: can't open file '/jobs/x.py'"),
        ('Exception in thread "main" java.lang.Error: no\n\tat a.b.C(D.scala:1)\n', 'Exception in thread "main" java'),
        ("2026-01-31 10:00:00,123 ERROR [main] my.App: the input is empty\n", "the input is empty"),
        ('{"ts":"2026-01-31T10:00:00Z","level":"ERROR","msg":"Lost executor 1","logger":"a"}\n', "Lost executor 1"),
    ],
)
@pytest.mark.parametrize("end", ["", SHUTDOWN])
def test_the_cause_is_the_error_and_not_the_end_of_the_log(log: str, cause: str, end: str) -> None:
    lines = (SHUTDOWN.replace("stop", "start") + log + end).splitlines()
    assert cause_of(lines, 1).startswith(cause)


@pytest.mark.parametrize(
    ("exit_code", "name"), [(-9, "SIGKILL"), (137, "SIGKILL"), (143, "SIGTERM"), (139, "SIGSEGV"), (-6, "SIGABRT")]
)
def test_a_job_that_a_signal_ended_says_so(exit_code: int, name: str) -> None:
    assert f"ended by {name} (exit code {exit_code})" in cause_of(SHUTDOWN.splitlines(), exit_code)


@pytest.mark.parametrize("exit_code", [0, 1, 2, 101, 128, 255, -999])
def test_nothing_is_made_up_where_nothing_is_said(exit_code: int) -> None:
    assert cause_of(SHUTDOWN.splitlines(), exit_code) == ""


def test_what_is_logged_as_usual_is_no_last_line() -> None:
    assert without_chatter([*SHUTDOWN.splitlines(), "", "begun", "INFO bye", "WARN x"]) == ["begun", "WARN x"]


def test_a_run_on_a_host_that_was_cut_off_is_lost_because_of_that() -> None:
    outcome, cause = classify(ExitReport(1), JobReport(), None, CUT_HOST + SHUTDOWN)
    assert outcome is Outcome.LOST
    assert cause.startswith("Lost executor 0 on 10.0.0.5")
    _, cause = classify(ExitReport(1), JobReport(), None, SHUTDOWN)
    assert cause == "the driver exited with code 1"
