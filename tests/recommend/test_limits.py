"""Recommendations under a deadline, a budget, an accuracy, rules and failures."""

import math
import random
from itertools import product
from typing import Any

import pytest
from scipy.stats import beta

from sparkcast.errors import InfeasibleError, NotEnoughDataError, StudyError
from sparkcast.learned.curves import fit_curve
from sparkcast.learned.knowledge import Knowledge
from sparkcast.recommend import Limit, Recommendation
from sparkcast.recommend.lines import answer_lines
from sparkcast.recommend.pool import measured_epochs
from sparkcast.study import Configuration, Dataset, Epoch, Expression, Listed, Observation, Outcome, Price
from sparkcast.study.space import Space
from tests_support import ask as ask_of
from tests_support import recommend, recommender

EXECUTORS, BATCHES = (1, 2, 4, 8), (64, 128, 256, 512)
SPACE = Space({"executors": EXECUTORS, "batch_size": BATCHES}, Configuration({"cores": 2}))
PRICE = Price(core_hour=1.0)


def seconds(executors: int, batch_size: int) -> float:
    """Halving the time takes more than twice the executors, so each has its price."""
    return float(20 + 400 / executors**0.8 * (64 / batch_size) ** 0.5)


def measured(**others: Any) -> Dataset:
    noise = random.Random(4)
    return Dataset(
        ("executors", "batch_size"),
        tuple(
            Observation(
                {"executors": e, "batch_size": b, "cores": 2, **others},
                {"time_s": seconds(e, b) * math.exp(noise.gauss(0, 0.01)), "accuracy": 0.99 - 0.02 * math.log2(b / 64)},
                replicate=r,
            )
            for e, b in product(EXECUTORS, BATCHES)
            for r in (1, 2)
        ),
        responses=("time_s", "accuracy"),
    )


RECOMMENDER = recommender(measured(), SPACE, price=PRICE, model="bayesian")


def ask(**question: Any) -> Recommendation:
    return ask_of(RECOMMENDER, **question)


# ---------------------------------------------------------------- budget and accuracy


def test_a_budget_is_kept_with_the_wanted_probability() -> None:
    found = ask(budget=0.15, minimize="time_s")
    assert found.limits == (Limit("cost", 0.15),)
    assert found.chosen.probability >= 0.95
    assert found.chosen.predicted("cost").high <= 0.15
    dearer = [c for c in found.candidates if c.probability < 0.95]
    assert all(c.predicted("cost").high > 0.15 for c in dearer)
    # Nothing that keeps to the budget is faster.
    kept = [c for c in found.candidates if c.probability >= 0.95]
    assert found.chosen.predicted("time_s").value == min(c.predicted("time_s").value for c in kept)


def test_an_accuracy_can_be_demanded() -> None:
    found = ask(min_accuracy=0.96, minimize="time_s")
    assert found.limits == (Limit("accuracy", 0.96, is_upper=False),)
    assert found.chosen.configuration == {"executors": 8, "batch_size": 128}
    assert found.chosen.predicted("accuracy").low >= 0.96


def test_with_a_budget_and_no_objective_the_accuracy_counts() -> None:
    assert ask(budget=0.2).objective == "maximize accuracy"


def test_all_limits_hold_at_once() -> None:
    found = ask(within_s=170.0, budget=0.17, min_accuracy=0.93, minimize="cost")
    time, cost, accuracy = (found.chosen.predicted(name) for name in ("time_s", "cost", "accuracy"))
    assert time.high <= 170
    assert cost.high <= 0.17
    assert accuracy.low >= 0.93
    assert [limit.response for limit in found.limits] == ["time_s", "cost", "accuracy"]
    assert found.why == "the only candidate (of 16) that meets all limits"
    assert len(found.chances) == 3
    # Time and cost are kept by the same draws, and the accuracy by others.
    assert 0.95 <= found.chosen.probability <= min(found.chances)


# ---------------------------------------------------------------- what a limit costs


