"""Any Spark cluster, through spark-submit: with the driver here, or on the cluster."""

import os
import re
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from sparkcast.engines import ENGINES, STANDALONE_POLICY, ClusterCapacity, ClusterFacts, Handle, SparkJob, Submission
from sparkcast.engines._family import Family
from sparkcast.engines._installation import find_spark
from sparkcast.engines._java import find_java
from sparkcast.engines._master import MasterState, ask_driver_output, ask_master
from sparkcast.engines._remote import DriverPlace, RemoteDriver, driver_place, waiting
from sparkcast.engines._submit import build_submission
from sparkcast.engines.conf import spark_defaults_file
from sparkcast.errors import RunError, StudyError
from sparkcast.study import SparkOptions
from sparkcast.workloads import Shape

_REACH_TIMEOUT_S = 5.0
_WEB_PORT = 8080  # where a master answers unless it was told another: spark.master.ui.port, SPARK_MASTER_WEBUI_PORT
_LOCAL_CLUSTER = re.compile(r"local-cluster\[\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\]")  # workers, cores, MiB
_RETURN_PAUSES_S = (0.0, 5.0, 10.0)  # before each look whether a master that was gone is back


@ENGINES.register("spark")
class SparkCluster:
    """Any Spark cluster by its master URL: spark://host:port, yarn, k8s://..., local[n]."""

    is_default = True

    def __init__(self, options: SparkOptions) -> None:
        self._master = options.master
        self._web_port = _web_port(options.conf.get("spark.master.ui.port", ""))
        self._spark = find_spark(honor_spark_home=True)
        self._java = find_java(self._spark.version)
        self._family: Family | None = None
        self._places: dict[tuple[str, ...], DriverPlace] = {}  # by the commands that submit drivers to the cluster

    def __enter__(self) -> Self:
        if problem := self.health_problem():
            raise RunError(
                problem, hint="is the master running and the address right? A firewall may also drop the connection"
            )
        self._family = Family()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        if self._family:
            self._family.close()  # the cluster is not ours, but what we submitted is

    def capacity(self, shapes: Sequence[Shape]) -> ClusterCapacity | None:
        if sizes := _LOCAL_CLUSTER.fullmatch(self._master):
            workers, cores, mebibytes = map(int, sizes.groups())
            return ClusterCapacity.alike(workers, cores, mebibytes * 2**20)
        state = self._state()
        return None if state is None else state.total

    def shortage(self, application: str, shape: Shape) -> int | None:
        state = self._state()
        if state is None:
            return None
        granted = state.granted.get(application, 0) // shape.cores
        return max(0, shape.executors - granted - state.free.room_for(shape))

    def _state(self) -> MasterState | None:
        """What the standalone master that leads says; None of other clusters, and when none answers."""
        states = (ask_master(host, port, self._web_port) for host, port in self._addresses())
        return next((state for state in states if state is not None), None)

    def _addresses(self) -> list[tuple[str, int]]:
        """Of the masters of a standalone cluster; none of other clusters."""
        if not self._master.startswith("spark://"):
            return []  # yarn and Kubernetes answer only through their own configuration
        return [_address(part, self._master) for part in self._master.removeprefix("spark://").split(",")]

    def defaults(self) -> Mapping[str, str]:
        return {}

    def submission(self, job: SparkJob) -> Submission:
        place = driver_place(job, self._master)
        submission = build_submission(waiting(job, place) if place else job, self._master, self._spark, self._java)
        if place:
            self._places[submission.argv] = place
        return submission

    def warm_up(self, job: SparkJob) -> None:
        """Nothing: the cluster is not ours."""

    def start(self, submission: Submission, log: Path) -> Handle:
        assert self._family is not None, "enter the engine first"
        file = spark_defaults_file()
        defaults = file.read_text(encoding="utf-8") if file.is_file() else ""
        child = self._family.submit(submission, log, defaults=defaults)
        place = self._places.get(submission.argv)
        if place is None:
            return child
        env = {name: submission.env[name] for name in ("JAVA_HOME", "SPARK_HOME")}
        return RemoteDriver(
            child,
            place,
            self._family,
            kill=lambda driver: Submission(place.kill(self._spark, self._master, driver), env),
            fetch=lambda driver: self._fetch_output(driver, log, submission.output),
        )

    def _fetch_output(self, driver: str, log: Path, output: Path | None) -> None:
        """What a driver on a worker printed, as far as the worker shows it: the cause of a failure, and results."""
        for host, _ in self._addresses():
            for stream, file in (("stderr", log), ("stdout", output)):
                text = b"" if file is None else ask_driver_output(host, self._web_port, driver, stream)
                if file is not None and text:
                    with file.open("ab") as target:
                        target.write(text)

    def facts(self) -> ClusterFacts:
        is_standalone = self._master.startswith("spark://")
        policy = STANDALONE_POLICY if is_standalone else ""
        return ClusterFacts(self._spark.version, self._java.version, self._master, policy)

    def health_problem(self) -> str:
        addresses = self._addresses()
        failures = [problem for address in addresses if (problem := _unreachable(*address))]
        return "; ".join(failures) if len(failures) == len(addresses) else ""

    def restart(self) -> None:
        """Nothing of it is ours to start: wait a little until it is back."""
        problem = ""
        for pause_s in _RETURN_PAUSES_S:
            time.sleep(pause_s)
            problem = self.health_problem()
            if not problem:
                return
        raise RunError(problem, hint="bring the cluster back, then: `api.run(STUDY, resume=True)`")


def _web_port(given: str) -> int:
    text = given or os.environ.get("SPARK_MASTER_WEBUI_PORT", "")
    return int(text) if text.isdigit() and 0 < int(text) < 65536 else _WEB_PORT


def _address(text: str, master: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise StudyError(f"{master!r} is not a master URL", hint="e.g. spark://host:7077, yarn, local[2], embedded")
    return host.strip("[]"), int(port)


def _unreachable(host: str, port: int) -> str:
    try:
        socket.create_connection((host, port), timeout=_REACH_TIMEOUT_S).close()
    except OSError as error:
        return f"the master {host}:{port} cannot be reached within {_REACH_TIMEOUT_S:g} s: {error}"
    return ""
