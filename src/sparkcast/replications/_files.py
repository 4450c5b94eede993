"""The authors' measurements: given by the user, never part of this project."""

from pathlib import Path

from sparkcast.errors import StudyError


def data_file(data: Path, name: str) -> Path:
    """A file in the folder that was named with --data."""
    if not data.is_dir():
        raise StudyError(f"--data {str(data)!r} is no folder", hint=f"name the folder that holds {name}")
    path = data / name
    if not path.is_file():
        raise StudyError(f"there is no file {name!r} in {str(data)!r}", hint=f"name the folder that holds {name}")
    return path
