"""What the library's way of testing hides, each shown on the public measurements."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from sparkcast.models import MODELS, Fitted
from sparkcast.models.gray_box import GrayBox
from sparkcast.replications import CorrectedFigure, Mistake, PaperPart, PartResult
from sparkcast.study import Dataset
from sparkcast.validate import make_protocol
from sparkcast_papers.polimi2019 import PARTS, _printed
from sparkcast_papers.polimi2019._cells import errors, new_hardware, physical
from sparkcast_papers.polimi2019._files import K_MEANS, POWER, RESPONSE, k_means, require
from sparkcast_papers.polimi2019._splits import SIZES, Split, case_split, conf_splits
from sparkcast_papers.polimi2019._techniques import SEEDS, TECHNIQUES, Tried, mape, try_technique

_SCALED = ("lasso", "SVR")  # trees do not care about scales
_STEP = 3  # every third value is asked
_TREES = 30
_STAGE = re.compile(r"_S\d+$")


@PARTS.register("mistakes")
class Mistakes(PaperPart):
    """What the library's way of testing hides: six mistakes, each with the numbers that show it."""

    def run(self, data: Path | None) -> PartResult:
        folder = require(data, K_MEANS, POWER)
        runs = k_means(folder)
        sizes = conf_splits(runs)
        tried = {
            split.title: {name: [try_technique(name, split, seed) for seed in SEEDS] for name in TECHNIQUES}
            for split in [*sizes, *(case_split(runs, size, 7, SEEDS[0]) for size in SIZES)]
        }
        return PartResult(
            (),
            (
                _leak(sizes, tried),
                _chosen_by_test(tried),
                _asked_minimum(runs),
                _replicates_apart(runs),
                _means_for_metrics(sizes),
                _new_hardware(folder),
            ),
        )


Table = dict[str, dict[str, list[Tried]]]


def _leak(splits: Sequence[Split], tried: Table) -> Mistake:
    figures = []
    for split in splits:
        for name in _SCALED:
            leaky = fmean(try_technique(name, split, seed, scale_with_test=True).asked for seed in SEEDS)
            right = fmean(one.asked for one in tried[split.title][name])
            figures.append(
                CorrectedFigure(
                    f"MAPE of {name}, {split.title}: scaled with all runs, with training runs only", leaky, right
                )
            )
    return Mistake(
        1,
        "Columns are standardized before the split.",
        "Means and standard deviations of the test runs, including their times, leak into the technique: it "
        "knows the range of the answers. Penalties and kernel widths act on that scale, so the reported error "
        "changes, in either direction. Compute scales from the training runs only.",
        tuple(figures),
    )


def _chosen_by_test(tried: Table) -> Mistake:
    reported, honest, figures = [], [], []
    for title, by_name in tried.items():
        for number in range(len(SEEDS)):
            ran = [results[number] for results in by_name.values()]
            reported.append(min(one.asked for one in ran))
            honest.append(min(ran, key=lambda one: one.chosen_by).asked)
        of_split = slice(-len(SEEDS), None)
        figures.append(
            CorrectedFigure(
                f"MAPE, {title}: best on the test runs, best in advance",
                fmean(reported[of_split]),
                fmean(honest[of_split]),
            )
        )
    return Mistake(
        2,
        "The technique with the smallest error on the test runs is the result, with that error.",
        "In practice you have to choose before you know the answer. The technique that is best on the "
        "validation runs need not be the best on the test runs, so the reported error is that of an oracle.",
        (*figures, CorrectedFigure("MAPE, mean of all", fmean(reported), fmean(honest))),
    )


def _asked_minimum(runs: Dataset) -> Mistake:
    """Every third number of cores from the smallest on is asked; beside it our own protocol."""
    figures = []
    for size in runs.levels("data_size"):
        some = replace(
            runs, observations=tuple(run for run in runs.observations if run.configuration["data_size"] == size)
        )
        cores = some.levels("cores")
        asked = set(cores[::_STEP])
        kept = tuple(run for run in some.observations if run.configuration["cores"] not in asked)
        fitted = MODELS.get("ernest")().fit(replace(some, observations=kept), RESPONSE)
        smallest = _mape(fitted, some, {cores[0]})
        figures.append(
            CorrectedFigure(
                f"MAPE of ernest, {size} units: at the smallest, inside",
                smallest,
                _mape(fitted, some, asked & set(cores[1:-1])),
            )
        )
    tested = {
        run.configuration["cores"]
        for split in make_protocol("interpolate:cores").splits(runs, RESPONSE)
        for run in split.test
    }
    ends = {runs.levels("cores")[0], runs.levels("cores")[-1]}
    return Mistake(
        3,
        "Interpolation: every h-th value, starting at the smallest, is tested.",
        "The smallest value has no training data below it: it is an extrapolation, so its error says nothing "
        "about interpolation, and with few cores it dominates the mean. validate `protocol='interpolate:cores'` "
        f"never tests the ends ({len(tested & ends)} of 2 here).",
        tuple(figures),
    )


