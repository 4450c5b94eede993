"""What a running service knows: its catalog, and what was learned of each entry, by the hash of its runs."""

import logging
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError as CancelledFutureError
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from sparkcast.data.sources import Data
from sparkcast.errors import SparkcastError, StoreError
from sparkcast.history import JobHistory, histories_of
from sparkcast.history.found import find_in_store, some_jobs
from sparkcast.history.learn import learn_prior
from sparkcast.history.prior import FleetPrior
from sparkcast.serve.catalog import Catalog, CatalogEntry
from sparkcast.serve.learning import Basis, Learned, digest_of, learn
from sparkcast.serve.settings import ServeSettings
from sparkcast.serve.tasks import LearnTask
from sparkcast.serve.worker import WorkProcess
from sparkcast.store import Store, open_store
from sparkcast.store.service import ServiceRows, service_url
from sparkcast.workloads.lines import SubmitLine, program_of

_T = TypeVar("_T")
_LOG = logging.getLogger(__name__)
_MOST_JOBS = 64  # whose histories are kept for the next question
_EVERY = 30  # rounds after which runs are read whether or not the store seems to have new ones


class LearningError(SparkcastError):
    """A model takes longer to learn than the asker waits."""

    exit_code, http_status = 4, 503


@dataclass(frozen=True, slots=True)
class JobAtHand:
    """A recurring job, and what its store says of jobs in general."""

    history: JobHistory
    prior: FleetPrior


