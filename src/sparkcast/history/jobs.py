"""Runs that belong together: the history of a recurring job."""

from collections.abc import Iterable
from dataclasses import dataclass

from sparkcast.display import Displayed
from sparkcast.errors import StudyError
from sparkcast.history.names import job_name
from sparkcast.history.rules import JobRule, rules_of
from sparkcast.registry import did_you_mean
from sparkcast.store import Store
from sparkcast.study import Observation


@dataclass(frozen=True, slots=True)
class JobHistory(Displayed):
    """A recurring job and its runs, those that failed or have not ended included, in the order in which they began."""

    name: str  # for people, unique in its store
    key: str  # the same whenever it is asked for: the normalized name, and its shape where one name hides several jobs
    runs: tuple[Observation, ...]
    reasons: tuple[str, ...] = ()  # what made these runs one job, and others another

    @property
    def complete(self) -> tuple[Observation, ...]:
        """The runs that ended well."""
        return tuple(run for run in self.runs if run.ok and run.responses and is_over(run))

    @property
    def running(self) -> tuple[Observation, ...]:
        """Those whose logs have no end: they run, or were killed."""
        return tuple(run for run in self.runs if not is_over(run))


def is_over(run: Observation) -> bool:
    """Whether the log of a run has its end."""
    return run.origin is not None and run.origin.is_complete


def histories_of(
    source: Store | Iterable[Observation], *, rules: tuple[JobRule, ...] | None = None
) -> tuple[JobHistory, ...]:
    """The recurring jobs of a store, or of runs that were ingested, by name.

    `rules` are tried first, those that the store keeps when none are given.
    """
    if isinstance(source, Store):
        runs = stored_runs(source)
        rules = rules_of(source) if rules is None else rules
    else:
        runs = tuple(source)
    groups: dict[str, list[Observation]] = {}
    for run in runs:
        groups.setdefault(_ruled(run, rules or ()) or _name_of(run), []).append(run)
    return tuple(
        JobHistory(name, name, tuple(sorted(group, key=_begin)), (f"named {name!r}",))
        for name, group in sorted(groups.items())
    )


def history_of(histories: Iterable[JobHistory], job: str) -> JobHistory:
    """The job of this name or key; also by the full name of one of its applications.

    Raises:
        StudyError: there is none, or several.
    """
    known = {one.name: one for one in histories}
    found = known.get(job) or next((one for one in known.values() if one.key in (job, job_name(job))), None)
    if found is None:
        raise StudyError(f"the store has no job {job!r}", hint=did_you_mean(job, tuple(known)) or "`jobs` lists them")
    return found


def stored_runs(store: Store) -> tuple[Observation, ...]:
    """All runs of a store that were ingested, with their records."""
    studies = store.study_names()
    return tuple(run for study in studies for run in store.ingested(study, with_records=True))


def _ruled(run: Observation, rules: tuple[JobRule, ...]) -> str | None:
    if run.record is None:
        return None
    return next((job for rule in rules if (job := rule.job_of(run.record)) is not None), None)


def _name_of(run: Observation) -> str:
    if run.record is not None and run.record.name:
        return job_name(run.record.name)
    return job_name(run.origin.job if run.origin is not None else "")


def _begin(run: Observation) -> tuple[float, str]:
    return run.started_at or 0.0, run.run_id
