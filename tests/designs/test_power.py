import numpy as np
import pytest
from statsmodels.stats.power import FTestAnovaPower, TTestIndPower

from sparkcast.analysis.estimable import CodedRuns, default_model
from sparkcast.analysis.fit import DesignMatrix, Fit, anova_rows
from sparkcast.analysis.scale import PowerScale
from sparkcast.designs import make_plan
from sparkcast.designs.describe import describe
from sparkcast.designs.power import f_test_power, plan_power
from sparkcast.study import Configuration, DesignChoice, Expression, Factor, Observation, Study


def configurations(study: Study) -> list[Configuration]:
    return [t.configuration for t in make_plan(study).trials]


@pytest.mark.parametrize("replicates", [4, 10, 25])
@pytest.mark.parametrize("size", [0.5, 1.0, 2.0])
def test_one_factor_of_two_levels_has_the_power_of_the_t_test(replicates: int, size: float) -> None:
    study = Study("s", "pi", (Factor("a", (1, 2)),), design=DesignChoice(replicates=replicates))
    [effect] = plan_power(study, configurations(study), replicates, size).effects
    # statsmodels' power of the t test for two independent samples, which is tested against R's pwr.
    assert effect.power == pytest.approx(TTestIndPower().power(size, replicates, 0.05), abs=1e-6)


@pytest.mark.parametrize("levels", [3, 4, 5])
def test_one_category_has_the_power_of_the_analysis_of_variance(levels: int) -> None:
    study = Study("s", "pi", (Factor("a", tuple("vwxyz"[:levels])),), design=DesignChoice(replicates=6))
    [effect] = plan_power(study, configurations(study), 6, 1.5).effects
    # Two levels 1.5 sd apart and the others between them: Cohen's f is 1.5 * sqrt(1 / (2 levels)).
    f = 1.5 * (1 / (2 * levels)) ** 0.5
    assert effect.power == pytest.approx(FTestAnovaPower().power(f, 6 * levels, 0.05, k_groups=levels), abs=1e-6)


def test_montgomery_s_example_of_the_number_of_replicates_is_reproduced() -> None:
    # Montgomery, Design and Analysis of Experiments, the plasma etching example on choosing the sample size: four
    # levels, means 575, 600, 650, 675, sigma 25, level 0.01: n = 3 has power about 0.75, n = 4 more than 0.9.
    squares = sum((mean - 625) ** 2 for mean in (575, 600, 650, 675))
    assert f_test_power(3 * squares / 25**2, 3, 8, alpha=0.01) == pytest.approx(0.75, abs=0.02)
    assert f_test_power(4 * squares / 25**2, 3, 12, alpha=0.01) > 0.9


def test_a_two_level_factorial_sees_main_effects_and_interactions_alike() -> None:
    study = Study("s", "pi", tuple(Factor(n, (1, 2)) for n in "abc"), design=DesignChoice(replicates=2))
    power = plan_power(study, configurations(study), 2)
    assert power.residual_df == 16 - 7
    assert len({round(effect.power, 9) for effect in power.effects}) == 1
    # A t test with 16 runs, 9 degrees of freedom and noncentrality sqrt(16) / 2.
    assert power.effects[0].power == pytest.approx(f_test_power(4.0, 1, 9), abs=1e-9)


def test_a_saturated_design_without_replicates_has_no_power_and_says_why() -> None:
    factors = tuple(Factor(n, (1, 2)) for n in "abcdefg")
    study = Study("s", "pi", factors, design=DesignChoice("fractional", options={"resolution": 3}))
    power = describe(study, make_plan(study)).power
    assert power.effects == ()
    assert "8 runs leave no degrees of freedom to estimate the noise" in power.reason
    assert power.replicates_for["0.8"] == 5
    assert {point.replicates for point in power.curve} == {2, 3, 5}


