"""Runs that belong together: the history of a recurring job."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from sparkcast.display import Displayed
from sparkcast.errors import StudyError
from sparkcast.history.names import job_name, numbered_name
from sparkcast.history.rules import JobRule, rules_of
from sparkcast.history.shapes import groups_of
from sparkcast.registry import did_you_mean
from sparkcast.store import Store
from sparkcast.store.speeds import stored_speeds
from sparkcast.study import ClusterSpeed, Observation


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
    named: dict[str, list[Observation]] = {}
    ruled: dict[str, bool] = {}  # names that rules gave, and whether shapes may divide them
    for run in runs:
        rule = _rule_of(run, rules or ())
        name = _name_of(run) if rule is None else rule[0]
        if rule is not None:
            ruled[name] = rule[1]
        named.setdefault(name, []).append(run)
    found: list[JobHistory] = []
    for name, some in sorted(named.items()):
        some.sort(key=_begin)
        if name in ruled and not ruled[name]:
            found.append(JobHistory(name, name, tuple(some), ("a rule of `jobs.yaml` names it",)))
        else:
            found += _by_shape(name, some, is_ruled=name in ruled)
    return tuple(found)


def _by_shape(name: str, runs: list[Observation], *, is_ruled: bool) -> Iterator[JobHistory]:
    """One job where nothing tells its runs apart; else several, told apart by a number in order of their first runs."""
    groups = groups_of(runs, {run.run_id: numbered_name(_told_name(run)) for run in runs})
    taken: set[str] = set()
    for number, group in enumerate(groups, 1):
        members = tuple(sorted(group.runs, key=_begin))
        whole = {_told_name(run) for run in members}
        first = f"named {name!r}"
        if is_ruled:
            first = f"a rule of `jobs.yaml` names it {name!r}"
        elif len(whole) > 1:
            shown = ", ".join(map(repr, sorted(whole)[:2]))
            first = f"{len(whole)} application names such as {shown} are {name!r} without dates, ids and counters"
        if len(groups) == 1:
            yield JobHistory(name, name, members, (first, *group.reasons))
            continue
        # A name that all of its runs have, and no other's, says more than a number.
        own = next(iter(whole)) if len(whole) == 1 else ""
        is_own = own not in ("", name, *taken) and not any(
            _told_name(run) == own for g in groups if g is not group for run in g.runs
        )
        shown = own if is_own else f"{name}#{number}"
        taken.add(shown)
        yield JobHistory(shown, f"{name}~{group.mark}", members, (first, *group.reasons))


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
    return with_speeds(store, (run for study in studies for run in store.ingested(study, with_records=True)))


def with_speeds(store: Store, runs: Iterable[Observation]) -> tuple[Observation, ...]:
    """Each with how fast the nodes of its cluster are, where the store has that."""
    speeds = stored_speeds(store)
    return tuple(_with_speed(run, speeds) for run in runs) if speeds else tuple(runs)


def _with_speed(run: Observation, speeds: Mapping[str, ClusterSpeed]) -> Observation:
    speed = speeds.get(run.fingerprint.cluster) if run.fingerprint is not None else None
    if speed is None or run.fingerprint is None:
        return run
    return replace(run, fingerprint=replace(run.fingerprint, speed=speed))


def _rule_of(run: Observation, rules: tuple[JobRule, ...]) -> tuple[str, bool] | None:
    """The name that the first fitting rule gives, and whether shapes may divide its runs."""
    if run.record is None:
        return None
    for rule in rules:
        if (job := rule.job_of(run.record)) is not None:
            return job, rule.split
    return None


def _told_name(run: Observation) -> str:
    if run.record is not None and run.record.name:
        return run.record.name
    return run.origin.job if run.origin is not None else ""


def _name_of(run: Observation) -> str:
    return job_name(_told_name(run))


def _begin(run: Observation) -> tuple[float, str]:
    return run.started_at or 0.0, run.run_id
