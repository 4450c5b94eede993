"""How much a job would read: the sizes of the files under a path, and of those the share that its runs read."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from sparkcast.errors import StudyError
from sparkcast.eventlogs.places import Place, last_name, place_of
from sparkcast.study import Observation
from sparkcast.units import show_bytes, show_percent

_FEWEST = 3  # runs from which the share is known


@dataclass(frozen=True, slots=True)
class MeasuredInput:
    """Files that a job would read."""

    path: str
    files: int
    file_bytes: int
    share: float | None  # of the bytes of its files that the job reads; None where its logs do not record it

    @property
    def input_bytes(self) -> int:
        """What its logs would record as read."""
        return max(round(self.file_bytes * (1.0 if self.share is None else self.share)), 1)

    def __str__(self) -> str:
        told = f"{self.path}: {self.files:,} files, {show_bytes(self.file_bytes)}"
        if self.share is None:
            return f"{told}; taken as read once and whole"
        return f"{told}, of which the job reads {show_percent(self.share)} by its logs: {show_bytes(self.input_bytes)}"


def measure_input(path: str, runs: Sequence[Observation] = ()) -> MeasuredInput:
    """What is under a file, a folder, a pattern or a URL, hidden files and those that Spark skips left out.

    Raises:
        StudyError: nothing is there, or it cannot be listed.
    """
    place, name = place_of(path)
    hint = "give a file, a folder, a pattern in quotes, or a URL"
    try:
        found = [name] if place.exists(name) else place.matching(name) if any(sign in name for sign in "*?[") else []
        sizes = [size for one in found for size in _sizes(place, one, set())]
    except StudyError:
        raise
    except Exception as error:  # whatever a file system raises
        raise StudyError(f"{path}: {getattr(error, 'strerror', None) or error}", hint=hint) from error
    if not found:
        raise StudyError(f"{path}: no such file or folder", hint=hint)
    if not sum(sizes):
        raise StudyError(f"{path} contains nothing to read", hint=hint)
    return MeasuredInput(path, len(sizes), sum(sizes), read_share(runs))


def _sizes(place: Place, path: str, seen: set[str]) -> list[int]:
    if not place.is_folder(path):
        return [] if place.is_special(path) else [place.size(path)]
    if place.true_name(path) in seen:
        return []  # links that go round in a circle
    seen.add(place.true_name(path))
    inside = [entry for entry in place.inside(path) if not last_name(entry).startswith((".", "_"))]
    return [size for entry in inside for size in _sizes(place, entry, seen)]


def read_share(runs: Sequence[Observation]) -> float | None:
    """What a job reads of the bytes of its files, by its runs: columns are left out, or files read twice."""
    shares = []
    for run in runs:
        if run.record is None or not run.ok:
            continue
        sizes = [source.bytes for source in run.record.sources]
        if sizes and None not in sizes and run.record.input_bytes:
            shares.append(run.record.input_bytes / max(sum(size or 0 for size in sizes), 1))
    return median(shares) if len(shares) >= _FEWEST else None
