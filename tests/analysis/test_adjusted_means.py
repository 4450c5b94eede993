"""Level means are compared with all other settings equal; statsmodels' marginal means are the reference."""

import math
import random
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from patsy import build_design_matrices, dmatrix
from scipy.stats import studentized_range
from statsmodels.regression.linear_model import OLS

from sparkcast.analysis import Analysis, LevelMean
from sparkcast.analysis.anova import analyze
from sparkcast.report import figures
from sparkcast.report.figures.effects import main_effect_rows
from sparkcast.study import Dataset, Level, Observation

# How often each pair of settings was run: b mostly on the small data, so that its runs are short.
RUNS = {("a", 100): 2, ("a", 400): 8, ("b", 100): 8, ("b", 400): 2}
SLOWER_S = 5.35


def unbalanced() -> Dataset:
    noise = random.Random(11)
    return dataset(
        ("worker", "data_gb"),
        [
            ((worker, size), 20 + size / 10 + SLOWER_S * (worker == "b") + noise.gauss(0, 0.8))
            for (worker, size), n in RUNS.items()
            for _ in range(n)
        ],
    )


def dataset(factors: tuple[str, ...], runs: list[tuple[tuple[Level, ...], float]]) -> Dataset:
    return Dataset(
        factors,
        tuple(
            Observation(dict(zip(factors, levels, strict=True)), {"time_s": value})  # in an order that nobody noted
            for levels, value in runs
        ),
    )


def three_settings() -> Dataset:
    """Of very unequal numbers of runs, with interactions, a bend and a category of three levels."""
    noise = random.Random(3)
    runs: list[tuple[tuple[Level, ...], float]] = []
    for a, b, c in product((1, 2, 4), ("x", "y", "z"), (10, 20)):
        mean = 30 / a + {"x": 0, "y": 4, "z": 9}[b] * (1 + 0.3 * a) + c / 5
        runs += [((a, b, c), mean + noise.gauss(0, 1)) for _ in range(noise.choice((1, 1, 2, 5)))]
    return dataset(("a", "b", "c"), runs)


def mean_at(found: Analysis, factor: str, level: Level) -> LevelMean:
    return next(mean for mean in found.means if (mean.factor, mean.level) == (factor, level))


class Reference:
    """Marginal means by statsmodels: predictions at every combination of levels, averaged with equal weights."""

    def __init__(self, data: Dataset, formula: str) -> None:
        frame = pd.DataFrame([dict(o.configuration) for o in data.observations])
        columns = dmatrix(formula, frame)
        self.fit = OLS([o.responses["time_s"] for o in data.observations], np.asarray(columns)).fit()
        levels = [sorted(frame[name].unique()) for name in data.factors]
        self.grid = pd.DataFrame(list(product(*levels)), columns=list(data.factors))
        [matrix] = build_design_matrices([columns.design_info], self.grid)
        self.matrix = np.asarray(matrix)

    def row(self, **levels: Level) -> Any:
        kept = np.logical_and.reduce([self.grid[name] == level for name, level in levels.items()])
        return self.matrix[kept].mean(axis=0)

    def test(self, row: Any) -> Any:
        return self.fit.t_test(row)


def test_a_level_that_is_slower_is_called_slower_though_its_runs_were_shorter() -> None:
    data = unbalanced()
    plain = {
        level: [o.responses["time_s"] for o in data.observations if o.configuration["worker"] == level]
        for level in "ab"
    }
    assert np.mean(plain["b"]) < np.mean(plain["a"])  # what the plain means say
    found = analyze(data, transform="none")
    a, b = (mean_at(found, "worker", level) for level in "ab")
    assert b.mean - a.mean == pytest.approx(SLOWER_S, abs=1)
    [worker, _] = found.factors
    told = f"time_s is {a.mean:.4g} at a and {b.mean:.4g} at b, 1.1 times as much, all other settings equal"
    assert told in worker.sentence
    assert f"(raw means of the runs: {np.mean(plain['a']):.4g} and {np.mean(plain['b']):.4g})" in worker.sentence


