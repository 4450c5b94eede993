"""What is chosen from, what is listed, and what a recommendation says of itself: on runs whose law is known."""

import math
import random
from itertools import product
from typing import Any

import pytest

from sparkcast.errors import InfeasibleError, NotEnoughDataError, StudyError
from sparkcast.recommend import Recommendation
from sparkcast.recommend.choose import Recommender
from sparkcast.recommend.pool import candidates_of, having, is_repeated, measured_epochs
from sparkcast.recommend.question import Question
from sparkcast.study import Configuration, Dataset, Listed, Observation, Outcome, Price, Setting, Space, Vocabulary
from sparkcast.study.names import usual_vocabulary
from sparkcast.study.setting import Role
from tests_support import ask, recommender

EXECUTORS, BATCHES = (1, 2, 4, 8), (64, 128, 256)
GRID = [{"executors": e, "batch_size": b} for e, b in product(EXECUTORS, BATCHES)]


def law(executors: float, batch_size: float) -> dict[str, float]:
    return {
        "time_s": 10 + 80 / executors**0.7 * (64 / batch_size) ** 0.5,
        "accuracy": 0.95 - 0.2 * math.log2(batch_size / 64),
    }


def measured(*, grid: list[dict[str, int]] | None = None, only: str | None = None, **constants: Any) -> Dataset:
    noise = random.Random(4)
    runs = []
    for settings in grid or GRID:
        for r in (1, 2):
            values = law(**settings)
            values["time_s"] *= math.exp(noise.gauss(0, 0.002))
            kept = values if only is None else {only: values[only]}
            runs.append(Observation({**settings, "cores": 2, **constants}, kept, replicate=r))
    return Dataset(("executors", "batch_size"), tuple(runs), responses=tuple(kept))


def recommended(
    data: Dataset | None = None, grid: Any = GRID, *, price: Price | None = None, **question: Any
) -> Recommendation:
    return ask(recommender(data or measured(), grid, model="ridge", price=price), **question)


# ---------------------------------------------------------------- objective and limits


def test_without_an_accuracy_or_a_price_a_deadline_is_met_with_the_fewest_resources_and_that_is_said() -> None:
    found = recommended(measured(only="time_s"), within_s=60.0)
    assert found.objective == "minimize core_seconds"
    assert (
        "Neither an accuracy nor a price is known, so the fewest core-seconds (executors x cores x time) win"
        in found.why
    )
    seconds, cores = found.chosen.predicted("time_s").value, 2 * int(found.chosen.configuration["executors"])
    assert found.chosen.predicted("core_seconds").value == pytest.approx(seconds * cores)
    named = recommended(measured(only="time_s"), within_s=60.0, minimize="time_s")
    assert "Neither an accuracy" not in named.why
    assert "Neither an accuracy" not in recommended(within_s=60.0).why


def test_a_limit_in_percent_is_refused_where_shares_were_measured_and_one_of_all_is_not() -> None:
    with pytest.raises(StudyError, match="accuracy never reaches 90: it is a share here") as refused:
        recommended(limits=["accuracy >= 90"])
    assert refused.value.hint == "write 0.9"
    with pytest.raises(InfeasibleError):
        recommended(limits=["accuracy >= 1"])
    assert recommended(limits=["accuracy <= 1"]).chosen.probability > 0.95


def test_a_setting_may_be_the_objective_when_it_varies_and_is_a_number() -> None:
    found = recommended(minimize="executors", within_s=60.0)
    most = max(c.configuration["executors"] for c in found.candidates if c.probability >= 0.95)
    assert int(found.chosen.configuration["executors"]) < int(most)
    with pytest.raises(StudyError, match="every run has cores = 2, so it cannot be chosen"):
        recommended(minimize="cores", within_s=60.0)
    words = [{"executors": e, "codec": c} for e, c in product((1, 2, 4), ("lz4", "zstd"))]
    runs = [
        Observation({"executors": e, "codec": c}, {"time_s": 10.0 / e}) for e, c in product((1, 2, 4), ("lz4", "zstd"))
    ]
    with pytest.raises(StudyError, match="codec is not a number"):
        recommended(Dataset(("executors", "codec"), tuple(runs)), words, minimize="codec")


# ---------------------------------------------------------------- what is listed


def test_the_chosen_one_is_first_and_the_runner_up_is_the_next_that_keeps_to_all_limits() -> None:
    found = recommended(within_s=60.0)
    assert found.candidates[0] == found.chosen
    assert found.runner_up == found.candidates[1]
    assert len({c.configuration for c in found.candidates}) == len(found.candidates) == 12
    assert [c.configuration for c in recommended(within_s=60.0, most=1).candidates] == [
        c.configuration for c in found.candidates[:2]
    ]
    alone = recommended(within_s=60.0, fix={"executors": 4, "batch_size": 64})
    assert alone.runner_up is None
    assert alone.why == "the only candidate that meets the deadline"


