"""Deploy mode cluster: the driver is a process of the cluster, and spark-submit only waits for it."""

import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from sparkcast.engines import SparkJob, Submission
from sparkcast.engines._family import ChildProcess, Family
from sparkcast.engines._installation import SparkInstallation
from sparkcast.engines._transcript import DriverState, Reader, read_kubernetes, read_standalone, read_yarn
from sparkcast.engines.conf import deploy_mode, read_properties
from sparkcast.engines.handle import Exit
from sparkcast.errors import StudyError
from sparkcast.study.environment import kind_of

_MOST_BYTES = 2 * 2**20  # of a transcript: a report each second for days has its last lines there
_KILL_S = 60.0


@dataclass(frozen=True, slots=True)
class DriverPlace:
    """Where a kind of cluster runs drivers: how it is asked to wait for one, what it says, and how one is ended."""

    wait: str  # the property without which spark-submit may return before the driver has ended
    read: Reader
    kill: Callable[[SparkInstallation, str, str], tuple[str, ...]]  # Spark, master and id -> a command


def _kill_standalone(spark: SparkInstallation, master: str, driver: str) -> tuple[str, ...]:
    return (str(spark.home / "bin" / "spark-class"), "org.apache.spark.deploy.Client", "kill", master, driver)


def _kill_yarn(spark: SparkInstallation, master: str, driver: str) -> tuple[str, ...]:
    """`yarn application -kill`, by the classes that Spark brings along: Hadoop need not be installed here."""
    cli = "org.apache.hadoop.yarn.client.cli.ApplicationCLI"
    return (str(spark.home / "bin" / "spark-class"), cli, "application", "-kill", driver)


def _kill_kubernetes(spark: SparkInstallation, master: str, driver: str) -> tuple[str, ...]:
    return (str(spark.home / "bin" / "spark-submit"), "--kill", driver, "--master", master)


_PLACES = {
    "spark": DriverPlace("spark.standalone.submit.waitAppCompletion", read_standalone, _kill_standalone),
    "yarn": DriverPlace("spark.yarn.submit.waitAppCompletion", read_yarn, _kill_yarn),
    "k8s": DriverPlace("spark.kubernetes.submission.waitAppCompletion", read_kubernetes, _kill_kubernetes),
}


def driver_place(job: SparkJob, master: str) -> DriverPlace | None:
    """Where the cluster runs the driver of a job; None where spark-submit is the driver."""
    place = _PLACES.get(kind_of(master))
    file = {} if job.properties_file is None else read_properties(job.properties_file)
    mode = deploy_mode(job.options, {**file, **job.conf}, has_file=job.properties_file is not None)
    return place if mode == "cluster" else None


def waiting(job: SparkJob, place: DriverPlace) -> SparkJob:
    """The same job, with a spark-submit that waits for its driver."""
    if job.conf.get(place.wait, "true").lower() != "true":
        raise StudyError(
            f"with {place.wait}=false nobody knows when a job has ended", hint=f"remove {place.wait} for measured runs"
        )
    return replace(job, conf={**job.conf, place.wait: "true"})


class RemoteDriver:
    """A driver on the cluster as a handle. What it would take to end it is left with the warden as well."""

    def __init__(
        self,
        submit: ChildProcess,
        place: DriverPlace,
        family: Family,
        kill: Callable[[str], Submission],
        fetch: Callable[[str], None] = lambda driver: None,
    ) -> None:
        """`kill` makes the command that ends a driver, `fetch` has a look at what it printed; both by its id."""
        self._submit, self._place, self._family, self._kill, self._fetch = submit, place, family, kill, fetch
        self._exit: Exit | None = None
        self._seen = -1
        self._state = DriverState()
        self._last_words: Path | None = None

    @property
    def name(self) -> str:
        return self._state.id or self._submit.name

    @property
    def log(self) -> Path:
        return self._submit.log

    @property
    def exit(self) -> Exit | None:
        return self._exit

    def poll(self) -> Exit | None:
        if self._exit is not None:
            return self._exit
        end = self._submit.poll()
        self._look()
        if end is not None:
            self._end(end)
        return self._exit

    def stop(self) -> None:
        if self.poll() is not None:
            return
        self._end_driver()
        self._submit.stop()
        self._exit = self._submit.exit or Exit(-9)

    def _look(self) -> None:
        """Read the transcript, when it has grown."""
        with suppress(OSError):
            size = self.log.stat().st_size
            if size != self._seen:
                self._seen = size
                with self.log.open("rb") as file:
                    file.seek(max(0, size - _MOST_BYTES))
                    found = self._place.read(file.read().decode("utf-8", "replace"))
                self._state = DriverState(found.id or self._state.id, found.exit)
        if self._state.id and self._last_words is None:
            self._last_words = self._family.leave_behind(self._kill(self._state.id))

    def _end(self, submit: Exit) -> None:
        """spark-submit has ended, and its driver with it, unless it lost sight of it."""
        told = self._state.exit
        if told is None and self._state.id:
            self._end_driver()
            lost = f"spark-submit ended with code {submit.code} before driver {self._state.id} had"
            self._exit = Exit(submit.code or 1, lost)
        else:
            self._exit = submit if told is None else told
            self._forget()
        if self._state.id:
            self._fetch(self._state.id)

    def _end_driver(self) -> None:
        if not self._state.id or self._state.exit is not None:
            self._forget()
            return
        command = self._kill(self._state.id)
        process = self._family.start(command.argv, command.env, self.log)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_KILL_S)
            if process.returncode == 0:
                self._forget()

    def _forget(self) -> None:
        if self._last_words is not None:
            self._last_words.unlink(missing_ok=True)