@pytest.mark.parametrize(
    ("formula", "theirs"),
    [
        (None, "a + I(a**2) + C(b) + c + a:C(b) + a:c + C(b):c"),
        ("a + b + c", "a + C(b) + c"),
        ("C(a) * b + c", "C(a) * C(b) + c"),
    ],
)
def test_level_means_their_intervals_and_differences_are_the_marginal_means_of_statsmodels(
    formula: str | None, theirs: str
) -> None:
    data = three_settings()
    found = analyze(data, formula=formula, transform="none")
    reference = Reference(data, theirs)
    # A straight line through three levels is no mean of each: what it leaves is kept, as in no marginal mean.
    factors = ("b", "c") if formula == "a + b + c" else ("a", "b", "c")
    for mean in (mean for mean in found.means if mean.factor in factors):
        expected = reference.test(reference.row(**{mean.factor: mean.level}))
        assert mean.mean == pytest.approx(expected.effect[0], rel=1e-9)
        assert (mean.low, mean.high) == pytest.approx(tuple(expected.conf_int()[0]), rel=1e-9)
    count = {factor: sum(mean.factor == factor for mean in found.means) for factor in factors}
    for pair in (pair for pair in found.comparisons if pair.factor in factors):
        rows = [reference.row(**{pair.factor: level}) for level in (pair.other, pair.level)]
        expected = reference.test(rows[0] - rows[1])
        assert pair.difference == pytest.approx(expected.effect[0], rel=1e-9)
        q = abs(expected.tvalue.item()) * math.sqrt(2)
        assert pair.p == pytest.approx(studentized_range.sf(q, count[pair.factor], reference.fit.df_resid), abs=1e-9)


def test_means_of_pairs_of_levels_are_adjusted_for_the_other_settings() -> None:
    data = three_settings()
    reference = Reference(data, "C(a) * C(b) + c")
    found = analyze(data, formula="C(a) * b + c", transform="none")
    for cell in (cell for cell in found.cells if (cell.first, cell.second) == ("a", "b")):
        expected = reference.test(reference.row(a=cell.first_level, b=cell.second_level))
        assert cell.mean == pytest.approx(expected.effect[0], rel=1e-9)


def test_in_balanced_runs_the_means_are_the_plain_ones_and_nothing_is_said_of_it() -> None:
    noise = random.Random(1)
    cells = product((1, 2), (64, 128, 256, 512), range(2))  # four levels, of which a bend misses a part
    data = dataset(("executors", "batch_size"), [((e, b), 40 / e + 900 / b + noise.random()) for e, b, _ in cells])
    found = analyze(data, transform="none")
    for mean in found.means:
        own = [o.responses["time_s"] for o in data.observations if o.configuration[mean.factor] == mean.level]
        assert mean.mean == pytest.approx(np.mean(own), rel=1e-9)
        assert mean.raw is None
    assert all(cell.raw is None for cell in found.cells)
    assert "raw means" not in " ".join((*found.summary, *(v.sentence for v in found.factors)))
    assert all("raw" not in row for row in main_effect_rows(found))


def test_the_picture_of_level_means_shows_both_where_they_differ_and_says_which_is_which() -> None:
    found = analyze(unbalanced(), transform="none")
    drawn = figures.main_effects(found)
    assert drawn is not None
    assert "Points are adjusted means, with all other settings equal" in drawn.caption
    assert "Gray rings are raw means of the runs" in drawn.caption
    [a, b] = [row for row in drawn.rows if row["factor"] == "worker"]
    assert a["mean"] < b["mean"]  # type: ignore[operator]
    assert a["raw"] > b["raw"]  # type: ignore[operator]


def test_an_optimum_at_the_edge_is_judged_by_adjusted_means() -> None:
    """Eight workers were tried on the large data only, so that their runs took longest."""
    noise = random.Random(2)
    runs: list[tuple[tuple[Level, ...], float]] = [
        ((workers, size), size / 10 / workers**0.5 + noise.gauss(0, 0.3))
        for workers, size, n in ((2, 100, 6), (2, 400, 1), (4, 100, 3), (4, 400, 3), (8, 100, 1), (8, 400, 6))
        for _ in range(n)
    ]
    found = analyze(dataset(("workers", "data_gb"), runs), transform="log")
    assert any("the best workers for time_s (8) is at the edge" in warning for warning in found.warnings)
