"""A real Spark standalone cluster on this machine: a master and workers as processes on the loopback address."""

import contextlib
import logging
import os
import re
import secrets
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from sparkcast.engines import (
    ENGINES,
    NOT_PINNED,
    STANDALONE_POLICY,
    ClusterCapacity,
    ClusterFacts,
    Handle,
    SparkJob,
    Submission,
    _pinned_java,
)
from sparkcast.engines._archive import ClassArchive, find_archive
from sparkcast.engines._family import Family
from sparkcast.engines._installation import find_spark
from sparkcast.engines._java import find_java
from sparkcast.engines._submit import build_submission
from sparkcast.engines.conf import join_conf, read_properties
from sparkcast.engines.handle import wait_for
from sparkcast.engines.machine import this_machine
from sparkcast.errors import RunError, StudyError
from sparkcast.study import SparkOptions
from sparkcast.workloads import Shape

_log = logging.getLogger(__name__)
_HOST = "127.0.0.1"
_START_TIMEOUT_S = 90.0
_EXECUTOR_END_S = 20.0
_SMALLEST = {"spark.cores.max": "1", "spark.executor.cores": "1", "spark.executor.instances": "1"}
_EXECUTORS_JAVA = "spark.executorEnv.JAVA_HOME"
_MEMORY_SHARE = 0.7  # of the machine's memory goes to executors; drivers, daemons and the system need the rest

_LOGGING = """\
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
logger.deploy.name = org.apache.spark.deploy
logger.deploy.level = info
"""


