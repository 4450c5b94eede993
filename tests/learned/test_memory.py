"""One side of a cliff of memory that was never run."""

import pytest

from sparkcast.learned.memory import shortage_note
from sparkcast.study import Configuration, Level, Observation
from sparkcast.study.names import usual_vocabulary

_FACTORS = ("nodes", "executor_memory", "data_size", "color")
_WORDS = usual_vocabulary(_FACTORS, ("time_s", "cost"))


def _at(nodes: Level, memory: Level, data: Level) -> Configuration:
    return Configuration({"nodes": nodes, "executor_memory": memory, "data_size": data, "color": "red"})


_RUNS = [Observation(_at(n, m, d), {"time_s": 60.0, "cost": 1.0}) for n, m, d in ((4, "8g", 10), (8, "4g", 10))]


def note(*at: Level, told: str = "time_s") -> str:
    return shortage_note(_RUNS, _at(*at), _FACTORS, _WORDS, told)


@pytest.mark.parametrize("at", [(4, "4g", 10), (4, "8g", 20), (2, "8g", 10)])
def test_more_data_for_less_memory_than_in_any_run_is_told(at: tuple[Level, ...]) -> None:
    assert "no run had so little memory for its data" in note(*at)
    assert f"executor_memory={at[1]}" in note(*at)
    assert "color" not in note(*at)


@pytest.mark.parametrize("at", [(4, "8g", 10), (16, "2g", 10), (4, "8g", 10.5), (1, "1g", 0)])
def test_where_runs_had_as_little_nothing_is_told(at: tuple[Level, ...]) -> None:
    assert note(*at) == ""


def test_what_is_no_time_has_no_cliff() -> None:
    assert note(1, "1g", 100, told="cost") == ""


def test_without_a_memory_among_the_settings_nothing_is_told() -> None:
    assert shortage_note(_RUNS, _at(1, "1g", 100), ("nodes", "data_size"), _WORDS, "time_s") == ""
