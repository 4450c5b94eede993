"""The candidates that no other beats in everything at once."""

import numpy as np

from sparkcast.arrays import Floats, Ints


def pareto_front(losses: Floats) -> Ints:
    """Row numbers of the points that no other point equals or beats in all of up to three columns; less is better.

    Of equal points the first one counts. Takes time and memory for the points and for a table of the different values
    of two columns, not for pairs of points: round the values first when they are many.

    >>> import numpy as np
    >>> pareto_front(np.array([[1.0, 5.0], [2.0, 2.0], [3.0, 3.0], [1.0, 6.0]])).tolist()
    [0, 1]
    """
    ranks = [np.unique(column, return_inverse=True)[1] for column in losses.T]
    first, second, third = sorted([*ranks, *[np.zeros(len(losses), dtype=int)] * (3 - len(ranks))], key=np.max)
    # table[i, j]: the least of the third column among the points with ranks i and j in the two others, ...
    table = np.full((first.max() + 1, second.max() + 1), np.inf)
    np.minimum.at(table, (first, second), third)
    # ... and then among those with ranks up to i and j.
    reached = np.minimum.accumulate(np.minimum.accumulate(table, axis=0), axis=1)
    beaten = np.full((table.shape[0] + 1, table.shape[1] + 1), np.inf)
    beaten[1:, 1:] = reached
    better = np.minimum(beaten[first, second + 1], beaten[first + 1, second])  # in one of the two columns, or in both
    rows = np.flatnonzero((third == table[first, second]) & (third < better))
    _, unique = np.unique(np.column_stack([first, second])[rows], axis=0, return_index=True)
    return np.sort(rows[unique])
