"""What is asked: limits as people write them, and what cannot be asked."""

import math
from typing import Any

import pytest

from recommend_support import WORDS
from sparkcast.errors import StudyError
from sparkcast.recommend import Limit
from sparkcast.recommend.question import Objective, Question, least_quality, limits_of, objective_of, parse_limit
from sparkcast.study import Kind, Response, Vocabulary

KNOWN = ["time_s", "cost", "accuracy", "error_count"]
MINUTES = Vocabulary(responses=(Response("minutes", kind=Kind.TIME, unit="min"),))


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("time_s <= 300s", Limit("time_s", 300.0)),
        ("time_s<=5m", Limit("time_s", 300.0)),
        (" time_s < 300 ", Limit("time_s", 300.0)),
        ("time_s >= 0", Limit("time_s", 0.0, False)),
        ("accuracy >= 90%", Limit("accuracy", 0.9, False)),
        ("accuracy > 0.9", Limit("accuracy", 0.9, False)),
        ("cost <= 0.25", Limit("cost", 0.25)),
        ("error_count <= 0", Limit("error_count", 0.0)),
        ("error_count <= -3", Limit("error_count", -3.0)),
    ],
)
def test_a_limit_is_read_with_its_sign_and_its_unit(text: str, limit: Limit) -> None:
    found = parse_limit(text, WORDS, KNOWN)
    assert (found.response, found.is_upper) == (limit.response, limit.is_upper)
    assert found.value == pytest.approx(limit.value)


def test_a_duration_becomes_a_number_of_the_unit_that_the_time_has() -> None:
    assert parse_limit("minutes <= 90s", MINUTES, ["minutes"]).value == 1.5
    assert parse_limit("minutes <= 3", MINUTES, ["minutes"]).value == 3.0
    assert limits_of(Question(within_s=90.0), MINUTES, ["minutes"]) == (Limit("minutes", 1.5),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time_s", "is not a limit"),
        ("time_s = 3", "is not a limit"),
        ("1 <= time_s <= 3", "is not a limit"),
        ("tim_s <= 3", "there is no response 'tim_s'"),
        ("cost <= cheap", "'cheap' is not a number"),
        ("cost <= 3s", "'3s' is not a number"),
        ("cost <= 0", "not positive, so no run can meet it"),
        ("time_s <= -1", "not positive, so no run can meet it"),
        ("accuracy >= inf", "inf is not finite"),
        ("accuracy >= nan", "nan is not finite"),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused_with_a_hint(text: str, words: str) -> None:
    with pytest.raises(StudyError) as refused:
        parse_limit(text, WORDS, KNOWN)
    assert words in refused.value.problem
    assert refused.value.hint


def test_short_and_written_limits_are_taken_together_but_only_one_on_each_side() -> None:
    question = Question(["accuracy <= 0.99", Limit("error_count", 3.0)], within_s=60.0, budget=0.5, min_accuracy=0.9)
    assert limits_of(question, WORDS, KNOWN) == (
        Limit("time_s", 60.0),
        Limit("cost", 0.5),
        Limit("accuracy", 0.9, False),
        Limit("accuracy", 0.99),
        Limit("error_count", 3.0),
    )
    assert limits_of(Question("cost <= 1"), WORDS, KNOWN) == (Limit("cost", 1.0),)
    assert limits_of(Question(), WORDS, KNOWN) == ()
    with pytest.raises(StudyError, match="time_s has two limits on the same side"):
        limits_of(Question(["cost <= 1", "time_s <= 50"], within_s=60.0), WORDS, KNOWN)
    with pytest.raises(StudyError, match="cost has two limits on the same side"):
        limits_of(Question(["cost <= 1", "cost <= 2"], within_s=60.0), WORDS, KNOWN)


def test_an_accuracy_may_be_a_share_or_in_percent_and_must_be_one() -> None:
    assert [least_quality(share, WORDS).value for share in (0.0, 0.9, 100.0)] == [0.0, 0.9, 100.0]
    for share in (-0.01, 100.1, math.nan):
        with pytest.raises(StudyError, match=r"an accuracy of .* is not possible"):
            least_quality(share, WORDS)
    with pytest.raises(StudyError, match="none of the responses is an accuracy"):
        least_quality(0.9, MINUTES)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"within_s": 0.0}, "a deadline of 0 s is not positive"),
        ({"within_s": math.inf}, "a deadline of inf s is not positive"),
        ({"budget": 0.0}, "a budget of 0 is not positive"),
        ({"budget": math.nan}, "a budget of nan is not positive"),
    ],
)
def test_short_limits_that_cannot_be_met_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(StudyError, match=words):
        limits_of(Question(**options), WORDS, KNOWN)


def test_a_confidence_is_that_of_the_end_of_an_interval() -> None:
    levels = {confidence: Question(confidence=confidence).quantile_level for confidence in (0.95, 0.9, 0.51, 0.5, 0.1)}
    assert levels == pytest.approx({0.95: 0.9, 0.9: 0.8, 0.51: 0.02, 0.5: 0.9, 0.1: 0.9})
    bad: tuple[dict[str, float], ...] = (
        {"confidence": 0.0},
        {"confidence": 1.0},
        {"max_failure": 0.0},
        {"max_failure": 1.0},
    )
    for options in bad:
        with pytest.raises(StudyError, match="is not between 0 and 1"):
            Question(**options)  # type: ignore[arg-type]


def test_a_limit_from_below_on_the_time_says_nothing_of_haste() -> None:
    assert objective_of(WORDS, limited=["accuracy"]) == Objective("time_s", False)
    assert objective_of(WORDS, limited=["accuracy", "cost"]) == Objective("accuracy", True)
    assert objective_of(WORDS, maximize="error_count") == Objective("error_count", True)
    assert str(objective_of(WORDS, minimize="cost")) == "minimize cost"
