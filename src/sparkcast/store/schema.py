"""The tables, and how an older file becomes the present version."""

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    inspect,
    text,
)
from sqlalchemy.engine import Connection

from sparkcast.errors import StoreError
from sparkcast.study import Trial
from sparkcast.study.application import TIME, WORK_TIME
from sparkcast.study.ingested import upgraded

# A table more is no new version: an older sparkcast reads past it, and an older file gets it when it is opened.
VERSION = 3

metadata = MetaData()

meta = Table("meta", metadata, Column("key", String, primary_key=True), Column("value", String, nullable=False))

studies = Table(
    "studies",
    metadata,
    Column("name", String, primary_key=True),
    Column("definition", JSON, nullable=False),  # Study.measured_definition(), to notice changes
    Column("created_at", Float, nullable=False),
)

trials = Table(
    "trials",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("study", ForeignKey("studies.name"), nullable=False),
    Column("key", String, nullable=False),
    Column("configuration", JSON, nullable=False),
    Column("replicate", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    UniqueConstraint("study", "key"),
)

runs = Table(
    "runs",
    metadata,
    Column("id", String, primary_key=True),
    Column("trial_id", ForeignKey("trials.id"), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("state", String, nullable=False),  # running, done, interrupted, superseded (to be repeated by request)
    Column("launched_at", Float, nullable=False),
    Column("ended_at", Float),  # while it is running: when it was last seen to
    Column("artifacts", String, nullable=False),
    UniqueConstraint("trial_id", "attempt"),
)

# A search is what decides which settings `tune` asks for. Its runs are told from those that were there before it, which
# cost it nothing.
searches = Table(
    "searches",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("study", ForeignKey("studies.name"), nullable=False),
    Column("definition", JSON, nullable=False),
    Column("created_at", Float, nullable=False),
)

search_runs = Table(
    "search_runs",
    metadata,
    Column("run_id", ForeignKey("runs.id"), primary_key=True),
    Column("search_id", ForeignKey("searches.id"), nullable=False),
)

# Measured runs, and those that were ingested: no trial asked for them, and they fill none.
observations = Table(
    "observations",
    metadata,
    Column("study", ForeignKey("studies.name"), primary_key=True),
    Column("run_id", String, primary_key=True),  # of `runs`; of an ingested one its application and attempt
    Column("trial_id", ForeignKey("trials.id")),  # NULL: ingested
    Column("is_final", Boolean, nullable=False),  # False for a run that does not fill its trial: that is tried again
    Column("outcome", String, nullable=False),
    Column("cause", String, nullable=False),
    Column("responses", JSON, nullable=False),
    Column("curve", JSON, nullable=False),
    Column("utilization", JSON),
    Column("tasks", JSON),
    Column("fingerprint", JSON),
    Column("configuration", JSON(none_as_null=True)),  # NULL: as its trial asked
    Column("started_at", Float),  # of an ingested one; others have `runs.launched_at`
    Column("origin", JSON(none_as_null=True)),  # of an ingested one
)

# The jobs of a run that had several, which a single one has not; and what they shared.
run_jobs = Table(
    "run_jobs",
    metadata,
    Column("run_id", ForeignKey("runs.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("configuration", JSON, nullable=False),
    Column("arrived_s", Float, nullable=False),
    Column("registered_s", Float),
    Column("started_s", Float),
    Column("ended_s", Float, nullable=False),
    Column("responses", JSON, nullable=False),
    Column("outcome", String, nullable=False),
    Column("cause", String, nullable=False),
    Column("curve", JSON, nullable=False),
    Column("tasks", JSON),
    Column("artifacts", String, nullable=False),
    Column("cores", Integer),
)

shared_runs = Table(
    "shared_runs",
    metadata,
    Column("run_id", ForeignKey("runs.id"), primary_key=True),
    Column("policy", String, nullable=False),
    Column("cores", Integer),
    Column("mode", String, nullable=False),
)

# What was sampled on the machines of a run, and when its stages ran, as `packing` writes it.
run_series = Table(
    "run_series",
    metadata,
    Column("run_id", ForeignKey("runs.id"), primary_key=True),
    Column("packed", LargeBinary, nullable=False),
)

# What is kept of an ingested application beside its numbers, as `packing` writes it: for its job's history.
app_records = Table(
    "app_records",
    metadata,
    Column("study", String, primary_key=True),
    Column("run_id", String, primary_key=True),
    Column("packed", LargeBinary, nullable=False),
)

# Where `watch` is: what it made of each log that it has seen, written together with the run that came of it.
watched_logs = Table(
    "watched_logs",
    metadata,
    Column("log", String, primary_key=True),  # an absolute path, or a URL
    Column("mark", String, nullable=False),  # of its files as they were when it was read; "": it is to be read again
    Column("size_bytes", BigInteger, nullable=False),
    Column("status", String, nullable=False),
    Column("reason", String, nullable=False),
    Column("study", String, nullable=False),  # that has its run; "" where none came of it
    Column("run_id", String, nullable=False),
    Column("read_at", Float, nullable=False),  # by the clock of the machine that read it
)

# What people say of their jobs, in order: see `history.rules`.
job_rules = Table(
    "job_rules",
    metadata,
    Column("position", Integer, primary_key=True),
    Column("rule", JSON, nullable=False),
)

# How fast the nodes of clusters are, each time that it was measured.
cluster_speeds = Table(
    "cluster_speeds",
    metadata,
    Column("cluster", String, primary_key=True),  # as the fingerprints of its runs call it
    Column("measured_s", Float, primary_key=True),
    Column("nodes", JSON, nullable=False),
)

# Who may write the runs of a study, in a database that several share: see `lease`.
leases = Table(
    "leases",
    metadata,
    Column("study", String, primary_key=True),  # which may not be registered yet
    Column("token", Integer, nullable=False),
    Column("holder", String, nullable=False),  # for people
    Column("process", String, nullable=False),  # by which a process of the same machine is seen to be gone
    Column("expires_at", Float, nullable=False),  # by the server's clock
)

# Who measures a study together with others, and which trial each of them has: see `claims`.
runners = Table(
    "runners",
    metadata,
    Column("id", String, primary_key=True),
    Column("study", String, nullable=False),
    Column("holder", String, nullable=False),
    Column("process", String, nullable=False),
    Column("expires_at", Float, nullable=False),  # by the server's clock
)

claims = Table(
    "claims",
    metadata,
    Column("trial_id", ForeignKey("trials.id"), primary_key=True),
    Column("runner_id", ForeignKey("runners.id"), nullable=False),
)

# The database itself refuses to count a trial twice.
Index(
    "one_final_observation_per_trial",
    observations.c.trial_id,
    unique=True,
    sqlite_where=text("is_final"),
    postgresql_where=text("is_final"),
)


def _normalize_keys(connection: Connection) -> None:
    """Version 1 made the keys of trials from levels as they were written: 1.0 was not 1, and 1024m was not 1g."""
    rows = connection.execute(trials.select()).all()
    keys = {(row.study, row.key) for row in rows}
    for row in rows:
        key = Trial(row.configuration, row.replicate).key
        if (row.study, key) not in keys:
            connection.execute(trials.update().where(trials.c.id == row.id).values(key=key))


def _responses_of_today(row: Mapping[str, Any]) -> dict[str, float]:
    """Version 2 took the word of workloads for `time_s`. It is from the first to the last Spark job of every run."""
    begun, ended = ((row["tasks"] or {}).get(name) for name in ("first_job_s", "last_job_s"))
    responses: dict[str, float] = row["responses"]
    if TIME not in responses or begun is None or ended is None or abs(responses[TIME] - (ended - begun)) < 1e-6:
        return responses
    return {**responses, TIME: ended - begun, WORK_TIME: responses[TIME]}


def _epoch_of_today(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Version 1 had three responses beside number and time, each with a name of its own."""
    others = {name: value for name, value in entry.items() if name not in ("number", "time_s", "values")}
    values = {name: value for name, value in others.items() if value is not None}
    return {"values": values, **{name: value for name, value in entry.items() if name not in others}}


def _rows(connection: Connection, table: Table) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in connection.execute(table.select()).mappings()]


def _pop_table(connection: Connection, name: str) -> list[dict[str, Any]]:
    """The rows of a table as it is in the file, which has it no more."""
    if not inspect(connection).has_table(name):
        return []
    table = Table(name, MetaData(), autoload_with=connection)
    rows = _rows(connection, table)
    table.drop(connection)
    return rows


def _merge_ingested(connection: Connection) -> None:
    """Version 2 kept ingested runs in a table of their own, and believed that clusters give what is asked for."""
    studies_by_trial = {row.id: row.study for row in connection.execute(trials.select())}
    rows = []
    for row in _pop_table(connection, "observations"):
        row["study"], row["utilization"] = studies_by_trial[row["trial_id"]], row.pop("utilisation")
        row["responses"], row["curve"] = _responses_of_today(row), [_epoch_of_today(entry) for entry in row["curve"]]
        rows.append(row)
    for row in _pop_table(connection, "ingested"):
        rows.append({"study": row["study"], "is_final": False, **upgraded(row)})
    observations.create(connection)
    for row in rows:
        connection.execute(observations.insert().values(row))


def _rename_and_merge(connection: Connection) -> None:
    """Version 2 spelled three names the British way."""
    for table in ("runs", "run_jobs"):
        if "artefacts" in {column["name"] for column in inspect(connection).get_columns(table)}:
            connection.execute(text(f"ALTER TABLE {table} RENAME COLUMN artefacts TO artifacts"))
    _merge_ingested(connection)
    for row in _rows(connection, run_jobs):
        same = [column == row[column.name] for column in run_jobs.primary_key.columns]
        connection.execute(run_jobs.update().where(*same).values(responses=_responses_of_today(row)))
    for study in connection.execute(studies.select()).all():
        design = study.definition.get("design")
        if isinstance(design, dict) and "centre_points" in design:
            design = {"center_points" if key == "centre_points" else key: value for key, value in design.items()}
            definition = {**study.definition, "design": design}
            connection.execute(studies.update().where(studies.c.name == study.name).values(definition=definition))


# version -> what leads to version + 1
MIGRATIONS: dict[int, Callable[[Connection], None]] = {1: _normalize_keys, 2: _rename_and_merge}


def _version(connection: Connection) -> int | None:
    found = connection.execute(meta.select().where(meta.c.key == "schema_version")).first()
    return None if found is None else int(found.value)


def _lacks_tables(connection: Connection) -> bool:
    return not {*metadata.tables} <= {*inspect(connection).get_table_names()}


def prepare(connection: Connection, *, may_convert: bool = True) -> int | None:
    """Create the tables, or bring an older store up to date; returns the version that was found, None for a new store.

    A newer one is refused, and an older one unless it `may_convert`: others may be using it with their version.
    """
    if connection.dialect.name == "postgresql":  # two that come first at the same time would both create them
        connection.execute(text("SELECT pg_advisory_xact_lock(7229738243)"))
    version = _version(connection) if inspect(connection).has_table(meta.name) else None
    if version is not None and version > VERSION:
        raise StoreError(
            f"the store has schema version {version}, this version of sparkcast supports up to {VERSION}",
            hint="upgrade sparkcast: pip install --upgrade sparkcast",
        )
    is_old = version is not None and version < VERSION
    if is_old and not may_convert:
        raise StoreError(
            f"the store has schema version {version}, this version of sparkcast uses {VERSION}",
            hint="when nobody measures, bring it up to date with `api.migrate_store(STORE)`; whoever uses it "
            "needs this version of sparkcast then",
        )
    if not is_old and version is not None and not _lacks_tables(connection):
        return version
    if connection.dialect.name == "sqlite":  # whose driver does not begin a transaction when tables change
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # two that come first at the same time would both create them
    metadata.create_all(connection)
    if _version(connection) is None:
        connection.execute(meta.insert().values(key="schema_version", value=str(VERSION)))
    if not is_old:
        return version
    for step in range(_version(connection) or VERSION, VERSION):  # another process may have done it meanwhile
        MIGRATIONS[step](connection)
    connection.execute(meta.update().where(meta.c.key == "schema_version").values(value=str(VERSION)))
    return version
