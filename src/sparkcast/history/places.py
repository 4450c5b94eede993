"""What a cluster does to the time of a job that ran on others: from their measured speeds, then from its own runs.

Every run belongs to a cluster. Against the first one of the job, another one multiplies its time by a factor whose
logarithm is normal: around what the measured speeds of both let expect, else around none and wide. Runs narrow it. So
runs of several clusters teach one law of the job, and a move is no change of the job.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import hypot, log

import numpy as np

from sparkcast.history.points import RunPoint
from sparkcast.study import ClusterSpeed
from sparkcast.study.application import LAUNCH, Part

_UNMEASURED = 0.35  # standard deviation of the logarithm of the factor, where speeds are not known
_MEASURED, _OF_RATIO = 0.08, 0.3  # the same where they are: at least this, and this share of what they say
_CLIP = 3.5  # standard deviations: a run further off teaches as if it were this far
_MOST_RUNS = 20  # of the job, which say where its time goes
_RESTLESS = 0.3  # clusters for a run, from which on their names say nothing
_CORE = (
    *(LAUNCH, Part.BEFORE_FIRST_JOB.response, Part.DRIVER_ONLY.response),
    *(Part.SERIALIZATION.response, Part.CPU.response, Part.GC.response),
)
_DISK = (Part.UNINSTRUMENTED.response, Part.SPILL.response, Part.SHUFFLE_WRITE.response)
_NETWORK = (Part.FETCH_WAIT.response,)


@dataclass(slots=True)
class ClusterEffect:
    """Of one cluster: the logarithm of its factor."""

    mean: float
    sd: float
    expected: float  # before any run there
    expected_sd: float
    runs: int = 0


@dataclass(frozen=True, slots=True)
class ClusterMove:
    """A job runs on another cluster since a run, and takes longer or shorter there than was expected."""

    place: int
    found: int
    before: str
    since: str
    log_ratio: float
    sd: float


class ClusterEffects:
    """Of all clusters that a job ran on. Runs whose cluster is not known are taken to be of the first."""

    def __init__(self, points: Sequence[RunPoint]) -> None:
        names = [point.cluster for point in points if point.cluster]
        # A cluster that is made for each run has another name each time, and is the same all the same.
        self._is_restless = len({*names}) > max(3.0, _RESTLESS * len(names))
        self.first = names[0] if names else ""
        self._speeds = {point.cluster: point.speed for point in points if point.speed is not None}
        self._shares = _shares(points[-_MOST_RUNS:])
        self._effects: dict[str, ClusterEffect] = {}

    def of(self, cluster: str, speed: ClusterSpeed | None = None) -> ClusterEffect:
        """What is believed of a cluster now."""
        if cluster in ("", self.first) or self._is_restless:
            return ClusterEffect(0.0, 0.0, 0.0, 0.0)
        if cluster not in self._effects:
            mean, sd = self._expected(speed or self._speeds.get(cluster))
            self._effects[cluster] = ClusterEffect(mean, sd, mean, sd)
        return self._effects[cluster]

    def learn(self, cluster: str, error: float, sd: float) -> float:
        """From a run there that took so much more than forecast with what was believed; what is believed now."""
        effect = self.of(cluster)
        if effect.sd <= 0:
            return 0.0
        whole = hypot(sd, effect.sd)
        gain = effect.sd**2 / whole**2
        effect.mean += gain * min(max(error, -_CLIP * whole), _CLIP * whole)
        effect.sd *= (1 - gain) ** 0.5
        effect.runs += 1
        return effect.mean

    def knows(self, cluster: str) -> bool:
        """Whether the job ran there."""
        effect = self._effects.get(cluster)
        ran = cluster == self.first or (effect is not None and effect.runs > 0)
        return bool(cluster) and ran and not self._is_restless

    def _expected(self, speed: ClusterSpeed | None) -> tuple[float, float]:
        """By how much the logarithm of the time is higher where speeds are these, and its standard deviation."""
        own = self._speeds.get(self.first)
        if own is None or speed is None:
            return 0.0, _UNMEASURED
        ratios = {name: _ratio(getattr(own, name), getattr(speed, name)) for name in ("core", "disk", "network")}
        factor = sum(share * ratios.get(name, 1.0) for name, share in self._shares.items())
        mean = log(factor)
        return mean, hypot(_MEASURED, _OF_RATIO * mean)


def moves_of(points: Sequence[RunPoint], effects: ClusterEffects) -> Iterable[ClusterMove]:
    """Where a job went to another cluster and stayed there, and it is slower or faster there than was expected."""
    names = [point.cluster for point in points]
    for place in range(1, len(names)):
        before, since = names[place - 1], names[place]
        is_first = since not in names[:place]
        if not (before and since and is_first and before != since) or names[place:].count(since) < len(names) - place:
            continue
        then, now = effects.of(before), effects.of(since)
        ratio, sd = now.mean - then.mean, hypot(now.sd, then.sd)
        unexpected = abs(ratio - (now.expected - then.mean))
        if now.runs >= 2 and unexpected > 2 * max(sd, 1e-6) and unexpected > now.expected_sd * (now.expected != 0):
            yield ClusterMove(place, min(place + 1, len(names) - 1), before, since, ratio, sd)


def _ratio(own: float, other: float) -> float:
    return own / other if own > 0 and other > 0 else 1.0


def _shares(points: Sequence[RunPoint]) -> Mapping[str, float]:
    """Of the time of runs: by what has to be faster for it to be shorter. Waiting and idle slots are as tasks are."""
    kinds = (_CORE, _DISK, _NETWORK)
    rows = [[sum(point.responses.get(name, 0.0) for name in names) for names in kinds] for point in points]
    told = np.array([row for row in rows if sum(row) > 0])
    if not len(told):
        return {"core": 1.0}
    shares = np.mean(told / told.sum(axis=1, keepdims=True), axis=0)
    return dict(zip(("core", "disk", "network"), shares.tolist(), strict=True))
