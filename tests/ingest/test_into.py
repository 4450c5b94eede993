"""Applications become runs of stores and studies, beside those that were measured."""

import json
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from eventlogs_support import write_log
from sparkcast import api
from sparkcast.data.ingest import spark_job
from sparkcast.data.ingest.reading import LogQuery
from sparkcast.data.ingest.settings import Pattern
from sparkcast.designs import make_plan
from sparkcast.errors import StoreError, StudyError
from sparkcast.eventlogs import find_logs, read_logs
from sparkcast.report.document import NOT_RUN, planned_runs
from sparkcast.store import open_store
from sparkcast.study import LogOrigin, Observation, Outcome, Price
from tests_support import Call

STUDY = """\
study: nightly
workload: command
settings:
  executors: [1, 2]
  cores: 4
  memory: 2g
  spark.sql.shuffle.partitions: [8, 16]
  rows: [10, 20]
command:
  application: job.py
  arguments: [--rows, "{rows}"]
price: {core_hour: 2}
"""


ingest = partial(api.ingest, processes=1)  # in this process: starting others takes longer than reading


def make_history(folder: Path, n_runs: int = 8) -> Path:
    folder.mkdir()
    for number in range(n_runs):
        write_log(
            folder / f"{number}.log",
            f"app-{number}",
            command=f"job.py --rows {10 + 10 * (number % 2)}",
            n_executors=1 + number // 2 % 2,
            job_end_ms=2000 + 100 * number,
            spark_sql_shuffle_partitions=("8", "16")[number // 4 % 2],
        )
    return folder


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "job.py").touch()
    path = tmp_path / "nightly.yaml"
    path.write_text(STUDY)
    return path


# A store.


def test_a_store_has_a_study_for_each_job(tmp_path: Path) -> None:
    logs = make_history(tmp_path / "logs")
    write_log(logs / "other.log", "app-99", name="etl 20250101")
    found = ingest(logs, tmp_path / "history.results", settings=[r"rows=--rows (\d+)"])
    assert [(one.study, one.job, one.n_runs) for one in found.tables] == [("job", "job", 8), ("etl", "etl", 1)]
    data = api.load_data(tmp_path / "history.results", study="job")
    assert data.dataset.factors == ("executors", "rows", "spark.sql.shuffle.partitions")
    assert data.dataset.responses == ("total_s", "time_s", "core_hours")
    assert all(run.is_ingested for run in data.dataset.observations)
    assert data.taken_as == (("data-size", "rows"),)  # the rest is known, and not guessed
    with pytest.raises(StoreError, match="2 studies") as caught:
        api.load_data(tmp_path / "history.results")
    assert "`study=`" in caught.value.hint


def test_ingesting_into_a_store_twice_changes_nothing(tmp_path: Path) -> None:
    logs, store = make_history(tmp_path / "logs"), tmp_path / "history.sqlite"
    ingest(logs, store)
    before = api.load_data(store).dataset
    assert {log.taken for log in ingest(logs, store).logs} == {"unchanged"}
    assert api.load_data(store).dataset == before


def test_a_log_in_progress_enters_a_store_when_it_has_ended(tmp_path: Path) -> None:
    log, store = tmp_path / "a.log", tmp_path / "history"
    write_log(log, "app-1", has_ended=False)
    assert ingest(log, store).logs[0].taken == "in progress"
    write_log(log, "app-1")
    assert ingest(log, store).logs[0].taken == "new"
    assert len(api.load_data(store, table=api.TableOptions("executors")).dataset.observations) == 1


def test_an_ingested_run_comes_back_from_a_store_as_it_went_in(tmp_path: Path) -> None:
    origin = LogOrigin("j", "a.log", 2**40, True, {"spark.x": "y"})
    run = Observation({"rows": "7"}, {}, Outcome.OOM, "why", started_at=1.5, run_id="a/1", origin=origin)
    store = open_store(tmp_path / "s", create=True)
    store.keep_ingested("j", {"workload": ""}, [run])
    store.keep_ingested("j", {"workload": ""}, [run])
    assert store.ingested("j") == (run,)
    assert store.observations("j") == ()
    store.drop_ingested("j", ["a/1"])
    assert store.ingested("j") == ()
    store.close()


