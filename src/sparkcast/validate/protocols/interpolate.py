"""Leave out levels between others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from sparkcast.study import Dataset
from sparkcast.validate.protocols import PROTOCOLS, Split
from sparkcast.validate.protocols._configurations import configurations, factor_name, ladder


@PROTOCOLS.register("interpolate")
@dataclass(frozen=True, slots=True)
class Interpolate:
    """Predicts each inner level of a numeric factor from its other levels: interpolate:FACTOR.

    A level is left out with all its configurations. The lowest and the highest are never tested: without them a model
    would have to extrapolate.
    """

    factor: str

    @classmethod
    def parse(cls, argument: str, *, seed: int) -> Self:
        return cls(factor_name(argument, "interpolate"))

    def splits(self, data: Dataset, response: str) -> Sequence[Split]:
        found = configurations(data, response)
        steps = ladder(found, self.factor, "interpolate")
        return [
            found.split_off(steps.on(number), f"without {self.factor}={level}")
            for number, level in list(steps.rungs.items())[1:-1]
        ]
