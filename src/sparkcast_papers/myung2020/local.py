"""The paper in small: inference with a network on 1 %, 10 % and all of the images, really run."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from sparkcast import api
from sparkcast.replications import PaperPart, PartResult, Row, Section, show
from sparkcast.study import Configuration, Dataset
from sparkcast.validate import Validation
from sparkcast_papers._local import absent, duration_rows, local_section, results_file
from sparkcast_papers.myung2020 import PARTS
from sparkcast_papers.myung2020._tables import ACCURACY, TABLE_2, TABLE_5A, TABLE_5B, TABLE_6A

RUNS = "inference.csv"
_TIME = "work_s"
_PROTOCOL = "extrapolate:sampling_rate>0.1"  # learns from 1 % and 10 %, asked about all of it
_PRODUCT, _AUTO = "two-level-product", "auto"
_MODELS = (_PRODUCT, _AUTO, "scaling", "one-level", "median")
_PRINTED = f"{100 - fmean(map(float, ACCURACY['4-2'])):.1f}"  # mean error of the product model
_BAR = 10  # percent, mean error of auto


@PARTS.register("local")
class Local(PaperPart):
    """The paper in small, from real runs: all images from 1 % and 10 % of them; time per executors, cores and task."""

    def __init__(self, models: Sequence[str] = _MODELS) -> None:
        self._models = models

    def run(self, data: Path | None) -> PartResult:
        path = results_file("myung2020", RUNS, data)
        if path is None:
            return absent(RUNS)
        measured = api.load_data(path)
        runs = measured.dataset
        validation = api.validate(measured, _TIME, protocol=_PROTOCOL, models=self._models)
        sections = (_predicted(validation), _scaled(runs))
        return PartResult(sections, notes=(_difference(runs),), headlines=(_headline(validation),))


def _headline(validation: Validation) -> str:
    found = ", ".join(f"{card.model} {card.mape:.1f} %" for card in validation.scorecards)
    return (
        f"in small, really run: mean errors at 100 % of the images, learned from 1 % and 10 %: {found}; the paper's "
        f"product model {_PRINTED} % (goal for {_AUTO}: {_BAR} % or less)"
    )


def _predicted(validation: Validation) -> Section:
    printed = {_PRODUCT: _PRINTED}
    rows: list[Row] = []
    for card in validation.scorecards:
        rows.append(show(card.model, "mean error at SR = 100 %, %", card.mape, printed.get(card.model, "")))
        rows.append(show(card.model, "% of runs in the 90 % interval", 100 * card.coverage))
    if validation.noise_floor_mape is not None:
        rows.append(show("who knows the means", "mean error, %", validation.noise_floor_mape))
    found = {card.model: card.mape for card in validation.scorecards}
    notes = ["no run on all images was learned from", *(f"{name}: {why}" for name, why in validation.refused)]
    if _AUTO in found:
        verdict = "met" if found[_AUTO] <= _BAR else "missed"
        notes.append(f"the goal for auto is a mean error of {_BAR} % or less: {found[_AUTO]:.1f} %, {verdict}")
    return local_section("All images predicted from 1 % and 10 %", "section 6, scenario 4-2", rows, notes)


def _scaled(runs: Dataset) -> Section:
    """Means over groups that differ in one setting only, over the longest of each group, as in Tables 2 and 5."""
    rows = duration_rows(runs)
    for level, share in _shares(runs, "sampling_rate").items():
        percent = round(100 * float(level))  # type: ignore[arg-type]
        spreads = TABLE_2.get(percent)
        printed = f"{fmean(spread.mean for spread in spreads):.4f}" if spreads else "1"
        rows.append(show("Table 2", f"scaled time at {percent} %", share, printed))
    for name, number in (("cores", "5a"), ("executors", "5b")):
        for level, share in _shares(runs, name).items():
            rows.append(show(f"Table {number}", f"scaled time, {name} = {level}", share))
    rows += _per_task(runs)
    half = fmean(float(column[1]) for column in TABLE_5A)
    twice = fmean(float(column[1]) for column in TABLE_5B)
    notes = (
        f"the paper's twice as many cores (4 against 2) take {half:.2f} of the time, twice as many executors "
        f"{twice:.2f}: there each executor has a machine of its own, here all share one machine",
        f"the paper's tasks take {fmean(float(c[1]) / float(c[0]) for c in TABLE_6A):.2f} times as long with 4 cores "
        "as with 2",
    )
    return local_section("Scaled completion times", "Tables 2, 5 and 6", rows, notes)


def _shares(runs: Dataset, name: str) -> dict[object, float]:
    means = _means(runs)
    groups: dict[Configuration, dict[object, float]] = {}
    for configuration, value in means.items():
        groups.setdefault(configuration.without(name), {})[configuration[name]] = value
    levels = sorted({configuration[name] for configuration in means}, key=float)
    whole = [group for group in groups.values() if len(group) == len(levels)]
    return {level: fmean(group[level] / max(group.values()) for group in whole) for level in levels}


def _per_task(runs: Dataset) -> list[Row]:
    """A task's time: that of the run on every slot, over the tasks. Only where all slots have many tasks."""
    slot_s: dict[tuple[object, object], list[float]] = {}
    for configuration, value in _means(runs).items():
        if configuration["sampling_rate"] == 1:
            slots = float(configuration["executors"]) * float(configuration["cores"])
            slot_s.setdefault((configuration["executors"], configuration["cores"]), []).append(value * slots)
    longest = max(fmean(values) for values in slot_s.values())
    return [
        show("Table 6", f"scaled time of a task, {executors} x {cores} cores", fmean(values) / longest)
        for (executors, cores), values in sorted(slot_s.items(), key=str)
    ]


def _means(runs: Dataset) -> dict[Configuration, float]:
    found: dict[Configuration, list[float]] = {}
    for run in runs.successful(_TIME):
        found.setdefault(run.configuration.only(runs.factors), []).append(run.responses[_TIME])
    return {configuration: fmean(values) for configuration, values in found.items()}


def _difference(runs: Dataset) -> str:
    images = runs.observations[0].configuration.get("images", 0)
    return (
        f"in small: {images} generated images and MobileNetV2 on one machine with two cores; the paper had 200,000 "
        "photos, three larger networks and three machines with 2 to 8 cores per executor"
    )
