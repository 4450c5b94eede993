"""Whether a store holds together: its database, and the folder with the logs and output of its runs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from sparkcast.display import Displayed
from sparkcast.errors import StoreError
from sparkcast.plain import from_plain
from sparkcast.store import schema
from sparkcast.store.packing import unpack
from sparkcast.store.records import unpack_record
from sparkcast.store.shelf import Shelf, held_studies
from sparkcast.store.store import Store
from sparkcast.study import Observation, Trial

_FEW = 5  # examples
_BATCH = 200
_RUNS = "runs"  # the folder, in that of the results, that has one for each run


@dataclass(frozen=True, slots=True)
class StoreFinding:
    problem: str
    count: int
    examples: tuple[str, ...]
    hint: str = ""
    is_remark: bool = False  # worth knowing, and no damage


@dataclass(frozen=True, slots=True)
class StoreChecked(Displayed):
    store: str
    studies: int
    runs: int
    findings: tuple[StoreFinding, ...]
    looked_at: str = ""  # the folder of logs and output; "" where there is none here

    @property
    def ok(self) -> bool:
        return all(finding.is_remark for finding in self.findings)


def check(shelf: Shelf) -> StoreChecked:
    """Look at every row and every folder. Changes nothing."""
    with shelf.opened() as store:
        held = held_studies(store)
        with store.database.transaction() as connection:
            findings = [*_damaged_file(connection), *_missing_columns(connection)]
            if not findings:
                findings = [*_broken_references(connection), *_lost_rows(connection), *_unreadable(connection)]
                findings += _left_open(connection, held)
                findings += _artifacts(connection, shelf.folder)
            runs = _count(connection, schema.observations)
            studies = _count(connection, schema.studies)
        is_here = shelf.folder is not None and (shelf.folder / _RUNS).is_dir()
        return StoreChecked(shelf.shown, studies, runs, tuple(findings), str(shelf.folder) if is_here else "")


def _damaged_file(connection: Connection) -> Iterator[StoreFinding]:
    if connection.dialect.name != "sqlite":
        return
    said = [str(text) for text in connection.execute(sa.text("PRAGMA integrity_check")).scalars()]
    if said != ["ok"]:
        yield StoreFinding("the file is damaged", len(said), tuple(said[:_FEW]), "restore a backup")


def _missing_columns(connection: Connection) -> Iterator[StoreFinding]:
    inspector = sa.inspect(connection)
    for table in schema.metadata.sorted_tables:
        there = {column["name"] for column in inspector.get_columns(table.name)}
        if lacking := [column.name for column in table.c if column.name not in there]:
            hint = "another program has changed the tables: copy what can be read with `api.copy_store(A, B)`"
            yield StoreFinding(f"table {table.name} lacks columns", len(lacking), tuple(lacking[:_FEW]), hint)


def _broken_references(connection: Connection) -> Iterator[StoreFinding]:
    """Rows that speak of others which are not there."""
    for table in schema.metadata.sorted_tables:
        for column in table.c:
            for key in column.foreign_keys:
                parent = key.column.table
                other = parent.alias()
                is_there = sa.exists().where(other.c[key.column.name] == column)
                yield from _rows(
                    connection,
                    sa.select(column).where(column.is_not(None), ~is_there),
                    f"rows of {table.name} name {parent.name} that are not there",
                    "restore a backup, or copy the studies that are whole: `api.copy_store(A, B)`",
                )


def _lost_rows(connection: Connection) -> Iterator[StoreFinding]:
    """What belongs together without a foreign key that says so."""
    runs, seen, records = schema.runs.c, schema.observations.c, schema.app_records.c
    observed = sa.exists().where(seen.run_id == runs.id)
    yield from _rows(
        connection,
        sa.select(runs.id).where(runs.state.in_(("done", "superseded")), ~observed),
        "runs ended and have no result",
        "their trials are repeated by `api.run(STUDY, resume=True)`",
    )
    begun = sa.exists().where(runs.id == seen.run_id)
    yield from _rows(
        connection,
        sa.select(seen.run_id).where(seen.trial_id.is_not(None), ~begun),
        "results of runs that are not there",
        "no answer counts them: restore a backup to have them back",
    )
    of_run = sa.exists().where(seen.study == records.study, seen.run_id == records.run_id)
    yield from _rows(
        connection, sa.select(records.run_id).where(~of_run), "records of applications that are not there", ""
    )
    doubled = sa.select(seen.trial_id).where(seen.is_final).group_by(seen.trial_id).having(sa.func.count() > 1)
    yield from _rows(connection, doubled, "trials with more than one result", "restore a backup")


def _unreadable(connection: Connection) -> Iterator[StoreFinding]:
    """What is stored and cannot be read back."""
    yield from _each(connection, schema.trials, _read_trial, "trials are not what their keys say", lambda r: r.key)
    yield from _each(connection, schema.observations, _read_run, "results cannot be read", lambda r: r.run_id)
    for table, read in ((schema.run_series, unpack), (schema.app_records, unpack_record)):
        yield from _each(
            connection,
            table,
            lambda row, read=read: read(bytes(row.packed)),  # type: ignore[misc]
            f"rows of {table.name} cannot be read",
            lambda row: row.run_id,
        )


def _read_trial(row: sa.Row[tuple[object, ...]]) -> None:
    if Trial(row.configuration, row.replicate).key != row.key:
        raise ValueError(row.key)


def _read_run(row: sa.Row[tuple[object, ...]]) -> None:
    plain = {str(name): value for name, value in row._mapping.items()}
    from_plain(Observation, plain | {"configuration": plain["configuration"] or {}, "started_at": 0.0})


def _each(
    connection: Connection,
    table: sa.Table,
    read: Callable[[sa.Row[tuple[object, ...]]], object],
    problem: str,
    name: Callable[[sa.Row[tuple[object, ...]]], object],
) -> Iterator[StoreFinding]:
    bad = []
    for row in connection.execution_options(yield_per=_BATCH).execute(sa.select(table)):
        try:
            read(row)
        except (ValueError, StoreError):
            bad.append(str(name(row)))
    if bad:
        hint = "ingest their logs again, or restore a backup; all other rows are whole"
        yield StoreFinding(problem, len(bad), tuple(bad[:_FEW]), hint)


def _left_open(connection: Connection, held: dict[str, str]) -> Iterator[StoreFinding]:
    query = (
        sa.select(schema.trials.c.study)
        .join(schema.runs, schema.runs.c.trial_id == schema.trials.c.id)
        .where(schema.runs.c.state == "running")
    )
    studies = list(connection.execute(query).scalars())
    if left := [study for study in studies if study not in held]:
        yield StoreFinding(
            "runs have no end yet",
            len(left),
            tuple(dict.fromkeys(left))[:_FEW],
            "they go on, or a crash left them open: then `api.run(STUDY, resume=True)` ends and repeats them",
            is_remark=True,
        )


def _artifacts(connection: Connection, folder: Path | None) -> Iterator[StoreFinding]:
    """Rows without their folder, and folders without a row."""
    if folder is None or not (folder / _RUNS).is_dir():
        return
    query = sa.select(schema.runs.c.artifacts, schema.runs.c.state)
    named = {row.artifacts: row.state for row in connection.execute(query)}
    there = {f"{_RUNS}/{path.name}" for path in (folder / _RUNS).iterdir()}
    # A run that was cut short while it began has none.
    lacking = sorted(name for name, state in named.items() if name not in there and state in ("done", "superseded"))
    if lacking:
        hint = "their results stay as they are; their output cannot be read again"
        yield StoreFinding("runs have no logs and output here", len(lacking), tuple(lacking[:_FEW]), hint, True)
    if unknown := sorted(there - named.keys()):
        hint = "nothing speaks of them: `api.prune_store(STORE, orphans=True)` removes them"
        yield StoreFinding("folders belong to no run", len(unknown), tuple(unknown[:_FEW]), hint)


def _rows(connection: Connection, query: sa.Select[tuple[object]], problem: str, hint: str) -> Iterator[StoreFinding]:
    found = [str(value) for value in connection.execute(query).scalars()]
    if found:
        yield StoreFinding(problem, len(found), tuple(dict.fromkeys(found))[:_FEW], hint)


def _count(connection: Connection, table: sa.Table) -> int:
    return int(connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one())


def orphans(store: Store, folder: Path) -> tuple[Path, ...]:
    """Folders of runs of which the store knows nothing."""
    with store.database.transaction() as connection:
        named = set(connection.execute(sa.select(schema.runs.c.artifacts)).scalars())
    there = sorted((folder / _RUNS).iterdir()) if (folder / _RUNS).is_dir() else []
    return tuple(path for path in there if f"{_RUNS}/{path.name}" not in named)
