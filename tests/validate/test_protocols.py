from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sparkcast.errors import NotEnoughDataError, StudyError, UnknownNameError
from sparkcast.study import Dataset, Level, Observation, Outcome
from sparkcast.units import as_number
from sparkcast.validate import PROTOCOLS, make_protocol
from sparkcast.validate.protocols import Split

EXECUTORS = (1, 2, 4, 8)
MEMORY = ("1g", "1024m", "2g", "16g")  # the first two are one level
NETS = ("a", "b")
Drawn = list[tuple[int, str, str, bool]]
ANY_RUN = st.tuples(st.sampled_from(EXECUTORS), st.sampled_from(MEMORY), st.sampled_from(NETS), st.booleans())
# Every protocol below can split these few; what else is drawn stands before, between or after them.
ENOUGH: Drawn = [(1, "1g", "a", True), (2, "1024m", "b", True), (4, "2g", "a", True), (8, "16g", "b", True)]
RUNS = st.lists(ANY_RUN, max_size=30).flatmap(lambda more: st.permutations(ENOUGH + more))
FEW_RUNS = st.lists(ANY_RUN, min_size=2, max_size=20)
TEXTS = (
    *("loo", "kfold", "kfold:2", "kfold:3", "holdout", "holdout:0.5", "holdout:0.99"),
    *("interpolate:executors", "interpolate:memory"),
    *("extrapolate:executors", "extrapolate:memory", "extrapolate:executors>2", "extrapolate:memory<2g"),
    *("cases:executors=1+4|2", "cases:net=a|b;executors=1+2|1+2", "cases:net=a|a", "cases:memory=1g+16g|2g;net=a|a+b"),
)


def dataset(drawn: Drawn) -> Dataset:
    return Dataset(
        ("executors", "memory", "net"),
        tuple(
            Observation(
                {"executors": e, "memory": m, "net": n, "epochs": 2},
                {"time_s": 1.0 + i},
                outcome=Outcome.OK if ok or i == 0 else Outcome.OOM,
            )
            for i, (e, m, n, ok) in enumerate(drawn)
        ),
    )


FULL = dataset([(e, m, n, True) for e, m, n in product(EXECUTORS, MEMORY, NETS)] * 2)


def splits_of(text: str, drawn: Drawn, seed: int = 0) -> tuple[Dataset, list[Split]]:
    data = dataset(drawn)
    return data, list(make_protocol(text, seed=seed).splits(data, "time_s"))


def n_configurations(drawn: Drawn) -> int:
    data = dataset(drawn)
    return len({data.key(o) for o in data.successful("time_s")})


def numbers(split: Split, factor: str) -> tuple[set[float], set[float]]:
    """The levels learned from and tested."""

    def of(runs: tuple[Observation, ...]) -> set[float]:
        return {number for o in runs if (number := as_number(o.configuration[factor])) is not None}

    return of(split.train.observations), of(split.test)


def identities(runs: tuple[Observation, ...]) -> list[float]:
    return [o.responses["time_s"] for o in runs]


def test_every_protocol_is_among_those_tested_here() -> None:
    assert {text.partition(":")[0] for text in TEXTS} == set(PROTOCOLS.names())


@pytest.mark.parametrize("text", TEXTS)
def test_a_full_design_can_be_split_in_every_way(text: str) -> None:
    splits = make_protocol(text).splits(FULL, "time_s")
    assert splits
    assert all(split.name and split.test and split.train.observations for split in splits)


@pytest.mark.parametrize("text", TEXTS)
@settings(max_examples=30)
@given(drawn=RUNS)
def test_a_configuration_is_learned_from_or_tested_and_failed_runs_are_neither(text: str, drawn: Drawn) -> None:
    data, splits = splits_of(text, drawn)
    usable = identities(data.successful("time_s"))
    assert splits
    for split in splits:
        assert split.test
        assert split.train.observations
        assert not {data.key(o) for o in split.test} & {data.key(o) for o in split.train.observations}
        parts = [*identities(split.train.observations), *identities(split.test)]
        assert len(set(parts)) == len(parts)
        assert set(parts) <= set(usable)
        assert (split.train.factors, split.train.name) == (data.factors, data.name)


@pytest.mark.parametrize("text", TEXTS)
@settings(max_examples=10)
@given(drawn=RUNS, seed=st.integers(0, 9))
def test_the_same_runs_and_seed_give_the_same_splits(text: str, drawn: Drawn, seed: int) -> None:
    assert splits_of(text, drawn, seed)[1] == splits_of(text, drawn, seed)[1]


