"""Transactions with a database that may be busy, gone for a moment, or somebody else's snapshot."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from time import monotonic
from typing import Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from sparkcast.errors import StoreError
from sparkcast.store import databases, schema
from sparkcast.store.file import StoreFile
from sparkcast.store.snapshot import Snapshot
from sparkcast.study.redaction import redact_text

PATIENCE_S = 120.0  # how long to wait for a server that has answered before, or says that it is starting
_REPEATS = 3


class UnreachableError(StoreError):
    """The server did not answer. What was asked of it may or may not have been done."""


class ContradictionError(StoreError):
    """The database has a row that forbids this one: another writer was first, or there is a bug."""


class Database:
    """An engine whose tables are there. One that is only a `snapshot` of somebody else's cannot be written."""

    def __init__(self, url: str | sa.URL, snapshot: Snapshot | None = None, *, migrate: bool = False) -> None:
        """A file of an older version is brought up to date; a server's, which others use as well, with `migrate`."""
        self.engine, self._snapshot = databases.engine_of(url), snapshot
        self._file: StoreFile | None = None
        self._is_prepared = False
        try:
            with self.transaction() as connection:
                self.found_version = schema.prepare(connection, may_convert=migrate or not self.is_server)
        except BaseException:
            self.engine.dispose()
            raise
        self._is_prepared = True
        self._file = self._own_file()
        if snapshot is not None:
            self.engine.dispose()
            sa.event.listen(self.engine, "connect", databases.refuse_writing)

    @property
    def is_server(self) -> bool:
        return self.engine.dialect.name != "sqlite"

    @property
    def is_writable(self) -> bool:
        return self._snapshot is None

    def close(self) -> None:
        self.engine.dispose()
        if self._snapshot is not None:
            self._snapshot.remove()

    def compact(self) -> None:
        """Give the disk back what removed rows took, where the database does not see to that itself."""
        if not self.is_server:
            with self._connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql("VACUUM")

    def _own_file(self) -> StoreFile | None:
        path = self.engine.url.database
        is_file = not self.is_server and path not in (None, "", ":memory:")
        return StoreFile.at(Path(str(path))) if is_file else None

    def require_file(self) -> None:
        """Raise StoreError when the file of the store was removed or replaced: SQLite would go on without a word."""
        if self._file is not None:
            self._file.require()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        self.require_file()
        try:
            with self._connect() as connection, connection.begin():
                yield connection
                self.require_file()
        except sa.exc.IntegrityError as error:
            raise ContradictionError(f"the store rejected a contradiction: {error.orig}") from error
        except sa.exc.DBAPIError as error:
            shown = databases.show_url(self.engine.url) if self._snapshot is None else str(self._snapshot.original)
            problem = redact_text(str(error.orig)).strip()
            kind = UnreachableError if databases.is_unreachable(error, self.engine) else StoreError
            raise kind(f"the store {shown!r} failed: {problem}", hint=databases.advice(problem)) from error

    def _connect(self) -> Connection:
        """A connection. A server that has answered before may be restarting, and is waited for."""
        begun, pause_s = monotonic(), 0.1
        while True:
            try:
                return self.engine.connect()
            except sa.exc.DBAPIError as error:
                is_known = self._is_prepared and databases.is_unreachable(error, self.engine)
                is_waiting = is_known or databases.is_restarting(error)
                if not is_waiting or monotonic() - begun > PATIENCE_S:
                    raise
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, 2.0)


_S = TypeVar("_S")
_P = ParamSpec("_P")
_R = TypeVar("_R")


def repeated(work: Callable[Concatenate[_S, _P], _R]) -> Callable[Concatenate[_S, _P], _R]:
    """Do it again when the answer was lost, or another process wrote the same row first.

    A method that writes must find what it wrote the first time, if it did, and leave it at that.
    """

    @wraps(work)
    def again(self: _S, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        for _ in range(_REPEATS):
            with suppress(UnreachableError, ContradictionError):
                return work(self, *args, **kwargs)
        return work(self, *args, **kwargs)

    return again
