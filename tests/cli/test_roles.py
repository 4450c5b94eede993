"""What names mean on the command line: `--role`, `--limit`, and what is said when only names told."""

import json
import math
from pathlib import Path

import pytest

from tests_support import Call

RENAMED = {"hosts": "machines", "minutes": "time:min", "auc": "share"}
ROLES = [part for name, role in RENAMED.items() for part in ("--role", f"{name}={role}")]


def table(header: str, per_minute: float = 1.0) -> str:
    lines = [header]
    for machines in (1, 2, 4, 8):
        for batch_size in (64, 128, 256):
            for extra in (0.99, 1.01):
                time = (10 + 80 / machines * (64 / batch_size) ** 0.5) * extra * per_minute
                quality = 0.9 - 0.02 * math.log2(batch_size / 64) + 0.001 * extra
                lines.append(f"{machines},{batch_size},{time!r},{quality!r}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def usual(tmp_path: Path) -> str:
    (tmp_path / "usual.csv").write_text(table("executors,batch_size,time_s,accuracy"))
    return "usual.csv"


@pytest.fixture
def renamed(tmp_path: Path) -> str:
    (tmp_path / "own.csv").write_text(table("hosts,batch_size,minutes,auc"))
    return "own.csv"


PREDICT = ("--at", "executors=3,batch_size=128", "--model", "ridge")


def test_what_only_names_told_is_said_beside_the_answer(call: Call, usual: str) -> None:
    answer = call("predict", usual, *PREDICT)
    assert answer.err == (
        "usual.csv: 24 runs\n"
        "  settings: executors (machines), batch_size (batch)\n"
        "  responses: time_s (time, s), accuracy (share)\n"
    )
    assert "settings" not in answer.out


def test_what_was_declared_is_not_told_again(call: Call, usual: str) -> None:
    roles = ("--role", "executors=machines,batch_size=batch", "--role", "time_s=time,accuracy=share")
    assert call("predict", usual, *PREDICT, *roles).err == ""
    some = call("predict", usual, *PREDICT, "--role", "executors=machines")
    assert "batch_size (batch)" in some.err


def test_a_table_that_sparkcast_wrote_says_it_itself(call: Call, usual: str) -> None:
    assert call("export", usual, "-o", "own.csv").code == 0
    answer = call("predict", "own.csv", *PREDICT)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == call("predict", usual, *PREDICT).out


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_names_of_ones_own_get_the_answers_of_the_usual_names(
    call: Call, usual: str, tmp_path: Path, options: list[str]
) -> None:
    (tmp_path / "own.csv").write_text(table("hosts,batch_size,seconds,score"))
    question = ("--model", "ridge", "--within", "40s", "--min-accuracy", "0.87", "--price", "core_hour=1", *options)
    roles = ("--role", "hosts=machines,seconds=time,score=share:share correct")
    own, other = call("recommend", "own.csv", *question, *roles), call("recommend", usual, *question)
    assert own.code == other.code == 0, own.err
    told = own.out.replace("hosts", "executors").replace("seconds", "time_s").replace("score", "accuracy")
    if not options:
        assert told.replace("Score   ", "Accuracy") == other.out
        return
    # All but what Spark is told: hosts need not be its executors.
    without = [{**json.loads(text), "understood": None, "launch": None} for text in (told, other.out)]
    assert without[0] == without[1]


def test_a_time_may_be_counted_in_minutes(call: Call, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(table("hosts,batch_size,seconds,auc"))
    (tmp_path / "min.csv").write_text(table("hosts,batch_size,minutes,auc", per_minute=1 / 60))
    found = []
    for file, role in (("s.csv", "seconds=time"), ("min.csv", "minutes=time:min")):
        question = ("--model", "ridge", "--within", "40s", "--price", "core_hour=1", "--budget", "0.09", "--json")
        found.append(json.loads(call("recommend", file, *question, "--role", f"hosts=machines,auc=share,{role}").out))
    assert found[0]["chosen"]["configuration"] == found[1]["chosen"]["configuration"]
    assert found[0]["chosen"]["probability"] == pytest.approx(found[1]["chosen"]["probability"])
    costs = [next(p["value"] for p in one["chosen"]["predictions"] if p["response"] == "cost") for one in found]
    assert costs[0] == pytest.approx(costs[1])


def test_any_response_can_be_limited(call: Call, renamed: str) -> None:
    answer = call("recommend", renamed, "--model", "ridge", *ROLES, "--limit", "auc >= 0.88", "--json")
    told = json.loads(answer.out)
    assert told["limits"] == [{"response": "auc", "value": 0.88, "is_upper": False}]
    assert told["objective"] == "minimize minutes"
    limits = ("--limit", "minutes<=2400s", "--limit", "auc > 86%")
    told = json.loads(call("recommend", renamed, "--model", "ridge", *ROLES, *limits, "--json").out)
    assert [(limit["response"], limit["value"]) for limit in told["limits"]] == [("minutes", 40.0), ("auc", 0.86)]
    assert told["objective"] == "maximize auc"


def test_the_short_limits_are_limits_like_others(call: Call, renamed: str) -> None:
    short = call("recommend", renamed, "--model", "ridge", *ROLES, "--within", "2400s", "--min-accuracy", "0.86")
    long = ("--limit", "minutes <= 2400s", "--limit", "auc >= 0.86")
    assert short.code == 0
    assert short.out == call("recommend", renamed, "--model", "ridge", *ROLES, *long).out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--role", "hosts"], ["--role 'hosts' is not NAME=ROLE", "--role hosts=machines"]),
        (["--role", "=machines"], ["is not NAME=ROLE"]),
        (["--role", "host=machines"], ["own.csv has no column 'host'", "did you mean 'hosts'"]),
        (["--role", "hosts=machine"], ["hosts cannot have the role 'machine'", "did you mean 'machines'"]),
        (["--role", "hosts=machines,hosts=cores"], ["--role gives hosts twice: machines and cores"]),
        (["--role", "minutes=time:moons"], ["unknown unit", "use ns, us, ms, s, min, h, d"]),
        ([*ROLES, "--limit", "auc"], ["'auc' is not a limit", "'auc >= 0.9'"]),
        ([*ROLES, "--limit", "auc = 0.9"], ["is not a limit"]),
        ([*ROLES, "--limit", "acu >= 0.9"], ["there is no response 'acu'", "did you mean 'auc'"]),
        ([*ROLES, "--limit", "auc >= good"], ["'good' is not a number"]),
        ([*ROLES, "--limit", "auc >= nan"], ["is not finite"]),
        ([*ROLES, "--limit", "minutes <= 3 moons"], ["'3 moons'", "30s"]),
        ([*ROLES, "--limit", "auc >= 0.5", "--min-accuracy", "0.6"], ["auc has two limits on the same side"]),
        (
            ["--ignore", "minutes,auc"],
            ["no column of own.csv is known to be a response", "--role NAME=time"],
        ),
        (
            ["--ignore", "auc", "--min-accuracy", "0.6"],
            ["none of the responses is an accuracy", "--role NAME=share"],
        ),
    ],
)
def test_a_mistyped_role_or_limit_gets_a_hint(call: Call, renamed: str, options: list[str], words: list[str]) -> None:
    answer = call("recommend", renamed, "--model", "ridge", *options)
    assert (answer.code, answer.out) == (2, "")
    for word in [*words, "hint: "]:
        assert word in answer.err


def test_a_model_file_knows_the_roles_it_was_fitted_with(call: Call, renamed: str) -> None:
    assert call("fit", renamed, "--model", "ridge", *ROLES, "--save", "m.sparkcast").code == 0
    question = ("--within", "2400s", "--price", "core_hour=1", "--json")
    answer = call("recommend", "m.sparkcast", *question)
    assert (answer.code, answer.err) == (0, "")
    from_data = json.loads(call("recommend", renamed, "--model", "ridge", *ROLES, *question).out)
    assert json.loads(answer.out) == {name: value for name, value in from_data.items() if name != "understood"}
    refused = call("recommend", "m.sparkcast", *question, "--role", "hosts=cores")
    assert (refused.code, "is a model file" in refused.err, "--role" in refused.err) == (2, True, True)
