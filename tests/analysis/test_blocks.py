"""Runs that share a day, a block or a stretch of time must not count as independent."""

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from sparkcast import api
from sparkcast.analysis import Analysis, CheckResult
from sparkcast.analysis.anova import analyze
from sparkcast.analysis.blocks import is_sorted_by_settings
from sparkcast.study import Dataset, Observation

Order = Callable[[list[tuple[int, ...]]], object]


def null_study(seed: int, levels: Sequence[int], replicates: int, block_sd: float, *, label: str = "") -> Dataset:
    """No setting acts. The replicates of a configuration run one after the other, and share what the machine did."""
    draw = np.random.default_rng(seed)
    cells = list(product(*(range(1, n + 1) for n in levels)))
    draw.shuffle(cells)
    names = tuple(f"x{i}" for i in range(len(levels)))
    runs: list[Observation] = []
    for block, cell in enumerate(cells):
        shared = draw.normal(0, block_sd)
        for replicate in range(1, replicates + 1):
            time_s = 60 + shared + draw.normal(0, 1)
            labels = {label: f"b{block}"} if label else {}
            place = 0 if label else len(runs) + 1
            at = dict(zip(names, map(int, cell), strict=True))
            runs.append(Observation(at, {"time_s": time_s}, replicate=replicate, position=place, labels=labels))
    return Dataset(names, tuple(runs))


@pytest.mark.parametrize("label", ["", "block"])
@pytest.mark.parametrize(("levels", "replicates"), [((3, 3), 3), ((2, 2, 2), 3)])
def test_settings_that_do_nothing_hardly_ever_matter_though_replicates_share_a_block(
    levels: Sequence[int], replicates: int, label: str
) -> None:
    """It was half of such studies. A share of 5 % gives at most 6 of 40 in 99.7 % of all tests."""
    studies = 40
    found = [analyze(null_study(seed, levels, replicates, 2.0, label=label)) for seed in range(studies)]
    false = sum(any(verdict.matters for verdict in one.factors) for one in found)
    assert false <= binom.ppf(0.997, studies, 0.05)


def test_replicates_in_a_row_are_tested_like_the_whole_plots_of_a_split_plot() -> None:
    """In balanced runs the test is that of the means of the stretches: statsmodels on those is the reference."""
    data = null_study(3, (3, 3), 4, 2.0)
    found = analyze(data, formula="C(x0) + C(x1)", transform="none")
    frame = pd.DataFrame([{**o.configuration, **o.responses} for o in data.observations])
    means = frame.groupby(["x0", "x1"], as_index=False).mean()
    expected = anova_lm(ols("time_s ~ C(x0) + C(x1)", means).fit(), typ=2)["PR(>F)"]
    got = {row.term: row.p_blocks for row in found.rows if row.p is not None}
    assert got["x0"] == pytest.approx(expected["C(x0)"], rel=1e-6)
    assert got["x1"] == pytest.approx(expected["C(x1)"], rel=1e-6)


def test_settings_that_vary_within_blocks_are_tested_within_blocks() -> None:
    """Randomized complete blocks: the reference is a model with a term for the blocks."""
    draw = np.random.default_rng(2)
    rows = [
        {"x": x, "y": y, "day": f"d{day}", "time_s": 60 + x + 8 * np.sin(day) + draw.normal(0, 1)}
        for day in range(5)
        for x, y in draw.permutation(list(product((1, 2), (1, 2, 3)))).tolist()
    ]
    found = api.analyze(pd.DataFrame(rows), formula="x + C(y)", transform="none")
    expected = anova_lm(ols("time_s ~ x + C(y) + C(day)", pd.DataFrame(rows)).fit(), typ=2)["PR(>F)"]
    got = {row.term: row.p_blocks for row in found.rows if row.p is not None}
    assert got["x"] == pytest.approx(expected["x"], rel=1e-6)
    assert got["y"] == pytest.approx(expected["C(y)"], rel=1e-6)
    assert any("the same day" in warning for warning in found.warnings)


def _times(seed: int, place: Callable[[int], int]) -> Dataset:
    draw = np.random.default_rng(seed)
    cells = [(e, p) for e in (1, 2, 4) for p in (16, 64) for _ in range(3)]
    runs = [
        Observation({"executors": e, "partitions": p}, {"time_s": 100 / e + draw.normal(0, 1)}, position=place(i))
        for i, (e, p) in enumerate(cells)
    ]
    return Dataset(("executors", "partitions"), tuple(runs))


