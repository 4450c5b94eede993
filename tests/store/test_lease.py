"""Who may write a study in a database that several share."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from postgres_support import PostgresServer
from sparkcast.designs import make_plan
from sparkcast.errors import BusyError, StoreError, StudyError
from sparkcast.store import Store, databases, lease, open_store, schema
from sparkcast.store.lease import Lease, LeaseLostError
from sparkcast.study import Configuration, DesignChoice, Factor, LogOrigin, Observation, Outcome, Study

STUDY = Study("s", "pi", (Factor("executors", (1, 2)),), design=DesignChoice(replicates=2))
PLAN = make_plan(STUDY)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'team.sqlite'}"
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.new_url()


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    store = open_store(url)
    store.register(STUDY, PLAN)
    yield store
    store.close()


@pytest.fixture
def other(url: str, store: Store) -> Iterator[Store]:
    store = open_store(url)
    yield store
    store.close()


def _end_lease(store: Store) -> None:
    """As when its time is over."""
    with store._database.engine.begin() as connection:
        connection.execute(sa.text("UPDATE leases SET expires_at = 1"))


def _seen(store: Store, run_id: str) -> Observation:
    return Observation(
        PLAN.trials[0].configuration, {"time_s": 1.5}, Outcome.OK, run_id=run_id, replicate=1, position=1
    )


def test_a_study_that_is_held_is_refused_to_others_and_they_learn_who_has_it(store: Store, other: Store) -> None:
    who = r"another process \(.* on .*, pid \d+\)"
    with store.holding("s"), pytest.raises(BusyError, match=who), other.holding("s"):
        pass
    with other.holding("s"):
        pass


def test_studies_are_held_apart(store: Store, other: Store) -> None:
    with store.holding("s"), other.holding("another"):
        pass


def test_the_late_write_of_a_holder_that_was_taken_for_dead_is_refused(store: Store, other: Store) -> None:
    with store.holding("s"):
        run_id, _ = store.begin_run("s", PLAN.trials[0])
        _end_lease(store)
        with other.holding("s"):
            assert other.close_interrupted("s") == 1
            with pytest.raises(LeaseLostError, match="taken over"):
                store.finish_run("s", PLAN.trials[0], _seen(store, run_id))
            with pytest.raises(LeaseLostError):
                store.note_running(run_id)
            again, _ = other.begin_run("s", PLAN.trials[0])
            other.finish_run("s", PLAN.trials[0], _seen(other, again))
    [found] = store.observations("s")
    assert found.run_id == again


def test_a_holder_that_was_silent_goes_on_when_nobody_took_over(store: Store) -> None:
    with store.holding("s"):
        run_id, _ = store.begin_run("s", PLAN.trials[0])
        _end_lease(store)
        store.finish_run("s", PLAN.trials[0], _seen(store, run_id))
    assert len(store.observations("s")) == 1


def test_a_process_of_this_machine_that_was_killed_holds_nothing_any_more(store: Store, url: str) -> None:
    program = (
        "import os, sys; from sparkcast.store import open_store; store = open_store(sys.argv[1]); "
        "store.holding('s').__enter__(); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", program, url], check=False).returncode == 9
    with store.holding("s"):
        pass


def test_a_process_of_another_machine_is_believed_until_its_lease_ends(store: Store) -> None:
    with store._database.engine.begin() as connection:
        elsewhere = {"holder": "b on c, pid 1", "process": "x y 1 1"}
        connection.execute(schema.leases.insert().values(study="s", token=4, expires_at=4e9, **elsewhere))
    with pytest.raises(BusyError, match="b on c"), store.holding("s"):
        pass
    _end_lease(store)
    with store.holding("s"):
        pass


def test_a_lease_is_renewed_while_nothing_is_written(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    renewed = threading.Event()
    renew = lease.renew

    def noticed(connection: sa.Connection, held: Lease) -> None:
        renew(connection, held)
        renewed.set()

    monkeypatch.setattr(lease, "renew", noticed)
    monkeypatch.setattr(lease, "_RENEWALS", 600)
    with store.holding("s"):
        assert renewed.wait(120)


def test_writers_who_begin_at_the_same_time_keep_all_their_runs(url: str) -> None:
    def write(number: int) -> None:
        store = open_store(url)
        for repeat in range(3):
            origin = LogOrigin("nightly", f"log-{number}-{repeat}", 1, True)
            settings = Configuration({"executors": number})
            run = Observation(settings, {"time_s": 1.0}, Outcome.OK, run_id=f"{number}-{repeat}", origin=origin)
            store.keep_ingested("nightly", {}, [run])
        store.close()

    open_store(url).close()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    store = open_store(url)
    assert len(store.ingested("nightly")) == 24
    store.close()


def test_tables_are_made_once_by_those_who_come_first(postgres: PostgresServer) -> None:
    url = postgres.new_url()
    with ThreadPoolExecutor(6) as pool:
        for store in pool.map(lambda _: open_store(url), range(6)):
            store.close()


def test_a_server_that_restarts_during_a_run_loses_nothing(postgres: PostgresServer) -> None:
    store = open_store(postgres.new_url())
    store.register(STUDY, PLAN)
    with store.holding("s"):
        run_id, _ = store.begin_run("s", PLAN.trials[0])
        postgres.restart()
        store.finish_run("s", PLAN.trials[0], _seen(store, run_id))
    assert [run.run_id for run in store.observations("s")] == [run_id]
    store.close()


def test_a_reader_whose_server_restarts_in_the_middle_reads_again(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(postgres.new_url())
    store.register(STUDY, PLAN)
    read, times = Store._shared, list[int]()

    def restarting(self: Store, *arguments: Any) -> Any:
        times.append(1)
        if len(times) == 1:
            postgres.restart()
        return read(self, *arguments)

    monkeypatch.setattr(Store, "_shared", restarting)
    assert store.observations("s") == ()
    assert len(times) == 2
    store.close()


def test_a_server_that_is_starting_up_is_waited_for(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    url, connect, refused = postgres.new_url(), sa.Engine.connect, list[int]()

    def starting(self: sa.Engine) -> Any:
        if len(refused) < 2:
            refused.append(1)
            said = psycopg.OperationalError("connection failed: FATAL:  the database system is starting up")
            raise sa.exc.OperationalError("", {}, said)
        return connect(self)

    monkeypatch.setattr(sa.Engine, "connect", starting)
    open_store(url).close()
    assert len(refused) == 2


def test_a_file_that_others_keep_busy_for_longer_than_sqlite_waits_is_written_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path / "s.sqlite", create=True)
    with store._database.engine.connect() as connection:  # the only one of the pool
        connection.exec_driver_sql("PRAGMA busy_timeout=0")
    writer = sqlite3.connect(tmp_path / "s.sqlite", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    judge = databases.is_unreachable

    def free(error: sa.exc.DBAPIError, engine: sa.Engine) -> bool:
        if writer.in_transaction:
            writer.execute("COMMIT")
        return judge(error, engine)

    monkeypatch.setattr(databases, "is_unreachable", free)
    store.register(STUDY, PLAN)
    assert not writer.in_transaction
    writer.close()
    assert store.study_names() == ("s",)
    store.close()


def test_a_write_whose_answer_was_lost_is_not_done_twice(store: Store) -> None:
    run_id, _ = store.begin_run("s", PLAN.trials[0])
    store.finish_run("s", PLAN.trials[0], _seen(store, run_id))
    store.finish_run("s", PLAN.trials[0], _seen(store, run_id))
    assert store._insert_run("s", PLAN.trials[0], run_id, None).endswith("-1")
    assert len(store.observations("s")) == 1


def test_a_server_that_cannot_be_reached_is_said_at_once(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError, match="postgresql") as caught:
        open_store("postgresql://127.0.0.1:1/none")
    assert "server runs" in caught.value.hint


def test_a_database_that_does_not_exist_is_said_with_what_to_do(postgres: PostgresServer) -> None:
    url = postgres.new_url().replace("/postgres?", "/no_such?")
    with pytest.raises(StoreError, match="does not exist") as caught:
        open_store(url)
    assert "createdb" in caught.value.hint


@pytest.mark.parametrize("url", ["postgresql://u:hunter2@h/d", "postgresql://h/d?password=hunter2&user=u"])
def test_a_password_in_a_url_that_others_can_see_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(StudyError, match="password") as caught:
        databases.require_no_password(url)
    assert "hunter2" not in str(caught.value)
    assert "PGPASSFILE" in caught.value.hint


def test_a_failing_server_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StoreError) as caught:
        open_store("postgresql://u:hunter2@127.0.0.1:1/d")
    assert "hunter2" not in str(caught.value)
    assert "postgresql://u:***@127.0.0.1:1/d" in str(caught.value)
