"""Folders of generated data: made once, whole or not at all."""

import errno
import shutil
from pathlib import Path

import pytest

from sparkcast.errors import StudyError
from sparkcast.workloads._generated import generate_once


class Filler:
    """Writes two files, and counts how often it was asked to."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, folder: Path) -> None:
        self.calls += 1
        (folder / "part").mkdir()
        (folder / "part" / "a").write_text("some text")
        (folder / "b").write_text("more")


def test_data_are_generated_once(tmp_path: Path) -> None:
    fill = Filler()
    for _ in range(2):
        generate_once(tmp_path / "new" / "data", fill, needs_bytes=1)
    assert fill.calls == 1


@pytest.mark.parametrize("damage", ["cut", "deleted"])
def test_data_with_a_damaged_file_are_generated_again(tmp_path: Path, damage: str) -> None:
    fill, folder = Filler(), tmp_path / "data"
    generate_once(folder, fill, needs_bytes=1)
    if damage == "cut":
        (folder / "part" / "a").write_text("some")
    else:
        (folder / "b").unlink()
    generate_once(folder, fill, needs_bytes=1)
    assert fill.calls == 2
    assert (folder / "part" / "a").read_text() == "some text"


def test_a_full_disk_leaves_nothing_half_made(tmp_path: Path) -> None:
    def fill(folder: Path) -> None:
        (folder / "a").write_text("some")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        generate_once(tmp_path / "data", fill, needs_bytes=1)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / ".data.partial").mkdir()
    (tmp_path / ".data.partial" / "b").write_text("half")
    generate_once(tmp_path / "data", Filler(), needs_bytes=1)
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_too_small_a_disk_is_told_before_anything_is_made(tmp_path: Path) -> None:
    fill = Filler()
    with pytest.raises(StudyError, match=r"needs about 1000.0 TiB while it is generated, and the disk has .* left"):
        generate_once(tmp_path / "data", fill, needs_bytes=1000 * 2**40)
    assert fill.calls == 0
    assert list(tmp_path.iterdir()) == []


def test_much_data_is_told_before_it_is_made(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=2**42)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    generate_once(tmp_path / "data", Filler(), needs_bytes=2**40)
    assert "takes about 1.0 TiB of disk space" in caplog.text
