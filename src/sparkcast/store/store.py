"""Studies, trials, runs, searches and observations in one database. What was measured is only ever added to."""

import dataclasses
import os
import secrets
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from sparkcast.errors import NotEnoughDataError, StoreError, StudyChangedError, StudyError
from sparkcast.plain import from_plain
from sparkcast.registry import did_you_mean
from sparkcast.store import claims, lease, schema
from sparkcast.store.clock import RunClock
from sparkcast.store.database import Database, repeated
from sparkcast.store.packing import pack, unpack
from sparkcast.store.records import unpack_record
from sparkcast.store.rows import (
    SearchRun,
    decisive,
    deletion,
    job_row,
    keep_run,
    measured,
    plain_of,
    record_deletion,
    row_of,
)
from sparkcast.store.snapshot import Snapshot, take_snapshot
from sparkcast.study import (
    Configuration,
    JobRun,
    Observation,
    Outcome,
    Plan,
    Sharing,
    Study,
    Trial,
    differences,
)
from sparkcast.study.series import RunSeries

STORE_FILES = (".sqlite", ".db")  # a store that is to be a file, and not a folder
_SUPERSEDED = "superseded"
SEEN_EVERY_S = 5.0  # how often a run that goes on is noted to do so


def results_folder(study_file: Path) -> Path:
    """Everything a study produced: the store, event logs, driver logs."""
    return study_file.with_suffix(".results")


def open_store(target: str | Path, *, create: bool = False, migrate: bool = False) -> "Store":
    """Open a results folder, an SQLite file or a database URL; `migrate` brings an older database up to date."""
    if isinstance(target, str) and "://" in target:
        return Store(target, migrate=migrate)
    path = Path(target)
    is_file = path.is_file() or path.suffix in STORE_FILES
    if create:
        with _creating(path):
            (path.parent if is_file else path).mkdir(0o755 if is_file else 0o700, parents=True, exist_ok=True)
            (path if is_file else path / "store.sqlite").touch(0o600)  # as an empty file, SQLite keeps its mode
    file = path / "store.sqlite" if path.is_dir() else path
    if not create and not file.is_file():
        raise NotEnoughDataError(f"there are no results at {str(path)!r}", hint="create some with: sparkcast run STUDY")
    if create or (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)):
        return Store(_url_of(file))
    snapshot = take_snapshot(file)  # an archive, somebody else's folder: still worth reading
    try:
        return Store(_url_of(snapshot.file), snapshot=snapshot)
    except BaseException:
        snapshot.remove()
        raise


def make_private_folder(path: Path) -> None:
    with _creating(path):
        path.mkdir(0o700, parents=True, exist_ok=True)


@contextmanager
def _creating(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"cannot create the results folder {str(path)!r}: {error.strerror}",
            hint="copy the study file to a folder you can write to",
        ) from error


def _url_of(file: Path) -> sa.URL:
    return sa.URL.create("sqlite", database=str(file))  # in a text, ? and % would mean something


