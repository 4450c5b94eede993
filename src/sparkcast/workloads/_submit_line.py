"""A spark-submit line taken apart as spark-submit itself does it. No shell is involved: words in, words out."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean

# What Spark calls the same thing when it is a property; an option wins over `--conf`.
_AS_PROPERTY = {
    "--num-executors": "spark.executor.instances",
    "--executor-cores": "spark.executor.cores",
    "--executor-memory": "spark.executor.memory",
    "--total-executor-cores": "spark.cores.max",
    "--driver-memory": "spark.driver.memory",
    "--driver-cores": "spark.driver.cores",
    "--driver-java-options": "spark.driver.extraJavaOptions",
    "--driver-class-path": "spark.driver.extraClassPath",
    "--driver-library-path": "spark.driver.extraLibraryPath",
    "--queue": "spark.yarn.queue",
}
_KEPT = (
    "--class --name --jars --packages --exclude-packages --repositories --py-files --files --archives --principal "
    "--keytab --proxy-user --deploy-mode --properties-file"
).split()
_SWITCHES = {"--supervise": "supervise", "--verbose": "verbose", "-v": "verbose"}
_NO_JOBS = {
    "--kill": "it kills a job",
    "--status": "it asks about a job",
    "--help": "it asks for help",
    "-h": "it asks for help",
    "--usage-error": "it asks for help",
    "--version": "it asks for the version",
    "--remote": "a Spark Connect client has no driver to measure",
}
_KNOWN = ("--master", "--conf", "-c", *_AS_PROPERTY, *_KEPT, *_SWITCHES, *_NO_JOBS)
_WITH_EQUALS = re.compile(r"(--[^=]+)=(.+)", re.DOTALL)  # as in Spark's SparkSubmitOptionParser
_COMMANDS = ("spark-submit", "spark-submit.sh", "spark-submit.cmd", "spark2-submit", "spark3-submit")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


@dataclass(slots=True)
class SubmitLine:
    application: str = ""
    arguments: tuple[str, ...] = ()  # of the application, untouched
    master: str = ""
    properties: dict[str, str] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)  # options, by their keys in a study: py_files
    switches: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


def parse_line(words: Sequence[str]) -> SubmitLine:
    """Take a line apart. Raises StudyError for what spark-submit would refuse, and for what submits no job."""
    line = SubmitLine()
    waiting = iter(_after_the_command(words, line))
    given: dict[str, str] = {}  # to tell what stands twice
    confs: dict[str, str] = {}
    for word in waiting:
        equals = _WITH_EQUALS.fullmatch(word)
        option = equals[1] if equals else word
        if option in _NO_JOBS:
            raise StudyError(
                f"{option} does not submit a job: {_NO_JOBS[option]}", hint="paste the line that starts your job"
            )
        if not equals and word in _SWITCHES:
            line.switches = tuple(dict.fromkeys((*line.switches, _SWITCHES[word])))
        elif option not in _KNOWN or option in _SWITCHES:
            if word.startswith("-"):
                known = tuple(name for name in _KNOWN if name.startswith("--"))
                raise StudyError(f"spark-submit has no option {option!r}", hint=did_you_mean(option, known))
            line.application, line.arguments = word, tuple(waiting)
        else:
            value = equals[2] if equals else _value(option, waiting)
            if option in ("--conf", "-c"):
                option, value = _property(value)
                _once(confs, option, value)
            else:
                if option == "--master" and option in given:
                    raise _twice(option)
                _once(given, option, value)
    if not line.application:
        raise StudyError(
            "the line names no application", hint="it should end like this: spark-submit ... train.py --rows 1000000"
        )
    _sort(line, given, confs)
    return line


def _after_the_command(words: Sequence[str], line: SubmitLine) -> Iterator[str]:
    """What follows `spark-submit`; assignments in front of it are its environment."""
    if len(words) == 1 and any(sign.isspace() for sign in words[0]):
        try:
            words = shlex.split(words[0])  # the whole line in quotes
        except ValueError as error:
            raise StudyError(f"the line cannot be read: {error}", hint="is a quote missing?") from error
    for place, word in enumerate(words):
        try:
            word.encode()
        except UnicodeEncodeError as error:
            raise StudyError(f"word {place + 1} of the line, {word!r}, is not valid UTF-8") from error
    for place, word in enumerate(words):
        assigned = _ASSIGNMENT.fullmatch(word)
        if PurePath(word).name in _COMMANDS:
            yield from words[place + 1 :]
            return
        if assigned:
            line.environment[assigned[1]] = assigned[2]
        elif word != "env":
            break
    shown = words[0] if words else ""
    raise StudyError(
        f"paste the spark-submit line of your job; this one starts with {shown!r}",
        hint="sparkcast init -- spark-submit [options] train.py ..., or a workload: see sparkcast list workloads",
    )


def _value(option: str, waiting: Iterator[str]) -> str:
    value = next(waiting, None)
    if value is None:
        raise StudyError(f"{option} has no value", hint="something is missing at the end of the line")
    return value


def _property(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.startswith("spark."):
        raise StudyError(f"--conf {key!r} is not spark.some.key=value", hint="e.g. --conf spark.executor.memory=2g")
    return key, value


def _once(given: dict[str, str], name: str, value: str) -> None:
    if given.setdefault(name, value) != value:
        raise _twice(name)


def _twice(name: str) -> StudyError:
    return StudyError(f"{name} is given twice", hint="spark-submit would use the last one: keep only that one")


def _sort(line: SubmitLine, given: dict[str, str], confs: dict[str, str]) -> None:
    line.master = given.pop("--master", "") or confs.pop("spark.master", "")
    confs.pop("spark.master", None)
    line.properties = confs | {_AS_PROPERTY[name]: value for name, value in given.items() if name in _AS_PROPERTY}
    line.kept = {name[2:].replace("-", "_"): value for name, value in given.items() if name in _KEPT}
    for name, key in (("spark.app.name", "name"), ("spark.submit.deployMode", "deploy_mode")):
        if name in line.properties:
            line.kept.setdefault(key, line.properties.pop(name))
