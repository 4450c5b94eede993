"""What questions are asked about: a study with its results, a table, a store, runs of MLflow, or a model file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from sparkcast.data.options import TableOptions
from sparkcast.data.pipes import as_file, require_regular
from sparkcast.data.understood import Understood
from sparkcast.display import frame_of
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.observe.recognize import is_event_log
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, Dataset, Kind, Listed, Observation, Price, Role, Space, Study, Vocabulary
from sparkcast.study.names import COST, METRICS, in_usual_units
from sparkcast.study.paths import no_such_file
from sparkcast.study.redaction import redact_text

if TYPE_CHECKING:
    import pandas as pd
    from pandas import DataFrame

    from sparkcast.data.grid import Grid

Source = str | Path
TABLES = (".csv", ".tsv", ".tab", ".txt", ".parquet")
MLFLOW = "mlflow:"  # in front of a tracking folder or URL
MODEL_FORMAT = "sparkcast-model"  # a model file begins with this
_MODEL_START = f'{{"format":"{MODEL_FORMAT}"'.encode()
_WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods")


def is_study_file(source: Source) -> bool:
    """Whether a study file is meant, by its name."""
    return "://" not in str(source) and Path(source).suffix.lower() in (".yaml", ".yml")


def load_study(
    path: Source | Study,
    roles: Mapping[str, str] | None = None,
    *,
    store: str | None = None,
    artifacts: str | None = None,
) -> Study:
    """Read a study file, check it against its workload and design, and fill in the workload's defaults.

    Args:
        path: A study file; a study that was loaded before is returned as it is.
        roles: What names mean, in place of what the file says of the same names: {"hosts": "machines"}.
        store: Where its results are kept instead of where it says: postgresql://HOST/DATABASE.
        artifacts: A folder or URL to which the logs and output of each run are copied, instead of where it says.

    Returns:
        The study, with every setting of its workload.

    Raises:
        StudyError: The file is malformed; the message names the line.
        UnknownNameError: No such workload or design.

    >>> load_study("study.yaml").design.kind
    'full'
    """
    from sparkcast.designs import make_design
    from sparkcast.study.file import load_study as read
    from sparkcast.workloads import resolve

    if isinstance(path, Study):
        return path
    _require_study_file(Path(path))
    study = read(Path(path))
    study = resolve(
        replace(
            study,
            roles={**study.roles, **(roles or {})},
            store=store or study.store,
            artifacts=artifacts or study.artifacts,
        )
    )
    make_design(study)
    return study


def _require_study_file(path: Path) -> None:
    """Raise StudyError for what is plainly something else."""
    require_regular(path)
    if not path.exists():
        return  # said where it is read
    if path.suffix.lower() in TABLES:
        raise StudyError(
            f"{path.name} is a table of runs, but this command needs a study file",
            hint=(
                f"analyze the table: sparkcast analyze {path.name}; or create a study: sparkcast init WORKLOAD "
                "> study.yaml"
            ),
        )
    if is_event_log(path):
        raise _event_log(path, "a study file")


def _event_log(path: Path, needed: str) -> StudyError:
    return StudyError(
        f"{path.name} is a Spark event log, but this command needs {needed}",
        hint=f"sparkcast profile {path} shows where its time went",
    )


@dataclass(frozen=True, slots=True)
class Data:
    """Observations, and the study they came from when there is one."""

    dataset: Dataset
    study: Study | None = None
    taken_as: tuple[tuple[str, str], ...] = ()  # role and name, where only the name told it
    understood: Understood | None = None  # of a table
    results: str | None = None  # the folder or store of its runs, where more is kept than the observations
    usual: Configuration | None = None  # of a recurring job: the settings of its last run, for those not given
    notes: tuple[str, ...] = ()  # what whoever is told a prediction from these runs should know

    @property
    def price(self) -> Price | None:
        """What makes a cost of a time; None where the study says by a formula of its own what `cost` is."""
        if self.study is None or any(r.name == COST and r.formula for r in self.study.responses):
            return None
        return self.study.price

    def pool(self) -> Space | Listed:
        """Where candidates come from: what the rules of the study allow of its levels, or what the data have."""
        if self.study is not None:
            return self.study.space()
        found = dict.fromkeys(o.configuration.only(self.dataset.factors) for o in self.dataset.observations)
        return Listed(tuple(found))

    def frame(self) -> "pd.DataFrame":
        """A row for each run: settings, replicate, outcome and responses. Other functions take it as DATA."""
        return frame_of(run.row() for run in self.dataset.observations)


def load_data(source: "Source | DataFrame", *, table: TableOptions | None = None, study: str | None = None) -> Data:
    """Read the runs of a study, a table, a store or MLflow.

    Args:
        source: A study file (with its results), a table (CSV, TSV, Parquet, or a pandas DataFrame), a store (folder,
            file or database URL), or runs of MLflow: "mlflow:" and a tracking folder or URL.
        table: What the columns of a table mean, where they do not tell themselves; its `factors`, `responses` and
            `roles` also apply to other sources. When factors are listed, other numeric columns become metrics of the
            runs, which the model gray-box learns from.
        study: Which study of a store, or which MLflow experiment, if there are several.

    Returns:
        The observations, with what all names mean, the study where there is one, and how a table was understood.

    Raises:
        StudyError: The file cannot be read; the message names rows and columns.
        NotEnoughDataError: The study has no results yet.

    >>> data = load_data("runs.csv")
    >>> len(data.dataset.observations), data.dataset.factors
    (16, ('executors', 'batch_size'))
    """
    from sparkcast.study.derive import derive_responses, parse_response

    table = table or TableOptions()
    wanted = [parse_response(text) for text in table.responses]
    needed = tuple(dict.fromkeys(name for response in wanted for name in response.needs))
    options = replace(table, responses=needed)
    loaded = _loaded(source, options, study) if isinstance(source, str | Path) else _frame_data(source, options)
    dataset = derive_responses(loaded.dataset, wanted)
    if wanted and loaded.understood is None:  # of a table, what its columns are has been decided by these names
        dataset = _about(dataset, [response.name for response in wanted])
    return replace(loaded, dataset=dataset)


def _about(dataset: Dataset, responses: Sequence[str]) -> Dataset:
    """The runs with only these responses to tell of."""
    for name in responses:
        if name not in dataset.measured:
            hint = did_you_mean(name, dataset.measured)
            raise StudyError(f"{dataset.name} has no response {name!r}", hint=hint)
    return replace(dataset, responses=tuple(dict.fromkeys(responses)))


def timed_by(data: Data, responses: Sequence[str]) -> Data:
    """With the first time among these responses as the time of a run, which deadlines are about."""
    words = data.dataset.vocabulary
    time = next((name for name in responses if words.response(name).kind is Kind.TIME), None)
    return replace(data, dataset=replace(data.dataset, vocabulary=words.meaning_by_time(time)))


def _loaded(source: Source, options: TableOptions, study: str | None) -> Data:
    _refuse_remote_file(str(source))
    if is_tracking(source):
        return _tracked_data(str(source), options, study)
    source = file_behind(source)
    path = Path(source)
    if is_model_file(path):
        raise StudyError(
            f"{path.name} is a model file, but this command needs runs", hint="pass the study, store or CSV instead"
        )
    if path.suffix.lower() in TABLES:
        _require_runs(path)
        return _table_data(path, options)
    _refuse_table_options(path, options)
    if "://" not in str(source):
        _require_runs(path)
    if is_study_file(path):
        return _study_data(path, options.roles)
    return _store_data(str(source), options.factors, study, options.roles)


def file_behind(source: Source) -> Source:
    """The file or folder, or a file with what a pipe brings; a URL as it is."""
    return source if "://" in str(source) else as_file(Path(source))


def _refuse_remote_file(source: str) -> None:
    """A URL is a database's, or MLflow's."""
    suffix = Path(source).suffix.lower()
    if "://" in source and not source.startswith(MLFLOW) and suffix in (*TABLES, *_WORKBOOKS, ".yaml", ".yml"):
        raise StudyError(
            f"{redact_text(source)} is a URL, but a {suffix} file is read from a path",
            hint="download the file and pass its path",
        )


def _require_runs(path: Path) -> None:
    """Raise StudyError for what is not there, for an empty file, and for an event log."""
    if not path.exists() and not is_study_file(path):  # of a study, said where it is read
        raise no_such_file(path)
    if path.is_file() and path.stat().st_size == 0:  # which SQLite would take for a new store
        raise StudyError(f"{path.name} is empty", hint="pass a study, a results folder or a table of runs")
    if is_event_log(path):
        raise _event_log(path, "a study, a results folder or a table of runs")


def _refuse_table_options(path: Path, options: TableOptions) -> None:
    given: dict[str, object] = {"`ignore=`": options.ignore, "`na=`": options.na, "`time_unit=`": options.time_unit}
    given |= {"`decimal=`": options.decimal, "`where=`": options.where, "`fill_down=`": options.fill_down}
    given |= {"`complete_rows=`": options.complete_rows, "`outcomes=`": options.outcomes}
    for option, value in (given | {"`time_limit=`": options.time_limit}).items():
        if value:
            raise StudyError(f"{option} is only for tables, and {path.name} is not one", hint=f"leave out {option}")


def _study_data(path: Path, roles: Mapping[str, str]) -> Data:
    from sparkcast.store import results_place
    from sparkcast.study.derive import make_dataset
    from sparkcast.study.hours import gap_s, in_blocks
    from sparkcast.study.streams import with_slowdowns

    study = load_study(path, roles)
    observations = with_slowdowns(in_blocks(stored_observations(study), gap_s(study.design)), study.vocabulary)
    if not observations:
        raise NotEnoughDataError(f"study {study.name!r} has no results yet", hint=f"sparkcast run {path.name}")
    place = results_place(study)
    return Data(make_dataset(study, observations), study, results=place.store if place.exists else None)


def _table_data(path: Path, options: TableOptions) -> Data:
    from sparkcast.data.grid import read_grid

    found = _understood(read_grid(path), path, options)
    if found.understood is None:
        return found
    return replace(found, understood=replace(found.understood, sha256=sha256(path.read_bytes()).hexdigest()))


def _frame_data(frame: "DataFrame", options: TableOptions) -> Data:
    from sparkcast.data.frame import NAME, grid_of

    return _understood(grid_of(frame), Path(NAME), options)


def _understood(grid: "Grid", path: Path, options: TableOptions) -> Data:
    from sparkcast.data.shapes import no_response
    from sparkcast.data.table import understand

    found = understand(grid, path, options)
    if not found.dataset.responses:  # of a table whose factors were named, that is not asked for before
        raise no_response(path)
    return Data(found.dataset, understood=found.understood)


def _tracked_data(source: str, options: TableOptions, experiment: str | None) -> Data:
    from sparkcast.data.tracking import read_runs

    found = read_runs(source, options, experiment)
    return Data(found.dataset, understood=found.understood)


def is_tracking(source: Source) -> bool:
    """Whether runs of MLflow are meant: by the prefix, or a folder as MLflow keeps them."""
    return str(source).startswith(MLFLOW) or any(Path(source).glob("*/meta.yaml"))


def _store_data(source: str, factors: Sequence[str], study: str | None, roles: Mapping[str, str]) -> Data:
    from sparkcast.data.ingest.observations import WORDS, dataset_of, observations_beside
    from sparkcast.store import open_store
    from sparkcast.study.hours import gap_of, in_blocks
    from sparkcast.study.streams import with_slowdowns

    store = open_store(source)
    try:
        name = store.only_study(study)
        measured, ingested, definition = store.observations(name), store.ingested(name), store.definition(name)
    finally:
        store.close()
    measured = in_blocks(measured, gap_of(definition))
    asked = definition.get("settings", {})
    words = _declared_by(str(definition["workload"])) if asked else WORDS
    if asked:
        fixed = {setting: level for setting, level in asked.items() if not isinstance(level, list)}
        found = _as_stored(name, observations_beside(measured, ingested, tuple(asked), fixed), words)
    else:
        found = dataset_of(name, ingested)
    if not found.observations:
        raise NotEnoughDataError(f"study {name!r} has no results yet", hint="create some with: sparkcast run STUDY")
    known = (*found.observations[0].configuration, *found.measured)
    if unknown := next((given for given in roles if given not in known), None):
        raise StudyError(f"study {name!r} has no setting or response {unknown!r}", hint=did_you_mean(unknown, known))
    declared = words.only(known).assigning(in_usual_units(roles))
    dataset = Dataset(tuple(factors) or found.factors, found.observations, name, found.responses, declared)
    if (slowed := with_slowdowns(dataset.observations, dataset.vocabulary)) != dataset.observations:
        dataset = Dataset(dataset.factors, slowed, name, _reported(slowed, words), declared)
    return Data(dataset, taken_as=_by_name(dataset, declared), results=source)


def _as_stored(name: str, stored: tuple[Observation, ...], words: Vocabulary) -> Dataset:
    first = stored[0].configuration if stored else ()
    varied = tuple(n for n in first if len({o.configuration.get(n) for o in stored}) > 1)
    return Dataset(varied, stored, name, _reported(stored, words))


def _reported(stored: tuple[Observation, ...], words: Vocabulary) -> tuple[str, ...]:
    """What the runs measured, but for metrics that their workload does not name."""
    own = {response.name for response in words.responses}
    measured = dict.fromkeys(name for run in stored for name in run.responses)
    return tuple(name for name in measured if name in own or name not in METRICS)


def _declared_by(workload: str) -> Vocabulary:
    """What the names of a workload mean; nothing where it is not installed, as a colleague's may not be."""
    from sparkcast.workloads import WORKLOADS, vocabulary_of

    return vocabulary_of(WORKLOADS.get(workload)()) if workload in WORKLOADS.names() else Vocabulary()


