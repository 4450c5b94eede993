"""Leave groups of configurations out."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Self

from sparkcast.errors import StudyError
from sparkcast.study import Dataset
from sparkcast.validate.protocols import PROTOCOLS, Split
from sparkcast.validate.protocols._configurations import configurations

_DEFAULT_K = 10


@PROTOCOLS.register("kfold")
@dataclass(frozen=True, slots=True)
class KFold:
    """Splits the configurations into 10 random groups, or K with kfold:K; predicts each from the others.

    Without a K, fewer configurations than 10 make as many groups as there are configurations.
    """

    k: int | None = None
    seed: int = 0

    @classmethod
    def parse(cls, argument: str, *, seed: int) -> Self:
        if not argument:
            return cls(seed=seed)
        try:
            k = int(argument)
        except ValueError:
            raise StudyError(f"kfold:{argument} needs an integer number of groups", hint="e.g. kfold:5") from None
        if k < 2:
            raise StudyError(f"kfold:{argument} leaves nothing to train on", hint="use at least 2 groups: kfold:5")
        return cls(k, seed)

    def splits(self, data: Dataset, response: str) -> Sequence[Split]:
        found = configurations(data, response)
        keys = found.different()
        if self.k is not None and self.k > len(keys):
            raise StudyError(
                f"kfold:{self.k} needs {self.k} configurations, but {data.name} has {len(keys)} with {response}",
                hint=f"use kfold:{len(keys)} or fewer, or loo",
            )
        k = self.k or min(_DEFAULT_K, len(keys))
        Random(self.seed).shuffle(keys)
        return [found.split_off(keys[fold::k], f"fold {fold + 1} of {k}") for fold in range(k)]
