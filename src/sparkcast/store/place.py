"""Where the results of a study are: its rows in a store, its logs and output in a folder of this machine."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sparkcast.store import databases
from sparkcast.store.store import Store, make_private_folder, open_store, results_folder
from sparkcast.study import Study

_POINTER = "store.url"  # in the results folder: where `run --store` has put its rows


@dataclass(frozen=True, slots=True)
class ResultsPlace:
    """`store` is the results folder itself, or the URL of a database that several share."""

    folder: Path
    store: str

    @classmethod
    def local(cls, folder: Path) -> Self:
        return cls(folder, str(folder))

    @property
    def is_shared(self) -> bool:
        return "://" in self.store

    @property
    def exists(self) -> bool:
        """Whether there is a store; one behind a URL is looked at when it is opened."""
        return self.is_shared or (self.folder / "store.sqlite").exists()

    def open(self) -> Store:
        return open_store(self.store)

    def open_to_write(self) -> Store:
        """With the folder for logs and output; a store by URL is noted there, so that later commands find it."""
        make_private_folder(self.folder)
        store = open_store(self.store, create=not self.is_shared)
        if self.is_shared and databases.is_without_password(self.store):
            (self.folder / _POINTER).write_text(f"{self.store}\n")
        return store


def results_place(study: Study) -> ResultsPlace:
    """The study's own store, else the one used before, else the team's, else the folder next to its file.

    Results that are in the folder already stay there: a variable of the environment does not hide them.
    """
    assert study.path is not None
    folder = results_folder(study.path)
    if study.store:
        return ResultsPlace(folder, databases.require_no_password(study.store))
    pointer = folder / _POINTER
    if pointer.is_file():
        return ResultsPlace(folder, pointer.read_text().strip())
    team = None if (folder / "store.sqlite").exists() else databases.team_store()
    return ResultsPlace(folder, team or str(folder))
