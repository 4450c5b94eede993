"""A recommendation as lines for people, each number with the unit and the digits that it has."""

from typing import Any

import pytest

from recommend_support import WORDS
from sparkcast.learned.feasibility import NoFailure
from sparkcast.recommend import Alternative, Candidate, Considered, Limit, Nearest, Prediction, Recommendation
from sparkcast.recommend.lines import answer_lines, evidence, other_lines, short_values
from sparkcast.recommend.shown import noun, show_bound, show_prediction, show_range, show_value
from sparkcast.study import Configuration, Kind, Response, Vocabulary
from sparkcast.units import show_probability

TIME, COST = Response("time_s", kind=Kind.TIME), Response("cost", kind=Kind.MONEY, unit="USD")
ACCURACY, COUNT = Response("accuracy", kind=Kind.SHARE, unit="share correct"), Response("error_count")
AUC = Response("auc", kind=Kind.SHARE)


def candidate(executors: int = 1, runs: int = 2, **more: Any) -> Candidate:
    values = (Prediction("time_s", 20.0, 18.0, 22.0, 0.9), Prediction("accuracy", 0.8, 0.7, 0.9, 0.9))
    return Candidate(Configuration({"executors": executors}), values, 1.0, runs, **more)


def recommended(chosen: Candidate | None = None, **more: Any) -> Recommendation:
    one = chosen or candidate()
    given: dict[str, Any] = {"why": "it is best", "margin_s": None, "vocabulary": WORDS, **more}
    return Recommendation("minimize time_s", None, 0.95, {}, one, given.pop("runner_up", None), (one,), **given)


# ---------------------------------------------------------------- numbers


def test_values_have_the_unit_of_their_kind() -> None:
    assert [show_value(TIME, 93.4), show_value(COST, 1.5), show_value(COST, 0.0123)] == [
        "1 min 33 s",
        "1.50 USD",
        "1.23¢",
    ]
    assert [show_value(ACCURACY, value) for value in (0.8204, 1.0, 82.04)] == ["82%", "100%", "82.04"]
    assert [show_value(AUC, value) for value in (0.95372, -0.5)] == ["0.9537", "-0.5"]
    assert [show_value(COUNT, value) for value in (1234.5, 1000, 999.4, -1234.5, 0.01234)] == [
        *("1,234", "1,000", "999", "-1,234", "0.0123")
    ]


def test_of_two_values_with_the_same_unit_it_is_said_once() -> None:
    assert show_range(TIME, 18.0, 22.0) == "18.0 to 22.0 s"
    assert show_range(TIME, 58.0, 62.0) == "58.0 s to 1 min 02 s"
    assert show_range(TIME, 75.0, 62.0) == "1 min 15 s to 1 min 02 s"
    assert show_range(COST, 0.5, 1.5) == "0.50 USD to 1.50 USD"


@pytest.mark.parametrize(
    ("response", "shown"),
    [
        (TIME, "20.0 s median; 90% of runs take 18.0 to 22.0 s"),
        (COST, "20 USD median; 90% of runs cost 18 USD to 22 USD"),
        (AUC, "20 median; 90% of runs reach 18 to 22"),
        (COUNT, "20 median; 90% of runs have 18 to 22"),
    ],
)
def test_a_prediction_is_a_median_and_where_the_runs_fall(response: Response, shown: str) -> None:
    assert show_prediction(response, Prediction(response.name, 20.0, 18.0, 22.0, 0.9)) == shown


def test_bounds_are_called_deadline_budget_or_limit() -> None:
    shown = [
        show_bound(limit, WORDS)
        for limit in (
            Limit("time_s", 90.0),
            Limit("time_s", 90.0, False),
            Limit("cost", 1.5),
            Limit("cost", 1.5, False),
            Limit("accuracy", 0.95, False),
            Limit("error_count", 12345.0),
        )
    ]
    assert shown == [
        "1 min 30 s deadline",
        "limit time_s >= 90",
        "1.50 USD budget",
        "limit cost >= 1.5",
        "limit accuracy >= 0.95",
        "limit error_count <= 1.234e+04",
    ]
    assert [noun(one) for one in (TIME, COST, AUC, Response("core_seconds"))] == ["time", "cost", "auc", "core-seconds"]


# ---------------------------------------------------------------- the answer


def test_each_limit_has_its_line_with_its_chance() -> None:
    limits = (Limit("time_s", 120.0), Limit("cost", 1.5), Limit("accuracy", 0.75, False), Limit("time_s", 5.0, False))
    found = recommended(limits=limits, chances=(0.97, 0.999, 0.96, 1.0))
    assert answer_lines(found)[:5] == [
        ("Why", "it is best"),
        ("Deadline", "2 min, met with 97% probability"),
        ("Budget", "1.50 USD, met with >99% probability"),
        ("Limit", "accuracy >= 0.75, met with 96% probability"),
        ("Limit", "time_s >= 5, met with >99% probability"),
    ]
    required = f"met with {show_probability(found.chosen.probability)} probability (95% required)"
    assert dict(answer_lines(found))["All limits"] == required
    risky = recommended(candidate(failure_probability=0.1), limits=limits[:1], chances=(0.97,))
    whole = "met by 87% of submissions, and by 97% of those that succeed (95% required of these)"
    assert whole in dict(answer_lines(risky))["Deadline"]


