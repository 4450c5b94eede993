"""What a program that knows nothing of sparkcast left: its event log, what it printed, and the file it may have left.

A job that is submitted as it is has three ways to report a number, of which the later ones win:

    a pattern of the study          accuracy: 'AUC = ([0-9.]+)'; the last match counts
    a printed line                  sparkcast: {"accuracy": 0.93}
    a JSON file at its variable     {"accuracy": 0.93}

With `epoch` beside it (a group of the pattern, a key of the object), a number is a point of the curve as well.
"""

import math
import re
import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sparkcast.observe.cause import cause_of, without_chatter
from sparkcast.observe.report import JobReport
from sparkcast.plain import from_json
from sparkcast.study import Epoch, TaskTotals
from sparkcast.study.application import TIME
from sparkcast.study.environment import kind_of
from sparkcast.workloads import SubmittedApplication

OUTPUT_FILE, RESULT_FILE, RESULT_VARIABLE = "stdout.log", "result.json", "SPARKCAST_RESULT"
_LOG_FILE, _GROWTH_FILE = "driver.log", "stdout.times"
_OBJECT = re.compile(r"sparkcast: *(\{.*\})\s*$")
_LAST_LINES, _TAIL_BYTES = 8, 200_000  # Spark says much when it shuts down
_LONGEST = 2000  # characters of a line or a cause that are shown
EPOCH = "epoch"
_LOCAL = ("local", "local-cluster")


class OutputGrowth:
    """Notes when a job printed something, and how much there was then: printed lines have no time of their own."""

    def __init__(self, folder: Path) -> None:
        self._output, self._notes, self._size = folder / OUTPUT_FILE, folder / _GROWTH_FILE, 0

    def look(self) -> None:
        size = self._output.stat().st_size if self._output.exists() else 0
        if size != self._size:
            self._size = size
            with self._notes.open("a", encoding="utf-8") as notes:
                notes.write(f"{size} {time.time():.3f}\n")


def read_output(
    folder: Path, program: SubmittedApplication, tasks: TaskTotals | None, exit_code: int, *, cluster: str = ""
) -> JobReport:
    """What one job reported. Without a time, or on another cluster, a report of failure alone.

    A response that it promised and did not report costs no run: the time was measured, and a pattern that was wrong can
    be corrected (see `runs.reread`).
    """
    begun = None if tasks is None else tasks.first_job_s
    if exit_code != 0:
        return JobReport(begun, failure=_why(folder, exit_code))
    output = _output_of(folder, program)
    if problem := _elsewhere(tasks, cluster) or _no_time(tasks):
        return JobReport(begun, failure=f"{problem}\nIts last lines:\n{_last_lines(folder)}")
    return JobReport(begun, output.curve(folder, begun), output.numbers, missing=tuple(_missing(program, output)))


# ---------------------------------------------------------------- the event log


def _no_time(tasks: TaskTotals | None) -> str:
    if tasks is None:
        return "the job left no event log: does it start Spark, and leave spark.eventLog.* as it is?"
    if tasks.first_job_s is None or tasks.last_job_s is None:
        return "the job ran no Spark job to its end, so there is no time to measure"
    return ""


def _elsewhere(tasks: TaskTotals | None, cluster: str) -> str:
    """A program that names a local master in its code takes no notice of the cluster, nor of its settings."""
    if tasks is None or not cluster or kind_of(tasks.master) not in _LOCAL or kind_of(cluster) in _LOCAL:
        return ""
    return (
        f"the job ran on {tasks.master} and not on the cluster, because its own code says so: remove "
        f'.master("{tasks.master}") there, or the settings of the cluster have no effect'
    )


# ---------------------------------------------------------------- what it printed or wrote


@dataclass(slots=True)
class _Output:
    """Numbers by response, the last of each; points by epoch, with where in the output they ended."""

    numbers: dict[str, float] = field(default_factory=dict)
    points: dict[int, dict[str, float]] = field(default_factory=dict)
    times: dict[int, float] = field(default_factory=dict)  # of an epoch, as the job itself said
    ends: dict[int, int] = field(default_factory=dict)  # of an epoch, the byte of the output where it stands
    matched: dict[str, str] = field(default_factory=dict)  # what a response matched that was no number

    def add(self, name: str, value: object, epoch: object, end: int | None) -> None:
        number = _number(value)
        if number is None:
            self.matched[name] = str(value)
            return
        self.matched.pop(name, None)
        self.numbers[name] = number
        if (at := _number(epoch)) is not None:
            self.points.setdefault(int(at), {})[name] = number
            if end is not None:
                self.ends[int(at)] = end

    def add_object(self, entry: Mapping[str, Any], end: int | None) -> None:
        epoch = entry.get(EPOCH)
        at = _number(epoch)
        for name, value in entry.items():
            if name == TIME and at is not None:  # of a point: the time so far, not of the run
                self.times[int(at)] = _number(value) or 0.0
            elif name != EPOCH:
                self.add(name, value, epoch, end)

    def curve(self, folder: Path, begun: float | None) -> tuple[Epoch, ...]:
        noted = _growth(folder)
        points = []
        for number, values in sorted(self.points.items()):
            seen = _time_of(self.ends.get(number), noted)
            since = max(seen - begun, 0.0) if seen is not None and begun is not None else None
            at = self.times.get(number, since)
            if at is not None:
                points.append(Epoch(number, at, values))
        return tuple(points)


