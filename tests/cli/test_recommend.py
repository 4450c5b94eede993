"""`recommend`: the answer, its options, and what each mistake gets."""

import json
import math
import re
from pathlib import Path

import pytest

from tests_support import Call


@pytest.fixture
def runs(tmp_path: Path) -> str:
    rows = ["executors,batch_size,jobs,time_s,accuracy,outcome"]
    for executors in (1, 2, 4, 8):
        for batch_size in (64, 128, 256):
            for jobs in (1, 3):
                seconds = (10 + 80 / executors * (64 / batch_size) ** 0.5) * (1 + 0.2 * (jobs - 1))
                accuracy = 0.98 - 0.02 * math.log2(batch_size / 64)
                for extra in (0.995, 1.005):
                    rows.append(f"{executors},{batch_size},{jobs},{extra * seconds},{accuracy * extra**0.1},ok")
    (tmp_path / "runs.csv").write_text("\n".join(rows) + "\n")
    return "runs.csv"


def ridge(*options: object) -> tuple[object, ...]:
    return ("recommend", "runs.csv", "--model", "ridge", *options)


def test_the_answer_can_be_pasted_and_says_what_the_deadline_costs(call: Call, runs: str) -> None:
    answer = call(*ridge("--within", "19s", "--fix", "jobs=1"))
    assert answer.code == 0, answer.err
    first, why, deadline, *_ = answer.out.splitlines()
    assert first.startswith("Use executors=8, batch_size=")
    assert why.startswith("  Why        highest predicted accuracy of the ")
    assert deadline.startswith("  Deadline   19 s, met with ")
    assert "\nTrade-off    a deadline of " in answer.out
    assert " s allows executors=8, batch_size=" in answer.out
    assert len(answer.out.splitlines()) <= 10
    details = call(*ridge("--within", "19s", "--fix", "jobs=1", "--details")).out
    assert "\n--conf spark.executor.instances=8\n" in details
    assert "--conf spark.cores.max" not in details
    assert "also need spark.cores.max: 8 x the cores per executor" in details
    # A table names no program, and what its columns are called is no option of anything.
    assert "--batch-size" not in details
    assert "not Spark properties, so set them yourself: batch_size=" in details
    assert "Pareto-optimal in time_s, accuracy (" in details


def test_json_has_every_part_of_the_answer(call: Call, runs: str) -> None:
    answer = call(*ridge("--within", "60s", "--budget", "0.5", "--price", "core_hour=1", "--json"))
    told = json.loads(answer.out)
    assert {"chosen", "runner_up", "alternatives", "pareto", "nearest", "limits", "launch", "staleness"} <= set(told)
    assert [limit["response"] for limit in told["limits"]] == ["time_s", "cost"]
    assert told["chosen"]["probability"] >= 0.95
    assert told["staleness"]["verdict"] == "unknown"


def test_other_values_may_be_chosen_from_and_ranges_are_written_short(call: Call, runs: str) -> None:
    answer = call(
        *ridge("--levels", "executors=1..8", "--levels", "batch_size=64..256..32", "--fix", "jobs=2", "--json")
    )
    told = json.loads(answer.out)
    assert told["n_candidates"] == 8 * 7
    assert told["chosen"]["configuration"] == {"executors": 8, "batch_size": 256, "jobs": 2}


def test_a_formula_can_be_minimized(call: Call, runs: str) -> None:
    answer = call(*ridge("--minimize", "loss = time_s / (100 * accuracy) ** 2", "--json"))
    told = json.loads(answer.out)
    assert told["objective"] == "minimize loss"
    assert "loss" in [prediction["response"] for prediction in told["chosen"]["predictions"]]


def test_jobs_that_run_now_slow_the_new_one_and_may_miss_their_deadlines(call: Call, runs: str) -> None:
    alone = json.loads(call(*ridge("--jobs-running", "0", "--json")).out)
    running = "executors=1,batch_size=64,elapsed=60s,within=115s"
    loaded = json.loads(call(*ridge("--running", running, "--jobs-running", "2", "--json")).out)
    assert alone["chosen"]["configuration"]["jobs"] == 1
    assert loaded["chosen"]["configuration"]["jobs"] == 3
    assert loaded["chosen"]["predictions"][0]["value"] > 1.3 * alone["chosen"]["predictions"][0]["value"]
    [forecast] = loaded["running"]
    assert forecast["ends_with_new_s"] > forecast["ends_s"]
    shown = call(*ridge("--running", running, "--jobs-running", "2")).out
    assert "running job executors=1, batch_size=64: finishes after" in shown


