"""Whether one more job may start: what people say of jobs, and what runs or a model show of their times, together."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from sparkcast.data.sources import Data
from sparkcast.errors import StudyError
from sparkcast.learned.knowledge import Knowledge, knowledge_of
from sparkcast.learned.service_times import FittedTimes
from sparkcast.queues import admission, staggered
from sparkcast.queues.admission import AdmittedJob, Decision, JobTimes, Slowed
from sparkcast.queues.calibration import calibrated
from sparkcast.queues.described import Described
from sparkcast.queues.measured import require_factors
from sparkcast.queues.slowdown import Shared
from sparkcast.recommend.load import jobs_factor

Times = TypeVar("Times")


@dataclass(frozen=True, slots=True)
class SharedCluster:
    """The cluster that jobs share."""

    servers: int = 1  # without runs: jobs at once that do not slow each other down; more share them equally
    scv: float = 0.0  # without runs: variance of the times over their squared mean
    slots: int | None = None  # jobs at once; others wait in line. None: as many as come
    others: int = 0  # jobs that also run, of which nothing else is known


@dataclass(frozen=True, slots=True)
class _Named:
    label: str
    job: Described

    @classmethod
    def of(cls, name: str, job: Described) -> "_Named":
        return cls(f"{name} ({job.settings})" if job.settings else name, job)


@dataclass(frozen=True, slots=True)
class Admission:
    """Jobs that run, and the forms of a new one, the most wanted first."""

    running: tuple[_Named, ...]
    forms: tuple[_Named, ...]
    cluster: SharedCluster
    confidence: float
    may_delay: bool

    @classmethod
    def of(
        cls,
        running: Sequence[Described],
        forms: Sequence[Described],
        cluster: SharedCluster,
        *,
        confidence: float = 0.95,
        may_delay: bool = True,
    ) -> "Admission":
        first, *smaller = forms
        return cls(
            tuple(_Named.of(f"running job {place}", job) for place, job in enumerate(running, start=1)),
            (
                _Named.of("new job", first),
                *(_Named.of(f"new job, form {place}", job) for place, job in enumerate(smaller, start=2)),
            ),
            cluster,
            confidence,
            may_delay,
        )

    def decide(
        self, source: Data | Knowledge | None, *, model: str | None = None, extrapolate: bool = False
    ) -> Decision:
        """By how jobs launch, wait for cores and run where runs show that; else by their times among others."""
        if self.cluster.slots is None and model is None and isinstance(source, Data):
            decision = self._by_launching(source)
            if decision is not None:
                return decision
        known = None
        if source is not None:
            known = knowledge_of(source, model or "auto")
            jobs_factor(known.about.factors, known.about.vocabulary)
        running, (new, *smaller) = (
            [self._timed(one, known, extrapolate) for one in jobs] for jobs in (self.running, self.forms)
        )
        return admission.decide(
            running,
            new,
            smaller=smaller,
            slots=self.cluster.slots,
            background=self.cluster.others,
            confidence=self.confidence,
            may_delay=self.may_delay,
        )

    def _by_launching(self, data: Data) -> Decision | None:
        """None where the runs do not show it of all jobs."""
        if (known := calibrated(data.dataset)) is None:
            return None
        jobs = []
        for named in (*self.running, *self.forms):
            phases = None if named.job.alone_s is not None else known.phases_of(named.job.settings)
            if phases is None:
                return None
            jobs.append(_job(named, phases))
        running, (new, *smaller) = jobs[: len(self.running)], jobs[len(self.running) :]
        machine = staggered.without_others(known.machine, self.cluster.others)
        decision = staggered.decide(
            running, new, machine, smaller=smaller, confidence=self.confidence, may_delay=self.may_delay
        )
        return dataclasses.replace(decision, notes=(known.told(),))

    def _timed(self, named: _Named, known: Knowledge | None, extrapolate: bool) -> AdmittedJob[JobTimes]:
        label, job = named.label, named.job
        if known is not None:
            if job.alone_s is not None:
                raise StudyError(
                    f"{label}: its time is given twice, by the data and as a number", hint="leave out time="
                )
            require_factors(job.settings, known.about.factors)
            return _job(named, FittedTimes.of(known, job.settings, extrapolate=extrapolate))
        if job.alone_s is None:
            raise StudyError(f"nothing says how long {label} takes", hint="give DATA, or its time alone: time=300s")
        if job.settings:
            raise StudyError(
                f"{label}: settings mean nothing without runs", hint="give DATA, or only its time: time=300s"
            )
        return _job(named, Slowed(job.alone_s, Shared(self.cluster.servers), self.cluster.scv))


def _job(named: _Named, times: Times) -> AdmittedJob[Times]:
    job = named.job
    return AdmittedJob(named.label, times, job.elapsed_s or 0.0, job.within_s, job.done)
