"""What a spark-submit line asks for, and the same line with other settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from sparkcast.study import Role
from sparkcast.workloads._submit_line import SubmitLine, parse_line
from sparkcast.workloads.pasted import shape_asked

__all__ = ["AskedShape", "SubmitLine", "asked_shape", "parse_line", "program_of", "with_properties"]

_ROLES = {Role.MACHINES: "executors", Role.CORES: "cores", Role.MEMORY: "memory"}
_OPTIONS = {  # that say what a property says
    "--num-executors": "spark.executor.instances",
    "--executor-cores": "spark.executor.cores",
    "--executor-memory": "spark.executor.memory",
    "--total-executor-cores": "spark.cores.max",
}
_CONF = ("--conf", "-c")


@dataclass(frozen=True, slots=True)
class AskedShape:
    """Of executors; None where the line leaves it to Spark."""

    executors: int | None
    cores: int | None
    memory: str | None
    is_dynamic: bool


def asked_shape(line: SubmitLine) -> AskedShape:
    """The executors that a line asks for."""
    told, is_dynamic = shape_asked(line)
    executors, cores = told.get(_ROLES[Role.MACHINES], ""), told.get(_ROLES[Role.CORES], "")
    return AskedShape(
        int(executors) if executors.isdigit() and not is_dynamic else None,
        int(cores) if cores.isdigit() else None,
        told.get(_ROLES[Role.MEMORY]),
        is_dynamic,
    )


def program_of(line: SubmitLine) -> str:
    """The file that is submitted, or its class, without folders."""
    return line.kept.get("class") or PurePath(line.application).name


def with_properties(words: Sequence[str], changes: Mapping[str, str]) -> tuple[str, ...]:
    """The line with these properties, in place of what it says of them.

    >>> with_properties(["spark-submit", "--num-executors", "4", "job.py"], {"spark.executor.instances": "8"})
    ('spark-submit', '--conf', 'spark.executor.instances=8', 'job.py')
    """
    place = next((n for n, word in enumerate(words) if PurePath(word).name.startswith("spark")), 0) + 1
    added = [part for name, value in changes.items() for part in ("--conf", f"{name}={value}")]
    return (*words[:place], *added, *_without(words[place:], changes))


def _without(words: Sequence[str], names: Mapping[str, str]) -> list[str]:
    kept: list[str] = []
    place, is_option = 0, True
    while place < len(words):
        word, following = words[place], words[place + 1 : place + 2]
        option, equals, value = word.partition("=")
        said = value if equals else "".join(following)
        step = 1 if equals else 2
        if not is_option or not word.startswith("-"):
            is_option, step = False, 1
        elif (option in _OPTIONS and _OPTIONS[option] in names) or (
            option in _CONF and said.partition("=")[0] in names
        ):
            place += step
            continue
        elif option in ("--supervise", "--verbose", "-v"):
            step = 1
        kept += words[place : place + step]
        place += step
    return kept
