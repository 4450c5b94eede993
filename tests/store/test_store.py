import dataclasses
import inspect
import itertools
import json
import shutil
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast.designs import make_plan
from sparkcast.errors import BusyError, NotEnoughDataError, StoreError, StudyChangedError, StudyError
from sparkcast.store import Store, open_store, schema, snapshot
from sparkcast.store.lock import exclusive
from sparkcast.study import (
    Configuration,
    DesignChoice,
    Epoch,
    Factor,
    Fingerprint,
    LogOrigin,
    Observation,
    Outcome,
    Plan,
    Study,
    TaskTotals,
    Trial,
    Utilization,
)

STUDY = Study("s", "pi", (Factor("executors", (1, 2)), Factor("samples", (10, 20))), design=DesignChoice(replicates=2))
PLAN = make_plan(STUDY)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """What is not about files holds for every database."""
    if "store" in metafunc.fixturenames and "tmp_path" not in inspect.signature(metafunc.function).parameters:
        metafunc.parametrize("store", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture
def store(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Store]:
    is_server = getattr(request, "param", "sqlite") == "postgresql"
    target = request.getfixturevalue("postgres").new_url() if is_server else tmp_path / "r"
    made = open_store(target, create=True)
    made.register(STUDY, PLAN)
    yield made
    made.close()


def run(store: Store, trial: Trial, outcome: Outcome = Outcome.OK) -> Observation:
    run_id, artifacts = store.begin_run("s", trial)
    observation = Observation(
        trial.configuration,
        {"time_s": 1.5},
        outcome,
        replicate=trial.replicate,
        position=trial.position,
        curve=(Epoch(1, 0.7, {"accuracy": 0.5}), Epoch(2, 1.5, {"accuracy": 0.8, "loss": 0.1, "throughput": 99.0})),
        utilization=Utilization(50, 1, 2e9, 1e3, 1e4, 7),
        tasks=TaskTotals(1, 2, 3, 0, 2, 0, 1.0, 0.9, 0.1, 0.1, 5, 6, 0, 1.7e9),
        fingerprint=Fingerprint("cpu", 2, 1, "Linux", "3.11", "3.5.9", "17", "embedded"),
        artifacts=artifacts,
        run_id=run_id,
    )
    store.finish_run("s", trial, observation)
    return observation


def test_an_observation_comes_back_as_it_went_in(store: Store) -> None:
    kept = run(store, PLAN.trials[0])
    [found] = store.observations("s")
    assert found == dataclasses.replace(kept, started_at=found.started_at)


def test_a_finished_trial_is_no_longer_pending_and_a_lost_one_is(store: Store) -> None:
    run(store, PLAN.trials[0])
    run(store, PLAN.trials[1], Outcome.LOST)
    run(store, PLAN.trials[2], Outcome.OOM)
    assert [t.position for t in store.pending("s", PLAN)] == [2, 4, 5, 6, 7, 8]
    assert len(store.observations("s", include_lost=True)) == 3


def test_the_database_refuses_to_count_a_trial_twice(store: Store) -> None:
    run(store, PLAN.trials[0])
    with pytest.raises(StoreError, match="contradiction"):
        run(store, PLAN.trials[0])
    assert len(store.observations("s")) == 1


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 7), st.sampled_from(["ok", "lost", "crash"])), max_size=12))
def test_whatever_happens_each_trial_has_at_most_one_final_observation(
    tmp_path_factory: pytest.TempPathFactory, events: list[tuple[int, str]]
) -> None:
    folder = tmp_path_factory.mktemp("store")
    store = open_store(folder, create=True)
    store.register(STUDY, PLAN)
    done: set[str] = set()
    for index, event in events:
        pending = store.pending("s", PLAN)
        assert {t.key for t in PLAN.trials} - {t.key for t in pending} == done
        if not pending:
            break
        trial = pending[index % len(pending)]
        if event == "crash":  # a run was begun, and the process is gone
            store.begin_run("s", trial)
            store.close()
            store = open_store(folder, create=True)
            store.register(STUDY, PLAN)
            assert store.close_interrupted("s") == 1
        else:
            run(store, trial, Outcome(event))
            done |= {trial.key} if event == "ok" else set()
    final = store.observations("s")
    assert len(final) == len(done)
    store.close()


