"""What a fitted model says about the times of jobs in a queue."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sparkcast.arrays import Floats
from sparkcast.errors import NotEnoughDataError
from sparkcast.learned.knowledge import Knowledge
from sparkcast.models import Fitted
from sparkcast.queues.times import Predicted
from sparkcast.study import Configuration, Role
from sparkcast.study.configuration import Levels

# Quantiles that are asked of a model; between them lines are straight enough.
_SHARES = (0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.995, 0.999)


def predicted_times(known: Knowledge, at: Levels, *, extrapolate: bool = False) -> Predicted:
    """The distribution of the time of a job with these settings, alone on the cluster, in seconds."""
    jobs = known.about.vocabulary.first(Role.JOBS, among=known.about.factors)
    return FittedTimes.of(known, at, extrapolate=extrapolate).table(1 if jobs else 0)


@dataclass(frozen=True)
class FittedTimes:
    """Times of one job among so many, as a fitted model has them; what `queues.admission` asks for."""

    fitted: Fitted
    at: Configuration
    jobs: str | None  # the setting that counts jobs at once
    unit_s: float
    extrapolate: bool = False
    _tables: dict[int, Predicted] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, known: Knowledge, at: Levels, *, extrapolate: bool = False) -> "FittedTimes":
        words = known.about.vocabulary
        name = words.required_time()
        jobs = words.first(Role.JOBS, among=known.about.factors)
        fitted = known.model_of(name)[1]
        settings = Configuration({key: level for key, level in at.items() if key != jobs})
        return cls(fitted, settings, jobs, words.response(name).seconds(1.0), extrapolate)

    def quantiles(self, n: int, shares: Floats) -> Floats:
        return self.table(n).at(shares)

    def share_within(self, n: int, seconds: float) -> float:
        [share] = self.fitted.probability_below([self._asked(n)], seconds / self.unit_s)
        return share

    def table(self, n: int) -> Predicted:
        if n not in self._tables:
            asked = self._asked(n)
            [beyond] = self.fitted.beyond([asked])
            if beyond is not None and not self.extrapolate:
                raise NotEnoughDataError(beyond.problem, hint=beyond.hint)
            self._tables[n] = Predicted(_SHARES, _ascending([self._quantile(asked, share) for share in _SHARES]))
        return self._tables[n]

    def _asked(self, n: int) -> Configuration:
        return self.at if self.jobs is None else self.at | {self.jobs: n}

    def _quantile(self, asked: Configuration, share: float) -> float:
        if share == 0.5:
            return self.fitted.predict([asked])[0] * self.unit_s
        [(low, high)] = self.fitted.interval([asked], level=abs(2 * share - 1))
        return (high if share > 0.5 else low) * self.unit_s


def _ascending(values: Sequence[float]) -> tuple[float, ...]:
    """Numerical noise must not turn quantiles round, and no time is zero."""
    found, so_far = [], 1e-9
    for value in values:
        so_far = max(so_far, value)
        found.append(so_far)
    return tuple(found)
