"""What a plug must hold, as test classes for pytest: ours are tested with them, and so can be everybody else's.

    from sparkcast.testing import ModelSuite

    class TestMine(ModelSuite):
        plug = MyModel

Each suite says in the names of its tests what is asked. `pytest` must be installed; sparkcast itself does not need it.
"""

from typing import Any

_HOMES = {
    "DesignSuite": "designs",
    "ModelSuite": "models",
    "SearcherSuite": "searchers",
    "WorkloadSuite": "workloads",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'sparkcast.testing' has no attribute {name!r}")
    return getattr(import_module(f"sparkcast.testing.{_HOMES[name]}"), name)
