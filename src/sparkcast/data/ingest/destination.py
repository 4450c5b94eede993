"""Where ingested runs go: what every place must know of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sparkcast.data.ingest.settings import Pattern
from sparkcast.study import LogOrigin, Observation


@dataclass(frozen=True, slots=True)
class IngestedTable:
    """The runs of one job, where they are now."""

    path: str  # a table, a store or a study file
    study: str  # its name in a store; "" for a table
    job: str
    n_runs: int
    settings: tuple[str, ...]  # that differ among the runs
    notes: tuple[str, ...] = ()


def origin_of(run: Observation) -> LogOrigin:
    assert run.origin is not None, "a measured run has no log that it was read from"
    return run.origin


def job_of(run: Observation) -> str:
    return origin_of(run).job


class Destination(Protocol):
    """A place for runs. What it does not take, it refuses with a reason, and takes the rest."""

    patterns: tuple[Pattern, ...]  # where settings stand that it needs, beside what the user says

    @property
    def earlier(self) -> Mapping[str, Observation]:
        """What came in before, by run id."""

    def refuse(self, runs: Sequence[Observation], *, is_chosen: bool) -> Mapping[str, str]:
        """Why some of the runs that were read are not for here, by run id. `is_chosen`: the user named the job.

        Raises:
            StudyError: it has to be told which of several jobs it is for.
        """
        ...

    def adapt(self, run: Observation) -> Observation:
        """The run in the words of this place. Only for runs that are not refused."""
        ...

    def write(self, runs: Mapping[str, Observation]) -> tuple[IngestedTable, ...]:
        """Make these all that is known here. The tables that came of it, in the order in which jobs came."""
        ...
