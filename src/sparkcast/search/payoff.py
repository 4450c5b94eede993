"""When a search pays: what it cost in runs of its answer, and in how many runs of the job that comes back."""

import math
from dataclasses import dataclass

from sparkcast.study import Configuration

FEWEST_RUNS = 30  # of the job; below about that, a search cost more than it saved on public workloads
USUAL_COST = 11  # of a search, in runs of its answer (benchmarks/search.py)


@dataclass(frozen=True, slots=True)
class Payoff:
    """In money where that is what is searched for, else in time."""

    in_answers: float  # what all runs of the search took, in runs of its answer
    against: Configuration  # the settings the job has today, or the first that were run
    saved: float | None  # by each run of the answer, as a share of a run with those; None when they did not work
    pays_from: int | None  # runs of the job; None when it saves nothing
    runs_to_come: int | None = None  # as far as that was said

    @property
    def pays(self) -> bool | None:
        """Within the runs to come; None when nobody said how many these are."""
        if self.runs_to_come is None:
            return None
        return self.pays_from is not None and self.pays_from <= self.runs_to_come


def payoff_of(
    spent: float,
    answer: float,
    today: float | None,
    against: Configuration,
    runs_to_come: int | None,
    *,
    whole: float | None = None,
) -> Payoff | None:
    """Of what the search spent, and what a run takes with its answer and takes today, all in one unit.

    `whole` is what a run of the answer takes with what is no part of `answer` and `today`, such as its start-up.

    >>> payoff_of(300.0, 30.0, 40.0, Configuration({"executors": 1}), None).pays_from
    30
    """
    if not answer > 0:
        return None
    gain = None if today is None else today - answer
    saved = None if today is None or gain is None or today <= 0 else gain / today
    pays_from = None if gain is None or gain <= 0 else math.ceil(spent / gain)
    return Payoff(spent / (whole or answer), against, saved, pays_from, runs_to_come)


def warning_before(runs_to_come: int | None) -> str:
    """What to know before a search begins; "" when it is likely to pay."""
    costs = f"it costs about {USUAL_COST} runs of its answer"
    if runs_to_come is None:
        return (
            f"a search seldom pays for a job that will run fewer than {FEWEST_RUNS} times: {costs}; "
            "`runs_to_come=N` says how often it will run"
        )
    if runs_to_come >= FEWEST_RUNS:
        return ""
    times = "once" if runs_to_come == 1 else f"{runs_to_come} times"
    return f"for a job that will run {times} a search seldom pays: {costs}; prefer sensible settings, or a few runs"
