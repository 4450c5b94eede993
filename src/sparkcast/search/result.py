"""What a search found."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkcast.display import Displayed, frame_of, plain_row
from sparkcast.search.base import SearchTable
from sparkcast.search.hours import AtOtherHours
from sparkcast.search.ledger import Tried, TunedRun
from sparkcast.search.payoff import Payoff
from sparkcast.study import Vocabulary

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class TuneResult(Displayed):
    study: str
    searcher: str
    objective: str
    best: Tried | None  # None when the search was interrupted before there was one
    first: Tried | None  # what it began with
    runner_up: Tried | None
    is_tie: bool  # whether the best and the runner-up differ by no more than noise
    is_candidate: bool  # whether the best is among the levels of the study
    conf: tuple[str, ...]  # paste-ready spark-submit options of the best
    history: tuple[TunedRun, ...]
    runs: int  # made by this search, in all its sessions
    new: int  # of these, in this session
    already_measured: int
    failed: int  # of all runs it was told of
    impossible: int  # refused without running
    spent_s: float  # wall time of its runs, start-up included
    spent_cost: float | None  # what they cost by the study's price
    stopped_because: str
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    interrupted: bool
    vocabulary: Vocabulary  # what the names in it mean
    currency: str = ""  # of the study's price
    findings: SearchTable | None = None  # of a searcher that answers with a table rather than with the best
    within_s: float | None = None  # the deadline
    chance_best: float | None = None  # that the best is the best of those tried; None where noise is not known
    payoff: Payoff | None = None  # what the search cost in runs of its answer, and when that comes back
    at_other_hours: AtOtherHours | None = None  # None where the study is not spread over hours

    def frame(self) -> "pd.DataFrame":
        """A row for each run, in the order in which the searcher asked for it."""
        return frame_of({**run.configuration, **plain_row(run)} for run in self.history)
