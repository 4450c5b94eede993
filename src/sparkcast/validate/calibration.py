"""Are promises kept? How often runs that a model had not seen stayed below what it promised with some probability."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import NormalDist, fmean

from sparkcast.study import Configuration
from sparkcast.units import show_level, show_percent
from sparkcast.validate import Kept, TestedRun

PROMISED = (0.5, 0.8, 0.9, 0.95)
_LEVEL = 0.95  # of the interval around the share that was kept


def kept_promises(
    runs: Sequence[TestedRun], factors: Sequence[str], promised: Iterable[float] = PROMISED
) -> tuple[Kept, ...]:
    """For each promised probability, the share of configurations whose runs were at or below that quantile.

    Replicates, and the draws of a protocol that tests a run more than once, share the one vote of their configuration:
    they are alike, and counted one by one they would make the interval too narrow. Empty when no run has a probability.
    """
    groups: dict[Configuration, list[float]] = defaultdict(list)
    for run in runs:
        if run.probability_below is not None:
            groups[run.configuration.only(factors)].append(run.probability_below)
    if not groups:
        return ()
    return tuple(_kept(wanted, list(groups.values())) for wanted in promised)


def _kept(promised: float, groups: Sequence[Sequence[float]]) -> Kept:
    share = fmean(fmean(probability <= promised for probability in own) for own in groups)
    return Kept(promised, share, *wilson(share, len(groups)), len(groups))


def wilson(share: float, n: int, level: float = _LEVEL) -> tuple[float, float]:
    """Where the probability behind a share of n trials lies (Wilson 1927); holds also for few trials and at 0 and 1.

    >>> low, high = wilson(0.9, 10)
    >>> f"{low:.3f} to {high:.3f}"
    '0.596 to 0.982'
    """
    z2 = NormalDist().inv_cdf(0.5 + level / 2) ** 2
    center = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    # Rounding must not put the share itself outside.
    return max(0.0, min(center - half, share)), min(1.0, max(center + half, share))


def broken_promise(model: str, kept: Iterable[Kept]) -> str | None:
    """What to say when the interval around what was kept leaves out what was promised; None when none does.

    Promises that were kept too seldom come first, and of these the one that promised most.
    """
    highest = sorted(kept, key=lambda one: -one.promised)
    for one in highest:
        if one.high < one.promised:
            return f"{model} is overconfident here: {_shown(one)}"
    for one in highest:
        if one.low > one.promised:
            return f"{model} is more cautious here than it claims: {_shown(one)}"
    return None


def _shown(one: Kept) -> str:
    return f"promises made with probability {show_level(one.promised)} held in {show_percent(one.share)} of the cases"
