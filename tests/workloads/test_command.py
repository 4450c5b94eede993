"""A study of somebody's own job: its settings, its placeholders, and what is said of bad input."""

import os
from pathlib import Path
from typing import Any

import pytest

from sparkcast.errors import StudyError
from sparkcast.runs.job import make_job
from sparkcast.study import Kind, Role, Study, differences
from sparkcast.study.file import parse_study
from sparkcast.workloads import WORKLOADS, complete, resolve, settings_of, vocabulary_of, workload_of
from sparkcast.workloads.base import Submitted, SubmittedApplication
from tests_support import Call, PlayedEngine, registered

STUDY = """\
study: s
workload: command
command:
  application: train.py
  arguments: [--rows, "{rows}", "--out={run_folder}/{rows}", "{{literal}}"]
settings:
  executors: [1, 2]
  rows: [1000, 2000]
  "spark.sql.shuffle.partitions": [50, 200]
rules:
  - spark.sql.shuffle.partitions >= executors
"""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return read(tmp_path)


def read(folder: Path, *changes: tuple[str, str]) -> Study:
    (folder / "train.py").touch()
    text = STUDY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return resolve(parse_study(text, folder / "s.yaml"))


def program(study: Study, **settings: Any) -> SubmittedApplication:
    workload = workload_of(study)
    assert isinstance(workload, Submitted)
    return workload.application(complete(workload, study.fixed | {"rows": 1000, **settings}), Path("/run"))


# ---------------------------------------------------------------- what it is made of


def test_placeholders_are_filled_in_without_a_shell(study: Study, tmp_path: Path) -> None:
    found = program(study, rows=2000)
    assert found.arguments == ("--rows", "2000", "--out=/run/2000", "{literal}")
    assert (found.file, found.directory, found.promised) == ("train.py", tmp_path, ())


def test_its_settings_come_from_the_study_with_their_usual_roles(study: Study) -> None:
    workload = workload_of(study)
    assert {s.name: s.role for s in settings_of(workload) if s.name == "rows"} == {"rows": Role.DATA_SIZE}
    assert study.vocabulary.role("spark.sql.shuffle.partitions") is Role.OTHER


def test_what_the_job_calls_workers_is_not_what_spark_gives_it(tmp_path: Path) -> None:
    study = read(tmp_path, ("rows", "workers"))
    roles = [s.name for s in settings_of(workload_of(study)) if s.role is Role.MACHINES]
    assert roles == ["executors"]


def test_a_spark_property_is_a_factor_of_every_workload(tmp_path: Path) -> None:
    text = 'study: p\nworkload: pi\nsettings: {samples: 1000, "spark.locality.wait": [0s, 3s]}\n'
    study = resolve(parse_study(text, tmp_path / "p.yaml"))
    engine, workload = PlayedEngine(lambda settings: {}), workload_of(study)
    for level in ("0s", "3s"):
        settings = complete(workload, study.fixed | {"spark.locality.wait": level})
        job, _ = make_job(study, workload, engine, settings, tmp_path)
        assert job.conf["spark.locality.wait"] == level


def test_a_trial_submits_the_job_itself_with_its_properties(study: Study, tmp_path: Path) -> None:
    workload = workload_of(study)
    settings = complete(workload, study.fixed | {"executors": 2, "rows": 1000, "spark.sql.shuffle.partitions": 50})
    job, _ = make_job(study, workload, PlayedEngine(lambda settings: {}), settings, tmp_path / "run")
    assert (job.application, job.arguments[:2]) == ("train.py", ("--rows", "1000"))
    assert job.conf["spark.sql.shuffle.partitions"] == "50"
    assert job.conf["spark.executor.instances"] == "2"
    assert job.environment["SPARKCAST_RESULT"] == str(tmp_path / "run" / "result.json")


