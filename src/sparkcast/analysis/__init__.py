"""Which settings matter, and can one trust that? Observations in, tables and sentences out; no side effects."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from sparkcast.display import Displayed, frame_of, plain_row
from sparkcast.study import Level, Response, Vocabulary

if TYPE_CHECKING:
    import pandas as pd

RESIDUAL = "Residual"  # the row of an ANOVA table that no term explains


@dataclass(frozen=True, slots=True)
class AnovaRow:
    """One term of the model; `percent` is its share of the total variation. Tests are None for the residual.

    `effect_size` is partial eta squared with its 95 % interval: the share of the variation that is left after the
    other terms which this one explains. `p_robust` allows unequal variances (HC3), `p_permutation` any distribution;
    the latter is only computed where the residuals are not normal. `p_blocks` allows for blocks that differ: runs of
    one day, or replicates that ran in a row; `df_blocks` says how well such differences are known.
    """

    term: str
    df: float
    sum_sq: float
    percent: float
    f: float | None
    p: float | None
    p_robust: float | None = None
    p_permutation: float | None = None
    effect_size: float | None = None
    effect_low: float | None = None
    effect_high: float | None = None
    p_blocks: float | None = None
    df_blocks: float | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """A term as a change of the response, on the scale of the model.

    `change` is from the lowest to the highest level (an interaction: half the difference between two such changes),
    at the mean of the other settings; None for categories of three levels and more, whose means say more.
    `coefficient` is the same per unit of the setting. `ratio` is exp(change) when the model is one of the logarithm.
    `standardized` is |t|, or the root of F for a term with several degrees of freedom; beyond `critical` the term
    stands out from the noise (5 % level).
    """

    term: str
    df: float
    standardized: float | None
    critical: float | None
    p: float | None
    change: float | None = None
    low: float | None = None
    high: float | None = None
    ratio: float | None = None
    coefficient: float | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class LevelMean:
    """The adjusted mean response at one level of one factor, with its 95 % interval.

    Adjusted (marginal) means compare levels with all other settings alike, each level of these counting equally. `raw`
    is the plain mean of the runs at that level where it differs: it also carries what else changed with the level.
    """

    factor: str
    level: Level
    mean: float
    low: float
    high: float
    n: int
    raw: float | None = None


@dataclass(frozen=True, slots=True)
class CellMean:
    """The adjusted mean response at one level of each of two factors; `raw` is the plain one where it differs."""

    first: str
    second: str
    first_level: Level
    second_level: Level
    mean: float
    n: int
    raw: float | None = None


@dataclass(frozen=True, slots=True)
class LevelComparison:
    """Two levels of one factor: Tukey's honestly significant difference of adjusted means, on the model's scale."""

    factor: str
    level: Level
    other: Level
    difference: float  # the adjusted mean at `other` less that at `level`
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True)
class Regression:
    """The response on one variable alone: what a scatter plot shows, blind to everything else that varied."""

    variable: str
    slope: float
    intercept: float
    r: float
    p: float
    n: int
    is_setting: bool = True  # False: the repetition of a measurement, which no one can set


class CheckResult(StrEnum):
    HOLDS = "holds"
    DOUBTFUL = "doubtful"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class AssumptionCheck:
    """One assumption of the analysis, tested; `sentence` is the conclusion in words, `advice` what to do about it."""

    name: str
    test: str
    statistic: float | None
    p: float | None
    verdict: CheckResult
    sentence: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """The scale on which the model fits best, after Box and Cox (1964), with the 95 % interval of the power."""

    transform: str  # none, log or boxcox
    power: float
    low: float
    high: float
    sentence: str

    @property
    def rules_out_none(self) -> bool:
        """Whether the response as measured (a power of 1) is clearly worse."""
        return not self.low <= 1 <= self.high


@dataclass(frozen=True, slots=True)
class FactorVerdict:
    """Does it matter? None when no test was possible.

    `percent` and `p` are of the factor by itself, the bend of a number included. A factor that acts only through its
    interactions, which have shares of their own, matters too.
    """

    factor: str
    matters: bool | None
    percent: float
    p: float | None  # corrected for having looked at all factors and interactions (Holm)
    sentence: str


@dataclass(frozen=True, slots=True)
class ResidualPoint:
    """What the model leaves of one run; `quantile` is where a normal residual of its rank would lie."""

    order: int
    fitted: float
    residual: float
    standardized: float
    quantile: float


@dataclass(frozen=True, slots=True)
class Analysis(Displayed):
    response: str
    formula: str
    anova_type: int
    transform: str
    n: int
    r_squared: float
    rows: tuple[AnovaRow, ...]
    means: tuple[LevelMean, ...]
    warnings: tuple[str, ...]
    summary: tuple[str, ...]  # at most five lines a manager can read
    effects: tuple[Effect, ...] = ()
    factors: tuple[FactorVerdict, ...] = ()
    checks: tuple[AssumptionCheck, ...] = ()
    cells: tuple[CellMean, ...] = ()
    comparisons: tuple[LevelComparison, ...] = ()
    regressions: tuple[Regression, ...] = ()
    residuals: tuple[ResidualPoint, ...] = ()  # at most 1,000: the largest, the others evenly taken
    proposal: Proposal | None = None  # None when some values are not positive, or all runs fit exactly
    untransformed: "Analysis | None" = None  # the same analysis on the response's own scale, when that was changed
    vocabulary: Vocabulary = field(default_factory=Vocabulary, repr=False)  # what the names in it mean

    @property
    def meaning(self) -> Response:
        """What the response is: its kind, its unit, and whether less of it is better."""
        return self.vocabulary.response(self.response)

    def frame(self) -> "pd.DataFrame":
        """The ANOVA table."""
        return frame_of(plain_row(row) for row in self.rows).set_index("term")
