"""Files that are not there."""

from pathlib import Path

from sparkcast.errors import Hint, StudyError
from sparkcast.registry import did_you_mean


def no_such_file(path: Path, *, kind: str = "file", hint: str = "is the path right?") -> StudyError:
    """An error that names the nearest name in that folder, where there is one."""
    try:
        names = tuple(sorted(entry.name for entry in path.parent.iterdir()))
    except OSError:
        return StudyError(f"no {kind} {str(path)!r}", hint=f"there is no folder {str(path.parent)!r} to be read")
    near = tuple(str(path.with_name(name)) for name in did_you_mean(path.name, names).nearest)
    text = f"did you mean {near[0]!r}?" if near else hint
    return StudyError(f"no {kind} {str(path)!r}", hint=Hint.naming(text, near))
