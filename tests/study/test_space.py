import math
import tracemalloc
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast.errors import StudyError
from sparkcast.study import Candidates, Configuration, Expression, Factor, Level, Listed, Space, Study, space

LEVELS: dict[str, st.SearchStrategy[Level]] = {
    "executors": st.integers(0, 8),
    "cores": st.sampled_from([0, 1, 2, 0.5, 4]),
    "memory": st.sampled_from(["1g", "2g", "512m"]),
    "network": st.sampled_from(["lenet5", "vgg", "alexnet"]),
    "jobs": st.integers(1, 3),
}
RULES = [
    "executors * cores <= 8",
    "executors % jobs == 0",
    "network == 'vgg' or executors > 2",
    "memory != '1g' if network == 'lenet5' else jobs < 3",
    "cores > 0 and executors / cores >= 1",
    "executors + cores + jobs != 4",
    "epochs < 3",
    "jobs <= epochs",
    "1 < executors <= 6",
    "cores > 0",
    "8 / cores > 1",
]


def space_of(levels: Mapping[str, tuple[Level, ...]], *rules: str, **fixed: Level) -> Space:
    return Space(levels, Configuration(fixed), tuple(Expression(rule) for rule in rules))


def listed(space: Space) -> list[dict[str, Level]]:
    """The definition: every combination, filtered as `Study.allows` does."""
    names = list(space.levels)
    combinations = (dict(zip(names, values, strict=True)) for values in product(*space.levels.values()))
    return [c for c in combinations if all(rule.evaluate({**c, **space.fixed}) for rule in space.rules)]


@settings(max_examples=150)
@given(
    st.fixed_dictionaries({name: st.lists(own, min_size=1, max_size=4, unique=True) for name, own in LEVELS.items()}),
    st.permutations(list(LEVELS)),
    st.lists(st.sampled_from(RULES), max_size=5, unique=True),
    st.integers(1, 3),
    st.sampled_from([1, 2**16]),
    st.sampled_from([1, 7, 2**20]),
)
def test_a_space_is_the_product_filtered_by_the_rules(
    levels: dict[str, list[Level]], order: list[str], rules: list[str], epochs: int, table: int, block: int
) -> None:
    asked = space_of({name: tuple(levels[name]) for name in order}, *rules, epochs=epochs)
    try:
        expected = listed(asked)
    except StudyError:  # a rule without a value for one combination: candidates() excludes it or raises
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(space, "_TABLE", table)
        patch.setattr(space, "_BLOCK", block)
        assert asked.candidates().configurations() == expected


def test_a_study_gives_its_space() -> None:
    factors = (Factor("executors", (1, 2, 4)), Factor("memory", ("1g", "2g")))
    study = Study(
        "s", "pi", factors, Configuration({"cores": 2}), (Expression("executors * cores < 8 or memory == '2g'"),)
    )
    found = study.space().candidates().configurations()
    assert found == listed(study.space())
    assert len(found) == 5
    assert all(study.allows(configuration | {"cores": 2}) for configuration in found)
    too_large: dict[str, Level] = {"executors": 4, "memory": "1g", "cores": 2}
    assert not study.allows(Configuration(too_large))


TEN = {f"x{i}": (1, 2, 4, 8) for i in range(10)}


def test_what_rules_exclude_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    verdicts = Expression.verdicts

    def counting(self: Expression, columns: Mapping[str, Any], size: int) -> tuple[Any, Any]:
        sizes.append(size)
        return verdicts(self, columns, size)

    monkeypatch.setattr(Expression, "verdicts", counting)
    asked = space_of(TEN, "x0 == x1", "x2 == x3", "x4 + x5 <= 6", "x6 * x7 == 8", "x8 < x9 or x0 > 1")
    assert len(asked.candidates()) == asked.count() == 6912
    assert asked.size == 4**10
    assert sum(sizes) == 2 * (4 * 16 + 64)


def test_a_million_candidates_take_little_more_memory_than_their_codes() -> None:
    found, most_bytes = with_memory(space_of(TEN).candidates)
    assert len(found) == 4**10
    assert found.codes.nbytes == 10 * 4**10
    assert most_bytes < 5 * found.codes.nbytes
    assert found.configuration(4**10 - 1) == dict.fromkeys(TEN, 8)


