"""The command line in this process: loading the libraries once is enough for many mistakes."""

import sys
from pathlib import Path

import pytest

from sparkcast import cli
from tests_support import Answer, Call


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    """`call("predict", "runs.csv", ...)` in an empty folder."""
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
