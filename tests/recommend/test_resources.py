"""A deadline without accuracy and price is met with the fewest resources; a setting can be the objective."""

from itertools import product
from typing import Any

import pytest

from sparkcast.errors import StudyError
from sparkcast.recommend import Recommendation
from sparkcast.study import Dataset, Kind, Level, Observation, Price, Response, Role, Setting, Vocabulary
from tests_support import recommend

HOSTS = (1, 2, 4, 8)


def measured(roles: dict[str, Role], *, fixed: dict[str, Level] | None = None, accuracy: bool = False) -> Dataset:
    """Amdahl's law on hosts, each with two or four threads: the more, the faster and the more wasteful."""
    runs = []
    for (hosts, threads), extra in product(product(HOSTS, (2, 4)), (0.99, 1.01)):
        minutes = (0.5 + 8 / (hosts * threads)) * extra
        responses = {"minutes": minutes} | ({"auc": 0.9 + 0.01 * hosts} if accuracy else {})
        runs.append(Observation({"hosts": hosts, "threads": threads, **(fixed or {})}, responses))
    settings = tuple(Setting(name, role=role) for name, role in roles.items())
    words = Vocabulary(settings, (Response("minutes", kind=Kind.TIME, unit="min"), Response("auc", kind=Kind.SHARE)))
    return Dataset(("hosts", "threads"), tuple(runs), responses=("minutes", "auc"), vocabulary=words)


def ask(roles: dict[str, Role], *, accuracy: bool = False, fixed: Any = None, **question: Any) -> Recommendation:
    candidates = [{"hosts": h, "threads": t} for h, t in product(HOSTS, (2, 4))]
    data = measured(roles, fixed=fixed, accuracy=accuracy)
    return recommend(data, candidates, model="ridge", **question)


BOTH = {"hosts": Role.MACHINES, "threads": Role.CORES}


def test_a_deadline_is_met_with_the_fewest_core_seconds_and_not_as_fast_as_possible() -> None:
    found = ask(BOTH, within_s=260.0)  # two hosts with two threads need 150 s, one 270 s
    assert found.objective == "minimize core_seconds"
    assert found.chosen.configuration in ({"hosts": 2, "threads": 2}, {"hosts": 1, "threads": 4})  # equal but for noise
    held = found.chosen.predicted("core_seconds")
    time = found.chosen.predicted("minutes")
    assert held.value == pytest.approx(time.value * 60 * 4)
    assert [held.low, held.high] == pytest.approx([time.low * 240, time.high * 240])


def test_the_answer_says_why_and_how_to_ask_for_the_fastest() -> None:
    found = ask(BOTH, within_s=260.0)
    assert "the fewest core-seconds (hosts x threads x time)" in found.why
    assert "`minimize='minutes'`" in found.why
    assert "fewest" not in ask(BOTH, within_s=260.0, minimize="core_seconds").why
    fastest = ask(BOTH, within_s=260.0, minimize="minutes")
    assert fastest.chosen.configuration == {"hosts": 8, "threads": 4}


def test_where_cores_are_unknown_machines_are_counted() -> None:
    found = ask({"hosts": Role.MACHINES}, within_s=260.0)
    assert found.objective == "minimize machine_seconds"
    assert found.chosen.configuration == {"hosts": 1, "threads": 4}
    assert found.chosen.predicted("machine_seconds").value == pytest.approx(
        found.chosen.predicted("minutes").value * 60
    )


def test_fixed_cores_and_totals_count_too() -> None:
    found = ask({"hosts": Role.MACHINES, "slots": Role.CORES}, fixed={"slots": 3}, within_s=260.0)
    assert found.chosen.predicted("core_seconds").value == pytest.approx(
        found.chosen.predicted("minutes").value * 180 * int(found.chosen.configuration["hosts"])
    )
    assert ask({"hosts": Role.TOTAL_CORES}, within_s=260.0).objective == "minimize core_seconds"


@pytest.mark.parametrize("roles", [{}, {"slots": Role.CORES}])
def test_without_machines_that_vary_the_time_is_asked_for(roles: dict[str, Role]) -> None:
    assert ask(roles, fixed={"slots": 3}, within_s=260.0).objective == "minimize minutes"


def test_accuracy_price_or_no_deadline_ask_for_something_else() -> None:
    assert ask(BOTH, within_s=260.0, accuracy=True).objective == "maximize auc"
    assert ask(BOTH, within_s=260.0, price=Price(core_hour=1.0)).objective == "minimize cost"
    assert ask(BOTH).objective == "minimize minutes"


def test_a_setting_is_an_objective_and_the_time_breaks_ties() -> None:
    found = ask(BOTH, within_s=140.0, minimize="hosts")  # four threads on two hosts need 90 s, on one 150 s
    assert found.objective == "minimize hosts"
    assert found.chosen.configuration == {"hosts": 2, "threads": 4}
    assert [p.response for p in found.chosen.predictions] == ["minutes"]
    assert found.alternatives[0].candidate.configuration["hosts"] == 1
    assert "hosts 2 -> 1" in found.alternatives[0].text
    assert ask(BOTH, maximize="threads", fix={"hosts": 2}).chosen.configuration["threads"] == 4


@pytest.mark.parametrize(
    ("name", "words"),
    [("slots", "every run has slots = 3"), ("disk", "disk is not a number"), ("host", "no run has the response")],
)
def test_what_cannot_be_an_objective_is_refused(name: str, words: str) -> None:
    runs = tuple(
        Observation({"hosts": h, "slots": 3, "disk": d}, {"minutes": 5 / h})
        for h, d in product((1, 2, 4), ("hdd", "ssd"))
    )
    vocabulary = Vocabulary(responses=(Response("minutes", kind=Kind.TIME, unit="min"),))
    data = Dataset(("hosts", "disk"), runs, responses=("minutes",), vocabulary=vocabulary)
    candidates = [run.configuration.only(data.factors) for run in runs]
    with pytest.raises(StudyError, match=words):
        recommend(data, candidates, model="ridge", minimize=name)
