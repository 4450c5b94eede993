"""Anybody's job: a spark-submit line as it is, with settings in the places of its arguments."""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparkcast.errors import RunError, StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study import Level
from sparkcast.study.application import FROM_THE_LOG
from sparkcast.study.arrivals import ARRIVAL_RATE
from sparkcast.study.environment import is_local
from sparkcast.study.names import COST, usual_vocabulary
from sparkcast.study.setting import SYSTEM
from sparkcast.units import as_number
from sparkcast.workloads._placeholders import fill, names_in
from sparkcast.workloads.base import (
    CLUSTER_SETTINGS,
    WORKLOADS,
    Configuration,
    Job,
    Response,
    Role,
    Setting,
    Study,
    SubmittedApplication,
)

if TYPE_CHECKING:
    from sparkcast.workloads._command_block import CommandBlock

RUN_FOLDER = "run_folder"  # a placeholder that is no setting: a folder of the run's own
_PYTHON = ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")  # hdfs:, s3a:, local:, http:


@WORKLOADS.register("command")
@dataclass
class Command:
    """Your own job: any program for spark-submit, as it is."""

    settings: tuple[Setting, ...] = ()
    responses: tuple[Response, ...] = FROM_THE_LOG
    example: Mapping[str, object] = field(default_factory=dict)
    asked: tuple[str, ...] = ()  # responses that the block itself names
    _study: Study | None = None
    _block: "CommandBlock | None" = None
    _patterns: Mapping[str, re.Pattern[str]] = field(default_factory=dict)

    def for_study(self, study: Study) -> "Command":
        from sparkcast.workloads._command_block import compile_pattern, read_block

        block = read_block(study)
        levels = _levels(study)
        _check_placeholders(study, block, tuple(levels))
        readings = block.readings()
        patterns = {}
        for name, reading in readings.items():
            if reading.pattern is not None:
                patterns[name] = _at(study, ("responses", name), compile_pattern, name, reading.pattern)
        told = {name: reading.response(name) for name, reading in readings.items()}
        own = tuple(response for response in FROM_THE_LOG if response.name not in told)
        return Command(
            settings=_settings(study, block, levels),
            responses=(*own, *told.values()),
            example={name: list(of) if len(of) > 1 else of[0] for name, of in levels.items()},
            asked=tuple(told),
            _study=study,
            _block=block,
            _patterns=patterns,
        )

    def starter(self) -> str:
        from sparkcast.workloads.pasted import blank_study

        return blank_study()

    def check(self, settings: Configuration) -> None:
        study, block = self._ready()
        if block.deploy_mode == "cluster" and is_local(study.spark.master):
            raise StudyError(
                f"deploy_mode: cluster needs a cluster elsewhere, and the master is {study.spark.master}",
                hint=f"remove deploy_mode from `{study.workload}:`, or run it with `master=`",
            )
        for name, meaning in block.sampling.items():
            if Role(meaning) is Role.FRACTION and not 0 < (as_number(settings[name]) or 0) <= 1:
                raise StudyError(
                    f"{name} = {settings[name]} is not a share of the data",
                    hint=f"use a number above 0 and up to 1, or say `sampling: {{{name}: data-size}}`",
                )

    def prepare(self, settings: Configuration, data_dir: Path) -> str:
        """Nothing is prepared: the job brings its data. Their sizes and times are the fingerprint."""
        study, block = self._ready()
        lines = [line for text in block.data for line in _stamps(study, self._directory(), text)]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16] if lines else ""

    def spark_conf(self, settings: Configuration) -> Mapping[str, str]:
        return {}

    def run(self, job: Job) -> None:
        raise RunError("a command is submitted as it is, and not run by sparkcast's driver")

    def application(self, settings: Configuration, folder: Path) -> SubmittedApplication:
        study, block = self._ready()
        values = {name: study.text(name, level) for name, level in settings.items()} | {RUN_FOLDER: str(folder)}
        file = fill(block.application, values)
        directory = self._directory()
        if not directory.is_dir():
            raise StudyError(f"{study.where(study.workload, 'directory')}there is no folder {str(directory)!r}")
        _require_file(study, "application", directory, file)
        if block.properties_file:
            _require_file(study, "properties_file", directory, block.properties_file)
        readings = self.readings
        return replace(
            readings,
            file=file,
            arguments=tuple(fill(word, values) for word in block.arguments),
            options=tuple(_options(block, values)),
            environment=_environment(block, values, is_read=bool(readings.promised)),
            directory=directory,
            properties_file=directory / block.properties_file if block.properties_file else None,
            name=block.name,
        )

    @property
    def readings(self) -> SubmittedApplication:
        study, block = self._ready()
        promised = tuple(dict.fromkeys((*self.asked, *_promised(study))))
        return SubmittedApplication(block.application, promised=promised, patterns=self._patterns)

    def _ready(self) -> "tuple[Study, CommandBlock]":
        if self._study is None or self._block is None:
            raise StudyError("a command needs a study that says what to submit", hint="see: sparkcast init command")
        return self._study, self._block

    def _directory(self) -> Path:
        study, block = self._ready()
        return ((study.path or Path()).parent / block.directory).resolve()


# ---------------------------------------------------------------- what the study says


def _levels(study: Study) -> dict[str, tuple[Level, ...]]:
    """Of each setting that a job has, those that only differ among the jobs of a stream included.

    How often jobs arrive is a setting of the stream, and no job is told of it.
    """
    mixed: dict[str, tuple[Level, ...]] = {}
    for part in study.mix:
        for name, level in part.settings.items():
            mixed[name] = tuple(dict.fromkeys((*mixed.get(name, ()), level)))
    fixed = {name: (level,) for name, level in study.fixed.items()}
    found = {**{factor.name: factor.levels for factor in study.factors}, **fixed, **mixed}
    return {name: levels for name, levels in found.items() if name != ARRIVAL_RATE}


