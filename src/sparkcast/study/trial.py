"""A plan and its trials: one combination, one replicate, one place in the randomized order."""

import hashlib
import json
from dataclasses import dataclass
from typing import Literal

from sparkcast.study.configuration import Configuration

TrialKind = Literal["factorial", "center"]


@dataclass(frozen=True, slots=True)
class Trial:
    configuration: Configuration
    replicate: int = 1
    position: int = 0
    block: int = 1
    kind: TrialKind = "factorial"

    def __post_init__(self) -> None:
        object.__setattr__(self, "configuration", Configuration(self.configuration))

    @property
    def key(self) -> str:
        """The same trial has the same key in every session, whatever its place in the order."""
        text = json.dumps([dict(sorted(self.configuration.items())), self.replicate], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Plan:
    """Trials in the order they are run."""

    design: str
    seed: int
    trials: tuple[Trial, ...]
    excluded: tuple[Configuration, ...] = ()  # combinations that a rule makes impossible, as far as they were listed
    notes: tuple[str, ...] = ()  # what its reader should know
    confounded: tuple[str, ...] = ()  # effects that cannot be told from differences between blocks
    n_unlisted: int = 0  # excluded combinations beyond those listed

    @property
    def n_excluded(self) -> int:
        return len(self.excluded) + self.n_unlisted

    @property
    def configurations(self) -> tuple[Configuration, ...]:
        return tuple(dict.fromkeys(trial.configuration for trial in self.trials))
