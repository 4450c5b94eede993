"""What is said of an answer: why it was chosen, what each limit costs, and what would help where nothing fits."""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from recommend_support import Normals, asked
from sparkcast.recommend import Alternative, Candidate, Limit
from sparkcast.recommend.evaluation import Asked
from sparkcast.recommend.explain import alternatives, excluded, infeasible, spends, why
from sparkcast.recommend.question import Objective, Question
from sparkcast.study import Configuration

FASTEST, CHEAPEST = Objective("time_s", False), Objective("cost", False)
MOST_ACCURATE, FEWEST = Objective("accuracy", True), Objective("error_count", False)
SURE = 1e-9  # a spread next to nothing: what is predicted is what comes


def certain(*values: float) -> Normals:
    return Normals.of(values, [SURE * value for value in values])


def candidate(found: Asked, row: int) -> Candidate:
    return Candidate(found.view.candidates.configuration(row), (), 1.0, 0)


def changes(found: Asked, chosen: int) -> tuple[Alternative, ...]:
    return alternatives(found, chosen, lambda row: candidate(found, row))


# ---------------------------------------------------------------- why


@pytest.mark.parametrize(
    ("objective", "best"),
    [
        (FASTEST, "shortest predicted time of the 3 candidates"),
        (CHEAPEST, "lowest predicted cost of the 3 candidates"),
        (MOST_ACCURATE, "highest predicted accuracy of the 3 candidates"),
        (FEWEST, "lowest predicted error count of the 3 candidates"),
    ],
)
def test_the_best_is_called_by_what_it_is_best_in(objective: Objective, best: str) -> None:
    tables: dict[str, Any] = {objective.response: certain(0.1, 0.2, 0.3)}
    found = asked(objective, **tables)
    assert why(found, is_tie=False) == best
    assert why(found, is_tie=False, reasons=["It is so", "It must be"]) == f"{best}. It is so. It must be"


def kept_of(limits: Sequence[Limit], **more: Any) -> str:
    tables: dict[str, Any] = {
        "time_s": certain(10, 20, 30),
        "cost": certain(3, 2, 1),
        "accuracy": certain(0.7, 0.8, 0.9),
    }
    return why(asked(FASTEST, limits, **tables, **more), is_tie=False).partition(" of the ")[2]


def test_those_to_choose_from_are_counted_with_the_limits_that_they_meet() -> None:
    assert kept_of([Limit("time_s", 25)]) == "2 candidates (of 3) that meet the deadline"
    assert kept_of([Limit("time_s", 35)]) == "3 candidates that meet the deadline"
    assert kept_of([Limit("cost", 2.5)]) == "2 candidates (of 3) that meet the budget"
    assert kept_of([Limit("accuracy", 0.75, False)]) == "2 candidates (of 3) that meet the limit"
    assert kept_of([Limit("accuracy", 0.85)]) == "2 candidates (of 3) that meet the limit"
    assert kept_of([Limit("time_s", 5.0, False)]) == "3 candidates that meet the limit"  # no deadline: at least so long
    assert kept_of([Limit("time_s", 35), Limit("cost", 2.5)]) == "2 candidates (of 3) that meet all limits"
    assert kept_of([], broke=[2]) == "2 candidates (of 3)"
    assert kept_of([], wanted=[True, True, False]) == "2 candidates"
    only = asked(FASTEST, [Limit("time_s", 15)], time_s=certain(10, 20, 30))
    assert why(only, is_tie=False) == "the only candidate (of 3) that meets the deadline"
    single = asked(FASTEST, time_s=certain(10))
    assert why(single, is_tie=True, reasons=["It ran"]) == "the only candidate. It ran"


def test_of_a_tie_it_is_said_what_is_saved() -> None:
    def saved(spent: str | None) -> str:
        tables: dict[str, Any] = {
            "accuracy": certain(0.7, 0.8),
            "time_s": certain(9, 8),
            "cost": certain(1, 2),
            "error_count": certain(4, 5),
        }
        return why(asked(MOST_ACCURATE, spends=spent, **tables), is_tie=True).partition(", and ")[2]

    assert saved("time_s") == "takes less time"
    assert saved("cost") == "costs less"
    assert saved("error_count") == "uses fewer error count"
    assert saved(None) == "was run"
    found = asked(MOST_ACCURATE, spends="cost", accuracy=certain(0.7, 0.8), cost=certain(1, 2))
    assert why(found, is_tie=True) == "ties for the highest predicted accuracy of the 2 candidates, and costs less"


