"""Spark properties: what settings mean in Spark's names, and merging what several parties want."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sparkcast.engines._installation import find_spark
from sparkcast.errors import SparkcastError, StudyError
from sparkcast.study.redaction import redact, redact_word
from sparkcast.workloads import Shape

DYNAMIC_ALLOCATION = "spark.dynamicAllocation.enabled"
DEPLOY_MODE = "spark.submit.deployMode"

# Properties that add up instead of replacing one another: the last Java option wins, the first class does.
_JOINED = {
    "spark.driver.extraJavaOptions": "{ours} {users}",
    "spark.executor.extraJavaOptions": "{ours} {users}",
    "spark.driver.extraClassPath": "{users}:{ours}",
    "spark.executor.extraClassPath": "{users}:{ours}",
}


def shape_conf(shape: Shape) -> dict[str, str]:
    """What a trial asks of the cluster in Spark's own names."""
    return {
        "spark.executor.instances": str(shape.executors),
        "spark.executor.cores": str(shape.cores),
        "spark.cores.max": str(shape.executors * shape.cores),
        "spark.executor.memory": shape.memory,
    }


def shape_with(shape: Shape, users: Mapping[str, str]) -> Shape:
    """What a trial asks of the cluster when the user's own properties replace some of `shape_conf`.

    >>> print(shape_with(Shape(2, 1, "1g", 1), {"spark.executor.memory": "600m", "spark.cores.max": "4"}))
    4 executors with 1 core and 600m each
    """
    cores = _whole(users.get("spark.executor.cores", "")) or shape.cores
    total = _whole(users.get("spark.cores.max", "")) or shape.executors * shape.cores
    memory = users.get("spark.executor.memory", shape.memory)
    memory = f"{memory}m" if memory.isdigit() else memory  # a bare number is mebibytes to Spark
    return replace(shape, executors=max(1, total // cores), cores=cores, memory=memory)


def _whole(text: str) -> int:
    return int(text) if text.isdigit() else 0


# What libraries in a task read to learn how many threads they may use: OpenMP, MKL, OpenBLAS and TensorFlow.
_THREADS = (
    *("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"),
    *("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"),
)


def thread_conf(conf: Mapping[str, str]) -> dict[str, str]:
    """As many threads for each task as cores: else a task on one slot computes on all cores of the machine.

    >>> thread_conf({"spark.task.cpus": "2"})["spark.executorEnv.MKL_NUM_THREADS"]
    '2'
    """
    threads = conf.get("spark.task.cpus", "1")
    return {f"spark.executorEnv.{name}": threads for name in _THREADS}


def merge_conf(ours: Mapping[str, str], users: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Both parties' properties; the user's win, and each time they do there is a note to show."""
    merged, notes = dict(ours), []
    for key, value in users.items():
        if key in _JOINED and ours.get(key):
            merged[key] = _JOINED[key].format(ours=ours[key], users=value)
            continue
        if key in ours and ours[key] != value:
            notes.append(f"your {key}={redact({key: value})[key]} replaces {redact({key: ours[key]})[key]}")
        merged[key] = value
    return merged, tuple(notes)


def join_conf(*layers: Mapping[str, str]) -> dict[str, str]:
    """Our own layers, later ones first in rank; joined properties add up."""
    merged: dict[str, str] = {}
    for layer in layers:
        merged, _ = merge_conf(merged, layer)
    return merged


def read_properties(path: Path) -> dict[str, str]:
    """A Spark properties file: `key value` or `key=value` lines, # comments."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"cannot read the properties file {str(path)!r}: {error}") from error
    properties = {}
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        key, _, value = text.replace("=", " ", 1).partition(" ") if "=" in text.split()[0] else text.partition(" ")
        if not key.startswith("spark.") or not value.strip():
            shown = f"{key} ..." if value else key  # the value may be a secret
            raise StudyError(f"{path.name} line {number}: {shown!r} is not `spark.some.key value`")
        properties[key] = value.strip().removeprefix("=").strip()
    return properties


def spark_defaults_file() -> Path:
    """What the owner of the Spark installation, of which this machine submits jobs, has set for all of them."""
    folder = os.environ.get("SPARK_CONF_DIR") or find_spark(honor_spark_home=True).home / "conf"
    return Path(folder) / "spark-defaults.conf"


def spark_defaults() -> dict[str, str]:
    """Its properties; none where there is no such file, or only Spark itself understands it."""
    try:
        return read_properties(spark_defaults_file())
    except SparkcastError:
        return {}


def deploy_mode(options: Sequence[str], properties: Mapping[str, str], *, has_file: bool) -> str:
    """Where spark-submit runs a driver, as it ranks what it is told; its own file counts unless the user gives one."""
    if "--deploy-mode" in options:
        return options[options.index("--deploy-mode") + 1]
    own = {} if has_file or DEPLOY_MODE in properties else spark_defaults()
    return properties.get(DEPLOY_MODE) or own.get(DEPLOY_MODE, "client")


def property_line(key: str, value: str) -> str:
    r"""A line of a properties file that Java reads as this property.

    >>> print(property_line("spark.ssl.password", r"a=b\c#d"))
    spark.ssl.password=a=b\\c#d
    """
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return f"{key}={escaped}"


def parse_conf_option(text: str) -> tuple[str, str]:
    """One `--conf key=value`."""
    key, separator, value = text.partition("=")
    if not separator or not key.startswith("spark."):
        shown = redact_word(text)
        raise StudyError(
            f"`conf=` {shown!r} is not spark.some.key=value", hint="e.g. `conf={'spark.executor.memory': '2g'}`"
        )
    return key, value
