"""Helpers for tests that run the command line, and real Spark."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from postgres_support import PostgresServer
from sparkcast import cli
from tests_support import Answer, Call, Sparkcast, left_behind

# The same examples wherever and whenever it runs, and no clock. For others: --hypothesis-profile=default
hypothesis.settings.register_profile(
    "reproducible", derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("reproducible")


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each sentence on one line, so that tests find it; wrapping is tested in tests/cli/test_terminal.py."""
    monkeypatch.setenv("COLUMNS", "10000")


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A real server, started by the first test that wants one."""
    server = PostgresServer()
    yield server
    server.close()


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    """`call("predict", "runs.csv", ...)` in an empty folder, in this process: the libraries are loaded once for all."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["sparkcast", *map(str, arguments)])
        capsys.readouterr()
        try:
            cli.main()
        except SystemExit as end:
            return Answer(int(end.code or 0), *capsys.readouterr())
        return Answer(0, *capsys.readouterr())

    return run


@pytest.fixture
def sparkcast(tmp_path: Path) -> Sparkcast:
    """Run the command line in an empty folder, in a process of its own as a user would: where `call` cannot serve."""

    def call(*arguments: object, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "sparkcast", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=550,
            check=False,
        )

    return call


@pytest.fixture
def no_orphans(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fails a test that leaves a process or a temporary folder of an engine behind.

    It gets a temporary folder of its own, by which its processes are told from those of others on the machine.
    """
    with tempfile.TemporaryDirectory(prefix="test-") as folder:
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield
        left = left_behind(folder)
        assert not left, f"left behind: {left}"
