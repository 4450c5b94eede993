"""Which settings meet the deadline? Decided on the probability of meeting it, never on a typical time.

A question and something that was learned go in (`advise`), a recommendation comes out. Nothing is run or read here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from sparkcast.display import Displayed, frame_of
from sparkcast.learned.feasibility import NoFailure
from sparkcast.learned.predict import Prediction
from sparkcast.study import Configuration, Vocabulary

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Alternative",
    "Candidate",
    "Considered",
    "Launch",
    "Limit",
    "Nearest",
    "Prediction",
    "Recommendation",
    "Relaxed",
    "RunningForecast",
    "RunningJob",
    "Staleness",
]


@dataclass(frozen=True, slots=True)
class Limit:
    """What a response must keep to: at most this long or expensive, at least this accurate."""

    response: str
    value: float
    is_upper: bool = True


@dataclass(frozen=True, slots=True)
class Candidate:
    configuration: Configuration  # the varied settings
    predictions: tuple[Prediction, ...]
    probability: float  # of keeping to all limits in one run, if the run succeeds; 1.0 when there is none
    measured_runs: int  # how often exactly this was run
    failure_probability: float | None = None  # None when no run has failed
    other_runs: int = 0  # of exactly this that failed or were lost
    is_tradeoff: bool | None = None  # of the Pareto front: whether it is likely better in something than those kept

    def predicted(self, response: str) -> Prediction:
        return next(p for p in self.predictions if p.response == response)


@dataclass(frozen=True, slots=True)
class Alternative:
    """What one limit costs: with `needed` in its place, a better candidate fits."""

    limit: Limit
    needed: float
    candidate: Candidate
    gain: float  # of the objective, in its own unit; more is better
    text: str
    probability: float = 1.0  # that it is better in the mean, not in every single run


@dataclass(frozen=True, slots=True)
class Relaxed:
    """What a limit would have to be, all others kept, for some settings to meet it."""

    limit: Limit
    needed: float
    configuration: Configuration


@dataclass(frozen=True, slots=True)
class Nearest:
    """The measured configuration that is most like the chosen one."""

    configuration: Configuration
    distance: float  # 0: this was run; 1: as far as the whole measured range of one setting


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job that is running now."""

    configuration: Configuration  # the varied settings; how many jobs run at once need not be among them
    elapsed_s: float
    within_s: float | None = None  # its deadline, from its start


@dataclass(frozen=True, slots=True)
class RunningForecast:
    """What one more job means for a job that is running now. Times count from its start."""

    job: RunningJob
    ends_s: float  # predicted, without the new job
    ends_with_new_s: float
    probability: float | None  # of meeting its deadline without the new job; None when it has no deadline
    probability_with_new: float | None
    would_miss: bool  # it would meet its deadline with the wanted confidence now, and no longer with the new job


@dataclass(frozen=True, slots=True)
class Considered:
    """What the recommendation was chosen from."""

    n: int  # candidates that were looked at
    measured: int  # of these
    is_sample: bool  # of combinations that are too many to look at all
    text: str  # the same for people
    meeting: int = 0  # candidates that keep to all limits
    runs: int = 0  # behind the answer, with those that failed,
    failed: int = 0  # which these are


@dataclass(frozen=True, slots=True)
class Staleness:
    """Whether the model still speaks of the present."""

    verdict: Literal["fresh", "retrain", "unknown"]
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Launch:
    """What starts the job with the chosen settings. Without a program, only what Spark is told of them."""

    properties: Mapping[str, str] = field(default_factory=dict)  # of Spark
    program: str = ""  # as spark-submit takes it
    arguments: tuple[str, ...] = ()  # of the program
    options: Mapping[str, str] = field(default_factory=dict)  # of spark-submit, without dashes: class, py-files
    switches: tuple[str, ...] = ()  # options without a value
    environment: Mapping[str, str] = field(default_factory=dict)
    master: str = ""
    directory: str = ""  # in which paths of the program and its files begin
    spark: str = ""  # its version in the runs
    notes: tuple[str, ...] = ()  # what it does not say


@dataclass(frozen=True, slots=True)
class Recommendation(Displayed):
    objective: str  # "maximize auc", "minimize cost"
    within_s: float | None
    confidence: float
    models: dict[str, str]  # response -> model that predicted it
    chosen: Candidate
    runner_up: Candidate | None
    candidates: tuple[Candidate, ...]  # the first of all that were considered, the chosen one and then best first
    why: str
    margin_s: float | None  # room the confidence needs between prediction and deadline
    launch: Launch = field(default_factory=Launch)  # to paste
    limits: tuple[Limit, ...] = ()
    chances: tuple[float, ...] = ()  # of keeping to each limit, if the run succeeds
    submission_chances: tuple[float, ...] = ()  # the same of a submission, which may also fail
    n_candidates: int = 0  # of those considered, the ones that are supported by runs and not likely to fail
    considered: Considered | None = None
    held: Configuration = field(default_factory=Configuration)  # amounts of data, at the largest measured
    excluded: tuple[str, ...] = ()  # how many candidates, and why
    alternatives: tuple[Alternative, ...] = ()  # what each limit costs
    pareto: tuple[Candidate, ...] = ()  # Pareto-optimal in time, cost and quality; by time
    tie: Candidate | None = None  # predicted best, by less than the noise; the chosen one spends less, or was run
    tie_spends: str = ""  # more than the chosen one: "2.1 times the cost"
    untested: Candidate | None = None  # predicted better, but never run, and not near enough to runs to rely on that
    nearest: Nearest | None = None
    running: tuple[RunningForecast, ...] = ()
    staleness: Staleness | None = None
    no_failure: NoFailure | None = None  # where no run has failed, what that says of the next one
    notes: tuple[str, ...] = ()  # what to know of the models behind it
    beside: Prediction | None = None  # the other time of the chosen one: from submission to exit, or of its Spark jobs
    vocabulary: Vocabulary = field(default_factory=Vocabulary, repr=False)  # what the names in it mean

    @property
    def tradeoffs(self) -> tuple[Candidate, ...]:
        """The Pareto front without those that differ from the others by less than the noise."""
        return tuple(candidate for candidate in self.pareto if candidate.is_tradeoff is not False)

    def frame(self) -> "pd.DataFrame":
        """A row for each candidate, the chosen one first: settings, medians and intervals, and what speaks for it."""
        pareto = {candidate.configuration for candidate in self.pareto}
        return frame_of(
            {
                **one.configuration,
                **{key: value for p in one.predictions for key, value in p.columns().items()},
                "probability": one.probability,
                "failure_probability": one.failure_probability,
                "measured_runs": one.measured_runs,
                "is_pareto_optimal": one.configuration in pareto,
            }
            for one in self.candidates
        )
