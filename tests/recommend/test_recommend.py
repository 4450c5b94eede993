import math
import random
from itertools import product
from typing import Any

import pytest

from sparkcast.errors import InfeasibleError, NotEnoughDataError, StudyError, UnknownNameError
from sparkcast.models import MODELS
from sparkcast.recommend.evaluation import runs_at
from sparkcast.recommend.lines import answer_lines, evidence
from sparkcast.recommend.submit import conf_lines
from sparkcast.study import Configuration, Dataset, Observation, Outcome, Price
from sparkcast.study.names import usual_vocabulary
from sparkcast.study.space import Candidates
from tests_support import recommend

GRID = [Configuration({"executors": e, "batch_size": b, "cores": 2}) for e, b in product((1, 2, 3, 4), (64, 128, 256))]


def measured() -> Dataset:
    """More executors are faster, larger batches faster and less accurate; cores were fixed."""
    noise = random.Random(4)
    return Dataset(
        ("executors", "batch_size"),
        tuple(
            Observation(
                {"executors": e, "batch_size": b, "cores": 2},
                {"time_s": (40 / e) * (64 / b) ** 0.5 * math.exp(noise.gauss(0, 0.02)), "accuracy": 0.99 - b / 2560},
                replicate=r,
            )
            for e, b in product((1, 2, 4), (64, 128, 256))
            for r in (1, 2)
        ),
        responses=("time_s", "accuracy"),
    )


def ask(**options: Any) -> Any:
    return recommend(measured(), GRID, **{"model": "ridge", **options})


def test_the_most_accurate_configuration_that_meets_the_deadline_is_chosen() -> None:
    found = ask(within_s=25.0)
    assert found.objective == "maximize accuracy"
    assert found.chosen.configuration == {"executors": 4, "batch_size": 64}
    assert found.chosen.probability >= 0.95
    assert found.models == {"time_s": "ridge", "accuracy": "ridge"}
    # Three executors with the same batch are as accurate but slower, a near-tie that time decides.
    assert found.runner_up.configuration == {"executors": 3, "batch_size": 64}


def test_without_a_deadline_the_shortest_time_is_chosen() -> None:
    found = ask()
    assert found.objective == "minimize time_s"
    assert found.chosen.configuration == {"executors": 4, "batch_size": 256}
    assert (found.chosen.probability, found.margin_s, found.within_s) == (1.0, None, None)


def test_the_decision_rests_on_the_probability_and_not_on_the_mean() -> None:
    data = measured()
    [point] = MODELS.get("ridge")().fit(data, "time_s").predict([{"executors": 1, "batch_size": 64}])
    barely = ask(within_s=point * 1.001, fix={"batch_size": 64})
    assert barely.chosen.configuration["executors"] != 1
    assert {"executors": 1, "batch_size": 64} in [c.configuration for c in barely.candidates]
    # The mean does meet the deadline, and that is what even odds ask for.
    even = ask(within_s=point * 1.001, fix={"batch_size": 64, "executors": 1}, confidence=0.5)
    assert even.chosen.probability >= 0.5


def test_qualified_candidates_come_first_and_all_are_listed() -> None:
    found = ask(within_s=25.0)
    assert len(found.candidates) == len(GRID)
    qualifies = [c.probability >= 0.95 for c in found.candidates]
    assert qualifies == sorted(qualifies, reverse=True)
    assert 0 < sum(qualifies) < len(GRID)


@pytest.mark.parametrize(("sign", "nearly"), [("<=", 0.995), (">=", 1.005)])
def test_with_a_confidence_below_a_half_the_prediction_itself_may_break_the_limit(sign: str, nearly: float) -> None:
    fix = {"batch_size": 64, "executors": 1}
    point = ask(fix=fix).chosen.predicted("time_s").value
    limits = [f"time_s {sign} {nearly * point}"]
    found = ask(limits=limits, fix=fix, confidence=0.1)
    assert 0.1 <= found.chosen.probability < 0.5
    with pytest.raises(InfeasibleError):
        ask(limits=limits, fix=fix, confidence=0.6)
    # ... but no further than the confidence allows.
    limits = [f"time_s {sign} {nearly**100 * point}"]
    with pytest.raises(InfeasibleError):
        ask(limits=limits, fix=fix, confidence=0.1)


def test_the_margin_is_what_the_confidence_needs_beyond_the_prediction() -> None:
    found = ask(within_s=25.0, confidence=0.9)
    time = found.chosen.predicted("time_s")
    assert time.level == pytest.approx(0.8)
    assert found.margin_s == pytest.approx(time.high - time.value)
    assert ask(within_s=time.value + found.margin_s, confidence=0.9 - 1e-6, fix=found.chosen.configuration)
    with pytest.raises(InfeasibleError):
        ask(within_s=time.value + found.margin_s - 1e-6, confidence=0.9, fix=found.chosen.configuration)


