"""Several runners on one study, with engines that play their part."""

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from postgres_support import PostgresServer
from sparkcast import api
from sparkcast.designs import make_plan
from sparkcast.engines import Handle, Submission
from sparkcast.errors import BusyError, RunError, StudyError
from sparkcast.runs import site
from sparkcast.runs.session import hold_results
from sparkcast.store import Store, open_store, results_place, schema
from sparkcast.store.lease import LeaseLostError
from sparkcast.study import Observation, Plan
from tests_support import Call, PlayedEngine

STUDY = """\
study: s
workload: pi
settings: {samples: [1000, 2000, 3000]}
design: {replicates: 2}
spark: {master: played}
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def study(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A study file, whose store is its folder or a server."""
    text = STUDY
    if request.param == "postgresql":
        server: PostgresServer = request.getfixturevalue("postgres")
        text += f"store: {server.new_url()}\n"
    (tmp_path / "s.yaml").write_text(text)
    return tmp_path / "s.yaml"


def _open(study: Path) -> Store:
    loaded = api.load_study(study)
    return open_store(loaded.store or study.with_suffix(".results"), create=not loaded.store)


def _plan(study: Path) -> Plan:
    return make_plan(api.load_study(study))


class _AtOnce(PlayedEngine):
    """Each job waits until so many others run as well."""

    together = threading.Barrier(1)

    def start(self, submission: Submission, log: Path) -> Handle:
        type(self).together.wait(120)
        return super().start(submission, log)


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> list[PlayedEngine]:
    made: list[PlayedEngine] = []

    def make(_: object) -> PlayedEngine:
        made.append(_AtOnce(lambda settings: {"time_s": 1.0}))
        return made[-1]

    monkeypatch.setattr(_AtOnce, "together", threading.Barrier(1))
    monkeypatch.setattr(site, "engine_for", make)
    return made


class _Broken(PlayedEngine):
    def __enter__(self) -> "_Broken":
        raise RunError("no cluster")


