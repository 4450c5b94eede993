import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.data.table import read_csv, read_table, write_table
from sparkcast.designs import make_plan
from sparkcast.errors import StudyError
from sparkcast.study import Dataset, Kind, Observation, Outcome, Response, Role, Setting, Utilization, Vocabulary
from sparkcast.study.derive import make_dataset
from sparkcast.study.file import parse_study
from sparkcast.workloads import resolve

GOOD = "executors,network,note,time_s\n1,lenet5,a,10.5\n2,lenet5,a,6\n2,lenet5,a,6.5\n"


PI = """\
study: pi
workload: pi
settings:
  samples: [1000, 2000]
  partitions: [1, 2]
  memory: 2048m
design: {replicates: 2}
responses: [time_s, error]
price: {core_hour: 0.1}
"""


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
        (GOOD, {"factors": ["executors", "executors"]}, ["listed twice"]),
        (GOOD.replace("10.5", "fast"), {}, ["row 2, column 'time_s': 'fast' is not a number", "`na=[WORD]`"]),
        (GOOD.replace("10.5", "inf"), {}, ["row 2, column 'time_s': 'inf' is not finite"]),
        (GOOD.replace("1,lenet5", ",lenet5"), {"factors": ["executors"]}, ["row 2, column 'executors'", "no value"]),
        (GOOD + "3,lenet5\n", {}, ["row 5: 2 values, but the header has 4 columns"]),
        (GOOD.replace("note", "executors"), {}, ["appears twice"]),
        ("time_s\n1\n", {}, ["no column that could be a factor"]),
        ("hosts,foo\n1,9\n2,5\n", {}, ["no column of runs.csv is known to be a response", "`roles={NAME: 'time'}`"]),
    ],
)
def test_a_bad_table_is_named_by_row_and_column(
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


# ---------------------------------------------------------------- tables that say what their columns are


def pi_study() -> Dataset:
    """Runs of the bundled workload pi, whose `error` is on no list of usual names."""
    study = resolve(parse_study(PI))
    runs = tuple(
        Observation(
            trial.configuration,
            {"time_s": 2.0 + i, "total_s": 3.0 + i, "startup_s": 1.0, "throughput": 9.0 * i, "error": 0.1 / (1 + i)},
            outcome=Outcome.OOM if i == 5 else Outcome.OK,
            replicate=trial.replicate,
            position=trial.position,
            utilization=Utilization(50.0, 1.0, 1e9, 0.0, 0.0, 3),
        )
        for i, trial in enumerate(make_plan(study).trials)
    )
    return make_dataset(study, runs)


def exported(tmp_path: Path) -> tuple[Dataset, Path]:
    data, path = pi_study(), tmp_path / "pi.csv"
    write_table(data, path)
    return data, path


def edit(path: Path, change: Callable[[list[dict[str, str]]], list[dict[str, str]]]) -> None:
    """As a person with a spreadsheet would."""
    with path.open(newline="") as file:
        rows = change(list(csv.DictReader(file)))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        writer.writerows(rows)


def test_an_exported_study_is_read_back_with_the_same_meaning(tmp_path: Path) -> None:
    data, path = exported(tmp_path)
    back, declared = read_table(path)
    assert back.factors == data.factors == ("samples", "partitions")
    assert back.responses == data.responses == ("time_s", "error", "cost")
    assert [(run.configuration, run.outcome) for run in back.observations] == [
        (run.configuration, run.outcome) for run in data.observations
    ]
    for before, after in zip(data.observations, back.observations, strict=True):
        assert before.responses.items() <= after.responses.items()
    assert declared.names >= {*data.factors, *data.measured, "executors", "memory"}
    for name in data.measured:
        assert back.vocabulary.response(name) == replace(data.vocabulary.response(name), formula=None)
    for name in data.observations[0].configuration:
        told, read_back = data.vocabulary.setting(name), back.vocabulary.setting(name)
        assert (read_back.role, read_back.unit) == (told.role, told.unit)
    assert (back.vocabulary.time, back.vocabulary.money) == ("time_s", "cost")
    assert back.vocabulary.first(Role.MACHINES) == "executors"


def test_a_table_of_a_table_is_the_same_table(tmp_path: Path) -> None:
    _, path = exported(tmp_path)
    first = read_csv(path)
    write_table(first, tmp_path / "again.csv")
    again = replace(read_csv(tmp_path / "again.csv"), name=first.name)
    assert again == first
    assert again.vocabulary == first.vocabulary


def test_roles_given_by_hand_are_written_too(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("hosts,color,minutes,auc\n1,red,9,0.5\n2,blue,5,0.6\n")
    roles = {"hosts": "machines", "minutes": "time", "auc": "share"}
    first, _ = read_table(tmp_path / "runs.csv", roles=roles)
    write_table(first, tmp_path / "out.csv")
    back, declared = read_table(tmp_path / "out.csv")
    assert (back.factors, back.responses) == (("hosts", "color"), ("minutes", "auc"))
    assert (back.vocabulary.first(Role.MACHINES), back.vocabulary.quality) == ("hosts", "auc")
    assert back.vocabulary.response("minutes").seconds(1) == 60
    assert declared == back.vocabulary


def test_a_role_overrules_what_a_table_says_of_itself(tmp_path: Path) -> None:
    _, path = exported(tmp_path)
    back, _ = read_table(path, roles={"partitions": "machines", "error": "share", "throughput": "data-size"})
    assert back.vocabulary.first(Role.MACHINES) == "partitions"
    assert back.vocabulary.quality == "error"
    assert back.vocabulary.role("throughput") is Role.DATA_SIZE
    assert "throughput" not in back.observations[0].responses


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        ({"host": "machines"}, "has no column 'host'\n  hint: did you mean 'hosts'"),
        (
            {"hosts": "machine"},
            "hosts cannot have the role 'machine': there is no such role\n  hint: did you mean 'machines'",
        ),
        ({"time_s": "time:fortnight"}, "unknown unit"),
    ],
)
def test_a_role_for_what_is_not_there_is_refused(tmp_path: Path, roles: dict[str, str], words: str) -> None:
    (tmp_path / "runs.csv").write_text("hosts,time_s\n1,9\n2,5\n")
    with pytest.raises(StudyError) as caught:
        read_table(tmp_path / "runs.csv", roles=roles)
    assert words in str(caught.value)


