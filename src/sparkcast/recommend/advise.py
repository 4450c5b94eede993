"""A question, something that was learned, and what is known of the present: a recommendation."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.learned.curves import epochs_of
from sparkcast.learned.knowledge import Knowledge
from sparkcast.learned.memory import shortage_note
from sparkcast.learned.support import Extrapolating
from sparkcast.models import MODELS, Fitted
from sparkcast.queues.calibration import calibrated
from sparkcast.recommend import Recommendation, RunningForecast, RunningJob, Staleness
from sparkcast.recommend.choose import Recommender
from sparkcast.recommend.load import forecast_launching, forecast_running, jobs_factor
from sparkcast.recommend.pool import measured_epochs
from sparkcast.recommend.question import Question
from sparkcast.recommend.staleness import drift, drift_within, most_jobs_in, staleness
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, Dataset, Fingerprint, Level, Listed, Pool
from sparkcast.study.configuration import Levels, same_level
from sparkcast.study.crossed import crossed


@dataclass(frozen=True, slots=True)
class Choices:
    """Other values to choose from than the data have."""

    levels: Mapping[str, Sequence[Level]] = field(default_factory=dict)
    free_epochs: bool = False  # choose the number of epochs too, from the per-epoch curves


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known of the present beside the question: it may differ from when the runs were made."""

    n_running: int | None = None  # jobs on the cluster; None when nobody asked
    jobs: tuple[RunningJob, ...] = ()  # those of which more is known
    machine: Fingerprint | None = None  # where the next run would be made
    recent: Dataset | None = None  # runs made since


def advise(recommender: Recommender, known: Knowledge, question: Question, present: Situation) -> Recommendation:
    """The answer, what it means for jobs that run now, and whether the models still speak of the present."""
    known.about.require_possible({name: [level] for name, level in question.fix.items()})
    fix = with_load(recommender, question.fix, present.n_running)
    answer = recommender.ask(dataclasses.replace(question, fix=fix))
    return dataclasses.replace(
        answer,
        running=_forecasts(recommender, known, present, answer.chosen.configuration, question.confidence),
        staleness=_staleness(recommender, known, present),
        notes=(*answer.notes, *_notes(known, answer)),
    )


def _notes(known: Knowledge, answer: Recommendation) -> tuple[str, ...]:
    learned = {name: known.about.responses[name].note for name in answer.models if name in known.about.responses}
    words, chosen = known.about.vocabulary, answer.chosen.configuration
    short = [shortage_note(known.runs.successful(name), chosen, known.about.factors, words, name) for name in learned]
    return (
        *(f"{name}: {note}" for name, note in learned.items() if note),
        *dict.fromkeys(note for note in short if note),
    )


def pool_of(known: Knowledge, choices: Choices) -> Pool:
    """What a recommendation chooses from, with other values for some settings."""
    about, epochs = known.about, epochs_of(known.about.vocabulary)
    wanted = dict(choices.levels)
    if choices.free_epochs and epochs not in about.factors:
        wanted = {epochs: measured_epochs(known), **wanted}
    for name in wanted:
        if name not in (*about.factors, epochs):
            hint = did_you_mean(name, about.factors)
            raise StudyError(f"{name!r} is not a factor, so it has no other values", hint=hint)
    about.require_possible(wanted)
    pool = about.pool()
    if isinstance(pool, Listed):  # what a table has: its levels, combined
        pool = crossed(pool, about.vocabulary)
    return pool.with_levels(wanted)


def with_load(recommender: Recommender, fix: Levels, n_running: int | None) -> Levels:
    """The fixed settings, and how many jobs there are when the new one joins those that run."""
    if n_running is None:
        return fix
    factor = jobs_factor(recommender.known.factors, recommender.words)
    if factor in fix and not same_level(fix[factor], n_running + 1):
        raise StudyError(
            f"{factor} cannot be {fix[factor]} when the new job joins {n_running} running ones",
            hint=f"leave out `fix={ {factor: fix[factor]} }`, or the running jobs",
        )
    return {**fix, factor: n_running + 1}


def _forecasts(
    recommender: Recommender, known: Knowledge, present: Situation, new: Configuration, confidence: float
) -> tuple[RunningForecast, ...]:
    if not present.jobs or present.n_running is None:
        return ()
    jobs, n_running = present.jobs, present.n_running
    factor = jobs_factor(recommender.known.factors, recommender.words)
    launching = calibrated(known.runs)
    if launching is not None:
        one = new.without(factor)
        found = forecast_launching(launching, jobs, one, n_running=n_running, confidence=confidence)
        if found is not None:
            return found
    times = _InSeconds(*_times(recommender))
    return forecast_running(times, jobs, factor=factor, n_running=n_running, confidence=confidence)


def _times(recommender: Recommender) -> tuple[Fitted, float]:
    """The model of times, and how many seconds one of its units has."""
    name = recommender.words.required_time()
    return recommender.fitted(name, is_by_epoch=False)[1], recommender.words.response(name).seconds(1.0)


@dataclass(frozen=True, slots=True)
class _InSeconds:
    """A model of times that answers in seconds."""

    fitted: Fitted
    unit_s: float

    def predict(self, at: Sequence[Levels]) -> list[float]:
        return [value * self.unit_s for value in self.fitted.predict(at)]

    def interval(self, at: Sequence[Levels], *, level: float = 0.9) -> list[tuple[float, float]]:
        return [(low * self.unit_s, high * self.unit_s) for low, high in self.fitted.interval(at, level=level)]

    def probability_below(self, at: Sequence[Levels], limit: float) -> list[float]:
        return self.fitted.probability_below(at, limit / self.unit_s)

    def beyond(self, at: Sequence[Levels]) -> list[NotEnoughDataError | None]:
        return self.fitted.beyond(at)


def _staleness(recommender: Recommender, known: Knowledge, present: Situation) -> Staleness:
    """Whether the model speaks of the present: the machine, the load, and the latest runs."""
    about, time = known.about, recommender.words.time
    drifted = None
    if present.recent is not None:
        time, (times, _) = recommender.words.required_time(), _times(recommender)
        times = times.fitted if isinstance(times, Extrapolating) else times
        drifted = drift(times, present.recent.successful(time), time, n_learned=len(about.seen))
    elif time is not None:
        # Which model is best does not matter here, and trying them all would take longer than the answer.
        quick = MODELS.get(MODELS.declaring("is_quick")[0])
        drifted = drift_within(known.runs, time, lambda runs, response: quick().fit(runs, response))
    return staleness(
        about.fingerprints,
        present.machine,
        n_jobs=None if present.n_running is None else present.n_running + 1,
        most_jobs=most_jobs_in([about.fixed | seen.configuration for seen in about.seen], about.vocabulary),
        drifted=drifted,
    )