def test_the_answer_says_why_how_sure_it_is_and_what_stands_behind_it() -> None:
    found = ask(within_s=25.0, fix={"executors": 3})
    lines = dict(answer_lines(found))
    assert lines["Why"] == "highest predicted accuracy of the 3 candidates that meet the deadline"
    assert lines["Deadline"] == "25 s, met with >99% probability (95% required)"
    assert lines["Time"].startswith("13.")
    assert " s median; 90% of runs take 1" in lines["Time"]
    assert lines["Accuracy"].startswith("96.5% median; 90% of runs reach 96")
    assert "these settings were never run; closest run executors=4, batch_size=64, 0.21 of a " in lines["Evidence"]
    assert found.chosen.measured_runs == 0
    assert ask(within_s=25.0).chosen.measured_runs == 2


@pytest.mark.parametrize("outcome", [Outcome.LOST, Outcome.TIMEOUT])
def test_never_run_is_not_said_of_settings_with_runs_that_ended_without_a_result(outcome: Outcome) -> None:
    data, tried = measured(), Configuration({"executors": 3, "batch_size": 64, "cores": 2})
    known = Dataset(
        data.factors, (*data.observations, Observation(tried, {}, outcome=outcome)), responses=data.responses
    )
    fix = {"executors": 3, "batch_size": 64}
    if outcome is Outcome.TIMEOUT:
        with pytest.raises(InfeasibleError, match="failed every time"):
            recommend(known, GRID, model="ridge", fix=fix)
        return
    said = evidence(recommend(known, GRID, model="ridge", fix=fix))
    assert "never run" not in said
    assert "1 run of these settings ended without a result" in said


def test_cost_is_time_times_what_the_executors_hold() -> None:
    found = ask(minimize="cost", price=Price(core_hour=0.05, gib_hour=0.01))
    time, cost = found.chosen.predicted("time_s"), found.chosen.predicted("cost")
    cores = found.chosen.configuration["executors"] * 2
    assert cost.value == pytest.approx(time.value / 3600 * cores * 0.05)
    assert (cost.low, cost.high) == (
        pytest.approx(time.low / 3600 * cores * 0.05),
        pytest.approx(time.high / 3600 * cores * 0.05),
    )


def test_memory_has_its_price_too() -> None:
    data = measured()
    with_memory = Dataset(
        data.factors,
        tuple(Observation({**o.configuration, "memory": "2g"}, o.responses) for o in data.observations),
        responses=data.responses,
    )
    found = recommend(with_memory, GRID, minimize="cost", price=Price(gib_hour=0.01), model="ridge")
    time, cost = found.chosen.predicted("time_s"), found.chosen.predicted("cost")
    assert cost.value == pytest.approx(time.value / 3600 * int(found.chosen.configuration["executors"]) * 2 * 0.01)
    # A table with `executors` speaks of Spark's executors, and so do its cores and memory.
    assert found.launch.properties["spark.executor.memory"] == "2g"


def test_a_measured_cost_needs_no_price() -> None:
    data = measured()
    paid = Dataset(
        data.factors,
        tuple(Observation(o.configuration, {"cost": 1 + int(o.configuration["executors"])}) for o in data.observations),
        responses=("cost",),
    )
    found = recommend(paid, GRID, minimize="cost", model="ridge")
    assert found.chosen.configuration["executors"] == 1
    assert found.models == {"cost": "ridge"}


def test_conf_lines_can_be_pasted() -> None:
    assert ask(within_s=25.0).launch.properties == {
        "spark.executor.cores": "2",
        "spark.cores.max": "8",
        "spark.executor.instances": "4",
    }
    words = usual_vocabulary(["memory", "batch_size"], [])
    assert conf_lines(Configuration({"memory": "4g", "batch_size": 64}), words) == ("--conf spark.executor.memory=4g",)
    assert conf_lines(Configuration(), words) == ()


def test_nothing_that_meets_the_deadline_is_an_error_with_the_nearest_alternative() -> None:
    with pytest.raises(InfeasibleError) as caught:
        ask(within_s=4.0)
    error = caught.value
    assert error.exit_code == 5
    assert error.problem.startswith("no candidate meets the 4 s deadline with 95% probability\n  closest: ")
    assert "executors=4, batch_size=256 (predicted 5.0" in error.problem
    assert error.problem.endswith("meets it with <1% probability")
    nearest = float(error.hint.split("`within_s=")[1].split("`")[0])
    assert ask(within_s=nearest).chosen.probability >= 0.95
    with pytest.raises(InfeasibleError):
        ask(within_s=nearest - 0.02)


