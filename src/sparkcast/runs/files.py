"""Files of runs at a second place: a folder that others mount, or a URL that fsspec understands."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sparkcast.errors import StoreError
from sparkcast.study import Study
from sparkcast.study.redaction import redact_text


@dataclass(frozen=True, slots=True)
class FilePlace:
    """Raises StoreError, with advice, for what cannot be written or read there."""

    url: str

    def below(self, name: str) -> "FilePlace":
        return FilePlace(f"{self.url.rstrip('/')}/{name}")

    @property
    def _folder(self) -> Path | None:
        """On this machine, or mounted."""
        if self.url.startswith("file:"):
            return Path(unquote(urlsplit(self.url).path))
        return None if "://" in self.url else Path(self.url)

    def make(self) -> None:
        """Have the folder there, and see that it can be written."""
        folder = self._folder
        try:
            if folder is None:
                files, path = self._files()
                files.makedirs(path, exist_ok=True)
                return
            folder.mkdir(parents=True, exist_ok=True)
            if not os.access(folder, os.W_OK):
                raise PermissionError(13, "Permission denied")
        except StoreError:
            raise
        except Exception as error:  # each kind of storage has errors of its own
            raise self._failed("written", error) from error

    def put(self, source: Path) -> None:
        """Copy a folder with all that is in it."""
        folder = self._folder
        try:
            if folder is not None:
                shutil.copytree(source, folder, dirs_exist_ok=True)
                return
            files, path = self._files()
            for file in (one for one in source.rglob("*") if one.is_file()):
                target = f"{path}/{file.relative_to(source).as_posix()}"
                files.makedirs(target.rpartition("/")[0], exist_ok=True)
                files.put_file(str(file), target)
        except StoreError:
            raise
        except Exception as error:
            raise self._failed("written", error) from error

    def get(self, target: Path) -> bool:
        """Copy all that is there into a folder of this machine; returns whether there was anything."""
        folder = self._folder
        try:
            if folder is not None:
                if folder.is_dir():
                    shutil.copytree(folder, target, dirs_exist_ok=True)
                return folder.is_dir()
            files, path = self._files()
            found = files.find(path) if files.exists(path) else []
            for file in found:
                own = target / str(file)[len(path) :].lstrip("/")
                own.parent.mkdir(parents=True, exist_ok=True)
                files.get_file(file, str(own))
            return bool(found)
        except StoreError:
            raise
        except Exception as error:
            raise self._failed("read", error) from error

    def _files(self) -> tuple[Any, str]:
        try:
            import fsspec
        except ImportError as error:
            raise StoreError(f"{self.url}: URLs need fsspec", hint="pip install 'sparkcast[remote]'") from error
        try:
            files, path = fsspec.core.url_to_fs(self.url)
        except (ImportError, ValueError) as error:
            problem = f"{self.url}: {redact_text(str(error))}"
            raise StoreError(problem, hint="install the fsspec package of this kind of storage") from error
        return files, path.rstrip("/")

    def _failed(self, verb: str, error: Exception) -> StoreError:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        problem = f"{self.url} cannot be {verb}: {redact_text(why)}"
        return StoreError(problem, hint="check the address, your rights there, and the network")


def artifacts_place(study: Study) -> FilePlace | None:
    """Where copies of the logs and output of a study's runs go; a relative folder is next to the study file."""
    if not study.artifacts:
        return None
    is_relative = "://" not in study.artifacts and not Path(study.artifacts).is_absolute() and study.path is not None
    base = str(study.path.parent / study.artifacts) if is_relative and study.path else study.artifacts
    return FilePlace(base).below(study.name)
