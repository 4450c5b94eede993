"""Limits, prices and lines to paste by what names mean, whatever they are."""

import math
import random
from itertools import product
from typing import Any

import pytest

from sparkcast.errors import InfeasibleError, StudyError
from sparkcast.recommend import Limit, Recommendation
from sparkcast.recommend.lines import answer_lines
from sparkcast.recommend.question import Question, limits_of, parse_limit
from sparkcast.recommend.submit import conf_lines, missing_notes
from sparkcast.study import Configuration, Dataset, Kind, Observation, Price, Response, Role, Setting, Vocabulary
from sparkcast.study.names import usual_vocabulary
from tests_support import recommend

WORDS = Vocabulary(
    (
        Setting("hosts", role=Role.MACHINES),
        Setting("threads", role=Role.CORES),
        Setting("ram", role=Role.MEMORY, unit="gb"),
        Setting("chunk", role=Role.BATCH),
    ),
    (
        Response("minutes", kind=Kind.TIME, unit="min"),
        Response("miss_rate", kind=Kind.SHARE, better="less"),
        Response("auc", kind=Kind.SHARE),
        Response("rows_per_s", kind=Kind.COUNT, better="more"),
        Response("loss"),
    ),
)
KNOWN = [response.name for response in WORDS.responses]
SPACE = [{"hosts": h, "chunk": c} for h, c in product((1, 2, 4, 8), (64, 128, 256))]


def measured(**others: float) -> Dataset:
    """More hosts are faster, larger chunks faster and worse; two threads and four gigabytes each."""
    noise = random.Random(4)
    runs = []
    for (h, c), r in product(product((1, 2, 4, 8), (64, 128, 256)), (1, 2)):
        minutes = (0.5 + 8 / h * math.sqrt(64 / c)) * math.exp(noise.gauss(0, 0.02))
        quality = 0.99 - 0.02 * math.log2(c / 64)
        responses = {"minutes": minutes, "miss_rate": 1 - quality, "auc": quality, "rows_per_s": 6e5 / minutes}
        settings = {"hosts": h, "chunk": c, "threads": 2, "ram": 4}
        runs.append(Observation(settings, {**responses, "loss": -math.log(quality), **others}, replicate=r))
    return Dataset(("hosts", "chunk"), tuple(runs), responses=tuple(KNOWN), vocabulary=WORDS)


def ask(**question: Any) -> Recommendation:
    return recommend(measured(), SPACE, **{"model": "ridge", **question})


# ---------------------------------------------------------------- limits as people write them


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("auc >= 0.9", Limit("auc", 0.9, is_upper=False)),
        ("auc>90%", Limit("auc", 0.9, is_upper=False)),
        ("  auc  <=  0.95 ", Limit("auc", 0.95)),
        ("minutes <= 300s", Limit("minutes", 5.0)),
        ("minutes<1.5h", Limit("minutes", 90.0)),
        ("minutes <= 2", Limit("minutes", 2.0)),  # a bare number is in the response's own unit
        ("minutes >= 0", Limit("minutes", 0.0, is_upper=False)),
        ("rows_per_s >= 1e5", Limit("rows_per_s", 1e5, is_upper=False)),
        ("loss <= -0.5", Limit("loss", -0.5)),
    ],
)
def test_a_limit_is_read_with_its_sign_and_unit(text: str, limit: Limit) -> None:
    assert parse_limit(text, WORDS, KNOWN) == limit


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is not a limit"),
        ("auc", "is not a limit"),
        ("auc = 0.9", "is not a limit"),
        ("auc == 0.9", "is not a limit"),
        (">= 0.9", "is not a limit"),
        ("auc >=", "is not a limit"),
        ("0.5 < auc < 0.9", "is not a limit"),
        ("acu >= 0.9", "there is no response 'acu'"),
        ("0.9 <= auc", "there is no response '0.9'"),
        ("auc >= high", "'high' is not a number"),
        ("auc >= 300s", "'300s' is not a number"),
        ("auc >= nan", "nan is not finite"),
        ("loss <= inf", "inf is not finite"),
        ("minutes <= 5 parsecs", "unknown unit 'parsecs'"),
        ("minutes <= 0", "not positive, so no run can meet it"),
        ("minutes <= -3", "not positive, so no run can meet it"),
    ],
)
def test_what_is_no_limit_is_refused_with_a_hint(text: str, problem: str) -> None:
    with pytest.raises(StudyError, match=problem) as caught:
        parse_limit(text, WORDS, KNOWN)
    assert caught.value.hint


def test_a_name_that_is_nearly_right_gets_a_suggestion() -> None:
    with pytest.raises(StudyError, match="did you mean 'rows_per_s'"):
        parse_limit("rows_per_sec >= 5", WORDS, KNOWN)


# ---------------------------------------------------------------- limits on any response