def test_a_job_that_gets_another_name_moves_to_its_study(tmp_path: Path) -> None:
    log, store = write_log(tmp_path / "a.log", "app-1", name="etl of today"), tmp_path / "history"
    ingest(log, store)
    ingest(log, store, job="^(etl)")
    opened = open_store(store)
    assert {name: len(opened.ingested(name)) for name in opened.study_names()} == {"etl of today": 0, "etl": 1}
    opened.close()


@pytest.mark.parametrize("into", ["runs.cvs", "runs.txt", "logs"])
def test_what_cannot_become_a_store_is_refused(tmp_path: Path, into: str) -> None:
    make_history(tmp_path / "logs", 1)
    with pytest.raises(StudyError, match=r"cannot ingest into|holds other files") as caught:
        ingest(tmp_path / "logs", tmp_path / into)
    assert ".csv" in caught.value.hint


def test_a_store_of_an_older_version_takes_runs(tmp_path: Path) -> None:
    shutil.copy(Path(__file__).parents[1] / "data" / "store-v1.sqlite", tmp_path / "old.sqlite")
    ingest(make_history(tmp_path / "logs"), tmp_path / "old.sqlite")
    assert len(api.load_data(tmp_path / "old.sqlite", study="job").dataset.observations) == 8


def test_runs_that_are_asked_about_differently_keep_what_was_found_before(tmp_path: Path) -> None:
    logs, store = make_history(tmp_path / "logs"), tmp_path / "history"
    ingest(logs, store, settings=[r"part=--(rows)"], price=Price(core_hour=1))
    assert {log.taken for log in ingest(logs, store).logs} == {"unchanged"}
    new = write_log(tmp_path / "new.log", "app-100", command="job.py")
    told = ingest(new, store).logs[0]
    assert (told.status, told.taken) == ("skipped", "")
    assert "does not say part" in told.reason


# A study.


def test_runs_of_a_study_are_found_by_its_own_command_line(study: Path) -> None:
    found = ingest(make_history(study.parent / "logs"), study)
    assert [log.taken for log in found.logs] == ["new"] * 8
    data = api.load_data(study)
    assert len(data.dataset.observations) == 8
    first = data.dataset.observations[0]
    assert dict(first.configuration) == {
        "executors": 1,
        "cores": 4,
        "memory": "2g",
        "spark.sql.shuffle.partitions": 8,
        "rows": 10,
        "jobs": 1,
    }
    # By the price of the study, as its measured runs.
    assert first.responses["cost"] == pytest.approx(2 * first.responses["core_hours"])  # as profile counts what is paid
    assert {log.taken for log in ingest(study.parent / "logs", study).logs} == {"unchanged"}