def test_what_more_is_spent_is_a_ratio_in_as_many_digits_as_it_needs() -> None:
    found = asked(FASTEST, spends="cost", time_s=certain(1, 1, 1, 1), cost=certain(1.0, 1.015, 1.126, 2.345))
    shown = [spends(found, row, 0) for row in range(4)]
    assert shown == ["", "", "1.13 times the cost", "2.3 times the cost"]
    assert spends(found, 0, 3) == ""
    assert spends(asked(FASTEST, time_s=certain(1, 2)), 1, 0) == ""


def test_those_that_were_not_to_choose_from_are_counted_by_reason() -> None:
    found = asked(
        FASTEST,
        time_s=certain(1, 2, 3, 4, 5, 6, 7),
        broke=[0, 1],
        unsupported=[1, 2],
        failure=[0, 0, 0, 0.5, 0.5, 0, 0],
        proven=[4],
        near=[True, True, True, True, True, False, True],
        wanted=[True, True, True, True, True, True, True],
    )
    assert excluded(found) == (
        "2 candidates: failed every time",
        "1 candidate: likely to fail",
        "1 candidate: too far from what was measured",
        "1 candidate: combinations unlike any run",
    )
    assert excluded(asked(FASTEST, time_s=certain(1, 2))) == ()
    unwanted = asked(FASTEST, time_s=certain(1, 2, 3), broke=[0], wanted=[False, True, True])
    assert excluded(unwanted) == ()  # nobody asked for it


# ---------------------------------------------------------------- what a limit costs


def test_the_smallest_change_of_each_limit_with_which_something_better_fits_is_named() -> None:
    limits = [Limit("time_s", 12.0), Limit("cost", 2.5)]
    found = asked(
        MOST_ACCURATE,
        limits,
        time_s=certain(10, 15, 14, 14, 11),
        cost=certain(2, 2, 2, 4, 3),
        accuracy=certain(0.7, 0.9, 0.8, 0.95, 0.85),
    )
    later, dearer = changes(found, 0)
    # More time: row 2 needs least; row 3 needs more money as well. More money: row 4 alone.
    assert (later.limit, later.candidate.configuration["executors"]) == (limits[0], 3)
    assert later.needed == pytest.approx(14)
    assert later.gain == pytest.approx(0.1)
    assert later.probability == pytest.approx(1.0)
    assert later.text == "a deadline of 15 s allows executors=3: +10 points of accuracy"
    assert (dearer.limit, dearer.candidate.configuration["executors"]) == (limits[1], 5)
    assert dearer.needed == pytest.approx(3)
    assert dearer.text == "a budget of 3.01 USD allows executors=5: +15 points of accuracy"


def test_of_those_that_need_the_same_the_best_is_named() -> None:
    found = asked(
        MOST_ACCURATE, [Limit("time_s", 12.0)], time_s=certain(10, 14, 14, 14), accuracy=certain(0.7, 0.8, 0.9, 0.85)
    )
    [one] = changes(found, 0)
    assert one.candidate.configuration == {"executors": 3}


def test_a_lower_bound_is_lowered() -> None:
    limit = Limit("accuracy", 0.9, is_upper=False)
    found = asked(FASTEST, [limit], accuracy=certain(0.95, 0.85, 0.8999, 0.7), time_s=certain(30, 20, 25, 10))
    [one] = changes(found, 0)
    assert one.candidate.configuration == {"executors": 3}
    assert one.needed == pytest.approx(0.8999)
    assert one.gain == pytest.approx(5.0)
    assert one.text == "a limit of accuracy >= 0.8998 allows executors=3: time 30.0 s -> 25.0 s (-17%)"


def test_an_upper_bound_on_what_is_neither_time_nor_money_is_raised_in_four_decimals() -> None:
    found = asked(FASTEST, [Limit("error_count", 0.5)], error_count=certain(0.4, 0.61234), time_s=certain(30, 20))
    [one] = changes(found, 0)
    assert one.text == "a limit of error_count <= 0.6124 allows executors=2: time 30.0 s -> 20.0 s (-33%)"


