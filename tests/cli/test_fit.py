"""`fit`, and asking the model file it writes; mistakes get a hint and the right exit code."""

import json
import re
from pathlib import Path

import pytest

from sparkcast import api
from tests_support import Call

RUNS = "executors,net,time_s,accuracy,outcome\n" + "".join(
    f"{executors},{net},{slow * (5 + 40 / executors) + extra},{0.9 - executors / 100},ok\n"
    for executors in (1, 2, 4, 8)
    for net, slow in (("lenet5", 1.0), ("vgg", 3.0))
    for extra in (0.0, 0.2)
)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    path = tmp_path / "runs.csv"
    path.write_text(RUNS)
    return path


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A model file, learned once for all tests."""
    folder = tmp_path_factory.mktemp("learned")
    (folder / "runs.csv").write_text(RUNS)
    api.save_model(api.fit(api.load_data(folder / "runs.csv"), model="ridge").model, folder / "m.sparkcast")
    return (folder / "m.sparkcast").read_bytes()


@pytest.fixture
def model(learned: bytes, runs: Path) -> Path:
    path = runs.with_name("m.sparkcast")
    path.write_bytes(learned)
    return path


def test_fit_says_what_was_learned(call: Call, runs: Path) -> None:
    answer = call("fit", "runs.csv", "--model", "ridge")
    assert answer.code == 0
    first, second, *_, last = answer.out.splitlines()
    assert re.fullmatch(r"Time \(time_s\): [\d.]+% mean error on held-out runs, model ridge\.", first)
    assert second.split() == "Trained on 16 runs of 8 configurations".split()
    assert "Accuracy: " in answer.out
    assert "--save FILE" in last
    assert not list(runs.parent.glob("*.sparkcast"))


def test_fit_of_one_response_learns_that_one(call: Call, runs: Path) -> None:
    answer = call("fit", "runs.csv", "--model", "ridge", "--response", "accuracy,price = max(time_s, 2) * 3", "--json")
    told = json.loads(answer.out)
    assert [learned["response"] for learned in told["responses"]] == ["accuracy", "price"]
    assert told["saved"] is None
    assert told["responses"][0]["mean_error"] >= 0


def test_auto_tells_its_choice_and_the_scores_of_its_candidates(call: Call, runs: Path) -> None:
    answer = call("fit", "runs.csv", "--response", "time_s")
    assert re.search(r"Predicted by  .*, inside the measured range", answer.out)
    assert re.search(r"Mean errors   .* \(protocol loo\)", " ".join(answer.out.split(chr(10))))
    told = json.loads(call("fit", "runs.csv", "--response", "time_s", "--json").out)
    [choice] = told["responses"][0]["choices"]
    assert len(choice["errors"]) > 1
    assert set(choice["answered_by"]) <= set(choice["errors"])
    assert choice["error"] <= max(choice["errors"].values())


def test_a_model_file_answers_as_the_data_do(call: Call, runs: Path) -> None:
    model = "m.sparkcast"
    assert call("fit", "runs.csv", "--model", "ridge", "--save", model).code == 0
    for command, *question in (
        ["predict", "--at", "executors=3,net=vgg", "--json"],
        ["recommend", "--within", "60s", "--fix", "net=vgg", "--json"],
    ):
        answer = call(command, model, *question)
        from_data = call(command, "runs.csv", "--model", "ridge", *question)
        assert answer.code == from_data.code == 0
        told = json.loads(from_data.out)
        assert ["executors", "machines"] in told.pop("understood")["settings"]
        assert json.loads(answer.out) == told
        assert answer.err == from_data.err == ""


def test_a_model_file_is_known_by_its_content(call: Call, model: Path) -> None:
    renamed = model.rename(model.with_name("learned"))
    assert call("predict", renamed, "--at", "executors=3,net=vgg").code == 0


def test_recommend_wants_the_responses_that_the_file_has(call: Call, runs: Path) -> None:
    call("fit", "runs.csv", "--model", "ridge", "--response", "accuracy", "--save", "m.sparkcast")
    answer = call("recommend", "m.sparkcast", "--within", "60s")
    assert (answer.code, "the model file has no model of 'time_s'" in answer.err) == (2, True)
    answer = call("predict", "m.sparkcast", "--at", "executors=2,net=vgg", "--response", "time_s")
    assert (answer.code, "known: accuracy" in answer.err) == (2, True)
    assert "executors=2, net=vgg: accuracy " in call("predict", "m.sparkcast", "--at", "executors=2,net=vgg").out


def test_saving_onto_an_existing_file_needs_force(call: Call, model: Path) -> None:
    before = model.read_bytes()
    answer = call("fit", "runs.csv", "--model", "median", "--save", model)
    assert (answer.code, "add --force" in answer.err, answer.out) == (2, True, "")
    assert model.read_bytes() == before
    answer = call("fit", "runs.csv", "--model", "median", "--save", model, "--force")
    assert (answer.code, "wrote" in answer.err) == (0, True)
    assert model.read_bytes() != before


@pytest.mark.parametrize("command", [["predict", "--at", "executors=2,net=vgg"], ["recommend", "--within", "60s"]])
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("truncated", "is incomplete"),
        ("newer", "written by a newer sparkcast"),
        ("older", "a model of an older sparkcast"),
        ("not a model", "not a sparkcast model file"),
        ("empty", "is incomplete"),
        ("missing", "No such file"),
    ],
)
def test_a_model_file_that_cannot_be_used_is_refused(
    call: Call, model: Path, command: list[str], kind: str, words: str
) -> None:
    content = model.read_bytes()
    if kind == "truncated":
        model.write_bytes(content[: len(content) // 2])
    elif kind == "newer":
        model.write_text(json.dumps(json.loads(content) | {"schema": 99}))
    elif kind == "older":
        model.write_bytes(b"PK\x03\x04" + content)
    elif kind == "not a model":
        model.write_text('{"cells": []}')
    elif kind == "empty":
        model.write_bytes(b"")
    else:
        model.unlink()
    answer = call(command[0], model, *command[1:])
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
    assert "hint: " in answer.err


def test_a_model_file_is_not_fitted_again(call: Call, model: Path) -> None:
    for option in (["--model", "median"], ["--factors", "executors"], ["--study", "s"]):
        answer = call("predict", model, "--at", "executors=3,net=vgg", *option)
        assert (answer.code, "is a model file" in answer.err) == (2, True)


# ---------------------------------------------------------------- where an answer would be a guess


@pytest.mark.parametrize(
    ("at", "code", "words"),
    [
        ("executors=500,net=vgg", 4, ["executors = 500 is too far", "the run that would help most", "--extrapolate"]),
        ("executors=2,net=resnet", 4, ["'resnet' was never run", "lenet5, vgg", "--extrapolate"]),
        ("executors=2", 2, ["'net' is missing", "lenet5, vgg"]),
        ("executors=nan,net=vgg", 2, ["executors = nan is not a number"]),
        ("executors=2,net=nan", 2, ["net = nan is not a number"]),
        ("executors=inf,net=vgg", 2, ["not a number"]),
        ("executors=many,net=vgg", 2, ["not a number"]),
        ("exectors=2,net=vgg", 2, ["did you mean 'executors'"]),
        ("executors=2,net=vgg,epochs=3", 2, ["'epochs' is not a factor"]),
        ("executors", 2, ["not name=value"]),
    ],
)
@pytest.mark.parametrize("source", ["data", "model"])
def test_a_question_without_an_answer_is_refused(
    call: Call, model: Path, source: str, at: str, code: int, words: list[str]
) -> None:
    data = [model] if source == "model" else ["runs.csv", "--model", "ridge"]
    answer = call("predict", *data, "--at", at)
    assert (answer.code, answer.out) == (code, "")
    for word in [*words, "hint: "]:
        assert word in answer.err


def test_extrapolate_answers_far_away_with_a_wide_interval(call: Call, model: Path) -> None:
    def ratio(at: str) -> float:
        told = json.loads(call("predict", model, "--at", at, "--extrapolate", "--json").out)["prediction"]
        return float(told["high"]) / float(told["low"])

    assert ratio("executors=500,net=vgg") > ratio("executors=16,net=vgg") > ratio("executors=8,net=vgg")


def test_extrapolate_takes_a_new_category_for_any_known_one(call: Call, model: Path) -> None:
    def told(net: str) -> dict[str, float]:
        asked = f"executors=2,net={net}"
        found: dict[str, float] = json.loads(call("predict", model, "--at", asked, "--extrapolate", "--json").out)[
            "prediction"
        ]
        return found

    new, fast, slow = told("resnet"), told("lenet5"), told("vgg")
    assert (new["low"], new["high"]) == (fast["low"], slow["high"])
    assert fast["value"] < new["value"] < slow["value"]


@pytest.mark.parametrize("at", ["executors=2", "executors=nan,net=vgg", "exectors=2,net=vgg"])
def test_extrapolate_does_not_excuse_a_mistake(call: Call, model: Path, at: str) -> None:
    assert call("predict", model, "--at", at, "--extrapolate").code == 2


# ---------------------------------------------------------------- data that teach nothing


@pytest.mark.parametrize("command", [["fit"], ["predict", "--at", "executors=2"]])
@pytest.mark.parametrize(
    ("rows", "code", "words"),
    [
        (["1,5", "2,3"], 4, "2 different configurations"),
        (["1,5", "2,-3", "4,2"], 2, "row 3, column 'time_s': '-3' is negative, and a time cannot be"),
        (["1,5", "2,inf", "4,2"], 2, "not finite"),
        (["1,5", "2,", "4,"], 4, "1 different configurations"),
    ],
)
def test_data_that_cannot_be_learned_from_are_refused(
    call: Call, tmp_path: Path, command: list[str], rows: list[str], code: int, words: str
) -> None:
    (tmp_path / "few.csv").write_text("\n".join(["executors,time_s", *rows]) + "\n")
    answer = call(command[0], "few.csv", "--model", "ridge", *command[1:])
    assert (answer.code, answer.out) == (code, "")
    assert words in answer.err
    assert "hint: " in answer.err


def test_a_cost_below_0_is_refused(call: Call, tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text("executors,cost\n1,5\n2,-3\n4,2\n")
    answer = call("fit", "few.csv", "--model", "ridge")
    assert (answer.code, answer.out) == (2, "")
    assert "cost is -3 in a run, which is impossible" in answer.err
    assert "hint: correct or remove that run" in answer.err


@pytest.mark.parametrize("model", ["ridge", "median", "random-forest"])
def test_a_response_that_never_changes_is_predicted_as_it_is(call: Call, tmp_path: Path, model: str) -> None:
    (tmp_path / "same.csv").write_text("executors,time_s\n1,5\n2,5\n4,5\n8,5\n")
    assert call("fit", "same.csv", "--model", model).code == 0
    told = json.loads(call("predict", "same.csv", "--model", model, "--at", "executors=3", "--json").out)["prediction"]
    assert told["value"] == pytest.approx(5)
    assert told["low"] <= told["value"] <= told["high"]


# ---------------------------------------------------------------- failures


def test_failed_runs_show_as_a_probability(call: Call, runs: Path) -> None:
    failed = [f"16,{net},,,oom" for net in ("lenet5", "vgg") for _ in range(3)]
    runs.write_text(runs.read_text() + "\n".join(failed) + "\n")
    answer = call("predict", "runs.csv", "--model", "ridge", "--at", "executors=8,net=vgg")
    assert re.search(r"  Failures +(<1|[1-9]\d?)% of submissions are expected to fail", answer.out)
    call("fit", "runs.csv", "--model", "ridge", "--save", "m.sparkcast")
    for source in (["m.sparkcast"], ["runs.csv", "--model", "ridge"]):
        asked = [f"executors={e},net=vgg" for e in (1, 8)]
        told = [json.loads(call("predict", *source, "--at", at, "--json").out)["failure_probability"] for at in asked]
        assert told[0] < told[1]


def test_without_failed_runs_a_bound_is_told_and_json_has_the_rule_of_thumb_too(call: Call, runs: Path) -> None:
    question = ("predict", "runs.csv", "--model", "ridge", "--at", "executors=8,net=vgg")
    said = call(*question).out
    assert "expected to fail" not in said
    # Clopper and Pearson's upper end for 0 of 16: 1 - 0.05 ** (1 / 16) = 0.17075
    assert "no failures in 16 runs; the failure rate is below 17.1% (95% confidence)" in said
    told = json.loads(call(*question, "--json").out)
    assert told["failure_probability"] == pytest.approx(1 / 18)
    assert told["no_failure"] == {"runs": 16, "below": pytest.approx(0.17075, abs=1e-5), "confidence": 0.95}


def test_the_settings_of_a_model_are_searched_among_those_of_a_paper(call: Call, tmp_path: Path) -> None:
    data = tmp_path / "runs.csv"
    data.write_text("executors,time_s\n" + "".join(f"{e},{9 / e + e}\n" for e in (1, 2, 3, 4, 6, 8)))
    answer = call("fit", data, "--model", "ridge", "--grid", "myung2020", "--json")
    assert answer.code == 0
    [note] = json.loads(answer.out)["notes"]
    assert note.startswith("time_s: the best of 9 combinations of myung2020 is alpha=")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--grid", "myung"), "did you mean 'myung2020'"),
        (("--grid", "myung2020", "--search", "rand"), "no search named 'rand'"),
        (("--grid", "myung2020", "--trials", "0"), "0 trials are too few"),
        (("--grid", "courier2021"), "courier2021 has no grid for 'ridge'"),
    ],
)
def test_a_search_that_cannot_be_made_is_refused(
    call: Call, tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    data = tmp_path / "runs.csv"
    data.write_text("executors,time_s\n" + "".join(f"{e},{9 / e + e}\n" for e in (1, 2, 3, 4)))
    answer = call("fit", data, "--model", "ridge", *options)
    assert answer.code == 2
    assert words in answer.err


def test_a_model_file_is_no_substitute_for_runs(call: Call, tmp_path: Path) -> None:
    (tmp_path / "m.sparkcast").write_bytes(b"PK\x03\x04")
    answer = call("validate", "m.sparkcast")
    assert answer.code == 2
    assert "m.sparkcast is a model file, but this command needs runs" in answer.err


def test_trials_without_a_grid_are_refused(call: Call, tmp_path: Path) -> None:
    assert call("fit", "runs.csv", "--trials", "5").code == 2