def _by_name(dataset: Dataset, declared: Vocabulary) -> tuple[tuple[str, str], ...]:
    """What only the usual names told, for people to see."""
    words, told = dataset.vocabulary, declared.names
    settings = [
        (s.role.value, s.name) for s in words.settings if s.role is not Role.OTHER and s.name in dataset.factors
    ]
    responses = [(r.kind.value, r.name) for r in words.responses if r.kind is not Kind.OTHER]
    return tuple((role, name) for role, name in (*settings, *responses) if name not in told)


def stored_observations(study: Study) -> tuple[Observation, ...]:
    """The results that fit the study, ingested ones among them.

    --allow-changed may have kept some with other fixed settings in the store.
    """
    from sparkcast.data.ingest.observations import observations_beside
    from sparkcast.runs.reread import reread
    from sparkcast.store import results_place

    place = results_place(study)
    if not place.exists:
        return ()
    store = place.open()
    try:
        measured, ingested = reread(study, store, place.folder).runs, store.ingested(study.name)
    finally:
        store.close()
    later = {s.name: s.default for s in study.vocabulary.settings if s.is_later and s.default is not None}
    unrecorded = Configuration(later).without(*study.fixed, *(factor.name for factor in study.factors))
    fitting = tuple(run for run in measured if (unrecorded | _asked_of(run)).includes({**unrecorded, **study.fixed}))
    settings = (*(factor.name for factor in study.factors), *study.fixed)
    return observations_beside(fitting, ingested, settings, study.fixed)


def _asked_of(run: Observation) -> Configuration:
    """What the study asked for, where it could not control what the run got."""
    return run.requested if run.requested is not None and not run.leaves_open else run.configuration


def is_model_file(path: Path) -> bool:
    """Whether to read this as a model file: by how it begins, or by its name where it should be one."""
    if path.suffix.lower() == ".sparkcast":
        return True
    try:
        with path.open("rb") as file:
            begin = file.read(len(_MODEL_START))
    except OSError:
        return False
    is_archive = begin.startswith(b"PK\x03\x04")  # as older model files are
    if path.suffix.lower() in _WORKBOOKS or (is_archive and _is_workbook(path)):
        raise StudyError(
            f"{path.name} is a spreadsheet file, which sparkcast does not read",
            hint="save its sheet as CSV (File > Save As > CSV UTF-8) and use that",
        )
    return is_archive or begin == _MODEL_START


def _is_workbook(path: Path) -> bool:
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(path) as archive:
            return any(name in ("xl/workbook.xml", "content.xml") for name in archive.namelist())
    except (BadZipFile, OSError):
        return False
