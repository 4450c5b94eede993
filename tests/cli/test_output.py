"""What the commands print."""

import json
from pathlib import Path

import pytest

from tests_support import Call, Sparkcast

CSV = """\
executors,batch_size,time_s,accuracy
1,64,10.0,0.90
1,128,8.0,0.85
2,64,6.0,0.90
2,128,5.0,0.86
4,64,4.0,0.91
4,128,3.2,0.85
1,64,10.4,0.91
1,128,8.2,0.84
2,64,6.3,0.89
2,128,5.1,0.86
4,64,4.1,0.90
4,128,3.1,0.85
"""


@pytest.fixture
def data(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text(CSV)
    (tmp_path / "s.yaml").write_text("study: s\nworkload: pi\nsettings: {executors: [1, 2]}\n")


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (["analyze", "runs.csv"], "rows"),
        (["validate", "runs.csv", "--model", "ridge,median"], "scorecards"),
        (["predict", "runs.csv", "--at", "executors=3,batch_size=64"], "prediction"),
        (["recommend", "runs.csv", "--within", "7s"], "chosen"),
        (["export", "runs.csv", "-o", "out.csv"], "observations"),
        (["design", "s.yaml"], "trials"),
        (["init", "pi"], "study"),
        (["list", "models"], "ridge"),
    ],
)
def test_json_is_one_document_on_stdout(call: Call, arguments: list[str], key: str) -> None:
    answer = call(*arguments, "--json")
    assert answer.code == 0, answer.err
    assert key in json.loads(answer.out)


@pytest.mark.usefixtures("data")
def test_a_dry_run_is_one_json_list_of_commands(call: Call) -> None:
    answer = call("run", "s.yaml", "--dry-run", "--json")
    lines = json.loads(answer.out)
    assert len(lines) == 2
    assert all("spark-submit" in line and "--conf spark.executor.cores=1" in line for line in lines)


@pytest.mark.usefixtures("data")
def test_the_answer_goes_to_stdout_and_the_interval_is_said_in_words(sparkcast: Sparkcast) -> None:
    answer = sparkcast("predict", "runs.csv", "--at", "executors=3,batch_size=64", "--model", "ridge")
    assert "90% of runs take" in answer.stdout
    assert answer.stderr.startswith("runs.csv: 12 runs\n  settings: executors (machines), batch_size (batch)\n")


@pytest.mark.usefixtures("data")
def test_a_file_is_never_replaced_silently(call: Call, tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("precious")
    answer = call("export", "runs.csv", "-o", "out.csv")
    assert answer.code == 2
    assert "--force" in answer.err
    assert (tmp_path / "out.csv").read_text() == "precious"


@pytest.mark.usefixtures("data")
def test_an_impossible_deadline_exits_with_5_and_names_the_nearest(call: Call) -> None:
    answer = call("recommend", "runs.csv", "--within", "1s")
    assert answer.code == 5
    assert (
        "no candidate meets the 1 s deadline with 95% probability\n  closest: executors=4, batch_size=128 "
        in answer.err
    )
    assert (
        "hint: relax the deadline to 3.44 s (--within 3.44s), which executors=4, batch_size=128 meets\n" in answer.err
    )


@pytest.mark.parametrize("workload", ["pi", "mnist-training"])
def test_the_study_that_init_writes_can_be_planned(call: Call, tmp_path: Path, workload: str) -> None:
    (tmp_path / "new.yaml").write_text(call("init", workload).out)
    answer = call("design", "new.yaml")
    assert answer.code == 0, answer.err
    assert "runs, 0 done" in answer.out
