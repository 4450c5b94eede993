"""Runs as they are stored, and back."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from sparkcast.plain import from_plain, to_plain
from sparkcast.store import schema
from sparkcast.store.records import pack_record
from sparkcast.study import Configuration, JobRun, Observation, Outcome
from sparkcast.study.redaction import redact, redact_text

READINGS = "responses"  # the option of a study that says where in the output of its runs numbers stand


@dataclass(frozen=True, slots=True)
class SearchRun:
    run_id: str
    configuration: Configuration
    duration_s: float  # of wall time; of a run that goes on, until it was last seen


def decisive(definition: Mapping[str, Any]) -> dict[str, Any]:
    """What decides of runs: not how their output is read, nor passwords that the first versions left in it."""
    spark, options = definition["spark"], dict(definition.get("options", {}))
    options.pop(READINGS, None)
    return {**definition, "options": options or None, "spark": {**spark, "conf": redact(spark["conf"])}}


def deletion(study: str, run_ids: Collection[str]) -> sa.Delete:
    """Of ingested runs: measured ones are only ever added."""
    kept = schema.observations.c
    return schema.observations.delete().where(
        kept.study == study, kept.run_id.in_(list(run_ids)), kept.trial_id.is_(None)
    )


def record_deletion(study: str, run_ids: Collection[str]) -> sa.Delete:
    kept = schema.app_records.c
    return schema.app_records.delete().where(kept.study == study, kept.run_id.in_(list(run_ids)))


def keep_run(connection: Connection, study: str, run: Observation) -> None:
    """An ingested run in place of what was known of it; what its log told stays where this reading has none."""
    connection.execute(deletion(study, [run.run_id]))
    connection.execute(schema.observations.insert().values(study=study, is_final=False, **row_of(run)))
    if run.record is not None:
        connection.execute(record_deletion(study, [run.run_id]))
        row = {"study": study, "run_id": run.run_id, "packed": pack_record(run.record)}
        connection.execute(schema.app_records.insert().values(row))


def row_of(observation: Observation) -> dict[str, Any]:
    """What the run itself tells, as it is stored."""
    columns = schema.observations.columns
    return {name: value for name, value in to_plain(observation).items() if name in columns}


def job_row(run_id: str, job: JobRun) -> dict[str, Any]:
    """A job as it is stored; its slowdown follows from other runs, which may come later."""
    return {name: value for name, value in to_plain(job).items() if name != "slowdown"} | {"run_id": run_id}


def plain_of(row: sa.Row[Any]) -> dict[str, Any]:
    """A row as plain data, without the passwords that earlier versions left in its cause."""
    plain = {str(name): value for name, value in row._mapping.items()}
    return plain | ({"cause": redact_text(plain["cause"])} if plain.get("cause") else {})


def measured(row: dict[str, Any]) -> Observation:
    """A run that a trial asked for: its row, with those of its trial and attempt."""
    given, requested = row["configuration"], row["requested"]
    is_open = bool(given) and not row["is_final"] and row["outcome"] != Outcome.LOST.value
    settings = {"configuration": given or requested, "requested": requested if given else None, "leaves_open": is_open}
    return from_plain(Observation, row | settings | {"started_at": row["launched_at"]})