def test_rows_may_be_sorted_and_columns_moved(tmp_path: Path) -> None:
    data, path = exported(tmp_path)
    edit(path, lambda rows: [dict(reversed(row.items())) for row in reversed(rows)])
    back = read_csv(path)
    assert (set(back.factors), set(back.responses)) == (set(data.factors), set(data.responses))
    assert {run.configuration for run in back.observations} == {run.configuration for run in data.observations}


def without(*names: str) -> Callable[[list[dict[str, str]]], list[dict[str, str]]]:
    return lambda rows: [{name: cell for name, cell in row.items() if name not in names} for row in rows]


def test_columns_may_be_removed(tmp_path: Path) -> None:
    _, path = exported(tmp_path)
    edit(path, without("partitions", "cost", "memory"))
    back = read_csv(path)
    assert (back.factors, back.responses) == (("samples",), ("time_s", "error"))
    assert "memory" not in back.observations[0].configuration
    assert back.vocabulary.first(Role.MACHINES) == "executors"


def test_a_table_without_its_factors_has_nothing_to_compare(tmp_path: Path) -> None:
    _, path = exported(tmp_path)
    edit(path, without("samples", "partitions"))
    with pytest.raises(StudyError, match="no column that could be a factor"):
        read_csv(path)


def test_a_column_that_was_added_is_read_as_in_any_table(tmp_path: Path) -> None:
    _, path = exported(tmp_path)
    edit(path, lambda rows: [{**row, "color": "red" if i % 2 else "blue"} for i, row in enumerate(rows)])
    assert read_csv(path).factors == ("samples", "partitions", "color")
    edit(path, lambda rows: [{**row, "accuracy": "0.5"} for row in rows])
    assert read_csv(path).observations[0].responses["accuracy"] == 0.5


def test_without_its_last_column_a_table_is_like_any_other(tmp_path: Path) -> None:
    _, path = exported(tmp_path)
    edit(path, without("sparkcast"))
    assert "error" in read_csv(path).responses  # as it is usually called
    assert read_csv(path).factors == ("samples", "partitions")
    assert read_csv(path, ["samples", "error"]).factors == ("samples", "error")


@pytest.mark.parametrize(
    "cell", ["", "{", "3", "[]", "{}", '{"factors": [], "responses": [], "vocabulary": {"settings": [{}]}}']
)
def test_a_last_column_that_says_nothing_is_refused(tmp_path: Path, cell: str) -> None:
    _, path = exported(tmp_path)
    edit(path, lambda rows: [{**row, "sparkcast": cell if i == 0 else ""} for i, row in enumerate(rows)])
    with pytest.raises(StudyError, match=r"'sparkcast' does not describe the other columns(.|\n)*remove that column"):
        read_csv(path)


@given(
    st.lists(
        st.tuples(st.sampled_from(["1g", "512m", "2048m"]), st.integers(1, 4), st.floats(0.0, 1.0)),
        min_size=2,
        max_size=8,
        unique_by=lambda row: row[1],
    )
)
def test_any_names_keep_their_meaning_in_a_table(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, int, float]]
) -> None:
    words = Vocabulary(
        (Setting("ram", role=Role.MEMORY), Setting("hosts", role=Role.MACHINES)),
        (Response("regret", kind=Kind.SHARE, better="less"),),
    )
    runs = tuple(Observation({"ram": ram, "hosts": hosts}, {"regret": regret}) for ram, hosts, regret in rows)
    data = Dataset(("hosts",), runs, "t", ("regret",), words)
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    write_table(data, path)
    back = read_csv(path)
    assert (back.factors, back.responses, back.vocabulary) == (("hosts",), ("regret",), words)
    assert [run.configuration for run in back.observations] == [run.configuration for run in runs]
    assert back.vocabulary.response("regret").better == "less"
