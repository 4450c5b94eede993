"""Who may write the runs of a study in a database that several share: a lease that ends by itself.

The clock is the server's. Each holder gets a higher number than all before it (a fencing token), and writes only while
the row still has its number, in the same transaction: what a holder that was taken for dead writes late is refused.
"""

import getpass
import os
import socket
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from sparkcast.errors import BusyError
from sparkcast.store.schema import claims, leases, runners
from sparkcast.units import show_seconds

LEASE_S = 30.0
_RENEWALS = 3  # in the time of a lease: two may fail
_TOGETHER = "several"  # in place of the process: all who joined hold the lease


class LeaseLostError(BusyError):
    """Another process has taken over the study: nothing more may be written here."""


@dataclass(frozen=True, slots=True)
class Lease:
    study: str
    token: int


def acquire(connection: Connection, study: str, *, together: bool = False) -> Lease:
    """Take the lease of a study that nobody holds, or whose holder is gone. Raises BusyError naming the holder.

    `together`: beside others who have taken it so, each of whom claims the trials that it runs.
    """
    from sqlalchemy.dialects import postgresql, sqlite  # opening a store to read from does not need them

    insert = sqlite.insert(leases) if connection.dialect.name == "sqlite" else postgresql.insert(leases)
    free = {"study": study, "token": 0, "holder": "", "process": "", "expires_at": 0.0}
    connection.execute(insert.values(free).on_conflict_do_nothing())
    of_study, now = leases.c.study == study, _now(connection)
    held = connection.execute(sa.select(leases).where(of_study)).one()
    if together:
        is_joint = (leases.c.process == _TOGETHER) & (leases.c.expires_at > now)
        joined = leases.update().where(of_study, is_joint).values(expires_at=now + LEASE_S)
        if connection.execute(joined).rowcount == 1:
            return Lease(study, connection.execute(sa.select(leases.c.token).where(of_study)).scalar_one())
    is_free = leases.c.expires_at <= now
    if _is_gone(held.process) or (held.process == _TOGETHER and not living(connection, study)):
        is_free |= leases.c.token == held.token
    holder, process = ("several runners", _TOGETHER) if together else (this_holder(), this_process())
    mine = {"token": leases.c.token + 1, "holder": holder, "process": process, "expires_at": now + LEASE_S}
    if connection.execute(leases.update().where(of_study, is_free).values(mine)).rowcount == 1:
        expel(connection, study)  # whoever had joined before is late with whatever it writes
    else:
        held = connection.execute(sa.select(leases, now.label("now")).where(of_study)).one()
        left = show_seconds(max(held.expires_at - held.now, 1.0))
        raise BusyError(
            f"this study is being run by another process ({held.holder})",
            hint="wait for it to finish; reading (analyze, predict, report) works in the meantime; "
            f"should it have died, its claim ends in {left}"
            + ("; or measure beside them with `runners=1`" if held.process == _TOGETHER else ""),
        )
    token = connection.execute(sa.select(leases.c.token).where(of_study)).scalar_one()
    return Lease(study, token)


def renew(connection: Connection, lease: Lease) -> None:
    """Hold on, and lock the row until the transaction ends. Raises LeaseLostError when somebody else has it."""
    own = (leases.c.study == lease.study) & (leases.c.token == lease.token)
    renewed = leases.update().where(own).values(expires_at=_now(connection) + LEASE_S)
    if connection.execute(renewed).rowcount != 1:
        holder = connection.execute(sa.select(leases.c.holder).where(leases.c.study == lease.study)).scalar()
        raise LeaseLostError(
            f"another process has taken over study {lease.study!r} ({holder}): this one did not answer for "
            f"{show_seconds(LEASE_S)}",
            hint="wait for the other to finish; it repeats the run that was under way, and all stored before is kept",
        )


def release(connection: Connection, lease: Lease) -> None:
    own = (leases.c.study == lease.study) & (leases.c.token == lease.token)
    connection.execute(leases.update().where(own).values(expires_at=0.0))


def holders(connection: Connection) -> dict[str, str]:
    """The studies that are held now, with who holds them."""
    rows = connection.execute(sa.select(leases).where(leases.c.expires_at > _now(connection))).all()
    found = {row.study: row.holder for row in rows if not _is_gone(row.process)}
    for row in rows:
        if row.process == _TOGETHER:
            there = [runner.holder for runner in living(connection, row.study)]
            found |= {row.study: "; ".join(there)} if there else {}
            if not there:
                del found[row.study]
    return found


def living(connection: Connection, study: str, *, but: str = "") -> list[sa.Row[Any]]:
    """The runners of a study that are there, as far as can be seen from here."""
    found = connection.execute(
        sa.select(runners).where(runners.c.study == study, runners.c.expires_at > _now(connection), runners.c.id != but)
    )
    return [row for row in found if not _is_gone(row.process)]


def expel(connection: Connection, study: str, *, but: Collection[str] = ()) -> None:
    """Take from runners what they have claimed, all or `but` some: what they write late is refused."""
    gone = sa.select(runners.c.id).where(runners.c.study == study, runners.c.id.not_in(but))
    connection.execute(claims.delete().where(claims.c.runner_id.in_(gone)))
    connection.execute(runners.delete().where(runners.c.study == study, runners.c.id.not_in(but)))


def in_a_while(connection: Connection) -> sa.ColumnElement[float]:
    """When a lease ends that is renewed now."""
    return _now(connection) + LEASE_S


@contextmanager
def heartbeat(engine: sa.Engine, renew: Callable[[Connection], None]) -> Iterator[None]:
    """Renew a lease from a thread, also while nothing is written: a cluster may take minutes to start."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(LEASE_S / _RENEWALS):
            with suppress(sa.exc.SQLAlchemyError):  # it may answer next time
                try:
                    with engine.begin() as connection:
                        renew(connection)
                except LeaseLostError:
                    return  # whoever writes next is told

    thread = threading.Thread(target=beat, name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(LEASE_S)


def _now(connection: Connection) -> sa.ColumnElement[float]:
    """Seconds since the Unix epoch by the database's own clock."""
    if connection.dialect.name == "sqlite":
        return (sa.func.julianday("now") - 2440587.5) * 86400.0
    return sa.cast(sa.func.extract("epoch", sa.func.clock_timestamp()), sa.Float)


def this_holder() -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container without a name for its user
        user = str(os.getuid())
    return f"{user} on {socket.gethostname()}, pid {os.getpid()}"


@cache
def _host() -> str:
    """Of this boot of this machine: process numbers mean something nowhere else."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return socket.gethostname()


def this_process() -> str:
    return f"{_host()} {_pid_namespace()} {os.getpid()} {_started(os.getpid())}"


def _started(pid: int) -> str:
    """When a process began, in ticks since the boot: unlike a time of day, setting the clock does not change it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""  # there is none, or no /proc to tell


@cache
def _pid_namespace() -> str:
    with suppress(OSError):
        return str(Path("/proc/self/ns/pid").readlink())
    return "-"


def _is_gone(process: str) -> bool:
    """Whether a holder was a process here that has ended; False when that cannot be seen from here."""
    host, _, rest = process.partition(" ")
    namespace, _, rest = rest.partition(" ")
    if (host, namespace) != (_host(), _pid_namespace()):
        return False
    pid, _, started = rest.partition(" ")
    return bool(started) and _started(int(pid)) != started
