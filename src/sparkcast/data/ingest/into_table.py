"""Into .csv files: one for each job, with the ledger beside them from which they are written anew."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from sparkcast.data.ingest.destination import IngestedTable
from sparkcast.data.ingest.ledger import read_ledger, write_ledger
from sparkcast.data.ingest.observations import datasets_of, mixed_levels
from sparkcast.data.ingest.settings import Pattern
from sparkcast.data.table import write_table
from sparkcast.errors import StoreError
from sparkcast.study import Observation


class IntoTable:
    """The job that came first has the file that was named, others have files beside it."""

    patterns: tuple[Pattern, ...] = ()

    def __init__(self, path: Path, *, force: bool = False) -> None:
        self._path = path
        self.earlier: Mapping[str, Observation] = read_ledger(path, force=force).runs

    def refuse(self, runs: Sequence[Observation], *, is_chosen: bool) -> Mapping[str, str]:
        return {}

    def adapt(self, run: Observation) -> Observation:
        return run

    def write(self, runs: Mapping[str, Observation]) -> tuple[IngestedTable, ...]:
        tables = []
        for number, (job, data) in enumerate(datasets_of(runs.values()).items()):
            if not data.observations:
                continue
            slug = re.sub(r"[^\w]+", "-", job).strip("-") or str(number)
            path = self._path if number == 0 else self._path.with_name(f"{self._path.stem}-{slug}{self._path.suffix}")
            try:
                write_table(data, path)
            except OSError as error:
                raise StoreError(
                    f"cannot write {str(path)!r}: {error.strerror or error}", hint="choose another folder"
                ) from error
            tables.append(IngestedTable(str(path), "", job, len(data.observations), data.factors, mixed_levels(data)))
        if runs:
            write_ledger(self._path, tuple(runs.values()), [Path(table.path) for table in tables])
        return tuple(tables)