def test_three_runners_measure_at_once_and_each_trial_once(
    study: Path, engines: list[PlayedEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_AtOnce, "together", threading.Barrier(3))
    result = api.run(study, runners=3)
    assert (result.finished, result.planned, len(result.new), result.left_out) == (6, 6, 6, ())
    assert sorted(len(engine.ran) for engine in engines if engine.ran) == [2, 2, 2]
    assert any("disturb each other" in note for note in result.notes)
    store = _open(study)
    assert Counter(run.configuration["samples"] for run in store.observations("s")) == {1000: 2, 2000: 2, 3000: 2}
    with store.database.transaction() as connection:
        assert connection.execute(sa.select(schema.claims)).all() == []
        assert connection.execute(sa.select(schema.runners)).all() == []
    store.close()


def test_one_runner_alone_is_told_nothing_of_disturbance(study: Path, engines: list[PlayedEngine]) -> None:
    assert not any("disturb" in note for note in api.run(study, runners=1).notes)


def test_after_runners_have_ended_the_study_is_free(study: Path, engines: list[PlayedEngine]) -> None:
    api.run(study, runners=2)
    assert api.run(study).finished == 6


def test_who_measures_alone_is_not_joined_and_those_who_joined_are_not_shut_out(
    study: Path, engines: list[PlayedEngine]
) -> None:
    place = results_place(api.load_study(study))
    with hold_results(place, "s", "run"), pytest.raises(BusyError, match="another process"):
        api.run(study, runners=1)
    with hold_results(place, "s", "run", together=True):
        with pytest.raises(BusyError):
            api.run(study)
        assert api.run(study, runners=1).finished == 6


def test_one_runner_whose_cluster_does_not_start_leaves_the_trials_to_the_others(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, made = threading.Lock(), list[PlayedEngine]()

    def make(_: object) -> PlayedEngine:
        with lock:
            made.append((_Broken if len(made) == 1 else PlayedEngine)(lambda settings: {"time_s": 1.0}))
            return made[-1]

    monkeypatch.setattr(site, "engine_for", make)
    told: list[str] = []
    assert api.run(study, runners=3, on_progress=lambda progress: told.append(progress.text)).finished == 6
    assert any("ended: no cluster" in text for text in told)


def test_when_all_runners_fail_the_run_fails(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "engine_for", lambda _: _Broken(lambda settings: {}))
    with pytest.raises(RunError, match="no cluster"):
        api.run(study, runners=2)


def test_a_token_stops_all_runners_after_their_trials(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token = api.CancelToken()
    started = threading.Barrier(2, token.cancel)

    class Asking(PlayedEngine):
        def start(self, submission: Submission, log: Path) -> Handle:
            started.wait(120)
            return super().start(submission, log)

    monkeypatch.setattr(site, "engine_for", lambda _: Asking(lambda settings: {"time_s": 1.0}))
    with token:
        result = api.run(study, runners=2)
    assert (result.finished, result.interrupted, len(result.left_out)) == (2, True, 4)
    monkeypatch.setattr(site, "engine_for", lambda _: PlayedEngine(lambda settings: {"time_s": 1.0}))
    assert api.run(study, runners=2, resume=True).finished == 6


def test_what_other_runners_have_spent_counts_for_the_limit_on_the_total_time(
    study: Path, engines: list[PlayedEngine]
) -> None:
    study.write_text(study.read_text() + "limits: {total: 60s}\n")
    spent: list[object] = []

    def spend(progress: object) -> None:
        if getattr(progress, "done", 0) and not spent:
            spent.append(progress)
            store = _open(study)
            with store.database.transaction() as connection:
                connection.execute(schema.runs.update().values(ended_at=schema.runs.c.launched_at + 100.0))
            store.close()

    first = api.run(study, runners=1, on_progress=spend)
    assert 0 < first.finished < 6
    result = api.run(study, runners=3, resume=True)
    assert "limit of 1 min 00 s in total" in result.reason
    assert (result.new, result.finished) == ((), first.finished)


# ---------------------------------------------------------------- claims


@pytest.fixture
def two(study: Path) -> Iterator[tuple[Store, Store]]:
    first, second = _open(study), _open(study)
    first.register(api.load_study(study), _plan(study))
    yield first, second
    first.close()
    second.close()


def _silence(store: Store, *tables: sa.Table) -> None:
    """As when nothing has been heard for as long as a lease."""
    with store.database.engine.begin() as connection:
        for table in tables or (schema.runners,):
            connection.execute(table.update().values(expires_at=1.0))


def test_a_trial_is_claimed_once_and_the_claim_of_the_dead_is_taken_over(study: Path, two: tuple[Store, Store]) -> None:
    first, second = two
    trials = _plan(study).trials
    with first.joining("s"), second.joining("s"):
        mine, others = first.claim(trials), second.claim(trials)
        assert mine is not None
        assert others is not None
        assert mine.key != others.key
        assert second.claim([mine]) is None
        assert second.others_running("s") == 1
        run_id, _ = first.begin_run("s", mine)
        _silence(first)
        again = second.claim([mine])
        assert again is not None
        assert second.running("s") == ()  # what the dead began has an end
        with pytest.raises(LeaseLostError, match="taken over"):
            first.finish_run("s", mine, Observation(mine.configuration, {"time_s": 9.0}, run_id=run_id))
        with pytest.raises(LeaseLostError):
            first.begin_run("s", mine)
        new, _ = second.begin_run("s", again)
        second.finish_run("s", again, Observation(again.configuration, {"time_s": 1.0}, run_id=new))
    [seen] = second.observations("s")
    assert seen.responses == {"time_s": 1.0}


def test_a_silent_runner_goes_on_when_nobody_took_over(study: Path, two: tuple[Store, Store]) -> None:
    first, _ = two
    with first.joining("s"):
        mine = first.claim(_plan(study).trials)
        assert mine is not None
        run_id, _ = first.begin_run("s", mine)
        _silence(first, schema.runners, schema.leases)
        first.finish_run("s", mine, Observation(mine.configuration, {"time_s": 1.0}, run_id=run_id))
    assert len(first.observations("s")) == 1


def test_whoever_measures_alone_later_shuts_out_runners_that_were_silent(study: Path, two: tuple[Store, Store]) -> None:
    first, second = two
    with first.joining("s"):
        mine = first.claim(_plan(study).trials)
        assert mine is not None
        run_id, _ = first.begin_run("s", mine)
        _silence(first, schema.runners, schema.leases)
        with second.holding("s"):
            assert second.close_interrupted("s") == 1
            with pytest.raises(LeaseLostError):
                first.finish_run("s", mine, Observation(mine.configuration, {"time_s": 9.0}, run_id=run_id))


def test_runners_of_several_processes_run_each_trial_once(study: Path, tmp_path: Path) -> None:
    program = tmp_path / "runner.py"
    program.write_text(
        "import sys\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "from sparkcast import api\n"
        "from sparkcast.runs import site\n"
        "from tests_support import PlayedEngine\n"
        "site.engine_for = lambda options: PlayedEngine(lambda settings: {'time_s': 1.0})\n"
        "print(len(api.run(sys.argv[1], resume=True, runners=2).new))\n"
    )
    command = [sys.executable, str(program), str(study), str(Path(__file__).parents[1])]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    made = [int(process.communicate(timeout=300)[0]) for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert sum(made) == 6
    store = _open(study)
    assert len(store.observations("s", include_lost=True)) == 6
    store.close()


def test_a_killed_process_of_this_machine_is_replaced_at_once(study: Path, engines: list[PlayedEngine]) -> None:
    program = (
        "import os, sys; from sparkcast import api; from sparkcast.designs import make_plan\n"
        "from sparkcast.store import open_store\n"
        "study = api.load_study(sys.argv[1]); plan = make_plan(study)\n"
        "store = open_store(study.store or sys.argv[1].replace('.yaml', '.results'), create=not study.store)\n"
        "store.register(study, plan); held = store.joining('s'); held.__enter__()\n"
        "store.begin_run('s', store.claim(plan.trials))\n"
        "os._exit(9)\n"
    )
    assert subprocess.run([sys.executable, "-c", program, str(study)], check=False).returncode == 9
    assert api.run(study, runners=2).finished == 6
    store = _open(study)
    assert store.running("s") == ()
    store.close()


def test_a_number_of_runners_that_is_none_is_refused(study: Path, call: Call) -> None:
    with pytest.raises(StudyError, match="not between 1 and"):
        api.run(study, runners=0)
    assert call("run", study, "--runners", "0").code == 2