def test_what_the_deadline_costs_is_the_least_time_with_which_something_better_fits() -> None:
    found = ask(within_s=80.0)
    [alternative] = found.alternatives
    assert alternative.limit == Limit("time_s", 80.0)
    assert alternative.gain > 0
    assert alternative.needed > 80
    assert alternative.text.startswith(f"a deadline of 1 min {math.ceil(alternative.needed) - 60} s allows executors=8")
    assert "points of accuracy" in alternative.text
    # With that deadline it is chosen, and with a little less it is not.
    later = ask(within_s=alternative.needed + 1e-6)
    assert later.chosen.predicted("accuracy").value > found.chosen.predicted("accuracy").value
    almost = ask(within_s=alternative.needed - 0.01)
    assert almost.chosen.configuration == found.chosen.configuration


def test_a_limit_that_costs_nothing_has_no_alternative() -> None:
    assert ask(within_s=5000.0).alternatives == ()
    assert ask().alternatives == ()


# ---------------------------------------------------------------- nothing fits


def refusal(**question: Any) -> InfeasibleError:
    with pytest.raises(InfeasibleError) as caught:
        ask(**question)
    assert caught.value.exit_code == 5
    return caught.value


def test_each_single_limit_that_would_help_is_named_with_its_value() -> None:
    error = refusal(within_s=80.0, budget=0.1, minimize="cost")
    assert "\n  closest: executors=8, batch_size=512 (predicted " in error.problem
    assert "the 1 min 20 s deadline and the 0.10 USD budget" in error.problem
    deadline = float(error.hint.split("`within_s=")[1].split("`")[0])
    budget = float(error.hint.split("`budget=")[1].split("`")[0])
    assert ask(within_s=deadline, budget=0.1).chosen.probability >= 0.95
    assert ask(within_s=80.0, budget=budget).chosen.probability >= 0.95


def test_a_fixed_setting_that_stands_in_the_way_is_named() -> None:
    error = refusal(within_s=60.0, fix={"executors": 1})
    assert "remove `fix={'executors': 1}`: executors=8, batch_size=" in error.hint
    assert "qualifies" in error.hint


def test_when_more_than_one_limit_must_change_it_says_so() -> None:
    error = refusal(within_s=5.0, budget=0.001, min_accuracy=0.9899, minimize="cost")
    assert "relaxing a single limit is not enough" in error.hint
    assert "is possible on its own" in error.hint


def test_rules_that_leave_nothing_are_infeasible_and_name_what_to_change() -> None:
    space = Space(SPACE.levels, SPACE.fixed, (Expression("executors * cores <= 4"), Expression("batch_size >= 128")))
    with pytest.raises(InfeasibleError, match="leave no candidate with executors=8") as caught:
        recommend(measured(), space, model="ridge", fix={"executors": 8})
    assert "leave out `fix={'executors': 8}`" in caught.value.hint
    assert "relax the rule 'executors * cores <= 4'" in caught.value.hint
    assert "batch_size >= 128" not in caught.value.hint


def test_an_impossible_rule_alone_is_infeasible_too() -> None:
    space = Space(SPACE.levels, SPACE.fixed, (Expression("executors > 100"),))
    with pytest.raises(InfeasibleError, match="the rules leave no candidate"):
        recommend(measured(), space, model="ridge")


# ---------------------------------------------------------------- candidates


def test_rules_apply_to_fixed_values_that_no_level_has() -> None:
    space = Space(SPACE.levels, SPACE.fixed, (Expression("batch_size % executors == 0"),))
    with pytest.raises(InfeasibleError, match="executors=3"):
        recommend(measured(), space, model="ridge", fix={"executors": 3})
    wider = space.with_levels({"batch_size": (96, 192, 384)})
    found = recommend(measured(), wider, model="ridge", fix={"executors": 3})
    assert found.chosen.configuration == {"executors": 3, "batch_size": 384}
    assert found.chosen.measured_runs == 0


