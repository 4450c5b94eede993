"""What spark-submit printed about drivers on clusters, as people recorded it, cut to the lines that tell something.

Sources: YARN, Spark 2.4.2: public notes on running Spark on YARN, where they can be found by the ids of their
applications; Spark 1.6: github.com/citiususc/SparkBWA issue 14 and github.com/microsoft/Mobius issue 669. Kubernetes,
Spark 3.0.1: github.com/jaceklaskowski/spark-kubernetes-book, docs/demo/running-spark-application-on-minikube.md;
Spark 3.3.2: public notes, by the name of the pod; Spark 2.2: public notes, by the date. Standalone, Spark 3.5.1: public
notes, by the ids of the drivers; test_deploy_mode.py has a real one.
"""

import pytest

from sparkcast.engines._transcript import Reader, read_kubernetes, read_standalone, read_yarn
from sparkcast.engines.handle import Exit
from sparkcast.facts.failure import outcome_of_failure
from sparkcast.observe.outcome import ExitReport, classify
from sparkcast.observe.report import JobReport
from sparkcast.study import Outcome

STANDALONE_DONE = """\
24/03/21 08:09:09 INFO ClientEndpoint: ... waiting before polling master for driver state
24/03/21 08:09:09 INFO ClientEndpoint: Driver successfully submitted as driver-20240321080909-0000
24/03/21 08:09:14 INFO ClientEndpoint: State of driver-20240321080909-0000 is FINISHED
24/03/21 08:09:14 INFO ClientEndpoint: State of driver driver-20240321080909-0000 is FINISHED, exiting spark-submit JVM.
24/03/21 08:09:14 INFO ShutdownHookManager: Shutdown hook called
"""
STANDALONE_ERROR = """\
22/04/18 04:19:17 INFO ClientEndpoint: Driver successfully submitted as driver-20220418041917-0008
22/04/18 04:19:22 INFO ClientEndpoint: State of driver-20220418041917-0008 is ERROR
22/04/18 04:19:22 ERROR ClientEndpoint: Exception from cluster was: java.io.IOException: Cannot run program \
"/usr/lib/jvm/java-11-openjdk-amd64/bin/java" (in directory "/opt/bitnami/spark/work/driver-20220418041917-0008"): \
error=2, No such file or directory
"""
YARN_RUNNING = """\
19/04/18 23:37:36 INFO yarn.Client: Submitting application application_1555597553345_0010 to ResourceManager
19/04/18 23:37:36 INFO impl.YarnClientImpl: Submitted application application_1555597553345_0010
19/04/18 23:37:37 INFO yarn.Client: Application report for application_1555597553345_0010 (state: ACCEPTED)
19/04/18 23:37:37 INFO yarn.Client: \n\
         client token: N/A
         diagnostics: N/A
         ApplicationMaster host: N/A
         queue: root.hadoop
         final status: UNDEFINED
19/04/18 23:37:48 INFO yarn.Client: Application report for application_1555597553345_0010 (state: RUNNING)
"""
YARN_DONE = f"""\
{YARN_RUNNING}19/04/18 23:38:02 INFO yarn.Client: Application report for \
application_1555597553345_0010 (state: FINISHED)
19/04/18 23:38:02 INFO yarn.Client: \n\
         client token: N/A
         diagnostics: N/A
         ApplicationMaster host: hadoop001
         final status: SUCCEEDED
         user: hadoop
19/04/18 23:38:02 INFO util.ShutdownHookManager: Shutdown hook called
"""
YARN_KILLED = """\
19/04/18 23:36:47 INFO yarn.Client: Application report for application_1555597553345_0009 (state: ACCEPTED)
19/04/18 23:36:48 INFO yarn.Client: Application report for application_1555597553345_0009 (state: KILLED)
19/04/18 23:36:48 INFO yarn.Client: \n\
         client token: N/A
         diagnostics: Application killed by user.
         ApplicationMaster host: N/A
         final status: KILLED
Exception in thread "main" org.apache.spark.SparkException: Application application_1555597553345_0009 is killed
        at org.apache.spark.deploy.yarn.Client.run(Client.scala:1152)
"""
YARN_FAILED = """\
16/06/30 15:19:13 INFO yarn.Client: Application report for application_1467148440412_0020 (state: ACCEPTED)
16/06/30 15:19:14 INFO yarn.Client: Application report for application_1467148440412_0020 (state: FAILED)
16/06/30 15:19:14 INFO yarn.Client: \n\
\t client token: N/A
\t diagnostics: Application application_1467148440412_0020 failed 2 times due to AM Container for \
appattempt_1467148440412_0020_000002 exited with  exitCode: -103
Diagnostics: Container [pid=32085,containerID=container_1467148440412_0020_02_000001] is running beyond virtual memory \
limits. Current usage: 190.4 MB of 1 GB physical memory used; 2.1 GB of 2.1 GB virtual memory used. Killing container.
"""
YARN_FAILED_AT_THE_END = """\
17/09/28 13:59:40 INFO Client:
         client token: N/A
         diagnostics: Shutdown hook called before final status was reported.
         ApplicationMaster host: 172.31.1.110
         ApplicationMaster RPC port: 0
         queue: default
         final status: FAILED
"""
POD_RUNNING = """\
20/12/14 18:34:59 INFO LoggingPodStatusWatcherImpl: Application status for spark-b1f8840227074b62996f66b915044ee6 \
(phase: Pending)
20/12/14 18:34:59 INFO LoggingPodStatusWatcherImpl: State changed, new state:
\t pod name: spark-docker-example-3c07aa766251ce43-driver
\t namespace: spark-demo
\t labels: spark-app-selector -> spark-b1f8840227074b62996f66b915044ee6, spark-role -> driver
\t phase: Running
\t container status:
\t\t container name: spark-kubernetes-driver
\t\t container state: running
20/12/14 18:35:00 INFO LoggingPodStatusWatcherImpl: Application status for spark-b1f8840227074b62996f66b915044ee6 \
(phase: Running)
"""
POD_DONE = f"""\
{POD_RUNNING}20/12/14 18:35:06 INFO LoggingPodStatusWatcherImpl: State changed, new state:
\t pod name: spark-docker-example-3c07aa766251ce43-driver
\t namespace: spark-demo
\t phase: Succeeded
\t container status:
\t\t container name: spark-kubernetes-driver
\t\t container state: terminated
\t\t exit code: 0
\t\t termination reason: Completed
20/12/14 18:35:06 INFO LoggingPodStatusWatcherImpl: Application status for spark-b1f8840227074b62996f66b915044ee6 \
(phase: Succeeded)
20/12/14 18:35:06 INFO LoggingPodStatusWatcherImpl: Container final statuses:


\t container name: spark-kubernetes-driver
\t container state: terminated
\t exit code: 0
\t termination reason: Completed
"""
POD_FAILED = """\
\t pod name: spark-example-e4f249868c793199-driver
\t namespace: default
\t start time: 2023-02-26T06:46:40Z
\t phase: Failed
\t container status: \n\
\t\t container name: spark-kubernetes-driver
\t\t container state: terminated
\t\t exit code: 101
\t\t termination reason: Error
23/02/26 15:46:44 INFO LoggingPodStatusWatcherImpl: Application status for spark-74dc1638e90149b893ef42bd776f3668 \
(phase: Failed)
23/02/26 15:46:44 INFO LoggingPodStatusWatcherImpl: Container final statuses:
\t container name: spark-kubernetes-driver
\t container state: terminated
\t exit code: 101
\t termination reason: Error
23/02/26 15:46:44 INFO LoggingPodStatusWatcherImpl: Application spark-example with submission ID \
default:spark-example-e4f249868c793199-driver finished
"""
POD_OF_SPARK_2 = """\
2018-03-09 04:18:04 INFO  LoggingPodStatusWatcherImpl:54 - Container final statuses:


\t Container name: spark-kubernetes-driver
\t Container image: 100.125.0.198:20202/kernel/spark-driver:v2.2.0-kubernetes-0.5.0
\t Container state: Terminated
\t Exit code: 1
2018-03-09 04:18:04 INFO  Client:54 - Application spark-pi finished.
"""
KILLED = "the driver was killed on the cluster"


