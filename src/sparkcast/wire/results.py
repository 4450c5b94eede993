"""What commands tell of which no answer of `api` has the form."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparkcast.learned.fit import FittedResponse


@dataclass(frozen=True, slots=True)
class FitReport:
    """What `fit --json` tells."""

    responses: "tuple[FittedResponse, ...]"
    notes: tuple[str, ...]  # what was not learned, and why
    saved: Path | None


@dataclass(frozen=True, slots=True)
class Exported:
    """What `export --json` tells."""

    path: str  # a file, or a tracking store
    observations: int


@dataclass(frozen=True, slots=True)
class Written:
    """What `report --json` tells."""

    path: Path


@dataclass(frozen=True, slots=True)
class Starter:
    """What `init --json` tells."""

    workload: str
    study: str


@dataclass(frozen=True, slots=True)
class Kinds:
    """What `list --json` tells: the names of each kind, and which package brings them."""

    kinds: dict[str, tuple[str, ...]]
    packages: dict[str, dict[str, tuple[str, ...]]]  # kind -> package -> names
