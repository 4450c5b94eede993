"""One value for the settings of a run, however its levels are written."""

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.study import Configuration, Level, natural_order, same_level
from sparkcast.study.configuration import normal_level

WHOLE = st.integers(-(10**9), 10**9)
# Ways to write one and the same level.
WRITTEN = st.one_of(
    WHOLE.map(lambda n: (n, float(n), str(n), f" {n} ")),
    st.integers(1, 10**6).map(lambda n: (f"{n}g", f"{n * 1024}m", f"{n}GB", f"{n * 1024 * 1024} k")),
    st.sampled_from([0.5, 0.001, 1e-9]).map(lambda x: (x, str(x), repr(x))),
    st.sampled_from(["adam", "lenet5", ""]).map(lambda text: (text, text)),
    st.just((True, 1, "1")),
)
TWICE = st.dictionaries(st.sampled_from("abcde"), st.tuples(WRITTEN, st.randoms(use_true_random=False)), max_size=5)
LEVELS = st.one_of(WHOLE, st.floats(allow_nan=False), st.sampled_from(["1g", "1024m", "512m", "adam", "4k"]))
SETTINGS = st.dictionaries(st.sampled_from("abcdef"), LEVELS)


@given(TWICE)
def test_levels_written_differently_make_the_same_configuration(written: dict[str, Any]) -> None:
    first, second = (
        Configuration({name: choice.choice(ways) for name, (ways, choice) in written.items()}) for _ in range(2)
    )
    assert first == second
    assert hash(first) == hash(second)
    assert str(first) == str(second)
    assert len({first, second}) == 1


@given(SETTINGS, st.randoms(use_true_random=False))
def test_the_order_of_names_does_not_count(levels: dict[str, Level], random: Any) -> None:
    names = list(levels)
    random.shuffle(names)
    shuffled = Configuration({name: levels[name] for name in names})
    assert shuffled == Configuration(levels)
    assert hash(shuffled) == hash(Configuration(levels))
    assert list(shuffled) == names, "but it is kept"


@given(SETTINGS)
def test_a_configuration_equals_the_mapping_it_was_made_of(levels: dict[str, Level]) -> None:
    configuration = Configuration(levels)
    assert configuration == levels
    assert levels == configuration
    assert dict(configuration) == {name: normal_level(level) for name, level in levels.items()}
    assert Configuration(levels.items()) == Configuration(configuration) == configuration
    assert configuration != {**levels, "other": 1}
    assert configuration != 3


@given(SETTINGS)
def test_copies_and_pickles_are_equal(levels: dict[str, Level]) -> None:
    configuration = Configuration(levels)
    hash(configuration)
    for again in (copy.copy(configuration), copy.deepcopy(configuration), pickle.loads(pickle.dumps(configuration))):
        assert again == configuration
        assert hash(again) == hash(configuration)
        assert isinstance(again, Configuration)


def test_a_configuration_cannot_be_changed() -> None:
    levels: dict[str, Level] = {"executors": 2}
    configuration = Configuration(levels)
    with pytest.raises(TypeError):
        configuration["executors"] = 4  # type: ignore[index]
    with pytest.raises(TypeError):
        del configuration["executors"]  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        configuration.executors = 4  # type: ignore[attr-defined]
    levels["executors"] = 8
    changed = configuration | {"executors": 16}
    assert (configuration["executors"], changed["executors"]) == (2, 16)


@given(SETTINGS, st.lists(st.sampled_from("abcdefgh"), unique=True))
def test_a_part_has_the_named_settings_and_the_rest_the_others(levels: dict[str, Level], names: list[str]) -> None:
    whole = Configuration(levels)
    part, rest = whole.only(names), whole.without(*names)
    assert list(part) == [name for name in names if name in levels]
    assert set(rest) == set(levels) - set(names)
    assert part | rest == rest | part == whole
    assert whole.includes(part)
    assert whole.includes(rest)
    assert part.includes(whole) == (part == whole)


@given(SETTINGS, SETTINGS)
def test_of_two_configurations_put_together_the_second_counts(
    first: dict[str, Level], second: dict[str, Level]
) -> None:
    both = Configuration(first) | second
    assert both == {**first, **second}
    assert both.includes(second)


def test_a_configuration_includes_settings_however_they_are_written() -> None:
    configuration = Configuration({"memory": "1g", "executors": 2, "network": "lenet5"})
    assert configuration.includes({"memory": "1024m", "executors": "2"})
    assert not configuration.includes({"memory": "2g"})
    assert not configuration.includes({"cores": 1})
    assert configuration.includes({})


@given(LEVELS)
def test_a_normal_level_is_written_no_further(level: Level) -> None:
    once = normal_level(level)
    assert normal_level(once) == once
    assert type(normal_level(once)) is type(once)
    assert same_level(level, once)


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("4k", "4k"),
        ("4096", 4096),
        ("4096b", "4k"),
        ("0.5g", "512m"),
        ("1536m", "1536m"),
        ("1g", "1g"),
        ("1G", "1g"),
        ("1 GB", "1g"),
        ("0m", "0b"),
        ("1_000", 1000),  # as Python writes it
        ("1e3", 1000),
        (1e3, 1000),
        (-0.0, 0),
        (0.1, 0.1),
        (2.0**60, 2.0**60),  # beyond 2**53 not every whole number is a float
        (True, 1),
        ("nan", "nan"),
        ("inf", "inf"),
        ("-Infinity", "-Infinity"),
        ("1e999", "1e999"),
        (" ", " "),
        ("", ""),
        ("g", "g"),
        ("-1g", "-1g"),
        ("5s", "5s"),
        ("lenet5", "lenet5"),
        ("m4.large", "m4.large"),
    ],
)
def test_a_level_has_one_way_to_be_written(written: Level, normal: Level) -> None:
    found = normal_level(written)
    assert (found, type(found)) == (normal, type(normal))


def test_numbers_and_texts_of_numbers_are_one_level_and_other_texts_are_not() -> None:
    assert same_level("1g", "1024m")
    assert same_level(2, "2.0")
    assert not same_level("1g", 2**30), "a bare number counts in the unit of its setting"
    assert not same_level("adam", "Adam")
    assert not same_level("nan", "inf")


@given(st.lists(LEVELS))
def test_levels_in_natural_order_are_all_there_once(levels: list[Level]) -> None:
    ordered = natural_order(levels)
    assert set(ordered) == {normal_level(level) for level in levels}
    assert len(ordered) == len(set(ordered))
    assert natural_order(reversed(ordered)) == (
        *(level for level in ordered if level != "adam"),
        *(level for level in ordered if level == "adam"),
    )


def test_numbers_come_by_size_and_words_as_they_came() -> None:
    assert natural_order(["vgg", "4g", 2, "512m", "lenet5", 1.0, "1"]) == (1, 2, "512m", "4g", "vgg", "lenet5")
    assert natural_order(["nan", 3, "inf", 1, "-inf", 2]) == (1, 2, 3, "nan", "inf", "-inf")


def test_a_configuration_is_shown_as_it_is_asked_for() -> None:
    configuration = Configuration({"executors": 2.0, "memory": "2048m", "network": "lenet5"})
    assert str(configuration) == "executors=2, memory=2g, network=lenet5"
    assert repr(configuration) == "Configuration({'executors': 2, 'memory': '2g', 'network': 'lenet5'})"
    assert str(Configuration()) == ""
