"""Leave-one-out without refitting: every shortcut must give what fitting once per row gives."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, Ridge
from sklearn.neural_network import MLPRegressor

from sparkcast_papers.myung2020 import _forests, _lines, _networks

ALPHAS = (1e-15, 1e-8, 1e-3, 1.0, 20.0)


def _data(rows: int = 16, columns: int = 3, seed: int = 0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    x = random.random((rows, columns)) * np.array([10.0, 1.0, 100.0, 3.0, 0.1])[:columns]
    return x, x @ random.normal(size=columns) * 30 + random.normal(size=rows) + 50


def _refitted(model: Any, x: Any, y: Any, alpha: float) -> Any:
    kept = [np.delete(np.arange(len(y)), i) for i in range(len(y))]
    return np.array([_fitted(model, x[k], y[k], alpha).predict(x[i : i + 1])[0] for i, k in enumerate(kept)])


def _fitted(model: Any, x: Any, y: Any, alpha: float) -> Any:
    with warnings.catch_warnings():
        # With almost no penalty scikit-learn reaches the solution but not a duality gap that proves it.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.set_params(alpha=alpha).fit(x, y)


def _exact_lasso() -> Lasso:
    return Lasso(tol=1e-13, max_iter=100_000)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("columns", [1, 3])
def test_ridge_by_the_hat_matrix_is_ridge_fitted_once_per_row(columns: int, alpha: float) -> None:
    x, y = _data(columns=columns)
    assert _lines.ridge_loo(x, y, [alpha])[0] == pytest.approx(_refitted(Ridge(), x, y, alpha), abs=1e-8)


def test_ridge_survives_a_row_that_alone_decides_a_slope() -> None:
    x, y = _data()
    x[:, 1] = 0
    x[4, 1] = 1
    found = _lines.ridge_loo(x, y, [1e-15, 1.0])
    assert found[0][4] == pytest.approx(_lines.ridge_loo(x[:, [0, 2]], y, [1e-15])[0][4], abs=1e-6)
    assert found[1] == pytest.approx(_refitted(Ridge(), x, y, 1.0), abs=1e-8)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_lasso_for_all_folds_at_once_is_lasso_fitted_once_per_row(alpha: float) -> None:
    x, y = _data()
    y[3] += 200  # so that slopes vanish in some folds only
    found = _lines.lasso_loo(x, y, ALPHAS)[ALPHAS.index(alpha)]
    expected = _refitted(_exact_lasso(), x, y, alpha)
    assert found == pytest.approx(expected, abs=1e-6)
    assert _lines.mean_squared_errors(found, y) == pytest.approx(((expected - y) ** 2).mean(), rel=1e-6)


def test_lasso_settles_columns_that_follow_each_other() -> None:
    x, y = _data()
    x[:, 2] = 2 * x[:, 0] + 1e-3 * x[:, 1]
    gram, moment = _centered(x, y)
    for alpha, slopes in zip(ALPHAS, _lines.lasso(x, y, ALPHAS).slopes, strict=True):
        pull = moment - gram @ slopes
        penalty = len(y) * alpha
        assert (np.abs(pull) <= penalty + 1e-6).all()
        assert pull[slopes != 0] == pytest.approx(penalty * np.sign(slopes[slopes != 0]), abs=1e-6)


def _centered(x: Any, y: Any) -> tuple[Any, Any]:
    centered = x - x.mean(axis=0)
    return centered.T @ centered, centered.T @ (y - y.mean())


def test_a_column_that_is_constant_without_a_row_gets_no_slope_there() -> None:
    x, y = _data()
    x[:, 1] = 0
    x[4, 1] = 1
    found = _lines.lasso_loo(x, y, [1e-3])[0]
    assert found[4] == pytest.approx(_lines.lasso_loo(x[:, [0, 2]], y, [1e-3])[0][4], abs=1e-6)


@pytest.mark.parametrize(("ours", "theirs"), [(_lines.ridge, Ridge()), (_lines.lasso, _exact_lasso())])
def test_lines_of_all_rows_are_those_of_scikit_learn(ours: Any, theirs: Any) -> None:
    x, y = _data()
    expected = [_fitted(theirs, x, y, alpha).predict(x) for alpha in ALPHAS]
    assert ours(x, y, ALPHAS).predict(x) == pytest.approx(np.array(expected), abs=1e-6)


@pytest.mark.parametrize("max_features", [1.0, "sqrt"])
def test_a_smaller_forest_seeded_alike_is_a_prefix_of_a_larger_one(max_features: Any) -> None:
    x, y = _data()
    small, large = (RandomForestRegressor(k, max_features=max_features, random_state=0).fit(x, y) for k in (10, 30))
    first = np.mean([tree.predict(x) for tree in large.estimators_[:10]], axis=0)
    assert small.predict(x) == pytest.approx(first, rel=1e-14)


def test_depths_of_the_grid_bind_no_tree() -> None:
    x, y = _data(rows=100)
    free = RandomForestRegressor(20, random_state=0).fit(x, y)
    assert max(tree.get_depth() for tree in free.estimators_) < 50
    limited = RandomForestRegressor(20, max_depth=50, random_state=0).fit(x, y)
    assert (limited.predict(x) == free.predict(x)).all()


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5])
def test_sqrt_and_log2_are_one_rule_for_up_to_five_columns(columns: int) -> None:
    x, y = _data(columns=columns)
    sqrt, log2 = (RandomForestRegressor(5, max_features=m, random_state=0).fit(x, y) for m in ("sqrt", "log2"))
    assert (sqrt.predict(x) == log2.predict(x)).all()
    assert len(_forests.columns_per_split(columns)) == (1 if columns == 1 else 2)


def _grid_column() -> Any:
    return np.repeat(1 / np.array([2.0, 4.0, 6.0, 8.0]), 3)[:, None]


@pytest.mark.parametrize("x", [_data(12, 2)[0], _data(12, 1)[0], _grid_column()], ids=["two", "one", "levels"])
def test_forests_of_the_grid_are_those_of_scikit_learn_fitted_once_per_row(x: Any) -> None:
    y = _data(12, 2, seed=1)[1]
    for max_features in _forests.columns_per_split(x.shape[1]):
        found = _forests.forest_loo(x, y, (4, 9), max_features, seed=3)
        for k, trees in enumerate((4, 9)):
            model = RandomForestRegressor(trees, max_features=max_features, max_depth=50, random_state=3)
            folds = [np.delete(np.arange(12), i) for i in range(12)]
            expected = [model.fit(x[f], y[f]).predict(x[i : i + 1])[0] for i, f in enumerate(folds)]
            assert found[k] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("x", [_data(12, 1)[0], _grid_column()], ids=["distinct", "levels"])
def test_a_forest_of_one_column_is_known_without_growing_it(x: Any) -> None:
    y = _data(12, 2, seed=1)[1]
    at = np.linspace(x.min() - 1, x.max() + 1, 60)[:, None]
    expected = RandomForestRegressor(20, random_state=5).fit(x, y).predict(at)
    assert _forests.forest(x, y, 20, 1, seed=5)(at) == pytest.approx(expected, rel=1e-12)


def test_out_of_bag_predictions_are_those_of_scikit_learn() -> None:
    x, y = _data(60)
    expected = RandomForestRegressor(60, max_features=3, oob_score=True, random_state=0).fit(x, y).oob_prediction_
    assert _forests.forest_out_of_bag(x, y, (30, 60), 3, seed=0)[1] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("activation", ["relu", "logistic"])
def test_the_gradient_of_a_network_is_that_of_its_loss(activation: _networks.Activation) -> None:
    x, y = _data(8, 2)
    start = _networks._start(2, 4, activation, 0)
    share, decay = np.full((1, 8), 1 / 8), np.full((1, len(start)), 0.01)

    def loss(point: Any) -> float:
        return float(_networks._loss(point[None], x, y, share, decay, 4, activation)[0][0])

    def gradient(point: Any) -> Any:
        return _networks._loss(point[None], x, y, share, decay, 4, activation)[1][0]

    assert check_grad(loss, gradient, start) < 1e-4 * np.linalg.norm(gradient(start))


@pytest.mark.parametrize("activation", ["relu", "logistic"])
def test_networks_start_where_those_of_scikit_learn_do(activation: _networks.Activation) -> None:
    x, y = _data(8, 2)
    still = MLPRegressor(hidden_layer_sizes=(4,), activation=activation, learning_rate_init=1e-12, random_state=7)
    still.partial_fit(x, y)
    parts = (still.coefs_[0].ravel(), still.intercepts_[0], still.coefs_[1].ravel(), still.intercepts_[1])
    assert _networks._start(2, 4, activation, 7) == pytest.approx(np.concatenate(parts), abs=1e-9)


@pytest.mark.parametrize("activation", ["relu", "logistic"])
def test_a_network_in_a_batch_is_the_one_trained_alone(activation: _networks.Activation) -> None:
    x, y = _data(8, 2)
    x, y = x / x.max(axis=0), y / y.max()
    batch, _ = _networks.networks_loo(x, y, (0.01, 0.05), hidden=4, activation=activation, seed=0, max_iter=10)
    kept = np.delete(np.arange(8), 3)
    alone = _networks.train_networks(
        x[kept], y[kept], np.ones((1, 7)), np.array([0.05]), hidden=4, activation=activation, seed=0, max_iter=10
    )
    assert batch[1][3] == pytest.approx(alone.predict(x[3:4])[0, 0], rel=1e-6)


@pytest.mark.parametrize("activation", ["relu", "logistic"])
def test_networks_learn_as_well_as_those_of_scikit_learn(activation: _networks.Activation) -> None:
    random = np.random.default_rng(0)
    x = random.uniform(-2, 2, (60, 1))
    y = np.sin(2 * x[:, 0])
    ones = np.ones((1, 60))
    ours = _networks.train_networks(
        x, y, ones, np.array([1e-4]), hidden=20, activation=activation, seed=0, max_iter=200
    )
    theirs = MLPRegressor(
        hidden_layer_sizes=(20,), activation=activation, solver="lbfgs", alpha=1e-4, max_iter=200_000, random_state=0
    ).fit(x, y)
    ours_error, theirs_error = (float(((guess - y) ** 2).mean()) for guess in (ours.predict(x)[0], theirs.predict(x)))
    assert ours_error < max(2 * theirs_error, 0.02)
