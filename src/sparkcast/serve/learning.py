"""Learning from the runs of an entry: what a worker process does, and what it hands back."""

import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256

from sparkcast.api.advisor import Advisor
from sparkcast.api.replays import is_replayed
from sparkcast.data.sources import Data
from sparkcast.errors import SparkcastError
from sparkcast.history import histories_of
from sparkcast.history.changes import JobChange, changes_of
from sparkcast.history.model import JobModel
from sparkcast.history.points import points_of
from sparkcast.history.prior import FleetPrior
from sparkcast.learned.knowledge import Knowledge, knowledge_of
from sparkcast.learned.tabled import TabledPredictions
from sparkcast.plain import to_json, to_plain
from sparkcast.recommend.question import Question
from sparkcast.serve.catalog import CatalogEntry
from sparkcast.store import open_store
from sparkcast.study import Dataset, Kind

_MOST_FOLLOWED = 400  # runs, the latest, in which changes are looked for
_MOST_TABLED = 20_000  # candidates of which predictions are kept


@dataclass(frozen=True, slots=True)
class Basis:
    """What an answer rests on: which model, from which runs, learned when."""

    study: str
    model: str
    runs: int
    configurations: int
    digest: str  # of the runs: the same for the same runs
    learned_at: str  # ISO 8601
    is_current: bool  # False while a model is learned from newer runs


@dataclass(frozen=True)
class Learned:
    """The runs of an entry, and what was learned from them. It never changes: newer runs make another one."""

    entry: CatalogEntry
    data: Data
    digest: str
    learned_at: float  # seconds since the Unix epoch
    model: str
    took_s: float = 0.0
    tabled: dict[str, TabledPredictions] = field(default_factory=dict)  # by response
    changes: tuple[JobChange, ...] = ()  # lasting ones of its time, oldest first

    @cached_property
    def knowledge(self) -> Knowledge:
        """Models of its responses, each fitted once."""
        return knowledge_of(self.data, self.model)

    @cached_property
    def advisor(self) -> Advisor:
        """What recommends settings, over the candidates of the study."""
        return Advisor.of(self.data, self.model, known=self.knowledge)

    @cached_property
    def is_replayed(self) -> bool:
        """Whether clusters are recommended by replaying logs: executors never varied, nor did anything else."""
        return is_replayed(self.data, self.model)

    @property
    def source(self) -> Data | Knowledge:
        """What questions are asked of."""
        return self.data if self.is_replayed else self.knowledge

    @cached_property
    def configurations(self) -> int:
        """How many different ones were run."""
        return len({self.data.dataset.key(run) for run in self.data.dataset.observations})

    def basis(self, *, is_current: bool = True) -> Basis:
        learned_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.learned_at))
        runs = len(self.data.dataset.observations)
        return Basis(self.entry.name, self.model, runs, self.configurations, self.digest, learned_at, is_current)

    def prepared(self) -> "Learned":
        """With the models fitted that questions need most; what cannot be learned is said when somebody asks."""
        began = time.process_time()
        if self.is_replayed:
            return self
        known, words = self.knowledge, self.data.dataset.vocabulary
        with suppress(SparkcastError):
            self.advisor.recommender.ask(Question(most=2))
        usual = [n for n in known.responses if n in (words.time, words.quality) or words.response(n).kind is Kind.TIME]
        for name in dict.fromkeys(usual):
            with suppress(SparkcastError):
                known.model_of(name)
        with suppress(SparkcastError):
            candidates = self.advisor.recommender.whole_view().candidates
            if len(candidates) <= _MOST_TABLED:
                for name in known.responses:
                    if name in (words.time, words.quality):
                        self.tabled[name] = TabledPredictions(known, name, candidates).prepare()
        object.__setattr__(self, "took_s", time.process_time() - began)
        return self


def learn(entry: CatalogEntry, model: str) -> Learned:
    """Read the runs of an entry and fit models to them. Raises what reading raises."""
    data = entry.load()
    found = Learned(entry, data, digest_of(data.dataset), time.time(), model, changes=_changes_of(entry))
    return found.prepared()


def _changes_of(entry: CatalogEntry) -> tuple[JobChange, ...]:
    """Of the jobs whose runs are kept under this name."""
    if entry.kind != "store" or entry.store is None:
        return ()
    store = open_store(entry.store)
    try:
        histories = histories_of(store.ingested(entry.name, with_records=True, last=_MOST_FOLLOWED))
    finally:
        store.close()
    found: list[JobChange] = []
    for history in histories:
        if points := points_of(history.runs):
            found += changes_of(history.name, JobModel(points, FleetPrior()))
    return tuple(sorted(found, key=lambda change: change.since_s))


def digest_of(runs: Dataset) -> str:
    """The same for the same runs, in whatever process."""
    kept = [(run.run_id, run.outcome, dict(run.configuration), dict(run.responses)) for run in runs.observations]
    return sha256(to_json(to_plain((runs.factors, runs.responses, kept)))).hexdigest()[:16]