@pytest.mark.parametrize("text", ["kfold", "holdout", "cases:net=a|a"])
def test_another_seed_draws_other_configurations(text: str) -> None:
    first, second = (make_protocol(text, seed=seed).splits(FULL, "time_s") for seed in (0, 1))
    assert [identities(s.test) for s in first] != [identities(s.test) for s in second]


@pytest.mark.parametrize("text", ["loo", "kfold", "kfold:2"])
@given(drawn=FEW_RUNS)
def test_leaving_out_in_turn_tests_every_run_exactly_once_on_all_the_others(text: str, drawn: Drawn) -> None:
    assume(n_configurations(drawn) > 1)
    data, splits = splits_of(text, drawn)
    runs = data.successful("time_s")
    assert sorted(number for s in splits for number in identities(s.test)) == identities(runs)
    assert all(len(s.test) + len(s.train.observations) == len(runs) for s in splits)


@given(drawn=FEW_RUNS)
def test_leaving_one_out_makes_one_split_per_configuration(drawn: Drawn) -> None:
    assume(n_configurations(drawn) > 1)
    assert len(splits_of("loo", drawn)[1]) == n_configurations(drawn)


@given(drawn=FEW_RUNS, wanted=st.none() | st.integers(0, 99))
def test_folds_are_as_many_as_asked_and_of_equal_size(drawn: Drawn, wanted: int | None) -> None:
    n = n_configurations(drawn)
    assume(n > 1)
    k = None if wanted is None else 2 + wanted % (n - 1)
    data, splits = splits_of("kfold" if k is None else f"kfold:{k}", drawn)
    sizes = [len({data.key(o) for o in s.test}) for s in splits]
    assert len(splits) == (k or min(10, n))
    assert max(sizes) - min(sizes) <= 1


@given(drawn=FEW_RUNS, share=st.floats(0.01, 0.99))
def test_a_holdout_draws_its_share_ten_times(drawn: Drawn, share: float) -> None:
    n = n_configurations(drawn)
    assume(n > 1)
    data, splits = splits_of(f"holdout:{share}", drawn)
    assert len(splits) == 10
    for split in splits:
        n_tested = len({data.key(o) for o in split.test})
        assert 1 <= n_tested < n
        assert abs(n_tested - share * n) <= 1


@pytest.mark.parametrize("factor", ["executors", "memory"])
@given(drawn=RUNS)
def test_interpolation_never_tests_an_extreme_and_leaves_the_whole_level_out(factor: str, drawn: Drawn) -> None:
    data, splits = splits_of(f"interpolate:{factor}", drawn)
    levels = sorted({as_number(o.configuration[factor]) or 0 for o in data.successful("time_s")})
    tested = [number for split in splits for number in numbers(split, factor)[1]]
    assert tested == levels[1:-1]
    for split in splits:
        learned, [number] = numbers(split, factor)
        assert learned == set(levels) - {number}


@pytest.mark.parametrize("factor", ["executors", "memory"])
@given(drawn=RUNS)
def test_extrapolation_rolls_upwards_from_the_third_level(factor: str, drawn: Drawn) -> None:
    data, splits = splits_of(f"extrapolate:{factor}", drawn)
    levels = sorted({as_number(o.configuration[factor]) or 0 for o in data.successful("time_s")})
    rolled = [numbers(split, factor) for split in splits]
    assert rolled == [(set(levels[:i]), {levels[i]}) for i in range(2, len(levels))]


@given(drawn=RUNS, beyond=st.tuples(st.just(">"), st.floats(2, 7.99)) | st.tuples(st.just("<"), st.floats(1.01, 4)))
def test_extrapolation_learns_strictly_on_one_side(drawn: Drawn, beyond: tuple[str, float]) -> None:
    direction, value = beyond
    data, [split] = splits_of(f"extrapolate:executors{direction}{value}", drawn)
    learned, tested = numbers(split, "executors")
    assert len(learned) > 1
    if direction == ">":
        assert max(learned) <= value < min(tested)
    else:
        assert max(tested) < value <= min(learned)
    assert len(split.test) + len(split.train.observations) == len(data.successful("time_s"))


def test_the_value_of_an_extrapolation_is_learned_from_and_may_be_a_size() -> None:
    [up] = make_protocol("extrapolate: executors > 2").splits(FULL, "time_s")
    assert numbers(up, "executors") == ({1, 2}, {4, 8})
    [down] = make_protocol("extrapolate:memory<2048m").splits(FULL, "time_s")
    assert numbers(down, "memory") == ({2**31, 2**34}, {2**30})
    assert down.name == "training on memory down to 2048m"