def _output_of(folder: Path, program: SubmittedApplication) -> _Output:
    output = _Output()
    _read_printed(folder / OUTPUT_FILE, program.patterns, output, has_times=True)
    left = {name: pattern for name, pattern in program.patterns.items() if name not in output.numbers}
    if left or any(name not in output.numbers for name in program.promised):
        _read_printed(folder / _LOG_FILE, left, output, has_times=False)  # it may have logged it instead
    _read_file(folder / RESULT_FILE, output)
    return output


def _read_printed(file: Path, patterns: Mapping[str, re.Pattern[str]], output: _Output, *, has_times: bool) -> None:
    objects = []
    for line, end in _lines(file):
        place = end if has_times else None
        for name, pattern in patterns.items():
            for match in pattern.finditer(line):
                output.add(name, *_groups(match), place)
        if found := _OBJECT.search(line):
            objects.append((found[1], place))
    for text, place in objects:  # after the patterns, because they win
        if isinstance(entry := from_json(text), dict):
            output.add_object(entry, place)


def _groups(match: re.Match[str]) -> tuple[str | None, str | None]:
    """The number, and the epoch it belongs to."""
    epoch = match.re.groupindex.get(EPOCH)
    [value] = [group for group in range(1, match.re.groups + 1) if group != epoch]
    return match[value], None if epoch is None else match[epoch]


def _read_file(file: Path, output: _Output) -> None:
    entry = from_json(file.read_bytes()) if file.is_file() else None
    if not isinstance(entry, dict):
        return
    points = entry.pop("epochs", ())
    output.add_object(entry, None)
    last = dict(output.numbers)
    for point in points if isinstance(points, list) else ():
        if isinstance(point, dict):
            output.add_object(point, None)
    output.numbers |= last  # points give what the object itself does not say


def _missing(program: SubmittedApplication, output: _Output) -> Iterator[str]:
    """Why there is no number for each response that was promised and not reported."""
    for name in program.promised:
        pattern = program.patterns.get(name)
        if name in output.numbers:
            continue
        if name in output.matched:
            where = f"the pattern {pattern.pattern!r} matches" if pattern else "the job says"
            yield f"no {name}: {where} {output.matched[name][:100]!r}, which is not a number"
        elif pattern is not None:
            yield f"no {name}: the pattern {pattern.pattern!r} matches nothing that the job printed"
        else:
            line = f'sparkcast: {{"{name}": 0.5}}'
            yield (
                f"no {name}: the job printed no line like {line}, and left no such number in the file "
                f"${RESULT_VARIABLE}"
            )


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


# ---------------------------------------------------------------- times of printed lines


def _growth(folder: Path) -> list[tuple[int, float]]:
    file = folder / _GROWTH_FILE
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return [(int(size), float(at)) for size, _, at in (line.partition(" ") for line in lines)]


def _time_of(end: int | None, noted: list[tuple[int, float]]) -> float | None:
    """When the output first reached this byte."""
    place = len(noted) if end is None else bisect_left(noted, (end, 0.0))
    return noted[place][1] if place < len(noted) else None


# ---------------------------------------------------------------- texts


def _lines(file: Path) -> Iterator[tuple[str, int]]:
    """Each line, and where it ends."""
    if not file.is_file():
        return
    end = 0
    with file.open("rb") as raw:
        for line in raw:
            end += len(line)
            yield line.decode(errors="replace").rstrip("\r\n"), end


def _why(folder: Path, exit_code: int) -> str:
    """The error that ended it in front, if there is one, then the last lines."""
    error = cause_of([*tail_lines(folder / OUTPUT_FILE), *tail_lines(folder / _LOG_FILE)], exit_code)
    return f"{error or f'the job ended with exit code {exit_code}'}\n{_last_lines(folder)}".strip()


def _last_lines(folder: Path) -> str:
    printed, logged = (_shown(tail_lines(folder / name)) for name in (OUTPUT_FILE, _LOG_FILE))
    return "\n".join(printed + logged) or "(it printed nothing)"


def _shown(lines: Iterable[str]) -> list[str]:
    return [line[:_LONGEST] for line in without_chatter(lines)][-_LAST_LINES:]


def tail_lines(file: Path) -> list[str]:
    """The end of what a job logged, without the rest of a line that was cut, which may say something else."""
    if not file.is_file():
        return []
    cut = max(0, file.stat().st_size - _TAIL_BYTES)
    with file.open("rb") as raw:
        raw.seek(cut)
        lines = raw.read().decode(errors="replace").splitlines()
    return lines[1:] if cut and len(lines) > 1 else lines