def test_other_levels_of_listed_candidates_are_combined_with_the_rest() -> None:
    listed = Listed(
        (
            Configuration({"executors": 1, "batch_size": 64}),
            Configuration({"executors": 2, "batch_size": 64}),
        )
    )
    wider = listed.with_levels({"batch_size": (100, 200)}).candidates().configurations()
    assert wider == [Configuration({"executors": e, "batch_size": b}) for e, b in product((1, 2), (100, 200))]


def test_the_distance_from_what_was_measured_is_told() -> None:
    assert ask(within_s=300.0).nearest is not None
    measured_one = ask(fix={"executors": 4, "batch_size": 128}).nearest
    assert measured_one is not None
    assert measured_one.configuration == {"executors": 4, "batch_size": 128}
    assert measured_one.distance == 0.0
    between = ask(fix={"executors": 4, "batch_size": 181.02}).nearest
    assert between is not None
    assert between.distance == pytest.approx(0.5 / 3, abs=1e-3)  # half of one of three doublings


def test_answers_are_the_same_whether_asked_first_or_again() -> None:
    deadlines = (80.0, 120.0, 300.0)
    again = [ask(within_s=seconds) for seconds in deadlines]
    fresh = [recommend(measured(), SPACE, price=PRICE, model="bayesian", within_s=seconds) for seconds in deadlines]
    assert again == fresh


@pytest.mark.parametrize(
    "fix", [{"executors": 4}, {"executors": "4", "batch_size": 128}, {"executors": 3}, {"cores": 2}]
)
def test_a_fixed_setting_gives_the_same_answer_whether_all_candidates_were_looked_at_before_or_not(
    fix: dict[str, Any],
) -> None:
    before = recommender(measured(), SPACE, price=PRICE, model="ridge")
    ask_of(before)
    assert ask_of(before, within_s=200.0, fix=fix) == recommend(
        measured(), SPACE, price=PRICE, model="ridge", within_s=200.0, fix=fix
    )


def test_no_more_candidates_are_listed_than_wanted() -> None:
    found = ask(within_s=100.0, most=3)
    assert len(found.candidates) == 3
    assert found.n_candidates == 16


# ---------------------------------------------------------------- the Pareto front


def test_nothing_on_the_front_is_beaten_by_a_candidate_and_the_chosen_one_is_on_it() -> None:
    found = ask(within_s=150.0)
    front = [[c.predicted(r).value for r in ("time_s", "cost", "accuracy")] for c in found.pareto]
    everyone = [[c.predicted(r).value for r in ("time_s", "cost", "accuracy")] for c in found.candidates]
    assert len(front) > 2
    for time, cost, accuracy in front:
        assert not any(t < 0.99 * time and c < 0.99 * cost and a > accuracy + 0.001 for t, c, a in everyone)
    assert [row[0] for row in front] == sorted(row[0] for row in front)
    assert found.chosen.configuration in [c.configuration for c in found.pareto]


def test_one_response_alone_has_no_front() -> None:
    data = measured()
    only_time = Dataset(
        data.factors, tuple(Observation(o.configuration, {"time_s": o.responses["time_s"]}) for o in data.observations)
    )
    assert recommend(only_time, SPACE, model="ridge").pareto == ()


# ---------------------------------------------------------------- failures


def with_failures() -> Dataset:
    """Little memory fails, with large batches more often; memory does not change the time."""
    noise = random.Random(1)
    runs = []
    for m, b in product(("1g", "2g", "4g", "8g"), BATCHES):
        for r in (1, 2):
            fails = (m == "1g" and b >= 128) or (m == "2g" and b == 512)
            runs.append(
                Observation(
                    {"memory": m, "batch_size": b},
                    {} if fails else {"time_s": 100 * (64 / b) ** 0.5 * math.exp(noise.gauss(0, 0.01))},
                    outcome=Outcome.OOM if fails else Outcome.OK,
                    replicate=r,
                )
            )
    return Dataset(("memory", "batch_size"), tuple(runs), responses=("time_s",))


