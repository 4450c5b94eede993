"""linear, lasso, anova and decision-tree."""

import math
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.fitting.problem import Problem, pose
from sparkcast.models.anova import Anova
from sparkcast.models.decision_tree import DecisionTree
from sparkcast.models.lasso import Lasso
from sparkcast.models.linear import Linear
from sparkcast.study import Configuration, Dataset, Observation


def dataset(factors: tuple[str, ...], times: Mapping[Any, float], response: str = "time_s") -> Dataset:
    return Dataset(
        factors,
        tuple(Observation(dict(zip(factors, key, strict=True)), {response: t}) for key, t in times.items()),
        responses=(response,),
    )


def factorial(noise: float = 0.0) -> Dataset:
    """log time = 3 + 0.2 a - 0.1 b, and 0.5 more for `vgg`, whose slope in a is 0.3."""
    random = np.random.RandomState(0)
    return dataset(
        ("a", "b", "net"),
        {
            (a, b, net): math.exp(3 + 0.2 * a - 0.1 * b + (0.5 + 0.1 * a) * (net == "vgg") + noise * random.randn())
            for a, b, net in product((1, 2, 3, 4), (1, 5, 10), ("lenet5", "vgg"))
        },
    )


def test_linear_finds_the_coefficients_that_made_the_data() -> None:
    times = {(a, net): math.exp(1 + 0.25 * a + (net == "vgg")) for a in (1, 2, 4) for net in ("lenet5", "vgg")}
    fitted = Linear().fit(dataset(("a", "net"), times), "time_s")
    assert fitted.predict([{"a": 3, "net": "vgg"}]) == [pytest.approx(math.exp(2.75))]


def test_linear_without_logarithms_is_a_plane_that_never_falls_below_zero() -> None:
    fitted = Linear(log=False).fit(dataset(("a",), {(a,): 10.0 - 2 * a for a in (1, 2, 3, 4)}), "time_s")
    three, far = fitted.predict([{"a": 3}, {"a": 7}])
    assert three == pytest.approx(4)
    assert far == pytest.approx(2 / 1000)


def test_linear_weighs_configurations_by_their_replicates() -> None:
    runs = [*[(1, 1.0)] * 3, (2, 3.0), (3, 2.0), *[(4, 4.0)] * 2]
    data = Dataset(("a",), tuple(Observation({"a": a}, {"gain": g - 2.5}) for a, g in runs), responses=("gain",))
    slope, intercept = np.polyfit([a for a, _ in runs], [g - 2.5 for _, g in runs], 1)
    assert Linear().fit(data, "gain").predict([{"a": 3}]) == [pytest.approx(intercept + 3 * slope)]


def test_linear_says_how_many_configurations_it_needs() -> None:
    data = dataset(("a", "b", "c"), {(1, 1, 1): 1.0, (2, 1, 2): 2.0, (1, 2, 2): 3.0, (2, 2, 1): 4.0})
    with pytest.raises(NotEnoughDataError, match=r"linear needs 5 different configurations(.|\n)*there are only 4"):
        Linear().fit(data, "time_s")


def test_anova_of_a_full_factorial_has_every_interaction() -> None:
    at = Configuration({"a": 4, "b": 7, "net": "vgg"})
    expected = pytest.approx(math.exp(3 + 0.3 * 4 - 0.7 + 0.5))
    assert Anova().fit(factorial(), "time_s").predict([at]) == [expected]
    assert Linear().fit(factorial(), "time_s").predict([at]) != [expected]
    assert Anova(order=1).fit(factorial(), "time_s").predict([at]) != [expected]


def test_anova_agrees_with_least_squares_on_the_same_formula() -> None:
    import pandas as pd
    from statsmodels.formula.api import ols

    data = factorial(noise=0.1)
    rows = [{**o.configuration, "y": math.log(o.responses["time_s"])} for o in data.observations]
    reference = ols("y ~ a * b * net", pd.DataFrame(rows)).fit()
    [expected] = reference.predict(pd.DataFrame([{"a": 2.5, "b": 7, "net": "vgg"}]))
    predicted = Anova().fit(data, "time_s").predict([{"a": 2.5, "b": 7, "net": "vgg"}])
    assert predicted == [pytest.approx(math.exp(expected))]


def test_anova_drops_the_highest_interactions_when_runs_are_too_few() -> None:
    half = {(a, b, c, a * b * c): math.exp(a + b / 2 + c / 4 + a * b * c / 8) for a, b, c in product((-1, 1), repeat=3)}
    learned = Anova().learn(pose(dataset(("a", "b", "c", "d"), half), "time_s"))
    assert getattr(learned.points, "order", None) == 1  # two-factor interactions would take 11 columns of 8 runs


def test_anova_says_how_many_configurations_it_needs() -> None:
    data = dataset(("a", "b"), {(1, 1): 1.0, (2, 1): 2.0, (1, 2): 3.0})
    with pytest.raises(NotEnoughDataError, match=r"anova needs 4 different configurations(.|\n)*there are only 3"):
        Anova().fit(data, "time_s")


def lasso_problem() -> Problem:
    random = np.random.RandomState(3)
    times = {(float(a), float(b)): 5.0 - a + 0.1 * random.randn() for a, b in random.rand(20, 2).round(3)}
    return pose(dataset(("a", "b"), {key: t - 4.5 for key, t in times.items()}, "gain"), "gain")


def test_lasso_equals_that_of_scikit_learn_at_the_penalty_it_is_given() -> None:
    from sklearn.linear_model import Lasso as Reference

    problem = lasso_problem()
    x = np.column_stack([f(problem.x[:, j]) for j in (0, 1) for f in (np.array, np.log, np.reciprocal)])
    standard = (x - x.mean(axis=0)) / x.std(axis=0)
    reference = Reference(0.05, tol=1e-10, max_iter=100_000).fit(standard, problem.y)
    predicted = Lasso(alphas=(0.05,), degree=1).learn(problem).points(problem.x)
    assert predicted == pytest.approx(reference.predict(standard), abs=1e-5)


def test_lasso_leaves_out_what_does_not_matter() -> None:
    terms = getattr(Lasso(degree=1).learn(lasso_problem()).points, "terms", ())
    assert "a" in terms
    assert len(terms) < 6


def test_lasso_takes_products_only_when_they_help() -> None:
    times = {(a, b): math.exp(a * b / 20) for a in (1, 2, 3, 4, 5, 6) for b in (1, 2, 3, 4, 5, 6)}
    fitted = Lasso().fit(dataset(("a", "b"), times), "time_s")
    assert fitted.predict([{"a": 2.5, "b": 4.5}]) == [pytest.approx(math.exp(2.5 * 4.5 / 20), rel=0.05)]


def test_a_tree_gives_back_what_it_has_seen_and_settings_limit_it() -> None:
    data = factorial()
    own: list[Configuration] = [o.configuration for o in data.observations]
    times = [o.responses["time_s"] for o in data.observations]
    assert DecisionTree().fit(data, "time_s").predict(own) == pytest.approx(times)
    assert len(set(DecisionTree(depth=1).fit(data, "time_s").predict(own))) == 2
    assert len(set(DecisionTree(leaf=0.3).fit(data, "time_s").predict(own))) <= 3


@pytest.mark.parametrize(
    ("make", "words"), [(lambda: Linear(select=-1), "=-1"), (lambda: Anova(order=0), "order of 0")]
)
def test_settings_that_cannot_be_are_refused(make: object, words: str) -> None:
    assert callable(make)
    with pytest.raises(StudyError, match=words):
        make()
