"""The time of a run is the one its user waits for, and what it costs is what its executors held."""

from pathlib import Path

import pytest

from eventlogs_support import write_log
from sparkcast import api
from sparkcast.data.sources import timed_by
from sparkcast.errors import StudyError
from sparkcast.study import Dataset, Kind, Observation, Price, Response, Study, Vocabulary
from sparkcast.study.application import BILLED_TIME, CORE_HOURS, GIB_HOURS, TIME, TOTAL_TIME
from sparkcast.study.derive import billed, make_dataset, run_cost
from sparkcast.study.names import usual_vocabulary

COMMAND = """\
study: own
workload: command
settings:
  executors: [1, 2]
  rows: [10, 20]
command:
  application: job.py
  arguments: [--rows, "{rows}"]
"""
STREAM = "arrivals: {at: [0s, 30s]}\n"


def load(tmp_path: Path, text: str) -> Study:
    (tmp_path / "job.py").touch()
    path = tmp_path / "own.yaml"
    path.write_text(text)
    return api.load_study(path)


# ---------------------------------------------------------------- which time


@pytest.mark.parametrize(
    "more", ["", "responses: [time_s]\n", "responses: [time_s, cost]\nprice: {core_hour: 1}\n"], ids=repr
)
def test_the_time_of_a_job_of_ones_own_is_from_submission_to_exit(tmp_path: Path, more: str) -> None:
    words = load(tmp_path, COMMAND + more).vocabulary
    assert words.time == TOTAL_TIME
    assert words.response(TOTAL_TIME).span == "from submission to exit"
    assert words.response(TIME).span == "from the first to the last Spark job"


def test_a_time_that_the_job_prints_is_not_the_time_of_its_runs(tmp_path: Path) -> None:
    block = "  responses: {train_s: 'trained in ([0-9.]+)'}\n"
    for more in ("", "responses: [time_s, train_s]\n"):
        study = load(tmp_path, COMMAND + block + more)
        assert study.vocabulary.response("train_s").kind is Kind.TIME
        assert study.vocabulary.time == TOTAL_TIME


def test_another_time_is_taken_where_the_study_says_so(tmp_path: Path) -> None:
    assert load(tmp_path, COMMAND + "roles: {time_s: time}\n").vocabulary.time == TIME


def test_a_study_of_ones_own_job_tells_of_both_times(tmp_path: Path) -> None:
    assert [response.name for response in load(tmp_path, COMMAND).responses] == [TOTAL_TIME, TIME]


def test_the_time_of_a_stream_is_that_of_its_jobs_and_not_of_all_of_them(tmp_path: Path) -> None:
    words = load(tmp_path, COMMAND + STREAM).vocabulary
    assert words.time == "response_s"
    assert words.response("response_s").span.startswith("from submission to exit")


def test_a_built_in_workload_keeps_the_time_that_it_declares() -> None:
    words = api.load_study("examples/mllib-logistic-regression.yaml").vocabulary
    assert words.time == TIME
    assert words.response("work_s").span == "as the workload times itself"


def test_runs_that_have_only_one_time_are_judged_by_that(tmp_path: Path) -> None:
    study = load(tmp_path, COMMAND)
    data = make_dataset(study, (Observation({"executors": 1, "rows": 10}, {TIME: 3.0}),))
    assert (study.vocabulary.time, data.vocabulary.time) == (TOTAL_TIME, TIME)


@pytest.mark.parametrize(
    ("columns", "time"),
    [(("time_s", "total_s"), "total_s"), (("duration", "total_time"), "total_time"), (("minutes", "gc_s"), "minutes")],
)
def test_of_the_times_of_a_table_the_total_is_taken(columns: tuple[str, ...], time: str) -> None:
    assert usual_vocabulary([], columns).time == time
    assert usual_vocabulary([], reversed(columns)).time == time


def test_core_hours_are_no_time() -> None:
    assert usual_vocabulary([], [CORE_HOURS, GIB_HOURS]).time is None


def write_table(tmp_path: Path) -> Path:
    lines = [f"{e},{10 / e + r},{10 / e + r + 8}" for r in (0, 0.5) for e in (1, 2, 4, 8)]
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(["executors,time_s,total_s", *lines]))
    return path


def test_a_table_with_two_times_says_which_is_taken_and_how_to_take_the_other(tmp_path: Path) -> None:
    table = write_table(tmp_path)
    understood = api.load_data(table).understood
    assert understood is not None
    [told] = [line for line in understood.lines() if "responses" in line]
    assert "total_s (time, s, taken as the time of a run; or `roles={'time_s': 'time'}`)" in told
    other = api.load_data(table, table=api.TableOptions(roles={"time_s": "time"}))
    assert other.dataset.vocabulary.time == TIME