def test_those_that_were_looked_at_and_those_that_qualify_are_counted() -> None:
    runs = [o for o in measured().observations if o.configuration["executors"] != 2]
    failed = Observation({"executors": 1, "batch_size": 64, "cores": 2}, {}, outcome=Outcome.OOM, replicate=3)
    data = Dataset(("executors", "batch_size"), (*runs, failed), responses=("time_s", "accuracy"))
    found = recommended(data, within_s=60.0, max_failure=0.9)
    assert found.considered is not None
    assert (found.considered.n, found.considered.measured) == (12, 9)
    assert (found.considered.runs, found.considered.failed) == (19, 1)
    assert found.considered.meeting == sum(c.probability >= 0.95 for c in found.candidates)
    assert found.considered.text.startswith("12 listed configurations, 9 of them measured")
    fixed = recommended(data, fix={"executors": 4}, max_failure=0.9).considered
    assert fixed is not None
    assert (fixed.n, fixed.measured) == (3, 3)
    assert " with executors=4, 3 of them measured" in fixed.text
    assert found.no_failure is None
    assert recommended().no_failure is not None


def test_runs_that_failed_or_were_lost_are_counted_with_their_settings() -> None:
    others = [
        Observation({"executors": 4, "batch_size": 64, "cores": 2}, {}, outcome=outcome, replicate=9)
        for outcome in (Outcome.OOM, Outcome.LOST, Outcome.LOST)
    ]
    data = Dataset(("executors", "batch_size"), (*measured().observations, *others), responses=("time_s", "accuracy"))
    found = recommended(data, fix={"executors": 4, "batch_size": 64}, max_failure=0.9)
    assert (found.chosen.measured_runs, found.chosen.other_runs) == (2, 3)


# ---------------------------------------------------------------- the front


def test_the_front_of_two_responses_has_all_that_nothing_beats_by_time() -> None:
    found = recommended(within_s=200.0)
    front = [tuple(c.configuration.values()) for c in found.pareto]
    # All with eight executors: a larger batch is faster and less accurate, fewer executors are only slower.
    assert front == [(8, 256), (8, 128), (8, 64)]
    assert [c.is_tradeoff for c in found.pareto] == [True, True, True]
    assert all(c.is_tradeoff is None for c in found.candidates)


def test_of_a_long_front_fifty_points_are_shown_the_ends_among_them() -> None:
    levels = tuple(range(66, 255, 2))  # those at the ends were never run, and lie on the curves of the models
    found = recommended(grid=[{"executors": 8, "batch_size": b} for b in levels], within_s=200.0, most=200)
    assert len(found.pareto) == 50
    times = [c.predicted("time_s").value for c in found.pareto]
    assert times == sorted(times)
    everyone = [c.predicted("time_s").value for c in found.candidates]
    # To the three digits in which answers are compared: of equal times the most accurate is on the front.
    assert (times[0], times[-1]) == pytest.approx((min(everyone), max(everyone)), rel=0.005)


# ---------------------------------------------------------------- fixed settings and candidates


def test_fixed_settings_choose_among_the_candidates_or_make_others() -> None:
    answering = recommender(measured(), GRID, model="ridge")
    everything = ask(answering)
    assert len(everything.candidates) == 12
    among = ask(answering, fix={"executors": 2})
    assert {c.configuration["executors"] for c in among.candidates} == {2}
    other = ask(answering, fix={"executors": 3})
    assert {c.configuration["executors"] for c in other.candidates} == {3}
    assert len(other.candidates) == 3
    assert ask(answering).candidates == everything.candidates
    answering.forget_candidates()
    assert ask(answering).candidates == everything.candidates


def test_settings_that_no_run_varied_may_only_be_repeated() -> None:
    known = recommender(measured(), GRID).known
    assert is_repeated(known, "cores", "2")
    assert not is_repeated(known, "cores", 4)
    assert not is_repeated(known, "executors", 1)
    assert not is_repeated(known, "unknown", 1)
    pool = Listed(tuple(map(Configuration, GRID)))
    assert len(candidates_of(pool, {"cores": 2}, known)) == 12
    assert len(candidates_of(pool, {"executors": 3}, known)) == 3
    with pytest.raises(NotEnoughDataError, match="every run has cores = 2, so nothing is known about cores = 4"):
        candidates_of(pool, {"cores": 4}, known)
    with pytest.raises(StudyError, match="cannot fix 'core': there is no such setting") as refused:
        candidates_of(pool, {"core": 4}, known)
    assert "cores" in (refused.value.hint or "")
    candidates = candidates_of(pool, {}, known)
    assert having(candidates, {"executors": "4", "cores": 2}, known).sum() == 3
    assert having(candidates, {"cores": 4}, known).sum() == 0
    wide = Listed(tuple(Configuration({**settings, "cores": 2, "note": "x"}) for settings in GRID))
    assert list(candidates_of(wide, {}, known).levels) == ["executors", "batch_size"]


