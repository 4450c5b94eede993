"""What a fitted model says about the times of jobs in a queue."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sparkcast.arrays import Floats
from sparkcast.data.sources import Data
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.learned.knowledge import Knowledge, knowledge_of
from sparkcast.models import Fitted
from sparkcast.queues.described import DescribedClass
from sparkcast.queues.service import ServiceTimes, measured_times
from sparkcast.queues.times import Predicted, Spread
from sparkcast.study import Configuration, Role
from sparkcast.study.configuration import Levels

# Quantiles that are asked of a model; between them lines are straight enough.
_SHARES = (0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.995, 0.999)


def service_times(
    source: Data | Knowledge | None, job: DescribedClass, *, model: str = "auto", extrapolate: bool = False
) -> ServiceTimes:
    """How long a class of jobs takes: as it says itself, as runs show, or else as a model predicts."""
    if source is None:
        return _as_described(job)
    if job.alone_s is not None:
        raise StudyError("the service time is given twice: by the data and as a number", hint="leave out one of them")
    if isinstance(source, Data):
        measured = measured_times(source.dataset, job.settings, job.scv)
        if measured is not None:
            return measured
    if not job.settings:
        raise StudyError(
            "a model predicts the time of given settings", hint="say which: `at={'executors': 2, 'batch_size': 64}`"
        )
    times = predicted_times(knowledge_of(source, model), job.settings, extrapolate=extrapolate)
    note = f"service times at {_listed(job.settings)} are predicted, not measured"
    return ServiceTimes(times if job.scv is None else Spread(times.mean_s, job.scv), notes=(note,))


def _as_described(job: DescribedClass) -> ServiceTimes:
    if job.alone_s is None:
        raise StudyError("nothing says how long a job takes", hint="give runs (DATA), or the time: `service_time_s=30`")
    if job.settings:
        raise StudyError(
            f"{_listed(job.settings)}: settings mean nothing without runs", hint="give DATA, or correct the name"
        )
    return ServiceTimes(Spread(job.alone_s, 1.0 if job.scv is None else job.scv))


def _listed(settings: Levels) -> str:
    return ", ".join(f"{name}={level}" for name, level in settings.items())


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
