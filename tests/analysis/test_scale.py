"""The scale of a positive response is always looked at, whether or not a check complains."""

import random
from itertools import product

import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.diagnostic import het_breuschpagan

from sparkcast.analysis import Analysis, AssumptionCheck, CheckResult, FactorVerdict
from sparkcast.analysis.anova import analyze
from sparkcast.analysis.assumptions import breusch_pagan
from sparkcast.analysis.estimable import CodedRuns, written_model
from sparkcast.analysis.fit import DesignMatrix, Fit
from sparkcast.analysis.scale import PowerScale, propose
from sparkcast.study import Dataset, Level, Observation

# 28 runs of 4 to 175 minutes on settings that were chosen at random: 2 * data_gb^0.9 / workers^0.7, 1.7 times less on
# workers for computing, with 5 % of noise.
MINUTES = {
    (20, 2, "general"): (17.8, 18.8, 18.5),
    (20, 4, "compute"): (6.9,),
    (20, 8, "compute"): (4.1,),
    (20, 8, "general"): (6.6, 6.3),
    (80, 2, "compute"): (35.8,),
    (80, 2, "general"): (64.3, 60.2),
    (80, 4, "compute"): (24.6,),
    (80, 8, "compute"): (12.6, 13.1, 13.6, 13.3, 13.1, 13.8, 14.7),
    (80, 8, "general"): (24.7, 23.4, 25.5),
    (240, 2, "general"): (175.1,),
    (240, 4, "general"): (100.5, 103.8, 103.9, 107.6, 105.0),
    (240, 8, "general"): (63.8,),
}


def workers() -> Dataset:
    names = ("data_gb", "workers", "worker_type")
    runs = [(levels, value) for levels, values in MINUTES.items() for value in values]
    return Dataset(
        names,
        tuple(Observation(dict(zip(names, levels, strict=True)), {"minutes": value}) for levels, value in runs),
        responses=("minutes",),
    )


def verdict(found: Analysis, factor: str) -> FactorVerdict:
    return next(verdict for verdict in found.factors if verdict.factor == factor)


def check(found: Analysis, name: str) -> AssumptionCheck:
    return next(c for c in found.checks if c.name == name)


def one_factor(values: dict[int, list[float]]) -> Dataset:
    return Dataset(
        ("a",), tuple(Observation({"a": a}, {"time_s": value}) for a, own in values.items() for value in own)
    )


def test_a_worker_type_1_7_times_faster_is_seen_without_any_flag() -> None:
    data = workers()
    assert len(data.observations) == 28
    measured = analyze(data, "minutes", transform="none")
    assert not verdict(measured, "worker_type").matters  # what hid it
    found = analyze(data, "minutes")
    assert found.transform == "log"
    assert found.untransformed is not None
    assert found.untransformed.rows == measured.rows
    assert verdict(found, "worker_type").matters
    [effect] = [effect for effect in found.effects if effect.term == "worker_type"]
    assert effect.ratio == pytest.approx(1 / 1.7, rel=0.1)  # from general to compute
    assert found.r_squared > 0.99


def test_box_cox_speaks_of_every_positive_response_and_of_no_other() -> None:
    for transform in ("auto", "none", "log", "boxcox"):
        assert analyze(workers(), "minutes", transform=transform).proposal is not None
    below = Dataset(("a",), tuple(Observation({"a": i % 2}, {"x": float(i % 5 - 2)}) for i in range(12)))
    assert analyze(below, "x").proposal is None


def test_of_well_behaved_runs_box_cox_rules_out_the_own_scale_in_one_of_twenty_however_few_they_are() -> None:
    """The likelihood of Box and Cox counts degrees of freedom; counting the 12 runs, twice as many are ruled out."""
    generator = np.random.default_rng(0)
    group = np.repeat(np.arange(4), 3)
    within = np.eye(12) - (group[:, None] == group) / 3  # what four means leave of a response
    ruled_out = 0
    for _ in range(400):
        values = 100 + 20 * group + generator.normal(0, 10, size=12)
        proposal = propose("time_s", values, lambda y: float(((within @ y) ** 2).sum()), 8)
        assert proposal is not None
        ruled_out += proposal.rules_out_none
    assert ruled_out <= 35  # 20 expected; 35 is the 99.9 % point of a binomial