def test_epochs_are_free_from_the_first_on_where_runs_tell_them() -> None:
    class Known:
        def __init__(self, last_epoch: int) -> None:
            self.last_epoch = last_epoch

    known: Any = Known(3)
    assert measured_epochs(known) == (1, 2, 3)
    known = Known(1)
    assert measured_epochs(known) == (1,)
    known = Known(0)
    with pytest.raises(NotEnoughDataError, match="no run reports its epochs"):
        measured_epochs(known)


def test_what_is_far_from_the_runs_is_answered_only_as_a_guess() -> None:
    with pytest.raises(NotEnoughDataError):
        recommended(grid=[{"executors": 500, "batch_size": 64}])
    guess = ask(recommender(measured(), [{"executors": 500, "batch_size": 64}], model="ridge", extrapolate=True))
    assert guess.chosen.configuration["executors"] == 500
    mixed = recommended(grid=[*GRID, {"executors": 500, "batch_size": 64}])
    assert "1 candidate: too far from what was measured" in mixed.excluded
    assert mixed.chosen.configuration["executors"] == 8


# ---------------------------------------------------------------- money


def test_a_cost_needs_a_price_and_each_part_of_it_counts() -> None:
    price = Price(core_hour=0.5, gib_hour=0.1)
    found = recommended(measured(memory="4g"), price=price, minimize="cost")
    time, cost = found.chosen.predicted("time_s"), found.chosen.predicted("cost")
    executors = int(found.chosen.configuration["executors"])
    assert cost.value == pytest.approx(time.value / 3600 * executors * (2 * 0.5 + 4 * 0.1))
    assert list(found.models) == ["time_s", "accuracy"]
    with pytest.raises(StudyError, match="the cost is unknown without a price"):
        recommended(budget=1.0)


# ---------------------------------------------------------------- amounts of data


def sized(role: Role, name: str, *, only: str | None = None) -> Recommender:
    noise, runs = random.Random(1), []
    for executors, amount, _ in product((1, 2, 4), (10, 50, 90), (1, 2)):
        values = {"time_s": (5 + amount / executors) * math.exp(noise.gauss(0, 0.01)), "accuracy": 0.8 + amount / 1000}
        runs.append(
            Observation({"executors": executors, name: amount}, values if only is None else {only: values[only]})
        )
    words = usual_vocabulary(["executors", name], ["time_s", "accuracy"])
    words = Vocabulary((Setting("executors", role=Role.MACHINES), Setting(name, role=role)), words.responses)
    data = Dataset(("executors", name), tuple(runs), "", tuple(values) if only is None else (only,), words)
    return recommender(data, [{"executors": e, name: a} for e, a in product((1, 2, 4), (10, 50, 90))], model="ridge")


def test_the_size_of_the_data_is_no_choice_but_a_share_of_them_is_where_an_accuracy_is_bought_with_it() -> None:
    whole = ask(sized(Role.DATA_SIZE, "rows"), minimize="time_s")
    assert whole.held == {"rows": 90}
    assert {c.configuration["rows"] for c in whole.candidates} == {90}
    assert ask(sized(Role.DATA_SIZE, "rows"), maximize="accuracy").held == {"rows": 90}
    assert ask(sized(Role.FRACTION, "share"), minimize="time_s").held == {"share": 90}
    assert ask(sized(Role.FRACTION, "share"), maximize="accuracy").held == {}
    assert ask(sized(Role.FRACTION, "share"), minimize="time_s", min_accuracy=0.83).held == {}
    assert ask(sized(Role.DATA_SIZE, "rows"), minimize="time_s", fix={"rows": 50}).held == {}
    assert ask(sized(Role.DATA_SIZE, "rows"), minimize="rows").held == {}


def test_probabilities_of_all_candidates_are_those_of_the_recommendation() -> None:
    answering = recommender(measured(), Space({"executors": EXECUTORS, "batch_size": BATCHES}), model="ridge")
    found = ask(answering, within_s=60.0)
    candidates, chances = answering.probabilities(Question(within_s=60.0))
    by_settings = dict(zip(candidates.configurations(), chances.tolist(), strict=True))
    assert {c.configuration: c.probability for c in found.candidates} == pytest.approx(by_settings)
