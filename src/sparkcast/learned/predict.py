"""A response at settings that need not have been run."""

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sparkcast.arrays import Floats
from sparkcast.display import Displayed, frame_of
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.fitting.answering import AnswerTable
from sparkcast.fitting.distribution import Distribution
from sparkcast.fitting.encoding import Domain
from sparkcast.learned.across_blocks import model_inside, note_on_blocks
from sparkcast.learned.curves import epochs_of
from sparkcast.learned.feasibility import Feasibility, NoFailure
from sparkcast.learned.knowledge import Knowledge
from sparkcast.learned.memory import shortage_note
from sparkcast.learned.support import (
    Categories,
    Extrapolating,
    categories_of,
    like_known,
    refusal,
    require_support,
)
from sparkcast.learned.tabulate import table_at
from sparkcast.models import Fitted
from sparkcast.models.auto import Combined
from sparkcast.models.base import FEW
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, Vocabulary
from sparkcast.study.configuration import Levels
from sparkcast.study.environment import mixed_environments

if TYPE_CHECKING:
    import pandas as pd

_QUANTILES = 40  # by which a mean is computed


@dataclass(frozen=True, slots=True)
class Prediction:
    """A response at one configuration, and where the next run falls with probability `level`."""

    response: str
    value: float  # the median: the next run is as likely above as below
    low: float
    high: float
    level: float

    def columns(self) -> dict[str, float]:
        """The median under the name of the response, and the ends of the interval, for a table."""
        return {self.response: self.value, f"{self.response}_low": self.low, f"{self.response}_high": self.high}


@dataclass(frozen=True, slots=True)
class PredictionAt(Displayed):
    configuration: Configuration
    model: str
    prediction: Prediction
    mean: float  # of many such runs, for whoever adds them up; above the median where long runs are far longer
    failure_probability: float | None = None
    failed_runs: int = 0  # from which that was learned; without any it is a rule of thumb, and ...
    no_failure: NoFailure | None = None  # ... what is known is a bound
    question: str | None = None  # of auto: where the settings lie, and who answers there
    answered_by: tuple[str, ...] = ()
    left_out_error: float | None = None  # mean of single runs of left-out configurations in percent, as in `validate`
    notes: tuple[str, ...] = ()  # what to know of the runs behind it
    span: str = ""  # of a time: what it counts from and to
    beside: Prediction | None = None  # the other time that people may mean: from submission to exit, or of Spark jobs
    vocabulary: Vocabulary = field(kw_only=True, repr=False, compare=False)  # what the names of responses mean
    distribution: Distribution = field(kw_only=True, repr=False, compare=False)  # of the next run

    def quantile(self, share: float) -> float:
        """The value that the next run stays below with probability `share`."""
        return self.distribution.quantile(share)

    def interval(self, level: float = 0.9) -> tuple[float, float]:
        """Where the next run falls with probability `level`."""
        return self.distribution.interval(level)

    def probability(self, *, at_most: float | None = None, at_least: float | None = None) -> float:
        """That the next run is within these bounds."""
        return self.distribution.probability(at_most=at_most, at_least=at_least)

    def sample(self, n: int, *, seed: int = 0) -> Floats:
        """So many runs as the next may be."""
        return self.distribution.sample(n, seed=seed)


@dataclass(frozen=True, slots=True)
class Predictions(Displayed):
    """A response at many configurations, in the order they were given."""

    items: tuple[PredictionAt, ...]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[PredictionAt]:
        return iter(self.items)

    def __getitem__(self, place: int) -> PredictionAt:
        return self.items[place]

    def frame(self) -> "pd.DataFrame":
        """A row for each: its settings, the median, both ends of the interval, the mean, and the chance of failing."""
        return frame_of(
            {
                **one.configuration,
                one.prediction.response: one.prediction.value,
                "low": one.prediction.low,
                "high": one.prediction.high,
                "mean": one.mean,
                "failure_probability": one.failure_probability,
            }
            for one in self.items
        )


def predict(
    known: Knowledge, at: Levels, *, response: str, level: float = 0.9, extrapolate: bool = False
) -> PredictionAt:
    """See `sparkcast.api.predict`."""
    if not 0 < level < 1:
        raise StudyError(f"the level {level:g} is not between 0 and 1", hint="e.g. `level=0.9`")
    about = known.about
    asked, is_by_epoch = _asked(known, Configuration(at), response)
    categories = categories_of([seen.configuration for seen in about.seen if seen.ok], about.factors)
    domain = known.domain_of(response)
    if domain is not None:
        _check_settings(domain, asked.only(about.factors), categories, extrapolate=extrapolate)
    name, fitted = known.curve_of(response) if is_by_epoch else known.model_of(response)
    if not extrapolate:
        require_support(fitted, [asked], categories)
    meaning = about.vocabulary.response(response)
    asking = Extrapolating(fitted, meaning, categories) if extrapolate else fitted
    distribution = Distribution(table_at(asking, [asked]))
    [mean] = means_of_table(distribution.table)
    found = PredictionAt(
        Configuration(at),
        name,
        Prediction(response, distribution.median, *distribution.interval(level), level),
        mean,
        notes=(*notes_on(known, response, fitted), *notes_at(known, response, asked)),
        vocabulary=about.vocabulary,
        distribution=distribution,
    )
    beside = None if is_by_epoch else _beside(known, asked, response, level, categories if extrapolate else None)
    found = with_answerer(dataclasses.replace(found, span=meaning.span, beside=beside), fitted, asked, categories)
    return found if known.feasibility is None else with_failures(found, known.feasibility, about.factors)


