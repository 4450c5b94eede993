"""What a workload is: the base for those who write one.

A workload has two lives. In sparkcast's own process it says which settings it takes, which responses it yields and
which Spark properties it needs. On the cluster, `driver.py` (the file that spark-submit runs) finds it by name and
calls `run`. It declares what its settings and responses mean (`Role`, `Kind`), so that prices, models and limits know.

    @WORKLOADS.register("word-count")
    class WordCount:
        "Counts words."

        settings = (Setting("files", 10, "text files to read", minimum=1, role=Role.DATA_SIZE),)
        responses = (TIME,)
        ...

Three things a workload may do beside that, each by having one method more: take its settings from the study
(`FromStudy`), be a program of its own that is submitted as it is (`Submitted`), and write its own starter study
(`HasStarter`).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from sparkcast.registry import Registry
from sparkcast.study import Configuration, Kind, Response, Role, Setting, Study
from sparkcast.study.application import RUN_TIMES, WORK
from sparkcast.study.configuration import Levels
from sparkcast.workloads._generated import generate_once
from sparkcast.workloads.extras import require_extra

__all__ = [
    "ACCURACY",
    "CLUSTER_SETTINGS",
    "THROUGHPUT",
    "TIME",
    "WORK",
    "WORKLOADS",
    "Configuration",
    "FromStudy",
    "Guessable",
    "HasStarter",
    "Job",
    "Kind",
    "Levels",
    "Response",
    "Role",
    "Setting",
    "Study",
    "Submitted",
    "SubmittedApplication",
    "Workload",
    "generate_once",
    "require_extra",
]

TIME = next(time for time in RUN_TIMES if time.name == "time_s")  # measured by sparkcast; WORK is reported
ACCURACY = Response("accuracy", kind=Kind.SHARE, unit="share correct")
THROUGHPUT = Response("throughput", kind=Kind.COUNT, better="more", unit="records/s")

# Settings of the cluster rather than of the job, which the engines translate. Every workload has them, but for those
# whose role a setting of its own has.
CLUSTER_SETTINGS = (
    Setting("executors", 1, "number of executors per job", minimum=1, role=Role.MACHINES),
    Setting("cores", 1, "cores per executor", minimum=1, role=Role.CORES, unit="per executor"),
    Setting("memory", "1g", "memory per executor", is_size=True, role=Role.MEMORY),
    Setting("jobs", 1, "number of identical jobs running at once", minimum=1, role=Role.JOBS),
)


class Job(Protocol):
    """What `run` gets on the driver: its settings, Spark, and a place to report."""

    @property
    def settings(self) -> Configuration: ...

    @property
    def options(self) -> Mapping[str, Any]:
        """The block of the study file that has the workload's name; empty without one."""
        ...

    @property
    def data_dir(self) -> Path:
        """Where `prepare` left its files."""
        ...

    def spark_context(self) -> Any:
        """The SparkContext, made at the first call."""
        ...

    def loading(self) -> None:
        """Spark and the executors are up: what follows makes the data ready. Optional."""
        ...

    def started(self) -> None:
        """Start-up is over: what follows is the work being measured."""
        ...

    def epoch(self, number: int, time_s: float, **responses: float | None) -> None:
        """One point of the per-epoch curve: responses reached by its end; `time_s` counts from `started`."""
        ...

    def note(self, text: str) -> None:
        """Something that people should know of this run, though it went well."""
        ...

    def result(self, **responses: float) -> None:
        """The measured responses; call once, at the end.

        With `compute_s` and `sync_s` among them, which share `time_s`, the run is divided into its parts.
        """
        ...


class Workload(Protocol):
    settings: tuple[Setting, ...]  # its own; CLUSTER_SETTINGS come on top
    responses: tuple[Response, ...]  # that `result` will report
    example: Mapping[str, object]  # the `settings:` block that `sparkcast init` writes

    def check(self, settings: Configuration) -> None:
        """Raise StudyError (with a hint) for a combination that cannot run; `settings` is complete."""
        ...

    def prepare(self, settings: Configuration, data_dir: Path) -> str:
        """Make the input data ready in `data_dir` before anything is timed; returns a fingerprint of the data."""
        ...

    def spark_conf(self, settings: Configuration) -> Mapping[str, str]:
        """Spark properties the job needs (jars, serializer, ...)."""
        ...

    def run(self, job: Job) -> None:
        """Do the work on the cluster. Runs inside the Spark driver."""
        ...


@runtime_checkable
class FromStudy(Protocol):
    """A workload whose settings, responses or options depend on the study."""

    def for_study(self, study: Study) -> Workload:
        """The workload of this study; raise StudyError for what the study has wrong.

        `study.options` is the block of the study file that has the workload's name, and `study.where(...)` the place of
        a key for messages. A workload with `asked`, a tuple of names, has these responses analyzed without the study
        naming them.
        """
        ...


@dataclass(frozen=True, slots=True)
class SubmittedApplication:
    """A program for spark-submit, as it is, and how to find in its output what it measured."""

    file: str  # as spark-submit takes it: a path, hdfs://...
    arguments: tuple[str, ...] = ()
    options: tuple[str, ...] = ()  # of spark-submit, but for --master, --conf and --properties-file
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    directory: Path | None = None  # to run in
    properties_file: Path | None = None
    name: str = ""  # of the Spark application
    promised: tuple[str, ...] = ()  # responses it has to report itself; a run may lack one, and that is said
    # Numbers in what it prints, by response: the one group, beside a group `epoch`, is the number.
    patterns: Mapping[str, re.Pattern[str]] = field(default_factory=dict)


@runtime_checkable
class Submitted(Protocol):
    """A workload that is a program of its own: it is submitted in place of sparkcast's driver, and never `run`.

    Its times come from its event log. It can report responses as docs/guides/own-jobs.md tells.
    """

    def application(self, settings: Configuration, folder: Path) -> SubmittedApplication:
        """What to submit, with `folder` for the run's own files. Raise StudyError when it is not there."""
        ...


@runtime_checkable
class HasReadings(Protocol):
    """A workload that finds numbers in the output of its runs by what the block `responses` of its options says.

    When only that changes, the output of earlier runs is read again.
    """

    @property
    def readings(self) -> SubmittedApplication:
        """What to look for in any run: `promised` and `patterns` alone count."""
        ...


@runtime_checkable
class HasStarter(Protocol):
    """A workload that `sparkcast init` cannot describe by its settings alone."""

    def starter(self) -> str:
        """The text of a commented study file."""
        ...


@runtime_checkable
class Guessable(Protocol):
    """A workload with a response that guessing reaches as well, such as the accuracy of a classifier."""

    @property
    def chance(self) -> Mapping[str, float]:
        """What guessing gives, by response."""
        ...


WORKLOADS: Registry[Workload] = Registry("workload", "sparkcast.workloads")
