"""Several logs at once, each in a process of its own. Whatever happens to one, the others are read."""

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Generic, TypeVar

from sparkcast.eventlogs.layout import Log
from sparkcast.eventlogs.limits import LogLimits
from sparkcast.eventlogs.read import read_log
from sparkcast.eventlogs.result import LogRead, LogStatus, LogSummary

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Taken(Generic[T]):
    """How reading one log went, and what was made of it: None when it could not be read."""

    summary: LogSummary
    made: T | None = None


def read_logs(
    logs: Iterable[Log],
    make: Callable[[LogRead], T],
    *,
    processes: int | None = None,
    limits: LogLimits | None = None,
    ignore_interrupts: bool = False,
) -> Iterator[Taken[T]]:
    """Read each log and give what `make` makes of it, in the order of `logs`.

    `make` runs where the log is read, so that only what is wanted travels between processes and no more than a few logs
    are in memory: it must be a function at the top of a module. Anything it raises fails that log alone.

    Args:
        processes: how many at once; by default as many as there are cores. 1: in this process.
        ignore_interrupts: Ctrl-C is for the caller alone, who decides when to stop.
    """
    waiting = deque(logs)
    n_processes = min(processes or os.cpu_count() or 1, len(waiting))
    if n_processes <= 1:
        for log in waiting:
            yield take(log, make, limits)
        return
    yield from _in_processes(waiting, make, limits, n_processes, ignore_interrupts=ignore_interrupts)


def _in_processes(
    waiting: deque[Log],
    make: Callable[[LogRead], T],
    limits: LogLimits | None,
    n_processes: int,
    *,
    ignore_interrupts: bool,
) -> Iterator[Taken[T]]:
    pool = _pool(n_processes, ignore_interrupts=ignore_interrupts)
    under_way: deque[tuple[Log, Future[Taken[T]]]] = deque()
    try:
        while waiting or under_way:
            while waiting and len(under_way) < 2 * n_processes:
                log = waiting.popleft()
                under_way.append((log, pool.submit(take, log, make, limits)))
            log, future = under_way.popleft()
            try:
                yield future.result()
            except BrokenProcessPool:
                # One of those under way killed its process, most likely for want of memory: find out which, one by one.
                pool.shutdown(wait=False, cancel_futures=True)
                for suspect in (log, *(other for other, _ in under_way)):
                    yield _take_alone(suspect, make, limits)
                under_way.clear()
                pool = _pool(n_processes, ignore_interrupts=ignore_interrupts)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _pool(n_processes: int, *, ignore_interrupts: bool = False) -> ProcessPoolExecutor:
    # Not fork: the parent may have threads.
    return ProcessPoolExecutor(
        n_processes, mp_context=get_context("spawn"), initializer=_begin, initargs=(ignore_interrupts,)
    )


def _begin(ignore_interrupts: bool) -> None:
    """A process that reads does not outlive the one that asked it to, however that ends."""
    if ignore_interrupts:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if (parent := parent_process()) is not None:
        Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _take_alone(log: Log, make: Callable[[LogRead], T], limits: LogLimits | None) -> Taken[T]:
    with _pool(1) as pool:
        try:
            return pool.submit(take, log, make, limits).result()
        except BrokenProcessPool:
            return failed(log, "the process that read it was killed: out of memory?")


def take(log: Log, make: Callable[[LogRead], T], limits: LogLimits | None) -> Taken[T]:
    """One log, whatever happens."""
    try:
        read = read_log(log, limits)
        return Taken(read.summary(), make(read) if read.was_read else None)
    except Exception as error:  # a bug of ours or of `make` must not cost the other logs
        return failed(log, f"{type(error).__name__}: {error}")


def failed(log: Log, reason: str) -> Taken[T]:
    """A log of which nothing came back."""
    return Taken(LogRead(log.name, LogStatus.FAILED, reason).summary())
