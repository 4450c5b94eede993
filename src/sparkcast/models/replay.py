"""Times on other clusters by replaying the event logs of the runs themselves: for jobs whose executors never varied.

Each log that a run was read from is played on the cluster that is asked about. What the run took is moved by what the
replay takes longer or shorter there than on the run's own cluster. Several logs of a job show how wrong that is; of one
log it is assumed (see `sparkcast.replay.intervals`). Settings other than executors and cores are those of the log.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations
from math import exp, inf, log, log2
from pathlib import Path
from statistics import NormalDist

from sparkcast.analysis.runs import usable_runs
from sparkcast.errors import NotEnoughDataError, SparkcastError, StudyError
from sparkcast.eventlogs import find_logs, read_log
from sparkcast.facts import facts_of
from sparkcast.fitting.answering import check_level
from sparkcast.models import MODELS
from sparkcast.replay import Played, Recorded, WhatIfQuestion, recorded
from sparkcast.replay.intervals import ReplaySpread, measured_spread, prior_spread
from sparkcast.replay.settling import settled
from sparkcast.replay.whatif import doubt, play_at, require_same_plan
from sparkcast.study import Configuration, Dataset, Observation, Role
from sparkcast.study.application import CORE_HOURS, TIME, TOTAL_TIME
from sparkcast.study.configuration import Levels
from sparkcast.study.setting import SIZES
from sparkcast.units import as_number

MOST = 8  # logs that answer a question about one kind of run, the latest
_OF_EACH, _IN_ALL = 3, 48  # logs of each configuration, and of all, that a model reads
_Z = NormalDist().inv_cdf(0.95)
_SAME_SIZE = 0.02  # of logarithms of amounts of data
_SHORTEST = 0.05  # of what a run took: no replay takes less
# Seconds, of which what is outside of the replay stays as it was; or an amount that grows in proportion.
_MEASURES: Mapping[str, Callable[[Played], float]] = {
    TOTAL_TIME: lambda played: played.wall_s,
    TIME: lambda played: played.in_jobs_s,
    CORE_HOURS: lambda played: played.core_hours,
}
_CLUSTER = (Role.MACHINES, Role.CORES)


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run, and the log that it was read from."""

    run: Observation
    source: Recorded


def recorded_runs(runs: Sequence[Observation], most: int = MOST) -> tuple[RecordedRun, ...]:
    """The latest runs that ended well and whose logs can be read and replayed, the latest first."""
    found: list[RecordedRun] = []
    for run in sorted(runs, key=lambda one: (-(one.started_at or 0.0), one.run_id)):
        source = None if run.origin is None or not run.ok or not run.origin.is_complete else recorded_at(run.origin.log)
        if source is not None:
            found.append(RecordedRun(run, source))
        if len(found) == most:
            break
    return tuple(found)


def recorded_at(place: str) -> Recorded | None:
    """The log at this place, ready to be played; None where it is no longer there, or has nothing to play."""
    try:
        changed = Path(place).stat().st_mtime_ns
    except (OSError, ValueError):
        return None
    return _recorded(place, changed)


@lru_cache(maxsize=_IN_ALL)
def _recorded(place: str, _changed: int) -> Recorded | None:
    try:
        logs = find_logs([place])
        if len(logs) != 1:
            return None
        read = read_log(logs[0])
        return recorded(read, facts_of(read))
    except SparkcastError:
        return None


@dataclass(frozen=True, slots=True)
class _PairError:
    error: float
    distance: float


@dataclass(frozen=True, slots=True)
class _Target:
    """A cluster, and how many times as much data as a run had."""

    executors: int
    cores: int
    data: float

    @property
    def question(self) -> WhatIfQuestion:
        return WhatIfQuestion(data=self.data)


