"""The combinations of a table's levels, and the settings that are not free of each other."""

import random
from itertools import product

import pytest

from sparkcast.study import Configuration, Level, Listed, Role, Setting, Vocabulary
from sparkcast.study import crossed as module
from sparkcast.study.crossed import crossed
from sparkcast.study.ties import tied_groups

NO_WORDS = Vocabulary()
TYPES = {"small": (2, 4), "medium": (4, 8), "large": (8, 16)}


def rows(**columns: list[Level]) -> list[Configuration]:
    return [Configuration(dict(zip(columns, levels, strict=True))) for levels in zip(*columns.values(), strict=True)]


def groups(found: list[Configuration], words: Vocabulary = NO_WORDS) -> set[frozenset[str]]:
    return {frozenset(group) for group in tied_groups(tuple(found[0]), found, words)}


def free(*names: str) -> set[frozenset[str]]:
    return {frozenset([name]) for name in names}


def clusters(*nodes: int) -> list[Configuration]:
    return [
        Configuration({"nodes": n, "type": t, "cores": c, "memory_gb": m})
        for n, (t, (c, m)) in product(nodes, TYPES.items())
    ]


def test_rows_that_were_not_run_are_candidates_too() -> None:
    runs = [Configuration({"nodes": n, "batch": b}) for n, b in ((1, 32), (2, 64), (4, 32), (4, 64))]
    found = crossed(Listed(tuple(runs)), NO_WORDS).candidates().configurations()
    assert found[:4] == runs
    assert len(found) == len(set(found)) == 6
    assert set(found) == {Configuration({"nodes": n, "batch": b}) for n, b in product((1, 2, 4), (32, 64))}


def test_a_machine_type_keeps_its_cores_and_memory() -> None:
    assert groups(clusters(1, 2, 4)) == {frozenset({"type", "cores", "memory_gb"}), frozenset({"nodes"})}
    found = crossed(Listed(tuple(clusters(1, 2, 4)[:-1])), NO_WORDS).candidates().configurations()
    assert len(found) == 9
    assert {(c["type"], c["cores"], c["memory_gb"]) for c in found} == {(t, c, m) for t, (c, m) in TYPES.items()}


def test_declared_roles_tie_a_machine_type_to_its_cores_where_the_runs_are_too_few_to_show_it() -> None:
    few = [Configuration({"n": n, "kind": k, "threads": t}) for n, (k, t) in product((1, 2), (("a", 2), ("b", 4)))]
    assert groups(few) == free("n", "kind", "threads")
    words = Vocabulary((Setting("kind", role=Role.MACHINE_TYPE), Setting("threads", role=Role.CORES)))
    assert groups(few, words) == {frozenset({"kind", "threads"}), frozenset({"n"})}


def test_a_total_is_tied_to_the_two_that_it_is_the_product_of() -> None:
    found = [
        Configuration({"nodes": n, "cores": c, "total": n * c, "batch": b})
        for n, c, b in product((1, 2, 4), (2, 4, 8), (32, 64))
    ]
    assert groups(found) == {frozenset({"nodes", "cores", "total"}), frozenset({"batch"})}


def test_columns_of_a_fractional_design_are_free_though_one_is_made_of_two_others() -> None:
    found = [
        Configuration({"a": a, "b": b, "c": c, "d": d, "e": 1 + (a == b), "f": 1 + (c == d)})
        for a, b, c, d in product((1, 2), repeat=4)
    ]
    assert groups(found) == free(*"abcdef")


def test_numbers_that_rise_together_in_every_run_are_tied() -> None:
    assert groups(rows(nodes=[1, 2, 4, 8], size=[10, 20, 40, 80])) == {frozenset({"nodes", "size"})}
    assert groups(rows(nodes=[1, 2, 4, 8], workers=[9, 6, 4, 1])) == {frozenset({"nodes", "workers"})}


def test_random_numbers_without_a_repeated_level_are_free() -> None:
    draw = random.Random(3)
    found = [
        Configuration({"rate": draw.random(), "decay": draw.random(), "momentum": draw.random()}) for _ in range(9)
    ]
    assert groups(found) == free("rate", "decay", "momentum")


def test_a_category_without_a_repeated_level_says_nothing_but_of_its_rows() -> None:
    found = rows(host=["a", "b", "c", "d"], cores=[2, 4, 2, 8], disk=["hdd", "ssd", "ssd", "hdd"])
    assert len(groups(found)) == 1
    assert len(crossed(Listed(tuple(found)), NO_WORDS).candidates()) == 4


def test_one_factor_at_a_time_is_free() -> None:
    found = rows(a=[1, 2, 3, 1, 1, 1, 1], b=[1, 1, 1, 2, 3, 1, 1], c=[1, 1, 1, 1, 1, 2, 3])
    assert groups(found) == free("a", "b", "c")


def test_given_levels_take_the_place_of_the_measured_ones() -> None:
    pool = crossed(Listed(tuple(clusters(1, 2, 4))), NO_WORDS).with_levels({"nodes": (2, 3, 5)})
    found = pool.candidates()
    assert found.levels["nodes"] == (2, 3, 5)
    assert len(found) == 9
    assert pool.description == "combinations of the measured and the given levels"


@pytest.mark.parametrize(("value", "n"), [(2, 3), (3, 3)])
def test_a_fixed_setting_narrows_or_is_put_in(value: int, n: int) -> None:
    found = crossed(Listed(tuple(clusters(1, 2, 4))), NO_WORDS).fixing({"nodes": value}).candidates()
    assert (found.levels["nodes"], len(found)) == ((value,), n)


def test_of_too_many_combinations_the_measured_ones_and_some_by_chance_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_CROSSED", 50)
    draw = random.Random(1)
    found = [Configuration({name: draw.randrange(40) for name in "abcdefgh"}) for _ in range(30)]
    pool = crossed(Listed(tuple(found)), NO_WORDS)
    candidates = pool.candidates().configurations()
    assert pool.is_sample
    assert pool.size > 10**9
    assert candidates[:30] == found
    assert len(candidates) == 50
    assert "drawn at random" in pool.description