def test_a_changed_study_is_refused_once_it_has_runs(store: Store) -> None:
    changed = dataclasses.replace(STUDY, factors=(Factor("executors", (1, 4)), STUDY.factors[1]))
    store.register(changed, make_plan(changed))  # nothing was run yet: fine
    run(store, make_plan(changed).trials[0])
    with pytest.raises(StudyChangedError, match=r"settings.executors: \[1, 4\] -> \[1, 2\]"):
        store.register(STUDY, PLAN)
    store.register(STUDY, PLAN, allow_changed=True)


def test_readers_see_whole_observations_while_a_writer_goes_on(store: Store, tmp_path: Path) -> None:
    problems: list[str] = []
    stop = threading.Event()

    def read() -> None:
        reader = open_store(tmp_path / "r")
        while not stop.is_set():
            problems.extend("half" for o in reader.observations("s") if o.responses != {"time_s": 1.5} or not o.curve)
        reader.close()

    thread = threading.Thread(target=read)
    thread.start()
    try:
        for trial in PLAN.trials:
            run(store, trial)
    finally:
        stop.set()
        thread.join()
    assert not problems


def test_a_full_disk_is_an_error_with_advice_and_loses_nothing(store: Store, tmp_path: Path) -> None:
    run(store, PLAN.trials[0])
    store.close()
    small = open_store(tmp_path / "r")
    small._database.engine.dispose()
    # SQLite's own limit on the size of a file raises the same SQLITE_FULL as a full disk.
    sa.event.listen(small._database.engine, "connect", lambda c, _: c.execute("PRAGMA max_page_count=1"))
    with pytest.raises(StoreError, match="full") as caught:
        _fill(small)
    assert "resume=True" in caught.value.hint
    small.close()
    assert open_store(tmp_path / "r").observations("s")[0].responses == {"time_s": 1.5}


def _fill(store: Store) -> None:
    for _ in range(200):
        store.begin_run("s", PLAN.trials[1])


def _add_a_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def add_column(connection: sa.Connection) -> None:
        connection.execute(sa.text("ALTER TABLE runs ADD COLUMN note VARCHAR"))

    monkeypatch.setattr(schema, "MIGRATIONS", {schema.VERSION: add_column})
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)


def test_an_older_file_is_brought_up_to_date(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(store, PLAN.trials[0])
    store.close()
    _add_a_version(monkeypatch)
    upgraded = open_store(tmp_path / "r")
    assert len(upgraded.observations("s")) == 1
    with sqlite3.connect(tmp_path / "r" / "store.sqlite") as connection:
        assert connection.execute("SELECT value FROM meta").fetchone() == (str(schema.VERSION),)
        assert "note" in [row[1] for row in connection.execute("PRAGMA table_info(runs)")]


GOLDEN = Path(__file__).parents[1] / "data" / "store-v1.sqlite"


def test_a_store_of_the_first_version_still_opens(tmp_path: Path) -> None:
    stored = open_store(shutil.copy(GOLDEN, tmp_path))
    assert stored.only_study() == "golden"
    assert [o.outcome for o in stored.observations("golden")] == [Outcome.OK, Outcome.TIMEOUT]
    assert stored.begin_search("golden", {"seed": 1}) == 1
    stored.close()


def test_a_store_of_the_second_version_gets_the_names_and_times_of_today(tmp_path: Path) -> None:
    stored = open_store(shutil.copy(GOLDEN.with_name("store-v2.sqlite"), tmp_path))
    first, second = stored.observations("s")
    assert [first.responses["time_s"], first.responses["work_s"]] == pytest.approx([12.73, 4.44])
    assert second.responses == {"time_s": 4.44, "accuracy": 0.9, "total_s": 20.0}  # it left no event log
    assert first.artifacts.startswith("runs/0001")
    assert first.utilization is not None
    assert first.requested is None
    assert stored.definition("s")["design"]["center_points"] == 1
    stored.close()


def test_ingested_runs_of_the_second_version_come_back_as_observations(tmp_path: Path) -> None:
    path = shutil.copy(GOLDEN.with_name("store-v2-ingested.sqlite"), tmp_path)
    with sqlite3.connect(path) as connection:
        connection.row_factory = sqlite3.Row
        before = {row["key"]: dict(row) for row in connection.execute("SELECT * FROM ingested")}
    stored = open_store(path)
    [event_log], [driver_log] = stored.ingested("sparkcast pi"), stored.ingested("lenet-batch064")
    assert stored.observations("sparkcast pi") == ()
    stored.close()
    assert {event_log.run_id, driver_log.run_id} == set(before)
    for run in (event_log, driver_log):
        old = before[run.run_id]
        assert run.origin == LogOrigin(old["job"], old["log"], old["size"], True, json.loads(old["properties"]))
        assert run.configuration == Configuration(json.loads(old["settings"]))
        assert run.responses == json.loads(old["responses"])
        assert [dataclasses.asdict(epoch) for epoch in run.curve] == json.loads(old["curve"])
        assert (run.outcome.value, run.cause, run.started_at or 0.0) == (old["outcome"], old["cause"], old["started_s"])
    assert event_log.fingerprint == Fingerprint(spark="3.5.9")
    assert driver_log.fingerprint is None
    with sqlite3.connect(path) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    assert "ingested" not in names
    assert "one_final_observation_per_trial" in names


def test_a_store_that_cannot_be_brought_up_to_date_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copy(GOLDEN.with_name("store-v2-ingested.sqlite"), tmp_path))

    def dump() -> list[str]:
        with sqlite3.connect(path) as connection:
            return list(connection.iterdump())

    before = dump()

    def fail(connection: sa.Connection) -> None:
        migrate(connection)
        raise StoreError("the disk is full")

    migrate = schema.MIGRATIONS[2]
    monkeypatch.setitem(schema.MIGRATIONS, 2, fail)
    with pytest.raises(StoreError, match="disk is full"):
        open_store(path)
    assert dump() == before