class ReplayedRuns:
    """The Fitted of replays: asked for a cluster, it plays there the logs of runs with the same other settings."""

    def __init__(self, data: Dataset, response: str, runs: Sequence[RecordedRun]) -> None:
        self._measure, self._response = _MEASURES[response], response
        names = {name for run in runs for name in run.run.configuration}
        self._own = {role: data.vocabulary.first(role, among=names) for role in _CLUSTER}
        self._size = data.vocabulary.first(*SIZES, among=data.factors) or data.vocabulary.first(*SIZES, among=names)
        own = {name for name in (*self._own.values(), self._size) if name}
        self._others = tuple(name for name in data.factors if name not in own)
        self._groups: dict[Configuration, list[RecordedRun]] = {}
        works = settled([one.source.work for one in runs])
        for one, work in zip(runs, works, strict=True):
            known = replace(one, source=replace(one.source, work=work))
            self._groups.setdefault(one.run.configuration.only(self._others), []).append(known)
        self._spreads: dict[tuple[str, ...], ReplaySpread] = {}
        self._found: dict[Configuration, tuple[float, float]] = {}

    def predict(self, at: Sequence[Levels]) -> list[float]:
        return [exp(self._belief(Configuration(one))[0]) for one in at]

    def interval(self, at: Sequence[Levels], *, level: float = 0.9) -> list[tuple[float, float]]:
        check_level(level)
        z = NormalDist().inv_cdf(0.5 + level / 2)
        beliefs = [self._belief(Configuration(one)) for one in at]
        return [(exp(center - z * sd), exp(center + z * sd)) for center, sd in beliefs]

    def probability_below(self, at: Sequence[Levels], limit: float) -> list[float]:
        if limit <= 0:
            return [0.0] * len(at)
        return [NormalDist(*self._belief(Configuration(one))).cdf(log(limit)) for one in at]

    def beyond(self, at: Sequence[Levels]) -> list[NotEnoughDataError | None]:
        return [self._refused(Configuration(one)) for one in at]

    def _refused(self, at: Configuration) -> NotEnoughDataError | None:
        """A setting that no log was made with, or a cluster that the work cannot run on."""
        if at.only(self._others) not in self._groups:
            return NotEnoughDataError(
                f"no event log is of a run with {at.only(self._others)}, and replays vary only the cluster",
                hint="ingest the log of such a run, or ask with the settings of one",
            )
        try:
            self._belief(at)
        except SparkcastError as error:
            return NotEnoughDataError(error.problem, hint=error.hint)
        return None

    def _belief(self, at: Configuration) -> tuple[float, float]:
        """The center and the standard deviation of the logarithm."""
        if at not in self._found:
            runs = self._runs_like(at)
            targets = [self._target(one, at) for one in runs]
            first, target = runs[0].source, targets[0]
            for one in runs:
                require_same_plan(one.source, target.data)
            centers = [log(self._moved(one, there)) for one, there in zip(runs, targets, strict=True)]
            distances = [_distance(one, there) for one, there in zip(runs, targets, strict=True)]
            center, sd = self._spread(runs).at(centers, distances, target.data)
            played = play_at(first, target.executors, target.cores, target.question)
            unsure = doubt(first, target.executors, target.cores, target.question, played)
            self._found[at] = center, (sd**2 + (unsure / _Z) ** 2) ** 0.5
        return self._found[at]

    def _runs_like(self, at: Configuration) -> list[RecordedRun]:
        """With the same other settings, and of these with the amount of data that is closest; the latest."""
        runs = self._groups[at.only(self._others)]
        wanted = self._amount(at)
        if wanted is not None:
            gaps = [abs(log(wanted / own)) if (own := self._amount(one.run.configuration)) else 0.0 for one in runs]
            runs = [one for one, gap in zip(runs, gaps, strict=True) if gap <= min(gaps) + _SAME_SIZE]
        return runs[:MOST]

    def _amount(self, at: Configuration) -> float | None:
        amount = as_number(at[self._size]) if self._size is not None and self._size in at else None
        return amount if amount is not None and amount > 0 else None

    def _target(self, one: RecordedRun, at: Configuration) -> _Target:
        """Executors and cores of each, and data, as the log had them where they are not asked for."""
        asked = [at.get(name) if (name := self._own[role]) else None for role in _CLUSTER]
        usual = (one.source.executors, one.source.cores)
        found = [own if level is None else _count(level) for level, own in zip(asked, usual, strict=True)]
        wanted, had = self._amount(at), self._amount(one.run.configuration)
        return _Target(found[0], found[1], wanted / had if wanted and had else 1.0)

    def _moved(self, one: RecordedRun, there: _Target) -> float:
        """What the run took, moved by what its replay says of another cluster."""
        took, here = one.run.responses[self._response], _own_target(one)
        if there == here:
            return took
        after, before = (
            self._measure(play_at(one.source, where.executors, where.cores, where.question)) for where in (there, here)
        )
        moved = took * after / before if self._response == CORE_HOURS else took + after - before
        return max(moved, _SHORTEST * took)

    def _spread(self, runs: Sequence[RecordedRun]) -> ReplaySpread:
        """From each log, replayed as the others were run."""
        key = tuple(one.run.run_id for one in runs)
        if key not in self._spreads:
            pairs = []
            for source, target in permutations(runs, 2):
                there = _own_target(target)
                error = log(target.run.responses[self._response] / self._moved(source, there))
                pairs.append(_PairError(error, _distance(source, there)))
            self._spreads[key] = measured_spread(pairs) if pairs else prior_spread()
        return self._spreads[key]


def _own_target(one: RecordedRun) -> _Target:
    return _Target(one.source.executors, one.source.cores, 1.0)


def _distance(one: RecordedRun, there: _Target) -> float:
    """In doublings of slots."""
    return log2(there.executors * there.cores / (one.source.executors * one.source.cores))


def _count(level: object) -> int:
    number = float(str(level))
    if number < 1 or number != int(number):
        raise StudyError(f"{level} runs nothing", hint="use a whole number of executors and cores, 1 or more")
    return int(number)


@MODELS.register("replay")
class Replay:
    """Times and core-hours on other clusters, by replaying the event logs of ingested runs."""

    auto_from = inf  # by name; and where executors never varied
    replays_logs = True  # what was measured is no range for it, and a model file has no logs

    def fit(self, data: Dataset, response: str) -> ReplayedRuns:
        runs = usable_runs(data, response)
        if response not in _MEASURES:
            raise StudyError(
                f"replay predicts {', '.join(_MEASURES)}, and not {response}", hint="use another model for it"
            )
        found = recorded_runs(_latest_of_each(runs, data), _IN_ALL)
        if not found:
            raise NotEnoughDataError(
                "replay needs the event logs of runs, and of these none can be read",
                hint="`ingest` the logs, and leave them where they are",
            )
        return ReplayedRuns(data, response, found)


def _latest_of_each(runs: Sequence[Observation], data: Dataset) -> list[Observation]:
    """The latest few runs of each configuration."""
    kept: dict[Configuration, list[Observation]] = {}
    for run in sorted(runs, key=lambda one: -(one.started_at or 0.0)):
        own = kept.setdefault(data.key(run), [])
        own.append(run)
    n = max(_OF_EACH, MOST // len(kept))
    return [run for own in kept.values() for run in own[:n]]
