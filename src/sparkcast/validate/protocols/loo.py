"""Leave one configuration out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from sparkcast.errors import StudyError
from sparkcast.study import Dataset
from sparkcast.validate.protocols import PROTOCOLS, Split
from sparkcast.validate.protocols._configurations import configurations


@PROTOCOLS.register("loo")
@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """Predicts each configuration, with all its replicates, from the others."""

    @classmethod
    def parse(cls, argument: str, *, seed: int) -> Self:
        if argument:
            raise StudyError(f"loo takes no argument, but got {argument!r}", hint="write loo, or kfold:5")
        return cls()

    def splits(self, data: Dataset, response: str) -> Sequence[Split]:
        found = configurations(data, response)
        return [found.split_off([key], f"without {key}") for key in found.different()]
