"""Which Spark to use: SPARK_HOME when set, else the pyspark package."""

import os
import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from sparkcast.errors import RunError


@dataclass(frozen=True, slots=True)
class SparkInstallation:
    home: Path
    version: str


def find_spark(*, honor_spark_home: bool) -> SparkInstallation:
    """The Spark to submit with. The embedded cluster ignores SPARK_HOME: driver and Python must match."""
    home = os.environ.get("SPARK_HOME")
    if honor_spark_home and home:
        return SparkInstallation(Path(home), _version_of(Path(home)))
    spec = find_spec("pyspark")  # found without importing it: that takes half a second
    if spec is None or spec.origin is None:
        raise RunError("Spark is not installed", hint="pip install 'sparkcast[spark]', or set SPARK_HOME")
    return SparkInstallation(Path(spec.origin).parent, version("pyspark"))


def _version_of(home: Path) -> str:
    for jar in (home / "jars").glob("spark-core_*.jar"):
        if match := re.search(r"-(\d+\.\d+\.\d+)", jar.name):
            return match[1]
    try:
        return version("pyspark")
    except PackageNotFoundError:
        raise RunError(
            f"SPARK_HOME={home} does not contain Spark", hint="unset it or point it at a Spark folder"
        ) from None
