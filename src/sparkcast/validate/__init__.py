"""How far can one trust a prediction? Predictors are tested on configurations they have not seen."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sparkcast.display import Displayed, frame_of, plain_row
from sparkcast.study import Configuration, Response, Vocabulary
from sparkcast.validate.protocols import PROTOCOLS, make_protocol

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "LARGE_ERROR",
    "PROTOCOLS",
    "FoldProgress",
    "Kept",
    "NoiseFloor",
    "OnStep",
    "Scorecard",
    "TestedRun",
    "Validation",
    "make_protocol",
]

LARGE_ERROR = 30.0  # percent; the bound of the Polimi studies, who count 30 % itself as large


@dataclass(frozen=True, slots=True)
class TestedRun:
    """One held-out run: what was predicted for it and what happened."""

    configuration: Configuration
    replicate: int
    actual: float
    predicted: float
    low: float
    high: float
    probability_below: float | None = None  # that the model gave to a value at most the measured one
    crps: float = math.nan  # of the predicted distribution


@dataclass(frozen=True, slots=True)
class Kept:
    """How often a promise was kept: runs at or below the quantile that was predicted for a probability."""

    promised: float
    share: float
    low: float  # of the interval around the share (Wilson, 95 %)
    high: float
    n_configurations: int  # each counts once, its replicates share it


@dataclass(frozen=True, slots=True)
class Scorecard:
    model: str
    mape: float  # mean absolute percentage error, in percent
    median_ape: float
    mae: float
    rmse: float
    r_squared: float
    coverage: float  # share of runs inside the interval
    relative_width: float  # mean interval width over the prediction
    build_s: float  # time to fit, mean of the splits
    runs: tuple[TestedRun, ...]  # a protocol that draws several times may test a run more than once
    large_errors: float = 0.0  # percent of runs that were missed by 30 % or more
    collect_s: float | None = None  # what the runs learned from took, mean of the splits; None where a time is missing
    total_s: float | None = None  # collect_s + build_s: what such predictions cost
    kept: tuple[Kept, ...] = ()  # promised against kept, by rising probability
    crps: float = math.nan  # continuous ranked probability score, in the unit of the response
    pinball: float = math.nan  # mean loss of the upper ends of the intervals, in that unit


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """The MAPE of a model that knows the mean of every configuration, in percent, with an interval for it."""

    mape: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Validation(Displayed):
    response: str
    protocol: str
    level: float
    noise_floor_mape: float | None  # of a model that knows the mean of every configuration; None without replicates
    scorecards: tuple[Scorecard, ...]  # best first
    refused: tuple[tuple[str, str], ...]  # models that could not be tested, and why
    untested: tuple[Configuration, ...] = ()  # what was left to learn from never said anything about these
    n_splits: int = 0
    seed: int = 0
    vocabulary: Vocabulary = field(default_factory=Vocabulary, repr=False)  # what the names in it mean
    noise_floor_interval: tuple[float, float] | None = None  # holds the floor with the probability `level`

    @property
    def meaning(self) -> Response:
        """What the response is: its kind, its unit, and whether less of it is better."""
        return self.vocabulary.response(self.response)

    def frame(self) -> "pd.DataFrame":
        """A row for each model, the best first."""
        return frame_of(plain_row(card) for card in self.scorecards)


@dataclass(frozen=True, slots=True)
class FoldProgress:
    """One model on one split, about to be tested; numbers count from 1."""

    model: str
    model_number: int
    n_models: int
    split_number: int
    n_splits: int


OnStep = Callable[[FoldProgress], None]
