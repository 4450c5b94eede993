"""Packages that only some workloads need: `pip install 'sparkcast[cnn]'` and the like.

A workload asks for them in `prepare`, before a cluster is started. Without them it is still listed, and its study
still loads and designs.
"""

from importlib.util import find_spec

from sparkcast.errors import StudyError


def require_extra(extra: str, modules: tuple[str, ...], *, needed_by: str) -> None:
    """Raise StudyError with the command that installs them when one of `modules` is missing.

    >>> require_extra("images", ("json",), needed_by="workload 'image-read'")
    """
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise StudyError(
            f"{needed_by} needs {' and '.join(missing)}, which {verb} not installed",
            hint=f"pip install 'sparkcast[{extra}]'",
        )
