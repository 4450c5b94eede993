"""Figures as files: a picture for documents, one for the web, and the drawing with its data."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from sparkcast.errors import StoreError, StudyError
from sparkcast.report.figures._figure import Figure

_KINDS: Mapping[str, Callable[[Figure], bytes]] = {
    "png": lambda figure: figure.png(),
    "svg": lambda figure: figure.svg().encode(),
    "vl.json": lambda figure: json.dumps(figure.spec, indent=1).encode(),
}


def write_figures(figures: Iterable[Figure], folder: Path, *, force: bool = False) -> list[Path]:
    """Write each figure as .png, .svg and .vl.json (Vega-Lite with its data); returns the files.

    Nothing is written when one of them exists already, unless `force` says to replace it.
    """
    files = [(folder / f"{figure.name}.{kind}", figure, kind) for figure in figures for kind in _KINDS]
    taken = [path for path, _, _ in files if path.exists()]
    if taken and not force:
        raise StudyError(f"{str(taken[0])!r} exists", hint="add `force=True` to replace it, or choose another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, figure, kind in files:
            path.write_bytes(_KINDS[kind](figure))
    except OSError as error:
        raise StoreError(
            f"cannot write figures to {str(folder)!r}: {error.strerror or error}", hint="choose another folder"
        ) from error
    return [path for path, _, _ in files]
