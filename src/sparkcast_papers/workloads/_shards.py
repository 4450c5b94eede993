"""Data sets of TFRecord shards: a folder with a manifest, complete or not there.

Tasks write drafts, each attempt under a name of its own, so that a task that is tried again or runs twice leaves no
double. `commit` gives one draft per shard its name and writes the manifest, and last `_SUCCESS`: a folder without it
holds no data set.
"""

import hashlib
import json
import secrets
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from sparkcast_papers.workloads._tfrecord import DamagedRecordError, framed, read_records

MANIFEST = "manifest.json"
SUCCESS = "_SUCCESS"
_DRAFTS = "_temporary"
_BUFFER_BYTES = 1 << 20


Draft = tuple[str, int, int, str]  # the fields of a Shard, as a task returns them: plain values


@dataclass(frozen=True, slots=True)
class Shard:
    """One file of records."""

    name: str
    records: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that could not be read as a picture."""

    file: str
    problem: str


@dataclass(frozen=True, slots=True)
class Manifest:
    shards: tuple[Shard, ...]
    skipped: tuple[Skipped, ...] = ()

    @property
    def records(self) -> int:
        return sum(shard.records for shard in self.shards)

    @property
    def bytes(self) -> int:
        return sum(shard.bytes for shard in self.shards)


def new_folder(folder: Path) -> None:
    """Make the folder of a data set that is about to be written."""
    (folder / _DRAFTS).mkdir(parents=True)


def write_draft(folder: Path, examples: Iterable[bytes]) -> Draft:
    """Write records under a name that no other attempt has; its name is that of the draft until `commit`."""
    path = folder / _DRAFTS / f"{secrets.token_hex(8)}.tfrecord"
    records = size = 0
    digest = hashlib.sha256()
    try:
        with path.open("wb", buffering=_BUFFER_BYTES) as file:
            for example in examples:
                record = framed(example)
                file.write(record)
                digest.update(record)
                size += len(record)
                records += 1
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path.name, records, size, digest.hexdigest()


def commit(folder: Path, drafts: Sequence[Draft], skipped: Sequence[Skipped] = ()) -> Manifest:
    """Make a data set of one draft per shard, in their order; drafts that are not among them are removed."""
    shards = []
    for number, (draft, records, size, sha256) in enumerate(drafts):
        name = f"images-{number:05d}-of-{len(drafts):05d}.tfrecord"
        (folder / _DRAFTS / draft).replace(folder / name)
        shards.append(Shard(name, records, size, sha256))
    manifest = Manifest(tuple(shards), tuple(skipped))
    temporary = folder / _DRAFTS / MANIFEST
    temporary.write_text(json.dumps(asdict(manifest), indent=1), encoding="utf-8")
    temporary.replace(folder / MANIFEST)
    shutil.rmtree(folder / _DRAFTS)
    (folder / SUCCESS).touch()
    return manifest


def discard(folder: Path) -> None:
    """Remove a data set, its mark of success first."""
    (folder / SUCCESS).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def is_complete(folder: Path) -> bool:
    return (folder / SUCCESS).is_file()


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a complete data set. Raises DamagedRecordError where there is none."""
    if not is_complete(folder):
        raise DamagedRecordError(f"{folder} holds no complete data set: it has no {SUCCESS}")
    content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return Manifest(
        tuple(Shard(**shard) for shard in content["shards"]), tuple(Skipped(**file) for file in content["skipped"])
    )


def check_shard(folder: Path, shard: Draft) -> None:
    """Read a shard as its readers will. Raises DamagedRecordError unless it is what the manifest says."""
    path = folder / shard[0]
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    found = (shard[0], sum(1 for _ in read_records(path)), path.stat().st_size, digest)
    if found != shard:
        raise DamagedRecordError(f"{path}: name, records, bytes and sha256 are {found}, and in the manifest {shard}")
