"""Runs collected tests in forked processes: one for each measurement, and nothing is imported or collected twice."""

import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec
import pytest

_MEMORY_BYTES = 12 * 2**30
_SURVIVED, _KILLED = 0, 1
_OUT_OF_TIME = {signal.SIGPROF, signal.SIGALRM}


class CoveredTest(msgspec.Struct):
    """One test alone: its CPU time, traced, and the lines it ran of the files that are looked at."""

    seconds: float
    passed: bool
    lines: dict[str, list[int]]


@dataclass(frozen=True, slots=True)
class Verdict:
    outcome: str  # killed, timeout or survived
    killer: str = ""  # the test that failed


@dataclass(frozen=True, slots=True)
class TimedTest:
    item: pytest.Item
    seconds: float  # what it takes when nothing is changed


@dataclass(frozen=True, slots=True)
class Work:
    """What a forked process is to do: change something, then run tests until one fails."""

    key: int
    tests: Callable[[], list[TimedTest]]
    change: Callable[[], None]
    note: Path  # where the name of the test that failed is written


class FirstFailure:
    """A pytest plugin that is told in the forked process, and ends it at the first failure."""

    def __init__(self) -> None:
        self.note: Path | None = None
        self.has_failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.has_failed = True
            if self.note is not None:
                self.note.write_text(report.nodeid)
                os._exit(_KILLED)


def run_forked(works: Sequence[Work], failure: FirstFailure, jobs: int, done: Callable[[int, Verdict], None]) -> None:
    """Each in a process of its own, `jobs` at a time."""
    running: dict[int, Work] = {}
    waiting = list(reversed(works))
    while waiting or running:
        while waiting and len(running) < jobs:
            work = waiting.pop()
            running[_fork(lambda work=work: _run_tests(work, failure))] = work  # type: ignore[misc]
        pid, status = os.wait()
        if (work_done := running.pop(pid, None)) is not None:
            _end_group(pid)
            done(work_done.key, _verdict(work_done, status))


def measure(
    items: Sequence[pytest.Item], files: frozenset[str], failure: FirstFailure, folder: Path, jobs: int
) -> None:
    """Writes `folder`/NUMBER for each test: a `CoveredTest`."""
    running: set[int] = set()
    waiting = list(enumerate(items))[::-1]
    while waiting or running:
        while waiting and len(running) < jobs:
            number, item = waiting.pop()
            out = folder / str(number)
            running.add(_fork(lambda item=item, out=out: _measure_one(item, files, failure, out)))  # type: ignore[misc]
        pid, _ = os.wait()
        running.discard(pid)
        _end_group(pid)


def _fork(task: Callable[[], None]) -> int:
    sys.stdout.flush()
    if pid := os.fork():
        return pid
    try:
        os.setsid()  # what a test leaves running ends with it
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        task()
    except BaseException:  # sys.exit of a test's own included: none may go on as a second parent
        os._exit(_KILLED)
    os._exit(_SURVIVED)


def _end_group(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _verdict(work: Work, status: int) -> Verdict:
    killer = work.note.read_text() if work.note.exists() else ""
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in _OUT_OF_TIME:
        return Verdict("timeout", killer)
    return Verdict("survived" if status == _SURVIVED else "killed", killer)


def _run_tests(work: Work, failure: FirstFailure) -> None:
    failure.note = work.note
    tests = work.tests()
    work.change()
    for test, following in zip(tests, [*tests[1:], None], strict=True):
        _limit_time(test.seconds)
        test.item.config.hook.pytest_runtest_protocol(item=test.item, nextitem=following and following.item)


def _limit_time(usual_s: float) -> None:
    """By CPU time, which others on the machine do not change; by the clock for what only waits."""
    for kind, stop in ((signal.ITIMER_PROF, signal.SIGPROF), (signal.ITIMER_REAL, signal.SIGALRM)):
        signal.signal(stop, signal.SIG_DFL)
        signal.setitimer(kind, (2 + 4 * usual_s) * (1 if kind == signal.ITIMER_PROF else 10))


def _measure_one(item: pytest.Item, files: frozenset[str], failure: FirstFailure, out: Path) -> None:
    lines: dict[str, set[int]] = {file: set() for file in files}

    def trace_call(frame: FrameType, event: str, argument: Any) -> Any:
        seen = lines.get(frame.f_code.co_filename)
        if seen is None:
            return None
        note = seen.add

        def trace_line(frame: FrameType, event: str, argument: Any) -> Any:
            note(frame.f_lineno)
            return trace_line

        return trace_line

    threading.settrace(trace_call)
    sys.settrace(trace_call)
    begun = time.process_time()
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
    took = time.process_time() - begun
    sys.settrace(None)
    found = {file: sorted(seen) for file, seen in lines.items() if seen}
    out.write_bytes(msgspec.json.encode(CoveredTest(took, not failure.has_failed, found)))
