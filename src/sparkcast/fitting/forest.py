"""A random forest with what each configuration's out-of-bag trees say of it.

The trees are scikit-learn's, and so are all numbers: the same draws, trees and means as its `RandomForestRegressor`
with `oob_score`. That one checks its arguments for every tree, draws each bootstrap twice and starts a job for each
tree that predicts, which for a dozen configurations takes longer than growing the trees.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparkcast.arrays import Floats, Ints

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
    """The forest, and for each row the mean of the trees whose bootstrap missed it; NaN where none did."""
    from sklearn import config_context
    from sklearn.tree import DecisionTreeRegressor

    rows = np.ascontiguousarray(x, dtype=np.float32)
    total, missed = np.zeros(len(y)), np.zeros(len(y), dtype=np.int64)
    grown = []
    with config_context(skip_parameter_validation=True):
        for tree_seed, drawn in _bootstraps(weights, trees, seed):
            fitted = DecisionTreeRegressor(random_state=tree_seed)
            tree = fitted.fit(rows, y, sample_weight=drawn, check_input=False).tree_
            outside = np.flatnonzero(drawn == 0)
            total[outside] += tree.predict(rows[outside])[:, 0]
            missed[outside] += 1
            grown.append(tree)
    out_of_bag = np.divide(total, missed, out=np.full(len(y), np.nan), where=missed > 0)
    return Forest(tuple(grown)), out_of_bag


def _bootstraps(weights: Floats, trees: int, seed: int) -> Sequence[tuple[int, Ints]]:
    """A seed for each tree, and how often it draws each row: as many draws as rows, in proportion to the weights."""
    n, reach = len(weights), (weights / np.sum(weights)).cumsum()
    reach /= reach[-1]
    found = []
    for tree_seed in np.random.RandomState(seed).randint(_LARGEST_SEED, size=trees).tolist():
        drawn = reach.searchsorted(np.random.RandomState(tree_seed).random_sample(n), side="right")
        found.append((tree_seed, np.bincount(drawn, minlength=n)))
    return found
