"""Ridge regression with a penalty chosen by leaving rows out, against scikit-learn's."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparkcast.arrays import Floats
from sparkcast.fitting.ridge import best_ridge

PENALTIES: Floats = np.logspace(-4, 4, 25, dtype=np.float64)


@pytest.mark.parametrize(("rows", "columns"), [(3, 5), (11, 9), (12, 2), (40, 12)])
@pytest.mark.parametrize("kind", ["usual", "a constant column", "a repeated column"])
def test_the_line_is_that_of_scikit_learns_scaler_and_ridge(rows: int, columns: int, kind: str) -> None:
    dice = np.random.default_rng(rows * columns)
    x = dice.normal(size=(rows, columns)) * 10 ** dice.uniform(-3, 3, columns)
    x[:, -1] = 3.0 if kind == "a constant column" else 2 * x[:, 0] if kind == "a repeated column" else x[:, -1]
    y, weights = x[:, 0] / x[:, 0].std() + dice.normal(size=rows), dice.integers(1, 4, rows).astype(float)
    reference = make_pipeline(StandardScaler(), RidgeCV(alphas=PENALTIES)).fit(x, y, ridgecv__sample_weight=weights)
    beyond = x + dice.normal(size=x.shape) * x.std(axis=0)

    line = best_ridge(x, y, weights, PENALTIES)

    assert line.predict(beyond) == pytest.approx(reference.predict(beyond), rel=1e-8, abs=1e-8)


def test_a_single_row_is_repeated_everywhere() -> None:
    line = best_ridge(np.array([[1.0, 2.0]]), np.array([5.0]), np.ones(1), PENALTIES)
    assert line.predict(np.array([[3.0, 4.0]])).tolist() == [5.0]
