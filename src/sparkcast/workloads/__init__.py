"""Jobs that sparkcast can run and measure. One file each.

A workload has two lives. In sparkcast's own process it says which settings it takes and which Spark properties it
needs. On the cluster, `driver.py` (the file that spark-submit runs) finds it again by name and calls `run`.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from sparkcast.errors import StudyError
from sparkcast.registry import Registry, did_you_mean
from sparkcast.study import Configuration, Level, Study
from sparkcast.units import parse_bytes


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing a study may set or vary. The default's type is the setting's type; `choices` make it a category."""

    name: str
    default: Level
    help: str
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    is_size: bool = False  # written like Spark's sizes: 512m, 4g

    def check(self, level: Level) -> None:
        """Raise StudyError when `level` cannot be a value of this setting."""
        if self.is_size:
            if not isinstance(level, str) or parse_bytes(level) <= 0:
                raise StudyError(f"{self.name} = {level!r} is not a size", hint="write it as 512m or 4g")
        elif self.choices:
            if level not in self.choices:
                raise StudyError(
                    f"{self.name} = {level!r} is not one of its choices", hint=did_you_mean(str(level), self.choices)
                )
        elif isinstance(self.default, str):
            if not isinstance(level, str):
                raise StudyError(f"{self.name} = {level!r} is not a text", hint=self.help)
        else:
            self._check_number(level)

    def _check_number(self, level: Level) -> None:
        whole = isinstance(self.default, int)
        if isinstance(level, (str, bool)) or (whole and not isinstance(level, int)):
            raise StudyError(f"{self.name} = {level!r} is not a {'whole ' if whole else ''}number", hint=self.help)
        if self.minimum is not None and level < self.minimum:
            raise StudyError(f"{self.name} = {level!r} is below its minimum {self.minimum:g}", hint=self.help)


# Settings of the cluster rather than of the job: every workload has them, the engines translate them.
CLUSTER_SETTINGS = (
    Setting("executors", 1, "executors of one job", minimum=1),
    Setting("cores", 1, "cores of one executor", minimum=1),
    Setting("memory", "1g", "memory of one executor", is_size=True),
    Setting("jobs", 1, "identical jobs running at once", minimum=1),
)


class Job(Protocol):
    """What `run` gets on the driver: its settings, Spark, and a place to report."""

    @property
    def settings(self) -> Configuration: ...

    @property
    def data_dir(self) -> Path:
        """Where `prepare` left its files."""
        ...

    def spark_context(self) -> Any:
        """The SparkContext, made at the first call."""
        ...

    def started(self) -> None:
        """Start-up is over: what follows is the work being measured."""
        ...

    def epoch(
        self,
        number: int,
        time_s: float,
        *,
        accuracy: float | None = None,
        loss: float | None = None,
        throughput: float | None = None,
    ) -> None:
        """One point of the per-epoch curve; `time_s` counts from `started`."""
        ...

    def result(self, **responses: float) -> None:
        """The measured responses; call once, at the end."""
        ...


class Workload(Protocol):
    settings: tuple[Setting, ...]  # its own; CLUSTER_SETTINGS come on top
    responses: tuple[str, ...]  # names that `result` will report
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
class Guessable(Protocol):
    """A workload with a response that guessing reaches as well, such as the accuracy of a classifier."""

    @property
    def chance(self) -> Mapping[str, float]:
        """What guessing gives, by response."""
        ...


WORKLOADS: Registry[Workload] = Registry("workload", __name__)


def complete(workload: Workload, configuration: Configuration) -> dict[str, Level]:
    """The configuration with every default filled in."""
    return {s.name: configuration.get(s.name, s.default) for s in (*CLUSTER_SETTINGS, *workload.settings)}


def resolve(study: Study) -> Study:
    """The study with every default of its workload filled in, so that rules may use them and results record them.

    Raises StudyError, naming the line, for a setting, level or rule that the workload does not know.
    """
    workload = WORKLOADS.get(study.workload)()
    known = {s.name: s for s in (*CLUSTER_SETTINGS, *workload.settings)}
    levels = {**{f.name: f.levels for f in study.factors}, **{name: (v,) for name, v in study.fixed.items()}}
    for name, values in levels.items():
        with _at(study, "settings", name):
            if name not in known:
                hint = did_you_mean(name, tuple(known))
                raise StudyError(f"workload {study.workload!r} has no setting {name!r}", hint=hint)
            for value in values:
                known[name].check(value)
    for i, rule in enumerate(study.rules):
        with _at(study, "rules", str(i)):
            rule.require_names(tuple(known))
    if study.price is not None and study.price.hour is not None:
        with _at(study, "price", "hour"):
            study.price.hour.require_names(tuple(known))
    varied = {factor.name for factor in study.factors}
    fixed = {name: level for name, level in complete(workload, study.fixed).items() if name not in varied}
    return replace(study, fixed=fixed)


@contextmanager
def _at(study: Study, *keys: str) -> Iterator[None]:
    """Put the place in the study file in front of a StudyError."""
    try:
        yield
    except StudyError as error:
        raise StudyError(f"{study.where(*keys)}{error.problem}", hint=error.hint) from error
