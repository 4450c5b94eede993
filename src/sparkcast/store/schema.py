"""The tables, and how an older file becomes the present version."""

from collections.abc import Callable

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
    Column("state", String, nullable=False),  # running, done, interrupted
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

observations = Table(
    "observations",
    metadata,
    Column("run_id", ForeignKey("runs.id"), primary_key=True),
    Column("trial_id", ForeignKey("trials.id"), nullable=False),
    Column("is_final", Boolean, nullable=False),  # False for a run that was lost or got another cluster: tried again
    Column("outcome", String, nullable=False),
    Column("cause", String, nullable=False),
    Column("responses", JSON, nullable=False),
    Column("curve", JSON, nullable=False),
    Column("utilization", JSON),
    Column("tasks", JSON),
    Column("fingerprint", JSON),
    Column("got", JSON(none_as_null=True)),  # settings given in place of the trial's; NULL for most
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

# Runs made without sparkcast. No trial asked for them, so that none is filled by them: they are no rows of the tables
# above. The columns are the fields of `IngestedRun`.
ingested = Table(
    "ingested",
    metadata,
    Column("study", ForeignKey("studies.name"), primary_key=True),
    Column("key", String, primary_key=True),  # application and attempt
    Column("job", String, nullable=False),
    Column("log", String, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("is_complete", Boolean, nullable=False),
    Column("outcome", String, nullable=False),
    Column("cause", String, nullable=False),
    Column("started_s", Float, nullable=False),
    Column("settings", JSON, nullable=False),
    Column("properties", JSON, nullable=False),
    Column("responses", JSON, nullable=False),
    Column("curve", JSON, nullable=False),
    Column("spark", String, nullable=False),
    Column("cluster", String, nullable=False),
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


def _measure_times_alike(connection: Connection) -> None:
    """Version 2 took the word of workloads for `time_s`. It is from the first to the last Spark job of every run."""
    for table in (observations, run_jobs):
        for row in connection.execute(table.select()).all():
            begun, ended = ((row.tasks or {}).get(name) for name in ("first_job_s", "last_job_s"))
            reported = row.responses.get(TIME)
            if reported is None or begun is None or ended is None or abs(reported - (ended - begun)) < 1e-6:
                continue
            responses = {**row.responses, TIME: ended - begun, WORK_TIME: reported}
            keys = [column == getattr(row, column.name) for column in table.primary_key.columns]
            connection.execute(table.update().where(*keys).values(responses=responses))


def _rename_and_add_got(connection: Connection) -> None:
    """Version 2 spelled three names the British way, and believed that clusters give what is asked for."""
    for table, old, new in (
        ("runs", "artefacts", "artifacts"),
        ("run_jobs", "artefacts", "artifacts"),
        ("observations", "utilisation", "utilization"),
    ):
        if old in {column["name"] for column in inspect(connection).get_columns(table)}:
            connection.execute(text(f"ALTER TABLE {table} RENAME COLUMN {old} TO {new}"))
    if "got" not in {column["name"] for column in inspect(connection).get_columns("observations")}:
        connection.execute(text("ALTER TABLE observations ADD COLUMN got JSON"))
    _measure_times_alike(connection)
    for row in connection.execute(studies.select()).all():
        design = row.definition.get("design")
        if isinstance(design, dict) and "centre_points" in design:
            design = {"center_points" if key == "centre_points" else key: value for key, value in design.items()}
            definition = {**row.definition, "design": design}
            connection.execute(studies.update().where(studies.c.name == row.name).values(definition=definition))


# version -> what leads to version + 1
MIGRATIONS: dict[int, Callable[[Connection], None]] = {1: _normalize_keys, 2: _rename_and_add_got}


def prepare(connection: Connection) -> None:
    """Create the tables, or bring an older file up to date. A newer file is refused."""
    metadata.create_all(connection)
    found = connection.execute(meta.select().where(meta.c.key == "schema_version")).first()
    if found is None:
        connection.execute(meta.insert().values(key="schema_version", value=str(VERSION)))
        return
    version = int(found.value)
    if version > VERSION:
        raise StoreError(
            f"the store has schema version {version}, this version of sparkcast supports up to {VERSION}",
            hint="upgrade sparkcast: pip install --upgrade sparkcast",
        )
    if version == VERSION:
        return
    for step in range(version, VERSION):
        MIGRATIONS[step](connection)
    connection.execute(meta.update().where(meta.c.key == "schema_version").values(value=str(VERSION)))
