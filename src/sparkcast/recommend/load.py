"""What runs now: how many jobs share the cluster, and what one more of them means for each.

When they end is what `queues` says, as in `sparkcast queue admit`: from how jobs launch, wait for cores and run, where
the runs show that, else from how long they take among how many. Then jobs of other settings count as one job each, and
n is taken to have been the same since the job began.
"""

from collections.abc import Iterable, Sequence

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.learned.service_times import FittedTimes
from sparkcast.models import Fitted
from sparkcast.queues import admission, staggered
from sparkcast.queues.admission import AdmittedJob, End, JobTimes
from sparkcast.queues.calibration import Calibrated
from sparkcast.queues.described import malformed, parse_described
from sparkcast.recommend import RunningForecast, RunningJob
from sparkcast.study import Configuration, Role, Vocabulary
from sparkcast.units import as_number


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
            hint="vary it in the study: `jobs: [1, 2, 4]`; or declare it with `roles={NAME: 'jobs'}`",
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
    about so many jobs; whoever wants a guess passes `Extrapolating` times. Fewer jobs, when some have ended, may be a
    guess.
    """
    _check(jobs, n_running, confidence)
    now = [job.configuration | {factor: n_running} for job in jobs]
    then = [job.configuration | {factor: n_running + 1} for job in jobs]
    _require_measured(times, now, "the running job cannot be forecast")
    _require_measured(times, then, f"one more job would make {n_running + 1}")
    present: list[AdmittedJob[JobTimes]] = [
        AdmittedJob(str(i), FittedTimes(times, job.configuration, factor, 1.0, True), job.elapsed_s, job.within_s)
        for i, job in enumerate(jobs)
    ]
    others = n_running - len(jobs)
    without = admission.forecast(present, background=others)
    beside = admission.forecast(present, background=others, coming=1)
    return _forecasts(jobs, without, beside, confidence)


def forecast_launching(
    known: Calibrated, jobs: Sequence[RunningJob], new: Configuration, *, n_running: int, confidence: float
) -> tuple[RunningForecast, ...] | None:
    """The same by how jobs launch, wait for cores and run; None where that is not known of all of them."""
    _check(jobs, n_running, confidence)
    others = n_running - len(jobs)
    phases, of_new = [known.phases_of(job.configuration) for job in jobs], known.phases_of(new)
    if of_new is None or None in phases or others >= known.machine.cores:
        return None
    machine = staggered.without_others(known.machine, others)
    present = [
        AdmittedJob(str(i), one, job.elapsed_s, job.within_s)
        for i, (job, one) in enumerate(zip(jobs, phases, strict=True))
        if one is not None
    ]
    without = staggered.forecast(present, machine)
    *beside, _ = staggered.forecast(present, machine, new=AdmittedJob("new", of_new))
    return _forecasts(jobs, without, beside, confidence)


def _check(jobs: Sequence[RunningJob], n_running: int, confidence: float) -> None:
    if not 0 < confidence < 1:
        raise StudyError(f"confidence {confidence:g} is not between 0 and 1", hint="write 0.95 for 95%")
    if n_running < len(jobs):
        raise StudyError(
            f"{len(jobs)} running jobs are described, but `jobs_running=` is {n_running}",
            hint="count all jobs running now, and leave out those that have finished",
        )


def _require_measured(times: Fitted, at: Sequence[Configuration], why: str) -> None:
    for error in times.beyond(at):
        if error is not None:
            raise NotEnoughDataError(f"{why}: {error.problem}", hint=error.hint)


def _forecasts(
    jobs: Sequence[RunningJob], without: Sequence[End], beside: Sequence[End], confidence: float
) -> tuple[RunningForecast, ...]:
    return tuple(_forecast(*one, confidence) for one in zip(jobs, without, beside, strict=True))


def _forecast(job: RunningJob, without: End, beside: End, confidence: float) -> RunningForecast:
    before, after = without.probability, beside.probability
    would_miss = before is not None and after is not None and after < confidence <= before
    return RunningForecast(job, without.ends_s, beside.ends_s, before, after, would_miss)
