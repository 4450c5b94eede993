from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparkcast.recommend.pareto import pareto_front

POINTS = st.integers(1, 3).flatmap(
    lambda columns: st.integers(1, 40).flatmap(
        lambda rows: arrays(float, (rows, columns), elements=st.integers(0, 6).map(float))
    )
)


@given(POINTS)
def test_the_front_is_what_a_comparison_of_all_pairs_gives(losses: np.ndarray[Any, Any]) -> None:
    front = pareto_front(losses).tolist()
    for i, point in enumerate(losses):
        beaten_by = [j for j, other in enumerate(losses) if (other <= point).all() and (other < point).any()]
        twins = [j for j, other in enumerate(losses) if (other == point).all()]
        assert (i in front) == (not beaten_by and twins[0] == i)


@given(POINTS, st.floats(0.1, 1000))
def test_other_units_give_the_same_front(losses: np.ndarray[Any, Any], factor: float) -> None:
    scaled = losses.copy()
    scaled[:, 0] *= factor
    assert pareto_front(scaled).tolist() == pareto_front(losses).tolist()
