"""Files that every command can be asked about, for the tests that look at all of them."""

from pathlib import Path

import pytest

from every_command import make, prepare


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    make(folder)
    return folder


@pytest.fixture
def files(tmp_path: Path, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(tmp_path, made, monkeypatch)
