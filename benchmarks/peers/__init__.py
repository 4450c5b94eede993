"""Models to compare with that are no part of sparkcast, one file for each: it registers a `Model` under its name."""

from importlib import import_module
from pkgutil import iter_modules

BASELINES = ("c3o", "courier-forest")  # measured where nobody says which
NAMES = tuple(module.name for module in iter_modules(__path__) if not module.name.startswith("_"))

for _name in NAMES:
    import_module(f"peers.{_name}")