def test_levels_reach_the_job_as_they_are_written(tmp_path: Path) -> None:
    study = read(tmp_path, ("rows: [1000, 2000]", 'rows: ["007", 1.0, 1024m, true]'))
    assert [program(study, rows=level).arguments[1] for level in (7, 1, "1g", "true")] == [
        "007",
        "1.0",
        "1024m",
        "true",
    ]
    assert [program(study, rows=level).arguments[1] for level in (1.5, 3)] == ["1.5", "3"]  # of nobody's writing


def test_jobs_may_arrive_at_random_and_no_placeholder_needs_the_rate(tmp_path: Path) -> None:
    rate = "\narrivals: {kind: poisson, rate: [10/h, 20/h], jobs: 4}\nrules:"
    study = read(tmp_path, ("\nrules:", rate))
    assert [factor.name for factor in study.factors][-1] == "arrivals_per_hour"
    assert program(study, arrivals_per_hour=10).arguments[:2] == ("--rows", "1000")


def test_a_placeholder_may_be_filled_by_the_mix_of_a_stream(tmp_path: Path) -> None:
    mix = "mix: [{share: 0.5, rows: 50}, {share: 0.5, rows: 200}]"
    arrivals = "arrivals: {kind: poisson, rate: 10/h, jobs: 4}"
    study = read(tmp_path, ("  rows: [1000, 2000]\n", ""), ("\nrules:", f"\n{arrivals}\n{mix}\nrules:"))
    assert [part.settings["rows"] for part in study.mix] == [50, 200]
    assert program(study, rows=50).arguments[:2] == ("--rows", "50")


def test_a_response_of_the_block_is_asked_for_without_naming_it_again(tmp_path: Path) -> None:
    study = read(tmp_path, ("  application", "  responses: {accuracy: 'AUC = ([0-9.]+)'}\n  application"))
    assert [response.name for response in study.responses] == ["total_s", "time_s", "accuracy"]
    assert study.vocabulary.quality == "accuracy"
    assert program(study).promised == ("accuracy",)


def test_a_response_may_say_what_it_means(tmp_path: Path) -> None:
    block = "  responses: {auc: {pattern: 'AUC = (.+)', kind: share}, rmse: {unit: stars}}\n  application"
    study = read(tmp_path, ("  application", block))
    assert study.vocabulary.response("auc").kind is Kind.SHARE
    assert study.vocabulary.response("rmse").unit == "stars"
    assert program(study).promised == ("auc", "rmse")


def test_a_response_that_the_study_names_is_promised_and_those_of_the_log_are_not(tmp_path: Path) -> None:
    named = "responses: [time_s, shuffle_read_bytes, cost, score = time_s / auc]\nprice: {core_hour: 1}\nrules:"
    assert program(read(tmp_path, ("rules:", named))).promised == ("auc",)


def test_the_part_of_the_data_that_it_takes_has_its_role(tmp_path: Path) -> None:
    study = read(tmp_path, ("  application", "  sampling: {rows: fraction}\n  application"), ("1000, 2000", "0.1, 1"))
    assert study.vocabulary.role("rows") is Role.FRACTION
    workload = workload_of(study)
    workload.check(complete(workload, study.fixed | {"rows": 0.1}))
    with pytest.raises(StudyError, match="rows = 5 is not a share of the data"):
        workload.check(complete(workload, study.fixed | {"rows": 5}))


def test_a_file_that_changed_gives_the_data_another_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("1")
    study = read(tmp_path, ("  application", "  data: [in, 's3a://bucket/b']\n  application"))
    workload = workload_of(study)
    first = workload.prepare(study.fixed, tmp_path)
    assert first == workload.prepare(study.fixed, tmp_path) != ""
    os.utime(tmp_path / "in" / "a.csv", (1, 1))
    second = workload.prepare(study.fixed, tmp_path)
    (tmp_path / "in" / "b.csv").write_text("1")
    assert len({first, second, workload.prepare(study.fixed, tmp_path)}) == 3


