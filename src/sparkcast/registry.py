"""Name -> plug. A new file in the package, or an entry point of another distribution, is enough to join."""

import pkgutil
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from sparkcast.errors import Hint, UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """Classes by name.

    The first lookup imports every public module of `package`, then every entry point of the group named after the
    kind (`sparkcast.models`, `sparkcast.searchers`, ...), so built-in and third-party plugs take the same road. Without
    a package all of them come from entry points. Plug modules import heavy libraries inside the functions that need
    them: listing names must stay cheap.
    """

    def __init__(self, kind: str, package: str | None = None) -> None:
        self.kind = kind
        self._package = package
        self._classes: dict[str, type[T]] = {}
        self._discovered = False

    def register(self, name: str) -> Callable[[type[T]], type[T]]:
        def add(cls: type[T]) -> type[T]:
            if name in self._classes:
                raise ValueError(f"{self.kind} {name!r}: {cls!r} clashes with {self._classes[name]!r}")
            self._classes[name] = cls
            return cls

        return add

    def names(self) -> tuple[str, ...]:
        self._discover()
        return tuple(sorted(self._classes))

    def get(self, name: str) -> type[T]:
        known = self.names()
        if name not in known:
            hint = did_you_mean(name, known) if known else self._how_to_install
            raise UnknownNameError(f"no {self.kind} named {name!r}", hint=hint)
        return self._classes[name]

    def summaries(self) -> dict[str, str]:
        """The first line of each plug's docstring, by name."""
        return {name: (self._classes[name].__doc__ or "").strip().split("\n")[0] for name in self.names()}

    def by_package(self) -> dict[str, tuple[str, ...]]:
        """The names by the package that brings them, those of sparkcast first."""
        packages = {name: self._classes[name].__module__.partition(".")[0] for name in self.names()}
        order = sorted({*packages.values()}, key=lambda package: (package != "sparkcast", package))
        return {package: tuple(name for name in packages if packages[name] == package) for package in order}

    def declaring(self, attribute: str) -> tuple[str, ...]:
        """The names of the plugs whose class sets this attribute to something true: what they say of themselves."""
        return tuple(name for name in self.names() if getattr(self._classes[name], attribute, False))

    def default(self) -> str:
        """The plug that declares `is_default = True`: what is taken when nobody says which."""
        return self.declaring("is_default")[0]

    def _discover(self) -> None:
        if self._discovered:
            return
        self._discovered = True
        if self._package is not None:
            for module in pkgutil.iter_modules(import_module(self._package).__path__):
                if not module.name.startswith("_"):
                    import_module(f"{self._package}.{module.name}")
        for entry_point in entry_points(group=self._group):
            entry_point.load()

    @property
    def _group(self) -> str:
        return f"sparkcast.{self.kind}s"

    @property
    def _how_to_install(self) -> str:
        # An installer writes the entry points: a source tree that was only copied has none.
        return (
            f"no {self.kind} is installed: `pip install sparkcast`, or `pip install -e .` in its source tree, "
            f"installs the built-in ones (entry points {self._group!r})"
        )


def did_you_mean(name: str, known: tuple[str, ...] | list[str]) -> Hint:
    """A hint for a mistyped name: the nearest one, or all of them."""
    begun = [candidate for candidate in known if name and candidate.startswith(name)]
    close = get_close_matches(name, known) or begun
    text = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
    return Hint.naming(text, tuple(close))