def test_a_configuration_that_only_ever_failed_is_not_recommended() -> None:
    data = measured()
    best: Configuration = Configuration({"executors": 4, "batch_size": 64, "cores": 2})
    others = tuple(o for o in data.observations if o.configuration != best)
    broken = Dataset(data.factors, (*others, Observation(best, {}, outcome=Outcome.OOM)), responses=data.responses)
    found = recommend(broken, GRID, within_s=25.0, model="ridge")
    assert {"executors": 4, "batch_size": 64} not in [c.configuration for c in found.candidates]
    assert "1 candidate: failed every time" in found.excluded
    with pytest.raises(InfeasibleError, match="failed every time they were run"):
        recommend(broken, [best], within_s=25.0, model="ridge")
    lost = Dataset(data.factors, (*others, Observation(best, {}, outcome=Outcome.LOST)), responses=data.responses)
    assert recommend(lost, [best], within_s=25.0, model="ridge").chosen.configuration["executors"] == 4


def test_auto_answers_when_no_model_is_named() -> None:
    data = Dataset(
        ("batch_size",), tuple(Observation({"batch_size": b}, {"time_s": 900 / b}) for b in (8, 16, 32, 64, 96))
    )
    found = recommend(data, [{"batch_size": 48}], within_s=60.0)
    assert found.models == {"time_s": "auto"}


def test_a_fixed_setting_may_be_written_in_any_unit_or_type() -> None:
    assert ask(fix={"executors": "2"}).chosen.configuration["executors"] == 2
    assert ask(fix={"cores": 2}).chosen.configuration["executors"] == 4


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"within_s": 0.0}, "deadline of 0 s"),
        ({"within_s": -3.0}, "deadline of -3 s"),
        ({"within_s": math.nan}, "deadline of nan s"),
        ({"within_s": 9.0, "confidence": 0.0}, "confidence 0 is not between"),
        ({"within_s": 9.0, "confidence": 1.0}, "confidence 1 is not between"),
        ({"within_s": 9.0, "confidence": 95.0}, "confidence 95 is not between"),
        ({"fix": {"exectors": 2}}, "did you mean 'executors'"),
        ({"maximize": "accuracy", "minimize": "time_s"}, "cannot both maximize accuracy and minimize time_s"),
        ({"minimize": "cost"}, "unknown without a price"),
        ({"maximize": "acuracy"}, "did you mean 'accuracy'"),
    ],
)
def test_a_malformed_question_is_refused_with_a_hint(options: dict[str, Any], words: str) -> None:
    with pytest.raises(StudyError, match=words) as error:
        ask(**options)
    assert error.value.hint


def test_candidates_must_exist_and_have_every_varied_setting() -> None:
    with pytest.raises(StudyError, match="no candidates"):
        recommend(measured(), [])
    with pytest.raises(StudyError, match="no value for 'batch_size'"):
        recommend(measured(), [{"executors": 2}])
    with pytest.raises(NotEnoughDataError, match="every run has cores = 2"):
        recommend(measured(), [{"executors": 2, "batch_size": 64, "cores": 8}])


def test_an_unknown_model_gets_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'ridge'"):
        ask(model="rigde")


def test_too_few_runs_are_not_enough_to_recommend() -> None:
    data = Dataset(("executors",), tuple(Observation({"executors": e}, {"time_s": 9 / e}) for e in (1, 2)))
    with pytest.raises(NotEnoughDataError):
        recommend(data, [{"executors": 1}], within_s=10)


def test_an_accuracy_that_cannot_be_modeled_does_not_stop_a_question_about_time() -> None:
    data = measured()
    sparse = tuple(
        Observation(o.configuration, {"time_s": o.responses["time_s"], **({"accuracy": 0.9} if i == 0 else {})})
        for i, o in enumerate(data.observations)
    )
    found = recommend(Dataset(data.factors, sparse), GRID, minimize="time_s", model="ridge")
    assert found.models == {"time_s": "ridge"}


@pytest.mark.parametrize("n_settings", [2, 12])
def test_candidates_that_were_run_are_found_among_few_and_many_settings(n_settings: int) -> None:
    draw = random.Random(2)
    names = [f"s{i}" for i in range(n_settings)]
    drawn = [Configuration({name: draw.randrange(60) for name in names}) for _ in range(300)]
    ran = [*drawn[::3], Configuration(dict.fromkeys(names, 999))]
    candidates = Candidates.of(drawn, names)
    counted = runs_at(candidates, [(configuration, 1) for configuration in ran], names)
    assert (counted > 0).tolist() == [c in ran for c in drawn]
    assert not runs_at(candidates, [], names).any()
