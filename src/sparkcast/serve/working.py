"""Long work: queued in the store, done in worker processes, told step by step, and done again after a restart."""

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from sparkcast.errors import StudyError
from sparkcast.serve.problems import document_of_error
from sparkcast.serve.state import ServiceState
from sparkcast.serve.tasks import LogTask, ValidateTask
from sparkcast.serve.worker import CancelledError, Task, WorkProcess
from sparkcast.store.service import WorkRow

_LOG = logging.getLogger(__name__)
_KEPT_S = 7 * 86400.0
_POLL_S = 0.2
_MOST_WAITING = 100


class WorkManager:
    """Takes work, hands it to workers, and tells how far it is."""

    def __init__(self, state: ServiceState) -> None:
        self._state = state
        self._pool = ThreadPoolExecutor(max(state.settings.workers, 1), thread_name_prefix="work")
        self._workers: dict[str, WorkProcess] = {}
        self._lock = threading.Lock()
        self._is_closed = False
        self.queued = 0

    def start(self) -> None:
        """Take up what an earlier service left. An upload that went with it cannot be read again."""
        self._state.rows.forget_work(time.time() - _KEPT_S)
        for row in self._state.rows.open_work():
            self._submit(row)

    def close(self) -> None:
        """Work that runs is left open in the store: the next service does it again."""
        self._is_closed = True
        with self._lock:
            for worker in self._workers.values():
                worker.cancel()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def add(self, kind: str, question: Mapping[str, Any], team: str) -> WorkRow:
        """Queue work. Raises StudyError where too much waits already."""
        if self.queued >= _MOST_WAITING:
            raise StudyError("too much work waits already", hint="try again in a minute")
        row = self._state.rows.add_work(kind, question, team)
        self._submit(row)
        return row

    def _submit(self, row: WorkRow) -> None:
        with self._lock:
            self.queued += 1
        self._pool.submit(self._do, row)

    def _do(self, row: WorkRow) -> None:
        rows = self._state.rows
        try:
            if self._is_closed or not rows.work(row.id).is_open:
                return
            rows.note_work(row.id, {"step": "started"})
            answer = self._run(row, self._task(row))
            rows.end_work(row.id, "done", answer)
        except CancelledError:
            if not self._is_closed:
                rows.end_work(row.id, "cancelled", document_of_error(StudyError("the work was cancelled"))[1])
        except Exception as error:
            if not self._is_closed:
                status, document = document_of_error(error)
                rows.end_work(row.id, "failed", {**document, "status": status})
        finally:
            with self._lock:
                self.queued -= 1
                self._workers.pop(row.id, None)
            if not self._is_closed:
                remove_uploads(row)

    def _task(self, row: WorkRow) -> Task:
        asked = dict(row.question)
        if row.kind == "validate":
            return ValidateTask(self._state.learned(asked.pop("study")), asked)
        logs = tuple(asked["logs"])
        if asked["is_upload"] and not all(Path(log).exists() for log in logs):
            raise StudyError("the upload was lost when the service was restarted", hint="upload it again")
        return LogTask(row.kind, logs, asked["options"], self._state.settings.max_log_bytes, asked["is_upload"])

    def _run(self, row: WorkRow, task: Task) -> Any:
        def on_progress(progress: Mapping[str, Any]) -> None:
            self._state.rows.note_work(row.id, progress)

        if not self._state.settings.workers:
            return task(on_progress)
        worker = WorkProcess(task)
        with self._lock:
            self._workers[row.id] = worker
        return worker.result(on_progress)

    def cancel(self, row: WorkRow) -> WorkRow:
        """Stop it, or keep it from being begun; what is done stays done."""
        told = document_of_error(StudyError("the work was cancelled"))[1]
        if self._state.rows.end_work(row.id, "cancelled", told):
            with self._lock:
                worker = self._workers.get(row.id)
            if worker is not None:
                worker.cancel()
        return self._state.rows.work(row.id)

    def wait(self, row: WorkRow, wait_s: float) -> WorkRow:
        """How it stands when it is done, or after so long."""
        until = time.monotonic() + wait_s
        while (found := self._state.rows.work(row.id)).is_open and time.monotonic() < until and not self._is_closed:
            time.sleep(min(_POLL_S / 4, max(until - time.monotonic(), 0.0)))
        return found

    def follow(self, work_id: str) -> Iterator[WorkRow]:
        """How it stands, whenever that changes, until it is done."""
        last = None
        while not self._is_closed:
            row = self._state.rows.work(work_id)
            shown = replace(row, answer=None)
            if shown != last:
                last = shown
                yield row
            if not row.is_open:
                return
            time.sleep(_POLL_S)


def remove_uploads(row: WorkRow) -> None:
    """Nothing of an upload is kept."""
    if row.question.get("is_upload"):
        for log in row.question["logs"]:
            Path(log).unlink(missing_ok=True)