@ENGINES.register("embedded")
class EmbeddedCluster:
    """A real standalone cluster on this machine, started on demand and stopped with sparkcast."""

    masters = ("embedded",)

    def __init__(self, options: SparkOptions) -> None:
        self._port = _parse_port(options.master)
        self._spark = find_spark(honor_spark_home=False)
        self._java = find_java(self._spark.version)
        self._shape = _shape([])
        self._family: Family | None = None
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        self._master = f"spark://{_HOST}:{self._port or 7077}"  # what a dry run shows

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self._stop()

    def capacity(self, shapes: Sequence[Shape]) -> ClusterCapacity:
        self._shape = _shape(shapes)
        return self._shape

    def defaults(self) -> Mapping[str, str]:
        # The native libraries that jars unpack at run time go where the family's folder is removed.
        options = " ".join(self._java_options()) if self._family else ""
        java = {f"spark.{role}.extraJavaOptions": options for role in ("driver", "executor") if options}
        return {
            "spark.driver.host": _HOST,
            "spark.driver.bindAddress": _HOST,
            "spark.ui.enabled": "false",
            # A task that is tried again makes the time incomparable: fail at once, and say so.
            "spark.task.maxFailures": "1",
            **java,
        }

    def submission(self, job: SparkJob) -> Submission:
        archive = find_archive(self._spark, self._java, job.conf)
        if archive and archive.exists:
            job = replace(job, conf=join_conf(job.conf, archive.options_to_use()))
        if self._family:
            secret = read_properties(self._family.folder / "cluster.conf")
            job = replace(job, conf=join_conf(secret, self._pinning(job.conf), job.conf))
        return build_submission(job, self._master, self._spark, self._java, env=self._environment())

    def warm_up(self, job: SparkJob) -> None:
        """Make the class archive for jobs like this one, if this machine has none yet."""
        archive = find_archive(self._spark, self._java, job.conf)
        if archive is None or archive.exists:
            return
        with contextlib.suppress(OSError):  # a cache that cannot be written only costs time
            self._make_archive(archive, job)

    def _make_archive(self, archive: ClassArchive, job: SparkJob) -> None:
        _log.debug("creating the class archive %s", archive.folder)
        archive.make_base()
        draft = self._running().folder / "archive"
        draft.mkdir(exist_ok=True)
        conf = join_conf({**job.conf, **_SMALLEST}, archive.options_to_make(draft))
        rehearsal = SparkJob(Path(__file__).with_name("_rehearsal.py"), (), conf, "sparkcast rehearsal")
        wait_for(self.start(self.submission(rehearsal), self._running().folder / "logs" / "rehearsal.log"))
        self._wait_for_executors_to_end()
        archive.keep(draft)

    def start(self, submission: Submission, log: Path) -> Handle:
        folder = self._running().folder
        mark = folder / _pinned_java.UNPINNED
        mark.unlink(missing_ok=True)
        if f"{_EXECUTORS_JAVA}={folder / 'pinned'}" not in submission.argv:
            mark.write_text(f"your {_EXECUTORS_JAVA} replaces the one that pins them")
        return self._running().submit(submission, log)

    def facts(self) -> ClusterFacts:
        workers = self._shape.workers
        description = f"embedded: {len(workers)} worker(s) x {workers[0].cores} core(s)"
        return ClusterFacts(
            self._spark.version, self._java.version, description, STANDALONE_POLICY, self._shape.cores, self._affinity()
        )

    def health_problem(self) -> str:
        dead = [(name, p.returncode) for name, p in self._daemons.items() if p.poll() is not None]
        return "; ".join(f"the {name} of the embedded cluster exited (exit code {code})" for name, code in dead)

    def restart(self) -> None:
        self._stop()
        self._start()

    def _start(self) -> None:
        if self._port and not _is_free(self._port):
            raise RunError(f"port {self._port} on {_HOST} is in use", hint="use `master: embedded` to pick a free one")
        self._family = Family()
        try:
            self._write_conf(self._family.folder)
            self._start_master()
            self._start_workers()
        except BaseException:
            self._stop()
            raise

    def _stop(self) -> None:
        if self._family:
            self._family.close()
        self._family, self._daemons = None, {}

    def _running(self) -> Family:
        assert self._family is not None, "enter the engine first"
        return self._family

    def _write_conf(self, folder: Path) -> None:
        for name in ("tmp", "logs"):
            (folder / name).mkdir()
        secret = folder / "cluster.conf"  # a file, because command lines can be read by every user
        secret.touch(mode=0o600)
        authentication = f"spark.authenticate true\nspark.authenticate.secret {secrets.token_hex(32)}\n"
        # Spark 4 has another door open by default, and then refuses to start with a secret.
        secret.write_text(f"{authentication}spark.master.rest.enabled false\n")
        (folder / "log4j2.properties").write_text(_LOGGING)

    def _affinity(self) -> str:
        if why := _why_not_pinned():
            return f"{NOT_PINNED}: {why}"
        if self._family and (mark := self._family.folder / _pinned_java.UNPINNED).exists():
            return f"{NOT_PINNED}: {mark.read_text() or 'they have more cores than there are CPUs'}"
        return "each executor on CPUs of its own"

    def _pinning(self, conf: Mapping[str, str]) -> dict[str, str]:
        """Properties that make a worker launch executors through a stand-in for Java."""
        folder = self._running().folder
        if _why_not_pinned():
            return {}
        cpus, home = folder / "cpus", folder / "pinned"
        if not home.exists():
            cpus.mkdir()
            for cpu in os.sched_getaffinity(0):
                (cpus / str(cpu)).touch()
            (home / "bin").mkdir(parents=True)
            java = home / "bin" / "java"
            java.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, "-I", _pinned_java.__file__])} "$@"\n')
            java.chmod(0o700)
        cores = conf.get("spark.executor.cores", "1")
        return {
            _EXECUTORS_JAVA: str(home),
            f"spark.executorEnv.{_pinned_java.VARIABLE}": f"{self._java.executable()}|{cpus}|{cores}",
        }

    def _java_options(self) -> tuple[str, str]:
        folder = self._running().folder
        return f"-Djava.io.tmpdir={folder}/tmp", f"-Dlog4j2.configurationFile=file:{folder}/log4j2.properties"

    def _wait_for_executors_to_end(self) -> None:
        deadline = time.monotonic() + _EXECUTOR_END_S
        while time.monotonic() < deadline and self._running().has_member("CoarseGrainedExecutorBackend"):
            time.sleep(0.1)

    def _environment(self) -> dict[str, str]:
        if self._family is None:
            return {}
        folder = self._family.folder
        return {
            # Fixed, and not the user's: it is on the class path, which a class archive must match.
            "SPARK_CONF_DIR": str(self._spark.home / "conf"),
            "SPARK_LOCAL_IP": _HOST,
            "SPARK_LOCAL_DIRS": str(folder / "tmp"),
            "SPARK_WORKER_DIR": str(folder / "work"),
            "TMPDIR": str(folder / "tmp"),
        }

    def _start_master(self) -> None:
        # Port 0: Spark binds a free port itself and says which, so nobody can take it in between.
        arguments = ("--host", _HOST, "--port", str(self._port), "--webui-port", "0")
        log = self._start_daemon("master", "org.apache.spark.deploy.master.Master", arguments)
        self._wait_for("master", log, lambda text: "New state: ALIVE" in text)
        found = re.search(r"Starting Spark master at (spark://\S+)", log.read_text())
        assert found is not None
        self._master = found[1]
        _log.debug("Spark %s on Java %s: master %s", self._spark.version, self._java.version, self._master)

    def _start_workers(self) -> None:
        workers = self._shape.workers
        size = ("--cores", str(workers[0].cores), "--memory", f"{workers[0].memory // 2**20}m")
        arguments = ("--host", _HOST, "--webui-port", "0", *size, self._master)
        names = [f"worker {n}" for n in range(1, len(workers) + 1)]
        logs = {name: self._start_daemon(name, "org.apache.spark.deploy.worker.Worker", arguments) for name in names}
        for name, log in logs.items():
            self._wait_for(name, log, lambda text: "Successfully registered with master" in text)

    def _start_daemon(self, name: str, main_class: str, arguments: tuple[str, ...]) -> Path:
        family = self._running()
        log = family.folder / "logs" / f"{name.replace(' ', '-')}.log"
        environment = self._environment() | {
            "JAVA_HOME": str(self._java.home),
            "SPARK_HOME": str(self._spark.home),
            "SPARK_DAEMON_MEMORY": "256m",
            # Daemons only pass messages: the quick compiler and one collector thread leave the cores to the jobs.
            "SPARK_DAEMON_JAVA_OPTS": " ".join(("-XX:TieredStopAtLevel=1 -XX:+UseSerialGC", *self._java_options())),
        }
        properties = ("--properties-file", str(family.folder / "cluster.conf"))
        command = (str(self._spark.home / "bin" / "spark-class"), main_class, *properties, *arguments)
        self._daemons[name] = family.start(command, environment, log)
        _log.debug("started the %s, pid %d, log %s", name, self._daemons[name].pid, log)
        return log

    def _wait_for(self, name: str, log: Path, is_ready: Callable[[str], bool]) -> None:
        deadline = time.monotonic() + _START_TIMEOUT_S
        while not is_ready(log.read_text(errors="replace")):
            if self._daemons[name].poll() is not None or time.monotonic() > deadline:
                last = " | ".join(log.read_text(errors="replace").splitlines()[-3:])
                raise RunError(
                    f"the {name} of the embedded cluster did not start: {last}",
                    hint="is there enough memory? `sparkcast run -v` shows more",
                )
            time.sleep(0.03)


def _shape(shapes: Sequence[Shape]) -> ClusterCapacity:
    """Two workers when the widest executor fits in half the machine, else one: a network between them is real."""
    machine = this_machine()
    widest = max((shape.cores for shape in shapes), default=1)
    workers = 2 if widest <= machine.cores // 2 else 1
    memory = int(machine.memory * _MEMORY_SHARE / workers)
    return ClusterCapacity.alike(workers, machine.cores // workers, memory // 2**20 * 2**20)


def _why_not_pinned() -> str:
    """Why executors are not kept to CPUs of their own, or "" when they are."""
    if not hasattr(os, "sched_setaffinity"):
        return "this system cannot pin them"
    if len(os.sched_getaffinity(0)) > this_machine().cores:
        return "the machine has more of them than a quota allows to use, and others may be on the same ones"
    return ""


def _parse_port(master: str) -> int:
    word, _, port = master.partition(":")
    if word == master == "embedded":
        return 0
    if word != "embedded" or not port.isdigit() or not 0 < int(port) < 65536:
        raise StudyError(f"{master!r} is not `embedded` or `embedded:PORT`", hint="e.g. master: embedded:7077")
    return int(port)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
        except OSError:
            return False
    return True