def test_the_power_of_box_and_cox_is_that_of_scipy_for_one_group() -> None:
    """Of one sample the model is a mean, and the likelihood that of scipy up to its count of observations."""
    sample = np.random.default_rng(1).lognormal(2, 0.4, size=60)
    data = one_factor({0: list(sample[:30]), 1: list(sample[30:])})
    proposal = analyze(data, transform="none").proposal
    assert proposal is not None
    assert proposal.power == pytest.approx(scipy.stats.boxcox_normmax(sample, method="mle"), abs=0.15)
    assert proposal.low < proposal.power < proposal.high


# --- equal spread without triplicates


@pytest.mark.parametrize("seed", range(5))
def test_the_test_of_spread_along_the_prediction_is_that_of_statsmodels(seed: int) -> None:
    generator = np.random.default_rng(seed)
    data = one_factor({a: list(a + a * generator.normal(size=2)) for a in range(1, 12)})
    runs = CodedRuns.of(("a",), data.observations)
    response = np.array([o.responses["time_s"] for o in data.observations])
    fit = Fit(DesignMatrix(runs, written_model(runs, "a", "time_s")), PowerScale("time_s"), response)
    exog = np.column_stack([np.ones(len(response)), fit.fitted])
    _, _, statistic, p = het_breuschpagan(fit.residuals, exog)
    found = breusch_pagan(fit)
    assert (found.statistic, found.p) == pytest.approx((statistic, p), rel=1e-8)


def spreading(replicates: int, *, triplicates: int = 0) -> Dataset:
    """A time whose spread grows with it, by ten levels."""
    noise = random.Random(4)
    values = {
        a: [10 * a + 2 * a * noise.gauss(0, 1) for _ in range(3 if a <= triplicates else replicates)]
        for a in range(1, 13)
    }
    return one_factor(values)


def test_a_spread_that_grows_is_seen_without_three_runs_of_any_setting() -> None:
    found = check(analyze(spreading(2), transform="none"), "equal variance")
    assert found.test == "Breusch-Pagan"
    assert found.verdict is CheckResult.VIOLATED
    assert "the variance grows with the prediction (Breusch-Pagan F = " in found.sentence


def test_no_setting_was_run_three_times_is_said_only_where_it_is_true() -> None:
    for triplicates, words in (
        (0, "no configuration was run three times"),
        (1, "only one configuration was run three times"),
    ):
        told = check(analyze(spreading(2, triplicates=triplicates), transform="none"), "equal variance").sentence
        assert words in told
    told = check(analyze(spreading(2, triplicates=4), transform="none"), "equal variance").sentence
    assert "three times" not in told
    assert "Brown-Forsythe" in told
    assert "Breusch-Pagan" in told


# --- hints name what was not done already


def test_a_hint_never_proposes_a_scale_that_was_taken_already() -> None:
    noise = random.Random(2)
    # On no scale of Box and Cox even: the spread is largest in the middle.
    cells = product(range(1, 13), range(2))
    wild = [(a, 20 * a * noise.lognormvariate(0, 0.02 if a % 12 < 8 else 0.6)) for a, _ in cells]
    data = one_factor({a: [value for b, value in wild if b == a] for a in range(1, 13)})
    advice = {t: " ".join(c.advice for c in analyze(data, transform=t).checks) for t in ("none", "log", "boxcox")}
    assert "robust" in advice["log"]
    assert "transform" not in advice["log"]
    assert "transform" not in advice["boxcox"]
    asked = analyze(workers(), "minutes", transform="none")
    assert "`transform='log'`" in " ".join(c.advice for c in asked.checks)
    done = analyze(workers(), "minutes").untransformed
    assert done is not None
    assert "transform" not in " ".join(c.advice for c in done.checks)


def test_a_lack_of_fit_is_answered_with_terms_that_the_model_lacks_and_the_runs_can_tell() -> None:
    noise = random.Random(1)
    level = {1: 0.0, 2: 9.0, 3: 1.0, 4: 7.0}
    runs: list[tuple[Level, Level, float]] = [
        (a, b, level[a] + 3 * b * (a == 2) + noise.gauss(0, 0.2)) for a, b, _ in product(level, (0, 1), range(3))
    ]
    data = Dataset(("a", "b"), tuple(Observation({"a": a, "b": b}, {"x": y}) for a, b, y in runs))
    assert check(analyze(data, "x"), "lack of fit").advice == "add C(a) to the model with `formula=`"
    lack = check(analyze(data, "x", formula="C(a) + b"), "lack of fit")
    assert lack.advice == "add a:b to the model with `formula=`"
    assert check(analyze(data, "x", formula="C(a) * b"), "lack of fit").advice == ""
