"""Which settings matter, and can one trust that? Observations in, tables and sentences out; no side effects."""

from dataclasses import dataclass

from sparkcast.study import Level


@dataclass(frozen=True, slots=True)
class AnovaRow:
    """One term of the model; `percent` is its share of the total variation. F and p are None for the residual."""

    term: str
    df: float
    sum_sq: float
    percent: float
    f: float | None
    p: float | None


@dataclass(frozen=True, slots=True)
class LevelMean:
    """The mean response at one level of one factor, over everything else, with a 95 % interval of that mean."""

    factor: str
    level: Level
    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Analysis:
    response: str
    formula: str
    anova_type: int
    transform: str
    n: int
    r_squared: float
    rows: tuple[AnovaRow, ...]
    means: tuple[LevelMean, ...]
    warnings: tuple[str, ...]
    summary: tuple[str, ...]  # sentences a manager can read
