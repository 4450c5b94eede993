"""Ways to split runs into what a model learns from and what it is tested on. One file each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from sparkcast.errors import StudyError
from sparkcast.registry import Registry
from sparkcast.study import Dataset, Observation


@dataclass(frozen=True, slots=True)
class Split:
    """Replicates of one configuration are all in `train` or all in `test`."""

    train: Dataset
    test: tuple[Observation, ...]
    name: str = ""  # how messages call it: "fold 3 of 10", "without executors=4"


class SplitProtocol(Protocol):
    """A way to split. What it takes after the colon of `NAME:ARGUMENT` is checked before any data are seen."""

    @classmethod
    def parse(cls, argument: str, *, seed: int) -> Self:
        """Read the argument, "" when there is none; `seed` is for protocols that draw at random."""
        ...

    def splits(self, data: Dataset, response: str) -> Sequence[Split]:
        """At least one split, each with runs on both sides; the same ones whenever the data and the seed are."""
        ...


PROTOCOLS: Registry[SplitProtocol] = Registry("protocol", __name__)


def make_protocol(text: str, *, seed: int = 0) -> SplitProtocol:
    """The protocol that `NAME[:ARGUMENT]` asks for.

    >>> make_protocol("kfold:5")
    KFold(k=5, seed=0)
    """
    name, colon, argument = (part.strip() for part in text.partition(":"))
    protocol = PROTOCOLS.get(name)
    if colon and not argument:
        raise StudyError(f"protocol {text!r} has nothing after the colon", hint=f"write {name}, or {name}:ARGUMENT")
    return protocol.parse(argument, seed=seed)
