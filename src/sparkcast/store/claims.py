"""Several who measure one study at once: each claims the trial that it runs.

A claim lives as long as the runner that has it, which is renewed like a lease. Whoever takes over the trials of a dead
runner removes its row first, so that what it writes late is refused.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from sparkcast.store import lease, schema
from sparkcast.store.lease import Lease, LeaseLostError
from sparkcast.units import show_seconds


@dataclass(frozen=True, slots=True)
class Runner:
    study: str
    id: str
    lease: Lease  # of the study, which all runners hold together


def join(connection: Connection, study: str) -> Runner:
    """Measure a study beside others. Raises BusyError while somebody has it for himself."""
    runner = Runner(study, secrets.token_hex(8), lease.acquire(connection, study, together=True))
    who = {"holder": lease.this_holder(), "process": lease.this_process(), "expires_at": lease.in_a_while(connection)}
    connection.execute(schema.runners.insert().values(id=runner.id, study=study, **who))
    return runner


def stay(connection: Connection, runner: Runner) -> None:
    """Hold on until the transaction ends. Raises LeaseLostError when others took this runner for dead.

    The row of the study is locked by it: runners claim one after the other.
    """
    lease.renew(connection, runner.lease)
    renewed = schema.runners.update().where(schema.runners.c.id == runner.id)
    if connection.execute(renewed.values(expires_at=lease.in_a_while(connection))).rowcount != 1:
        raise LeaseLostError(
            f"another runner has taken over the trial of this one in study {runner.study!r}: it did not answer for "
            f"{show_seconds(lease.LEASE_S)}",
            hint="measure on with `api.run(STUDY, resume=True, runners=1)`; all stored before is kept",
        )


def leave(connection: Connection, runner: Runner) -> None:
    others = {row.id for row in lease.living(connection, runner.study, but=runner.id)}
    connection.execute(schema.claims.delete().where(schema.claims.c.runner_id == runner.id))
    connection.execute(schema.runners.delete().where(schema.runners.c.id == runner.id))
    if not others:
        lease.release(connection, runner.lease)


def claim(connection: Connection, runner: Runner, keys: Sequence[str]) -> str | None:
    """The first of these trials that has no result and nobody runs; None when there is none.

    A runner has one claim at a time: asked again, it gives back the one before.
    """
    stay(connection, runner)
    connection.execute(schema.claims.delete().where(schema.claims.c.runner_id == runner.id))
    alive = {row.id for row in lease.living(connection, runner.study)}
    lease.expel(connection, runner.study, but=alive | {runner.id})
    trials, seen = schema.trials.c, schema.observations.c
    taken = sa.exists().where(schema.claims.c.trial_id == trials.id)
    is_done = sa.exists().where(seen.trial_id == trials.id, seen.is_final)
    query = sa.select(trials.key, trials.id).where(trials.study == runner.study, ~taken, ~is_done)
    free = {row.key: row.id for row in connection.execute(query)}
    key = next((key for key in keys if key in free), None)
    if key is not None:
        connection.execute(schema.claims.insert().values(trial_id=free[key], runner_id=runner.id))
    return key


def by_others(runner: Runner) -> sa.ColumnElement[bool]:
    """Of trials: that another runner has claimed them."""
    claimed = schema.claims.c
    return sa.exists().where(claimed.trial_id == schema.trials.c.id, claimed.runner_id != runner.id)
