"""Large tables: models learn from a sample of the configurations, and say so.

Hundreds of thousands of configurations teach little that a few thousand do not, and no model fits them while somebody
waits. The configurations at the ends of each factor's range and one for each category are always in the sample, so that
what was measured stays what can be asked about.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from sparkcast.study import Configuration, Dataset
from sparkcast.units import as_number

MOST = 2_000  # configurations


@dataclass(frozen=True, slots=True)
class TrainingRuns:
    """The runs to learn from: all of them, or those of some configurations, with all their replicates."""

    runs: Dataset
    n_configurations: int
    n_available: int  # configurations to draw from

    @property
    def is_whole(self) -> bool:
        return self.n_configurations == self.n_available


def sample_of(data: Dataset, response: str | None = None, *, most: int = MOST) -> TrainingRuns:
    """What to learn a response from, or how likely runs fail; the same whenever the data are."""
    runs = data.observations if response is None else data.successful(response)
    keys = list(map(data.key, runs))
    different = list(dict.fromkeys(keys))
    if len(different) <= most:
        return TrainingRuns(data, len(different), len(different))
    chosen = _chosen(different, data.factors, most)
    kept = tuple(run for run, key in zip(runs, keys, strict=True) if key in chosen)
    return TrainingRuns(replace(data, observations=kept), len(chosen), len(different))


def _chosen(different: Sequence[Configuration], factors: Sequence[str], most: int) -> set[Configuration]:
    kept = dict.fromkeys(key for name in factors for key in _extremes(different, name))
    others = [key for key in different if key not in kept]
    drawn = Random(0).sample(others, max(0, most - len(kept)))
    return {*list(kept)[:most], *drawn}


def _extremes(different: Sequence[Configuration], factor: str) -> list[Configuration]:
    """A configuration at either end of a range; of a category, one for each level."""
    first = {key[factor]: key for key in reversed(different) if factor in key}
    numbers = {level: number for level in first if (number := as_number(level)) is not None}
    if len(numbers) < len(first):
        return list(first.values())
    ends = (min(numbers, key=lambda level: numbers[level]), max(numbers, key=lambda level: numbers[level]))
    return [first[level] for level in ends]


def note_on(n_configurations: int, n_available: int) -> str:
    return f"trained on a sample of {n_configurations:,} of {n_available:,} configurations"
