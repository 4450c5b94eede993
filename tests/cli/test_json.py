"""What programs read: one document on stdout, in success and in failure, as its published schema says."""

import json
import os
from itertools import chain
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from every_command import FAILING, SUCCEEDING
from sparkcast import api
from sparkcast.cli import _helps
from sparkcast.wire.schemas import documents
from tests_support import Call

PUBLISHED = Path(__file__).parents[2] / "docs" / "reference" / "schemas"


def schema(name: str) -> Any:
    """As published, and stricter: a field that the schema does not tell of is a mistake of ours."""
    return _closed(_published(name))


def _closed(part: Any) -> Any:
    if isinstance(part, list):
        return [_closed(item) for item in part]
    if not isinstance(part, dict):
        return part
    closed = {key: _closed(value) for key, value in part.items()}
    if closed.get("type") == "object" and "properties" in closed and "allOf" not in closed:
        closed["additionalProperties"] = False
    return closed


def _published(name: str) -> Any:
    return json.loads((PUBLISHED / f"{name.replace(' ', '-')}.json").read_text())


def _without_schema(document: Any) -> Any:
    """Without what is told beside the result."""
    return {key: value for key, value in document.items() if key not in ("schema", "understood")}


def require_valid(document: Any, name: str) -> None:
    jsonschema.Draft202012Validator(json.loads((PUBLISHED / f"{name.replace(' ', '-')}.json").read_text())).validate(
        document
    )
    strict = schema(name)
    if "allOf" in strict:
        body = {**strict["allOf"][0], "$defs": strict["$defs"]}
        jsonschema.Draft202012Validator(body).validate(_without_schema(document))


def test_every_command_has_a_published_schema() -> None:
    one_shot = {name for name, told in _helps().items() if "One JSON document" in told}
    assert set(documents()) == one_shot, "add the type of the new command to wire/schemas.py"
    for name in (*documents(), "error"):
        jsonschema.Draft202012Validator.check_schema(schema(name))


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", SUCCEEDING)
def test_a_result_is_as_its_schema_says(call: Call, name: str) -> None:
    for arguments in SUCCEEDING[name]:
        answer = call(*name.split(), *arguments, "--json")
        assert answer.code == 0, answer.err
        document = json.loads(answer.out)
        require_valid(document, name)
        if isinstance(document, dict):
            assert document["schema"] == f"sparkcast/{name.replace(' ', '-')}/1"
        else:
            assert "--dry-run" in arguments


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", FAILING)
def test_a_failure_is_one_document_with_the_exit_code(call: Call, name: str) -> None:
    for code, arguments in FAILING[name]:
        answer = call(*name.split(), *arguments, "--json")
        assert answer.code == code, (arguments, answer.err)
        document = json.loads(answer.out)
        require_valid(document, "error")
        assert document["error"]["code"] == code
        assert document["error"]["hint"]
        assert " ".join(document["error"]["problem"].split()) in " ".join(answer.err.split())


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [
        (("analyze", "rnus.csv"), "runs.csv"),
        (("predict", "runs.cvs", "--at", "executors=2"), "runs.csv"),
        (("run", "s.yml"), "s.yaml"),
        (("init", "mnist"), "mnist-training"),
        (("list", "model"), "models"),
        (("fit", "runs.csv", "--model", "rigde"), "ridge"),
        (("analyze", "runs.csv", "--response", "tims_s"), "time_s"),
        (("run", "s.yaml", "--resum"), "--resume"),
        (("recomend", "runs.csv"), "recommend"),
        (("replicate", "marinos2020", "--part", "queue"), "queues"),
    ],
)
def test_what_may_have_been_meant_is_told_to_programs(call: Call, arguments: tuple[str, ...], nearest: str) -> None:
    answer = call(*arguments, "--json")
    assert answer.code == 2
    assert json.loads(answer.out)["error"]["nearest"][0] == nearest


@pytest.mark.usefixtures("files")
def test_limits_that_nothing_meets_are_told_with_what_comes_nearest(call: Call) -> None:
    answer = call("recommend", "runs.csv", "--model", "ridge", "--within", "1s", "--json")
    [nearest] = json.loads(answer.out)["error"]["nearest"]
    assert nearest["limit"] == {"response": "time_s", "value": 1.0, "is_upper": True}
    within = f"{nearest['needed'] + 0.01}s"
    possible = json.loads(call("recommend", "runs.csv", "--model", "ridge", "--within", within, "--json").out)
    assert possible["chosen"]["configuration"] == nearest["configuration"]


