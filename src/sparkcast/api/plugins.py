"""Plugins, and the papers that some of them compare with."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparkcast.data.sources import Source

if TYPE_CHECKING:
    from sparkcast.registry import Registry
    from sparkcast.replications import Replicated


def list_plugs(kind: str) -> dict[str, str]:
    """The plugins of a kind, built in or installed.

    Args:
        kind: "designs", "workloads", "engines", "models", "searchers", "protocols", "grids" or "replications".

    Returns:
        The name and a one-line description of each.

    Raises:
        UnknownNameError: No such kind.

    >>> "ridge" in list_plugs("models")
    True
    """
    return _registry(kind).summaries()


def list_packages(kind: str) -> dict[str, tuple[str, ...]]:
    """Which package brings which plugins of a kind.

    Args:
        kind: As for `list_plugs`.

    Returns:
        The names by package, those of sparkcast first.

    Raises:
        UnknownNameError: No such kind.

    >>> "pi" in list_packages("workloads")["sparkcast"]
    True
    """
    return _registry(kind).by_package()


def list_kinds() -> dict[str, tuple[str, ...]]:
    """The kinds of plugs, and what is at hand of each.

    Returns:
        The names of each kind.

    Raises:
        ImportError: A package of others does not import.

    >>> "full" in list_kinds()["designs"]
    True
    """
    return {kind: registry.names() for kind, registry in _registries().items()}


def _registry(kind: str) -> "Registry[Any]":
    from sparkcast.errors import UnknownNameError
    from sparkcast.registry import did_you_mean

    known = _registries()
    if kind not in known:
        raise UnknownNameError(f"no list of {kind!r}", hint=did_you_mean(kind, tuple(known)))
    return known[kind]


def _registries() -> "dict[str, Registry[Any]]":
    from sparkcast.designs import DESIGNS
    from sparkcast.engines import ENGINES
    from sparkcast.learned.grid_search import GRIDS
    from sparkcast.models import MODELS
    from sparkcast.replications import REPLICATIONS
    from sparkcast.search.base import SEARCHERS
    from sparkcast.validate import PROTOCOLS
    from sparkcast.workloads import WORKLOADS

    registries: list[Registry[Any]] = [DESIGNS, WORKLOADS, ENGINES, MODELS, SEARCHERS, PROTOCOLS, GRIDS, REPLICATIONS]
    return {f"{registry.kind}s": registry for registry in registries}


def replicate(paper: str, *, part: str | None = None, data: Source | None = None) -> "Replicated":
    """Compare a paper's numbers with ours, and its claims with what is true.

    Args:
        paper: See `list_plugs("replications")`.
        part: One part of it; defaults to all parts that `data` allows.
        data: A folder with the authors' measurements.

    Returns:
        Rows with the paper's number, ours, and whether they agree.

    Raises:
        UnknownNameError: No such paper or part.
        StudyError: The part needs `data`.

    >>> replicate("marinos2020", part="design").paper
    'marinos2020'
    """
    from sparkcast.replications import replicate as do_again

    return do_again(paper, part, None if data is None else Path(data))
