"""What `watch` has seen of each log. A row and the run that came of its log are written together, or not at all."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from sparkcast.plain import from_plain
from sparkcast.store import schema
from sparkcast.store.database import repeated
from sparkcast.store.rows import keep_run
from sparkcast.store.store import Store
from sparkcast.study import Observation

_AT_ONCE = 400  # values in one query: SQLite takes a thousand
_WRITERS = 7229738244  # the lock of PostgreSQL under which watchers write, one after the other


@dataclass(frozen=True, slots=True)
class WatchedLogRow:
    """One log as it was when it was last read."""

    log: str
    mark: str  # equal while its files are; "": it is to be read again
    size_bytes: int
    status: str
    reason: str = ""
    study: str = ""
    run_id: str = ""
    read_at: float = 0.0


@dataclass(frozen=True, slots=True)
class KnownRun:
    """A run that the store has of an application."""

    study: str
    run: Observation


@dataclass(frozen=True, slots=True)
class Taking:
    """What to write of one log."""

    row: WatchedLogRow
    run: Observation | None = None  # None: what is known stays as it is


Decide = Callable[[dict[str, WatchedLogRow], dict[str, KnownRun]], Sequence[Taking]]


class WatchedLogs:
    """The rows of one store."""

    def __init__(self, store: Store) -> None:
        self._database = store.database

    def rows(self) -> dict[str, WatchedLogRow]:
        """Every log that was seen, by its name."""
        with self._database.transaction() as connection:
            return {row.log: _row(row) for row in connection.execute(sa.select(schema.watched_logs))}

    def measured_studies(self) -> frozenset[str]:
        """Studies that somebody defined: their names are taken."""
        with self._database.transaction() as connection:
            rows = connection.execute(sa.select(schema.studies.c.name, schema.studies.c.definition))
            return frozenset(row.name for row in rows if row.definition.get("workload"))

    @repeated
    def take(
        self, logs: Sequence[str], run_ids: Sequence[str], definition: Mapping[str, Any], decide: Decide
    ) -> Sequence[Taking]:
        """Write what `decide` makes of what is known now of these logs and runs. All or nothing, one watcher at a time.

        `definition` is that of studies that do not exist yet.
        """
        with self._database.transaction() as connection:
            _wait_for_turn(connection)
            takings = decide(_rows_of(connection, logs), _runs_of(connection, run_ids))
            studies = {one.row.study for one in takings if one.run is not None}
            for study in sorted(studies - _studies_of(connection, studies)):
                values = {"name": study, "definition": dict(definition), "created_at": time.time()}
                connection.execute(schema.studies.insert().values(values))
            for one in takings:
                if one.run is not None:
                    keep_run(connection, one.row.study, one.run)
                connection.execute(schema.watched_logs.delete().where(schema.watched_logs.c.log == one.row.log))
                connection.execute(schema.watched_logs.insert().values(asdict(one.row)))
        return takings

    def forget(self, logs: Iterable[str]) -> None:
        """Have these logs read again."""
        with self._database.transaction() as connection:
            for log in logs:
                connection.execute(schema.watched_logs.delete().where(schema.watched_logs.c.log == log))


def stored_rules(store: Store) -> tuple[dict[str, Any], ...]:
    """What people said of their jobs, in order."""
    with store.database.transaction() as connection:
        rows = connection.execute(sa.select(schema.job_rules.c.rule).order_by(schema.job_rules.c.position))
        return tuple(dict(rule) for rule in rows.scalars())


def store_rules(store: Store, rules: Sequence[Mapping[str, Any]]) -> None:
    """In place of those that the store has."""
    with store.database.transaction() as connection:
        connection.execute(schema.job_rules.delete())
        for position, rule in enumerate(rules):
            connection.execute(schema.job_rules.insert().values(position=position, rule=dict(rule)))


def _wait_for_turn(connection: Connection) -> None:
    """What is decided must still be so when it is written."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({_WRITERS})"))


def _rows_of(connection: Connection, logs: Sequence[str]) -> dict[str, WatchedLogRow]:
    kept = schema.watched_logs
    found: dict[str, WatchedLogRow] = {}
    for some in _portions(logs):
        found |= {row.log: _row(row) for row in connection.execute(sa.select(kept).where(kept.c.log.in_(some)))}
    return found


def _runs_of(connection: Connection, run_ids: Sequence[str]) -> dict[str, KnownRun]:
    kept = schema.observations.c
    found: dict[str, KnownRun] = {}
    for some in _portions(run_ids):
        query = sa.select(schema.observations).where(kept.run_id.in_(some), kept.trial_id.is_(None))
        for row in connection.execute(query):
            plain = {str(name): value for name, value in row._mapping.items()}
            found[row.run_id] = KnownRun(row.study, from_plain(Observation, plain))
    return found


def _studies_of(connection: Connection, names: Iterable[str]) -> set[str]:
    query = sa.select(schema.studies.c.name).where(schema.studies.c.name.in_(list(names)))
    return set(connection.execute(query).scalars())


def _row(row: sa.Row[Any]) -> WatchedLogRow:
    return WatchedLogRow(**row._mapping)


def _portions(values: Sequence[str]) -> Iterable[list[str]]:
    return (list(values[start : start + _AT_ONCE]) for start in range(0, len(values), _AT_ONCE))
