"""What a searcher is: the base for those who write one. Ask for the next settings, run them, tell what they gave."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from sparkcast.registry import Registry
from sparkcast.study import Configuration, Dataset, Level, Outcome, Vocabulary
from sparkcast.study.names import completed


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched, and what is known before the first run. The objective is a number, smaller is better."""

    candidates: tuple[Configuration, ...]
    seed: int = 0
    # What each second of a candidate's run adds to the objective: 1 for a time, a price for a cost. None when the
    # objective is not made of time, as an accuracy is.
    per_second: tuple[float, ...] | None = None
    within_s: float | None = None  # a run that takes longer is no answer, however good it is otherwise
    earlier: tuple[Dataset, ...] = field(default=(), repr=False)  # runs of other workloads with the same settings
    runs_to_come: int | None = None  # of the job with the settings found; None: not known
    replicates: int | None = None  # runs of each configuration; None: as many as the searcher thinks right
    vocabulary: Vocabulary = field(default_factory=Vocabulary, repr=False)  # what the settings mean

    def __post_init__(self) -> None:
        object.__setattr__(self, "candidates", tuple(map(Configuration, self.candidates)))
        settings = dict.fromkeys(name for candidate in self.candidates for name in candidate)
        object.__setattr__(self, "vocabulary", completed(self.vocabulary, settings, ()))


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What one run gave."""

    configuration: Configuration
    value: float | None  # the objective; None when the run failed
    time_s: float | None = None  # None when it failed or did not tell
    outcome: Outcome | None = None  # how it ended; None: not known
    limit_s: float | None = None  # of a timeout: what its time would have been longer than
    slacks: tuple[float, ...] = ()  # how far it kept to each limit but that on the time: below 0 it did not


class Searcher(Protocol):
    """The same search and the same answers give the same questions: a search is resumed by telling it again.

    A class attribute `asks_elsewhere = True` says that it asks also for settings that no candidate has, and again for
    the same ones when it wants replicates; its candidates then have all their settings. Before it is asked, it is told
    of every earlier run of a candidate, one at a time; others are told the mean of each candidate's. With
    `answers_elsewhere = True` such settings may be the answer.

    With a method `ask_beside(running)` several runs are made at once: it is asked for settings to run beside those that
    have not ended yet.

    With `confirms = True` runs of the best are repeated before it answers, where noise may have chosen the best; it is
    told the mean of each again.
    """

    def __init__(self, search: Search) -> None: ...

    def ask(self) -> Configuration | None:
        """The settings to run next, at most one before they are told; None when nothing is left worth running."""
        ...

    def tell(self, evaluation: Evaluation) -> None: ...

    @property
    def stopped_because(self) -> str:
        """Why `ask` gave None, in words; "" before."""
        ...

    @property
    def warnings(self) -> Sequence[str]:
        """What people should know of the answer, such as that it lies at the edge of what was tried."""
        ...


Cell = Level | None


@dataclass(frozen=True, slots=True)
class SearchTable:
    """A table, where the answer of a search is not one best run."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@runtime_checkable
class HasFindings(Protocol):
    """A searcher that answers with a table. A run that ran out of memory, or was slow, may be part of the answer."""

    def findings(self) -> SearchTable:
        """What is known so far; `warnings` and the reason it stopped are shown with it."""
        ...


SEARCHERS: Registry[Searcher] = Registry("searcher", "sparkcast.search.searchers")
