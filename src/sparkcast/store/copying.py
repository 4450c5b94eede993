"""All that is known of studies, from one store into another: SQLite or PostgreSQL, either way.

Done again, it changes nothing; done later, it brings what is new. Rows are told by what they are about, since numbers
that a database has given out (of trials, of searches) are others in each.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from sparkcast.display import Displayed
from sparkcast.errors import StoreError, StudyChangedError, StudyError
from sparkcast.registry import did_you_mean
from sparkcast.store import schema
from sparkcast.store.rows import decisive
from sparkcast.store.shelf import Shelf
from sparkcast.store.store import Store
from sparkcast.study import differences

_STAYS = ("meta", "leases", "runners", "claims")  # what a database says of itself, and of those who write it now
_NATURAL = {"trials": ("study", "key"), "searches": ("study", "created_at")}  # what tells rows whose number does not
_KEPT = {"runs": ("attempt",)}  # what may differ between two stores
_BATCH = 400

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CopiedStudy:
    study: str
    runs: int  # measured and ingested ones that the source has
    new: int  # of these, those that the target had not
    changed: int  # rows of any kind that the target had otherwise
    under_way: int = 0  # runs that had not ended: copied as cut short, up to when they were last seen


@dataclass(frozen=True, slots=True)
class StoreCopied(Displayed):
    source: str
    target: str
    studies: tuple[CopiedStudy, ...]


@dataclass(frozen=True, slots=True)
class _Written:
    new: int = 0
    changed: int = 0


def copy(source: Shelf, target: Shelf, studies: Sequence[str] = ()) -> StoreCopied:
    """Copy these studies, or all. Each is copied whole or not at all."""
    if source.target == target.target:
        raise StudyError("a store cannot be copied onto itself", hint="name another folder, file or URL")
    with source.opened() as from_, target.opened(create="://" not in target.target) as to:
        known = from_.study_names()
        if not known:
            raise StoreError(f"the store {source.shown!r} contains no study", hint="nothing was copied")
        for name in studies:
            if name not in known:
                raise StoreError(f"the store has no study {name!r}", hint=did_you_mean(name, known))
        copied = []
        for study in studies or known:
            with target.held(to, study):
                copied.append(_Copy(from_, to, study).run())
        if not studies:
            _copy_rest(from_, to)
    return StoreCopied(source.shown, target.shown, tuple(copied))


class _Copy:
    """One study."""

    def __init__(self, source: Store, target: Store, study: str) -> None:
        self._source, self._target, self._study = source, target, study
        self._ids: dict[str, dict[int, int]] = {table: {} for table in _NATURAL}

    def run(self) -> CopiedStudy:
        found = CopiedStudy(self._study, 0, 0, 0)
        with self._source.database.transaction() as reading, self._target.database.transaction() as writing:
            self._require_same(reading, writing)
            for table in schema.metadata.sorted_tables:
                chosen = None if table.name in _STAYS else _of_study(table, self._study)
                if chosen is None:
                    continue
                rows = self._read(reading, table, chosen)
                counted = self._write(writing, table, rows)
                found = replace(found, changed=found.changed + counted.changed)
                if table is schema.observations:
                    found = replace(found, runs=_count(reading, table, chosen), new=counted.new)
            running = schema.runs.c.state == "running"
            chosen = _of_study(schema.runs, self._study)
            assert chosen is not None
            return replace(found, under_way=_count(reading, schema.runs, chosen & running))

    def _require_same(self, reading: Connection, writing: Connection) -> None:
        """Raise unless the target may take it: the same study, whose trials were not measured there as well."""
        query = sa.select(schema.studies.c.definition).where(schema.studies.c.name == self._study)
        ours, theirs = reading.execute(query).scalar(), writing.execute(query).scalar()
        if ours and theirs and (changes := differences(decisive(theirs), decisive(ours))):
            raise StudyChangedError(
                f"study {self._study!r} is another one in the target: {'; '.join(changes)}",
                hint="copy it into a store of its own, or measure it under another name",
            )
        finals = (
            sa.select(schema.trials.c.key, schema.observations.c.run_id)
            .join(schema.observations, schema.observations.c.trial_id == schema.trials.c.id)
            .where(schema.trials.c.study == self._study, schema.observations.c.is_final)
        )
        here, there = ({row.key: row.run_id for row in connection.execute(finals)} for connection in (reading, writing))
        runs = _of_study(schema.runs, self._study)
        assert runs is not None
        known = set(reading.execute(sa.select(schema.runs.c.id).where(runs)).scalars())
        twice = [key for key, run_id in there.items() if run_id not in known and here.get(key, run_id) != run_id]
        if twice:
            raise StoreError(
                f"study {self._study!r} was measured in both stores: {len(twice)} trials have a result of their own in "
                "each",
                hint="a trial has one result: keep the two stores apart, or measure one of them under another name",
            )

    def _read(self, reading: Connection, table: sa.Table, chosen: sa.ColumnElement[bool]) -> Iterator[Row]:
        query = sa.select(table).where(chosen)
        if "is_final" in table.c:  # a result that counts no more makes room for the one that does
            query = query.order_by(table.c.is_final)
        for row in reading.execute(query).mappings():
            yield _closed(dict(row)) if table is schema.runs else dict(row)

    def _write(self, writing: Connection, table: sa.Table, rows: Iterable[Row]) -> _Written:
        total, own_id = _Written(), "id" if table.name in _NATURAL else None
        for some in _batched(rows):
            numbers = [row.pop(own_id) for row in some] if own_id else []
            mapped = [self._mapped(table, row) for row in some]
            counted = _store(writing, table, mapped, self._ids.get(table.name), numbers)
            total = _Written(total.new + counted.new, total.changed + counted.changed)
        return total

    def _mapped(self, table: sa.Table, row: Row) -> Row:
        """With the numbers that trials and searches have in the target."""
        for column in table.c:
            for key in column.foreign_keys:
                ids = self._ids.get(key.column.table.name)
                if ids is not None and row[column.name] is not None:
                    row[column.name] = ids[row[column.name]]
        return row


def _of_study(table: sa.Table, study: str) -> sa.ColumnElement[bool] | None:
    """Which rows are about a study; None of a table that says nothing of studies."""
    if table is schema.studies:
        return table.c.name == study
    if "study" in table.c:
        return table.c.study == study
    for column in table.c:
        for key in column.foreign_keys:
            parent = _of_study(key.column.table, study)
            if parent is not None:
                return column.in_(sa.select(key.column).where(parent))
    return None


def _closed(row: Row) -> Row:
    """A run that goes on ends, for the copy, when it was last seen; copied again later, it has its end."""
    if row["state"] != "running":
        return row
    return row | {"state": "interrupted", "ended_at": row["ended_at"] or row["launched_at"]}


def _store(
    writing: Connection,
    table: sa.Table,
    rows: Sequence[Row],
    ids: dict[int, int] | None,
    numbers: Sequence[int],
) -> _Written:
    """Insert what is new and update what differs; notes in `ids` what the rows with these `numbers` are called."""
    columns = _columns_of_key(table)
    keys = [tuple(row[column.name] for column in columns) for row in rows]
    new, changed = _update(writing, table, rows, columns, keys)
    if table is schema.runs and new:
        _number_attempts(writing, new)
    if new:
        writing.execute(table.insert(), new)
    if ids is not None:
        query = sa.select(table.c.id, *columns).where(sa.tuple_(*columns).in_(keys))
        given = {tuple(row)[1:]: row[0] for row in writing.execute(query)}
        ids.update({number: given[key] for number, key in zip(numbers, keys, strict=True)})
    return _Written(len(new), changed)


def _columns_of_key(table: sa.Table) -> list[sa.Column[Any]]:
    names = _NATURAL.get(table.name) or tuple(column.name for column in table.primary_key.columns)
    return [table.c[name] for name in names]


def _update(
    writing: Connection,
    table: sa.Table,
    rows: Sequence[Row],
    columns: Sequence[sa.Column[Any]],
    keys: Sequence[tuple[Any, ...]],
) -> tuple[list[Row], int]:
    """Bring the rows that are there up to date; returns those that are not, and how many were otherwise."""
    found = {
        tuple(row[column.name] for column in columns): dict(row)
        for row in writing.execute(sa.select(table).where(sa.tuple_(*columns).in_(keys))).mappings()
    }
    changed = 0
    for key, row in zip(keys, rows, strict=True):
        if (known := found.get(key)) is None:
            continue
        cells = {name: value for name, value in row.items() if name not in _KEPT.get(table.name, ())}
        if cells != {name: known[name] for name in cells}:
            changed += 1
            match = sa.and_(*(column == value for column, value in zip(columns, key, strict=True)))
            writing.execute(table.update().where(match).values(cells))
    return [row for key, row in zip(keys, rows, strict=True) if key not in found], changed


def _number_attempts(writing: Connection, rows: Sequence[Row]) -> None:
    """A trial may have been tried in both stores: attempts get the next numbers that are free."""
    runs = schema.runs.c
    wanted = {row["trial_id"] for row in rows}
    query = sa.select(runs.trial_id, runs.attempt).where(runs.trial_id.in_(wanted))
    taken = {(row.trial_id, row.attempt) for row in writing.execute(query)}
    for row in rows:
        while (row["trial_id"], row["attempt"]) in taken:
            row["attempt"] += 1
        taken.add((row["trial_id"], row["attempt"]))


def _copy_rest(source: Store, target: Store) -> None:
    """What is not about a study: how far logs have been read, say."""
    with source.database.transaction() as reading, target.database.transaction() as writing:
        for table in schema.metadata.sorted_tables:
            if table.name in _STAYS:
                continue
            of_none = _of_study(table, "")  # a log that gave no run
            query = sa.select(table) if of_none is None else sa.select(table).where(of_none)
            for some in _batched(dict(row) for row in reading.execute(query).mappings()):
                _store(writing, table, some, None, ())


def _count(connection: Connection, table: sa.Table, chosen: sa.ColumnElement[bool]) -> int:
    return int(connection.execute(sa.select(sa.func.count()).select_from(table).where(chosen)).scalar_one())


def _batched(rows: Iterable[Row]) -> Iterator[list[Row]]:
    left = iter(rows)
    while some := list(islice(left, _BATCH)):
        yield some