class Store:
    """An open store. One that is only a `snapshot` of somebody else's cannot be written."""

    def __init__(self, url: str | sa.URL, *, snapshot: Snapshot | None = None, migrate: bool = False) -> None:
        self._database = Database(url, snapshot, migrate=migrate)
        self._transaction = self._database.transaction
        self._lease: lease.Lease | None = None
        self._runner: claims.Runner | None = None
        self._clocks: dict[str, RunClock] = {}  # of the runs that this process began

    @property
    def database(self) -> Database:
        """For the other files of this room."""
        return self._database

    def close(self) -> None:
        self._database.close()

    def require_file(self) -> None:
        """Raise StoreError when the file of the store was removed or replaced: SQLite would go on without a word."""
        self._database.require_file()

    @property
    def is_shared(self) -> bool:
        """Whether it is a database of a server, which several machines may write at the same time."""
        return self._database.is_server

    @property
    def is_writable(self) -> bool:
        return self._database.is_writable

    @contextmanager
    def holding(self, study: str) -> Iterator[None]:
        """The right to write runs of the study, for this process alone. Raises BusyError naming who has it."""
        with self._transaction() as connection:
            self._lease = own = lease.acquire(connection, study)
        try:
            with lease.heartbeat(self._database.engine, lambda connection: lease.renew(connection, own)):
                yield
        finally:
            held, self._lease = self._lease, None
            with suppress(StoreError), self._transaction() as connection:  # else it ends by itself
                lease.release(connection, held)

    @contextmanager
    def joining(self, study: str) -> Iterator[None]:
        """The right to write runs of trials that `claim` gives, beside others who have joined."""
        with self._transaction() as connection:
            self._runner = own = claims.join(connection, study)
        try:
            with lease.heartbeat(self._database.engine, lambda connection: claims.stay(connection, own)):
                yield
        finally:
            joined, self._runner = self._runner, None
            with suppress(StoreError), self._transaction() as connection:  # else its time ends by itself
                claims.leave(connection, joined)

    @property
    def is_beside_others(self) -> bool:
        """Whether others may measure the same study now."""
        return self._runner is not None

    @repeated
    def claim(self, trials: Sequence[Trial]) -> Trial | None:
        """The first of these trials without a result that nobody else runs, for this runner alone; None: there is none.

        What dead runners left open is ended, and their trials are given away again.
        """
        assert self._runner is not None, "join first"
        with self._transaction() as connection:
            key = claims.claim(connection, self._runner, [trial.key for trial in trials])
            self._close_runs(connection, self._runner.study, ~claims.by_others(self._runner))
        return next((trial for trial in trials if trial.key == key), None)

    @repeated
    def others_running(self, study: str) -> int:
        """How many trials of a study other runners have claimed."""
        if self._runner is None:
            return 0
        query = sa.select(sa.func.count()).select_from(schema.trials)
        with self._transaction() as connection:
            chosen = query.where(schema.trials.c.study == study, claims.by_others(self._runner))
            return connection.execute(chosen).scalar() or 0

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """A transaction of whoever may write: it fails whole when the study was taken over meanwhile."""
        with self._transaction() as connection:
            if self._lease is not None:
                lease.renew(connection, self._lease)
            if self._runner is not None:
                claims.stay(connection, self._runner)
            yield connection

    # ------------------------------------------------------------ studies and trials

    @repeated
    def register(self, study: Study, plan: Plan, *, allow_changed: bool = False) -> None:
        """Note the study and its trials. Raises StudyChangedError when runs of another definition exist."""
        definition = study.measured_definition()
        with self._writing() as connection:
            stored = self._definition(connection, study.name)
            if stored is None:
                values = {"name": study.name, "definition": definition, "created_at": time.time()}
                connection.execute(schema.studies.insert().values(values))
            elif stored != definition:
                changes = differences(decisive(stored), decisive(definition))
                if changes and not allow_changed and self._count_runs(connection, study.name):
                    raise StudyChangedError(
                        f"study {study.name!r} has changed since it was run: {'; '.join(changes)}",
                        hint=(
                            "give it a new name (study: ...) in a new file, or keep the old runs that still "
                            "apply with `allow_changed=True`"
                        ),
                    )
                update = schema.studies.update().where(schema.studies.c.name == study.name)
                connection.execute(update.values(definition=definition))
            self._sync_trials(connection, study.name, plan)

    def _definition(self, connection: Connection, study: str) -> Mapping[str, Any] | None:
        query = sa.select(schema.studies.c.definition).where(schema.studies.c.name == study)
        return connection.execute(query).scalar()

    def _count_runs(self, connection: Connection, study: str) -> int:
        query = sa.select(sa.func.count()).select_from(schema.runs.join(schema.trials))
        return connection.execute(query.where(schema.trials.c.study == study)).scalar() or 0

    def _sync_trials(self, connection: Connection, study: str, plan: Plan) -> None:
        query = sa.select(schema.trials.c.key).where(schema.trials.c.study == study)
        known = set(connection.execute(query).scalars())
        for trial in plan.trials:
            if trial.key in known:  # only its place in the order can have changed: the rest makes the key
                match = (schema.trials.c.study == study) & (schema.trials.c.key == trial.key)
                connection.execute(schema.trials.update().where(match).values(position=trial.position))
            else:
                identity = {"study": study, "key": trial.key, "position": trial.position}
                contents = {"configuration": dict(trial.configuration), "replicate": trial.replicate}
                connection.execute(schema.trials.insert().values(**identity, **contents))

    @repeated
    def study_names(self) -> tuple[str, ...]:
        with self._transaction() as connection:
            return tuple(connection.execute(sa.select(schema.studies.c.name)).scalars())

    def only_study(self, wanted: str | None = None) -> str:
        """The study asked for, or the only one there is."""
        names = self.study_names()
        if wanted is None and len(names) == 1:
            return names[0]
        if wanted in names:
            return str(wanted)
        if not names:
            raise StoreError("the store contains no study", hint="run one first, or ingest logs into it")
        if wanted:
            raise StoreError(f"the store has no study {wanted!r}", hint=did_you_mean(wanted, names))
        known = " | ".join(map(repr, names))
        raise StoreError(f"the store contains {len(names)} studies", hint=f"say which: `study=` {known}")

    @repeated
    def final_outcomes(self, study: str, plan: Plan) -> dict[str, Outcome]:
        """How the trials of the plan that are finished ended, by their keys."""
        query = sa.select(schema.trials.c.key, schema.observations.c.outcome).select_from(
            schema.trials.join(schema.observations, schema.observations.c.trial_id == schema.trials.c.id)
        )
        with self._transaction() as connection:
            rows = connection.execute(query.where(schema.trials.c.study == study, schema.observations.c.is_final))
            found = {row.key: Outcome(row.outcome) for row in rows}
        return {trial.key: found[trial.key] for trial in plan.trials if trial.key in found}

    def pending(self, study: str, plan: Plan) -> tuple[Trial, ...]:
        """The trials of the plan that have no final observation yet, in run order."""
        finished = self.final_outcomes(study, plan)
        return tuple(trial for trial in plan.trials if trial.key not in finished)

    def reopen(self, study: str, trials: Sequence[Trial]) -> None:
        """Have finished trials run again. Their runs stay in the store, and do not count any more."""
        with self._writing() as connection:
            for trial in trials:
                own = schema.observations.c.trial_id == self._trial_id(connection, study, trial)
                final = sa.select(schema.observations.c.run_id).where(own, schema.observations.c.is_final)
                for run_id in connection.execute(final).scalars().all():
                    of_run = schema.runs.c.id == run_id
                    connection.execute(schema.runs.update().where(of_run).values(state=_SUPERSEDED))
                connection.execute(schema.observations.update().where(own).values(is_final=False))

    @repeated
    def add_trial(self, study: str, configuration: Configuration, replicate: int) -> Trial:
        """The trial with these settings; a new one comes after all that are known."""
        trial = Trial(configuration, replicate)
        of_study = schema.trials.c.study == study
        with self._writing() as connection:
            position = sa.select(schema.trials.c.position).where(of_study, schema.trials.c.key == trial.key)
            found = connection.execute(position).scalar()
            if found is None:
                last = connection.execute(sa.select(sa.func.max(schema.trials.c.position)).where(of_study)).scalar()
                found = (last or 0) + 1
                identity = {"study": study, "key": trial.key, "position": found}
                contents = {"configuration": dict(configuration), "replicate": replicate}
                connection.execute(schema.trials.insert().values(**identity, **contents))
        return dataclasses.replace(trial, position=found)

    def keep_readings(self, study: str, definition: Mapping[str, Any], runs: Sequence[Observation]) -> None:
        """Replace what the output of runs says, and note by what it was read. All or nothing."""
        with self._writing() as connection:
            match = schema.studies.c.name == study
            connection.execute(schema.studies.update().where(match).values(definition=dict(definition)))
            for run in runs:
                row, match = row_of(run), schema.observations.c.run_id == run.run_id
                cells = {name: row[name] for name in ("responses", "curve")}
                connection.execute(schema.observations.update().where(match).values(cells))
                for job in run.jobs:
                    match = (schema.run_jobs.c.run_id == run.run_id) & (schema.run_jobs.c.number == job.number)
                    cells = {name: value for name, value in job_row("", job).items() if name in ("responses", "curve")}
                    connection.execute(schema.run_jobs.update().where(match).values(cells))

    # ------------------------------------------------------------ runs made without sparkcast

    @repeated
    def definition(self, study: str) -> Mapping[str, Any]:
        """What was asked of a study's runs; empty for one that has only come to be by ingesting."""
        with self._transaction() as connection:
            return self._definition(connection, study) or {}

    @repeated
    def ingested_state(self) -> tuple[int, float]:
        """How many runs were ingested, and when the last of them began: another when one came in."""
        kept = schema.observations.c
        query = sa.select(sa.func.count(), sa.func.max(kept.started_at)).where(kept.trial_id.is_(None))
        with self._transaction() as connection:
            n, last = connection.execute(query).one()
        return int(n), float(last or 0.0)

    @repeated
    def ingested(self, study: str, *, with_records: bool = False, last: int | None = None) -> tuple[Observation, ...]:
        """Ingested runs of a study, those of applications that have not ended included, in the order they began.

        `with_records`: each with what its log told beside its numbers, where that was kept. `last`: only so many.
        """
        kept, records = schema.observations.c, schema.app_records.c
        query = sa.select(schema.observations).where(kept.study == study, kept.trial_id.is_(None))
        began = sa.func.coalesce(kept.started_at, 0)
        with self._transaction() as connection:
            rows = connection.execute(query.order_by(began.desc(), kept.run_id.desc()).limit(last)).all()[::-1]
            found: dict[str, bytes] = {}
            if with_records:
                packed = sa.select(records.run_id, records.packed).where(records.study == study)
                if last is not None:
                    packed = packed.where(records.run_id.in_([row.run_id for row in rows]))
                found = {row.run_id: row.packed for row in connection.execute(packed)}
        runs = (from_plain(Observation, plain_of(row)) for row in rows)
        return tuple(
            dataclasses.replace(run, record=unpack_record(found[run.run_id])) if run.run_id in found else run
            for run in runs
        )

    @repeated
    def keep_ingested(self, study: str, definition: Mapping[str, Any], runs: Sequence[Observation]) -> None:
        """Keep runs, in place of what was known of the same applications. All or nothing."""
        with self._writing() as connection:
            if self._definition(connection, study) is None:
                values = {"name": study, "definition": dict(definition), "created_at": time.time()}
                connection.execute(schema.studies.insert().values(values))
            for run in runs:
                keep_run(connection, study, run)

    def drop_ingested(self, study: str, run_ids: Collection[str]) -> None:
        """Forget ingested runs that belong elsewhere now."""
        with self._writing() as connection:
            connection.execute(deletion(study, run_ids))
            connection.execute(record_deletion(study, run_ids))

    # ------------------------------------------------------------ searches

    def begin_search(
        self, study: str, definition: Mapping[str, Any], *, resume: bool = False, allow_changed: bool = False
    ) -> int:
        """The id of the study's search. One that has made runs goes on only with `resume`, and only unchanged;
        `allow_changed` begins another one, for which all that is stored was measured before."""
        latest = sa.select(schema.searches).where(schema.searches.c.study == study)
        with self._writing() as connection:
            found = connection.execute(latest.order_by(schema.searches.c.id.desc())).first()
            made = 0 if found is None else self._count_search_runs(connection, found.id)
            changes = () if found is None else differences(found.definition, definition)
            if found is not None and not changes and (resume or not made):
                return int(found.id)
            if made and not changes:
                raise StudyError(
                    f"this search of study {study!r} has already started (runs started: {made})",
                    hint="continue with `resume=True`, or give the study a new name",
                )
            if made and not allow_changed:
                raise StudyChangedError(
                    f"the search of study {study!r} has changed since it started: {'; '.join(changes)}",
                    hint=(
                        "continue with the same options and `resume=True`; or start another search with "
                        "`allow_changed=True`, which knows everything measured so far"
                    ),
                )
            values = {"study": study, "definition": dict(definition), "created_at": time.time()}
            made_key = connection.execute(schema.searches.insert().values(values)).inserted_primary_key
            assert made_key is not None
            return int(made_key[0])

    def _count_search_runs(self, connection: Connection, search_id: int) -> int:
        query = sa.select(sa.func.count()).where(schema.search_runs.c.search_id == search_id)
        return connection.execute(query).scalar() or 0

    @repeated
    def search_runs(self, search_id: int) -> tuple[SearchRun, ...]:
        """The runs that a search has started, in order; those that were cut short or lost as well."""
        query = (
            sa.select(schema.runs, schema.trials.c.configuration)
            .select_from(schema.search_runs)
            .join(schema.runs, schema.runs.c.id == schema.search_runs.c.run_id)
            .join(schema.trials, schema.trials.c.id == schema.runs.c.trial_id)
            .where(schema.search_runs.c.search_id == search_id)
            .order_by(schema.runs.c.launched_at)
        )
        with self._transaction() as connection:
            rows = connection.execute(query).all()
        return tuple(
            SearchRun(
                row.id,
                Configuration(row.configuration),
                0.0 if row.ended_at is None else max(row.ended_at - row.launched_at, 0.0),
            )
            for row in rows
        )

    # ------------------------------------------------------------ runs

    def close_interrupted(self, study: str) -> int:
        """End runs that a crash left open, at the latest time at which they can have ended: what they spent counts.

        Call while holding the study's lock: then nobody else has them, but runners who joined as this one did.
        """
        with self._writing() as connection:
            if self._runner is not None:
                return self._close_runs(connection, study, ~claims.by_others(self._runner))
            lease.expel(connection, study)
            return self._close_runs(connection, study, sa.true())

    def _close_runs(self, connection: Connection, study: str, of_trials: sa.ColumnElement[bool]) -> int:
        own = sa.select(schema.trials.c.id).where(schema.trials.c.study == study, of_trials)
        left_open = (schema.runs.c.state == "running") & schema.runs.c.trial_id.in_(own)
        now = time.time()
        found = connection.execute(sa.select(schema.runs).where(left_open)).all()
        for row in found:
            last_seen = row.launched_at if row.ended_at is None else row.ended_at
            self._end_run(connection, row.id, "interrupted", max(last_seen, min(last_seen + SEEN_EVERY_S, now)))
        return len(found)

    def begin_run(self, study: str, trial: Trial, *, search_id: int | None = None) -> tuple[str, str]:
        """Note that an attempt at a trial starts, for a search or not; returns its id and the name of its folder."""
        run_id = secrets.token_hex(8)
        self._clocks[run_id] = RunClock()
        return run_id, self._insert_run(study, trial, run_id, search_id)

    @repeated
    def _insert_run(self, study: str, trial: Trial, run_id: str, search_id: int | None) -> str:
        with self._writing() as connection:
            own = sa.select(schema.runs.c.artifacts).where(schema.runs.c.id == run_id)
            if (stored := connection.execute(own).scalar()) is not None:
                return str(stored)
            trial_id = self._trial_id(connection, study, trial)
            query = sa.select(sa.func.count()).where(schema.runs.c.trial_id == trial_id)
            attempt = (connection.execute(query).scalar() or 0) + 1
            artifacts = f"runs/{trial.position:04d}-{trial.key[:8]}-{attempt}"
            values = {"id": run_id, "trial_id": trial_id, "attempt": attempt, "artifacts": artifacts}
            begun_at = self._clocks[run_id].begun_at
            connection.execute(schema.runs.insert().values(**values, state="running", launched_at=begun_at))
            if search_id is not None:
                connection.execute(schema.search_runs.insert().values(run_id=run_id, search_id=search_id))
        return artifacts

    def note_running(self, run_id: str) -> None:
        """The run goes on. Call each `SEEN_EVERY_S`: should nobody be left to end it, this is what is known of it."""
        with self._writing() as connection:
            self._end_run(connection, run_id, "running", self._clocks[run_id].now())

    @repeated
    def abandon_run(self, run_id: str) -> None:
        """The run was stopped before it showed anything: its trial stays pending."""
        with self._writing() as connection:
            self._end_run(connection, run_id, "interrupted", self._clocks[run_id].now())

    @repeated
    def finish_run(self, study: str, trial: Trial, observation: Observation, series: RunSeries | None = None) -> None:
        """Keep what the run showed, all or nothing. A run that was lost or leaves its trial open does not finish it."""
        of_run = (schema.observations.c.study == study) & (schema.observations.c.run_id == observation.run_id)
        with self._writing() as connection:
            if connection.execute(sa.select(schema.observations.c.run_id).where(of_run)).first() is not None:
                return  # the answer to the first time was lost
            self._end_run(connection, observation.run_id, "done", self._clocks[observation.run_id].now())
            values = row_of(observation) | {
                "study": study,
                "trial_id": self._trial_id(connection, study, trial),
                "is_final": observation.outcome is not Outcome.LOST and not observation.leaves_open,
                "started_at": None,
            }
            if observation.requested is None:
                values["configuration"] = None
            connection.execute(schema.observations.insert().values(values))
            for job in observation.jobs:
                connection.execute(schema.run_jobs.insert().values(job_row(observation.run_id, job)))
            if observation.sharing is not None:
                shared = {"run_id": observation.run_id, **dataclasses.asdict(observation.sharing)}
                connection.execute(schema.shared_runs.insert().values(shared))
            if series is not None:
                sampled = {"run_id": observation.run_id, "packed": pack(series)}
                connection.execute(schema.run_series.insert().values(sampled))

    @repeated
    def series(self, run_id: str) -> RunSeries | None:
        """What was sampled during a run; None when nothing was."""
        query = sa.select(schema.run_series.c.packed).where(schema.run_series.c.run_id == run_id)
        with self._transaction() as connection:
            packed = connection.execute(query).scalar()
        return None if packed is None else unpack(bytes(packed))

    def _end_run(self, connection: Connection, run_id: str, state: str, ended_at: float) -> None:
        update = schema.runs.update().where(schema.runs.c.id == run_id)
        connection.execute(update.values(state=state, ended_at=ended_at))

    def _trial_id(self, connection: Connection, study: str, trial: Trial) -> int:
        match = (schema.trials.c.study == study) & (schema.trials.c.key == trial.key)
        return int(connection.execute(sa.select(schema.trials.c.id).where(match)).scalar_one())

    @repeated
    def running(self, study: str) -> tuple[tuple[Configuration, float], ...]:
        """Settings and launch time of the runs that have not ended, and of those that a crash left open."""
        query = (
            sa.select(schema.trials.c.configuration, schema.runs.c.launched_at)
            .select_from(schema.runs.join(schema.trials))
            .where(schema.trials.c.study == study, schema.runs.c.state == "running")
            .order_by(schema.runs.c.launched_at)
        )
        with self._transaction() as connection:
            return tuple((Configuration(row.configuration), row.launched_at) for row in connection.execute(query))

    @repeated
    def spent_s(self, study: str) -> float:
        """Wall time of all runs of a study so far, those that failed or were killed included."""
        duration = schema.runs.c.ended_at - schema.runs.c.launched_at
        query = sa.select(sa.func.sum(duration)).select_from(schema.runs.join(schema.trials)).where(duration > 0)
        with self._transaction() as connection:
            return float(connection.execute(query.where(schema.trials.c.study == study)).scalar() or 0.0)

    @repeated
    def observations(self, study: str, *, include_lost: bool = False) -> tuple[Observation, ...]:
        """In run order, each with the settings it really had; with `include_lost` also those that were lost."""
        query = (
            sa.select(
                schema.observations,
                schema.trials.c.configuration.label("requested"),
                schema.trials.c.replicate,
                schema.trials.c.position,
                schema.runs.c.launched_at,
                schema.runs.c.artifacts,
            )
            .select_from(schema.observations)
            .join(schema.runs, schema.runs.c.id == schema.observations.c.run_id)
            .join(schema.trials, schema.trials.c.id == schema.runs.c.trial_id)
            .where(schema.observations.c.study == study)
            .where(schema.runs.c.state != _SUPERSEDED)
            .order_by(schema.runs.c.launched_at)
        )
        if not include_lost:
            query = query.where(schema.observations.c.outcome != Outcome.LOST.value)
        with self._transaction() as connection:
            jobs, shared = self._jobs(connection, study), self._shared(connection, study)
            return tuple(
                dataclasses.replace(one, jobs=jobs.get(one.run_id, ()), sharing=shared.get(one.run_id))
                for one in (measured(plain_of(row)) for row in connection.execute(query))
            )

    def _jobs(self, connection: Connection, study: str) -> dict[str, tuple[JobRun, ...]]:
        """The jobs of each run that had several."""
        query = (
            sa.select(schema.run_jobs)
            .join(schema.runs, schema.runs.c.id == schema.run_jobs.c.run_id)
            .join(schema.trials, schema.trials.c.id == schema.runs.c.trial_id)
            .where(schema.trials.c.study == study)
            .order_by(schema.run_jobs.c.number)
        )
        found: dict[str, tuple[JobRun, ...]] = {}
        for row in connection.execute(query):
            found[row.run_id] = (*found.get(row.run_id, ()), from_plain(JobRun, plain_of(row)))
        return found

    def _shared(self, connection: Connection, study: str) -> dict[str, Sharing]:
        query = (
            sa.select(schema.shared_runs)
            .join(schema.runs, schema.runs.c.id == schema.shared_runs.c.run_id)
            .join(schema.trials, schema.trials.c.id == schema.runs.c.trial_id)
            .where(schema.trials.c.study == study)
        )
        return {row.run_id: Sharing(row.policy, row.cores, row.mode) for row in connection.execute(query)}
