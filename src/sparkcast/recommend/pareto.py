"""The candidates that no other beats in everything at once."""

from typing import Any


def pareto_front(losses: Any) -> Any:
    """Row numbers of the points that no other point equals or beats in all columns; less is better.

    Of equal points the first one counts.

    >>> import numpy as np
    >>> pareto_front(np.array([[1.0, 5.0], [2.0, 2.0], [3.0, 3.0], [1.0, 6.0]])).tolist()
    [0, 1]
    """
    import numpy as np

    # In the order of the sum, nothing that comes later can beat what came before.
    order = np.argsort(_ranks(losses).sum(axis=1), kind="stable")
    front: list[int] = []
    left = losses[order]
    while len(order):
        front.append(int(order[0]))
        kept = (left < left[0]).any(axis=1)
        order, left = order[kept], left[kept]
    return np.array(sorted(front), dtype=int)


def _ranks(losses: Any) -> Any:
    """Each column by its order alone: sums of other units would be ruled by the largest."""
    import numpy as np

    return np.column_stack([np.unique(column, return_inverse=True)[1] for column in losses.T])