MEMORY = Space({"memory": ("1536m", "3g", "6g", "8g"), "batch_size": (64, 128, 256, 384)})


def test_what_is_likely_to_run_out_of_memory_is_not_recommended() -> None:
    found = recommend(with_failures(), MEMORY, price=Price(gib_hour=1.0), model="ridge", minimize="cost")
    assert found.chosen.failure_probability is not None
    assert found.chosen.failure_probability <= 0.1
    assert any("likely to fail" in text for text in found.excluded)
    assert "of submissions are expected to fail" in dict(answer_lines(found))["Failures"]
    risky = recommend(
        with_failures(), MEMORY, price=Price(gib_hour=1.0), model="ridge", minimize="cost", max_failure=0.9
    )
    assert risky.n_candidates > found.n_candidates
    assert risky.chosen.predicted("cost").value < found.chosen.predicted("cost").value


def test_what_ran_and_never_failed_is_allowed_whatever_the_model_of_failures_says() -> None:
    found = recommend(with_failures(), MEMORY, model="ridge", fix={"memory": "1g", "batch_size": 64})
    assert found.chosen.measured_runs == 2
    assert found.chosen.failure_probability is not None


def test_relaxing_the_chance_of_failure_is_proposed_when_that_alone_helps() -> None:
    with pytest.raises(InfeasibleError) as caught:
        recommend(with_failures(), MEMORY, model="ridge", within_s=60.0, fix={"memory": "1536m"}, max_failure=0.05)
    assert "with `max_failure=0." in caught.value.hint


def test_without_a_failed_run_a_bound_is_all_that_is_said_of_failing() -> None:
    found = ask(within_s=100.0)
    assert found.chosen.failure_probability is None
    n = len(measured().observations)
    assert found.no_failure is not None
    assert found.no_failure.runs == n
    assert found.no_failure.below == pytest.approx(beta.ppf(0.95, 1, n))  # of Clopper and Pearson, for no failure


# ---------------------------------------------------------------- epochs


def with_curves() -> Dataset:
    """Ten epochs each; a small batch learns faster by epoch, a large one is faster by time."""
    noise = random.Random(3)
    runs = []
    for e, b in product((1, 2, 4), (64, 128, 256)):
        for r in (1, 2):
            each = 40 / e * (64 / b) ** 0.5 * math.exp(noise.gauss(0, 0.01))
            odds = [1.5 + 1.2 * math.log(n) - 0.4 * math.log2(b / 64) for n in range(1, 11)]
            curve = tuple(
                Epoch(n, 2 + each * n, {"accuracy": 1 / (1 + math.exp(-o + noise.gauss(0, 0.01)))})
                for n, o in enumerate(odds, 1)
            )
            responses = {"time_s": curve[-1].time_s, **curve[-1].values}
            runs.append(
                Observation({"executors": e, "batch_size": b, "epochs": 10}, responses, replicate=r, curve=curve)
            )
    return Dataset(("executors", "batch_size"), tuple(runs), responses=("time_s", "accuracy"))


EPOCH_SPACE = Space({"executors": (1, 2, 4), "batch_size": (64, 128, 256)}, Configuration({"epochs": 10}))


