"""How long, how accurate and how expensive a machine-learning job on Apache Spark will be, before you run it.

What sparkcast does is in `sparkcast.api`; the words it speaks in are here.

    >>> from sparkcast import api
    >>> api.run("mnist.yaml")                                         # doctest: +SKIP
    >>> data = api.load_data("mnist.yaml")                            # doctest: +SKIP
    >>> api.recommend(data, within_s=60).chosen.configuration         # doctest: +SKIP
    Configuration({'executors': 2, 'batch_size': 128})
"""

from typing import Any

__version__ = "0.2.0"

_HOMES = {
    "sparkcast.data.sources": ["Data"],
    "sparkcast.designs.summary": ["PlanSummary"],
    "sparkcast.errors": ["SparkcastError"],
    "sparkcast.learned.predict": ["Prediction", "PredictionAt"],
    "sparkcast.study": [
        "Configuration",
        "Dataset",
        "Factor",
        "Kind",
        "Observation",
        "Outcome",
        "Response",
        "Role",
        "Setting",
        "Study",
        "Trial",
        "Vocabulary",
    ],
}

__all__ = sorted(["api", *(name for names in _HOMES.values() for name in names)])


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: `import sparkcast` itself stays instant."""
    from importlib import import_module

    if name == "api":
        return import_module("sparkcast.api")
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'sparkcast' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
