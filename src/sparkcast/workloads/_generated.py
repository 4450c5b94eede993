"""Data that a workload generates: a folder of files that is made once, whole or not at all."""

import json
import logging
import shutil
from collections.abc import Callable
from pathlib import Path

from sparkcast.errors import StudyError
from sparkcast.units import show_bytes

_LIST = "_files.json"  # Spark passes over names that begin with an underscore
_WORTH_A_WORD = 2**30
_log = logging.getLogger(__name__)


def generate_once(folder: Path, fill: Callable[[Path], None], *, needs_bytes: int) -> None:
    """Let `fill` write its files into `folder`, unless it did so before and they are all there still.

    A file that is missing or has another size than it had means that all are made again. `needs_bytes` is about what it
    takes on the disk while it is made: too little room is an error before anything starts.
    """
    if _is_whole(folder):
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(draft, ignore_errors=True)  # of a process that was killed
    _require_room(folder, needs_bytes)
    draft.mkdir()
    try:
        fill(draft)
        (draft / _LIST).write_text(json.dumps(_sizes(draft)), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        draft.replace(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _is_whole(folder: Path) -> bool:
    try:
        return bool(json.loads((folder / _LIST).read_text(encoding="utf-8")) == _sizes(folder))
    except (OSError, ValueError):
        return False


def _sizes(folder: Path) -> dict[str, int]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != _LIST)
    return {str(path.relative_to(folder)): path.stat().st_size for path in sorted(files)}


def _require_room(folder: Path, needs_bytes: int) -> None:
    free = shutil.disk_usage(folder.parent).free
    if needs_bytes > free:
        raise StudyError(
            f"{folder} needs about {show_bytes(needs_bytes)} while it is generated, and the disk has "
            f"{show_bytes(free)} left",
            hint="use less data, or a study file on a larger disk: data are kept beside its results",
        )
    if needs_bytes > _WORTH_A_WORD:
        _log.warning("generating %s: takes about %s of disk space", folder, show_bytes(needs_bytes))