class ServiceState:
    """Opened once for each service; all threads share it."""

    def __init__(self, settings: ServeSettings) -> None:
        self.settings = settings
        self.started_at = time.time()
        self.folder = Path(tempfile.mkdtemp(prefix="sparkcast-serve-"))  # for uploads; goes with the service
        self._remove_folder = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self._learned: dict[str, Learned] = {}
        self._stores: dict[str, Store] = {}
        self._lock = threading.RLock()
        self._learning: dict[str, Future[Learned]] = {}  # for the first time, by entry
        self._workers: set[WorkProcess] = set()  # that learn now
        self._pool = ThreadPoolExecutor(max(settings.workers, 1) + 1, thread_name_prefix="learning")
        self._revisions: dict[str, str] = {}
        self.deadlines: dict[str, float] = {}  # in seconds, that were last asked about, by entry
        self.empty: set[str] = set()  # entries that have no runs yet
        self._jobs: dict[Hashable, JobAtHand] = {}
        self._changed: set[str] = set()  # entries with newer runs than their model
        self.catalog = Catalog(settings.sources, settings.store, self.open)
        self._wake, self._is_closed = threading.Event(), threading.Event()
        self._refresher: threading.Thread | None = None
        self.on_learned: list[Callable[[Learned], None]] = []
        self.rows = self._open_rows()

    def _open_rows(self) -> ServiceRows:
        """In the first store; without one, or with one that cannot be written, in a file that goes with the service."""
        store = self.store()
        if store is not None and store.is_writable:
            return ServiceRows(service_url(self.catalog.stores[0]))
        return ServiceRows(service_url(str(self.folder / "service.sqlite")))

    def close(self) -> None:
        self._is_closed.set()
        self._wake.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            for worker in self._workers:
                worker.cancel()
        if self._refresher is not None:
            self._refresher.join(timeout=10)
        with self._lock:
            for store in self._stores.values():
                store.close()
            self._stores.clear()
            self.rows.close()
        self._remove_folder()

    # ------------------------------------------------------------ what is served

    def names(self) -> tuple[str, ...]:
        """Of studies, tables and ingested jobs."""
        return tuple(self.catalog.entries())

    def store(self) -> Store | None:
        """The store that is served, open; of several the first. None for a service without one."""
        targets = self.catalog.stores
        return self.open(targets[0]) if targets else None

    def open(self, target: str) -> Store:
        """A store, opened once."""
        with self._lock:
            if target not in self._stores:
                self._stores[target] = open_store(target)
            return self._stores[target]

    def histories(self) -> tuple[JobHistory, ...]:
        """The recurring jobs of all stores."""
        return tuple(job for target in self.catalog.stores for job in histories_of(self.open(target)))

    def job_of_line(self, line: SubmitLine, job: str | None) -> "JobAtHand | None":
        """The recurring job that a line starts, with what the jobs of its store have in common: read once for each
        state of the store."""
        for target in self.catalog.stores:
            store = self.open(target)
            key = (target, store.ingested_state(), line.kept.get("name", ""), program_of(line), job)
            found = self._jobs.get(key)
            if found is None and (history := find_in_store(store, line, job).history) is not None:
                found = JobAtHand(history, learn_prior(some_jobs(store, besides=history).values()))
            if found is not None:
                with self._lock:
                    self._jobs[key] = found
                    while len(self._jobs) > _MOST_JOBS:
                        self._jobs.pop(next(iter(self._jobs)))
                return found
        return None

    # ------------------------------------------------------------ what was learned

    def data(self, name: str) -> Data:
        """The runs behind the present model."""
        return self.learned(name).data

    def known(self) -> tuple[str, ...]:
        """The names of what was learned so far."""
        return tuple(self._learned)

    def ready(self, name: str) -> Learned | None:
        """What was learned of an entry, if it was: never waits."""
        return self._learned.get(name)

    def learned(self, name: str, wait_s: float | None = None) -> Learned:
        """What is known of an entry. Who asks first waits until it was learned; raises LearningError after `wait_s`."""
        found = self._learned.get(name)
        if found is not None:
            return found
        entry = self.catalog.entry(name)
        with self._lock:
            learning = self._learning.get(name)
            if learning is None:
                learning = self._learning[name] = self._pool.submit(self._learn_first, entry)
        try:
            return learning.result(wait_s)
        except TimeoutError:
            if learning.done():
                raise
            raise LearningError(
                f"the model of {name!r} is still being learned", hint="ask again in a minute; it goes on meanwhile"
            ) from None
        except CancelledFutureError:
            raise StoreError("the service is stopping", hint="ask again") from None

    def _learn_first(self, entry: CatalogEntry) -> Learned:
        try:
            found = self._learned.get(entry.name)
            if found is None:
                found = self._learn(entry)
                self._keep(found)
            return found
        finally:
            with self._lock:
                self._learning.pop(entry.name, None)

    def basis(self, learned: Learned) -> Basis:
        return learned.basis(is_current=learned.entry.name not in self._changed)

    def _learn(self, entry: CatalogEntry) -> Learned:
        revision = self._revision(entry)
        learned: Learned
        if self.settings.workers:
            learned = self._learned_by(WorkProcess(LearnTask(entry, self.settings.model)))
        else:
            learned = learn(entry, self.settings.model)
        if revision is not None:
            self._revisions[entry.name] = revision
        return learned

    def _learned_by(self, worker: WorkProcess) -> Learned:
        with self._lock:
            self._workers.add(worker)
        try:
            found: Learned = worker.result()
            return found
        finally:
            with self._lock:
                self._workers.discard(worker)

    def _keep(self, learned: Learned) -> None:
        with self._lock:
            self._learned[learned.entry.name] = learned  # in one step: whoever asks sees the old or the new
            self._changed.discard(learned.entry.name)
        for told in self.on_learned:
            told(learned)

    def _revision(self, entry: CatalogEntry) -> str | None:
        if entry.store is None:
            return None
        rows = self.rows if entry.store in self.catalog.stores[:1] else None
        return None if rows is None else rows.revision(entry.name)

    # ------------------------------------------------------------ new runs

    def start(self) -> None:
        """Learn what was named at the start, and look for new runs from now on."""
        self._refresher = threading.Thread(target=self._refresh_always, name="refresher", daemon=True)
        self._refresher.start()

    def touch(self, name: str) -> None:
        """Runs of an entry came in: its model is learned anew, in the background."""
        with self._lock:
            self._revisions.pop(name, None)
            if name in self._learned:
                self._changed.add(name)
        self._wake.set()

    def _refresh_always(self) -> None:
        for name in self.catalog.given:
            self._quietly(partial(self.learned, name))
            if name not in self._learned:
                self.empty.add(name)
        rounds = 0
        while not self._is_closed.is_set():
            self._wake.wait(self.settings.refresh_s)
            self._wake.clear()
            rounds += 1
            is_sure = rounds % _EVERY == 0
            revisions = {} if is_sure else self._quietly(self.rows.revisions) or {}
            for name in tuple(self._learned):
                if self._is_closed.is_set():
                    return
                if is_sure or revisions.get(name) != self._revisions.get(name):
                    self._quietly(partial(self.refresh, name, is_sure=is_sure))

    def _quietly(self, work: Callable[[], _T]) -> _T | None:
        try:
            return work()
        except (SparkcastError, OSError) as error:  # whoever asks is told; here it is tried again
            if not self._is_closed.is_set():
                _LOG.warning("cannot refresh: %s", error)
            return None

    def refresh(self, name: str, *, is_sure: bool = True) -> bool:
        """Learn anew where runs changed; returns whether they did. `is_sure`: read them even if none seem to have."""
        known = self._learned.get(name)
        if known is None:
            return False
        entry = known.entry
        revision = self._revision(entry)
        if not is_sure and revision is not None and revision == self._revisions.get(name):
            return False
        if revision is None and not is_sure:
            return False
        if digest_of(entry.load().dataset) == known.digest:
            with self._lock:
                self._changed.discard(name)
                if revision is not None:
                    self._revisions[name] = revision
            return False
        with self._lock:
            self._changed.add(name)
        self._keep(self._learn(entry))
        return True

    def require_store(self) -> str:
        """The store that takes runs from outside. Raises StoreError where there is none."""
        store = self.store()
        if store is None or not store.is_writable:
            raise StoreError("the service has no store that it can write", hint="start it with --store")
        return self.catalog.stores[0]
