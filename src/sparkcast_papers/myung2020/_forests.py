"""Leave-one-out over a grid of forests, without the work that grid points share.

Forests seeded alike are prefixes of each other, depth limits that no tree reaches do nothing, and rules for the number
of columns per split that give the same number are the same rule.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from sparkcast.arrays import Floats, Ints

# Values closer than this are one value to scikit-learn's trees.
_FEATURE_THRESHOLD = 1e-7


def columns_per_split(columns: int) -> tuple[int, ...]:
    """What "all", "sqrt" and "log2" mean for so many columns, each number once.

    >>> columns_per_split(1), columns_per_split(5), columns_per_split(64)
    ((1,), (5, 2), (64, 8, 6))
    """
    rules = (columns, max(1, int(math.sqrt(columns))), max(1, int(math.log2(columns))))
    return tuple(dict.fromkeys(rules))


def forest_loo(x: Floats, y: Floats, trees: Sequence[int], max_features: int, *, seed: int) -> Floats:
    """Left-out predictions, one row per number of trees: those of scikit-learn's forest fitted once per fold."""
    import numpy as np

    if _is_plain_column(x):
        counts, _ = _draws(len(y) - 1, max(trees), seed)
        others = [np.delete(np.arange(len(y)), i) for i in range(len(y))]
        folds = [_column_votes(counts, x[kept], y[kept], x[i : i + 1]) for i, kept in enumerate(others)]
        return _prefix_means(np.concatenate(folds, axis=1), trees)
    return _prefix_means(_votes(x, y, max(trees), max_features, seed), trees)


def forest_out_of_bag(x: Floats, y: Floats, trees: Sequence[int], max_features: int, *, seed: int) -> Floats:
    """What the trees that did not see a row predict for it: leave-one-out at the price of one fit, but approximate."""
    import numpy as np

    forest = _forest(max(trees), max_features, seed).fit(x, y)
    votes = np.array([tree.predict(x) for tree in forest.estimators_])
    for vote, seen in zip(votes, forest.estimators_samples_, strict=True):
        vote[seen] = np.nan
    with np.errstate(invalid="ignore"):
        unseen = ~np.isnan(votes)
        sums, counts = np.nancumsum(votes, axis=0), np.cumsum(unseen, axis=0)
        return np.array(
            [np.where(counts[k - 1] > 0, sums[k - 1] / np.maximum(counts[k - 1], 1), y.mean()) for k in trees]
        )


def forest(x: Floats, y: Floats, trees: int, max_features: int, *, seed: int) -> Callable[[Floats], Floats]:
    """The forest of all rows, as a function of new rows."""
    if _is_plain_column(x):
        counts, _ = _draws(len(y), trees, seed)
        return lambda at: _column_votes(counts, x, y, at).mean(axis=0)
    fitted = _forest(trees, max_features, seed).fit(x, y)
    return lambda at: fitted.predict(at)


def _forest(trees: int, max_features: int, seed: int) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(trees, max_features=max_features, random_state=seed, n_jobs=1)


@lru_cache(maxsize=16)
def _draws(rows: int, trees: int, seed: int) -> tuple[Ints, tuple[int, ...]]:
    """How often each tree draws each row, and the trees' own seeds; neither depends on what the rows hold."""
    import numpy as np
    from sklearn import config_context

    with config_context(assume_finite=True, skip_parameter_validation=True):
        drawn = _forest(trees, 1, seed).set_params(max_depth=1).fit(np.zeros((rows, 1)), np.zeros(rows))
    counts = np.array([np.bincount(sample, minlength=rows) for sample in drawn.estimators_samples_])
    return counts, tuple(int(tree.random_state) for tree in drawn.estimators_)


def _prefix_means(votes: Floats, trees: Sequence[int]) -> Floats:
    import numpy as np

    return np.array([votes[:k].mean(axis=0) for k in trees])


def _votes(x: Floats, y: Floats, trees: int, max_features: int, seed: int) -> Floats:
    """Each tree's prediction for each row when that row is left out.

    Folds i - 1 and i differ in one place only, which holds row i in the one and row i - 1 in the other: a tree that did
    not draw that place is the same in both.
    """
    import numpy as np
    from sklearn import config_context
    from sklearn.tree import DecisionTreeRegressor

    n = len(y)
    counts, seeds = _draws(n - 1, trees, seed)
    rows, answers = np.asarray(x, dtype=np.float32), np.asarray(y, dtype=float)[:, None]
    folds = [(np.delete(rows, i, axis=0), np.delete(answers, i, axis=0)) for i in range(n)]
    votes = np.empty((trees, n))
    # Checking arguments takes longer than growing such small trees.
    with config_context(assume_finite=True, skip_parameter_validation=True):
        for t, (drawn, tree_seed) in enumerate(zip(counts.astype(float), seeds, strict=True)):
            tree = DecisionTreeRegressor(max_features=max_features, random_state=tree_seed)
            for i, (kept, kept_answers) in enumerate(folds):
                if i == 0 or drawn[i - 1] > 0:
                    tree.fit(kept, kept_answers, sample_weight=drawn, check_input=False)
                votes[t, i] = tree.tree_.predict(rows[i : i + 1])[0, 0]
    return votes


def _is_plain_column(x: Floats) -> bool:
    import numpy as np

    if x.shape[1] != 1:
        return False
    gaps = np.diff(np.unique(x.astype(np.float32)).astype(float))
    return bool((gaps > _FEATURE_THRESHOLD).all())


def _column_votes(counts: Ints, x: Floats, y: Floats, at: Floats) -> Floats:
    """What each tree of one column predicts for the rows `at`, without growing it.

    Each value that a tree drew is a leaf of its own, which reaches half-way to the next.
    """
    import numpy as np

    levels, level = np.unique(x[:, 0].astype(np.float32), return_inverse=True)
    levels, asked = levels.astype(float), at[:, 0].astype(np.float32).astype(float)
    member = np.eye(len(levels))[level]
    drawn = counts @ member
    means = (counts @ (member * y[:, None])) / np.maximum(drawn, 1)
    index, none = np.arange(len(levels)), len(levels)
    below = np.pad(np.maximum.accumulate(np.where(drawn > 0, index, -1), axis=1), ((0, 0), (1, 0)), constant_values=-1)
    above = np.minimum.accumulate(np.where(drawn > 0, index, none)[:, ::-1], axis=1)[:, ::-1]
    above = np.pad(above, ((0, 0), (0, 1)), constant_values=none)
    place = np.searchsorted(levels, asked, side="right")
    lower, upper = below[:, place], above[:, place]
    half_way = levels[np.maximum(lower, 0)] / 2 + levels[np.minimum(upper, none - 1)] / 2
    leaf = np.where((upper == none) | ((lower >= 0) & (asked <= half_way)), lower, upper)
    return np.take_along_axis(means, leaf, axis=1)