@pytest.mark.parametrize(("k", "runs", "df"), [(5, 16, 3), (5, 8, 2), (6, 8, 1)])
def test_a_saturated_fraction_has_the_power_of_what_stays_in_the_model_and_names_what_does_not(
    k: int, runs: int, df: int
) -> None:
    """By simulation, with the model that `analyze` then fits: two standard deviations from low to high."""
    factors = tuple(Factor(n, (1, 2)) for n in "abcdef"[:k])
    study = Study("s", "pi", factors, design=DesignChoice("fractional", options={"runs": runs}))
    power = describe(study, make_plan(study), effect_sd=2.0).power
    assert (power.whole_df, power.residual_df) == (0, df)  # every run is used up by an effect that can be told apart
    assert len(power.left_out) == df
    planned = configurations(study)
    observed = CodedRuns.of([f.name for f in factors], [Observation(c, {}) for c in planned])
    notes: list[str] = []
    model = DesignMatrix(observed, default_model(observed, notes))
    assert {effect.effect for effect in power.effects} == set(model.terms)
    assert any(f"too few runs to estimate {', '.join(power.left_out)}; left out" in note for note in notes)
    generator = np.random.default_rng(1)
    effect = np.array([2.0 * (c["a"] == 2) for c in planned])
    found = 0
    for _ in range(600):
        fit = Fit(model, PowerScale("time_s"), effect + generator.normal(size=runs))
        found += next(row.p or 1.0 for row in anova_rows(fit, 2) if row.term == "a") < 0.05
    [expected] = [e.power for e in power.effects if e.effect == "a"]
    assert found / 600 == pytest.approx(expected, abs=0.062)  # three standard errors


def test_nothing_is_left_out_where_replicates_tell_the_noise() -> None:
    factors = tuple(Factor(n, (1, 2)) for n in "abcde")
    study = Study("s", "pi", factors, design=DesignChoice("fractional", replicates=2, options={"runs": 16}))
    power = describe(study, make_plan(study)).power
    assert (power.left_out, power.whole_df, power.residual_df) == ((), 16, 16)


def test_more_replicates_never_have_less_power_and_enough_of_them_reach_the_goal() -> None:
    factors = (Factor("a", (1, 2, 4)), Factor("n", ("x", "y", "z")), Factor("b", (1, 2)))
    study = Study("s", "pi", factors)
    once = configurations(study)
    power = plan_power(study, once, 1, 0.8)
    for size in (0.5, 1.0, 2.0):
        curve = [p.power for p in power.curve if p.effect_sd == size]
        assert curve == sorted(curve)
    needed = power.replicates_for["0.9"]
    assert needed is not None
    enough = plan_power(study, once * needed, needed, 0.8).lowest("main effect")
    fewer = plan_power(study, once * (needed - 1), needed - 1, 0.8).lowest("main effect")
    assert enough is not None
    assert fewer is not None
    assert fewer < 0.9 <= enough


def test_the_curve_of_the_plan_meets_its_power() -> None:
    study = Study("s", "pi", (Factor("a", (1, 2)), Factor("b", (1, 2, 3))), design=DesignChoice(replicates=4))
    power = plan_power(study, configurations(study), 4, 1.0)
    [point] = [p for p in power.curve if p.replicates == 4 and p.effect_sd == 1.0]
    assert point.power == pytest.approx(power.lowest("main effect"))


def test_the_power_is_how_often_the_analysis_finds_the_effect() -> None:
    """Of an unbalanced plan, by simulation with the model and the type of test that `analyze` uses by default."""
    factors = (Factor("executors", (1, 2, 4)), Factor("batch_size", (64, 128, 256)), Factor("cores", (1, 2)))
    rules = (Expression("executors * cores <= 4"),)
    study = Study("s", "pi", factors, rules=rules, design=DesignChoice(replicates=2))
    planned = configurations(study)
    expected = {e.effect: e.power for e in plan_power(study, planned, 2, 1.0).effects}
    runs = CodedRuns.of([f.name for f in factors], [Observation(c, {}) for c in planned])
    model = DesignMatrix(runs, default_model(runs, []))
    assert set(expected) == {term for term in model.terms if not term.endswith("^2")}
    trend = {1: 0.0, 2: 1 / 3, 4: 1.0}
    effect = np.array([trend[int(c["executors"])] for c in planned])  # one standard deviation, low to high
    generator = np.random.default_rng(0)
    found = 0
    for _ in range(400):
        fit = Fit(model, PowerScale("time_s"), effect + generator.normal(size=len(effect)))
        found += next(row.p or 1.0 for row in anova_rows(fit, 2) if row.term == "executors") < 0.05
    assert found / 400 == pytest.approx(expected["executors"], abs=0.075)  # three standard errors