def _at(study: Study, keys: tuple[str, ...], make: Any, *arguments: Any) -> Any:
    """Call `make`; a StudyError it raises gets the place in the block in front."""
    try:
        return make(*arguments)
    except StudyError as error:
        raise StudyError(f"{study.where(study.workload, *keys)}{error.problem}", hint=error.hint) from error


def _check_placeholders(study: Study, block: "CommandBlock", settings: tuple[str, ...]) -> None:
    """Raises StudyError for a placeholder without a setting, and for a setting that changes nothing."""
    cluster = tuple(setting.name for setting in CLUSTER_SETTINGS)
    known = tuple(dict.fromkeys((*settings, *cluster, RUN_FOLDER)))
    used: set[str] = set()
    for keys, text in block.texts():
        for name in _at(study, keys, lambda text: list(names_in(text)), text):
            if name not in known:
                place = study.where(study.workload, *keys)
                raise StudyError(
                    f"{place}the placeholder {{{name}}} has no setting {name!r}",
                    hint=f"{did_you_mean(name, known)} Or add it: settings: {{{name}: ...}}; for a brace write {{{{",
                )
            used.add(name)
    for name in settings:
        if name not in used and name not in cluster and not name.startswith("spark."):
            raise StudyError(
                f"{study.where('settings', name)}setting {name!r} is not used by any placeholder, so it has no effect",
                hint=f"write {{{name}}} in its place among the arguments, or remove the setting",
            )
    for name in block.sampling:
        if name not in settings:
            raise StudyError(
                f"{study.where(study.workload, 'sampling', name)}sampling names no setting: {name!r}",
                hint=did_you_mean(name, settings),
            )


def _settings(study: Study, block: "CommandBlock", levels: Mapping[str, tuple[Level, ...]]) -> tuple[Setting, ...]:
    cluster = {setting.name for setting in CLUSTER_SETTINGS}
    used = [name for _, text in block.texts() for name in names_in(text)]  # in the order in which the job takes them
    own = [
        name for name in dict.fromkeys(used) if name in levels and name not in cluster and not name.startswith("spark.")
    ]
    usual = usual_vocabulary(own, ())
    reserved = {response.name for response in FROM_THE_LOG} | set(block.responses)
    made = []
    for name in own:
        if name in reserved:
            raise StudyError(
                f"{study.where('settings', name)}{name!r} is the name of a response",
                hint="rename the setting, here and in its placeholder",
            )
        role = Role(block.sampling[name]) if name in block.sampling else usual.role(name)
        # What the job calls workers or memory is not what Spark gives it.
        role = Role.OTHER if role in SYSTEM else role
        made.append(Setting(name, _default(levels[name]), "of your job", role=role, argument=_argument(block, name)))
    return tuple(made)


def _argument(block: "CommandBlock", name: str) -> str:
    """How the job is given a setting: `--rows {}`, `--rows={}` or, by its place, `{}`."""
    for before, word in zip(("", *block.arguments), block.arguments, strict=False):
        if f"{{{name}}}" in word and len(list(names_in(word))) == 1:
            option = f"{before} " if before.startswith("-") and word == f"{{{name}}}" and "{" not in before else ""
            return fill(option + word, {name: "{}"})
    return ""


def _default(levels: tuple[Level, ...]) -> Level | None:
    """The first level, as the type that all of them have; None for numbers and texts together."""
    if all(isinstance(level, int) for level in levels) or all(isinstance(level, str) for level in levels):
        return levels[0]
    return None if any(isinstance(level, str) for level in levels) else float(levels[0])


def _promised(study: Study) -> Iterator[str]:
    """Responses that the study names and the event log does not tell."""
    known = {response.name for response in FROM_THE_LOG} | ({COST} if study.price is not None else set())
    for response in study.responses:
        yield from (name for name in response.needs if name not in known)


# ---------------------------------------------------------------- what is submitted


def _options(block: "CommandBlock", values: Mapping[str, str]) -> Iterator[str]:
    for key, text in block.options():
        yield from (f"--{key.replace('_', '-')}", fill(text, values))
    for switch in ("supervise", "verbose"):
        if getattr(block, switch):
            yield f"--{switch}"


def _environment(block: "CommandBlock", values: Mapping[str, str], *, is_read: bool) -> dict[str, str]:
    # The job is submitted as its owner would submit it: with the Python that they chose.
    python = {name: os.environ[name] for name in _PYTHON if os.environ.get(name)}
    # What it prints is read, with the time it was printed: it must not wait in a buffer.
    unbuffered = {"PYTHONUNBUFFERED": "1"} if is_read else {}
    return python | unbuffered | {name: fill(text, values) for name, text in block.environment.items()}


def _require_file(study: Study, key: str, directory: Path, file: str) -> None:
    if not _ELSEWHERE.match(file) and not (directory / file).is_file():
        raise StudyError(
            f"{study.where(study.workload, key)}there is no file {file!r} in {directory}",
            hint=f"{key} is resolved relative to the study file, or to `directory`",
        )


def _stamps(study: Study, directory: Path, text: str) -> Iterator[str]:
    """Each file of the data with its size and time; where another machine has them, only their name."""
    if _ELSEWHERE.match(text):
        yield text
        return
    path = directory / text
    if not path.exists():
        raise StudyError(
            f"{study.where(study.workload, 'data')}there is no file or folder {text!r} in {directory}",
            hint="data is resolved relative to the study file, or to `directory`",
        )
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    for file in files:
        stat = file.stat()
        yield f"{text} {file.relative_to(path)} {stat.st_size} {stat.st_mtime_ns}"
