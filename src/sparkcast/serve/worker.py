"""Processes for what takes long. They send progress and then an answer or a failure, over a pipe.

What comes through the pipe was pickled by a process of our own; nothing from outside is ever unpickled.
"""

import multiprocessing
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from sparkcast.errors import RunError, SparkcastError
from sparkcast.wire.failures import Failure, failure_of

Report = Callable[[Mapping[str, Any]], None]
Task = Callable[[Report], Any]


class CancelledError(RunError):
    """Somebody stopped it."""


class WorkFailedError(SparkcastError):
    """What went wrong in a worker, as it told."""

    def __init__(self, failure: Failure, http_status: int = 500) -> None:
        super().__init__(failure.problem, hint=failure.hint, nearest=failure.nearest)
        self.exit_code, self.http_status = failure.code, http_status


class WorkProcess:
    """One task in a process of its own."""

    def __init__(self, task: Task) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["sparkcast.serve.worker", "sparkcast.serve.tasks"])
        self._pipe, theirs = context.Pipe(duplex=False)
        self._process: BaseProcess = context.Process(target=_run, args=(task, theirs), daemon=True)
        self._process.start()
        theirs.close()
        self._is_cancelled = False

    def result(self, on_progress: Report = lambda progress: None) -> Any:
        """Wait for it. Raises WorkFailedError, or CancelledError after `cancel`."""
        try:
            while True:
                kind, told = self._pipe.recv()
                if kind == "progress":
                    on_progress(told)
                elif kind == "failed":
                    raise WorkFailedError(*told)
                else:
                    return told
        except (EOFError, OSError) as error:
            if self._is_cancelled:
                raise CancelledError("the work was cancelled") from None
            raise RunError(
                "a worker process of the service ended early", hint="it may have run out of memory: try again"
            ) from error
        finally:
            self._process.join(timeout=5)
            self._pipe.close()

    def cancel(self) -> None:
        self._is_cancelled = True
        self._process.terminate()


def _run(task: Task, pipe: Connection) -> None:
    try:
        pipe.send(("done", task(lambda progress: pipe.send(("progress", dict(progress))))))
    except Exception as error:
        status = error.http_status if isinstance(error, SparkcastError) else 500
        pipe.send(("failed", (failure_of(error), status)))
    finally:
        pipe.close()