def test_the_same_application_may_be_a_run_of_two_studies(tmp_path: Path) -> None:
    run = Observation({"rows": 7}, {"time_s": 1.0}, run_id="app-1", origin=LogOrigin("j", "a.log", 1, True))
    store = open_store(tmp_path / "s", create=True)
    for study in ("a", "b"):
        store.keep_ingested(study, {"workload": ""}, [run])
    store.drop_ingested("a", ["app-1"])
    assert (store.ingested("a"), store.ingested("b")) == ((), (run,))
    store.close()


def test_a_run_on_another_cluster_than_asked_for_comes_back_with_what_it_got_and_leaves_its_trial_open(
    store: Store,
) -> None:
    trial = PLAN.trials[0]
    run_id, artifacts = store.begin_run("s", trial)
    got = {**trial.configuration, "executors": 9}
    store.finish_run(
        "s",
        trial,
        Observation(
            *(got, {"time_s": 1.0}),
            run_id=run_id,
            artifacts=artifacts,
            requested=trial.configuration,
            leaves_open=True,
        ),
    )
    [found] = store.observations("s")
    assert (found.configuration, found.requested) == (Configuration(got), trial.configuration)
    assert trial in store.pending("s", PLAN)
    run(store, trial)  # and is run once the cluster gives what is asked for
    assert trial not in store.pending("s", PLAN)
    assert len(store.observations("s")) == 2


def test_a_store_from_before_there_were_searches_is_read_where_it_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = Path(shutil.copy(GOLDEN, tmp_path))
    before = archive.read_bytes()
    _as_seen_by_a_colleague(monkeypatch)
    stored = open_store(archive)
    assert len(stored.observations("golden")) == 2
    stored.close()
    assert archive.read_bytes() == before


def test_a_trial_is_found_again_by_its_settings_and_a_new_one_comes_last(store: Store) -> None:
    known = PLAN.trials[2]
    assert store.add_trial("s", known.configuration, known.replicate) == Trial(
        known.configuration, known.replicate, known.position
    )
    made = store.add_trial("s", Configuration({"executors": 3, "samples": 10}), 1)
    assert made.position == len(PLAN.trials) + 1
    assert store.add_trial("s", Configuration({"samples": 10, "executors": 3}), 1).position == made.position


def _search_run(store: Store, search_id: int, trial: Trial) -> str:
    run_id, _ = store.begin_run("s", trial, search_id=search_id)
    return run_id