def test_levels_are_the_same_however_they_are_written() -> None:
    [split] = make_protocol("cases:executors=1+4.0|2; memory = 1024m | 1g").splits(FULL, "time_s")
    assert numbers(split, "executors") == ({1, 4}, {2})
    assert numbers(split, "memory") == ({2**30}, {2**30})
    assert {o.configuration["memory"] for o in split.test} == {"1g"}


# The cases of the Polimi study of Spark (TPC-DS): polimi2019, "what the slide's two Spark tables really are".
SIZES = (250, 750, 1000)
CORES = (6, 8, 10, 12, 14, 16, 18, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44)
CONFS: dict[int, tuple[tuple[int, ...], int]] = {
    1: ((250,), 250),
    2: ((750,), 750),
    3: ((1000,), 1000),
    4: ((250, 750), 1000),
    5: ((250, 1000), 750),
    6: ((750, 1000), 250),
}
CASES = {
    1: ("6 10 14 18 24 28 32 36 40 44", "8 12 16 22 26 30 34 38 42"),
    2: ("6 12 18 26 32 38 44", "8 10 14 16 22 24 28 30 34 36 40 42"),
    3: ("6 14 24 32 40 44", "8 10 12 16 18 22 26 28 30 34 36 38 42"),
    4: ("6 16 30 42 44", "8 10 12 14 18 22 24 26 28 32 34 36 38 40"),
    5: ("6 8 18 32 44", "10 12 14 16 22 24 26 28 30 34 36 38 40 42"),
    6: ("6 10 16 26 44", "8 12 14 18 22 24 28 30 32 34 36 38 40 42"),
}


def polimi() -> Dataset:
    return Dataset(
        ("data_size", "cores"),
        tuple(
            Observation({"data_size": size, "cores": cores}, {"time_s": size / cores}, replicate=replicate)
            for size, cores, replicate in product(SIZES, CORES, (1, 2))
        ),
    )


def seen(split: Split, factor: str) -> tuple[list[Level], list[Level]]:
    learned = {o.configuration[factor] for o in split.train.observations}
    return sorted(learned, key=float), sorted({o.configuration[factor] for o in split.test}, key=float)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("conf", [1, 2, 3])
def test_the_core_lists_of_the_polimi_cases_can_be_written(conf: int, case: int) -> None:
    train, test = CASES[case]
    [size], _ = CONFS[conf]
    text = f"cases:data_size={size}|{size};cores={train.replace(' ', '+')}|{test.replace(' ', '+')}"
    [split] = make_protocol(text).splits(polimi(), "time_s")
    learned, tested = [int(cores) for cores in train.split()], [int(cores) for cores in test.split()]
    assert seen(split, "cores") == (learned, tested)
    assert seen(split, "data_size") == ([size], [size])
    assert (len(split.train.observations), len(split.test)) == (2 * len(learned), 2 * len(tested))
    assert sorted([*learned, *tested]) == list(CORES)


@pytest.mark.parametrize("conf", [4, 5, 6])
def test_the_data_sizes_of_the_polimi_configurations_can_be_written(conf: int) -> None:
    train, test = CONFS[conf]
    [split] = make_protocol(f"cases:data_size={'+'.join(map(str, train))}|{test}").splits(polimi(), "time_s")
    assert seen(split, "data_size") == (list(train), [test])
    assert seen(split, "cores") == (list(CORES), list(CORES))