def test_more_jobs_than_were_ever_measured_ask_for_new_runs(call: Call, runs: str) -> None:
    answer = call(*ridge("--jobs-running", "5"))
    assert answer.code == 0
    assert "retrain: 6 jobs at once are more than in any training run (at most 3)" in answer.err


def test_runs_that_drift_away_ask_for_a_new_model(call: Call, runs: str, tmp_path: Path) -> None:
    assert call("fit", runs, "--model", "ridge", "--save", "m.sparkcast").code == 0
    rows = (tmp_path / runs).read_text().splitlines()
    slower = [rows[0]]
    for row in rows[1::3]:
        cells = row.split(",")
        slower.append(",".join([*cells[:3], str(1.6 * float(cells[3])), *cells[4:]]))
    (tmp_path / "new.csv").write_text("\n".join(slower) + "\n")
    answer = call("recommend", "m.sparkcast", "--recent", "new.csv", "--factors", "")
    assert answer.code == 0, answer.err
    assert "retrain: " in answer.err
    assert "longer than predicted" in answer.err
    fresh = json.loads(call("recommend", "m.sparkcast", "--recent", runs, "--json").out)
    assert fresh["staleness"]["verdict"] == "fresh"


def test_figures_are_written(call: Call, runs: str, tmp_path: Path) -> None:
    answer = call(*ridge("--within", "60s", "--figures", "f"))
    assert answer.code == 0, answer.err
    assert {"pareto-front.png", "candidates.svg"} <= {path.name for path in (tmp_path / "f").iterdir()}


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--within", "0s"], 2, "a deadline of 0 s is not positive"),
        (["--within", "-5s"], 2, "'-5s' is not a duration"),
        (["--budget", "0", "--price", "core_hour=1"], 2, "is not positive"),
        (["--budget", "1"], 2, "price: {core_hour: 0.05}"),
        (["--minimize", "cost"], 2, "--price core_hour=0.05"),
        (["--minimize", "acuracy"], 2, "did you mean 'accuracy'"),
        (["--maximize", "accuracy", "--minimize", "time_s"], 2, "cannot both maximize"),
        (["--fix", "executors=2", "--fix", "executors=4"], 2, "--fix gives executors twice: 2 and 4"),
        (["--fix", "exectors=2"], 2, "did you mean 'executors'"),
        (["--fix", "executors=lots"], 2, "'lots' is not a number"),
        (["--fix", "executors=4000"], 4, "too far from the measured range"),
        (["--levels", "executors"], 2, "is not name=levels"),
        (["--levels", "executors=8..1"], 2, "is not a range"),
        (["--levels", "cores=1..4"], 2, "'cores' is not a factor"),
        (["--min-accuracy", "95"], 2, "write 0.95"),
        (["--min-accuracy", "0.999"], 5, "relax the limit to accuracy >= 0.9"),
        (["--within", "1s"], 5, "relax the deadline to "),
        (["--within", "30s", "--fix", "executors=1"], 5, "remove --fix executors=1: "),
        (["--format", "yaml"], 2, "there is no format 'yaml'"),
        (["--confidence", "1.5"], 2, "confidence 1.5 is not between 0 and 1"),
        (["--jobs-running", "many"], 2, "is not a number of jobs"),
        (["--jobs-running", "store"], 2, "only be counted for a study"),
        (["--jobs-running", "2", "--fix", "jobs=1"], 2, "jobs cannot be 1"),
        (["--running", "executors=1"], 2, "elapsed"),
        (["--price", "core_hour=much"], 2, "much"),
        (["--free-epochs"], 4, "no run reports its epochs"),
    ],
)
def test_a_mistake_gets_its_exit_code_and_a_hint(
    call: Call, runs: str, options: list[str], code: int, words: str
) -> None:
    answer = call(*ridge(*options))
    assert (answer.code, answer.out) == (code, "")
    assert words in answer.err
    assert "hint:" in answer.err


def test_json_and_a_format_at_once_are_refused_in_json(call: Call, runs: str) -> None:
    answer = call(*ridge("--format", "emr", "--json"))
    assert answer.code == 2
    error = json.loads(answer.out)["error"]
    assert (error["code"], error["problem"]) == (2, "--json and --format are both given")
    assert error["hint"] == "--json has everything; --format only the command"
    assert "--json and --format are both given" in answer.err


CLUSTERS = """\
nodes,machine_type,cores,time_s
2,small,2,100
4,small,2,55
8,small,2,31
2,large,8,30
4,large,8,18
2,mid,4,52
8,mid,4,17
8,large,8,11
2,small,2,103
"""


@pytest.fixture
def clusters(tmp_path: Path) -> str:
    (tmp_path / "clusters.csv").write_text(CLUSTERS)
    return "clusters.csv"