def test_what_is_better_by_chance_only_is_no_alternative() -> None:
    """The difference of two normal means: 0.01 with a standard deviation of sqrt(2) x 0.0125 is one in 0.71."""

    def offered(gain: float) -> tuple[Alternative, ...]:
        accuracy = Normals.of([0.8, 0.8 + gain], 0.025)  # half of it is of the mean
        return changes(asked(MOST_ACCURATE, [Limit("time_s", 12.0)], time_s=certain(10, 14), accuracy=accuracy), 0)

    assert offered(0.01) == ()
    [one] = offered(0.02)
    chance = NormalDist().cdf(0.02 / (math.sqrt(2) * 0.0125))
    assert one.probability == pytest.approx(chance)
    assert one.text == f"a deadline of 15 s allows executors=2: +2 points of accuracy, with {chance:.0%} probability"


def test_of_times_less_is_better() -> None:
    found = asked(FASTEST, [Limit("cost", 2.5)], time_s=certain(10, 8, 12), cost=certain(2, 3, 2.6))
    [one] = changes(found, 0)
    assert one.candidate.configuration == {"executors": 2}
    assert one.gain == pytest.approx(2.0)
    assert "time 10.0 s -> 8.00 s (-20%)" in one.text


# ---------------------------------------------------------------- nothing fits


def refused(found: Asked, *freed: tuple[str, Candidate], held: Configuration | None = None) -> tuple[str, str, Any]:
    error = infeasible(found, freed, held or Configuration())
    return error.problem, error.hint or "", error.nearest


def test_the_closest_is_named_with_its_chance_and_each_limit_with_the_value_that_would_do() -> None:
    times = Normals.of([20, 30, 15], 1.0)
    found = asked(FASTEST, [Limit("time_s", 14.0)], question=Question(confidence=0.9), time_s=times)
    problem, hint, [nearest] = refused(found)
    chance = NormalDist().cdf(-1.0)
    assert problem == (
        "no candidate meets the 14 s deadline with 90% probability\n"
        f"  closest: executors=3 (predicted 15.0 s) meets it with {chance:.0%} probability"
    )
    needed = 15 + NormalDist().inv_cdf(0.9)
    assert nearest.needed == pytest.approx(needed)
    assert nearest.configuration == {"executors": 3}
    assert hint == f"relax the deadline to 17 s (`within_s={math.ceil(needed)}`), which executors=3 meets"


def test_a_short_deadline_is_rounded_up_to_a_hundredth_of_a_second() -> None:
    _, hint, _ = refused(asked(FASTEST, [Limit("time_s", 4.0)], time_s=certain(4.1234, 9)))
    assert hint == "relax the deadline to 4.13 s (`within_s=4.13`), which executors=1 meets"


def test_without_a_time_the_closest_is_the_most_likely_one() -> None:
    accuracy = Normals.of([0.7, 0.88, 0.8], [0.01, 0.01, 0.2])
    found = asked(MOST_ACCURATE, [Limit("accuracy", 0.9, False)], accuracy=accuracy)
    problem, hint, _ = refused(found)
    chance = 1 - NormalDist().cdf(0.5)
    assert problem.endswith(f"closest: executors=3 meets it with {chance:.0%} probability")
    low = 0.88 - NormalDist().inv_cdf(0.95) * 0.01
    bound = f"accuracy >= {math.floor(low * 1e4) / 1e4:g}"
    assert hint == f"relax the limit to {bound} (`limits=[{bound!r}]`), which executors=2 meets"


def test_an_upper_bound_of_another_response_is_relaxed_upwards() -> None:
    _, hint, _ = refused(asked(FEWEST, [Limit("error_count", 0.5)], error_count=certain(0.9, 0.61234)))
    assert (
        hint == "relax the limit to error_count <= 0.6124 (`limits=['error_count <= 0.6124']`), which executors=2 meets"
    )


def test_a_limit_is_relaxed_only_where_all_others_are_kept() -> None:
    limits = [Limit("time_s", 12.0), Limit("cost", 2.5)]
    found = asked(FASTEST, limits, time_s=certain(13, 14, 11), cost=certain(3, 2, 4))
    problem, hint, nearest = refused(found)
    assert "meets the 12 s deadline and the 2.50 USD budget with 95% probability" in problem
    assert "closest: executors=3 (predicted 11.0 s) meets all of these with <1% probability" in problem
    assert [(one.limit.response, one.configuration["executors"]) for one in nearest] == [("time_s", 2), ("cost", 3)]
    later, dearer = hint.split("; or ")
    assert later == "relax the deadline to 15 s (`within_s=15`), which executors=2 meets"
    assert dearer.startswith("raise the budget to 4.01 USD (`budget=4.0")


