"""Files and folders, on this machine or behind a URL that fsspec understands (`pip install sparkcast[remote]`)."""

import glob
import stat
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast
from urllib.parse import unquote, urlsplit

from sparkcast.errors import StudyError

# What file systems call that which is another after a write.
_CHANGES = ("ETag", "etag", "mtime", "LastModified", "last_modified", "updated", "modificationTime", "modified")


class Place(Protocol):
    """Where logs are. Paths are texts, as they were given or as this place lists them."""

    is_remote: bool

    def is_folder(self, path: str) -> bool: ...
    def is_special(self, path: str) -> bool: ...
    def true_name(self, path: str) -> str: ...
    def exists(self, path: str) -> bool: ...
    def inside(self, path: str) -> list[str]: ...
    def matching(self, pattern: str) -> list[str]: ...
    def size(self, path: str) -> int: ...
    def stamp(self, path: str) -> tuple[int, str]: ...
    def forget(self) -> None: ...
    def open(self, path: str) -> BinaryIO: ...


class _Local:
    is_remote = False

    def is_folder(self, path: str) -> bool:
        return stat.S_ISDIR(self._mode(path))

    def is_special(self, path: str) -> bool:
        """A pipe, a socket or a device: whoever reads one may wait for ever."""
        mode = self._mode(path)
        return bool(mode) and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))

    @staticmethod
    def _mode(path: str) -> int:
        try:
            return Path(path).stat().st_mode
        except OSError:  # whoever opens it is told why
            return 0

    def true_name(self, path: str) -> str:
        """Without links: one folder can have several names."""
        return str(Path(path).resolve())

    def exists(self, path: str) -> bool:
        return Path(path).exists()

    def inside(self, path: str) -> list[str]:
        return sorted(str(entry) for entry in Path(path).iterdir())

    def matching(self, pattern: str) -> list[str]:
        return sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 - absolute patterns too

    def size(self, path: str) -> int:
        return Path(path).stat().st_size

    def stamp(self, path: str) -> tuple[int, str]:
        """The size, and what else is different when somebody has written to it."""
        status = Path(path).stat()
        return status.st_size, f"{status.st_mtime_ns}"

    def forget(self) -> None:
        """Look anew."""

    def open(self, path: str) -> BinaryIO:
        return Path(path).open("rb", buffering=0)


class _Remote:
    is_remote = True

    def __init__(self, url: str) -> None:
        try:
            import fsspec
        except ImportError as error:
            raise StudyError(f"{url}: reading URLs needs fsspec", hint="pip install 'sparkcast[remote]'") from error
        try:
            files, _ = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise StudyError(f"{url}: {error}", hint="install the fsspec package of this kind of storage") from error
        self._files: Any = files

    def is_folder(self, path: str) -> bool:
        return bool(self._files.isdir(path))

    def is_special(self, path: str) -> bool:
        return False

    def true_name(self, path: str) -> str:
        return path

    def exists(self, path: str) -> bool:
        return bool(self._files.exists(path))

    def inside(self, path: str) -> list[str]:
        names = [str(name) for name in self._files.ls(path, detail=False)]
        return sorted(self._files.unstrip_protocol(name.rstrip("/")) for name in names)

    def matching(self, pattern: str) -> list[str]:
        return sorted(self._files.unstrip_protocol(str(name)) for name in self._files.glob(pattern))

    def size(self, path: str) -> int:
        return int(self._files.size(path) or 0)

    def stamp(self, path: str) -> tuple[int, str]:
        about = self._files.info(path)
        told = next((about[name] for name in _CHANGES if about.get(name)), "")
        return int(about.get("size") or 0), str(told)

    def forget(self) -> None:
        """Lists of folders are kept by fsspec, and who looks again would not see new files."""
        self._files.invalidate_cache()

    def open(self, path: str) -> BinaryIO:
        return cast(BinaryIO, self._files.open(path, "rb"))


def place_of(path: str) -> tuple[Place, str]:
    """Where `path` is, and how it is called there."""
    if path.startswith("file:"):
        return _Local(), unquote(urlsplit(path).path)
    return (_Remote(path) if "://" in path else _Local()), path


def last_name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
