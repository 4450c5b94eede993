"""Each check is shown data that keep the assumption and data that break it, and must say which in words."""

import random
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import pandas as pd
import pytest
import scipy.stats

from sparkcast.analysis import Analysis, AssumptionCheck, CheckResult
from sparkcast.analysis.anova import analyze
from sparkcast.analysis.assumptions import bartlett, brown_forsythe
from sparkcast.study import Dataset, Level, Observation

CELLS = list(product((1, 2), (64, 128, 256)))


def runs(
    value: Callable[[int, int, random.Random], float], *, replicates: int = 4, seed: int = 0, shuffled: bool = True
) -> Dataset:
    generator = random.Random(seed)
    order = [(cell, replicate) for replicate in range(1, replicates + 1) for cell in CELLS]
    if shuffled:
        generator.shuffle(order)
    return Dataset(
        ("executors", "batch_size"),
        tuple(
            Observation(
                {"executors": e, "batch_size": b},
                {"time_s": value(e, b, generator)},
                replicate=replicate,
                position=position,
            )
            for position, ((e, b), replicate) in enumerate(order, start=1)
        ),
    )


def check(found: Analysis, name: str) -> AssumptionCheck:
    return next(c for c in found.checks if c.name == name)


def even(e: int, b: int, generator: random.Random) -> float:
    return 100 / e + b / 10 + generator.gauss(0, 1)


def test_well_behaved_runs_pass_every_check() -> None:
    found = analyze(runs(even), transform="none")
    assert {c.name: c.verdict for c in found.checks} == {
        "normality": CheckResult.HOLDS,
        "equal variance": CheckResult.HOLDS,
        "independence": CheckResult.HOLDS,
        "collinearity": CheckResult.HOLDS,
        "influence": CheckResult.HOLDS,
        "lack of fit": CheckResult.HOLDS,
    }
    assert all(not c.advice for c in found.checks)
    assert "no serious problem with" in found.summary[-1]


def test_residuals_that_are_not_normal_are_called_not_normal_and_robust_tests_stand_beside() -> None:
    found = analyze(runs(lambda e, b, g: 100 / e + g.expovariate(1) ** 3, replicates=10), transform="none")
    normality = check(found, "normality")
    assert normality.verdict is CheckResult.VIOLATED
    assert "are not normal" in normality.sentence
    assert "Shapiro-Wilk W = " in normality.sentence
    tested = [r for r in found.rows if r.p is not None]
    assert all(r.p_permutation is not None and r.p_robust is not None for r in tested)


def test_normal_residuals_need_no_permutations() -> None:
    assert all(r.p_permutation is None for r in analyze(runs(even), transform="none").rows)


def test_permutations_agree_with_f_where_f_is_right() -> None:
    """Skewed but many: the F test holds by then, and so both must say about the same."""
    data = runs(lambda e, b, g: 10 + 0.3 * e + g.lognormvariate(0, 0.5), replicates=40, seed=3)
    for row in analyze(data, transform="none").rows:
        if row.p is not None and row.p_permutation is not None:
            assert row.p_permutation == pytest.approx(row.p, abs=0.03)


def test_a_spread_that_grows_with_the_mean_leads_to_a_log_and_both_analyses_are_kept() -> None:
    found = analyze(runs(lambda e, b, g: 100 / e * b * g.lognormvariate(0, 0.3), replicates=8))
    assert found.transform == "log"
    assert found.formula.startswith("log(time_s) ~ ")
    assert found.proposal is not None
    assert found.proposal.low <= 0 <= found.proposal.high
    assert found.untransformed is not None
    assert found.untransformed.transform == "none"
    assert found.untransformed.r_squared < found.r_squared
    differ = check(found.untransformed, "equal variance")
    assert "variances differ" in differ.sentence
    assert "growing with the mean" in differ.sentence
    assert check(found, "equal variance").verdict is CheckResult.HOLDS


