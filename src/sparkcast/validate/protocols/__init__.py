"""Ways to split runs into what a model learns from and what it is tested on. One file each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sparkcast.registry import Registry
from sparkcast.study import Dataset, Observation


@dataclass(frozen=True, slots=True)
class Split:
    """Replicates of one configuration are all in `train` or all in `test`."""

    train: Dataset
    test: tuple[Observation, ...]


class SplitProtocol(Protocol):
    def splits(self, data: Dataset, response: str) -> Sequence[Split]: ...


PROTOCOLS: Registry[SplitProtocol] = Registry("protocol", __name__)