def test_where_no_single_limit_helps_it_is_said_what_each_alone_could_be() -> None:
    limits = [Limit("time_s", 5.0), Limit("cost", 0.5), Limit("accuracy", 0.99, False)]
    tables: dict[str, Any] = {
        "time_s": certain(13, 11.6),
        "cost": certain(3.1234, 4),
        "accuracy": certain(0.8, 0.90567),
    }
    _, hint, nearest = refused(asked(FASTEST, limits, **tables))
    assert nearest == ()
    # Rounded to what is still met: 11.6 s are no deadline of 11 s, nor 0.90567 a limit of 0.9057.
    assert hint == (
        "relaxing a single limit is not enough: a deadline of 12 s is possible on its own; "
        "a budget of 3.13 USD is possible on its own; a limit of accuracy >= 0.9056 is possible on its own"
    )


def test_the_chance_of_failing_is_relaxed_where_that_alone_helps() -> None:
    failure = [0.3004, 0.2, 0.6]
    found = asked(FASTEST, [Limit("time_s", 12.0)], time_s=certain(10, 20, 9), failure=failure)
    _, hint, _ = refused(found)
    assert hint == "with `max_failure=0.31`, executors=1 qualifies"
    safe = asked(FASTEST, [Limit("time_s", 12.0)], time_s=certain(10, 20, 9), failure=[0.3, 0.05, 0.6])
    assert refused(safe)[1].split("; or ")[0].startswith("relax the deadline to ")
    problem, _, _ = refused(asked(FASTEST, time_s=certain(10, 20), failure=[0.3, 0.2], broke=[]))
    assert problem == "all 2 candidates have a failure probability above 10%, the lowest being 20%"


def test_a_fixed_setting_and_too_much_data_are_named() -> None:
    question = Question(fix={"batch_size": 64})
    found = asked(FASTEST, [Limit("time_s", 5.0)], question=question, time_s=certain(10, 20))
    chosen = Candidate(Configuration({"executors": 9}), (), 1.0, 0)
    problem, hint, nearest = refused(found, ("batch_size", chosen), held=Configuration({"rows": 900}))
    assert "with 95% probability at batch_size=64\n" in problem
    first, second, third = hint.split("; or ")
    assert first.startswith("relax the deadline to ")
    assert second == "remove `fix={'batch_size': 64}`: executors=9 qualifies"
    assert third.startswith("ask about less data than rows=900")
    assert nearest[-1] == {"executors": 9}
    at_least = asked(MOST_ACCURATE, [Limit("accuracy", 0.9, False)], accuracy=certain(0.5, 0.6))
    assert "less data" not in refused(at_least, held=Configuration({"rows": 900}))[1]  # less would not be better


def test_a_run_of_what_is_unlike_any_run_is_proposed_where_its_prediction_keeps_to_all_limits() -> None:
    found = asked(
        FASTEST,
        [Limit("time_s", 8.0)],
        time_s=certain(10, 6, 7, 9),
        near=[True, False, False, False],
        n_runs=[1, 0, 0, 0],
    )
    _, hint, _ = refused(found)
    assert hint.endswith("run executors=2, which is predicted to qualify but is unlike any run")
    nowhere = asked(FASTEST, [Limit("time_s", 5.0)], time_s=certain(10, 6), near=[True, False])
    assert "unlike any run" not in refused(nowhere)[1]


def test_points_of_a_share_and_percents_of_anything_else() -> None:
    def gained(values: Normals, objective: Objective) -> str:
        tables: dict[str, Any] = {"cost": certain(2, 3), objective.response: values}
        [one] = changes(asked(objective, [Limit("cost", 2.5)], **tables), 0)
        return one.text.partition(": ")[2]

    assert gained(certain(0.5, 0.625), MOST_ACCURATE) == "+12 points of accuracy"
    assert gained(certain(50, 62.5), MOST_ACCURATE) == "accuracy 50 -> 62.5 (+25%)"
    assert gained(Normals.of([-3.0, -1.5], SURE), MOST_ACCURATE) == "accuracy -3 -> -1.5 (+50%)"
    assert gained(certain(200, 50), FEWEST) == "error count 200 -> 50 (-75%)"
    none = Normals.of([0.0, -3.0], SURE)
    assert gained(none, FEWEST) == "error count 0 -> -3"


def test_the_rows_that_are_compared_are_those_of_the_candidates() -> None:
    found = asked(FASTEST, time_s=certain(3, 1, 2))
    assert found.order.tolist() == np.argsort([3, 1, 2]).tolist()
