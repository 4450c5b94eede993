"""The driver log of one training with BigDL, as the papers' authors kept them: one iteration a line."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from sparkcast.data.ingest.applications import ObservedLog, job_name
from sparkcast.data.ingest.settings import Pattern, values_in
from sparkcast.errors import StudyError
from sparkcast.study import LogOrigin, Observation
from sparkcast.study.application import WORK_TIME
from sparkcast.workloads.base import ACCURACY, THROUGHPUT
from sparkcast.workloads.bigdl_log import EpochCollector, Trained, parse_line

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


def observe_bigdl_log(path: Path, patterns: tuple[Pattern, ...]) -> ObservedLog:
    """What one training showed.

    Raises:
        StudyError: too few iterations, or two trainings in one file.
    """
    with path.open(encoding="utf-8", errors="replace") as file:
        curve, wall_clock_s, first = _followed(file, path)
    settings, missing = values_in((str(path),), patterns, {})  # authors wrote settings into the names of their files
    responses = {WORK_TIME: wall_clock_s}
    responses |= {THROUGHPUT.name: curve.records / curve.training_s} if curve.training_s > 0 else {}
    responses |= {n: v for n, v in curve.epochs[-1].values.items() if n == ACCURACY.name} if curve.epochs else {}
    # Of a training that goes on, neither the name of its log nor its first iteration changes.
    mark = hashlib.sha256(f"{path.name}\n{first}".encode()).hexdigest()[:16]
    job = job_name(path.parent.name or path.stem) if patterns else "bigdl"
    origin = LogOrigin(job, str(path), path.stat().st_size, is_complete=True)
    run = Observation(settings, responses, curve=tuple(curve.epochs), run_id=f"bigdl/{mark}", origin=origin)
    return ObservedLog(run, missing)


def _followed(lines: Iterable[str], path: Path) -> tuple[EpochCollector, float, str]:
    """The training, its clock at the end, and the line of its first iteration."""
    curve, clock, last, n_iterations, first = EpochCollector(), 0.0, 0, 0, ""
    for line in lines:
        event = parse_line(line)
        if event is None:
            continue
        if isinstance(event, Trained):
            # A second training begins at iteration 1 again; of two that write at once, one is ahead of the other.
            if event.iteration <= last or event.wall_clock_s < clock:
                raise StudyError(
                    f"{path.name}: two trainings are mixed: iteration {event.iteration} at {event.wall_clock_s:g} s "
                    f"follows {last} at {clock:g} s",
                    hint="split the file in two",
                )
            last, n_iterations, first = event.iteration, n_iterations + 1, first or line.strip()
        clock = max(clock, event.wall_clock_s)
        curve.add(event, clock)
    if n_iterations < _FEWEST:
        raise StudyError(
            f"{path.name}: {n_iterations} iteration{' is' if n_iterations == 1 else 's are'} too few",
            hint="was the log cut off?",
        )
    return curve, clock, first