def test_any_response_can_be_limited_from_below() -> None:
    found = ask(limits=["rows_per_s >= 300000"], minimize="minutes", price=Price(core_hour=1.0))
    assert found.limits == (Limit("rows_per_s", 3e5, is_upper=False),)
    assert found.chosen.predicted("rows_per_s").low >= 3e5
    assert all(c.predicted("rows_per_s").low < 3e5 for c in found.candidates if c.probability < 0.95)
    assert ("Limit", "rows_per_s >= 3e+05, met with >99% probability (95% required)") in answer_lines(found)
    cheapest = ask(limits=["rows_per_s >= 300000"], minimize="cost", price=Price(core_hour=1.0))
    assert cheapest.chosen.predicted("cost").value < found.chosen.predicted("cost").value
    assert cheapest.chosen.predicted("rows_per_s").low >= 3e5


def test_any_response_can_be_limited_from_above() -> None:
    found = ask(limits=["loss <= 0.025"], minimize="minutes")
    assert found.chosen.predicted("loss").high <= 0.025
    assert found.chosen.configuration == {"hosts": 8, "chunk": 64}
    assert ask(limits=["loss <= 0.04"], minimize="minutes").chosen.configuration == {"hosts": 8, "chunk": 128}


def test_limits_from_both_sides_hold_at_once() -> None:
    found = ask(limits=["auc >= 0.96", "auc <= 0.98"], minimize="minutes")
    assert found.chosen.configuration == {"hosts": 8, "chunk": 128}


def test_a_limit_of_nothing_at_all_is_compared_like_any_other() -> None:
    assert ask(limits=["loss >= 0"], minimize="minutes").n_candidates == len(SPACE)
    with pytest.raises(InfeasibleError, match="the limit loss <= 0"):
        ask(limits=["loss <= 0"], minimize="minutes")


def test_two_limits_of_one_side_are_refused() -> None:
    for twice in (["auc >= 0.9", "auc >= 0.95"], ["minutes <= 5", "minutes < 4"]):
        with pytest.raises(StudyError, match="has two limits on the same side"):
            ask(limits=twice)
    with pytest.raises(StudyError, match="minutes has two limits"):
        ask(within_s=300.0, limits=["minutes <= 4"])
    with pytest.raises(StudyError, match="auc has two limits"):
        ask(min_accuracy=0.9, limits=["auc >= 0.95"])


def test_what_a_limit_on_any_response_costs_is_told_and_what_would_fit_too() -> None:
    found = ask(limits=["auc >= 0.965"], minimize="minutes")
    [alternative] = found.alternatives
    assert alternative.candidate.configuration == {"hosts": 8, "chunk": 256}
    assert "a limit of auc >= 0.9" in alternative.text
    with pytest.raises(InfeasibleError) as caught:
        ask(limits=["auc >= 0.999"], minimize="minutes")
    assert "relax the limit to auc >= 0.9" in caught.value.hint


# ---------------------------------------------------------------- the short forms, by meaning


def test_a_deadline_in_seconds_bounds_a_time_in_minutes() -> None:
    found = ask(within_s=150.0)
    assert found.limits == (Limit("minutes", 2.5),)
    assert found.within_s == pytest.approx(150.0)
    time = found.chosen.predicted("minutes")
    assert time.high <= 2.5
    assert found.margin_s == pytest.approx(60 * (time.high - time.value))
    assert dict(answer_lines(found))["Deadline"].startswith("2 min 30 s, met with ")
    assert found.objective == "maximize auc"
    with pytest.raises(InfeasibleError, match=r"relax the deadline to 1 min"):
        ask(within_s=30.0)


def test_a_budget_pays_for_the_machines_cores_and_memory_whatever_they_are_called() -> None:
    price = Price(core_hour=0.6, gib_hour=0.06)
    found = ask(budget=0.3, price=price)
    assert found.limits == (Limit("cost", 0.3),)
    time, cost = found.chosen.predicted("minutes"), found.chosen.predicted("cost")
    hosts = int(found.chosen.configuration["hosts"])
    assert cost.value == pytest.approx(time.value / 60 * hosts * (2 * 0.6 + 4 * 0.06))
    assert cost.high <= 0.3


def test_a_budget_bounds_measured_money_whatever_it_is_called() -> None:
    data = measured(dollars=3.0)
    priced = tuple(
        Observation(run.configuration, {**run.responses, "dollars": 0.1 * int(run.configuration["hosts"])})
        for run in data.observations
    )
    words = WORDS.declaring(Vocabulary(responses=(Response("dollars", kind=Kind.MONEY),)))
    found = recommend(
        Dataset(data.factors, priced, vocabulary=words), SPACE, model="ridge", budget=0.45, minimize="minutes"
    )
    assert found.limits == (Limit("dollars", 0.45),)
    assert found.chosen.configuration == {"hosts": 4, "chunk": 256}
    assert dict(answer_lines(found))["Budget"].startswith("0.45, met with ")