def test_ingested_runs_count_beside_measured_ones_and_fill_no_trial(study: Path) -> None:
    loaded = api.load_study(study)
    plan = make_plan(loaded)
    store = open_store(study.with_suffix(".results"), create=True)
    store.register(loaded, plan)
    trial = plan.trials[0]
    run_id, _ = store.begin_run("nightly", trial)
    measured = Observation(trial.configuration, {"time_s": 3.0}, position=trial.position, run_id=run_id)
    store.finish_run("nightly", trial, measured)
    ingest(make_history(study.parent / "logs"), study)
    data = api.load_data(study).dataset
    assert [run.is_ingested for run in data.observations] == [False] + [True] * 8
    assert len({run.position for run in data.observations}) == 9
    like = [run.replicate for run in data.observations if run.configuration == trial.configuration]
    assert like == [1, 2]
    assert len(store.pending("nightly", plan)) == len(plan.trials) - 1
    assert store.spent_s("nightly") < 60
    store.close()
    planned = planned_runs(data, plan)
    assert [run.outcome for run in planned].count(NOT_RUN) == len(plan.trials) - 1
    same = api.load_data(study.with_suffix(".results"))  # the store alone knows what the study asks
    assert [run.configuration for run in same.dataset.observations] == [run.configuration for run in data.observations]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("memory: 2g", "memory: 1g"), "memory is 2g, and 1g in the study"),
        (("rows: [10, 20]", "rows: [small, large]"), "rows is 10, and one of small, large in the study"),
        (("cores: 4", "cores: 4\n  spark.memory.fraction: 0.9"), "spark.memory.fraction is 0.6, and 0.9 in the study"),
        (("8, 16]", "8, 16]\n  spark.kryo.pool: [1, 2]"), "does not say spark.kryo.pool: add `settings="),
    ],
)
def test_applications_with_other_settings_are_skipped_with_a_reason(
    study: Path, change: tuple[str, str], reason: str
) -> None:
    study.write_text(STUDY.replace(*change))
    found = ingest(make_history(study.parent / "logs", 1), study)
    assert (found.logs[0].status, found.n_read, found.tables) == ("skipped", 0, ())
    assert reason in found.logs[0].reason
    assert not study.with_suffix(".results").exists()


def test_a_word_where_the_study_has_numbers_is_skipped(study: Path) -> None:
    log = write_log(study.parent / "a.log", "app-1", command="job.py --rows many")
    found = ingest(log, study)
    assert found.logs[0].reason == "rows is 'many', and a number in the study"


def test_a_study_is_about_one_job(study: Path) -> None:
    logs = make_history(study.parent / "logs")
    write_log(logs / "other.log", "app-99", name="etl")
    with pytest.raises(StudyError, match="2 jobs") as caught:
        ingest(logs, study)
    assert "`job='^job$'`" in caught.value.hint
    assert not study.with_suffix(".results").exists()
    chosen = ingest(logs, study, job="^job$")
    assert chosen.tables[0].n_runs == 8
    again = ingest(logs, study)  # it is known by now which job it is
    assert [log.reason for log in again.logs if log.job == "etl"] == ["of another job, 'etl'; the study has 'job'"]


def test_a_study_has_its_own_price(study: Path) -> None:
    with pytest.raises(StudyError, match="its own price"):
        ingest(make_history(study.parent / "logs", 1), study, price=Price(core_hour=1))


# The same application more than once.