def test_another_argument_is_another_study_and_another_password_is_not(tmp_path: Path) -> None:
    arguments = ('"{{literal}}"', "--password, {}")
    first, other = (read(tmp_path, (arguments[0], arguments[1].format(word))) for word in ("x", "y"))
    assert first.measured_definition() == other.measured_definition()
    changed = read(tmp_path, ('"{{literal}}"', "--fast"))
    assert "options.arguments" in "".join(differences(first.measured_definition(), changed.measured_definition()))


def test_the_environment_is_the_jobs_and_what_it_prints_does_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/its/python")
    monkeypatch.delenv("PYSPARK_DRIVER_PYTHON", raising=False)
    study = read(tmp_path, ("  application", "  environment: {N: 'n{rows}', M: 1}\n  application"))
    assert program(study).environment == {"PYSPARK_PYTHON": "/its/python", "N": "n1000", "M": "1"}
    told = read(tmp_path, ("  application", "  responses: {auc: {}}\n  application"))
    assert program(told).environment["PYTHONUNBUFFERED"] == "1"


def test_the_job_runs_beside_its_study_or_in_a_folder_of_its_choice(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").touch()
    study = read(tmp_path, ("  application", "  directory: code\n  application"))
    assert program(study).directory == tmp_path / "code"


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("change", "problem", "hint"),
    [
        (("{rows}", "{row}"), "s.yaml line 5: the placeholder {row} has no setting 'row'", "did you mean 'rows'?"),
        (
            ("[1000, 2000]", "[1, 2]\n  depth: 3"),
            "s.yaml line 9: setting 'depth' is not used by any",
            "{depth}",
        ),
        (("{{literal}}", "{literal"), "s.yaml line 5: '{literal' has a single {", "{{ and }}"),
        (("{{literal}}", "{}"), "has a single {}", "{{ and }}"),
        (("  application", "  aplication"), "s.yaml line 4: unknown key 'command.aplication'", "'application'?"),
        (("  application: train.py\n", ""), "the key 'command.application' is missing", "application: train.py"),
        (("  application", "  data: 5\n  application"), "s.yaml line 4: command.data = 5", "data:"),
        (("  application", "  deploy_mode: far\n  application"), "command.deploy_mode = 'far'", ""),
        (("  application", "  environment: {'A=B': 1}\n  application"), "s.yaml line 4: command.environment", "env"),
        (
            ("  application", "  responses: {a: 'x = ('}\n  application"),
            "not a regular expression: missing )",
            "parenthesis",
        ),
        (
            ("  application", "  responses: {a: 'AUC'}\n  application"),
            "s.yaml line 4: the pattern 'AUC' has no group",
            "a =",
        ),
        (
            ("  application", "  responses: {a: '(x)(y)'}\n  application"),
            "has 2 groups, but only one can be the number",
            "(?:",
        ),
        (("  application", "  responses: {a: '(?P<epoch>x)'}\n  application"), "has no group around the number", "a ="),
        (
            ("  application", "  responses: {a: {knd: x}}\n  application"),
            "unknown key 'command.responses.a.knd'",
            "'kind'",
        ),
        (
            ("  application", "  sampling: {row: fraction}\n  application"),
            "sampling names no setting: 'row'",
            "'rows'?",
        ),
        (("rows", "task_s"), "'task_s' is the name of a response", "rename"),
        (('"spark.sql.shuffle.partitions"', "spark.executor.memory"), "cannot be a setting", "'memory' says it"),
        (('"spark.sql.shuffle.partitions"', "spark.eventLog.dir"), "sparkcast needs it itself", ""),
        (
            ('"spark.sql.shuffle.partitions"', "spark.my.token"),
            "cannot be a setting: settings are written down",
            "conf",
        ),
        (("rules:", "spark: {conf: {spark.sql.shuffle.partitions: 2}}\nrules:"), "as well", "to vary it"),
        (("workload: command", "workload: pi"), "unknown key 'command'", ""),
        (
            ("spark.sql.shuffle.partitions >=", "spark.sql.partitions >="),
            "unknown name 'spark.sql.partitions'",
            "shuffle",
        ),
    ],
)
def test_a_study_that_cannot_be_meant_is_refused_with_its_line(
    tmp_path: Path, change: tuple[str, str], problem: str, hint: str
) -> None:
    with pytest.raises(StudyError) as caught:
        read(tmp_path, change)
    assert problem in caught.value.problem
    assert hint in caught.value.hint


