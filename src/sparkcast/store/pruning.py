"""Removing old runs: attempts that count for nothing first, results only where newer ones of the same kind stay."""

import math
import shutil
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from sparkcast.display import Displayed
from sparkcast.errors import StoreError, StudyError
from sparkcast.plain import to_json
from sparkcast.registry import did_you_mean
from sparkcast.store import schema
from sparkcast.store.checking import orphans
from sparkcast.store.shelf import Shelf
from sparkcast.store.store import Store
from sparkcast.study import Outcome

_BATCH = 500


@dataclass(frozen=True, slots=True)
class PruneRule:
    """Runs that ended longer ago go; the newest `keep` results of each group of alike ones stay.

    Alike are results of the same settings of a study, and ingested runs of the same job.
    """

    older_than_s: float | None  # None: no run goes
    keep: int = 1
    orphans: bool = False  # folders that belong to no run, too


@dataclass(frozen=True, slots=True)
class PrunedStudy:
    study: str
    attempts: int  # lost, cut short or superseded: they count for nothing
    results: int
    ingested: int
    reopened: int  # trials of the study that `run --resume` would measure again
    is_last: bool  # no result of this study stays


@dataclass(frozen=True, slots=True)
class StorePruned(Displayed):
    store: str
    done: bool  # False: this is what would be removed
    studies: tuple[PrunedStudy, ...]
    folders: int  # of logs and output
    bytes: int
    orphans: int = 0  # of these folders, those that belonged to no run

    @property
    def runs(self) -> int:
        return sum(one.attempts + one.results + one.ingested for one in self.studies)


@dataclass(frozen=True, slots=True)
class _Old:
    counts: PrunedStudy
    measured: tuple[str, ...]
    ingested: tuple[str, ...]
    folders: tuple[str, ...]


def prune(shelf: Shelf, rule: PruneRule, studies: Sequence[str] = (), *, confirmed: bool = False) -> StorePruned:
    """What would be removed; with `confirmed` it is."""
    if rule.keep < 0:
        raise StudyError(f"`keep={rule.keep}` is negative", hint="0 removes even the last result of a study")
    if rule.keep == 0 and not studies:
        raise StudyError(
            "`keep=0` would remove the last results of every study of the store",
            hint="name the study: `studies=[NAME]`; or keep at least 1 of each kind",
        )
    with shelf.opened() as store:
        known = store.study_names()
        for name in studies:
            if name not in known:
                raise StoreError(f"the store has no study {name!r}", hint=did_you_mean(name, known))
        before = -math.inf if rule.older_than_s is None else time.time() - rule.older_than_s
        counts, folders = list[PrunedStudy](), list[Path]()
        for study in studies or known:
            found = _prune_study(shelf, store, study, before, rule.keep, confirmed)
            if found.measured or found.ingested:
                counts.append(found.counts)
            if shelf.folder is not None:
                folders += [path for name in found.folders if (path := shelf.folder / name).is_dir()]
        stray = orphans(store, shelf.folder) if rule.orphans and shelf.folder is not None else ()
        folders += stray
        size = sum(map(_size, folders))
        if confirmed:
            for path in folders:
                with suppress(FileNotFoundError):
                    shutil.rmtree(path)
            store.database.compact()
        return StorePruned(shelf.shown, confirmed, tuple(counts), len(folders), size, len(stray))


def _prune_study(shelf: Shelf, store: Store, study: str, before: float, keep: int, confirmed: bool) -> _Old:
    if not confirmed:
        with store.database.transaction() as connection:
            return _old(connection, study, before, keep)
    with shelf.held(store, study), store.database.transaction() as connection:
        found = _old(connection, study, before, keep)  # again: nobody else writes now
        _delete(connection, study, found)
    return found


def _old(connection: Connection, study: str, before: float, keep: int) -> _Old:
    runs, seen, trials = schema.runs.c, schema.observations.c, schema.trials.c
    measured = connection.execute(
        sa.select(runs.id, runs.artifacts, runs.ended_at, runs.launched_at, runs.state, trials.configuration)
        .add_columns(seen.is_final, seen.outcome)
        .select_from(
            schema.runs.join(schema.trials, trials.id == runs.trial_id).outerjoin(
                schema.observations, seen.run_id == runs.id
            )
        )
        .where(trials.study == study, runs.state != "running")
        .order_by(runs.launched_at.desc())
    ).all()
    finals = defaultdict[bytes, list[sa.Row[Any]]](list)
    for row in measured:
        if row.is_final:
            finals[to_json(dict(sorted(row.configuration.items())))].append(row)
    staying = {
        row.id
        for group in finals.values()  # newest first; one that succeeded is not given up for a failure
        for row in sorted(group, key=lambda row: str(row.outcome) != Outcome.OK.value)[:keep]
    }
    gone = [
        row
        for row in measured
        if row.id not in staying and (row.launched_at if row.ended_at is None else row.ended_at) < before
    ]
    results = [row.id for row in gone if row.is_final]
    attempts = [row.id for row in gone if not row.is_final]
    folders = [row.artifacts for row in gone]
    of_logs = connection.execute(
        sa.select(seen.run_id, seen.started_at)
        .where(seen.study == study, seen.trial_id.is_(None))
        .order_by(sa.func.coalesce(seen.started_at, 0).desc(), seen.run_id)
    ).all()
    ingested = tuple(row.run_id for row in of_logs[keep:] if (row.started_at or 0.0) < before)
    n_final = sum(bool(row.is_final) for row in measured)
    is_last = bool(results or ingested) and n_final + len(of_logs) == len(results) + len(ingested)
    counts = PrunedStudy(study, len(attempts), len(results), len(ingested), len(results), is_last)
    return _Old(counts, (*attempts, *results), ingested, tuple(folders))


def _delete(connection: Connection, study: str, old: _Old) -> None:
    """Of every table that speaks of runs, those that others name last."""
    of_runs = [table for table in reversed(schema.metadata.sorted_tables) if "run_id" in table.c]
    for some in _parts(old.measured):
        for table in of_runs:
            own = table.c.run_id.in_(some)
            if "study" in table.c:  # an ingested run of another study may have the same id
                own &= table.c.study == study
            connection.execute(table.delete().where(own))
        connection.execute(schema.runs.delete().where(schema.runs.c.id.in_(some)))
    for some in _parts(old.ingested):
        for table in of_runs:
            if "study" in table.c:
                connection.execute(table.delete().where(table.c.run_id.in_(some), table.c.study == study))


def _parts(ids: Sequence[str]) -> list[Sequence[str]]:
    return [ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH)]


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
