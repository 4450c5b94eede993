"""Helpers for tests that run the real command line, and real Spark."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from sparkcast.engines import _warden
from tests_support import Sparkcast


@pytest.fixture
def sparkcast(tmp_path: Path) -> Sparkcast:
    """Run the command line in an empty folder, as a user would."""

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
def no_orphans() -> Iterator[None]:
    """Fails a test that leaves a process or a temporary folder of an engine behind."""
    before = _left_behind()
    yield
    left = _left_behind() - before
    assert not left, f"left behind: {left}"


def _left_behind() -> set[str]:
    found = {str(path) for path in Path(os.environ.get("TMPDIR", "/tmp")).glob("sparkcast-*")}
    for process in psutil.process_iter(["pid", "name"]):
        try:
            if _warden.MARK in process.environ() and process.status() != psutil.STATUS_ZOMBIE:
                found.add(f"{process.pid} {process.name()}")
        except psutil.Error:
            continue
    return found