@pytest.mark.parametrize(("seed", "groups"), [(0, 2), (1, 5), (2, 9)])
def test_variance_tests_equal_those_of_scipy(seed: int, groups: int) -> None:
    generator = random.Random(seed)
    samples = [[generator.gauss(0, 1 + i) for _ in range(generator.randint(3, 9))] for i in range(groups)]
    table = pd.DataFrame([{"group": i, "value": v} for i, sample in enumerate(samples) for v in sample])
    assert brown_forsythe(table) == pytest.approx(scipy.stats.levene(*samples, center="median"))
    assert bartlett(table)[:2] == pytest.approx(scipy.stats.bartlett(*samples))


def test_a_setting_without_spread_does_not_swamp_bartlett() -> None:
    """Ten times 0.008 have a computed variance of 3e-36, whose logarithm alone would decide the test."""
    table = pd.DataFrame(
        {"group": [0] * 10 + [1] * 4 + [2] * 4, "value": [0.008] * 10 + [1.0, 2, 3, 4] + [1.0, 2, 3, 5]}
    )
    statistic, _, constant = bartlett(table)
    assert constant == 1
    assert statistic == pytest.approx(scipy.stats.bartlett([1.0, 2, 3, 4], [1.0, 2, 3, 5]).statistic)


def test_neighbors_in_time_that_resemble_each_other_are_seen() -> None:
    drift = {"level": 0.0}

    def drifting(e: int, b: int, generator: random.Random) -> float:
        drift["level"] = 0.9 * drift["level"] + generator.gauss(0, 1)
        return 100 / e + drift["level"]

    independence = check(analyze(runs(drifting, replicates=10), transform="none"), "independence")
    assert independence.verdict is CheckResult.VIOLATED
    assert "positively correlated" in independence.sentence


def test_a_table_sorted_by_setting_is_no_run_order() -> None:
    data = runs(even)
    ordered = sorted(data.observations, key=lambda o: (*o.configuration.values(), o.replicate))
    renumbered = [
        Observation(o.configuration, o.responses, replicate=o.replicate, position=i) for i, o in enumerate(ordered)
    ]
    independence = check(analyze(Dataset(data.factors, tuple(renumbered)), transform="none"), "independence")
    assert independence.verdict is CheckResult.UNKNOWN
    assert "sorted by configuration" in independence.sentence


def test_settings_that_nearly_always_change_together_are_collinear() -> None:
    generator = random.Random(1)
    pairs = [(i, i + 0.1 * generator.random()) for i in range(1, 30)]
    observations = tuple(
        Observation({"a": a, "b": b}, {"time_s": a + generator.gauss(0, 1)}, position=i)
        for i, (a, b) in enumerate(pairs)
    )
    collinear = check(analyze(Dataset(("a", "b"), observations), formula="a + b"), "collinearity")
    assert collinear.verdict is CheckResult.VIOLATED
    expected = 1 / (1 - scipy.stats.pearsonr([a for a, _ in pairs], [b for _, b in pairs]).statistic ** 2)
    assert collinear.statistic == pytest.approx(expected, rel=1e-6)


def test_a_single_run_that_decides_the_result_is_named() -> None:
    observations = [Observation({"a": 1 + i % 3}, {"time_s": float(i % 3)}, position=i + 1) for i in range(12)]
    observations.append(Observation({"a": 40}, {"time_s": 200.0}, position=99))
    influence = check(analyze(Dataset(("a",), tuple(observations)), formula="a", transform="none"), "influence")
    assert influence.verdict is CheckResult.VIOLATED
    assert "run 99" in influence.sentence


def test_what_a_straight_line_misses_is_lack_of_fit() -> None:
    data = runs(lambda e, b, g: {64: 1.0, 128: 9.0, 256: 2.0}[b] + g.gauss(0, 0.3))
    lack = check(analyze(data, formula="executors + batch_size", transform="none"), "lack of fit")
    assert lack.verdict is CheckResult.VIOLATED
    assert "C(batch_size)" in lack.advice
    levels = analyze(data, formula="executors * C(batch_size)", transform="none")
    assert check(levels, "lack of fit").verdict is CheckResult.HOLDS


