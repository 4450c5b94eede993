"""Random forests: the numbers of scikit-learn's, for less work."""

import pickle

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from sparkcast.arrays import Floats
from sparkcast.fitting.forest import grow


@pytest.mark.parametrize("n", [4, 12, 60])
def test_a_forest_has_the_very_numbers_of_scikit_learns(n: int) -> None:
    dice = np.random.default_rng(n)
    x, weights = dice.normal(size=(n, 3)), dice.integers(1, 4, n).astype(float)
    y = x[:, 0] + dice.normal(size=n)
    reference = RandomForestRegressor(50, oob_score=True, random_state=7).fit(x, y, sample_weight=weights)

    forest, out_of_bag = grow(x, y, weights, trees=50, seed=7)

    assert np.array_equal(out_of_bag, reference.oob_prediction_)
    beyond = dice.normal(size=(20, 3))
    assert np.array_equal(forest.predict(beyond), reference.predict(beyond))


def test_a_forest_can_be_passed_to_another_process() -> None:
    x: Floats = np.arange(6, dtype=np.float64)[:, None]
    forest, _ = grow(x, x[:, 0], np.ones(6), trees=5, seed=0)

    assert np.array_equal(pickle.loads(pickle.dumps(forest)).predict(x), forest.predict(x))