def test_a_search_goes_on_only_when_asked_to_and_unchanged(store: Store) -> None:
    first = store.begin_search("s", {"seed": 1})
    assert store.begin_search("s", {"seed": 1}) == first  # nothing was run yet
    _search_run(store, first, PLAN.trials[0])
    with pytest.raises(StudyError, match=r"has already started \(runs started: 1\)") as caught:
        store.begin_search("s", {"seed": 1})
    assert "resume=True" in caught.value.hint
    assert store.begin_search("s", {"seed": 1}, resume=True) == first
    with pytest.raises(StudyChangedError, match="seed: 1 -> 2"):
        store.begin_search("s", {"seed": 2}, resume=True)
    second = store.begin_search("s", {"seed": 2}, allow_changed=True)
    assert second != first
    assert store.search_runs(second) == ()


def test_the_runs_of_a_search_are_told_from_others_and_timed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run(store, PLAN.trials[0])
    monkeypatch.setattr(time, "time", itertools.count(1000.0).__next__)
    monkeypatch.setattr("sparkcast.store.clock.monotonic", itertools.count(10.0).__next__)
    search_id = store.begin_search("s", {"seed": 1})
    stopped = _search_run(store, search_id, PLAN.trials[1])
    store.abandon_run(stopped)
    killed = _search_run(store, search_id, PLAN.trials[1])
    found = store.search_runs(search_id)
    assert [(r.run_id, r.configuration) for r in found] == [
        (stopped, PLAN.trials[1].configuration),
        (killed, PLAN.trials[1].configuration),
    ]
    assert [r.duration_s for r in found] == [1, 0]


