"""Which settings meet the deadline? Decided on the probability of meeting it, never on the mean."""

from dataclasses import dataclass

from sparkcast.study import Configuration


@dataclass(frozen=True, slots=True)
class Prediction:
    """A response at one configuration, and where the next run falls with probability `level`."""

    response: str
    value: float
    low: float
    high: float
    level: float


@dataclass(frozen=True, slots=True)
class Candidate:
    configuration: Configuration  # the varied settings
    predictions: tuple[Prediction, ...]
    probability: float  # of meeting the deadline; 1.0 when there is none
    measured_runs: int  # how often exactly this was run

    def predicted(self, response: str) -> Prediction:
        return next(p for p in self.predictions if p.response == response)


@dataclass(frozen=True, slots=True)
class Recommendation:
    objective: str  # "maximize accuracy", "minimize cost", "minimize time_s"
    within_s: float | None
    confidence: float
    models: dict[str, str]  # response -> model that predicted it
    chosen: Candidate
    runner_up: Candidate | None
    candidates: tuple[Candidate, ...]  # all that were considered, best first
    why: str
    margin_s: float | None  # room the confidence needs between prediction and deadline
    conf: tuple[str, ...]  # paste-ready spark-submit options
