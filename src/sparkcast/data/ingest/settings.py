"""The settings of an application, from what its log keeps: properties, executors, and texts that hold parameters."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sparkcast.errors import StudyError
from sparkcast.eventlogs import LogRead
from sparkcast.facts import ClusterShape
from sparkcast.study import Level, Role
from sparkcast.study.redaction import REDACTED
from sparkcast.units import shortest_size
from sparkcast.workloads import CLUSTER_SETTINGS

OWN_PREFIX = "spark.sparkcast."  # properties that a job sets for us to find
_LONGEST = 80  # of a value that could be a level
# Told by the executors themselves.
_OF_THE_CLUSTER = ("spark.executor.instances", "spark.executor.cores", "spark.executor.memory", "spark.cores.max")
# Properties that say how a job is run, by how they begin. Others say where it runs, or who it is.
_HOW = (
    *(
        "spark.sql.",
        "spark.executor.",
        "spark.shuffle.",
        "spark.memory.",
        "spark.default.parallelism",
        "spark.reducer.",
    ),
    *("spark.serializer", "spark.kryo", "spark.dynamicAllocation.", "spark.speculation", "spark.task.", "spark.io."),
    *("spark.rdd.", "spark.locality.", "spark.broadcast.", "spark.storage.", "spark.python.", "spark.rapids."),
    *("spark.driver.memory", "spark.driver.cores", "spark.driver.maxResultSize", "spark.scheduler.", "spark.unsafe."),
    *("spark.cleaner.", "spark.network.", "spark.hadoop.mapreduce.", "spark.files.", "spark.adaptive."),
)
_WHERE = (
    *("spark.executor.id", "spark.executor.extra", "spark.executor.metrics", "spark.executor.processTreeMetrics"),
    *("spark.executor.logs", "spark.sql.warehouse", "spark.sql.catalog", "spark.sql.hive", "spark.sql.extensions"),
    *("spark.executor.heartbeat", "spark.sql.queryExecutionListeners", "spark.sql.ui", "spark.executorEnv"),
)
# What Spark takes where nobody says anything, of properties that people vary.
_DEFAULTS = {
    "spark.sql.shuffle.partitions": "200",
    "spark.sql.adaptive.enabled": "true",
    "spark.memory.fraction": "0.6",
    "spark.speculation": "false",
    "spark.dynamicAllocation.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "10485760",
    "spark.sql.files.maxPartitionBytes": "134217728",
    "spark.driver.memory": "1g",
    "spark.driver.cores": "1",
    "spark.task.cpus": "1",
    "spark.serializer": "org.apache.spark.serializer.JavaSerializer",
}
UNSET = "default"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A setting of the job's own, and where in a text its value stands: the first group of `regex`."""

    name: str
    regex: str
    is_required: bool = True  # a log that does not tell it is left out

    def value(self, texts: tuple[str, ...]) -> str | None:
        """The first that any of the texts tells."""
        for text in texts:
            if found := re.search(self.regex, text):
                return found[1] or ""
        return None


def parse_pattern(text: str, *, is_required: bool = True) -> Pattern:
    r"""What `--setting` takes.

    >>> parse_pattern(r"rows=--rows (\d+)").value(("job.py --rows 100",))
    '100'
    """
    name, equals, regex = text.partition("=")
    if not equals or not re.fullmatch(r"[A-Za-z_][\w.]*", name):
        raise StudyError(f"`settings=` {text!r}: not NAME=REGEX", hint=r"for example 'rows=--rows (\d+)'")
    try:
        found = re.compile(regex)
    except re.error as error:
        raise StudyError(f"`settings=` {text!r}: {error}", hint="use a Python regular expression") from None
    if found.groups != 1:
        raise StudyError(
            f"`settings=` {text!r} has {found.groups or 'no'} groups, and its value is what one group matches",
            hint=r"use (...) once, around the value, as in 'rows=--rows (\d+)', and (?:...) elsewhere",
        )
    return Pattern(name, regex, is_required)


def cluster_settings(shape: ClusterShape) -> dict[str, Level]:
    """How many executors there were at once, and what each had, by the names that sparkcast itself has for them."""
    names = {setting.role: setting.name for setting in CLUSTER_SETTINGS}
    found: dict[str, Level] = {names[Role.MACHINES]: max(shape.executors, 1)}
    if shape.cores:
        found[names[Role.CORES]] = shape.cores
    if shape.memory_bytes:
        found[names[Role.MEMORY]] = shortest_size(shape.memory_bytes)
    return found


def run_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Properties that say how the job was run, those set while it ran included."""
    return {
        name: value
        for name, value in properties.items()
        if name.startswith(_HOW)
        and not name.startswith((*_WHERE, OWN_PREFIX))
        and name not in _OF_THE_CLUSTER
        and REDACTED not in value
        and len(value) <= _LONGEST
    }


def own_settings(log: LogRead, patterns: tuple[Pattern, ...]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The job's own parameters, and the names of those that were asked for and are nowhere."""
    told = {n: v for n, v in log.environment.spark.items() if n.startswith(OWN_PREFIX)}
    for job in log.jobs:
        told |= job.properties
    texts = (log.environment.command_line, log.application.name, *(job.description for job in log.jobs), log.log)
    return values_in(texts, patterns, {name.removeprefix(OWN_PREFIX): value for name, value in told.items()})


def values_in(
    texts: tuple[str, ...], patterns: tuple[Pattern, ...], told: Mapping[str, str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """What patterns find beside what is `told` already, and the names of those that found nothing and have to."""
    found, missing = dict(told), []
    for pattern in patterns:
        value = pattern.value(texts)
        if value is not None:
            found[pattern.name] = value
        elif pattern.is_required and pattern.name not in found:
            missing.append(pattern.name)
    return found, tuple(missing)


def differing(each: list[Mapping[str, str]]) -> tuple[str, ...]:
    """The properties that are not the same in all, defaults filled in."""
    names = sorted({name for one in each for name in one})
    return tuple(name for name in names if len({value_of(one, name) for one in each}) > 1)


def value_of(given: Mapping[str, str], name: str) -> str:
    return given.get(name, _DEFAULTS.get(name, UNSET))