@pytest.mark.parametrize(
    ("read", "text", "driver", "end"),
    [
        (read_standalone, STANDALONE_DONE, "driver-20240321080909-0000", Exit(0)),
        (read_standalone, STANDALONE_ERROR, "driver-20220418041917-0008", Exit(1)),
        (read_standalone, STANDALONE_DONE.replace("FINISHED", "FAILED"), "driver-20240321080909-0000", Exit(1)),
        (
            read_standalone,
            STANDALONE_DONE.replace("FINISHED", "KILLED"),
            "driver-20240321080909-0000",
            Exit(143, KILLED),
        ),
        (read_standalone, STANDALONE_DONE.replace("FINISHED", "RELAUNCHING"), "driver-20240321080909-0000", None),
        (read_yarn, YARN_RUNNING, "application_1555597553345_0010", None),
        (read_yarn, YARN_DONE, "application_1555597553345_0010", Exit(0)),
        (read_yarn, YARN_KILLED, "application_1555597553345_0009", Exit(143, KILLED)),
        (read_yarn, YARN_FAILED, "application_1467148440412_0020", Exit(1)),
        (read_yarn, YARN_FAILED_AT_THE_END, "", Exit(1)),
        (read_kubernetes, POD_RUNNING, "spark-demo:spark-docker-example-3c07aa766251ce43-driver", None),
        (read_kubernetes, POD_DONE, "spark-demo:spark-docker-example-3c07aa766251ce43-driver", Exit(0)),
        (read_kubernetes, POD_FAILED, "default:spark-example-e4f249868c793199-driver", Exit(101)),
        (read_kubernetes, POD_OF_SPARK_2, "", Exit(1)),
    ],
)
def test_a_recorded_answer_tells_the_driver_and_how_it_ended(
    read: Reader, text: str, driver: str, end: Exit | None
) -> None:
    state = read(text)
    assert (state.id, state.exit) == (driver, end)


@pytest.mark.parametrize("read", [read_standalone, read_yarn, read_kubernetes])
def test_an_answer_that_says_nothing_of_a_driver_is_no_end(read: Reader) -> None:
    text = "26/11/19 22:00:00 WARN NativeCodeLoader: Unable to load native-hadoop library for your platform"
    assert (read(text).id, read(text).exit) == ("", None)


def _judged(read: Reader, text: str) -> tuple[Outcome, str]:
    end = read(text).exit
    assert end is not None
    return classify(ExitReport(end.code, end.lost_because), JobReport(), None, text)


def test_outcomes_are_those_of_the_words_of_the_cluster() -> None:
    outcome, cause = _judged(read_yarn, YARN_FAILED)
    assert (outcome, "beyond virtual memory limits" in cause) == (Outcome.OOM, True)
    assert _judged(read_yarn, YARN_KILLED) == (Outcome.LOST, KILLED)
    assert _judged(read_kubernetes, POD_FAILED)[0] is Outcome.ERROR
    outcome, cause = _judged(read_standalone, STANDALONE_ERROR)
    assert (outcome, "Cannot run program" in cause) == (Outcome.ERROR, True)
    assert outcome_of_failure(POD_FAILED.replace("reason: Error", "reason: OOMKilled")) is Outcome.OOM
