"""What a service knows by name: studies with their files, tables, and whatever a store holds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sparkcast.data.sources import Data, is_study_file, load_data, load_study
from sparkcast.errors import StudyError, UnknownNameError
from sparkcast.registry import did_you_mean
from sparkcast.store import Store, open_store, results_place
from sparkcast.study import Study


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """Something that can be asked about, and where its runs are."""

    name: str
    source: str  # a study file, a table, or a store
    kind: str  # "study", "table" or "store"
    store: str | None  # where its runs are kept; None for a table
    study: Study | None = None  # with its file

    def load(self) -> Data:
        """Its runs as they are now. Raises NotEnoughDataError where it has none."""
        return load_data(self.source, study=self.name) if self.kind == "store" else load_data(self.source)


class Catalog:
    """Names and what stands behind them. A study of the store appears as soon as it has been stored."""

    def __init__(
        self, sources: tuple[str, ...], store: str | None, opened: Callable[[str], Store] = open_store
    ) -> None:
        self._given: dict[str, CatalogEntry] = {}
        self._opened = opened
        self._stores: list[str] = [] if store is None else [store]
        for source in sources:
            self._add(source)

    def _add(self, source: str) -> None:
        if is_study_file(source):
            study = load_study(source)
            place = results_place(study)
            self._give(CatalogEntry(study.name, source, "study", place.store if place.exists else None, study))
        elif "://" in source or Path(source).is_dir() or Path(source).suffix in (".sqlite", ".db"):
            self._stores.append(source)
        else:
            data = load_data(source)
            self._give(CatalogEntry(data.dataset.name, source, "table", None))

    def _give(self, entry: CatalogEntry) -> None:
        if entry.name in self._given:
            raise StudyError(f"two sources are named {entry.name!r}", hint="rename one of them")
        self._given[entry.name] = entry

    @property
    def given(self) -> tuple[str, ...]:
        """The names of what was given at the start, but for stores."""
        return tuple(self._given)

    @property
    def stores(self) -> tuple[str, ...]:
        """Of all entries, each once."""
        own = [entry.store for entry in self._given.values() if entry.store is not None]
        return tuple(dict.fromkeys((*self._stores, *own)))

    def entries(self) -> Mapping[str, CatalogEntry]:
        """By name; what was given at the start first."""
        found = dict(self._given)
        for target in self._stores:
            for name in self._opened(target).study_names():
                found.setdefault(name, CatalogEntry(name, target, "store", target))
        return found

    def entry(self, name: str) -> CatalogEntry:
        """Raises UnknownNameError with the nearest names."""
        if name in self._given:
            return self._given[name]
        known = self.entries()
        if name not in known:
            raise UnknownNameError(f"no study or job is named {name!r}", hint=did_you_mean(name, tuple(known)))
        return known[name]
