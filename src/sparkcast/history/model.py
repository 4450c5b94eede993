"""The runs of one job, each against the forecast from those before it, and the forecast of the next."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.fitting.normal import scores_between
from sparkcast.history.follow import Follower, ShiftFound
from sparkcast.history.laws import N_LAWS, offsets
from sparkcast.history.mixture import StudentMixture, blended, log_sum
from sparkcast.history.places import ClusterEffects
from sparkcast.history.points import RunPoint, usual
from sparkcast.history.prior import FleetPrior
from sparkcast.study import ClusterSpeed

_FIRST = 5  # runs that say what a usual input is
_RESTLESS = 0.3  # of the runs in which a setting changes that is none: a date, an id
_RECENT = 21  # runs that say what the next reads
_RECENT_PLACES = 10  # runs that say where the next is
_NODES = scores_between(9).tolist()  # standard deviations, equally likely: for an input that is not known


@dataclass(frozen=True, slots=True)
class RunQuantity:
    """What is forecast of a run."""

    name: str
    of: Callable[[RunPoint], float | None]
    is_per_slot: bool = False  # of what it is per slot, the laws of time hold


TOTAL = RunQuantity("from submission to exit", lambda point: point.total_s)
WORK = RunQuantity("from the first to the last Spark job", lambda point: point.work_s)


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """A run beside what the runs before it let expect. Logarithms."""

    point: RunPoint
    value: float
    expected: StudentMixture = field(repr=False)
    changed: tuple[str, ...]  # settings that differ from the run before

    @property
    def below(self) -> float:
        """The probability of less than what it took."""
        return self.expected.below(self.value)

    @property
    def is_calibrated(self) -> bool:
        return 0.05 <= self.below <= 0.95

    @property
    def error(self) -> float:
        return self.value - self.expected.mean


class JobModel:
    """What the runs of a job tell of its next one."""

    def __init__(
        self,
        points: Sequence[RunPoint],
        prior: FleetPrior,
        quantity: RunQuantity = TOTAL,
        *,
        level: float | None = None,
        level_sd: float | None = None,
    ) -> None:
        self.prior, self.quantity = prior, quantity
        self.points = tuple(point for point in points if (quantity.of(point) or 0.0) > 0)
        self._inputs = [log(one.input_size) for one in self.points if one.input_size > 0]
        self._input = float(np.median(self._inputs[:_FIRST])) if self._inputs else 0.0
        self._slots = next((log(one.slots) for one in self.points if one.slots), 0.0)
        self.places = ClusterEffects(self.points)
        self.follower = Follower(prior, level=level, level_sd=level_sd)
        self.shifts: list[ShiftFound] = []
        self.scored: list[ScoredRun] = []
        self._run_through()

    def _run_through(self) -> None:
        self._laws: Floats = np.zeros((0, N_LAWS))
        self._moves: Floats = np.zeros(0)
        if not self.points:
            return
        laws = self._laws = offsets(*self._covariates(self.points))
        restless = _Restless()
        moves = []
        for point, offset in zip(self.points, laws, strict=True):
            value = log(self.quantity.of(point) or 1.0) - self._per_slot(point.slots)
            changed = restless.changed(point.settings)
            here = self.places.of(point.cluster)
            expected = self.follower.forecast(offset, is_changed=bool(changed))
            error, own_sd = value - expected.mean - here.mean, expected.sd
            expected = expected.moved(here.mean).wider(here.sd) if here.sd else expected
            self.scored.append(ScoredRun(point, value, expected, changed))
            moves.append(self.places.learn(point.cluster, error, own_sd))
            shift = self.follower.add(value - moves[-1], offset, is_changed=bool(changed))
            if shift is not None:
                self.shifts.append(shift)
        self._moves = np.array(moves)

    def _covariates(self, points: Sequence[RunPoint]) -> tuple[Floats, Floats]:
        inputs = [log(one.input_size) - self._input if one.input_size > 0 else 0.0 for one in points]
        slots = [log(one.slots) - self._slots if one.slots else 0.0 for one in points]
        return np.array(inputs), np.array(slots)

    def expected_offsets(self) -> Floats:
        """Of each run: how much longer than a usual one it takes for its input, slots and cluster, as a logarithm."""
        weight = np.exp(self.follower.belief.log_weight - log_sum(self.follower.belief.log_weight))
        found: Floats = self._laws @ weight + self._moves
        return found

    def _per_slot(self, slots: int | None) -> float:
        return log(slots) if self.quantity.is_per_slot and slots else 0.0

    # ------------------------------------------------------------ the next run

    def forecast(
        self,
        *,
        input_size: float | None = None,
        executors: int | None = None,
        cores: int | None = None,
        is_changed: bool = False,
        at_s: float | None = None,
        cluster: str | None = None,
        speed: ClusterSpeed | None = None,
    ) -> StudentMixture:
        """Of the logarithm; what is not given is as in the last runs. `speed`: of a cluster that it never ran on."""
        slots = (executors or self.usual_executors or 0) * (cores or self.usual_cores or 0) or None
        log_slots = log(slots) - self._slots if slots and self._slots else 0.0
        if input_size is not None and self._inputs:
            nodes = [log(input_size) - self._input]
        else:
            mean, sd = self.next_input(at_s)
            nodes = [mean - self._input + sd * score for score in (_NODES if sd else [0.0])]
        laws = offsets(np.array(nodes), np.full(len(nodes), log_slots))
        found = [self.follower.forecast(row, is_changed=is_changed) for row in laws]
        whole = blended(found, [1 / len(found)] * len(found)) if len(found) > 1 else found[0]
        return self._on(whole.moved(self._per_slot(slots)), cluster, speed)

    def _on(self, found: StudentMixture, cluster: str | None, speed: ClusterSpeed | None) -> StudentMixture:
        """The same on a cluster, else on one of those of the last runs."""
        last = [cluster] if cluster is not None else [point.cluster for point in self.points[-_RECENT_PLACES:]]
        effects = [(self.places.of(name, speed), last.count(name) / len(last)) for name in dict.fromkeys(last)]
        if not any(effect.sd for effect, _ in effects):
            return found
        moved = [found.moved(effect.mean).wider(effect.sd) for effect, _ in effects]
        return blended(moved, [share for _, share in effects]) if len(moved) > 1 else moved[0]

    def next_input(self, at_s: float | None = None) -> tuple[float, float]:
        """The logarithm of what the next run reads, and its standard deviation: as the last runs did, on such a day."""
        if not self._inputs:
            return 0.0, 0.0
        recent = [one for one in self.points if one.input_size > 0][-_RECENT:]
        values = np.array([log(one.input_size) for one in recent])
        if at_s is not None:
            alike = np.array([_is_weekend(one.started_s) == _is_weekend(at_s) for one in recent])
            values = values[alike] if alike.sum() >= 3 else values
        sd = float(np.std(values[-10:], ddof=1)) if len(values) > 2 else 0.3
        return float(np.median(values[-10:])), max(sd, 0.01)

    @property
    def has_input(self) -> bool:
        return bool(self._inputs)

    @property
    def usual_executors(self) -> int | None:
        return usual([point.executors for point in self.points])

    @property
    def usual_cores(self) -> int | None:
        return usual([point.cores for point in self.points])

    @property
    def since(self) -> int:
        """The place of the first run since the last change."""
        return self.shifts[-1].place if self.shifts else 0


def seconds(mixture: StudentMixture) -> float:
    """The middle of a forecast that was of a logarithm."""
    return exp(mixture.mean)


def _is_weekend(moment_s: float) -> bool:
    return (int(moment_s // 86400) + 3) % 7 >= 5  # the epoch began on a Thursday


class _Restless:
    """Which settings change from run to run, without those that always do."""

    def __init__(self) -> None:
        self._last: Mapping[str, str] | None = None
        self._n = 0
        self._changes: dict[str, int] = {}

    def changed(self, settings: Mapping[str, str]) -> tuple[str, ...]:
        last, self._last = self._last, settings
        self._n += 1
        if last is None or last == settings:
            return ()
        names = sorted(name for name in {*last, *settings} if last.get(name) != settings.get(name))
        for name in names:
            self._changes[name] = self._changes.get(name, 0) + 1
        return tuple(n for n in names if self._changes[n] <= max(1, _RESTLESS * self._n))
