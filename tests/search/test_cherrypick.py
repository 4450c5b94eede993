"""CherryPick: what its paper says it does."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from sparkcast.search.acquisition import improvement
from sparkcast.search.base import Evaluation, Search
from sparkcast.search.points import points_of
from sparkcast.search.searchers.cherrypick import CherryPick, relative_improvement, spread
from sparkcast.study import Configuration

GRID = tuple(Configuration({"executors": 2**a, "memory": f"{2**b}g"}) for a in range(5) for b in range(5))


def asked(searcher: CherryPick, value: float, n: int) -> list[Configuration]:
    found: list[Configuration] = []
    while len(found) < n and (configuration := searcher.ask()) is not None:
        found.append(configuration)
        searcher.tell(Evaluation(configuration, value, value))
    return found


def test_it_stops_after_six_runs_when_nothing_is_left_to_improve() -> None:
    searcher = CherryPick(Search(GRID))
    assert len(asked(searcher, 5.0, len(GRID))) == 6
    assert searcher.stopped_because == "the expected improvement is below 10% of the best found"


def test_it_goes_on_after_six_runs_while_a_tenth_or_more_is_expected() -> None:
    many = tuple(Configuration({"executors": 2**e}) for e in range(30))
    searcher = CherryPick(Search(many))
    n = 0
    while (configuration := searcher.ask()) is not None:
        n += 1
        rugged = math.sin(math.log2(float(configuration["executors"])) ** 2)  # no run says much about another
        searcher.tell(Evaluation(configuration, math.exp(4 * rugged)))
    assert n > 6


def test_a_failed_run_counts_as_a_configuration_that_was_run() -> None:
    searcher = CherryPick(Search(GRID))
    first = searcher.ask()
    assert first is not None
    searcher.tell(Evaluation(first, None))
    assert first not in asked(searcher, 5.0, len(GRID))
    assert searcher.stopped_because


def test_the_first_three_runs_do_not_depend_on_what_they_give() -> None:
    low, high = (asked(CherryPick(Search(GRID, seed=1)), value, 3) for value in (1.0, 1e6))
    assert low == high


@pytest.mark.parametrize("seed", range(8))
def test_the_first_three_runs_lie_in_three_quarters_of_every_setting(seed: int) -> None:
    grid = tuple(Configuration({"executors": 2**a, "rate": b}) for a in range(40) for b in range(40))
    points = points_of(Search(grid))
    first = points.coordinates[spread(points, seed)[:3], 1:]
    assert (first.max(axis=0) - first.min(axis=0) > 0.25 - 1 / 39).all()


def test_expected_improvement_is_that_of_the_closed_form() -> None:
    # Jones et al. 1998, equation 15, with mean 1, sd 2 and best 0.5: z = -0.25
    z, normal = -0.25, NormalDist()
    [found] = improvement(np.array([1.0]), np.array([2.0]), 0.5)
    assert found == pytest.approx(-0.5 * normal.cdf(z) + 2 * normal.pdf(z))
    [found] = improvement(np.array([0.0]), np.array([1.0]), 0.0)
    assert found == pytest.approx(1 / math.sqrt(2 * math.pi))


def test_relative_improvement_is_the_mean_over_answers_whose_logarithm_is_normal() -> None:
    best, mean, sd = math.log(3.0), math.log(4.0), 0.5
    quantiles = np.array([NormalDist(mean, sd).inv_cdf((i + 0.5) / 20_000) for i in range(20_000)])
    expected = np.maximum(0.0, 3.0 - np.exp(quantiles)).mean() / 3.0
    [found] = relative_improvement(np.array([mean]), np.array([sd]), best)
    assert found == pytest.approx(expected, rel=1e-3)


def test_settings_that_are_too_slow_are_not_asked_for_when_others_are_left() -> None:
    candidates = tuple(Configuration({"executors": e}) for e in range(1, 17))
    searcher = CherryPick(Search(candidates, within_s=20.0, seed=2))
    late = []
    while (configuration := searcher.ask()) is not None:
        time_s = 160.0 / float(configuration["executors"])  # few executors are cheap, but too slow
        late.append(time_s > 20.0)
        searcher.tell(Evaluation(configuration, float(configuration["executors"]), time_s))
    assert sum(late) <= 4  # of 7 that are