def test_a_free_number_of_epochs_is_traded_against_the_batch_size() -> None:
    data = with_curves()
    free = EPOCH_SPACE.with_levels({"epochs": measured_epochs(Knowledge(data))})
    with pytest.raises(InfeasibleError):
        recommend(data, EPOCH_SPACE, within_s=40.0, maximize="accuracy")
    found = recommend(data, free, within_s=40.0, maximize="accuracy")
    assert found.models == {"time_s": "curve", "accuracy": "curve"}
    assert found.chosen.configuration["executors"] == 4
    assert 1 <= int(found.chosen.configuration["epochs"]) < 10
    assert any(f"epochs={found.chosen.configuration['epochs']}" in note for note in found.launch.notes)
    assert found.chosen.measured_runs == 0
    # What is chosen is the best of all pairs that meet the deadline, by the same curves.
    times, accuracies = fit_curve(data, "time_s"), fit_curve(data, "accuracy")
    pairs = [
        Configuration({"executors": 4, "batch_size": b, "epochs": n}) for b in (64, 128, 256) for n in range(1, 11)
    ]
    possible = [c for c, p in zip(pairs, times.probability_below(pairs, 40.0), strict=True) if p >= 0.95]
    best = max(accuracies.predict(possible))
    assert found.chosen.predicted("accuracy").value == pytest.approx(best, abs=5e-4)


def test_another_number_of_epochs_may_be_fixed() -> None:
    found = recommend(with_curves(), EPOCH_SPACE, fix={"epochs": 5})
    assert found.chosen.configuration["epochs"] == 5
    assert found.models["time_s"] == "curve"
    same = recommend(with_curves(), EPOCH_SPACE, fix={"epochs": 10}, model="ridge")
    assert "epochs" not in same.chosen.configuration
    assert same.models["time_s"] == "ridge"


def test_epochs_are_not_free_where_no_run_tells_them() -> None:
    with pytest.raises(NotEnoughDataError, match="no run reports its epochs"):
        measured_epochs(Knowledge(measured()))
    with pytest.raises(NotEnoughDataError, match="do not report time_s per epoch"):
        recommend(measured(epochs=2), SPACE.with_levels({"epochs": (1, 2)}), model="ridge")


# ---------------------------------------------------------------- malformed questions


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({"budget": 0.0}, "a budget of 0 is not positive"),
        ({"budget": -1.0}, "a budget of -1 is not positive"),
        ({"min_accuracy": -0.1}, "an accuracy of -0.1 is not possible"),
        ({"min_accuracy": 101.0}, "an accuracy of 101 is not possible"),
        ({"max_failure": 1.0}, "max_failure 1 is not between"),
        ({"within_s": math.inf}, "a deadline of inf s"),
        ({"minimize": "cots"}, "did you mean 'accuracy'|no run has the response 'cots'"),
    ],
)
def test_a_malformed_limit_is_refused_with_a_hint(question: dict[str, Any], words: str) -> None:
    with pytest.raises(StudyError, match=words) as caught:
        ask(**question)
    assert caught.value.hint


def test_an_accuracy_in_percent_is_refused_where_accuracies_are_shares() -> None:
    with pytest.raises(StudyError, match="accuracy never reaches 95: it is a share here"):
        ask(min_accuracy=95.0)


def test_a_budget_without_a_price_is_refused() -> None:
    with pytest.raises(StudyError, match="unknown without a price"):
        recommend(measured(), SPACE, model="ridge", budget=1.0)


def test_a_refusal_offers_the_likeliest_candidate_the_confidence_it_has_and_a_run_that_may_settle_it() -> None:
    data = measured()
    some = tuple(run for run in data.observations if run.configuration["batch_size"] != 256)
    answering = recommender(Dataset(data.factors, some, responses=data.responses), SPACE, model="bayesian")
    fix = {"executors": 4, "batch_size": 256}
    [median] = [c.predicted("time_s").value for c in ask_of(answering, fix=fix).candidates]
    with pytest.raises(InfeasibleError) as caught:
        ask_of(answering, within_s=1.003 * median, fix=fix)
    hint = caught.value.hint
    enough = float(hint.split("`confidence=")[1].split("`")[0])
    assert 0.5 <= enough < 0.95
    assert ask_of(answering, within_s=1.003 * median, fix=fix, confidence=enough).chosen.probability >= enough
    assert "run executors=4, batch_size=256 to find out" in hint


def test_what_was_run_is_no_run_that_may_settle_a_refusal() -> None:
    assert "to find out" not in refusal(within_s=80.0, fix={"executors": 1}).hint
