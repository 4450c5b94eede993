"""What a running service knows: its catalog, and what was learned of each entry, by the hash of its runs."""

import threading
import time
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from sparkcast.data.sources import Data
from sparkcast.history import JobHistory, histories_of
from sparkcast.learned.knowledge import Knowledge, knowledge_of
from sparkcast.plain import to_json, to_plain
from sparkcast.serve.catalog import Catalog, CatalogEntry
from sparkcast.serve.settings import ServeSettings
from sparkcast.store import Store, open_store
from sparkcast.study import Dataset


@dataclass(frozen=True)
class Learned:
    """The runs of an entry, and what was learned from them."""

    entry: CatalogEntry
    data: Data
    digest: str  # of the runs
    learned_at: float  # seconds since the Unix epoch
    model: str

    @cached_property
    def knowledge(self) -> Knowledge:
        """Models of its responses, fitted once."""
        return knowledge_of(self.data, self.model)


def digest_of(runs: Dataset) -> str:
    """The same for the same runs, in whatever process."""
    kept = [(run.run_id, run.outcome, dict(run.configuration), dict(run.responses)) for run in runs.observations]
    return sha256(to_json(to_plain((runs.factors, runs.responses, kept)))).hexdigest()[:16]


class ServiceState:
    """Opened once for each service; all threads share it."""

    def __init__(self, settings: ServeSettings) -> None:
        self.settings = settings
        self.catalog = Catalog(settings.sources, settings.store)
        self._learned: dict[str, Learned] = {}
        self._stores: dict[str, Store] = {}
        self._lock = threading.RLock()

    def close(self) -> None:
        with self._lock:
            for store in self._stores.values():
                store.close()
            self._stores.clear()

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

    # ------------------------------------------------------------ what was learned

    def data(self, name: str) -> Data:
        """The runs behind the present model."""
        return self.learned(name).data

    def learned(self, name: str) -> Learned:
        """What is known of an entry. The first to ask waits for its runs to be read."""
        with self._lock:
            if name not in self._learned:
                self._learned[name] = self._learn(self.catalog.entry(name))
            return self._learned[name]

    def _learn(self, entry: CatalogEntry) -> Learned:
        data = entry.load()
        return Learned(entry, data, digest_of(data.dataset), time.time(), self.settings.model)

    def refresh(self, name: str) -> Learned:
        """Read the runs of an entry again; what was learned of the same runs is kept."""
        fresh = self._learn(self.catalog.entry(name))
        with self._lock:
            known = self._learned.get(name)
            if known is None or known.digest != fresh.digest:
                self._learned[name] = fresh
            return self._learned[name]
