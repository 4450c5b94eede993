"""Stores as a whole: brought up to date, copied, checked and pruned."""

import shutil
import sqlite3
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from postgres_support import PostgresServer
from sparkcast import api
from sparkcast.designs import make_plan
from sparkcast.errors import BusyError, StoreError, StudyChangedError, StudyError
from sparkcast.store import Store, databases, open_store, schema
from sparkcast.store.watched import WatchedLogRow, store_rules
from sparkcast.study import (
    AppRecord,
    Configuration,
    DesignChoice,
    Factor,
    JobRun,
    LogOrigin,
    Observation,
    Outcome,
    Sharing,
    Study,
)
from sparkcast.study.series import HostSeries, RunSeries
from tests_support import Call

STUDY = Study("s", "pi", (Factor("executors", (1, 2)),), design=DesignChoice(replicates=2))
PLAN = make_plan(STUDY)
DATA = Path(__file__).parents[1] / "data"
NewStore = Callable[[str], str]


@pytest.fixture(params=["sqlite", "postgresql"])
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store that is empty yet."""
    if request.param == "sqlite":
        return str(tmp_path / "elsewhere.results")
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.new_url()


def _measure(store: Store, trial: Any, outcome: Outcome = Outcome.OK, **more: Any) -> str:
    run_id, artifacts = store.begin_run("s", trial)
    responses = {"time_s": 1.0 + trial.position} if outcome is Outcome.OK else {}
    seen = Observation(trial.configuration, responses, outcome, run_id=run_id, artifacts=artifacts, **more)
    host = HostSeries("h", "n", 2, 2**30, 100, {"at_ms": (1, 2, 4)})
    store.finish_run("s", trial, seen, RunSeries((host,), ()))
    return run_id


def _fill(target: str | Path) -> None:
    """Something of everything that a store can hold."""
    store = open_store(target, create="://" not in str(target))
    store.register(STUDY, PLAN)
    search = store.begin_search("s", {"searcher": "guided"})
    job = JobRun(1, Configuration({"executors": 1}), 0.0, 0.5, 1.0, 2.0, {"time_s": 1.0}, artifacts="runs/1/job-1")
    _measure(store, PLAN.trials[0], jobs=(job, replace(job, number=2)), sharing=Sharing("FIFO", 2))
    _measure(store, PLAN.trials[1], Outcome.LOST, cause="gone")
    _measure(store, PLAN.trials[1])
    store.reopen("s", [PLAN.trials[1]])
    _measure(store, PLAN.trials[1])
    run_id, _ = store.begin_run("s", PLAN.trials[2], search_id=search)
    store.abandon_run(run_id)
    origin = LogOrigin("nightly", "log", 1, True)
    record = AppRecord("app-1", "", "nightly", "u", "", "", None, 1.0, 2.0)
    night = Observation({"rows": 5}, {"time_s": 9.0}, run_id="app-1", origin=origin, started_at=5.0, record=record)
    store.keep_ingested("nightly", {}, [night])
    store_rules(store, [{"job": "nightly", "name": "night.*"}])
    with store.database.transaction() as connection:
        for log, study in (("/logs/app-1", "nightly"), ("/logs/broken", "")):
            seen = WatchedLogRow(log, "1", 10, "taken" if study else "skipped", "", study, "app-1" if study else "")
            connection.execute(schema.watched_logs.insert().values(asdict(seen)))
        connection.execute(schema.cluster_speeds.insert().values(cluster="embedded", measured_s=1.0, nodes=[]))
    store.close()


def _known(target: str | Path) -> dict[str, object]:
    """All that a store tells, whatever its database calls rows."""
    store = open_store(target)
    try:
        search = store.begin_search("s", {"searcher": "guided"}, resume=True)
        runs = store.observations("s", include_lost=True)
        return {
            "runs": runs,
            "series": [store.series(run.run_id) for run in runs],
            "ingested": store.ingested("nightly", with_records=True),
            "pending": store.pending("s", PLAN),
            "search": [(run.configuration, run.duration_s) for run in store.search_runs(search)],
            "spent": pytest.approx(store.spent_s("s")),
            "definition": store.definition("s"),
        }
    finally:
        store.close()


# ---------------------------------------------------------------- copy


def test_a_copy_tells_the_same_and_copied_again_nothing_changes(tmp_path: Path, elsewhere: str) -> None:
    _fill(tmp_path / "here.results")
    first = api.copy_store(tmp_path / "here.results", elsewhere)
    assert {one.study: (one.runs, one.new) for one in first.studies} == {"s": (4, 4), "nightly": (1, 1)}
    assert _known(elsewhere) == _known(tmp_path / "here.results")
    again = api.copy_store(tmp_path / "here.results", elsewhere)
    assert [(one.new, one.changed) for one in again.studies] == [(0, 0), (0, 0)]
    assert api.check_store(elsewhere).ok


def test_a_copy_there_and_back_is_the_store_it_came_from(tmp_path: Path, elsewhere: str) -> None:
    _fill(tmp_path / "here.results")
    api.copy_store(tmp_path / "here.results", elsewhere)
    api.copy_store(elsewhere, tmp_path / "back.results")
    assert _known(tmp_path / "back.results") == _known(tmp_path / "here.results")
    assert [one.changed for one in api.copy_store(elsewhere, tmp_path / "here.results").studies] == [0, 0]


def test_every_table_is_copied_or_left_on_purpose(tmp_path: Path, elsewhere: str) -> None:
    _fill(tmp_path / "here.results")
    api.copy_store(tmp_path / "here.results", elsewhere)
    left = {"meta", "leases", "runners", "claims"}
    counts = [_counts(tmp_path / "here.results"), _counts(elsewhere)]
    for table in {*counts[0]} - left:
        assert counts[0][table] == counts[1][table], table
    used = {table for table, count in counts[0].items() if count}
    assert used | left >= {table.name for table in schema.metadata.sorted_tables}


def _counts(target: str | Path) -> dict[str, int]:
    store = open_store(target)
    with store.database.transaction() as connection:
        counts = {
            table.name: connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
            for table in schema.metadata.sorted_tables
        }
    store.close()
    return counts


def test_what_comes_later_is_copied_later_and_repeated_runs_take_the_place_of_earlier_ones(
    tmp_path: Path, elsewhere: str
) -> None:
    here = tmp_path / "here.results"
    _fill(here)
    store = open_store(here)
    run_id, _ = store.begin_run("s", PLAN.trials[3])
    found = api.copy_store(here, elsewhere).studies
    assert {one.study: one.under_way for one in found} == {"s": 1, "nightly": 0}
    seen = Observation(PLAN.trials[3].configuration, {"time_s": 2.0}, run_id=run_id)
    store.finish_run("s", PLAN.trials[3], seen)
    store.reopen("s", [PLAN.trials[0]])
    _measure(store, PLAN.trials[0])
    store.close()
    api.copy_store(here, elsewhere)
    assert _known(elsewhere) == _known(here)


def test_only_the_study_that_was_named_is_copied(tmp_path: Path, elsewhere: str) -> None:
    _fill(tmp_path / "here.results")
    api.copy_store(tmp_path / "here.results", elsewhere, studies=["nightly"])
    store = open_store(elsewhere)
    assert store.study_names() == ("nightly",)
    store.close()
    with pytest.raises(StoreError, match="no study 'nihgtly'") as caught:
        api.copy_store(tmp_path / "here.results", elsewhere, studies=["nihgtly"])
    assert "nightly" in caught.value.hint


def test_a_trial_with_a_result_in_both_stores_is_refused_and_nothing_is_changed(tmp_path: Path, elsewhere: str) -> None:
    for target in (str(tmp_path / "here.results"), elsewhere):
        store = open_store(target, create="://" not in target)
        store.register(STUDY, PLAN)
        _measure(store, PLAN.trials[0])
        store.close()
    with pytest.raises(StoreError, match="measured in both stores: 1 trial"):
        api.copy_store(tmp_path / "here.results", elsewhere)
    assert _counts(elsewhere)["observations"] == 1


def test_attempts_of_both_stores_at_one_trial_are_numbered_anew(tmp_path: Path, elsewhere: str) -> None:
    for target, outcome in ((str(tmp_path / "here.results"), Outcome.OK), (elsewhere, Outcome.LOST)):
        store = open_store(target, create="://" not in target)
        store.register(STUDY, PLAN)
        _measure(store, PLAN.trials[0], outcome, cause="")
        store.close()
    for _ in range(2):
        api.copy_store(tmp_path / "here.results", elsewhere)
    store = open_store(elsewhere)
    assert sorted(run.outcome for run in store.observations("s", include_lost=True)) == [Outcome.LOST, Outcome.OK]
    store.close()


def test_another_study_of_the_same_name_is_not_overwritten(tmp_path: Path, elsewhere: str) -> None:
    _fill(tmp_path / "here.results")
    store = open_store(elsewhere, create="://" not in elsewhere)
    store.register(replace(STUDY, workload="mnist-training"), PLAN)
    store.close()
    with pytest.raises(StudyChangedError, match="another one in the target"):
        api.copy_store(tmp_path / "here.results", elsewhere)


def test_a_study_that_is_run_in_the_target_is_not_written(tmp_path: Path, postgres: PostgresServer) -> None:
    _fill(tmp_path / "here.results")
    url = postgres.new_url()
    store = open_store(url)
    with store.holding("s"), pytest.raises(BusyError, match="being run"):
        api.copy_store(tmp_path / "here.results", url, studies=["s"])
    store.close()


def test_a_store_is_not_copied_onto_itself(tmp_path: Path) -> None:
    _fill(tmp_path / "here.results")
    with pytest.raises(StudyError, match="onto itself"):
        api.copy_store(tmp_path / "here.results", tmp_path / "here.results" / "store.sqlite")


# ---------------------------------------------------------------- migrate


def _old_server(file: Path, postgres: PostgresServer) -> str:
    """A database with the tables and rows of an old file."""
    url = postgres.new_url()
    source, target = sa.create_engine(f"sqlite:///{file}"), databases.engine_of(url)
    metadata = sa.MetaData()
    metadata.reflect(source)
    for column in (column for table in metadata.tables.values() for column in table.columns):
        column.type = column.type.as_generic()
    with source.connect() as reading, target.begin() as writing:
        metadata.create_all(writing)
        for table in metadata.sorted_tables:
            rows = [dict(row) for row in reading.execute(table.select()).mappings()]
            if rows:
                writing.execute(table.insert(), rows)
    source.dispose()
    target.dispose()
    return url


@pytest.mark.parametrize("name", ["store-v1.sqlite", "store-v2.sqlite", "store-v2-ingested.sqlite"])
def test_an_old_database_of_a_team_is_converted_on_request_and_tells_what_the_file_tells(
    name: str, tmp_path: Path, postgres: PostgresServer
) -> None:
    path = Path(shutil.copy(DATA / name, tmp_path))
    url = _old_server(path, postgres)
    with pytest.raises(StoreError, match="schema version") as caught:
        open_store(url)
    assert "api.migrate_store(STORE)" in caught.value.hint
    done = api.migrate_store(url)
    assert (done.before, done.now) == (int(name[7]), schema.VERSION)
    server, file = open_store(url), open_store(path)
    for study in file.study_names():
        assert server.observations(study) == file.observations(study)
        assert server.ingested(study) == file.ingested(study)
        assert server.definition(study) == file.definition(study)
    server.close()
    file.close()
    assert api.migrate_store(url).before == schema.VERSION
    assert api.check_store(url).ok


@pytest.mark.parametrize("name", ["store-v1.sqlite", "store-v2.sqlite", "store-v2-ingested.sqlite"])
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_an_old_store_gets_the_tables_of_a_new_one(
    name: str, kind: str, tmp_path: Path, postgres: PostgresServer
) -> None:
    """Alembic compares them with what the code says."""
    path = Path(shutil.copy(DATA / name, tmp_path))
    target: str | Path = path if kind == "sqlite" else _old_server(path, postgres)
    api.migrate_store(target)
    store = open_store(target)
    with store.database.transaction() as connection:
        found = compare_metadata(MigrationContext.configure(connection), schema.metadata)
    store.close()
    assert [one for one in found if one[0] in ("add_table", "remove_table", "add_column", "remove_column")] == []


def test_nobody_may_measure_while_a_database_is_converted(tmp_path: Path, postgres: PostgresServer) -> None:
    url = postgres.new_url()
    store = open_store(url)
    with store.holding("s"), pytest.raises(BusyError, match="study 's' of this store is being run"):
        api.migrate_store(url)
    store.close()


def test_a_database_that_cannot_be_converted_stays_as_it_was(
    tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = _old_server(Path(shutil.copy(DATA / "store-v2-ingested.sqlite", tmp_path)), postgres)

    def fail(connection: sa.Connection) -> None:
        convert(connection)
        raise StoreError("the disk is full")

    convert = schema.MIGRATIONS[2]
    monkeypatch.setitem(schema.MIGRATIONS, 2, fail)
    with pytest.raises(StoreError, match="disk is full"):
        api.migrate_store(url)
    monkeypatch.undo()
    assert api.migrate_store(url).before == 2


# ---------------------------------------------------------------- check


def _change(target: str, *statements: str) -> None:
    """As somebody does who does not ask sparkcast."""
    engine = databases.engine_of(target if "://" in target else f"sqlite:///{target}/store.sqlite")
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
        else:
            connection.exec_driver_sql("SET session_replication_role = replica")
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("DELETE FROM trials WHERE key = (SELECT min(key) FROM trials)", "name trials that are not there"),
        ("DELETE FROM studies WHERE name = 'nightly'", "name studies that are not there"),
        ("DELETE FROM runs WHERE state = 'superseded'", "name runs that are not there"),
        ("DELETE FROM observations WHERE outcome = 'lost'", "runs ended and have no result"),
        ("DELETE FROM observations WHERE study = 'nightly'", "records of applications that are not there"),
        ("UPDATE observations SET outcome = 'fine' WHERE outcome = 'lost'", "results cannot be read"),
        ("UPDATE trials SET replicate = 77 WHERE position = 1", "trials are not what their keys say"),
        ("UPDATE run_series SET packed = %s", "rows of run_series cannot be read"),
        ("UPDATE app_records SET packed = %s", "rows of app_records cannot be read"),
        ("ALTER TABLE runs DROP COLUMN artifacts", "table runs lacks columns"),
    ],
)
def test_damage_is_found_and_named(statement: str, problem: str, elsewhere: str) -> None:
    _fill(elsewhere)
    assert api.check_store(elsewhere).findings == ()
    junk = "'samples1x'::bytea" if "://" in elsewhere else "x'6162'"
    _change(elsewhere, statement.replace("%s", junk))
    found = api.check_store(elsewhere)
    assert not found.ok
    assert problem in " ".join(one.problem for one in found.findings)


def test_folders_without_a_row_and_rows_without_a_folder_are_told(tmp_path: Path, call: Call) -> None:
    _fill(tmp_path / "s.results")
    store = open_store(tmp_path / "s.results")
    for run in store.observations("s", include_lost=True):
        (tmp_path / "s.results" / run.artifacts).mkdir(parents=True)
    store.close()
    for folder in (tmp_path / "s.results" / "runs").iterdir():
        if not folder.name.endswith("-1"):
            shutil.rmtree(folder)
    (tmp_path / "s.results" / "runs" / "0099-ffffffff-1").mkdir()
    answer = call("store", "check", "s.results")
    assert answer.code == 2
    assert "1 folders belong to no run: runs/0099-ffffffff-1" in answer.out
    assert "runs have no logs and output here" in answer.out
    pruned = api.prune_store(tmp_path / "s.results", orphans=True, confirmed=True)
    assert (pruned.runs, pruned.orphans) == (0, 1)
    assert call("store", "check", "s.results").code == 0


def test_a_file_that_is_damaged_is_said_to_be(tmp_path: Path, call: Call) -> None:
    _fill(tmp_path / "s.results")
    file = tmp_path / "s.results" / "store.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    pages = bytearray(file.read_bytes())
    pages[3 * 4096 :] = b"\xff" * (len(pages) - 3 * 4096)
    file.write_bytes(bytes(pages))
    answer = call("store", "check", "s.results")
    assert answer.code == 2
    assert "damaged" in answer.out + answer.err


# ---------------------------------------------------------------- prune


def _age(target: str, days: float) -> None:
    then = time.time() - days * 86400
    _change(target, f"UPDATE runs SET launched_at = {then} + attempt, ended_at = {then} + attempt")


def test_attempts_that_count_for_nothing_go_and_results_stay(elsewhere: str) -> None:
    _fill(elsewhere)
    _age(elsewhere, 100)
    before = open_store(elsewhere)
    runs = before.observations("s")
    before.close()
    shown = api.prune_store(elsewhere, older_than="90d", studies=["s"])
    assert (shown.done, shown.runs) == (False, 3)  # lost, superseded, cut short
    assert _counts(elsewhere)["runs"] == 5
    done = api.prune_store(elsewhere, older_than="90d", studies=["s"], confirmed=True)
    assert done.studies == shown.studies
    store = open_store(elsewhere)
    assert store.observations("s", include_lost=True) == runs
    store.close()
    assert api.check_store(elsewhere).ok


def test_nothing_young_is_removed(elsewhere: str) -> None:
    _fill(elsewhere)
    assert api.prune_store(elsewhere, older_than="1d", studies=["s"], confirmed=True).runs == 0


def test_the_newest_result_of_each_settings_stays_and_giving_up_the_last_needs_a_name(elsewhere: str) -> None:
    store = open_store(elsewhere, create="://" not in elsewhere)
    store.register(STUDY, PLAN)
    for trial in PLAN.trials:
        _measure(store, trial)
    store.close()
    _age(elsewhere, 100)
    found = api.prune_store(elsewhere, keep=1, confirmed=True)
    assert [(one.results, one.reopened, one.is_last) for one in found.studies] == [(2, 2, False)]
    with pytest.raises(StudyError, match="last results of every study"):
        api.prune_store(elsewhere, keep=0, confirmed=True)
    found = api.prune_store(elsewhere, keep=0, studies=["s"])
    assert [(one.results, one.is_last) for one in found.studies] == [(2, True)]
    assert "no result of it would be left" in str(found)


def test_a_failure_is_given_up_before_a_success(tmp_path: Path) -> None:
    store = open_store(tmp_path / "s.results", create=True)
    store.register(STUDY, PLAN)
    same = [trial for trial in PLAN.trials if trial.configuration["executors"] == 1]
    good = _measure(store, same[0])
    _measure(store, same[1], Outcome.ERROR, cause="no")
    store.close()
    api.prune_store(tmp_path / "s.results", keep=1, confirmed=True)
    store = open_store(tmp_path / "s.results")
    assert [run.run_id for run in store.observations("s")] == [good]
    store.close()


def test_a_run_goes_with_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "s.results"
    store = open_store(folder, create=True)
    store.register(STUDY, PLAN)
    _measure(store, PLAN.trials[0], Outcome.LOST, cause="")
    [lost] = store.observations("s", include_lost=True)
    store.close()
    (folder / lost.artifacts).mkdir(parents=True)
    (folder / lost.artifacts / "driver.log").write_text("x" * 1000)
    shown = api.prune_store(folder, older_than=0)
    assert (shown.folders, shown.bytes, shown.done) == (1, 1000, False)
    api.prune_store(folder, older_than=0, confirmed=True)
    assert list((folder / "runs").iterdir()) == []


def test_a_study_that_is_being_run_is_not_pruned(tmp_path: Path) -> None:
    from sparkcast.store.lock import exclusive

    _fill(tmp_path / "s.results")
    with exclusive(tmp_path / "s.results" / "lock"), pytest.raises(BusyError):
        api.prune_store(tmp_path / "s.results", older_than=0, confirmed=True)


def test_it_has_to_be_said_what_is_removed(call: Call, tmp_path: Path) -> None:
    _fill(tmp_path / "s.results")
    answer = call("store", "prune", "s.results")
    assert answer.code == 2
    assert "--older-than 90d" in answer.err
    assert call("store", "prune", "s.results", "--older-than", "soon").code == 2
    answer = call("store", "prune", "s.results", "--keep", "1")
    assert "would be removed" in answer.out
    assert "--yes" in answer.out


def test_a_password_in_the_url_of_a_store_is_refused(call: Call) -> None:
    answer = call("store", "check", "postgresql://u:hunter2@h/d")
    assert answer.code == 2
    assert "hunter2" not in answer.err
