"""Class archives: JVMs that start in half the time.

Starting a driver and its executors is mostly loading the same few thousand classes again. The JVM can keep them in a
file (dynamic AppCDS, JEP 350). The archive is made once per machine, Java, Spark and class path by a small job that is
not measured, and used by every job after it, so that all trials are treated alike. It only changes how long start-up
takes; deleting the cache is always safe.
"""

import hashlib
import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sparkcast.engines._distribution import Distribution
from sparkcast.engines._java import Java

_OLDEST_JAVA = 13  # the first with -XX:ArchiveClassesAtExit


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """The pair of archives for one class path."""

    folder: Path

    @property
    def exists(self) -> bool:
        return all((self.folder / f"{role}.jsa").is_file() for role in ("driver", "executor"))

    def options_to_use(self) -> dict[str, str]:
        # A stale archive is ignored by the JVM, which would say so in the middle of the job's output.
        return self._options("-XX:SharedArchiveFile={}/{}.jsa -Xlog:cds=off -Xlog:cds+dynamic=off", self.folder)

    def options_to_make(self, draft: Path) -> dict[str, str]:
        return self._options("-XX:ArchiveClassesAtExit={}/{}.jsa -Xlog:cds=off -Xlog:cds+dynamic=off", draft)

    def keep(self, draft: Path) -> None:
        """Put a draft in place, if it is complete. No reader ever sees half a file."""
        if not ClassArchive(draft).exists:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        for file in draft.glob("*.jsa"):
            part = self.folder / f"{file.name}.{secrets.token_hex(4)}"
            shutil.copyfile(file, part)
            part.replace(self.folder / file.name)

    def _options(self, template: str, folder: Path) -> dict[str, str]:
        return {f"spark.{r}.extraJavaOptions": template.format(folder, r) for r in ("driver", "executor")}


def find_archive(spark: Distribution, java: Java, conf: Mapping[str, str]) -> ClassArchive | None:
    """The archive for jobs with this class path, made or not; None when this Java cannot have one."""
    if java.major < _OLDEST_JAVA:
        return None
    class_path = [conf.get(f"spark.{role}.extraClassPath", "") for role in ("driver", "executor")]
    jars = [Path(p) for part in class_path for p in part.split(":") if p]
    stamps = [f"{jar}:{jar.stat().st_mtime_ns}" for jar in jars if jar.exists()]
    facts = [str(spark.home), spark.version, str(java.home), java.version, *class_path, *stamps]
    key = hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]
    return ClassArchive(_cache_folder() / f"classes-{key}")


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "sparkcast"