def test_the_same_application_in_two_files_is_one_run(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    log = write_log(logs / "app-1", "app-1")
    rolling = logs / "eventlog_v2_app-1"
    rolling.mkdir()
    lines = log.read_bytes().splitlines(keepends=True)
    (rolling / "events_1_app-1").write_bytes(b"".join(lines[:6]))
    (rolling / "events_2_app-1").write_bytes(b"".join(lines[6:]))
    found = ingest(logs, tmp_path / "runs.csv")
    assert [one.taken for one in found.logs] == ["new", "unchanged"]
    assert "the same application as in" in found.logs[1].reason
    assert found.tables[0].n_runs == 1


def test_attempts_of_an_application_are_runs_of_their_own(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for attempt in ("1", "2"):
        write_log(logs / f"app-1_{attempt}", "app-1", attempt=attempt)
    found = ingest(logs, tmp_path / "store")
    assert [one.key for one in found.logs] == ["app-1/1", "app-1/2"]
    assert found.tables[0].n_runs == 2


def test_a_copy_that_was_cut_off_does_not_replace_the_whole(tmp_path: Path) -> None:
    whole = write_log(tmp_path / "whole.log", "app-1")
    cut = write_log(tmp_path / "cut.log", "app-1", has_ended=False)
    ingest(whole, tmp_path / "runs.csv")
    found = ingest(cut, tmp_path / "runs.csv")
    assert found.logs[0].taken == "unchanged"
    assert "a longer log of this application is known" in found.logs[0].reason
    assert found.tables[0].n_runs == 1


def test_a_log_that_has_only_begun_is_no_failure(tmp_path: Path) -> None:
    log = tmp_path / "a.log.inprogress"
    log.write_bytes(b'{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}\n')
    found = ingest(log, tmp_path / "runs.csv")
    assert (found.logs[0].status, found.logs[0].taken) == ("partial", "")


# How they ended.


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        ("java.lang.OutOfMemoryError: Java heap space", "oom"),
        ("Container killed by YARN for exceeding physical memory limits. 2 GB of 2 GB used", "oom"),
        ("is running 5B beyond the 'PHYSICAL' memory limit", "oom"),
        ("termination reason: OOMKilled", "oom"),
        ("ExecutorLostFailure: exited with exit code 137(SIGKILL, possible container OOM)", "lost"),
        ("Container exited with a non-zero exit code 137", "lost"),
        ("java.lang.ArithmeticException: / by zero", "error"),
    ],
)
def test_a_failed_application_is_classified_as_a_measured_run_is(tmp_path: Path, failure: str, outcome: str) -> None:
    log = write_log(tmp_path / "a.log", "app-1")
    result = {"Result": "JobFailed", "Exception": {"Message": failure, "Stack Trace": []}}
    log.write_bytes(log.read_bytes().replace(b'{"Result":"JobSucceeded"}', json.dumps(result).encode()))
    [taken] = read_logs(find_logs(log), LogQuery().observe, processes=1)
    assert taken.made is not None
    assert (taken.made.run.outcome, failure in taken.made.run.cause) == (outcome, True)


# On a cluster.


def test_what_a_cluster_is_asked_and_answers_survives_the_files_between(tmp_path: Path) -> None:
    write_log(tmp_path / "a.log", "app-1")
    (tmp_path / "b.log").write_text("nothing of Spark\n")
    reading = LogQuery((Pattern("rows", r"--rows (\d+)"),), Price(core_hour=0.5))
    assert LogQuery.from_plain(json.loads(json.dumps(reading.as_plain()))) == reading
    taken = list(read_logs(find_logs([tmp_path / "a.log", tmp_path / "b.log"]), reading.observe, processes=1))
    spark_job.write_result(tmp_path / "result.json", taken)
    assert spark_job.read_result(tmp_path / "result.json") == taken


def test_executors_need_little_besides_numpy() -> None:
    listing = (
        "import sys; before = set(sys.modules);"
        "import sparkcast.data.ingest.reading, sparkcast.eventlogs.on_spark;"
        "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)))"
    )
    told = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True).stdout.split()
    assert set(told) <= {"__mp_main__", "msgspec", "numpy", "sparkcast", "typing_extensions"}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--engine", "sparc"), "no engine named 'sparc'"),
        (("--master", "local[2]"), "--master and --conf are for reading on a cluster"),
        (("--setting", r"rows=--rows \d+"), "has no groups"),
        (("--setting", "rows=(a)(b)"), "has 2 groups"),
        (("--setting", "rows=("), "missing )"),
        (("--job", "("), "missing )"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    call: Call, tmp_path: Path, words: tuple[str, ...], problem: str
) -> None:
    write_log(tmp_path / "a.log", "app-1")
    answer = call("ingest", "a.log", "--into", "runs.csv", *words)
    assert answer.code == 2
    assert problem in answer.err


def test_a_master_that_is_not_there_is_exit_code_3_and_loses_nothing(call: Call, tmp_path: Path) -> None:
    write_log(tmp_path / "a.log", "app-1")
    answer = call("ingest", "a.log", "--into", "runs.csv", "--engine", "spark", "--master", "spark://127.0.0.1:1")
    assert answer.code == 3
    assert not (tmp_path / "runs.csv").exists()


def test_an_empty_folder_is_exit_code_3(call: Call, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    answer = call("ingest", "empty", "--into", "runs.csv")
    assert (answer.code, answer.out.strip()) == (3, "There is no log to read.")