def with_answerer(found: PredictionAt, fitted: Fitted, at: Configuration, categories: Categories) -> PredictionAt:
    """With the error of whoever answered there."""
    fitted = model_inside(fitted)
    if not isinstance(fitted, Combined):
        return dataclasses.replace(found, left_out_error=getattr(fitted, "left_out_error", None))
    chosen = fitted.choice_for(like_known(at, categories)[0])
    return dataclasses.replace(
        found, question=chosen.question, answered_by=chosen.answering, left_out_error=chosen.error
    )


def notes_on(known: Knowledge, response: str, fitted: Fitted) -> tuple[str, ...]:
    """What to know of the runs behind every prediction of a response."""
    about = known.about
    notes = (
        mixed_environments(about.fingerprints),
        about.responses[response].note,
        _unrepeated(known, response),
        _stopped(getattr(model_inside(fitted), "n_stopped", 0)),
        note_on_blocks(known.runs, about.vocabulary.response(response), fitted),
    )
    return tuple(note for note in notes if note)


def notes_at(known: Knowledge, response: str, at: Levels) -> tuple[str, ...]:
    """What to know of the runs behind the prediction at these settings."""
    about = known.about
    note = shortage_note(known.runs.successful(response), at, about.factors, about.vocabulary, response)
    return (note,) if note else ()


def _unrepeated(known: Knowledge, response: str) -> str:
    """What to know of a few runs without replicates; many show their noise around any model."""
    runs = known.runs.successful(response)
    if len(runs) > FEW or len({*map(known.runs.key, runs)}) < len(runs):
        return ""
    return "no configuration was run twice, so the noise of single runs is assumed, not measured"


def _stopped(n: int) -> str:
    return f"stopped runs count as lower bounds at {n} configuration{'s' if n > 1 else ''}" if n else ""


def _beside(
    known: Knowledge, at: Configuration, response: str, level: float, beyond: Categories | None
) -> Prediction | None:
    """The other time of the same run, where it can be predicted too."""
    words = known.about.vocabulary
    other = words.time_beside(response, known.responses)
    if other is None:
        return None
    try:
        fitted = known.model_of(other)[1]
        asking = fitted if beyond is None else Extrapolating(fitted, words.response(other), beyond)
        distribution = Distribution(table_at(asking, [at]))
    except NotEnoughDataError:
        return None
    return Prediction(other, distribution.median, *distribution.interval(level), level)


def mean_of(fitted: Fitted, at: Sequence[Levels]) -> list[float]:
    """The mean of the next run at each configuration: what to add up, where `predict` gives the median.

    It is the mean of the quantiles between 1 % and 99 %: a few runs say nothing about the tails beyond, which in a
    distribution of ratios may have no mean at all.
    """
    if not at:
        return []
    return means_of_table(table_at(fitted, at))


def means_of_table(table: AnswerTable) -> list[float]:
    ends = [table.interval((k + 0.5) / _QUANTILES * 0.98) for k in range(_QUANTILES)]
    pairs = zip(*(zip(low.tolist(), high.tolist(), strict=True) for low, high in ends), strict=True)
    return [math.fsum(low + high for low, high in own) / (2 * _QUANTILES) for own in pairs]


def _asked(known: Knowledge, at: Configuration, response: str) -> tuple[Configuration, bool]:
    """The settings to ask a model for, checked, and whether that is one by epoch."""
    about, epochs = known.about, epochs_of(known.about.vocabulary)
    for setting, value in at.items():
        if setting not in about.factors and not (setting == epochs and known.has_curve(response)):
            hint = did_you_mean(setting, about.factors)
            raise StudyError(f"{setting!r} is not a factor of {about.data!r}", hint=hint)
        if isinstance(value, float) and not math.isfinite(value):
            raise StudyError(f"{setting} = {value} is not a number", hint="give a finite number or a level")
    about.require_possible({setting: [value] for setting, value in at.items()})
    if epochs not in at or epochs in about.factors:
        return at, False
    if about.fixed.includes(at.only([epochs])):
        return at.without(epochs), False
    return at, True


def _check_settings(domain: Domain, at: Configuration, categories: Categories, *, extrapolate: bool) -> None:
    """Say what is wrong with the settings before anybody waits for a model."""
    if not extrapolate and (error := domain.beyond(at)) is not None:
        raise refusal(error, at, categories)
    for known in like_known(at, categories):
        domain.encode([known])


def with_failures(found: PredictionAt, failures: Feasibility, factors: Sequence[str]) -> PredictionAt:
    """The prediction with the chance of failing; of a category that was never run, that of the worst known one."""
    chance = failures.worst_at(found.configuration.only(factors))
    return dataclasses.replace(
        found,
        failure_probability=chance,
        failed_runs=failures.n_failed,
        no_failure=None if failures.n_failed else NoFailure(failures.n_runs),
    )
