"""The paper in small: its 2^(6-1) design with its cost, really run, and the optimum found in three ways."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from sparkcast import api
from sparkcast.api import Data
from sparkcast.replications import PaperPart, PartResult, Row, Section, show
from sparkcast.study import Dataset
from sparkcast_papers._local import absent, duration_rows, local_section, results_file
from sparkcast_papers.marinos2020 import PARTS, _printed

RUNS, OPTIMUM = "factorial.csv", "optimum.csv"
_COST = "cost"
_FORMULA = "executors + memory + sampling_rate + epochs * learning_rate * batch_size"
_NAMES = {"learning_rate": "lr", "batch_size": "batch"}  # ours and the paper's
_SETTINGS = ("executors", "memory", "sampling_rate", "epochs", "learning_rate", "batch_size")


@PARTS.register("local")
class Local(PaperPart):
    """The paper in small, from real runs: shares of the cost, and its optimum by recommend, tune and doubling."""

    def run(self, data: Path | None) -> PartResult:
        path = results_file("marinos2020", RUNS, data)
        if path is None:
            return absent(RUNS)
        measured = api.load_data(path)
        runs = measured.dataset
        checks = results_file("marinos2020", OPTIMUM, data)
        found = [] if checks is None else read_checks(checks)
        sections = (_shares(measured), *([_optima(runs, found)] if found else []))
        note = (
            f"in small: {len(runs.observations)} runs, one of each combination of the 2^(6-1) design instead of ten; "
            "500 or 1,000 images on one machine with two cores; memory and the amount of data stand in for nodes and "
            "cores per executor, and Adam for the paper's optimizer"
        )
        return PartResult(sections, notes=(note,), headlines=(_headline(found),) if found else ())


def _shares(data: Data) -> Section:
    runs = data.dataset
    plain = api.analyze(data, _COST, formula=_FORMULA, anova_type=1, transform="none")
    logged = api.analyze(data, _COST, formula=_FORMULA, anova_type=1, transform="log")
    rows = duration_rows(runs)
    for title, analysis in (("as measured", plain), ("logarithm", logged)):
        for term in analysis.rows:
            theirs = ":".join(_NAMES.get(name, name) for name in term.term.split(":"))
            printed = _printed.FIGURE_2.get(theirs, "").split()[-1:] if analysis is plain else []
            rows.append(show(theirs, f"% of the variation, {title}", term.percent, *printed))
        printed_r2 = f"{float(_printed.R_SQUARED_PERCENT) / 100:.2f}" if analysis is plain else ""
        rows.append(show("all terms", f"R², {title}", analysis.r_squared, printed_r2))
    best = min(runs.successful(_COST), key=lambda run: run.responses[_COST])
    rows.append(
        show(_shown(best.configuration), f"lowest cost of the {len(runs.observations)} runs", best.responses[_COST])
    )
    return local_section("Shares of the cost, type I", "Fig. 2", rows)


def read_checks(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _headline(checks: Sequence[dict[str, str]]) -> str:
    costs: dict[str, list[float]] = {}
    for check in checks:
        costs.setdefault(check["method"], []).append(float(check[_COST]))
    found = ", ".join(f"{method} {fmean(values):.5f}" for method, values in costs.items())
    return f"in small, really run: cost of the cheapest settings in new runs, by who found them: {found}"


def _optima(runs: Dataset, checks: Sequence[dict[str, str]]) -> Section:
    """What each method calls cheapest, what it expected, and what real runs of it cost."""
    rows: list[Row] = []
    measured: dict[str, float] = {}
    for method in dict.fromkeys(check["method"] for check in checks):
        own = [check for check in checks if check["method"] == method]
        costs = [float(check[_COST]) for check in own]
        measured[method] = fmean(costs)
        item = f"{method}: {_shown(own[0])}"
        printed = _printed.BEST_COST if method == "doubling" else ""
        rows.append(show(item, f"cost, mean of {len(costs)} new runs", measured[method], printed))
        rows.append(show(item, "cost it expected", float(own[0]["expected"])))
        rows.append(show(item, "runs it took to find", int(own[0]["runs"])))
    lowest = min(run.responses[_COST] for run in runs.successful(_COST))
    best = min(measured, key=measured.__getitem__)
    notes = (
        f"the cheapest in new runs is what {best} found, {measured[best]:.5f}; the lowest single run of the design "
        f"cost {lowest:.5f}",
        "recommend learns from the runs of the design; tune (guided) and doubling start from nothing. doubling "
        "varies the learning rate alone and may leave the levels of the design",
    )
    return local_section("The cheapest settings", "Section V", rows, notes)


def _shown(settings: Mapping[str, object]) -> str:
    return ", ".join(f"{_NAMES.get(name, name)}={settings[name]}" for name in _SETTINGS)
