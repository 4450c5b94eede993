from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast.study import Dataset, Observation, Outcome
from sparkcast.validate import PROTOCOLS

LEVELS = st.lists(
    st.tuples(st.sampled_from([1, 2, 4]), st.sampled_from(["a", "b"]), st.booleans()), min_size=2, max_size=30
)


def dataset(drawn: list[tuple[int, str, bool]]) -> Dataset:
    return Dataset(
        ("executors", "net"),
        tuple(
            Observation(
                {"executors": e, "net": n, "epochs": 2},
                {"time_s": 1.0 + i},
                outcome=Outcome.OK if ok or i == 0 else Outcome.OOM,
            )
            for i, (e, n, ok) in enumerate(drawn)
        ),
    )


@pytest.mark.parametrize("name", PROTOCOLS.names())
@settings(deadline=None)
@given(drawn=LEVELS)
def test_replicates_never_straddle_a_split_and_failed_runs_are_in_neither_part(
    name: str, drawn: list[tuple[int, str, bool]]
) -> None:
    data = dataset(drawn)
    for split in PROTOCOLS.get(name)().splits(data, "time_s"):
        tested = {data.key(o) for o in split.test}
        assert split.test
        assert not tested & {data.key(o) for o in split.train.observations}
        assert all(o.ok for o in (*split.test, *split.train.observations))
        assert split.train.factors == data.factors


@settings(deadline=None)
@given(drawn=LEVELS)
def test_leaving_one_out_tests_every_configuration_exactly_once_on_all_the_others(
    drawn: list[tuple[int, str, bool]],
) -> None:
    data = dataset(drawn)
    runs = data.successful("time_s")
    splits = PROTOCOLS.get("loo")().splits(data, "time_s")
    assert sorted(o.responses["time_s"] for s in splits for o in s.test) == [o.responses["time_s"] for o in runs]
    assert len(splits) == len({data.key(o) for o in runs})
    assert all(len(s.test) + len(s.train.observations) == len(runs) for s in splits)


def test_a_full_design_gives_one_split_per_combination() -> None:
    drawn = [(e, n, True) for e, n in product((1, 2, 4), "ab")] * 3
    splits = PROTOCOLS.get("loo")().splits(dataset(drawn), "time_s")
    assert [len(s.test) for s in splits] == [3] * 6
