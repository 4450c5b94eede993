"""Which database a URL means, how a connection to it is set up, and what to say of one that fails."""

import os
from typing import Any

import sqlalchemy as sa

from sparkcast.errors import StudyError

POSTGRESQL = "postgresql"
URL_OF_THE_TEAM = "SPARKCAST_STORE"  # the environment variable
_STORES = "pass postgresql://USER@HOST:5432/DATABASE, or the path of a results folder or an SQLite file"
_DRIVER_PACKAGES = {"MySQLdb": "mysqlclient", "psycopg": "'sparkcast[postgresql]'", "psycopg2": "psycopg2-binary"}
_PSYCOPG = f"{POSTGRESQL}+psycopg"
_SCHEMES = {"postgres": _PSYCOPG, POSTGRESQL: _PSYCOPG}  # as libpq reads them; SQLAlchemy would take an older driver
_TRANSIENT = {"40001", "40P01", "57P01", "57P02", "57P03"}  # SQLSTATE: serialization, deadlock, shutdown, starting up


def engine_of(url: str | sa.URL) -> sa.Engine:
    """Errors name the scheme only: the rest of a URL may hold a password."""
    scheme = str(url).partition("://")[0]
    try:
        parsed = sa.make_url(url)
        parsed = parsed.set(drivername=_SCHEMES.get(parsed.drivername, parsed.drivername))
        engine = sa.create_engine(parsed, pool_pre_ping=parsed.get_backend_name() != "sqlite")
    except ModuleNotFoundError as error:
        raise StudyError(
            f"{scheme}:// needs the database driver {error.name!r}, which is not installed",
            hint=f"install it: pip install {_DRIVER_PACKAGES.get(str(error.name), error.name)}",
        ) from None
    except sa.exc.NoSuchModuleError:
        raise StudyError(f"sparkcast cannot read {scheme}://", hint=_STORES) from None
    except (sa.exc.ArgumentError, ValueError):  # the latter for a port that is not a number
        raise StudyError(f"the database URL that begins with {scheme}:// is malformed", hint=_STORES) from None
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _configure_sqlite)
    return engine


def is_without_password(url: str) -> bool:
    try:
        parsed = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError):
        return True  # not a URL: said where it is opened
    return not parsed.password and "password" not in parsed.query


def require_no_password(url: str) -> str:
    """Raise StudyError for a password in a URL that a process list or a study file would show; returns the URL."""
    if not is_without_password(url):
        raise StudyError(
            "the URL of the store contains a password, which other users could read",
            hint="put it into the file that PGPASSFILE names (~/.pgpass by default), or a PGSERVICE entry; "
            f"{URL_OF_THE_TEAM} may contain one",
        )
    return url


def show_url(url: sa.URL) -> str:
    """For messages: without a password, and as the user wrote the scheme."""
    shown = url.render_as_string(hide_password=True)
    return shown.replace(_PSYCOPG, POSTGRESQL, 1)


def team_store() -> str | None:
    """The store that the environment names for studies which name none."""
    return os.environ.get(URL_OF_THE_TEAM) or None


def is_unreachable(error: sa.exc.DBAPIError, engine: sa.Engine) -> bool:
    """Whether a server did not answer or asked to try again; a file always answers, unless others keep it busy."""
    if engine.dialect.name == "sqlite":
        return "database is locked" in str(error.orig)
    state = getattr(error.orig, "sqlstate", None)
    no_session = isinstance(error, sa.exc.OperationalError) and state is None and not _is_refusal(str(error.orig))
    return error.connection_invalidated or state in _TRANSIENT or no_session


def is_restarting(error: sa.exc.DBAPIError) -> bool:
    """Whether a server is there, and says that it will answer soon."""
    said = str(error.orig)
    return any(text in said for text in ("is starting up", "is shutting down", "not yet accepting connections"))


def _is_refusal(problem: str) -> bool:
    """A server that says no has answered: to try again is of no use."""
    said = (
        "authentication failed",
        "does not exist",
        "no pg_hba.conf entry",
        "permission denied",
        "no password supplied",
    )
    return any(text in problem for text in said)


def advice(problem: str) -> str:
    """What to do about the words of a database."""
    if "is full" in problem or "No space left" in problem:
        return "the disk is full: free some space, then continue with `resume=True`; nothing stored before is lost"
    if "readonly" in problem or "unable to open" in problem:
        return "the folder cannot be written: copy the study file to one you can write to"
    if "not a database" in problem or "malformed" in problem:
        return "this is not a sparkcast store, or it is damaged: move it away or restore a backup"
    if "authentication failed" in problem or "no password supplied" in problem:
        return "check the user name, and the password in the file that PGPASSFILE names (~/.pgpass by default)"
    if "does not exist" in problem:
        return "create the database first, for example: createdb NAME"
    if "permission denied" in problem:
        return "ask its owner for the right to read and write the tables of sparkcast"
    if "database is locked" in problem:
        return "too many processes write to this file: try again, or keep the results in PostgreSQL"
    if "onnect" in problem:
        return "check that the server runs and can be reached from here, then try again"
    return ""


def _configure_sqlite(connection: Any, _record: object) -> None:
    # secure_delete: what is replaced may have been a secret. Who waits for a busy file is not served in turn.
    for pragma in ("busy_timeout=30000", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


def refuse_writing(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA query_only=ON")