def _mape(fitted: Fitted, runs: Dataset, cores: set[int | float | str]) -> float:
    import numpy as np

    asked = [run for run in runs.observations if run.configuration["cores"] in cores]
    return mape(
        np.array(fitted.predict([run.configuration for run in asked])),
        np.array([run.responses[RESPONSE] for run in asked]),
    )


def _replicates_apart(runs: Dataset) -> Mistake:
    """Case 0 as it was, and with all runs of a setting on one side."""
    figures = []
    for size in SIZES:
        apart, together = [], []
        for seed in SEEDS:
            split = case_split(runs, size, 0, seed)
            apart.append(try_technique("decision tree", split, seed).asked)
            together.append(try_technique("decision tree", _together(split, seed), seed).asked)
        figures.append(
            CorrectedFigure(
                f"MAPE of the decision tree, {size} units: runs held out, configurations held out",
                fmean(apart),
                fmean(together),
            )
        )
    return Mistake(
        4,
        "Case 0: a random fifth of the runs is tested, and a decision tree is best.",
        "Every configuration was run six times, so nearly all test runs have replicates in the training data: "
        "the tree looks them up. With all runs of a configuration on one side, its error is different. "
        "validate keeps replicates "
        "together.",
        tuple(figures),
    )


def _together(split: Split, seed: int) -> Split:
    """The runs of a split divided anew, by settings."""
    whole = replace(split.train, observations=(*split.train.observations, *split.test.observations))
    found = make_protocol("holdout:0.2", seed=seed).splits(whole, RESPONSE)[0]
    return replace(split, train=found.train, test=replace(whole, observations=found.test))


def _means_for_metrics(splits: Sequence[Split]) -> Mistake:
    figures = []
    for split in splits:
        train = _with_stages_only(split.train)
        means, laws = (
            _mape_of(GrayBox(replacement, trees=_TREES).fit(train, RESPONSE), split)
            for replacement in ("mean", "predict")
        )
        figures.append(CorrectedFigure(f"MAPE, {split.title}: means, laws of the settings", means, laws))
    return Mistake(
        5,
        "Gray box: metrics of stages, unknown before a run, are replaced with their training means.",
        "A forest learns to read the time from the metrics, and is then told that every run is average. "
        "Metrics predicted from the settings, each by its own law, show how runs differ. Both columns use "
        "the authors' metrics, those of stages; the forest is ours, without their grid.",
        tuple(figures),
    )


def _with_stages_only(runs: Dataset) -> Dataset:
    """The times of whole jobs nearly add up to the response, and were not among the authors' metrics."""
    kept = (
        replace(run, responses={n: v for n, v in run.responses.items() if n == RESPONSE or _STAGE.search(n)})
        for run in runs.observations
    )
    return replace(runs, observations=tuple(kept))


def _mape_of(fitted: Fitted, split: Split) -> float:
    return _mape(fitted, split.test, set(split.test.levels("cores")))


def _new_hardware(data: Path) -> Mistake:
    cells = list(new_hardware(data))
    found = [100 * float(errors(cell, physical(cell)).mean()) for cell in cells]
    return Mistake(
        6,
        "Exploitation of new hardware (a goal; a table without a caption has errors of 5 to 18 %).",
        "From the three slower cards, whose GFlops are known, the fastest cannot be predicted with these measurements: "
        "the work done per GFlop differs between cards. A run on the new card would be needed. sparkcast makes "
        "no claim here.",
        (
            *(
                CorrectedFigure(f"MAPE, {cell.name}", _number(_printed.NEW_HARDWARE.get(cell.name)), mape)
                for cell, mape in zip(cells, found, strict=True)
            ),
            CorrectedFigure("MAPE, mean", fmean(map(float, _printed.NEW_HARDWARE.values())), fmean(found)),
        ),
    )


def _number(printed: str | None) -> float | None:
    return None if printed is None else float(printed)