def with_memory(find: Callable[[], Candidates]) -> tuple[Candidates, int]:
    """What is found, and the most memory that finding it took at any time."""
    tracemalloc.start()
    try:
        return find(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


TWELVE = {f"x{i}": tuple(range(10)) for i in range(12)}


def test_a_thousand_of_a_million_million_are_found() -> None:
    found = space_of(TWELVE, *(f"x{i} == x{i + 3}" for i in range(9))).candidates()
    assert found.configurations() == [
        dict(zip(TWELVE, values * 4, strict=True)) for values in product(range(10), repeat=3)
    ]


def test_a_chain_of_rules_is_followed_from_the_rule_that_leaves_least() -> None:
    rules = [*(f"x{i} <= x{i + 1}" for i in range(11)), "x11 + x10 == 3"]
    assert len(space_of(TWELVE, *rules).candidates()) == 12


@pytest.mark.parametrize("rules", [(), ("x0 < 9",), tuple(f"x{i} + x{i + 1} != 3" for i in range(11))])
def test_too_many_candidates_are_refused_with_a_way_out_before_they_fill_the_memory(rules: tuple[str, ...]) -> None:
    with pytest.raises(StudyError, match="more than 5,000,000 combinations") as caught:
        space_of(TWELVE, *rules).candidates()
    assert caught.value.hint == "fix some settings, or give fewer levels"


def test_more_combinations_than_fit_in_a_whole_number_are_ordered_too() -> None:
    levels = {f"x{i}": tuple(range(1000)) for i in range(8)}
    found = space_of(levels, *(f"x{i} + x{i + 1} == 999" for i in range(7))).candidates()
    assert found.column("x0").tolist() == list(range(1000))
    assert math.prod(map(len, levels.values())) > 2**63


# ---------------------------------------------------------------- samples


@settings(max_examples=50)
@given(
    st.fixed_dictionaries({name: st.lists(own, min_size=1, max_size=4, unique=True) for name, own in LEVELS.items()}),
    st.lists(st.sampled_from(RULES), max_size=4, unique=True),
    st.integers(1, 40),
    st.integers(0, 9),
    st.sampled_from([1, 8, 2**18]),
)
def test_a_sample_is_different_candidates_and_all_of_them_where_they_are_few(
    levels: dict[str, list[Level]], rules: list[str], n: int, seed: int, most: int
) -> None:
    asked = space_of({name: tuple(own) for name, own in levels.items()}, *rules, epochs=2)
    try:
        expected = listed(asked)
    except StudyError:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(space, "MOST_COUNTED", most)
        count, found = asked.count(), asked.sample(n, seed).configurations()
        assert found == asked.sample(n, seed).configurations()
    assert count in (None, len(expected))
    assert len(found) == min(n, len(expected))
    assert all(configuration in expected for configuration in found)
    assert all(found.count(configuration) == 1 for configuration in found)


@pytest.mark.parametrize("most", [2**18, 20, 1])
def test_every_candidate_is_sampled_equally_often(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(space, "MOST_COUNTED", most)  # listed whole, in part, or not at all
    asked = space_of({"a": (1, 2, 3, 4), "b": (1, 2, 3, 4), "c": (1, 2, 3, 4), "d": (1, 2)}, "a <= b", "b != c")
    everything = [tuple(c.values()) for c in listed(asked)]
    drawn = Counter(tuple(c.values()) for seed in range(300) for c in asked.sample(10, seed).configurations())
    expected = 300 * 10 / len(everything)
    assert sum((drawn[c] - expected) ** 2 / expected for c in everything) < 2 * len(everything)
    assert set(drawn) == set(everything)


def test_a_few_of_very_many_are_sampled_where_almost_nothing_is_allowed() -> None:
    asked = space_of(TWELVE, *(f"x{i} == x{i + 3}" for i in range(6)))
    assert asked.count() == 10**6
    found = asked.sample(1000)
    assert len(found) == 1000
    assert (found.codes[:, 0] == found.codes[:, 6]).all()


def test_a_sample_is_drawn_where_the_candidates_cannot_be_counted() -> None:
    asked = space_of(TWELVE, *(f"x{i} + x{i + 1} != 3" for i in range(11)))
    assert asked.count() is None
    found = asked.sample(500, seed=3)
    assert len(found) == 500
    assert all(asked.allows(found.configurations()))


def test_nothing_is_sampled_where_nothing_is_allowed() -> None:
    assert len(space_of(TWELVE, "x0 + x1 > 100").sample(5)) == 0
    assert space_of(TWELVE, "x0 + x1 > 100", "x2 < x3").count() == 0
    chain = [f"x{i} < x{i + 1}" for i in range(11)]
    assert len(space_of(TWELVE, *chain).sample(5)) == 0


def test_a_sample_with_a_rule_that_has_no_value_is_an_error() -> None:
    with pytest.raises(StudyError, match="division by zero"):
        space_of({"cores": (0, 1, 2), "jobs": tuple(range(9))}, "8 / cores > 1").sample(5)


# ---------------------------------------------------------------- rules


def test_any_configurations_are_judged_as_candidates_are() -> None:
    asked = space_of({"cores": (1, 2), "jobs": (1, 2)}, "8 / cores > jobs", "cores > 0 or jobs == 7", epochs=3)
    given = [{"cores": 3, "jobs": 2}, {"cores": 3, "jobs": 3, "epochs": 9}, {"cores": 0, "jobs": 1}]
    assert asked.allows([Configuration(levels) for levels in given]).tolist() == [True, False, False]
    assert asked.allows([]).tolist() == []
    with pytest.raises(StudyError, match="cores=0, jobs=7: division by zero"):
        asked.allows([Configuration({"cores": 0, "jobs": 7})])
    with pytest.raises(StudyError, match="unknown name 'jobs'"):
        asked.allows([Configuration({"cores": 0})])


def test_a_combination_that_one_rule_excludes_may_have_no_value_in_another() -> None:
    levels: dict[str, tuple[Level, ...]] = {"cores": (0, 2, 16), "jobs": (1, 2)}
    assert len(space_of(levels, "8 / cores > 1", "cores * jobs > 0").candidates()) == 2
    with pytest.raises(StudyError, match="failed at cores=0: division by zero"):
        space_of(levels, "8 / cores > 1").candidates()


def test_rules_about_fixed_settings_alone_allow_all_or_nothing() -> None:
    levels: dict[str, tuple[Level, ...]] = {"cores": (1, 2)}
    assert len(space_of(levels, "epochs < 3", epochs=2).candidates()) == 2
    assert space_of(levels, "epochs < 3", epochs=5).candidates().configurations() == []
    assert space_of({}, "epochs < 3", epochs=2).candidates().configurations() == [{}]
    assert space_of({}, "epochs < 3", epochs=5).candidates().configurations() == []


def test_a_setting_may_be_fixed_at_any_value_and_freed_again() -> None:
    asked = space_of({"executors": (1, 2, 4), "cores": (1, 2)}, "executors * cores <= 6", memory="1g")
    fixed = asked.fixing({"cores": 3, "memory": "2g"})
    assert fixed.candidates().configurations() == [{"executors": e, "cores": 3, "memory": "2g"} for e in (1, 2)]
    assert fixed.fixed == {}
    freed = fixed.with_levels({"cores": [1, 6], "network": ["vgg"]})
    assert freed.candidates().configuration(1) == {"executors": 1, "cores": 6, "memory": "2g", "network": "vgg"}


def test_a_fixed_setting_is_written_as_the_levels_are() -> None:
    asked = space_of({"memory": ("1g", "2g"), "cores": (1, 2)}, "memory == '1g'")
    found = asked.fixing({"memory": "1024m", "cores": "2"}).candidates()
    assert found.configurations() == [{"memory": "1g", "cores": 2}]


def test_a_rule_can_be_dropped() -> None:
    asked = space_of({"cores": (1, 2, 4)}, "cores > 1", "cores < 4")
    left = {rule.text: len(others.candidates()) for rule, others in asked.without_each_rule()}
    assert left == {"cores > 1": 2, "cores < 4": 2}


@pytest.mark.parametrize(
    ("levels", "fixed", "rules", "words"),
    [
        ({"cores": ()}, {}, (), "no levels"),
        ({"cores": (1, 1)}, {}, (), "repeats a level"),
        ({"cores": (1,)}, {"cores": 2}, (), "both varied and fixed"),
        ({"cores": (1, 2)}, {}, ("core > 1",), "did you mean 'cores'"),
    ],
)
def test_a_space_that_makes_no_sense_is_refused(levels: Any, fixed: Any, rules: tuple[str, ...], words: str) -> None:
    with pytest.raises(StudyError, match=words):
        space_of(levels, *rules, **fixed).candidates()


def test_candidates_of_configurations_keep_their_order_and_give_their_columns() -> None:
    given: list[dict[str, Level]] = [
        {"executors": 4, "memory": "2g", "network": "vgg", "epochs": 1},
        {"executors": 1, "memory": "1g", "network": "lenet5", "epochs": 1},
        {"executors": 4, "memory": "1g", "network": "vgg", "epochs": 1},
    ]
    found = Candidates.of(given, ["network", "executors", "memory"])
    assert found.configurations() == [{n: c[n] for n in ("network", "executors", "memory")} for c in given]
    assert found.column("executors").tolist() == [4.0, 1.0, 4.0]
    assert found.column("memory").tolist() == [2.0**31, 2.0**30, 2.0**30]
    assert found.column("network").tolist() == ["vgg", "lenet5", "vgg"]
    assert found.take(np.array([2, 0])).configurations() == found.configurations([2, 0])
    assert found.configuration(2) == found.configurations()[2]
    assert len(found.take(found.column("executors") > 2)) == 2
    with pytest.raises(StudyError, match="has no 'cores'"):
        Candidates.of(given, ["cores"])


@pytest.mark.parametrize("n_levels", [127, 128, 129, 32769])
def test_codes_hold_every_level(n_levels: int) -> None:
    found = space_of({"size": tuple(range(n_levels))}).candidates()
    assert found.column("size").tolist() == list(range(n_levels))


# ---------------------------------------------------------------- listed candidates


def listed_as(*given: dict[str, Level]) -> Listed:
    return Listed(tuple(map(Configuration, given)))


def test_listed_candidates_come_once_and_in_their_order() -> None:
    asked = listed_as({"cores": 4, "memory": "2g"}, {"cores": 1, "memory": "1g"}, {"memory": "2048m", "cores": 4.0})
    assert asked.candidates().configurations() == [{"cores": 4, "memory": "2g"}, {"cores": 1, "memory": "1g"}]
    with pytest.raises(StudyError, match="has no 'memory'"):
        listed_as({"cores": 4, "memory": "2g"}, {"cores": 1}).candidates()
    with pytest.raises(StudyError, match="no candidates to choose from"):
        Listed(())


def test_other_levels_of_listed_candidates_are_combined_with_the_rest() -> None:
    asked = listed_as({"cores": 1, "jobs": 1}, {"cores": 2, "jobs": 1}, {"cores": 2, "jobs": 9})
    wider = asked.with_levels({"jobs": (3, 4)})
    assert wider.candidates().configurations() == [{"cores": c, "jobs": j} for c, j in product((1, 2), (3, 4))]
    assert asked.with_levels({}) == asked


def test_listed_candidates_with_the_fixed_value_are_taken_or_all_are_given_it() -> None:
    asked = listed_as({"cores": 1, "memory": "1g"}, {"cores": 2, "memory": "2g"})
    assert asked.fixing({"memory": "2048m"}).candidates().configurations() == [{"cores": 2, "memory": "2g"}]
    moved = asked.fixing({"cores": 4}).candidates().configurations()
    assert moved == [{"cores": 4, "memory": "1g"}, {"cores": 4, "memory": "2g"}]
    assert asked.without_each_rule() == ()


def test_candidates_restricted_to_some_settings_come_once() -> None:
    found = space_of({"a": (1, 2), "b": (1, 2), "c": (1, 2)}, "a <= c").candidates().only(["c", "a"])
    assert found.configurations() == [{"c": 1, "a": 1}, {"c": 2, "a": 1}, {"c": 2, "a": 2}]
