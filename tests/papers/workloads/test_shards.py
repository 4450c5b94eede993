"""Data sets of TFRecord shards: complete or not there."""

import errno
import json
from pathlib import Path
from typing import Any

import pytest

from sparkcast_papers.workloads._image_job import as_shards
from sparkcast_papers.workloads._images import decode_jpeg, generate_images
from sparkcast_papers.workloads._shards import (
    Skipped,
    check_shard,
    commit,
    discard,
    is_complete,
    new_folder,
    read_manifest,
    write_draft,
)
from sparkcast_papers.workloads._tfrecord import DamagedRecordError, decode_example, decode_image_example, read_records


def made(folder: Path) -> Path:
    new_folder(folder)
    drafts = [write_draft(folder, [b"a", b"bc"]), write_draft(folder, [])]
    commit(folder, drafts, [Skipped("roses/3.jpg", "cut short")])
    return folder


def test_a_data_set_has_numbered_shards_and_a_manifest_of_them(tmp_path: Path) -> None:
    folder = made(tmp_path / "set")
    names = ["images-00000-of-00002.tfrecord", "images-00001-of-00002.tfrecord"]
    assert sorted(path.name for path in folder.iterdir()) == ["_SUCCESS", *names, "manifest.json"]
    manifest = read_manifest(folder)
    assert [(shard.name, shard.records, shard.bytes) for shard in manifest.shards] == [
        (names[0], 2, 35),
        (names[1], 0, 0),
    ]
    assert manifest.skipped == (Skipped("roses/3.jpg", "cut short"),)
    assert (manifest.records, manifest.bytes) == (2, 35)
    for shard in json.loads((folder / "manifest.json").read_text())["shards"]:
        check_shard(folder, tuple(shard.values()))


def test_a_task_that_was_tried_again_leaves_no_double(tmp_path: Path) -> None:
    new_folder(tmp_path / "set")
    attempts = [write_draft(tmp_path / "set", [b"same"]) for _ in range(3)]
    manifest = commit(tmp_path / "set", attempts[1:2])
    assert [path.name for path in (tmp_path / "set").glob("**/*.tfrecord")] == [manifest.shards[0].name]


def test_a_folder_that_was_not_committed_holds_no_data_set(tmp_path: Path) -> None:
    new_folder(tmp_path / "set")
    write_draft(tmp_path / "set", [b"a"])
    assert not is_complete(tmp_path / "set")
    with pytest.raises(DamagedRecordError, match="no complete data set"):
        read_manifest(tmp_path / "set")


class FullDisk:
    """A file on a disk that is full after some bytes."""

    def __init__(self, file: Any, room: int) -> None:
        self._file, self._room = file, room

    def __enter__(self) -> "FullDisk":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, content: bytes) -> None:
        self._room -= len(content)
        if self._room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        self._file.write(content)


def test_a_full_disk_leaves_no_draft_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Path.open
    monkeypatch.setattr(Path, "open", lambda path, *args, **kw: FullDisk(opened(path, *args, **kw), 40))
    new_folder(tmp_path / "set")
    with pytest.raises(OSError, match="No space left"):
        write_draft(tmp_path / "set", [b"x" * 10] * 9)
    assert [path for path in (tmp_path / "set").glob("**/*") if path.is_file()] == []


@pytest.mark.parametrize("damage", [b"", b"\0" * 35, b"x"])
def test_a_shard_that_is_not_what_the_manifest_says_is_found(tmp_path: Path, damage: bytes) -> None:
    folder = made(tmp_path / "set")
    shard = json.loads((folder / "manifest.json").read_text())["shards"][0]
    (folder / shard["name"]).write_bytes(damage)
    with pytest.raises(DamagedRecordError):
        check_shard(folder, tuple(shard.values()))


def test_pictures_become_shards_once_and_keep_their_bytes(tmp_path: Path) -> None:
    images = generate_images(tmp_path, count=7, side=16, classes=2)
    folder = as_shards(images, tmp_path)
    [shard] = read_manifest(folder).shards
    found = [decode_image_example(record) for record in read_records(folder / shard.name)]
    assert found == [((images.folder / file).read_bytes(), images.label(file), file) for file in images.files]
    before = (folder / shard.name).stat().st_mtime_ns
    assert as_shards(images, tmp_path) == folder
    assert (folder / shard.name).stat().st_mtime_ns == before
    (folder / "_SUCCESS").unlink()
    assert is_complete(as_shards(images, tmp_path))  # half made: made again


def test_pictures_that_cannot_be_resized_are_left_out_and_named(tmp_path: Path) -> None:
    images = generate_images(tmp_path, count=4, side=16, classes=2)
    images.paths()[1].write_text("no picture")
    images.paths()[2].write_bytes(images.paths()[3].read_bytes()[:200])
    folder = as_shards(images, tmp_path, side=8)
    manifest = read_manifest(folder)
    assert [skipped.file for skipped in manifest.skipped] == [images.files[1], images.files[2]]
    assert "cannot identify" in manifest.skipped[0].problem
    records = list(read_records(folder / manifest.shards[0].name))
    assert [decode_image_example(record)[2] for record in records] == [images.files[0], images.files[3]]
    assert decode_jpeg(decode_image_example(records[0])[0]).shape == (8, 8, 3)
    assert decode_example(records[0])["image/width"] == [8]


def test_a_data_set_that_is_discarded_is_gone(tmp_path: Path) -> None:
    discard(made(tmp_path / "set"))
    assert not (tmp_path / "set").exists()
    discard(tmp_path / "set")  # nothing to do