@pytest.mark.usefixtures("files")
def test_a_failure_after_the_result_leaves_one_document(call: Call) -> None:
    question = ("recommend", "runs.csv", "--model", "ridge", "--within", "100s")
    answer = call(*question, "--figures", "runs.csv", "--json")
    assert answer.code == 2
    assert json.loads(answer.out)["schema"] == "sparkcast/recommend/1"
    assert "runs.csv" in answer.err


# ---------------------------------------------------------------- what is no bug

DATA_COMMANDS = ("analyze", "export", "fit", "predict", "recommend", "report", "validate")
OPTIONS = {"predict": ("--at", "executors=2"), "export": ("-o", "x.csv")}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", DATA_COMMANDS)
@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        ("rnus.csv", 2, "no file 'rnus.csv'"),
        ("no/runs.csv", 2, "no file 'no/runs.csv'"),
        ("s.yml", 2, "no study file 's.yml'"),
        ("store", 2, "no file 'store'"),
        ("log", 2, "log is a Spark event log"),
        ("eventlog_v2_app-1", 2, "is a Spark event log"),
        ("logs", 2, "logs is a Spark event log"),
        ("empty.yaml", 4, "has no results yet"),
        ("nothing", 4, "there are no results at 'nothing'"),
        ("binary.csv", 2, "cannot read 'binary.csv'"),
    ],
)
def test_the_same_mistake_has_the_same_exit_code_in_every_command(
    call: Call, tmp_path: Path, name: str, data: str, code: int, words: str
) -> None:
    (tmp_path / "eventlog_v2_app-1").mkdir()
    (tmp_path / "nothing").mkdir()
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "app-1.zstd").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    (tmp_path / "binary.csv").write_bytes(bytes(range(256)))
    answer = call(name, data, *OPTIONS.get(name, ()))
    assert (answer.code, answer.out) == (code, "")
    takes_logs = name in ("report", "recommend") and "log" in data  # they say of these that there is nothing in them
    assert takes_logs or words in answer.err
    assert "hint: " in answer.err


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("command", ["design", "run", "tune"])
@pytest.mark.parametrize(
    ("study", "words"),
    [
        ("s.yml", "did you mean 's.yaml'?"),
        ("runs.csv", "runs.csv is a table of runs, but this command needs a study file"),
        ("log", "log is a Spark event log, but this command needs a study file"),
        ("nothing", "cannot read 'nothing': Is a directory"),
    ],
)
def test_what_is_no_study_file_is_named(call: Call, tmp_path: Path, command: str, study: str, words: str) -> None:
    (tmp_path / "nothing").mkdir()
    answer = call(command, study)
    assert answer.code == 2
    assert words in answer.err


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (OSError(28, os.strerror(28), "/full/disk"), 2, ["No space left on device: '/full/disk'", "hint: free some"]),
        (PermissionError(13, os.strerror(13), "secret"), 2, ["Permission denied: 'secret'", "you can read and write"]),
        (OSError(30, os.strerror(30)), 2, ["Read-only file system", "writable file system"]),
        (IsADirectoryError(21, os.strerror(21), "d"), 2, ["Is a directory: 'd'", "not a folder"]),
        (OSError(36, os.strerror(36), "x" * 50), 2, ["File name too long", "a shorter name"]),
        (OSError("no one knows"), 2, ["no one knows", "hint: "]),
        (ConnectionRefusedError(111, os.strerror(111)), 3, ["Connection refused", "can it be reached"]),
        (TimeoutError("timed out"), 3, ["timed out", "can it be reached"]),
        (ZeroDivisionError("really"), 1, ["ZeroDivisionError: really", "this is a bug"]),
    ],
)
def test_only_a_bug_is_called_one(
    call: Call, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int, words: list[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(api, "export", refuse)
    answer = call("export", "runs.csv", "-o", "x.csv", "--json")
    assert answer.code == code
    assert json.loads(answer.out)["error"]["code"] == code
    for word in words:
        assert word in answer.err
    assert ("bug" in answer.err) == (code == 1)


def test_what_follows_two_dashes_is_not_ours(call: Call) -> None:
    assert call("runn", "--", "--json").out == ""


def test_the_json_of_list_has_all_names_of_a_kind_and_the_package_of_each(call: Call) -> None:
    found = json.loads(call("list", "--json").out)
    for kind, names in found["kinds"].items():
        assert sorted(chain(*found["packages"][kind].values())) == names
    assert "pi" in found["packages"]["workloads"]["sparkcast"]
    assert "tpcds" in found["packages"]["workloads"]["sparkcast_papers"]
