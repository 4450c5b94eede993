"""The slides in small: algorithms of MLlib and queries of TPC-DS by data size, executors and cores, really run."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from sparkcast import api
from sparkcast.api import Data
from sparkcast.errors import SparkcastError
from sparkcast.replications import PaperPart, PartResult, Row, Section, show
from sparkcast.study import Dataset
from sparkcast_papers._local import absent, duration_rows, local_section, results_file
from sparkcast_papers.polimi2019 import PARTS

# A table of runs, and the setting that is its data size.
STUDIES = {
    "kmeans.csv": "rows",
    "linear-regression.csv": "rows",
    "logistic-regression.csv": "rows",
    "random-forest.csv": "rows",
    "tpcds.csv": "scale",
}
# The slides' techniques, the reference they use, and ours.
_MODELS = ("decision-tree", "lasso", "mlp", "random-forest", "svr", "ernest", "auto")
_TIME = "work_s"


@PARTS.register("local")
class Local(PaperPart):
    """The slides in small, from real runs: times of MLlib and TPC-DS, and their predictions at sizes never run."""

    def __init__(self, models: Sequence[str] = _MODELS) -> None:
        self._models = models

    def run(self, data: Path | None) -> PartResult:
        found = {name: results_file("polimi2019", name, data) for name in STUDIES}
        paths = {name: path for name, path in found.items() if path is not None}
        if not paths:
            return absent(next(iter(STUDIES)))
        sections: list[Section] = []
        headlines: list[str] = []
        for name, path in paths.items():
            measured = api.load_data(path)
            errors = _errors(path.stem, measured, STUDIES[name], self._models)
            sections += [_times(path.stem, measured.dataset), errors]
            headlines.append(_headline(path, errors))
        note = (
            "in small: two cores of one machine and at most 2 GB of data, one run of each combination; the slides had "
            "250 to 1,000 GB on 6 to 48 cores. Their errors on TPC-DS at 1 TB go from 0.7 % (case 0, runs left out) to "
            "45 % (sparse cores)"
        )
        return PartResult(tuple(sections), notes=(note,), headlines=tuple(headlines))


def _headline(path: Path, errors: Section) -> str:
    """The mean error of every model over the questions."""
    by_model: dict[str, list[float]] = {}
    for row in errors.rows:
        by_model.setdefault(row.quantity.split(":")[0], []).append(row.ours or 0.0)
    found = sorted((fmean(values), model) for model, values in by_model.items())
    shown = ", ".join(f"{model} {error:.0f} %" for error, model in found)
    return f"in small, really run: {path.stem}, mean errors over sizes and combinations never run: {shown}"


def _times(name: str, runs: Dataset) -> Section:
    """The profile: every measured time."""
    rows = duration_rows(runs)
    order = {name: runs.levels(name) for name in runs.factors}
    for run in sorted(
        runs.successful(_TIME), key=lambda run: [order[name].index(run.configuration[name]) for name in runs.factors]
    ):
        levels = ", ".join(f"{factor}={run.configuration[factor]}" for factor in runs.factors)
        rows.append(show(levels, "seconds", run.responses[_TIME]))
    return local_section(f"{name}: times", "the slides", rows)


def _errors(name: str, data: Data, size: str, models: Sequence[str]) -> Section:
    """The slides' Conf 4 to 6, and combinations never run."""
    small, middle, large = (f"{level:.12g}" for level in map(float, data.dataset.levels(size)))
    protocols = {
        "combinations never run": "kfold:3",
        f"Conf 4: {small}+{middle} → {large}": f"cases:{size}={small}+{middle}|{large}",
        f"Conf 5: {small}+{large} → {middle}": f"cases:{size}={small}+{large}|{middle}",
        f"Conf 6: {middle}+{large} → {small}": f"cases:{size}={middle}+{large}|{small}",
    }
    rows: list[Row] = []
    notes: list[str] = []
    for title, protocol in protocols.items():
        try:
            validation = api.validate(data, _TIME, protocol=protocol, models=models)
        except SparkcastError as error:
            notes.append(f"{title}: {error}")
            continue
        for card in validation.scorecards:
            rows.append(show(title, f"{card.model}: mean error, %", card.mape))
        notes += [f"{title}: {model}: {why}" for model, why in validation.refused]
    return local_section(f"{name}: errors of predicted times", "the slides", rows, notes)