def test_a_deadline_is_about_the_time_that_response_names(tmp_path: Path) -> None:
    data = timed_by(api.load_data(write_table(tmp_path)), ["time_s"])
    found = api.recommend(data, within_s=7, model="ridge")
    assert [limit.response for limit in found.limits] == [TIME]


# ---------------------------------------------------------------- --response with a study


def ingested(tmp_path: Path) -> Path:
    """A study with runs read from logs: their jobs take 1 to 2 s, all of them 3 s from start to end."""
    study = tmp_path / "own.yaml"
    load(tmp_path, COMMAND + "price: {core_hour: 2, gib_hour: 0.5}\nroles: {rows: data-size}\n")
    logs = tmp_path / "logs"
    logs.mkdir()
    for n in range(8):
        write_log(
            logs / f"{n}.log",
            f"app-{n}",
            command=f"job.py --rows {10 + 10 * (n % 2)}",
            n_executors=1 + n // 2 % 2,
            job_end_ms=2000 + 100 * n,
        )
    text = study.read_text().replace("settings:\n", "settings:\n  cores: 4\n  memory: 2g\n")
    study.write_text(text)
    api.ingest(logs, study, processes=1)
    return study


def test_a_response_that_is_asked_of_a_study_is_the_one_that_is_told(tmp_path: Path) -> None:
    study = ingested(tmp_path)
    data = api.load_data(study, table=api.TableOptions(responses=["time_s", "double = 2 * time_s"]))
    assert data.dataset.responses == ("time_s", "double")


def test_a_response_that_a_study_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no response 'tim_s'") as caught:
        api.load_data(ingested(tmp_path), table=api.TableOptions(responses=["tim_s"]))
    assert "time_s" in caught.value.hint


# ---------------------------------------------------------------- what it costs


def test_a_run_costs_what_profile_says_was_paid(tmp_path: Path) -> None:
    data = api.load_data(ingested(tmp_path)).dataset
    costs = sorted(run.responses["cost"] for run in data.observations)
    paid = []
    for log in (tmp_path / "logs").iterdir():
        held = api.profile(log).core_hours
        paid.append(2 * held.paid + 0.5 * held.gib_hours)
    assert costs == pytest.approx(sorted(paid))


def test_machines_are_paid_for_from_submission_to_exit() -> None:
    words = usual_vocabulary(["machine_type"], [TIME, TOTAL_TIME])
    price, run = Price(machine_hours={"big": 36.0}), {TIME: 60.0, TOTAL_TIME: 100.0, CORE_HOURS: 5.0}
    assert run_cost(run, {"machine_type": "big"}, price, words) == pytest.approx(1.0)
    alone = words.only([TIME, "machine_type"])
    assert run_cost({TIME: 60.0}, {"machine_type": "big"}, price, alone) == pytest.approx(0.6)
    assert run_cost({}, {"machine_type": "big"}, price, words) is None


def made(executors: int, n: int) -> Observation:
    held_h = executors * (30 + 60 / executors + n) / 3600
    time_s = 60 / executors + n
    return Observation(
        {"executors": executors, "cores": 1}, {TIME: time_s, TOTAL_TIME: time_s + 40, CORE_HOURS: held_h}
    )


def test_a_predicted_cost_is_what_measured_costs_are(tmp_path: Path) -> None:
    runs = tuple(made(executors, n) for n in (0, 1) for executors in (1, 2, 4, 8))
    data = api.Data(Dataset(("executors",), runs, responses=(TOTAL_TIME,)))
    chosen = api.recommend(data, minimize="cost", price=Price(core_hour=3.6), model="ridge").chosen
    measured = [3.6 * run.responses[CORE_HOURS] for run in runs if run.configuration["executors"] == 1]
    assert dict(chosen.configuration) == {"executors": 1}
    assert chosen.predicted("cost").value == pytest.approx(sum(measured) / 2, rel=0.03)


def test_what_is_billed_costs_the_price_of_its_settings() -> None:
    words = Vocabulary(responses=(Response(TOTAL_TIME, kind=Kind.TIME),))
    data, name = billed(Dataset(("executors",), (made(2, 0),), vocabulary=words), Price(core_hour=1))
    assert name == BILLED_TIME
    assert data.observations[0].responses[BILLED_TIME] == pytest.approx(60.0)  # two executors, held for 60 s each
