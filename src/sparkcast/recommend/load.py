"""What runs now: how many jobs share the cluster, and what one more of them means for each.

A job that has run for e seconds among n has done the share e / T_n of its work; with one more, the rest goes at the
speed of n + 1, so that it ends at e + (1 - e / T_n) T_{n+1}. Both times are uncertain, but a job that is slower than
predicted among n is so among n + 1 too: they are taken at the same quantile. What is known of a running job is also
that it has not ended, so only the quantiles above that of e count, and the predicted end is the middle one of these:
for a young job the prediction itself, for one that is late always later than now.

A job later than the distribution expects once in a thousand times is held up by something that no run has shown. All
that is known then is how late it is: what is left is as likely more than that as less, and more than x times that with
probability 1 / (1 + x), the only law that does not depend on the unit of time.

Loads were measured with equal jobs started together: jobs of other settings count as one job each, and n is taken to
have been the same since the job began.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.models import Fitted
from sparkcast.queues.admission import HELD_UP, rest_s
from sparkcast.queues.described import malformed, parse_described
from sparkcast.recommend import RunningForecast, RunningJob
from sparkcast.study import Configuration, Role, Vocabulary
from sparkcast.units import as_number

_EXACT = 1e-7  # of a probability


def jobs_factor(factors: Sequence[str], words: Vocabulary) -> str:
    """The factor that counts jobs running at once.

    >>> from sparkcast.study import Setting
    >>> jobs_factor(["hosts", "at_once"], Vocabulary((Setting("at_once", role=Role.JOBS),)))
    'at_once'
    """
    if (name := words.first(Role.JOBS, among=factors)) is None:
        raise NotEnoughDataError(
            f"no factor among {', '.join(factors) or 'none'} says how many jobs ran at once, so the effect of "
            "one more job on the others is unknown",
            hint="vary it in the study: `jobs: [1, 2, 4]`; or declare it with --role NAME=jobs",
        )
    return name


def parse_running(text: str) -> RunningJob:
    """A job in a line.

    >>> parse_running("batch_size=128,executors=2,elapsed=2m,within=300s")
    RunningJob(configuration=Configuration({'batch_size': 128, 'executors': 2}), elapsed_s=120.0, within_s=300.0)
    """
    job = parse_described(text)
    if job.elapsed_s is None:
        raise malformed(text, "elapsed, how long it has run, is missing")
    if job.alone_s is not None or job.done is not None:
        raise malformed(text, "its settings determine how long it takes, and its elapsed time how far it is")
    return RunningJob(job.settings, job.elapsed_s, job.within_s)


def running_jobs(
    open_runs: Iterable[tuple[Configuration, float]], within_s: float | None, now: float, words: Vocabulary
) -> tuple[RunningJob, ...]:
    """The jobs of runs that have not ended at `now`: settings and launch, in seconds since the Unix epoch.

    They are counted from their launch, start-up included. A run that a crash left open counts until the study is run
    again: only who holds the study's lock can tell.
    """
    found = []
    for configuration, launched_at in open_runs:
        name = words.first(Role.JOBS, among=configuration)
        settings = configuration if name is None else configuration.without(name)
        job = RunningJob(settings, max(0.0, now - launched_at), within_s)
        found += [job] * int((name and as_number(configuration[name])) or 1)
    return tuple(found)


def forecast_running(
    times: Fitted, jobs: Sequence[RunningJob], *, factor: str, n_running: int, confidence: float
) -> tuple[RunningForecast, ...]:
    """When each running job ends, now that `n_running` run (these among them), and with one more.

    `factor` is the setting that counts jobs, see `jobs_factor`. Raises NotEnoughDataError where the runs say nothing
    about so many jobs; whoever wants a guess passes `Extrapolating` times.
    """
    _check(jobs, n_running, confidence)
    now = [job.configuration | {factor: n_running} for job in jobs]
    then = [job.configuration | {factor: n_running + 1} for job in jobs]
    _require_measured(times, now, "the running job cannot be forecast")
    _require_measured(times, then, f"one more job would make {n_running + 1}")
    rests = [_rest(times, *parts) for parts in zip(jobs, now, then, strict=True)]
    return tuple(_forecast(job, rest, confidence) for job, rest in zip(jobs, rests, strict=True))


def _check(jobs: Sequence[RunningJob], n_running: int, confidence: float) -> None:
    if not 0 < confidence < 1:
        raise StudyError(f"confidence {confidence:g} is not between 0 and 1", hint="write 0.95 for 95 %")
    if n_running < len(jobs):
        raise StudyError(
            f"{len(jobs)} running jobs are described, but --jobs-running is {n_running}",
            hint="count all jobs running now, and leave out those that have finished",
        )


def _require_measured(times: Fitted, at: Sequence[Configuration], why: str) -> None:
    for error in times.beyond(at):
        if error is not None:
            raise NotEnoughDataError(f"{why}: {error.problem}", hint=error.hint)


def _forecast(job: RunningJob, rest: "_Expected | _HeldUp", confidence: float) -> RunningForecast:
    ends_s, ends_with_new_s = rest.ends()
    if job.within_s is None:
        return RunningForecast(job, ends_s, ends_with_new_s, None, None, would_miss=False)
    before, after = (0.0, 0.0) if job.within_s <= job.elapsed_s else rest.chances(job.within_s)
    return RunningForecast(job, ends_s, ends_with_new_s, before, after, would_miss=after < confidence <= before)


# ---------------------------------------------------------------- what is left of one job


def _rest(times: Fitted, job: RunningJob, now: Configuration, then: Configuration) -> "_Expected | _HeldUp":
    [ended] = times.probability_below([now], job.elapsed_s)
    if 1 - ended >= HELD_UP:
        return _Expected(times, now, then, job.elapsed_s, ended)
    predicted, slower = times.predict([now, then])
    return _HeldUp(job.elapsed_s, job.elapsed_s - predicted, slower / predicted if predicted > 0 else 1.0)


@dataclass(frozen=True, slots=True)
class _Expected:
    """A job that may well be running still."""

    times: Fitted
    now: Configuration
    then: Configuration
    elapsed_s: float
    ended: float  # the share of such jobs that have ended by now

    def ends(self) -> tuple[float, float]:
        return self._ends_at((1 + self.ended) / 2)

    def chances(self, within_s: float) -> tuple[float, float]:
        [in_time] = self.times.probability_below([self.now], within_s)
        return self._given_running(in_time), self._given_running(self._in_time_with_new(within_s))

    def _given_running(self, share: float) -> float:
        return min(1.0, max(0.0, (share - self.ended) / (1 - self.ended)))

    def _in_time_with_new(self, within_s: float) -> float:
        """The quantile of jobs that end just in time: the end grows with the quantile."""
        from scipy.optimize import brentq

        def late(share: float) -> float:
            return self._ends_at(share)[1] - within_s

        low, high = max(self.ended, _EXACT), 1 - _EXACT
        if late(low) > 0:
            return low
        return 1.0 if late(high) <= 0 else float(brentq(late, low, high, xtol=_EXACT))

    def _ends_at(self, share: float) -> tuple[float, float]:
        total, slower = self._quantiles(share)
        total = max(total, self.elapsed_s)
        return total, self.elapsed_s + rest_s(self.elapsed_s, total, slower)

    def _quantiles(self, share: float) -> list[float]:
        """The times that a share of jobs stays within, now and with one more."""
        at = [self.now, self.then]
        if share == 0.5:
            return self.times.predict(at)
        return [high if share > 0.5 else low for low, high in self.times.interval(at, level=abs(2 * share - 1))]


@dataclass(frozen=True, slots=True)
class _HeldUp:
    """A job about which nothing is known but how late it is."""

    elapsed_s: float
    late_s: float
    slowdown: float  # by one more job

    def ends(self) -> tuple[float, float]:
        return self.elapsed_s + self.late_s, self.elapsed_s + self.late_s * self.slowdown

    def chances(self, within_s: float) -> tuple[float, float]:
        left_s = within_s - self.elapsed_s
        return left_s / (left_s + self.late_s), left_s / (left_s + self.late_s * self.slowdown)
