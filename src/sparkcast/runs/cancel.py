"""Stopping runs from another thread: a web service, a notebook's button, a scheduler with a deadline of its own."""

from contextvars import ContextVar, Token
from threading import Lock, local
from types import TracebackType
from typing import Self

_CURRENT: ContextVar["CancelToken | None"] = ContextVar("cancel_token", default=None)


class CancelToken:
    """Stops the runs that are made inside its `with`, from any thread: what Ctrl-C does at a terminal.

    >>> token = CancelToken()
    >>> with token:                                     # in the thread that measures
    ...     pass                                        # api.run("study.yaml")
    >>> token.cancel()                                  # in any other: finish the current trial, then stop
    >>> token.cancel(now=True)                          # stop the current trial too; it is repeated on resume
    >>> token.is_canceled
    True
    """

    def __init__(self) -> None:
        self._lock, self._requests = Lock(), 0
        self._entered = local()  # each thread that is inside has a way out of its own

    def cancel(self, *, now: bool = False) -> None:
        """Let the current trial finish and start no other; with `now`, or the second time, stop it at once."""
        with self._lock:
            self._requests += 2 if now else 1

    @property
    def is_canceled(self) -> bool:
        return self._requests > 0

    @property
    def requests(self) -> int:
        """How urgent it is: 0 not at all, 1 after the current trial, 2 and more now."""
        return self._requests

    def __enter__(self) -> Self:
        outer: list[Token[CancelToken | None]] = self._entered.__dict__.setdefault("outer", [])
        outer.append(_CURRENT.set(self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        _CURRENT.reset(self._entered.outer.pop())


def current_token() -> CancelToken:
    """That of the innermost `with` of this thread; outside of any, one that nobody cancels."""
    return _CURRENT.get() or CancelToken()