def test_a_study_without_a_command_is_told_how_to_write_one() -> None:
    with pytest.raises(StudyError, match="does not say what to submit") as caught:
        resolve(parse_study("study: s\nworkload: command\nsettings: {executors: 1}\n"))
    assert "application: train.py" in caught.value.hint


def test_options_for_a_workload_that_takes_none_are_refused() -> None:
    with pytest.raises(StudyError, match=r"line 4: workload 'pi' takes no options"):
        resolve(parse_study("study: s\nworkload: pi\nsettings: {samples: 5}\npi: {a: 1}\n"))


@pytest.mark.parametrize("missing", ["application", "properties_file", "directory", "data"])
def test_a_file_that_is_not_there_is_named_before_anything_starts(call: Call, tmp_path: Path, missing: str) -> None:
    read(tmp_path)
    text = STUDY.replace("train.py", "no.py") if missing == "application" else STUDY
    if missing != "application":
        text = text.replace("  application", f"  {missing}: nowhere\n  application")
    (tmp_path / "s.yaml").write_text(text)
    answer = call("run", "s.yaml")
    assert answer.code == 2
    assert "s.yaml line 4: there is no fi" in answer.err or "s.yaml line 4: there is no folder" in answer.err
    assert "starting the cluster" not in answer.err


def test_cluster_mode_needs_a_cluster_elsewhere(tmp_path: Path) -> None:
    study = read(tmp_path, ("  application", "  deploy_mode: cluster\n  application"))
    workload = workload_of(study)
    with pytest.raises(StudyError, match="deploy_mode: cluster needs a cluster elsewhere"):
        workload.check(complete(workload, study.fixed | {"rows": 1}))


def test_a_property_that_is_varied_cannot_be_held_by_an_option(call: Call, tmp_path: Path) -> None:
    read(tmp_path)
    (tmp_path / "s.yaml").write_text(STUDY)
    answer = call("run", "s.yaml", "--dry-run", "--conf", "spark.sql.shuffle.partitions=7")
    assert answer.code == 2
    assert "is a setting and stands among the Spark properties of all runs as well" in answer.err


# ---------------------------------------------------------------- other people's plugs


class Counting:
    """A plug of somebody else that takes its settings from the study."""

    settings: Any = ()
    responses: Any = WORKLOADS.get("pi")().responses
    example: Any = None

    def __init__(self, settings: Any = ()) -> None:
        self.settings = settings

    def for_study(self, study: Study) -> "Counting":
        from sparkcast.workloads.base import Setting

        return Counting(tuple(Setting(name, 0, "how many") for name in study.options.get("count", ())))

    def check(self, settings: Any) -> None: ...

    def prepare(self, settings: Any, data_dir: Path) -> str:
        return ""

    def spark_conf(self, settings: Any) -> dict[str, str]:
        return {}

    def run(self, job: Any) -> None: ...


def test_a_plug_of_another_package_can_take_its_settings_from_the_study() -> None:
    text = "study: s\nworkload: acme\nacme: {count: [apples]}\nsettings: {apples: [1, 2]}\n"
    with registered(WORKLOADS, "acme", Counting):
        study = resolve(parse_study(text))
        assert "apples" in {s.name for s in vocabulary_of(workload_of(study)).settings}
        with pytest.raises(StudyError, match="no setting 'pears'"):
            resolve(parse_study(text.replace("{apples:", "{pears:")))
