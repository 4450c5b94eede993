"""Leave a random share of the configurations out, several times."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Self

from sparkcast.errors import StudyError
from sparkcast.study import Dataset
from sparkcast.validate.protocols import PROTOCOLS, Split
from sparkcast.validate.protocols._configurations import Configurations, Key, configurations

SHARE = 0.2
# One draw of a few configurations says more about the draw than about the model; the Spark studies of Polimi
# average over 10 as well.
_REPEATS = 10


@PROTOCOLS.register("holdout")
@dataclass(frozen=True, slots=True)
class Holdout:
    """Predicts a random fifth of the configurations, or holdout:SHARE, from the rest; 10 independent draws.

    At least one configuration is on each side. A run may be tested in several draws, or in none.
    """

    share: float = SHARE
    seed: int = 0

    @classmethod
    def parse(cls, argument: str, *, seed: int) -> Self:
        if not argument:
            return cls(seed=seed)
        try:
            share = float(argument)
        except ValueError:
            raise StudyError(f"holdout:{argument} needs a number as its share", hint="e.g. holdout:0.25") from None
        if not 0 < share < 1:
            raise StudyError(f"the share of holdout:{argument} is not between 0 and 1", hint="e.g. holdout:0.25")
        return cls(share, seed)

    def splits(self, data: Dataset, response: str) -> Sequence[Split]:
        found = configurations(data, response)
        return hold_out(found, found.different(), self.share, self.seed)


def hold_out(found: Configurations, among: Sequence[Key], share: float, seed: int) -> list[Split]:
    """Draw a share of some configurations to be predicted from the rest of them; at least two are needed."""
    n_tested = min(max(1, round(share * len(among))), len(among) - 1)
    random = Random(seed)
    drawn = [random.sample(among, len(among)) for _ in range(_REPEATS)]
    return [
        found.split(keys[n_tested:], keys[:n_tested], f"draw {number} of {_REPEATS}")
        for number, keys in enumerate(drawn, start=1)
    ]