def test_a_store_in_a_folder_that_cannot_be_written_is_still_read(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(store, PLAN.trials[0])
    store.close()
    _as_seen_by_a_colleague(monkeypatch)
    before = sorted(p.name for p in (tmp_path / "r").iterdir())
    reader = open_store(tmp_path / "r")
    assert len(reader.observations("s")) == 1
    with pytest.raises(StoreError, match="readonly"):
        reader.begin_run("s", PLAN.trials[1])
    reader.close()
    assert sorted(p.name for p in (tmp_path / "r").iterdir()) == before


def _as_seen_by_a_colleague(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing may be written. Root, who runs these tests in containers, may write wherever the file system lets it."""
    monkeypatch.setattr("os.access", lambda path, mode: False)


def test_a_colleague_sees_a_running_study_whose_runs_are_still_in_the_log(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(store, PLAN.trials[0])
    file, log = tmp_path / "r" / "store.sqlite", tmp_path / "r" / "store.sqlite-wal"
    assert log.stat().st_size > 0  # the writer is alive, and nothing has moved into the database yet
    alone = sqlite3.connect(f"{file.as_uri()}?immutable=1", uri=True)
    assert alone.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    alone.close()
    _as_seen_by_a_colleague(monkeypatch)
    before = {p: p.read_bytes() for p in (tmp_path / "r").iterdir()}
    for made in (1, 2):
        reader = open_store(tmp_path / "r")
        assert len(reader.observations("s")) == made
        with pytest.raises(StoreError, match=rf"{file}.*readonly"):
            reader.begin_run("s", PLAN.trials[2])
        reader.close()
        assert {p: p.read_bytes() for p in (tmp_path / "r").iterdir()} == before
        run(store, PLAN.trials[made])
        before = {p: p.read_bytes() for p in (tmp_path / "r").iterdir()}
    store.close()


def test_a_study_that_was_killed_is_read_with_its_log_and_without_its_shared_memory(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(store, PLAN.trials[0])
    (tmp_path / "archive").mkdir()
    for name in ("store.sqlite", "store.sqlite-wal"):
        shutil.copy(tmp_path / "r" / name, tmp_path / "archive")
    store.close()
    _as_seen_by_a_colleague(monkeypatch)
    reader = open_store(tmp_path / "archive")
    assert len(reader.observations("s")) == 1
    reader.close()


def test_a_colleague_sees_whole_observations_while_the_log_moves_into_the_database(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _as_seen_by_a_colleague(monkeypatch)
    stop = threading.Event()

    def write() -> None:
        connection = sqlite3.connect(tmp_path / "r" / "store.sqlite", timeout=10)
        connection.execute("PRAGMA synchronous=OFF")
        number = 0
        while not stop.is_set():
            number += 1  # two rows that must agree, far apart in the file
            with connection:
                connection.execute("INSERT OR REPLACE INTO meta VALUES ('a', ?)", [str(number)])
                connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [f"filler {number % 50}", "x" * 5000])
                connection.execute("INSERT OR REPLACE INTO meta VALUES ('z', ?)", [str(number)])
            if number % 7 == 0:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            time.sleep(0.001)
        connection.close()

    writer = threading.Thread(target=write)
    writer.start()
    seen = []
    try:
        for _ in range(30):
            reader = open_store(tmp_path / "r")
            with reader._database.engine.connect() as connection:
                assert connection.execute(sa.text("PRAGMA integrity_check")).scalar() == "ok"
                pair = connection.execute(sa.text("SELECT value FROM meta WHERE key IN ('a', 'z')")).scalars().all()
            reader.close()
            assert len(set(pair)) <= 1
            seen.append(int(pair[0]) if pair else 0)
    finally:
        stop.set()
        writer.join()
    assert seen == sorted(seen)
    assert seen[-1] > 0


def test_a_store_that_never_stands_still_is_an_error_and_not_empty(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _as_seen_by_a_colleague(monkeypatch)
    monkeypatch.setattr(snapshot, "_PAUSE_S", 0)
    counter = itertools.count()
    monkeypatch.setattr(Path, "read_bytes", lambda path: b"%032d" % next(counter))
    with pytest.raises(StoreError, match="changes faster than it can be read"):
        open_store(tmp_path / "r")


def test_a_log_that_may_not_be_read_is_an_error_and_not_an_empty_answer(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _as_seen_by_a_colleague(monkeypatch)
    read_bytes = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name.endswith("-wal"):
            raise PermissionError(13, "Permission denied")
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(StoreError, match="Permission denied") as caught:
        open_store(tmp_path / "r")
    assert "owner" in caught.value.hint


def test_an_older_store_that_cannot_be_written_is_read_as_well(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(store, PLAN.trials[0])
    store.close()
    _add_a_version(monkeypatch)
    _as_seen_by_a_colleague(monkeypatch)
    reader = open_store(tmp_path / "r")
    assert len(reader.observations("s")) == 1
    reader.close()


@pytest.mark.parametrize("name", ["a?b", "a%20b", "a#b", "a b", "é&c=d", "file:x?mode=memory"])
@pytest.mark.parametrize("is_writable", [True, False])
def test_results_are_found_again_whatever_their_folder_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, is_writable: bool
) -> None:
    folder = tmp_path / name / "s.results"
    made = open_store(folder, create=True)
    made.register(STUDY, PLAN)
    run(made, PLAN.trials[0])
    made.close()
    assert sorted(p.name for p in tmp_path.iterdir()) == [name]
    assert [p.name for p in folder.iterdir()] == ["store.sqlite"]
    if not is_writable:
        _as_seen_by_a_colleague(monkeypatch)
    found = open_store(folder)
    assert len(found.observations("s")) == 1
    found.close()


def test_a_lock_is_free_again_after_its_holder(tmp_path: Path) -> None:
    with exclusive(tmp_path / "lock"), pytest.raises(BusyError, match="pid"), exclusive(tmp_path / "lock"):
        pass
    with exclusive(tmp_path / "lock"):
        pass


def test_opening_nothing_says_there_are_no_results(tmp_path: Path) -> None:
    with pytest.raises(NotEnoughDataError, match="no results"):
        open_store(tmp_path)


def test_a_plan_may_grow_and_keeps_what_it_has(store: Store) -> None:
    run(store, PLAN.trials[0])
    larger = dataclasses.replace(STUDY, design=DesignChoice(replicates=3))
    store.register(larger, make_plan(larger), allow_changed=True)
    pending = store.pending("s", make_plan(larger))
    assert len(pending) == 11
    assert isinstance(make_plan(larger), Plan)


def test_a_run_is_running_until_it_ends_or_is_given_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third, *_ = PLAN.trials
    monkeypatch.setattr(time, "time", itertools.count(1000.0).__next__)
    abandoned, _ = store.begin_run("s", first)
    store.begin_run("s", second)
    assert store.running("s") == ((first.configuration, 1000.0), (second.configuration, 1001.0))
    store.abandon_run(abandoned)
    run(store, third)
    assert [configuration for configuration, _ in store.running("s")] == [second.configuration]
    assert store.running("another") == ()
    store.close_interrupted("s")
    assert store.running("s") == ()


# ---------------------------------------------------------------- what a run that nobody ended has spent


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr("sparkcast.store.store.time.time", lambda: now[0])
    monkeypatch.setattr("sparkcast.store.clock.monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize(
    ("seen_at", "resumed_at", "spent_s"),
    [
        ([1005.0, 1010.0, 1015.2], 5000.0, 20.2),  # until it was last seen, and the interval in which it ended
        ([], 5000.0, 5.0),  # never seen: killed within the first interval
        ([1005.0], 1006.0, 6.0),  # it has certainly not gone on after now
        ([1005.0], 900.0, 5.0),  # the clock was set back
    ],
)
def test_a_run_that_was_killed_is_charged_until_it_was_last_seen(
    store: Store, clock: list[float], seen_at: list[float], resumed_at: float, spent_s: float
) -> None:
    search_id = store.begin_search("s", {"seed": 1})
    run_id, _ = store.begin_run("s", PLAN.trials[0], search_id=search_id)
    for clock[0] in seen_at:
        store.note_running(run_id)
    assert [launched for _, launched in store.running("s")] == [1000.0]
    clock[0] = resumed_at
    assert store.close_interrupted("s") == 1
    assert store.spent_s("s") == pytest.approx(spent_s)
    assert [r.duration_s for r in store.search_runs(search_id)] == [pytest.approx(spent_s)]
    assert store.close_interrupted("s") == 0
    assert [t.position for t in store.pending("s", PLAN)] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_what_a_run_is_seen_to_spend_is_not_counted_twice_when_it_ends(store: Store, clock: list[float]) -> None:
    run_id, artifacts = store.begin_run("s", PLAN.trials[0])
    clock[0] += 5
    store.note_running(run_id)
    assert store.spent_s("s") == 5.0
    clock[0] += 2
    trial = PLAN.trials[0]
    store.finish_run("s", trial, Observation(trial.configuration, {}, artifacts=artifacts, run_id=run_id))
    assert store.spent_s("s") == 7.0
    assert store.running("s") == ()


def test_a_clock_set_back_makes_no_run_negative_and_extends_no_limit(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall, passed = [10_000.0], [50.0]
    monkeypatch.setattr("sparkcast.store.store.time.time", lambda: wall[0])
    monkeypatch.setattr("sparkcast.store.clock.monotonic", lambda: passed[0])
    for trial in PLAN.trials[:2]:
        run_id, artifacts = store.begin_run("s", trial)
        wall[0], passed[0] = wall[0] - 3600, passed[0] + 12
        store.note_running(run_id)
        store.finish_run("s", trial, Observation(trial.configuration, {}, artifacts=artifacts, run_id=run_id))
    assert store.spent_s("s") == pytest.approx(24.0)


def test_a_negative_run_of_an_older_store_extends_no_limit(store: Store, tmp_path: Path) -> None:
    run(store, PLAN.trials[0])
    connection = sqlite3.connect(tmp_path / "r" / "store.sqlite")
    with connection:
        connection.execute("UPDATE runs SET ended_at = launched_at - 3600")
    connection.close()
    assert store.spent_s("s") == 0.0


@pytest.mark.parametrize("happens", ["removed", "moved", "replaced"])
def test_a_store_notices_that_its_file_is_gone(store: Store, tmp_path: Path, happens: str) -> None:
    folder = tmp_path / "r"
    folder.rename(tmp_path / "elsewhere")
    if happens == "removed":
        shutil.rmtree(tmp_path / "elsewhere")
    if happens == "replaced":
        open_store(folder, create=True).close()
    with pytest.raises(StoreError, match=f"was .*{happens}.* while sparkcast was using it") as caught:
        store.begin_run("s", PLAN.trials[0])
    assert "resume=True" in caught.value.hint
    with pytest.raises(StoreError, match=happens):
        store.pending("s", PLAN)


def test_results_are_for_their_owner_alone(tmp_path: Path) -> None:
    open_store(tmp_path / "deep" / "r", create=True).close()
    assert stat.S_IMODE((tmp_path / "deep" / "r").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "deep" / "r" / "store.sqlite").stat().st_mode) == 0o600
    open_store(tmp_path / "one.sqlite", create=True).close()
    assert stat.S_IMODE((tmp_path / "one.sqlite").stat().st_mode) == 0o600


def test_a_folder_that_others_may_read_stays_so(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir(0o755)
    open_store(tmp_path / "r", create=True).close()
    assert stat.S_IMODE((tmp_path / "r").stat().st_mode) == 0o755
