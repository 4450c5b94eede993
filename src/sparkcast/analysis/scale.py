"""The scale a response is analyzed on: its own, its logarithm, or a power of it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import boxcox
from scipy.stats import chi2

from sparkcast.analysis import Proposal
from sparkcast.arrays import Floats
from sparkcast.errors import StudyError
from sparkcast.study import Observation

Spread = Callable[[Floats], float]  # the sum of squares that the model leaves of any response
TRANSFORMS = ("auto", "none", "log", "boxcox")
# Powers with a meaning: a rate, a ratio, a count, the thing itself. Box and Cox advise one of these over an estimate
# with two decimals: nobody can read an effect on time^-0.36.
_NAMED_POWERS = (-1.0, 0.0, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class PowerScale:
    """A power of 0 is the logarithm, as in Box and Cox (1964)."""

    label: str
    power: float = 1.0

    @property
    def is_log(self) -> bool:
        return self.power == 0

    def forward(self, values: Floats) -> Floats:
        return np.log(values) if self.power == 0 else values if self.power == 1 else values**self.power

    def back(self, value: float) -> float:
        if self.power in (0.0, 1.0):
            return math.exp(value) if self.power == 0 else value
        # Below zero no response has this power: the interval reaches the end of the scale.
        return max(value, 0.0) ** (1 / self.power) if value > 0 or self.power > 0 else math.inf


def make_scale(transform: str, response: str, runs: Sequence[Observation], spread: Spread, df: int) -> PowerScale:
    if transform == "none":
        return PowerScale(response)
    for run in runs:
        if run.responses[response] <= 0:
            at = str(run.configuration)
            raise StudyError(
                f"transform {transform!r} needs positive values: {response} = {run.responses[response]:g} "
                f"in row {run.position} ({at})",
                hint="correct or drop that row, or use `transform='none'`",
            )
    if transform == "log":
        return PowerScale(f"log({response})", 0.0)
    power = estimate_power(spread, df, [run.responses[response] for run in runs])[0]
    return PowerScale(f"{response}^{power:g}" if power else f"log({response})", power)


def propose(response: str, values: Floats | Sequence[float], spread: Spread, df: int) -> Proposal | None:
    """The named power nearest to the most likely one; None when some values are not positive."""
    if min(values) <= 0:
        return None
    power, low, high = estimate_power(spread, df, values)
    named = min(_NAMED_POWERS, key=lambda known: abs(known - power))
    name = {1.0: "none", 0.0: "log"}.get(named, "boxcox")
    sentence = _proposed(response, named, is_certain=not low <= 1 <= high)
    shown = f"most likely power {power:.2f}, 95% interval {low:.2f} to {high:.2f}"
    return Proposal(name, power, low, high, f"{sentence} ({shown}).")


def _proposed(response: str, power: float, *, is_certain: bool) -> str:
    if power == 1:
        near = f"The interpretable power closest to the Box-Cox estimate is 1: {response} as measured"
        return near if is_certain else f"Box-Cox shows no need to transform {response}"
    scale = _shown(power, response)
    if is_certain:
        return f"Box-Cox suggests analyzing {scale}"
    return f"Box-Cox prefers {scale}, but {response} as measured is not ruled out"


def _shown(power: float, response: str) -> str:
    named = {0.0: f"log({response})", 0.5: f"the square root of {response}", -1.0: f"1 / {response}"}
    return named.get(power, f"{response}^{power:g}")


def estimate_power(spread: Spread, df: int, values: Floats | Sequence[float]) -> tuple[float, float, float]:
    """The power that makes the residuals of the model (not the raw response) most nearly normal, with 95 % limits.

    The limits are those of the likelihood ratio; the search goes from -3 to 3. What counts as observations are the
    residual degrees of freedom `df`: with the number of runs instead, a quarter of well-behaved tables of 8 runs and 4
    coefficients would be transformed.
    """
    values = np.asarray(values, dtype=float)
    scaled = values / np.exp(np.log(values).mean())  # with geometric mean 1 the Jacobian of Box and Cox vanishes

    def badness(power: float) -> float:
        """Twice the negative log likelihood, up to a constant."""
        return df * math.log(spread(boxcox(scaled, power)) + 1e-300)

    best = float(minimize_scalar(badness, bounds=(-3, 3), method="bounded").x)
    limit = badness(best) + float(chi2.ppf(0.95, 1))

    def end(edge: float) -> float:
        return edge if badness(edge) <= limit else float(brentq(lambda power: badness(power) - limit, best, edge))

    return round(best, 2), round(end(-3.0), 2), round(end(3.0), 2)


def proposed_scale(response: str, proposal: Proposal) -> PowerScale:
    named = min(_NAMED_POWERS, key=lambda known: abs(known - proposal.power))
    return PowerScale(_shown(named, response) if named != 1 else response, named)