def test_lack_of_fit_equals_the_textbook_f() -> None:
    """Pure error against the rest of the residual, by hand on numbers that are easy to follow."""
    cells: Mapping[int, tuple[float, ...]] = {1: (1, 3), 2: (4, 6), 3: (3, 5)}
    observations = tuple(Observation({"x": x}, {"time_s": float(v)}) for x, vs in cells.items() for v in vs)
    lack = check(analyze(Dataset(("x",), observations), formula="x", transform="none"), "lack of fit")
    # Means 2, 5, 4; line 5/3 + x; pure error 6 on 3 df; lack 2 * ((2/3)^2 + (4/3)^2 + (2/3)^2) = 16/3 on 1 df.
    assert lack.statistic == pytest.approx((16 / 3) / (6 / 3))


# --- warnings that need the order, the machine or the digits


def warned(data: Dataset, words: str, **options: Any) -> str:
    return next((w for w in analyze(data, **options).warnings if words in w), "")


def observed(values: list[tuple[dict[str, Level], float]], **more: Any) -> Dataset:
    return Dataset(
        tuple(values[0][0]),
        tuple(Observation(c, {"time_s": v}, position=i, **more) for i, (c, v) in enumerate(values, start=1)),
    )


def test_a_setting_that_was_changed_only_once_changes_with_time() -> None:
    generator = random.Random(2)
    halves: list[tuple[dict[str, Level], float]] = [
        ({"executors": 1 + (i >= 10), "batch_size": 64 * (1 + i % 2)}, 10 + generator.gauss(0, 1)) for i in range(20)
    ]
    assert "executors changes with time" in warned(observed(halves), "changes with time")
    assert not warned(runs(even), "changes with time")


def test_measurements_equal_to_all_digits_in_a_row_are_stale() -> None:
    generator = random.Random(2)
    values: list[tuple[dict[str, Level], float]] = [
        ({"a": 1 + i % 2}, 150 + round(generator.random(), 6)) for i in range(12)
    ]
    values[5] = (values[5][0], values[4][1])
    assert "row 6:" in warned(observed(values), "stale")
    rounded = [(c, round(v / 150, 2)) for c, v in values]
    rounded[0] = (rounded[0][0], 3.0)
    assert not warned(observed(rounded), "stale")


def test_a_repetition_that_goes_with_the_result_is_warm_up() -> None:
    cells = [(a, replicate) for replicate in range(1, 6) for a in (1, 2)]
    generator = random.Random(3)
    data = Dataset(
        ("a",),
        tuple(
            Observation({"a": a}, {"time_s": 10 * a + 5 / r + generator.gauss(0, 0.2)}, replicate=r, position=i)
            for i, (a, r) in enumerate(cells)
        ),
    )
    assert warned(data, "warm-up")
    repetition = next(r for r in analyze(data).regressions if not r.is_setting)
    assert repetition.variable == "repetition"
    assert repetition.r < 0


def test_an_outlier_is_named_by_its_row_and_noise_is_not() -> None:
    data = runs(even)
    observations = list(data.observations)
    spoilt = observations[7]
    observations[7] = Observation(
        spoilt.configuration, {"time_s": spoilt.responses["time_s"] + 30}, replicate=spoilt.replicate, position=8
    )
    assert "1 outlier" in warned(Dataset(data.factors, tuple(observations)), "outlier", transform="none")
    assert "row 8;" in warned(Dataset(data.factors, tuple(observations)), "outlier", transform="none")
    assert not warned(data, "outlier", transform="none")


def test_an_optimum_at_the_edge_of_what_was_tried_is_pointed_out() -> None:
    falling = runs(lambda e, b, g: 1000 / b + g.gauss(0, 0.1))
    assert "the best batch_size for time_s (256) is at the edge" in warned(falling, "edge", transform="none")
    inside = runs(lambda e, b, g: abs(b - 128) + g.gauss(5, 0.1))
    assert not warned(inside, "edge", transform="none")
