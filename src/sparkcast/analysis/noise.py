"""What tests compare effects with. Least squares takes all runs to be equally noisy and independent; two others do not.

Every estimate is a sum of the response with weights. Its variance follows from these, whatever the noise is like, and
so do tests of any type of ANOVA.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.stats import f as f_distribution

from sparkcast.analysis.blocks import SharedBlocks
from sparkcast.arrays import Floats

if TYPE_CHECKING:
    from sparkcast.analysis.fit import Fit

_RANK = 1e-9


class Noise(Protocol):
    def covariance(self, weights: Floats) -> Floats:
        """Of the sums that columns of weights, one per run, give."""
        ...

    def df(self, weights: Floats) -> float:
        """How well that covariance is known."""
        ...


@dataclass(frozen=True, slots=True)
class UnequalNoise:
    """Independent runs, each as noisy as its own residual shows: HC3 of MacKinnon and White (1985)."""

    variances: Floats
    residual_df: float

    @classmethod
    def of(cls, fit: "Fit") -> "UnequalNoise | None":
        """None where a run determines its own prediction."""
        leverage = fit.model.leverage
        if leverage.max() > 1 - 1e-8:
            return None
        return cls((fit.residuals / (1 - leverage)) ** 2, fit.residual_df)

    def covariance(self, weights: Floats) -> Floats:
        return weights.T @ (weights * self.variances[:, None])

    def df(self, weights: Floats) -> float:
        return self.residual_df


@dataclass(frozen=True, slots=True)
class BlockNoise:
    """SharedBlocks that may differ at random, by more than their runs do: the error strata of a split plot.

    Whether they do differ is not asked first. With few blocks that test would overlook too much, and half of the
    effects found after it would be noise.

    Variances are estimated by Henderson's third method, degrees of freedom are Satterthwaite's. In balanced runs this
    is the exact F test: effects between blocks against the scatter of blocks about the model, effects within blocks
    against the scatter of runs within blocks.
    """

    blocks: SharedBlocks
    within: float  # the mean square of runs about their block
    between: float  # the mean square of blocks about the model
    df_within: int
    df_between: int
    spread: float  # the expected sum of squares of blocks about the model, for blocks of variance 1

    @classmethod
    def of(cls, fit: "Fit", blocks: SharedBlocks) -> "BlockNoise | None":
        """None where each block is one run, or the model leaves nothing of any run within its block."""
        columns = blocks.centered(fit.model.matrix)
        left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
        basis = left[:, sizes > _RANK * max(1.0, float(sizes.max()))]
        response = blocks.centered(fit.response)
        within_sq = float(((response - basis @ (basis.T @ response)) ** 2).sum())
        df_within = len(response) - blocks.count - basis.shape[1]
        df_between = fit.residual_df - df_within
        if df_within < 1 or within_sq <= 1e-12 * fit.total_sq:
            return None
        within = within_sq / df_within
        between = max(fit.residual_sq - within_sq, 0.0) / df_between if df_between else 0.0
        spread = len(response) - float((blocks.sums(fit.model.matrix @ fit.model.inverse) ** 2).sum())
        return cls(blocks, within, between, df_within, df_between, spread)

    @property
    def is_known(self) -> bool:
        """Whether the model leaves anything to judge the differences between blocks by."""
        return self.df_between > 0

    @property
    def _share(self) -> float:
        """How much of the mean square between blocks a block's own difference makes up, per weight on it."""
        return self.df_between / self.spread if self.is_known else 0.0

    def covariance(self, weights: Floats) -> Floats:
        between = self.blocks.sums(weights)
        extra = max(self.between - self.within, 0.0) * self._share
        return self.within * (weights.T @ weights) + extra * (between.T @ between)

    def df(self, weights: Floats) -> float:
        if not self.is_known:
            return float(self.df_within)
        on_blocks = float((self.blocks.sums(weights) ** 2).sum()) * self._share
        within = max(float((weights**2).sum()) - on_blocks, 0.0) * self.within
        between = on_blocks * max(self.between, self.within)
        df = (within + between) ** 2 / (within**2 / self.df_within + between**2 / self.df_between)
        return max(df, float(min(self.df_within, self.df_between)))

    def is_between(self, weights: Floats) -> bool:
        """Whether an effect with these weights would show a difference between blocks."""
        return float((self.blocks.sums(weights) ** 2).sum()) > _RANK * float((weights**2).sum())


@dataclass(frozen=True, slots=True)
class FTest:
    """No `p` where the noise between blocks is unknown."""

    f: float | None
    p: float | None
    df: float  # of the noise


def f_test(noises: Sequence[Noise], weights: Floats, response: Floats) -> FTest:
    """Whether weighted sums of the response differ from zero by more than noise explains: the least certain answer."""
    return max(
        (_f_test(noise, weights, response) for noise in noises), key=lambda found: 2.0 if found.p is None else found.p
    )


def _f_test(noise: Noise, weights: Floats, response: Floats) -> FTest:
    if isinstance(noise, BlockNoise) and not noise.is_known and noise.is_between(weights):
        return FTest(None, None, 0.0)
    sums, df = weights.T @ response, noise.df(weights)
    f = float(sums @ np.linalg.solve(noise.covariance(weights), sums)) / len(sums)
    return FTest(f, float(f_distribution.sf(f, len(sums), df)), df)


def standard_error(noises: Sequence[Noise], weights: Floats) -> tuple[float, float]:
    """The largest standard error of one weighted sum, with its degrees of freedom."""
    column = weights.reshape(-1, 1)
    return max((float(noise.covariance(column)[0, 0]) ** 0.5, noise.df(column)) for noise in noises)


def noises_of(fit: "Fit", blocks: Sequence[SharedBlocks]) -> tuple[Noise, ...]:
    """The noise of runs that share blocks; empty where none do."""
    if fit.is_exact:
        return ()
    return tuple(noise for noise in (BlockNoise.of(fit, one) for one in blocks) if noise is not None)


def unequal_noise(fit: "Fit", is_unequal: bool) -> tuple[Noise, ...]:
    """The noise of runs that are not equally noisy; empty where they are, or nobody can tell."""
    noise = UnequalNoise.of(fit) if is_unequal and not fit.is_exact else None
    return () if noise is None else (noise,)


def block_noises(noises: Sequence[Noise]) -> tuple[BlockNoise, ...]:
    return tuple(noise for noise in noises if isinstance(noise, BlockNoise))
