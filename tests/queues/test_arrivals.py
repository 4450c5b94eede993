"""When jobs come: the rate and the burstiness of given times by hand, and of drawn ones by their distribution."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.queues.arrivals import Given, Renewal, poisson

GAPS = st.lists(st.floats(0.1, 100), min_size=1, max_size=20)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_given_arrivals_are_as_bursty_as_their_gaps() -> None:
    assert Given((0.0, 10.0, 20.0, 30.0)).scv == 0  # regular
    assert Given((0.0, 10.0, 30.0)).scv == pytest.approx(1 / 9)  # gaps of 10 and 20: variance 25, mean 15
    assert Given((5.0, 5.0, 5.0, 8.0)).scv == pytest.approx(2.0)  # 0, 0 and 3: variance 2, mean 1


@settings(max_examples=40)
@given(GAPS, st.floats(-1e3, 1e3), st.floats(0.01, 100))
def test_given_arrivals_at_another_rate_keep_their_pattern(gaps: list[float], start: float, rate: float) -> None:
    came = Given(tuple(start + at for at in [0.0, *np.cumsum(gaps).tolist()]))
    assert came.rate == pytest.approx(len(gaps) / sum(gaps), rel=1e-6)
    assert came.scv == pytest.approx(float(np.var(gaps) / np.mean(gaps) ** 2), rel=1e-6, abs=1e-6)
    faster = came.at_rate(rate)
    assert faster.rate == pytest.approx(rate, rel=1e-6)
    assert faster.scv == pytest.approx(came.scv, rel=1e-6, abs=1e-6)
    assert faster.draw(rng(), 99) == pytest.approx(came.draw(rng(), 99) * came.rate / rate, rel=1e-6, abs=1e-9)


def test_no_more_arrivals_are_drawn_than_wanted_or_happened() -> None:
    came = Given((7.0, 3.0, 4.0))
    assert came.draw(rng(), 2).tolist() == [0.0, 1.0]
    assert came.draw(rng(), 9).tolist() == [0.0, 1.0, 4.0]
    assert len(poisson(1.0).draw(rng(), 7)) == 7


def test_times_that_tell_no_rate_are_refused() -> None:
    with pytest.raises(NotEnoughDataError, match="0 arrivals cannot define a rate"):
        Given(())
    for bad in ((1.0, math.inf), (1.0, math.nan, 2.0), (4.0, 4.0, 4.0)):
        with pytest.raises(StudyError, match="not arrival times"):
            Given(bad)
    for rate in (0.0, -1.0, math.inf):
        with pytest.raises(StudyError, match="the arrival rate cannot be"):
            Given((1.0, 2.0)).at_rate(rate)
        with pytest.raises(StudyError, match="the arrival rate cannot be"):
            Renewal(rate)


def test_regular_arrivals_come_at_equal_distances() -> None:
    assert Renewal(0.5, 0.0).draw(rng(), 4).tolist() == [2.0, 4.0, 6.0, 8.0]
    assert Renewal(0.5, 0.0).at_rate(2.0).draw(rng(), 2).tolist() == [0.5, 1.0]
    assert Renewal(0.5, 3.0).at_rate(2.0) == Renewal(2.0, 3.0)


def test_poisson_arrivals_are_counted_by_the_poisson_distribution() -> None:
    """Of 40,000 s at 0.5/s the number that come in each 4 s has mean and variance 2, and none with probability e^-2."""
    come = poisson(0.5).draw(rng(1), 20_000)
    counts = np.bincount((come / 4).astype(int))[:-1]
    assert counts.mean() == pytest.approx(2.0, rel=0.03)
    assert counts.var() == pytest.approx(2.0, rel=0.06)
    assert (counts == 0).mean() == pytest.approx(math.exp(-2), abs=0.01)
