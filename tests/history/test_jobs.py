"""Which runs are one job: by their names, by what they do and when, and by rules of one's own."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast import api
from sparkcast.errors import StudyError
from sparkcast.history import JobHistory, histories_of, history_of
from sparkcast.history.names import job_name, numbered_name
from sparkcast.history.rules import read_rules
from sparkcast.history.shapes import regularity
from sparkcast.store import open_store
from sparkcast.study import AppRecord, Configuration, LogOrigin, Observation, Outcome
from watch_support import DAY_MS, log_lines, write_log

DAY = 86_400.0
LOAD = {"Scan parquet orders": 1, "HashAggregate country": 2, "WriteFiles": 1}
TRAIN = {"Scan parquet features": 1, "Join user": 2, "Window day": 1, "collect at train.py": 3}


def _run(
    begun_s: float, shape: dict[str, int], name: str = "pipeline", outcome: Outcome = Outcome.OK, **told: str
) -> Observation:
    number = f"{begun_s:.3f}"
    given_properties = {key.replace("_", "."): value for key, value in told.items() if key.startswith("spark")}
    record = AppRecord(
        f"app-{number}",
        "",
        name,
        told.get("user", "etl"),
        told.get("queue", "default"),
        "yarn",
        begun_s,
        begun_s,
        begun_s + 60,
        shape=shape,
        properties=given_properties,
    )
    origin = LogOrigin(job_name(name), number, 1, is_complete=outcome is Outcome.OK)
    responses = {"total_s": 60.0, "core_hours": 1.0} if outcome is Outcome.OK else {}
    return Observation(
        Configuration({}), responses, outcome, run_id=f"app-{number}", started_at=begun_s, origin=origin, record=record
    )


def _sizes(found: Iterable[JobHistory]) -> list[int]:
    return sorted(len(one.runs) for one in found)


@pytest.mark.parametrize(
    ("name", "job"),
    [
        ("load_orders_2026-11-03", "load_orders"),
        ("20261103-load", "load"),
        ("scheduled__2026-11-03T00:00:00+00:00.load", "scheduled-load"),
        ("load 1f0c9a77-52ab-4e11-9b0a-0242ac120002", "load"),
        ("load (attempt 2)", "load"),
        ("query 72", "query 72"),
        ("export v2 eu", "export v2 eu"),
        ("20261103", "20261103"),
        ("hourly/2026/11/03/07", "hourly"),
        ("hourly 2026-11-03 23", "hourly"),
        ("[PROD] daily 11/23/2026", "[PROD] daily"),
        ("Nightly (2026-11-03)", "Nightly"),
        ("nightly-Nov-03-2026", "nightly"),
        ("日次集計_2026年11月03日", "日次集計"),
        ("weekly 2026-45", "weekly"),
        ("revenue_2026Q3", "revenue"),
        ("load 07:05:33", "load"),
        ("export 06:00", "export 06:00"),
        ("load-01HF3Z9Q8J2XK4V5W6Y7T8R9PQ", "load"),
        ("etl-1.4.2-20261103", "etl-1.4.2"),
    ],
)
def test_a_name_without_dates_ids_and_counters_is_the_job(name: str, job: str) -> None:
    assert job_name(name) == job


@given(st.text(alphabet="ab_-#. 0123456789", max_size=30))
def test_every_name_leaves_a_job_whatever_it_is(name: str) -> None:
    assert bool(job_name(name)) == bool(numbered_name(name)) == bool(name.strip())
    assert job_name(f"  {name} ") == job_name(name)


def test_two_jobs_of_one_name_that_each_run_daily_are_two() -> None:
    runs = [_run(day * DAY + hour * 3600, shape) for day in range(6) for hour, shape in ((2, LOAD), (14, TRAIN))]
    first, second = histories_of(runs)
    assert _sizes((first, second)) == [6, 6]
    assert {first.name, second.name} == {"pipeline#1", "pipeline#2"}
    assert "recurs at its own interval" in " ".join(second.reasons)
    assert history_of((first, second), second.key) is second


def test_the_key_of_a_job_stays_when_runs_are_added() -> None:
    runs = [_run(day * DAY + hour * 3600, shape) for day in range(9) for hour, shape in ((2, LOAD), (14, TRAIN))]
    early, late = histories_of(runs[:12]), histories_of(runs)
    assert [one.key for one in early] == [one.key for one in late]


def test_a_job_whose_plan_differs_from_day_to_day_is_one() -> None:
    other = {**LOAD, "Join region": 1, "Window day": 1}
    irregular = (0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1)  # as adaptive execution has it
    runs = [_run(day * DAY, other if one else LOAD) for day, one in enumerate(irregular)]
    assert _sizes(histories_of(runs)) == [12]


def test_a_job_that_does_more_on_weekends_is_one() -> None:
    weekend = {**LOAD, "Scan parquet week": 1, "Sort week": 1, "Expand": 2}
    runs = [_run(day * DAY, weekend if day % 7 >= 5 else LOAD) for day in range(28)]
    assert _sizes(histories_of(runs)) == [28]


def test_a_loop_that_runs_more_or_less_often_is_one_job() -> None:
    runs = [_run(day * DAY, {**LOAD, "reduce at train.py": 5 + 13 * day % 40}) for day in range(10)]
    assert _sizes(histories_of(runs)) == [10]


def test_a_new_version_and_other_settings_are_the_same_job() -> None:
    later = {**LOAD, "Join region": 2, "Window day": 1}
    runs = [
        _run(day * DAY, LOAD if day < 6 else later, spark_executor_memory="8g" if day < 9 else "16g")
        for day in range(12)
    ]
    (job,) = histories_of(runs)
    assert any("before and after a change" in reason for reason in job.reasons)


def test_numbers_that_come_again_mean_something_and_counters_do_not() -> None:
    shapes = {1: LOAD, 2: LOAD, 3: LOAD}
    meant = [
        _run(day * DAY + number * 60, shapes[number], f"export_eu_{number}") for day in range(6) for number in shapes
    ]
    assert [one.name for one in histories_of(meant)] == ["export_eu_1", "export_eu_2", "export_eu_3"]
    counted = [_run(day * DAY, LOAD, f"export-{17 + day}") for day in range(6)]
    assert [one.name for one in histories_of(counted)] == ["export"]


def test_a_failed_run_belongs_to_the_job_whose_work_it_began() -> None:
    runs = [_run(day * DAY + hour * 3600, shape) for day in range(6) for hour, shape in ((2, LOAD), (14, TRAIN))]
    failed = _run(6 * DAY + 14 * 3600, {"Scan parquet features": 1}, outcome=Outcome.OOM)
    (job,) = (one for one in histories_of([*runs, failed]) if failed in one.runs)
    assert len(job.runs) == 7
    assert job.runs[0].record is not None
    assert job.runs[0].record.shape == TRAIN


def test_runs_at_no_interval_are_not_regular() -> None:
    assert regularity([0.0, DAY]) is None
    assert regularity([0.0, DAY, 2 * DAY, 3.01 * DAY]) == 1.0
    assert regularity([0.0, 1.0, DAY, 5 * DAY]) < 0.5  # type: ignore[operator]


# ---------------------------------------------------------------- rules


def _rules(folder: Path, text: str) -> Path:
    path = folder / "jobs.yaml"
    path.write_text(text)
    return path


def test_the_first_rule_that_fits_names_the_job_and_its_groups_fill_the_name(tmp_path: Path) -> None:
    path = _rules(
        tmp_path,
        "jobs:\n"
        "  - {job: 'export {country}', name: 'x_(?P<country>[a-z]+)_.*', user: etl}\n"
        "  - {job: rest, queue: '.*'}\n",
    )
    runs = [_run(1.0, LOAD, "x_eu_1"), _run(2.0, TRAIN, "x_eu_2"), _run(3.0, LOAD, "x_us_1"), _run(4.0, LOAD, "y")]
    found = histories_of(runs, rules=read_rules(path))
    assert {one.name: len(one.runs) for one in found} == {"export eu": 2, "export us": 1, "rest": 1}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("jobs: [", "line"),
        ("rules: []", "must have `jobs:`"),
        ("jobs: [1]", "rule 1 is not a mapping"),
        ("jobs: [{job: a, nme: b}]", "unknown key 'nme'"),
        ("jobs: [{name: b}]", "does not name its job"),
        ("jobs: [{job: a}]", "fits every application"),
        ("jobs: [{job: a, name: '('}]", "unterminated|missing"),
        ("jobs: [{job: a, name: 7}]", "not a text"),
        ("jobs: [{job: 'a {b}', name: x}]", "no expression has a group"),
        ("jobs: [{job: a, name: x, split: often}]", "`split` is 'often'"),
        ("jobs: [{job: a, properties: [1]}]", "not a mapping"),
    ],
)
def test_a_rule_that_makes_no_sense_is_named(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(StudyError, match=problem):
        read_rules(_rules(tmp_path, text))


def test_rules_stay_with_the_store_that_was_watched_with_them(tmp_path: Path) -> None:
    write_log(tmp_path / "logs", "app-1", "abc")
    store = tmp_path / "fleet.results"
    path = _rules(tmp_path, "jobs: [{job: nightly, name: 'a.*'}]")
    api.watch(tmp_path / "logs", store, readers=1)
    assert [one.name for one in api.jobs(store, rules=path).jobs] == ["nightly"]
    assert [one.name for one in api.jobs(store).jobs] == ["abc"]
    api.watch(tmp_path / "logs", store, readers=1, rules=path)
    assert [one.name for one in api.jobs(store).jobs] == ["nightly"]


# ---------------------------------------------------------------- what is told of them


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("watched")
    for day in range(6):
        read = 1.0 + 0.3 * day
        lines = log_lines(f"app-{day}", f"nightly_{day + 3}", later_ms=day * DAY_MS, read=read)
        write_log(folder / "logs", f"app-{day}", lines=lines)
    write_log(folder / "logs", "none", lines=log_lines("none", "no input", read=0))
    api.watch(folder / "logs", folder / "fleet.results", readers=1)
    return folder / "fleet.results"


def test_jobs_are_listed_with_runs_input_and_price(watched: Path) -> None:
    from sparkcast.study import Price

    found = {one.name: one for one in api.jobs(watched, price=Price(core_hour=0.5)).jobs}
    assert {name: one.n_runs for name, one in found.items()} == {"nightly": 6, "no input": 1}
    assert found["nightly"].cost == pytest.approx(0.5 * found["nightly"].core_hours)
    assert found["no input"].input_bytes is None
    assert "no log shows what these read" in str(api.jobs(watched))


def test_a_job_is_predicted_at_an_input_with_a_unit_and_says_what_it_ignored(watched: Path) -> None:
    job = api.load_job(watched, "nightly")
    found = api.predict(job, {"input": "2m"}, model="ridge")
    assert dict(found.configuration) == {"input_bytes": 2 * 2**20}
    assert any("weekday, hour and cluster are ignored" in note for note in found.notes)
    as_before = api.predict(job, {}, model="ridge")
    assert any("as in the last run: input_bytes" in note for note in as_before.notes)


def test_a_cluster_is_recommended_for_more_input_by_replaying_the_nearest_log(watched: Path) -> None:
    job = api.load_job(watched, "nightly")
    most = max(int(run.configuration["input_bytes"]) for run in job.dataset.observations)
    usual, more = (api.recommend(job, within_s=3600, fix={"input": size}) for size in (most, 2 * most))
    assert more.chosen.predicted("total_s").value >= usual.chosen.predicted("total_s").value
    assert any("replayed from the event logs" in note for note in more.notes)


def test_a_job_whose_logs_show_no_input_says_so(watched: Path) -> None:
    from sparkcast.errors import NotEnoughDataError

    job = api.load_job(watched, "no input")
    assert any("show nothing read from outside" in note for note in job.notes)
    with pytest.raises(NotEnoughDataError):
        api.predict(job, {"input": "2m"})


def test_what_would_be_read_is_measured_without_what_spark_skips(tmp_path: Path, watched: Path) -> None:
    (tmp_path / "data" / "day=1").mkdir(parents=True)
    (tmp_path / "data" / "day=1" / "part-0").write_bytes(b"x" * 1000)
    (tmp_path / "data" / "_SUCCESS").write_bytes(b"x" * 500)
    found = api.measure_input(tmp_path / "data", api.load_job(watched, "nightly"))
    assert (found.files, found.file_bytes, found.input_bytes) == (1, 1000, 1000)
    with pytest.raises(StudyError, match="no such file"):
        api.measure_input(tmp_path / "dta")
    (tmp_path / "empty").mkdir()
    with pytest.raises(StudyError, match="nothing to read"):
        api.measure_input(tmp_path / "empty")


def test_a_job_that_is_not_there_is_named_with_one_that_is(watched: Path) -> None:
    with pytest.raises(StudyError, match="no job 'nihgtly'") as error:
        api.jobs(watched, job="nihgtly")
    assert "nightly" in error.value.hint
    opened = open_store(watched)
    assert history_of(histories_of(opened), "nightly_3").name == "nightly"
    opened.close()
