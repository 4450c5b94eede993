"""A store that is looked after as a whole: its database, and the folder with the logs and output of its runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import sqlalchemy as sa

from sparkcast.errors import StoreError
from sparkcast.store import databases, lease, schema
from sparkcast.store.lock import exclusive
from sparkcast.store.place import ResultsPlace
from sparkcast.store.store import STORE_FILES, Store, open_store

_FILE = "store.sqlite"


@dataclass(frozen=True, slots=True)
class Shelf:
    """`folder` is None where only a database is known: the logs are on the machines that made the runs."""

    target: str  # a results folder, an SQLite file, or the URL of a database
    folder: Path | None

    @classmethod
    def at(cls, target: str | Path) -> Self:
        text = str(target)
        if "://" in text:
            return cls(databases.require_no_password(text), None)
        path = Path(text)
        if path.name == _FILE and not path.is_dir():
            return cls(str(path.parent), path.parent)  # the store of a results folder, named by its file
        is_file = path.is_file() or (path.suffix in STORE_FILES and not path.is_dir())
        return cls(text, None if is_file else path)

    @classmethod
    def of(cls, place: ResultsPlace) -> Self:
        return cls(place.store, place.folder)

    @property
    def shown(self) -> str:
        return databases.show_url(sa.make_url(self.target)) if "://" in self.target else self.target

    @contextmanager
    def opened(self, *, create: bool = False, migrate: bool = False) -> Iterator[Store]:
        store = open_store(self.target, create=create, migrate=migrate)
        try:
            yield store
        finally:
            store.close()

    @contextmanager
    def held(self, store: Store, study: str) -> Iterator[None]:
        """The right to write a study, as `run` has it. Raises BusyError while it is being run."""
        if not store.is_writable:
            raise StoreError(
                f"the store {self.shown!r} cannot be written", hint="ask its owner, or copy it: `api.copy_store(A, B)`"
            )
        if store.is_shared:
            with store.holding(study):
                yield
            return
        folder = self.folder or Path(self.target).parent
        with exclusive(folder / "lock"):
            yield


def held_studies(store: Store) -> dict[str, str]:
    """The studies that somebody runs now, with who does."""
    database = store.database
    with database.transaction() as connection:
        if not sa.inspect(connection).has_table(schema.leases.name):
            return {}
        return lease.holders(connection)
