import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.study import Configuration, Factor, Level, Price, Study, Trial, differences
from sparkcast.study.derive import time_cost
from sparkcast.study.names import usual_vocabulary

STUDY = Study("s", "pi", (Factor("executors", (1, 2)), Factor("samples", (10, 20))))


def test_differences_name_the_key_and_both_values() -> None:
    old, new = {"design": {"seed": 1}, "rules": []}, {"design": {"seed": 2}, "rules": ["a"], "workload": "pi"}
    assert differences(old, new) == ("design.seed: 1 -> 2", "rules: [] -> ['a']", "workload: (absent) -> pi")


def test_limits_and_price_do_not_change_what_is_measured() -> None:
    cheaper = Study("s", "pi", STUDY.factors, price=Price(1.0))
    assert not differences(STUDY.measured_definition(), cheaper.measured_definition())


@given(st.permutations(["executors", "samples", "seed"]), st.integers(1, 5))
def test_a_trial_keeps_its_key_whatever_the_order_of_its_settings(names: list[str], replicate: int) -> None:
    values: dict[str, Level] = {"executors": 1, "samples": 10, "seed": 3}
    first = Trial(Configuration(values), replicate, position=1)
    second = Trial(Configuration({name: values[name] for name in names}), replicate, position=9)
    assert first.key == second.key
    assert first.key != Trial(Configuration(values), replicate + 1).key


def test_a_run_costs_its_executors_cores_and_memory_for_its_time() -> None:
    settings: dict[str, Level] = {"executors": 2, "cores": 4, "memory": "8g"}
    price, words = Price(core_hour=0.1, gib_hour=0.01), usual_vocabulary(settings, ["time_s"])
    assert time_cost(1800, settings, price, words) == pytest.approx(0.5 * 2 * (0.4 + 0.08))
