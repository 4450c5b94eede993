"""Bringing a database that several use up to date, when somebody says so."""

from dataclasses import dataclass

import sqlalchemy as sa

from sparkcast.display import Displayed
from sparkcast.errors import BusyError
from sparkcast.store import databases, lease, schema
from sparkcast.store.shelf import Shelf


@dataclass(frozen=True, slots=True)
class StoreMigrated(Displayed):
    store: str
    before: int | None  # its schema version; None: it was new
    now: int
    studies: int
    runs: int


def migrate(shelf: Shelf) -> StoreMigrated:
    """Bring a store to the present schema, all or nothing. Raises BusyError while somebody measures."""
    if "://" in shelf.target:
        _require_nobody(shelf)
    with shelf.opened(migrate=True) as store, store.database.transaction() as connection:
        studies = connection.execute(sa.select(sa.func.count()).select_from(schema.studies)).scalar_one()
        runs = connection.execute(sa.select(sa.func.count()).select_from(schema.observations)).scalar_one()
        return StoreMigrated(shelf.shown, store.database.found_version, schema.VERSION, studies, runs)


def _require_nobody(shelf: Shelf) -> None:
    """Whoever measures has opened the store as it is, and would go on to write what it knows."""
    engine = databases.engine_of(shelf.target)
    try:
        with engine.connect() as connection:
            has_leases = sa.inspect(connection).has_table(schema.leases.name)
            held = lease.holders(connection) if has_leases else {}
    except sa.exc.DBAPIError:
        return  # said, with advice, where the store is opened
    finally:
        engine.dispose()
    for study, holder in held.items():
        raise BusyError(
            f"study {study!r} of this store is being run ({holder})",
            hint="wait for it to finish, or stop it; then bring the store up to date",
        )
