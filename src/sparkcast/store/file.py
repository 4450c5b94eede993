"""The file of a store: that it is still the one that was opened."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sparkcast.errors import StoreError


@dataclass(frozen=True, slots=True)
class StoreFile:
    """A removed file goes on to exist for whoever has it open, and what is written there is lost with the process."""

    path: Path
    identity: tuple[int, int]  # device and inode

    @classmethod
    def at(cls, path: Path) -> Self:
        return cls(path, _identity(path.stat()))

    def require(self) -> None:
        """Raise StoreError when another file, or none, is at the path now."""
        try:
            is_same, why = _identity(self.path.stat()) == self.identity, "replaced"
        except OSError:
            is_same, why = False, "removed or moved"
        if not is_same:
            raise StoreError(
                f"the store {str(self.path)!r} was {why} while sparkcast was using it; new results cannot be stored",
                hint="put the results folder back and continue with `resume=True`; without it, run the study again",
            )


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
