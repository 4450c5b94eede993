"""Into a store: each job is a study of its own there, under its name."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from sparkcast.data.ingest.destination import IngestedTable, job_of
from sparkcast.data.ingest.observations import datasets_of, mixed_levels
from sparkcast.data.ingest.settings import Pattern
from sparkcast.errors import StudyError
from sparkcast.store import STORE_FILES, open_store
from sparkcast.study import Observation, Study

# Of a study that nobody defined: no workload, no settings.
NOT_ASKED = Study("", "", ()).measured_definition()
_FOLDERS = ("", ".results")  # how a new folder may be called; anything else is a slip of the pen


class IntoStore:
    """`target` is a results folder, an SQLite file or a database URL."""

    patterns: tuple[Pattern, ...] = ()

    def __init__(self, target: str) -> None:
        if "://" not in target:
            require_place(Path(target))
        self._target = target
        self._studies: dict[str, str] = {}  # run id -> the study that has it
        self.earlier: dict[str, Observation] = {}
        self._measured: set[str] = set()
        if "://" in target or Path(target).exists():
            self._look()

    def _look(self) -> None:
        store = open_store(self._target, create="://" not in self._target)
        try:
            for study in store.study_names():
                if store.definition(study).get("workload"):
                    self._measured.add(study)
                    continue
                for run in store.ingested(study):
                    self._studies[run.run_id] = study
                    self.earlier[run.run_id] = run
        finally:
            store.close()

    def refuse(self, runs: Sequence[Observation], *, is_chosen: bool) -> Mapping[str, str]:
        taken = "the store has a study of this name with a study file: ingest into that, or name the job with `job=`"
        return {run.run_id: taken for run in runs if job_of(run) in self._measured}

    def adapt(self, run: Observation) -> Observation:
        return run

    def write(self, runs: Mapping[str, Observation]) -> tuple[IngestedTable, ...]:
        if not runs:
            return ()
        changed = sorted((run for run in runs.values() if run != self.earlier.get(run.run_id)), key=job_of)
        store = open_store(self._target, create=True)
        try:
            for run in changed:
                if (study := self._studies.get(run.run_id)) is not None and study != job_of(run):
                    store.drop_ingested(study, [run.run_id])
            for job, group in groupby(changed, key=job_of):
                store.keep_ingested(job, NOT_ASKED, list(group))
        finally:
            store.close()
        tables = []
        for job, data in datasets_of(runs.values()).items():
            if data.observations:
                told = mixed_levels(data)
                tables.append(IngestedTable(self._target, job, job, len(data.observations), data.factors, told))
        return tuple(tables)


def require_place(path: Path) -> None:
    """Raise StudyError for what cannot become a store, or should not."""
    hint = "name a .csv file, a study file, or a results folder (new, empty or with a store)"
    if not path.exists():
        if path.suffix.lower() not in (*_FOLDERS, *STORE_FILES):
            raise StudyError(f"cannot ingest into {str(path)!r}", hint=hint)
    elif path.is_dir() and not (path / "store.sqlite").is_file() and any(path.iterdir()):
        raise StudyError(f"the folder {str(path)!r} holds other files and no store", hint=hint)
