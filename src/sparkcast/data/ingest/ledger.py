"""What was ingested, in a file beside the table, from which the table is written anew each time.

A table has a column only for what differs among its runs. When a run comes in that differs in something else, the
earlier runs' values are needed too: they are here.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sparkcast.errors import StoreError, StudyError
from sparkcast.plain import from_plain, to_json, to_plain
from sparkcast.study import Observation
from sparkcast.study.ingested import upgraded

_VERSION = 2


@dataclass(frozen=True, slots=True)
class IngestLedger:
    """Runs by run id, in the order in which they came; `tables` are the files written from them, with their hashes."""

    runs: dict[str, Observation]
    tables: dict[str, str]


def ledger_file(table: Path) -> Path:
    return table.with_suffix(".ingested.json")


def read_ledger(table: Path, *, force: bool = False) -> IngestLedger:
    """What came in before.

    Raises:
        StudyError: the table exists and was not written by `ingest`, or was changed since.
    """
    file = ledger_file(table)
    if not file.exists():
        if table.exists() and not force:
            raise StudyError(
                f"{str(table)!r} exists and is not from `ingest`", hint="choose another name, or add `force=True`"
            )
        return IngestLedger({}, {})
    try:
        plain = json.loads(file.read_text(encoding="utf-8"))
        if plain["version"] not in (1, _VERSION):
            raise ValueError(f"version {plain['version']}")
        rows = map(upgraded, plain["runs"]) if plain["version"] == 1 else plain["runs"]
        runs = {one["run_id"]: from_plain(Observation, one) for one in rows}
        tables = {str(name): str(mark) for name, mark in plain["tables"].items()}
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise StudyError(f"cannot read {str(file)!r}: {error}", hint="remove it and ingest all logs again") from error
    for name, mark in tables.items():
        written = table.with_name(name)
        if written.exists() and hash_of(written) != mark and not force:
            raise StudyError(
                f"{str(written)!r} was changed since it was ingested",
                hint="choose another name, or `force=True` replaces it",
            )
    return IngestLedger(runs, tables)


def write_ledger(table: Path, runs: Sequence[Observation], tables: Sequence[Path]) -> None:
    plain = {
        "version": _VERSION,
        "runs": to_plain([replace(run, record=None) for run in runs], omit_defaults=True),  # records are for stores
        "tables": {path.name: hash_of(path) for path in tables},
    }
    file = ledger_file(table)
    draft = file.with_name(f"{file.name}.new")
    try:
        draft.write_bytes(to_json(plain, indent=1))
        draft.replace(file)
    except OSError as error:
        raise StoreError(
            f"cannot write {str(file)!r}: {error.strerror or error}", hint="choose another folder"
        ) from error


def hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
