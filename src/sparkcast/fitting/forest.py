"""A random forest with what each configuration's out-of-bag trees say of it.

The trees are scikit-learn's, and so are all numbers: the same draws, trees and means as its `RandomForestRegressor`
with `oob_score`. That one checks its arguments for every tree, draws each bootstrap twice and starts a job for each
tree that predicts, which for a dozen configurations takes longer than growing the trees.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparkcast.arrays import Floats

_LARGEST_SEED = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True)
class Forest:
    """Regression trees that are averaged."""

    trees: tuple[Any, ...]  # of scikit-learn, without its wrappers

    def predict(self, x: Floats) -> Floats:
        rows, total = x.astype(np.float32), np.zeros(len(x))
        for tree in self.trees:
            total += tree.predict(rows)[:, 0]
        mean: Floats = total / len(self.trees)
        return mean


def grow(x: Floats, y: Floats, weights: Floats, *, trees: int, seed: int) -> tuple[Forest, Floats]:
    """The forest, and for each row the mean of the trees whose bootstrap missed it; NaN where none did.

    Each tree learns from as many draws as there are rows, in proportion to the weights.
    """
    from sklearn import config_context
    from sklearn.tree import DecisionTreeRegressor

    rows, n = np.ascontiguousarray(x, dtype=np.float32), len(y)
    reach = (weights / np.sum(weights)).cumsum()
    reach /= reach[-1]
    total, missed = np.zeros(n), np.zeros(n, dtype=np.int64)
    grown = []
    dice = np.random.RandomState(seed)  # one for all trees: making another takes longer than a small tree
    with config_context(skip_parameter_validation=True):
        for tree_seed in dice.randint(_LARGEST_SEED, size=trees).tolist():
            dice.seed(tree_seed)
            drawn = np.bincount(reach.searchsorted(dice.random_sample(n), side="right"), minlength=n)
            dice.seed(tree_seed)
            fitted = DecisionTreeRegressor(random_state=dice)
            tree = fitted.fit(rows, y, sample_weight=drawn, check_input=False).tree_
            outside = np.flatnonzero(drawn == 0)
            total[outside] += tree.predict(rows[outside])[:, 0]
            missed[outside] += 1
            grown.append(tree)
    out_of_bag = np.divide(total, missed, out=np.full(n, np.nan), where=missed > 0)
    return Forest(tuple(grown)), out_of_bag