@pytest.mark.parametrize("conf", [1, 2, 3])
def test_case_0_of_the_polimi_study_tests_a_random_fifth_of_one_data_size_ten_times(conf: int) -> None:
    [size], _ = CONFS[conf]
    splits = make_protocol(f"cases:data_size={size}|{size}").splits(polimi(), "time_s")
    assert len(splits) == 10
    for split in splits:
        assert seen(split, "data_size") == ([size], [size])
        assert [len(cores) for cores in seen(split, "cores")] == [15, 4]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("loo:3", "takes no argument"),
        ("kfold:", "nothing after the colon"),
        ("kfold:five", "an integer number"),
        ("kfold:2.5", "an integer number"),
        ("kfold:1", "leaves nothing to train on"),
        ("kfold:-3", "leaves nothing to train on"),
        ("kfold:33", "needs 33 configurations, but data has 24"),
        ("holdout:20%", "a number as its share"),
        ("holdout:0", "not between 0 and 1"),
        ("holdout:1", "not between 0 and 1"),
        ("holdout:nan", "not between 0 and 1"),
        ("interpolate", "needs the name of a factor"),
        ("interpolate:executor", "did you mean 'executors'"),
        ("interpolate:net", "needs a numeric factor, but net has the level 'a'"),
        ("extrapolate", "needs the name of a factor"),
        ("extrapolate:>2", "needs the name of a factor"),
        ("extrapolate:executors>", "no number after '>'"),
        ("extrapolate:executors>=2", "no number after '>'"),
        ("extrapolate:executors<two", "no number after '<'"),
        ("extrapolate:executors>inf", "no number after '>'"),
        ("extrapolate:executors>1>2", "no number after '>'"),
        ("extrapolate:executor>2", "did you mean 'executors'"),
        ("extrapolate:net>2", "needs a numeric factor"),
        ("extrapolate:executors>8", "nothing to test\n  hint: measured: 1, 2, 4, 8"),
        ("extrapolate:executors>1", "have 1 level, but a trend needs at least 2"),
        ("extrapolate:executors<9", "have 0 levels, but a trend needs at least 2"),
        ("cases", "cases needs levels"),
        ("cases:executors", "is not FACTOR=LEVELS|LEVELS"),
        ("cases:executors=1", "is not FACTOR=LEVELS|LEVELS"),
        ("cases:=1|2", "is not FACTOR=LEVELS|LEVELS"),
        ("cases:executors=1|2|4", "is not FACTOR=LEVELS|LEVELS"),
        ("cases:executors=1|2;", "'' is not FACTOR=LEVELS|LEVELS"),
        ("cases:executors=|2", "lacks a level"),
        ("cases:executors=1+|2", "lacks a level"),
        ("cases:executors=1|2;executors=1|4", "lists 'executors' twice"),
        ("cases:executor=1|2", "did you mean 'executors'"),
        ("cases:executors=1+3|2", "no run has executors = 3\n  hint: measured: 1, 2, 4, 8"),
        ("cases:executors=1+2|2+4", "6 of 12 tested configurations are also in the training data, e.g. executors=2"),
    ],
)
def test_a_protocol_that_cannot_be_is_refused_with_a_hint(text: str, words: str) -> None:
    with pytest.raises(StudyError) as refusal:
        make_protocol(text).splits(FULL, "time_s")
    assert words in str(refusal.value)
    assert refusal.value.hint


def test_levels_that_were_never_run_together_are_refused() -> None:
    data = dataset([(1, "1g", "a", True), (2, "2g", "a", True), (2, "1g", "b", True)])
    with pytest.raises(StudyError, match="no configuration has all the levels to learn from"):
        make_protocol("cases:executors=1|2;memory=2g|2g").splits(data, "time_s")
    with pytest.raises(StudyError, match="no configuration has all the levels to test"):
        make_protocol("cases:executors=2|1;net=b|b").splits(data, "time_s")
    with pytest.raises(StudyError, match="1 of 1 tested configurations are also in the training data"):
        make_protocol("cases:executors=1|1").splits(data, "time_s")


@pytest.mark.parametrize("text", ["interpolate:executors", "extrapolate:executors", "extrapolate:executors>1"])
def test_two_levels_are_too_few_for_a_trend_and_a_test(text: str) -> None:
    data = dataset([(e, m, "a", True) for e, m in product((1, 2), MEMORY)] + [(8, "1g", "a", False)])
    with pytest.raises(StudyError, match="needs 3 levels of executors, but the runs have 2: 1, 2"):
        make_protocol(text).splits(data, "time_s")


@pytest.mark.parametrize("text", ["loo", "kfold", "holdout"])
def test_one_configuration_cannot_be_split(text: str) -> None:
    with pytest.raises(NotEnoughDataError, match="1 configuration with time_s"):
        make_protocol(text).splits(dataset([(1, "1g", "a", True)] * 5), "time_s")


def test_a_mistyped_protocol_gets_the_nearest_one() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'extrapolate'"):
        make_protocol("extrapolat:executors>2")


@given(text=st.text(alphabet="abk:=|;+<>0123456789. ", max_size=20), name=st.sampled_from(PROTOCOLS.names()))
def test_any_other_text_is_refused_in_words_or_splits(text: str, name: str) -> None:
    try:
        answer: object = make_protocol(f"{name}:{text}").splits(FULL, "time_s")
    except StudyError as error:
        answer = error.hint
    assert answer
