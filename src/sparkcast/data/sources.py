"""What questions are asked about: a study with its results, a CSV, a store, or a model file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.study import Dataset, Listed, Observation, Price, Space, Study

Source = str | Path


def load_study(path: Source) -> Study:
    """Read a study file, check it against its workload and design, and fill in the workload's defaults."""
    from sparkcast.designs import make_design
    from sparkcast.study.file import load_study as read
    from sparkcast.workloads import resolve

    study = resolve(read(Path(path)))
    make_design(study)
    return study


@dataclass(frozen=True, slots=True)
class Data:
    """Observations, and the study they came from when there is one."""

    dataset: Dataset
    study: Study | None = None

    @property
    def price(self) -> Price | None:
        """What makes a cost of a time; None where the study says by a formula of its own what `cost` is."""
        if self.study is None or any(r.name == "cost" and r.formula for r in self.study.responses):
            return None
        return self.study.price

    def pool(self) -> Space | Listed:
        """Where candidates come from: what the rules of the study allow of its levels, or what the data have."""
        if self.study is not None:
            return self.study.space()
        factors = self.dataset.factors
        found = dict.fromkeys(self.dataset.key(o) for o in self.dataset.observations)
        return Listed(tuple(dict(zip(factors, levels, strict=True)) for levels in found))


def load_data(
    source: Source, *, factors: Sequence[str] = (), responses: Sequence[str] = (), study: str | None = None
) -> Data:
    """A study file (with its results), a CSV, or a store (folder, file or database URL).

    A response may be a formula over measured ones: `cost = time_s / (100 * accuracy) ** 2`.
    When `factors` names the settings of a CSV, its other columns of numbers become metrics of the runs, which the model
    gray-box learns from.
    """
    from sparkcast.data.table import read_csv
    from sparkcast.store import open_store
    from sparkcast.study.derive import derive_responses, make_dataset, parse_response

    path, wanted = Path(source), [parse_response(text) for text in responses]
    if is_model_file(path):
        raise StudyError(
            f"{path.name} is a model file, and this needs runs", hint="give the study, store or CSV instead"
        )
    if path.suffix in (".yaml", ".yml"):
        loaded = load_study(path)
        observations = stored_observations(loaded, path)
        if not observations:
            raise NotEnoughDataError(f"study {loaded.name!r} has no results yet", hint=f"sparkcast run {path.name}")
        return Data(derive_responses(make_dataset(loaded, observations), wanted), loaded)
    if path.suffix == ".csv":
        return Data(derive_responses(read_csv(path, factors, [n for r in wanted for n in r.needs]), wanted))
    store = open_store(str(source))
    try:
        name = store.only_study(study)
        stored = store.observations(name)
    finally:
        store.close()
    if not stored:
        raise NotEnoughDataError(f"study {name!r} has no results yet", hint="make some: sparkcast run STUDY")
    varied = tuple(n for n in stored[0].configuration if len({o.configuration.get(n) for o in stored}) > 1)
    measured = tuple(dict.fromkeys(n for o in stored for n in o.responses))
    return Data(derive_responses(Dataset(tuple(factors) or varied, stored, name, measured), wanted))


def stored_observations(study: Study, path: Path) -> tuple[Observation, ...]:
    """The results that fit the study: --allow-changed may have kept some with other fixed settings in the store."""
    from sparkcast.store import open_store, results_folder

    folder = results_folder(path)
    if not (folder / "store.sqlite").exists():
        return ()
    store = open_store(folder)
    try:
        stored = store.observations(study.name)
    finally:
        store.close()
    return tuple(o for o in stored if all(o.configuration.get(name) == v for name, v in study.fixed.items()))


def is_model_file(path: Path) -> bool:
    """Whether to read this as a model file: by how it begins, or by its name where it should be one."""
    if path.suffix == ".sparkcast":
        return True
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PK\x03\x04"
    except OSError:
        return False