def test_predictions_the_other_time_and_the_amount_of_data_have_lines_of_their_own() -> None:
    words = Vocabulary(responses=(TIME, ACCURACY, Response("total_s", kind=Kind.TIME)))
    beside = Prediction("total_s", 30.0, 28.0, 32.0, 0.9)
    lines = dict(answer_lines(recommended(beside=beside, held=Configuration({"rows": 900}), vocabulary=words)))
    assert list(lines) == ["Why", "Time", "Accuracy", "Other time", "Data", "Evidence"]
    assert lines["Other time"].startswith("30.0 s median")
    assert lines["Data"].startswith("rows=900, the largest measured")
    assert list(dict(answer_lines(recommended()))) == ["Why", "Time", "Accuracy", "Evidence"]
    auc = Candidate(Configuration(), (Prediction("auc", 0.9, 0.8, 1.0, 0.9),), 1.0, 1)
    assert "AUC" in dict(answer_lines(recommended(auc, vocabulary=Vocabulary(responses=(AUC,)))))


def seen(n: int, measured: int, runs: int, failed: int = 0) -> Considered:
    return Considered(n, measured, False, "", 0, runs, failed)


def test_the_evidence_counts_the_runs_and_what_they_cover() -> None:
    assert evidence(recommended(considered=seen(16, 9, 18))) == "18 runs cover 9 of 16 candidates"
    assert evidence(recommended(considered=seen(1, 1, 1))) == "1 run covers all 1 candidate"
    assert evidence(recommended(considered=seen(2000, 2000, 4000))) == "4,000 runs cover all 2,000 candidates"
    assert evidence(recommended()) == ""


def test_the_evidence_says_how_often_runs_failed() -> None:
    none = recommended(considered=seen(4, 4, 58), no_failure=NoFailure(58))
    assert evidence(none) == "58 runs cover all 4 candidates; none failed (failure rate below 5%, 95% confidence)"
    some = recommended(candidate(failure_probability=0.2), considered=seen(4, 4, 1000, 30))
    assert evidence(some).endswith("; 30 of 1,000 failed")
    assert dict(answer_lines(some))["Failures"].startswith("20% of submissions are expected to fail; ")
    assert evidence(recommended(considered=seen(4, 4, 1000, 30))).endswith("; 30 of 1,000 failed")


def test_the_evidence_says_whether_these_settings_were_run() -> None:
    near = Nearest(Configuration({"executors": 2}), 0.214)
    never = recommended(candidate(runs=0), nearest=near)
    assert evidence(never) == "these settings were never run; closest run executors=2, 0.21 of a measured range away"
    assert (
        evidence(recommended(candidate(runs=0), nearest=Nearest(Configuration(), 0.0)))
        == "these settings were never run"
    )
    assert evidence(recommended(candidate(runs=0))) == "these settings were never run"
    lost = recommended(candidate(runs=0, other_runs=2), nearest=near)
    assert evidence(lost) == "2 runs of these settings ended without a result"
    assert evidence(recommended(candidate(runs=1, other_runs=2), nearest=near)) == ""


# ---------------------------------------------------------------- others


def test_others_are_a_tie_the_untested_what_a_limit_costs_and_else_the_runner_up() -> None:
    def change(text: str) -> Alternative:
        return Alternative(Limit("time_s", 9.0), 10.0, candidate(), 1.0, text)

    second = {"runner_up": candidate(5)}
    assert other_lines(recommended(**second)) == [("Runner-up", "executors=5: 20.0 s, 80%")]
    full = recommended(
        tie=candidate(2, runs=0),
        tie_spends="2.1 times the cost",
        untested=candidate(3),
        alternatives=(change("a"), change("b")),
        **second,
    )
    assert other_lines(full) == [
        ("Tie", "executors=2: 20.0 s, 80%, 2.1 times the cost, never run"),
        ("Untested", "executors=3: 20.0 s, 80% predicted, but never run; run it to find out"),
        ("Trade-off", "a"),
    ]
    detailed = other_lines(full, details=True)
    assert [label for label, _ in detailed] == ["Tie", "Untested", "Trade-off", "Trade-off", "Runner-up"]
    assert other_lines(recommended(tie=candidate(2))) == [("Tie", "executors=2: 20.0 s, 80%")]
    assert other_lines(recommended()) == []


def test_values_are_named_where_their_unit_does_not_tell_what_they_are() -> None:
    values = [("time_s", 20.0), ("cost", 1.5), ("accuracy", 0.8), ("error_count", 3.0)]
    one = Candidate(Configuration(), tuple(Prediction(name, v, v, v, 0.9) for name, v in values), 1.0, 1)
    assert short_values(recommended(), one) == "20.0 s, 1.50 USD, 80%, error count 3"