def test_the_least_accuracy_bounds_the_share_of_which_more_is_better() -> None:
    found = ask(min_accuracy=0.965, minimize="minutes")
    assert found.limits == (Limit("auc", 0.965, is_upper=False),)
    assert found.chosen.configuration == {"hosts": 8, "chunk": 128}


def test_without_a_share_a_least_accuracy_is_refused_with_the_way_to_name_one() -> None:
    words = Vocabulary(responses=(Response("auc"), Response("seconds", kind=Kind.TIME)))
    with pytest.raises(StudyError, match="none of the responses is an accuracy") as caught:
        limits_of(Question(min_accuracy=0.9), words, ["auc", "seconds"])
    assert "`roles={NAME: 'share'}`" in caught.value.hint


# ---------------------------------------------------------------- lines to paste


def test_conf_lines_are_those_of_the_machines_whatever_they_are_called() -> None:
    settings = Configuration({"hosts": 4, "threads": 2, "ram": 4, "chunk": 64})
    assert conf_lines(settings, WORDS) == (
        "--conf spark.executor.cores=2",
        "--conf spark.cores.max=8",
        "--conf spark.executor.instances=4",
        "--conf spark.executor.memory=4g",
    )


@pytest.mark.parametrize(
    ("unit", "level", "line"),
    [("gb", 4, "4g"), ("gb", 1.5, "1536m"), ("mb", 512, "512m"), ("", 2**30, "1g"), ("gb", "768m", "768m")],
)
def test_memory_is_written_as_spark_does_from_the_unit_of_its_numbers(unit: str, level: float | str, line: str) -> None:
    words = Vocabulary((Setting("ram", role=Role.MEMORY, unit=unit),))
    assert conf_lines(Configuration({"ram": level}), words) == (f"--conf spark.executor.memory={line}",)


def test_the_ending_of_a_usual_name_tells_its_unit() -> None:
    data = Dataset(("memory_gb",), (Observation({"memory_gb": 6}, {"time_s": 1.0}),))
    assert conf_lines(Configuration({"memory_gb": 6}), data.vocabulary) == ("--conf spark.executor.memory=6g",)


def test_executors_without_cores_never_limit_the_cores_of_a_cluster() -> None:
    words = usual_vocabulary(["executors"], [])
    settings = Configuration({"executors": 8})
    assert conf_lines(settings, words) == ("--conf spark.executor.instances=8",)
    [note] = missing_notes(settings, words)
    assert note == "standalone clusters also need spark.cores.max: 8 x the cores per executor"


def test_nothing_is_missing_where_cores_or_their_sum_were_settings() -> None:
    words = usual_vocabulary(["executors", "cores", "spark.cores.max"], [])
    assert missing_notes(Configuration({"executors": 8, "cores": 2}), words) == ()
    assert missing_notes(Configuration({"executors": 8, "spark.cores.max": 16}), words) == ()
    assert missing_notes(Configuration({"cores": 2}), words) == ()


def test_each_property_is_pasted_once_however_its_setting_is_called() -> None:
    settings = Configuration(
        {"spark.executor.instances": 4, "spark.executor.cores": 2, "spark.executor.memory": "4g", "spark.cores.max": 6}
    )
    assert conf_lines(settings, usual_vocabulary(settings, [])) == (
        "--conf spark.executor.cores=2",
        "--conf spark.cores.max=6",
        "--conf spark.executor.instances=4",
        "--conf spark.executor.memory=4g",
    )


@pytest.mark.parametrize(("unit", "level"), [("", 61), ("bytes", 61), ("", 4096), ("", 65536), ("number", 61)])
def test_a_memory_without_a_unit_is_not_pasted_but_its_unit_asked_for(unit: str, level: int) -> None:
    words = Vocabulary((Setting("memory", role=Role.MEMORY, unit=unit),))
    assert conf_lines(Configuration({"memory": level}), words) == ()
    [note] = missing_notes(Configuration({"memory": level}), words)
    assert f"memory={level} has no unit" in note
    assert "memory:gb" in note


def test_a_memory_without_a_unit_has_no_price() -> None:
    with pytest.raises(StudyError, match="memory = 61 is a memory without a unit") as caught:
        Setting("memory", role=Role.MEMORY).bytes(61)
    assert "memory:gb" in caught.value.hint


def test_machines_of_a_type_are_no_executors_and_have_no_conf_lines() -> None:
    words = WORDS.declaring(Vocabulary((Setting("flavour", role=Role.MACHINE_TYPE),)))
    assert conf_lines(Configuration({"hosts": 4, "threads": 2, "flavour": "m4.large"}), words) == ()
    assert conf_lines(Configuration({"hosts": 4, "threads": 2}), words)
