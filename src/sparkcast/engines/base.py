"""What an engine is: the base for those who write one.

An engine turns a job into a spark-submit command and owns the cluster behind it, if any. Engines start jobs; reading
what they did is the part of `observe`.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from sparkcast.engines.capacity import ClusterCapacity, Worker
from sparkcast.engines.handle import Exit, Handle
from sparkcast.registry import Registry
from sparkcast.study import SparkOptions
from sparkcast.study.redaction import redact, redact_arguments
from sparkcast.workloads import Shape

__all__ = [
    "ENGINES",
    "ClusterCapacity",
    "ClusterFacts",
    "Engine",
    "Exit",
    "Handle",
    "HasShortage",
    "Shape",
    "SparkJob",
    "SparkOptions",
    "Submission",
    "Worker",
]


# A standalone master knows one rule: whoever came first gets the cores it asks for, up to its spark.cores.max.
STANDALONE_POLICY = "Spark standalone: FIFO, each application up to its spark.cores.max"
NOT_PINNED = "executors share all CPUs"  # how the affinity begins of executors that are not kept to CPUs of their own


@dataclass(frozen=True, slots=True)
class SparkJob:
    """One application to submit. `conf` is complete: defaults, workload and user have been merged."""

    application: Path | str  # a text where it is no file of this machine
    arguments: tuple[str, ...]
    conf: Mapping[str, str]
    name: str
    options: tuple[str, ...] = ()  # more of spark-submit's: ("--class", "org.example.Train")
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    directory: Path | None = None  # to run in; None is where sparkcast runs
    output: Path | None = None  # where its stdout goes; None is the log
    properties_file: Path | None = None  # of the user, below `conf`


@dataclass(frozen=True, slots=True)
class Submission:
    """A spark-submit command and the environment variables it needs beside the caller's own.

    `secrets` are Spark properties that the command line does not have, because every user of the machine can read it.
    An engine hands them over in a file that only its owner can read. Those of `properties_file` rank below.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    properties_file: Path | None = None
    directory: Path | None = None
    output: Path | None = None

    def shell(self) -> str:
        """To be read and pasted: one option a line, secrets redacted."""
        assignments = [f"{name}={shlex.quote(value)}" for name, value in sorted(redact(self.env).items())]
        hidden = [word for name, text in redact(self.secrets).items() for word in ("--conf", f"{name}={text}")]
        file = ["--properties-file", str(self.properties_file)] if self.properties_file else []
        words = [shlex.quote(word) for word in (self.argv[0], *file, *hidden, *redact_arguments(self.argv[1:]))]
        place = [f"cd {shlex.quote(str(self.directory))} &&"] if self.directory else []
        lines, pending = [" ".join([*place, *assignments, words[0]])], ""
        for word in words[1:]:
            if pending:
                lines.append(f"{pending} {word}")
                pending = ""
            elif word.startswith("--"):
                pending = word
            else:
                lines.append(word)
        return " \\\n  ".join(lines)


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """What the numbers depend on, for the fingerprint of a run."""

    spark: str
    java: str
    description: str
    policy: str = ""  # by which applications share it; "" where only the cluster knows
    cores: int | None = None  # of all workers; None where only the cluster knows
    affinity: str = ""  # how executors are kept to their cores; "" where only the cluster knows


class Engine(Protocol):
    """A way to run Spark jobs. Enter it to make the cluster ready; leaving it takes down what it started.

    A class attribute `masters = ("embedded",)` says which master URLs it takes, by their first word: embedded:7077. One
    engine, with `is_default = True`, takes all that no other does.
    """

    def __init__(self, options: SparkOptions) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

    def capacity(self, shapes: Sequence[Shape]) -> ClusterCapacity | None:
        """What the cluster will hold when it runs these trials; None when it cannot be asked.

        It is called before the engine is entered, and also when no run will follow.
        """
        ...

    def defaults(self) -> Mapping[str, str]:
        """Spark properties this engine adds to every job; the user's win over them."""
        ...

    def submission(self, job: SparkJob) -> Submission:
        """The command for a job; before the cluster is up it is the one `--dry-run` shows."""
        ...

    def warm_up(self, job: SparkJob) -> None:
        """Do once, before anything is measured, what makes jobs like this one start faster."""
        ...

    def start(self, submission: Submission, log: Path) -> Handle:
        """Run a submission with its driver's messages in `log`. The job cannot outlive this process."""
        ...

    def facts(self) -> ClusterFacts: ...

    def health_problem(self) -> str:
        """Why the cluster cannot be used any more, or "" while it is healthy."""
        ...

    def restart(self) -> None:
        """Bring the cluster back when it is not healthy any more."""
        ...


@runtime_checkable
class HasShortage(Protocol):
    """An engine that can tell, by one method more, whether an application that waits will get its executors."""

    def shortage(self, application: str, shape: Shape) -> int | None:
        """How many of its executors an application lacks for want of room just now; None when it cannot be asked.

        `application` is Spark's id of it.
        """
        ...


ENGINES: Registry[Engine] = Registry("engine", "sparkcast.engines")