def test_runs_in_random_order_are_tested_as_ever() -> None:
    places = np.random.default_rng(0).permutation(18).tolist()
    found = analyze(_times(1, lambda i: places[i] + 1), transform="none")
    assert all(row.p_blocks is None for row in found.rows)
    assert not any("one after the other" in warning for warning in found.warnings)


def test_an_order_that_nobody_noted_is_no_stretch_of_replicates() -> None:
    assert all(row.p_blocks is None for row in analyze(_times(1, lambda i: 0), transform="none").rows)


def test_rows_that_are_only_sorted_count_as_random_where_a_column_tells_the_order() -> None:
    draw = np.random.default_rng(5)
    frame = pd.DataFrame(
        [{"executors": e, "minutes": 30 / e + draw.normal(0, 0.2)} for e in (1, 2, 4) for _ in range(4)]
    )
    assert any(row.p_blocks is not None for row in api.analyze(frame).rows)
    frame["position"] = draw.permutation(12) + 1
    assert all(row.p_blocks is None for row in api.analyze(frame).rows)


def sorted_table(folder: Path, *, shuffled: bool = False) -> api.Data:
    """A clear effect of both settings, three runs of each configuration in rows below each other."""
    draw = np.random.default_rng(3)
    cells = list(product((1, 2, 4), ("a", "b", "c")))
    if shuffled:
        draw.shuffle(cells)
    rows = [
        f"{n},{kind},{100 / int(n) + 4 * (kind == 'b') + draw.normal(0, 1):.3f}" for n, kind in cells for _ in range(3)
    ]
    (folder / "runs.csv").write_text("\n".join(["nodes,kind,time_s", *rows]) + "\n")
    return api.load_data(folder / "runs.csv")


def test_rows_sorted_by_the_settings_do_not_count_as_runs_in_a_row(tmp_path: Path) -> None:
    found = api.analyze(sorted_table(tmp_path))
    assert all(verdict.matters for verdict in found.factors)
    said = " ".join(found.warnings)
    assert "the rows are sorted by the settings, so their order is not taken for that of the runs" in said
    assert "in a row" not in said
    assert "changes with time" not in said


def test_rows_in_an_order_that_is_not_sorted_still_count_as_runs_in_a_row(tmp_path: Path) -> None:
    said = " ".join(api.analyze(sorted_table(tmp_path, shuffled=True)).warnings)
    assert "the rows are sorted" not in said
    assert "tests compare the 9 blocks, not the runs" in said


def test_too_few_configurations_to_look_sorted_by_more_than_chance_do_not(tmp_path: Path) -> None:
    runs = [
        Observation({"a": a, "b": b}, {"time_s": 1.0 * place}, replicate=1, position=place)
        for place, (a, b) in enumerate(product((1, 2), (1, 2)), start=1)
    ]
    assert not is_sorted_by_settings(runs)
    assert is_sorted_by_settings(
        [Observation({"n": n}, {"time_s": 1.0}, replicate=r, position=2 * n + r) for n in range(1, 6) for r in (0, 1)]
    )


def test_what_too_few_blocks_cannot_settle_is_not_called_without_effect() -> None:
    draw = np.random.default_rng(4)
    frame = pd.DataFrame(
        [{"machine": m, "time_s": t + draw.normal()} for m, t in (("a", 9), ("b", 9)) for _ in "12345"]
    )
    [verdict] = api.analyze(frame).factors
    assert verdict.matters is None
    assert "ran one after the other" in verdict.sentence


def _unequal(seed: int) -> Analysis:
    """No setting acts, but one configuration with few runs scatters ten times as much."""
    draw = np.random.default_rng(seed)
    cells = [(1, 1)] * 3 + [(1, 2)] * 12 + [(2, 1)] * 12 + [(2, 2)] * 12
    runs = [
        Observation({"a": a, "b": b}, {"time_s": 100 + draw.normal(0, 10 if (a, b) == (1, 1) else 1)}) for a, b in cells
    ]
    return analyze(Dataset(("a", "b"), tuple(runs)), transform="none")


def test_unequal_variances_do_not_make_settings_matter() -> None:
    found = [_unequal(seed) for seed in range(40)]
    seen = [
        one
        for one in found
        if any(c.name == "equal variance" and c.verdict is CheckResult.VIOLATED for c in one.checks)
    ]
    assert len(seen) > 30
    assert sum(any(row.p is not None and row.p < 0.05 / 3 for row in one.rows) for one in seen) > len(seen) / 3
    assert sum(any(verdict.matters for verdict in one.factors) for one in seen) <= len(seen) / 5
    assert "HC3" in seen[0].summary[-1]
