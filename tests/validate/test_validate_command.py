"""What `sparkcast validate` prints and refuses."""

import json
from pathlib import Path

import pytest

from sparkcast.cli._progress import done_of, tell_when_slow
from sparkcast.validate import FoldProgress
from tests_support import Call

ROWS = [
    (e, b, f"{(30 / e + 2) * (1 + 64 / b) * (1 + r / 50):.3f}") for e in (1, 2, 4, 8) for b in (64, 128) for r in (0, 1)
]
CSV = "executors,batch_size,net,time_s\n" + "".join(f"{e},{b},{'ab'[b > 64]},{t}\n" for e, b, t in ROWS)


@pytest.fixture
def runs(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text(CSV)


@pytest.mark.usefixtures("runs")
def test_the_table_stays_narrow_and_says_what_learning_cost(call: Call) -> None:
    answer = call(
        *("validate", "runs.csv", "--factors", "executors,batch_size"),
        *("--protocol", "extrapolate:executors>2", "--model", "random-forest,ridge", "--details"),
    )
    assert answer.code == 0, answer.err
    lines = [line.rstrip() for line in answer.out.splitlines()]
    assert max(map(len, lines)) <= 110
    assert lines[0] == "time_s, extrapolate:executors>2: 1 split, 90% intervals"
    assert " ".join(lines[1].split()) == "model MAPE % median % ≥30% RMSE R² in interval width % collect build"
    # 2 runs of each of 4 configurations, the second 2 % longer.
    learned_s = sum(2.02 * (30 / e + 2) * (1 + 64 / b) for e in (1, 2) for b in (64, 128))
    assert f"{int(learned_s) // 60} min {round(learned_s) % 60:02d} s" in answer.out


@pytest.mark.usefixtures("runs")
def test_json_holds_the_shares_and_times(call: Call) -> None:
    answer = call(
        *("validate", "runs.csv", "--factors", "executors,batch_size"),
        *("--protocol", "kfold:4", "--seed", "3", "--model", "median", "--json"),
    )
    result = json.loads(answer.out)
    [card] = result["scorecards"]
    assert (result["protocol"], result["n_splits"], result["seed"]) == ("kfold:4", 4, 3)
    assert 0 <= card["large_errors"] <= 100
    assert card["total_s"] == pytest.approx(card["collect_s"] + card["build_s"])


@pytest.mark.usefixtures("runs")
def test_configurations_of_which_nothing_can_be_known_are_named(call: Call) -> None:
    answer = call(
        *("validate", "runs.csv", "--factors", "executors,net", "--protocol", "cases:executors=1+2+4|8;net=a|a+b"),
        *("--model", "median"),
    )
    assert answer.code == 0, answer.err
    assert "not tested, because there are no similar runs to train on: 1, e.g. executors=8, net=b" in answer.err


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("protocol", "words"),
    [
        ("lo", ["no protocol named 'lo'", "did you mean 'loo'"]),
        ("kfold:x", ["an integer number", "e.g. kfold:5"]),
        ("kfold:99", ["needs 99 configurations, but runs has 8", "kfold:8 or fewer"]),
        ("holdout:20", ["not between 0 and 1", "holdout:0.25"]),
        ("interpolate:executor", ["'executor' is not a factor of 'runs'", "did you mean 'executors'"]),
        ("interpolate:net", ["net has the level 'a'"]),
        ("interpolate:batch_size", ["needs 3 levels of batch_size, but the runs have 2: 64, 128"]),
        ("extrapolate:executors>many", ["no number after '>'", "extrapolate:executors>8"]),
        ("extrapolate:executors>8", ["nothing to test", "measured: 1, 2, 4, 8"]),
        ("cases:executors=1+2", ["is not FACTOR=LEVELS|LEVELS", "cases:data_size=250+750|1000"]),
        ("cases:executors=1+2|16", ["no run has executors = 16", "measured: 1, 2, 4, 8"]),
        ("cases:executors=1+2|2+4", ["also in the training data", "one side only"]),
    ],
)
def test_a_bad_protocol_is_a_usage_error_with_a_hint(call: Call, protocol: str, words: list[str]) -> None:
    answer = call("validate", "runs.csv", "--factors", "executors,batch_size,net", "--protocol", protocol)
    assert answer.code == 2
    assert answer.out == ""
    for word in [*words, "hint: "]:
        assert word in answer.err


def test_a_long_wait_says_which_model_is_tested_and_a_short_one_nothing() -> None:
    now, said = [0.0], list[str]()
    tell = tell_when_slow(said.append, lambda: now[0])
    for at, step in [
        (0.5, FoldProgress("ernest", 1, 3, 1, 20)),
        (2.5, FoldProgress("ernest", 1, 3, 5, 20)),
        (9.0, FoldProgress("ernest", 1, 3, 9, 20)),
        (9.5, FoldProgress("ridge", 2, 3, 1, 20)),
        (10.0, FoldProgress("median", 3, 3, 1, 20)),
        (30.0, FoldProgress("median", 3, 3, 2, 20)),
    ]:
        now[0] = at
        tell(step)
    assert said == [
        "testing ernest: model 1 of 3, split 5 of 20",
        "testing ridge: model 2 of 3, split 1 of 20",
        "testing median: model 3 of 3, split 2 of 20",
    ]


def test_the_bar_counts_the_fits_of_all_models() -> None:
    assert done_of(FoldProgress("ernest", 1, 3, 1, 20)) == (0, 60)
    assert done_of(FoldProgress("ridge", 2, 3, 5, 20)) == (24, 60)
