from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.data.table import read_csv, write_table
from sparkcast.errors import StudyError
from sparkcast.study import Dataset, Observation, Outcome

GOOD = "executors,network,note,time_s\n1,lenet5,a,10.5\n2,lenet5,a,6\n2,lenet5,a,6.5\n"


def read(tmp_path: Path, text: str, **options: list[str]) -> Dataset:
    (tmp_path / "runs.csv").write_text(text)
    return read_csv(tmp_path / "runs.csv", **options)


def test_rows_become_observations_and_repeats_become_replicates(tmp_path: Path) -> None:
    data = read(tmp_path, GOOD, factors=["executors", "network"], responses=["time_s"])
    assert data.observations[0].configuration == {"executors": 1, "network": "lenet5"}
    assert [o.responses["time_s"] for o in data.observations] == [10.5, 6.0, 6.5]
    assert [o.replicate for o in data.observations] == [1, 1, 2]


def test_without_names_the_columns_that_vary_are_the_factors(tmp_path: Path) -> None:
    assert read(tmp_path, GOOD).factors == ("executors",)


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (GOOD, {"factors": ["executor"]}, ["no column 'executor'", "did you mean 'executors'"]),
        (GOOD, {"responses": ["time"]}, ["no column 'time'", "did you mean 'time_s'"]),
        (GOOD, {"factors": ["executors", "executors"]}, ["named twice"]),
        (GOOD.replace("10.5", "fast"), {}, ["line 2", "time_s = 'fast' is not a number"]),
        (GOOD.replace("10.5", "nan"), {}, ["line 2", "not finite"]),
        (GOOD.replace("1,lenet5", ",lenet5"), {"factors": ["executors"]}, ["line 2", "'executors' has no value"]),
        (GOOD + "3,lenet5\n", {}, ["line 5", "has not 4 values"]),
        (GOOD.replace("note", "executors"), {}, ["stands twice"]),
        ("time_s\n1\n", {}, ["no column that could be a factor"]),
    ],
)
def test_a_bad_table_is_named_by_line_and_column(
    tmp_path: Path, text: str, options: dict[str, list[str]], words: list[str]
) -> None:
    with pytest.raises(StudyError) as caught:
        read(tmp_path, text, **options)
    for word in words:
        assert word in str(caught.value)


def test_an_empty_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="0 rows"):
        read(tmp_path, "executors,time_s\n")


@given(st.lists(st.tuples(st.integers(1, 64), st.sampled_from(["a", "b"]), st.floats(0.001, 1e6)), min_size=1))
def test_what_is_exported_reads_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, str, float]]
) -> None:
    path = tmp_path_factory.mktemp("csv") / "out.csv"
    runs = tuple(
        Observation({"executors": e, "kind": k}, {"time_s": t}, position=i) for i, (e, k, t) in enumerate(rows, start=1)
    )
    write_table(Dataset(("executors", "kind"), runs), path)
    back = read_csv(path, ["executors", "kind"], ["time_s"])
    assert [(dict(o.configuration), dict(o.responses)) for o in back.observations] == [
        (dict(o.configuration), dict(o.responses)) for o in runs
    ]


def test_failures_are_exported_with_their_outcome(tmp_path: Path) -> None:
    runs = (Observation({"executors": 1}, {}, Outcome.OOM), Observation({"executors": 2}, {"time_s": 1.0}))
    write_table(Dataset(("executors",), runs), tmp_path / "out.csv")
    back = read_csv(tmp_path / "out.csv")
    assert [o.outcome for o in back.observations] == [Outcome.OOM, Outcome.OK]
    assert back.observations[0].responses == {}


def test_an_unknown_kind_of_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"use \.csv or \.parquet"):
        write_table(Dataset(("a",), ()), tmp_path / "out.xlsx")
