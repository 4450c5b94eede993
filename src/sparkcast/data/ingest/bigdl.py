"""The driver log of one training with BigDL, as the papers' authors kept them: one iteration a line."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from sparkcast.data.ingest.applications import Kept, job_name
from sparkcast.data.ingest.settings import Pattern
from sparkcast.errors import StudyError
from sparkcast.study import Level
from sparkcast.study.names import TIME
from sparkcast.workloads._bigdl_log import Curve, Trained, parse_line
from sparkcast.workloads.base import ACCURACY, THROUGHPUT

_LINES_TO_SEE_AN_ITERATION = 5000
_FEWEST = 2  # iterations: from one alone nobody can tell how long another takes


def is_bigdl_log(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return any(
                parse_line(line) is not None for _, line in zip(range(_LINES_TO_SEE_AN_ITERATION), file, strict=False)
            )
    except OSError:
        return False


def keep_bigdl(path: Path, patterns: tuple[Pattern, ...]) -> Kept:
    """What one training showed.

    Raises:
        StudyError: too few iterations, or two trainings in one file.
    """
    with path.open(encoding="utf-8", errors="replace") as file:
        curve, wall_clock_s = _followed(file, path)
    settings: dict[str, Level] = {}
    missing = []
    for pattern in patterns:  # the authors wrote settings into the names of their files
        value = pattern.value((str(path),))
        if value is None:
            missing.append(pattern.name)
        else:
            settings[pattern.name] = value
    responses = {TIME: wall_clock_s}
    responses |= {THROUGHPUT.name: curve.records / curve.training_s} if curve.training_s > 0 else {}
    responses |= {n: v for n, v in curve.epochs[-1].values.items() if n == ACCURACY.name} if curve.epochs else {}
    return Kept(
        key=f"bigdl/{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}",
        job=job_name(path.parent.name or path.stem) if patterns else "bigdl",
        log=str(path),
        size=path.stat().st_size,
        is_complete=True,
        settings=settings,
        responses=responses,
        missing=tuple(missing),
    )


def _followed(lines: Iterable[str], path: Path) -> tuple[Curve, float]:
    """The training, and its clock at the end."""
    curve, clock, last, n_iterations = Curve(), 0.0, 0, 0
    for line in lines:
        event = parse_line(line)
        if event is None:
            continue
        if isinstance(event, Trained):
            # A second training begins at iteration 1 again; two that write at once take turns.
            if event.iteration <= last:
                raise StudyError(
                    f"{path.name}: two trainings are mixed: iteration {event.iteration} follows {last}",
                    hint="split the file in two",
                )
            last, n_iterations = event.iteration, n_iterations + 1
        clock = max(clock, event.wall_clock_s)
        curve.add(event, clock)
    if n_iterations < _FEWEST:
        raise StudyError(f"{path.name}: {n_iterations} iterations are too few", hint="was the log cut off?")
    return curve, clock
