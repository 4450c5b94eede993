"""`auto`: who answers, and how it is shown."""

import math
import random
from itertools import pairwise, product

import numpy as np
import pytest

from sparkcast.errors import NotEnoughDataError
from sparkcast.models.auto import INSIDE, Auto, Combined, _cuts, _good_enough, median_of
from sparkcast.study import Dataset, Observation

QUICK = ("scaling", "nnls", "ridge", "gaussian-process", "median")


def runs(executors: tuple[int, ...] = (2, 4, 6, 8)) -> Dataset:
    noise = random.Random(1)
    return Dataset(
        ("executors", "data_size"),
        tuple(
            Observation({"executors": e, "data_size": s}, {"time_s": truth(e, s) * math.exp(noise.gauss(0, 0.02))})
            for e, s in product(executors, (10, 20, 40))
        ),
    )


def truth(executors: float, size: float) -> float:
    return 5 + 8 * size / executors + 0.3 * executors


@pytest.fixture(scope="module")
def fitted() -> Combined:
    return Auto(QUICK).fit(runs(), "time_s")


def test_inside_the_range_left_out_configurations_decide(fitted: Combined) -> None:
    choice = fitted.choice_for({"executors": 3, "data_size": 15})
    assert choice.question == INSIDE
    assert choice.protocol == "loo"
    assert {name for name, _ in choice.scores} == set(QUICK)
    assert "median" not in choice.answering
    assert [score for _, score in choice.scores] == sorted(score for _, score in choice.scores)


def test_beyond_the_range_candidates_are_scored_by_extrapolating_along_that_factor(fitted: Combined) -> None:
    above = fitted.choice_for({"executors": 12, "data_size": 15})
    below = fitted.choice_for({"executors": 1, "data_size": 15})
    assert (above.question, above.protocol) == ("executors above the measured range", "extrapolate:executors")
    assert below.question == "executors below the measured range"
    assert dict(above.scores) != dict(below.scores)
    assert {"scaling", "nnls"} <= set(above.answering)


def test_a_law_is_followed_beyond_the_range_and_the_interval_holds_it(fitted: Combined) -> None:
    at = [{"executors": 14, "data_size": 40}, {"executors": 8, "data_size": 90}]
    for point, (low, high), asked in zip(fitted.predict(at), fitted.interval(at), at, strict=True):
        expected = truth(asked["executors"], asked["data_size"])
        assert point == pytest.approx(expected, rel=0.15)
        assert low <= expected <= high


def test_one_question_may_mix_settings_inside_and_beyond(fitted: Combined) -> None:
    at = [{"executors": e, "data_size": 20} for e in (16, 3, 1, 5, 12)]
    assert fitted.predict(at) == pytest.approx([fitted.predict([one])[0] for one in at])
    assert np.allclose(fitted.interval(at), [fitted.interval([one])[0] for one in at])


def test_beyond_the_range_the_interval_holds_what_every_answering_model_says(fitted: Combined) -> None:
    at = {"executors": 14, "data_size": 20}
    [(low, high)] = fitted.interval([at], level=0.9)
    said = [model.predict([at])[0] for name, model in fitted.members if name in fitted.choice_for(at).answering]
    assert low <= min(said) * (1 + 1e-9)
    assert max(said) * (1 - 1e-9) <= high


def test_the_interval_is_never_narrower_beyond_the_range_than_inside_it(fitted: Combined) -> None:
    def ratio(executors: float) -> float:
        [(low, high)] = fitted.interval([{"executors": executors, "data_size": 20}])
        return high / low

    inside = ratio(6)
    widths = [ratio(executors) for executors in (8, 8.1, 9, 12, 20)]
    assert widths[0] == pytest.approx(inside)
    assert all(later >= earlier * (1 - 1e-9) for earlier, later in pairwise(widths))


def test_two_levels_cannot_be_split_so_the_physical_shape_answers() -> None:
    fitted = Auto(QUICK).fit(runs(executors=(2, 4)), "time_s")
    choice = fitted.choice_for({"executors": 8, "data_size": 20})
    assert choice.answering == ("scaling",)
    assert choice.error is None
    [(low, high)] = fitted.interval([{"executors": 8, "data_size": 20}])
    assert low <= truth(8, 20) <= high


def test_models_less_than_twice_as_wrong_as_the_best_answer() -> None:
    assert _good_enough([3.0, 1.0, 1.9, 2.1]) == [1, 2]
    assert _good_enough([0.0, 0.0, 5.0]) == [0, 1]


def test_a_wild_member_does_not_move_the_median() -> None:
    assert median_of([np.array([1.0]), np.array([1.1]), np.array([1e9])]).tolist() == [1.1]


def test_cuts_learn_from_two_levels_or_more_and_test_only_what_lies_beyond() -> None:
    values = np.array([1.0, 1.0, 2.0, 3.0, 5.0, 8.0, 8.0])
    for is_up in (True, False):
        for train, test in _cuts(values, is_up):
            assert len(set(values[train])) >= 2
            assert sorted([*train, *test]) == list(range(7))
            assert (max(values[train]) < min(values[test])) == is_up
    assert _cuts(np.array([1.0, 2.0, 2.0]), True) == []


def test_few_configurations_are_answered_by_what_is_known_of_jobs_and_by_laws() -> None:
    data = Dataset(("executors",), tuple(Observation({"executors": e}, {"time_s": truth(e, 9)}) for e in (1, 2, 4)))
    assert Auto().fit(data, "time_s").inside.answering == ("bayesian", "nnls", "scaling")


def test_accuracy_is_answered_by_models_that_are_not_about_times() -> None:
    data = Dataset(
        ("batch_size",), tuple(Observation({"batch_size": 2**i}, {"accuracy": 0.99 - i / 50}) for i in range(3, 10))
    )
    fitted = Auto(QUICK).fit(data, "accuracy")
    assert {name for name, _ in fitted.members} == {"ridge", "gaussian-process", "median"}
    assert 0 <= fitted.predict([{"batch_size": 2048}])[0] <= 1


def test_when_nobody_can_learn_the_first_reason_is_told() -> None:
    data = Dataset(("net",), tuple(Observation({"net": n}, {"time_s": 1.0 + i}) for i, n in enumerate("abc")))
    with pytest.raises(NotEnoughDataError, match="no model can learn time_s; ernest: ernest needs runs that differ"):
        Auto(("ernest",)).fit(data, "time_s")


def test_a_constant_response_is_predicted_as_such() -> None:
    data = Dataset(("executors",), tuple(Observation({"executors": e}, {"time_s": 7.0}) for e in (1, 2, 4, 8, 16)))
    fitted = Auto().fit(data, "time_s")
    assert fitted.predict([{"executors": 3}]) == [pytest.approx(7, rel=1e-3)]