def test_of_a_table_every_combination_of_the_measured_levels_is_considered(call: Call, clusters: str) -> None:
    answer = call("recommend", clusters, "--model", "ridge", "--minimize", "time_s", "--json")
    told = json.loads(answer.out)
    assert told["considered"]["text"] == "9 combinations of the measured levels, 8 of them measured"
    assert (told["considered"]["n"], told["considered"]["measured"], told["considered"]["is_sample"]) == (9, 8, False)
    never_run = [c["configuration"] for c in told["candidates"] if not c["measured_runs"]]
    assert never_run == [{"nodes": 4, "machine_type": "mid", "cores": 4}]  # and no large machine with two cores


def test_the_answer_says_what_was_considered_and_how_to_change_that(call: Call, clusters: str) -> None:
    asked = ("recommend", clusters, "--model", "ridge", "--minimize", "time_s")
    said = " ".join(call(*asked, "--details").out.split())
    assert "Considered 9 combinations of the measured levels, 8 of them measured" in said
    assert "--fix NAME=VALUE" in said
    said = " ".join(call(*asked, "--details", "--fix", "nodes=4").out.split())
    assert "Considered 3 combinations of the measured levels with nodes=4, 2 of them measured" in said
    said = " ".join(call(*asked, "--details", "--levels", "nodes=2..8").out.split())
    assert "Considered 21 combinations of the measured and the given levels, 8 of them measured" in said
    assert "9 runs cover 8 of 9 candidates; none failed" in call(*asked).out


def test_the_texts_of_an_answer_stand_in_one_column_whatever_their_labels(call: Call, clusters: str) -> None:
    lines = call("recommend", clusters, "--model", "ridge", "--within", "60s").out.splitlines()[1:]
    texts = {re.match(r" {9,}| *\S+(?:-\S+)* +", line).end() for line in lines}  # type: ignore[union-attr]
    assert any(line.startswith("  Core-seconds ") for line in lines)
    assert texts == {len("  Core-seconds  ")}


def test_a_table_that_names_nothing_of_spark_has_no_empty_line_to_paste(call: Call, tmp_path: Path) -> None:
    rows = [f"{n},{ram},{100 / n + ram / 10:.1f}" for n in (1, 2, 4) for ram in (30, 60)]
    (tmp_path / "runs.csv").write_text("\n".join(["workers,ram,time_s", *rows]) + "\n")
    asked = ("recommend", tmp_path / "runs.csv", "--within", "90s", "--model", "ridge")
    answer = call(*asked, "--format", "spark-submit")
    assert (answer.code, answer.out) == (2, "")
    said = " ".join(answer.err.split())
    assert "no setting is Spark's: there is no line to paste" in said
    assert "--role NAME=machines" in said
    assert (
        "no setting is Spark's: there is no line to paste" in json.loads(call(*asked, "--json").out)["launch"]["notes"]
    )


def test_the_chance_of_a_deadline_is_that_of_a_submission_where_settings_often_fail(call: Call, tmp_path: Path) -> None:
    rows = [
        f"{n},{'' if (fails := n == 4 and rep < 2) else 100 / n + rep},{'FAILED' if fails else 'OK'}"
        for n in (1, 2, 4)
        for rep in range(6)
    ]
    (tmp_path / "runs.csv").write_text("\n".join(["executors,time_s,status", *rows]) + "\n")
    asked = ("recommend", tmp_path / "runs.csv", "--within", "45s", "--max-failure", "0.9", "--model", "bayesian")
    said = " ".join(call(*asked).out.split())
    assert "Use executors=4." in said
    assert re.search(r"met by (6|7)\d% of submissions, and by >?\d+% of those that succeed", said)
    assert re.search(
        r"Failures (2|3)\d% of submissions are expected to fail; 2 of 6 runs of these settings failed", said
    )
    found = json.loads(call(*asked, "--json").out)
    assert found["submission_chances"][0] == pytest.approx(
        found["chances"][0] * (1 - found["chosen"]["failure_probability"])
    )


def test_a_deadline_is_promised_on_condition_of_success_where_runs_failed(call: Call, tmp_path: Path) -> None:
    rows = [f"{n},{cores},{240 / n / cores + 5:.1f},OK" for n in (1, 2, 4) for cores in (1, 2)]
    (tmp_path / "runs.csv").write_text("\n".join(["executors,cores,time_s,status", *rows, "8,2,,KILLED"]) + "\n")
    answer = call("recommend", tmp_path / "runs.csv", "--within", "200s", "--model", "ridge")
    assert answer.code == 0, answer.err
    deadline = next(line for line in answer.out.splitlines() if "Deadline" in line)
    assert re.search(r"met by \d+% of submissions, and by >99% of those that succeed", deadline)
    assert "Use executors=8" not in answer.out
