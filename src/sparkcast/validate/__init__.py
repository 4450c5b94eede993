"""How far can one trust a prediction? Predictors are tested on configurations they have not seen."""

from dataclasses import dataclass

from sparkcast.study import Configuration
from sparkcast.validate.protocols import PROTOCOLS

__all__ = ["PROTOCOLS", "Scorecard", "TestedRun", "Validation"]


@dataclass(frozen=True, slots=True)
class TestedRun:
    """One held-out run: what was predicted for it and what happened."""

    configuration: Configuration
    replicate: int
    actual: float
    predicted: float
    low: float
    high: float


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
    build_s: float  # time to fit, all folds together
    runs: tuple[TestedRun, ...]


@dataclass(frozen=True, slots=True)
class Validation:
    response: str
    protocol: str
    level: float
    noise_floor_mape: float | None  # what the spread of replicates alone gives; None without replicates
    scorecards: tuple[Scorecard, ...]  # best first
    refused: tuple[tuple[str, str], ...]  # models that could not be tested, and why
    untested: tuple[Configuration, ...] = ()  # the only ones with some level: no model can learn it from the others
