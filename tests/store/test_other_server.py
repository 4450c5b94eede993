"""The store on a PostgreSQL of another version than the one that the tests bring along, where the machine has one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from postgres_support import PROGRAMS, PostgresServer, carried_programs, other_programs, version_of

_TESTS = ("test_lease.py", "test_store.py", "test_upkeep.py", "test_place.py")


def test_the_server_that_the_tests_bring_along_is_the_one_that_runs(postgres: PostgresServer) -> None:
    programs = Path(os.environ.get(PROGRAMS) or carried_programs())
    assert postgres.version == version_of(programs)


@pytest.mark.slow
def test_all_tests_of_the_store_pass_on_a_server_of_another_version() -> None:
    programs = other_programs()
    if programs is None:
        pytest.skip("there is no other PostgreSQL server in /usr/lib/postgresql or on the PATH")
    tests = [str(Path(__file__).parent / name) for name in (*_TESTS, Path(__file__).name)]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", *tests]
    ended = subprocess.run(
        command,
        cwd=Path(__file__).parents[2],
        env={**os.environ, PROGRAMS: str(programs)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-5000:]
