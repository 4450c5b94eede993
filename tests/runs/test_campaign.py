"""Running a plan, with an engine that plays its part in milliseconds: limits, losses, hopeless studies."""

import json
import math
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

import pytest
import sqlalchemy as sa

from postgres_support import PostgresServer
from sparkcast.designs import make_plan
from sparkcast.engines import ClusterCapacity, ClusterFacts, Exit, Handle, SparkJob, Submission
from sparkcast.engines._family import ChildProcess
from sparkcast.engines.handle import wait_for
from sparkcast.errors import RunError, StoreError, StudyError
from sparkcast.runs import placement, session, site
from sparkcast.runs.campaign import CampaignResult, run_campaign
from sparkcast.runs.session import Progress
from sparkcast.store import ResultsPlace, Store, open_store
from sparkcast.store.lease import LeaseLostError
from sparkcast.study import Configuration, DesignChoice, Factor, Limits, Outcome, SparkOptions, Study
from sparkcast.workloads import Shape
from sparkcast.workloads.pi import MonteCarloPi

# Plays the driver: reports as the n-th entry of the script says, then ends.
_DRIVER = """\
import json, os, sys, time
report, act = sys.argv[1], json.loads(sys.argv[2])
time.sleep(act.get("sleep", 0))
while "until" in act and not os.path.exists(act["until"]):
    time.sleep(0.01)
with open(report, "a") as file:
    for line in act.get("lines", []):
        file.write(json.dumps({"at": time.time(), **line}) + "\\n")
sys.exit(act.get("exit", 0))
"""
Act = Mapping[str, object]
OK: Act = {"lines": [{"kind": "started"}, {"kind": "result", "responses": {"time_s": 1.0}}]}
LOST: Act = {"exit": 137}
BROKEN: Act = {"exit": 1, "lines": [{"kind": "failed", "error": "ValueError", "message": "no", "cause": ""}]}


class PlayedEngine:
    """Does what its script says, trial by trial; the last entry again and again."""

    def __init__(self, script: list[Act], troubles: list[str] | None = None) -> None:
        self.script, self.troubles = list(script), troubles or []
        self.restarts = self.looks = self.notes_of_life = 0
        self.started: list[ChildProcess] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def capacity(self, shapes: Sequence[Shape]) -> ClusterCapacity | None:
        return None

    def defaults(self) -> Mapping[str, str]:
        return {}

    def warm_up(self, job: SparkJob) -> None: ...

    def submission(self, job: SparkJob) -> Submission:
        act = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return Submission((sys.executable, "-c", _DRIVER, job.arguments[1], json.dumps(dict(act))), {})

    def start(self, submission: Submission, log: Path) -> Handle:
        with log.open("wb") as output:
            process = subprocess.Popen(submission.argv, stdout=output, stderr=output, start_new_session=True)
            self.started.append(ChildProcess(process, log))
        return self.started[-1]

    def facts(self) -> ClusterFacts:
        return ClusterFacts("3.5.9", "17", "played")

    def health_problem(self) -> str:
        self.looks += 1
        return self.troubles.pop(0) if self.troubles else ""

    def restart(self) -> None:
        self.restarts += 1


STUDY = Study(
    "s",
    "pi",
    (Factor("executors", (1, 2)),),
    Configuration({"samples": 1000}),
    design=DesignChoice(replicates=2),
    spark=SparkOptions("played"),
)


def run(
    monkeypatch: pytest.MonkeyPatch, folder: Path, engine: PlayedEngine, study: Study = STUDY, *, resume: bool = False
) -> tuple[CampaignResult, list[Progress]]:
    monkeypatch.setattr(site, "engine_for", lambda options: engine)
    seen: list[Progress] = []
    place = ResultsPlace.local(folder)
    return run_campaign(study, make_plan(study), place, resume=resume, on_progress=seen.append), seen


def _troubles(result: CampaignResult) -> list[str]:
    """The notes of a session, but for the event logs that a played run does not leave."""
    return [note for note in result.notes if "left no event log" not in note]


def test_every_trial_is_run_once_with_progress_and_time_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    result, seen = run(monkeypatch, tmp_path / "r", PlayedEngine([OK]))
    assert (result.finished, result.planned, result.left_out) == (4, 4, ())
    assert [p.done for p in seen if p.is_note and "event log" not in p.text] == [1, 2, 3, 4]
    assert all(p.remaining_s is not None for p in seen if 0 < p.done < 4)


def test_a_lost_run_is_tried_again_and_its_loss_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    result, _ = run(monkeypatch, tmp_path / "r", PlayedEngine([LOST, LOST, OK]))
    assert result.finished == 4
    assert "was lost (attempt 2 of 3)" in " ".join(result.notes)
    store = open_store(tmp_path / "r")
    attempts = [o.outcome for o in store.observations("s", include_lost=True)]
    assert attempts == [Outcome.LOST, Outcome.LOST, Outcome.OK, Outcome.OK, Outcome.OK, Outcome.OK]
    store.close()


def test_a_trial_lost_three_times_ends_the_run_and_resume_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(RunError, match=r"trial 2 .* was lost 3 times") as caught:
        run(monkeypatch, tmp_path / "r", PlayedEngine([OK, LOST]))
    assert "resume=True" in caught.value.hint
    result, _ = run(monkeypatch, tmp_path / "r", PlayedEngine([OK]), resume=True)
    assert (result.finished, len(result.new)) == (4, 3)


def test_a_cluster_in_trouble_is_started_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(session, "_LOOK_S", 0.0)
    engine = PlayedEngine([{"sleep": 60}, OK], troubles=["", *["the master ended"] * 4])
    result, _ = run(monkeypatch, tmp_path / "r", engine)
    assert result.finished == 4
    assert engine.restarts == 1
    assert "was lost (attempt 1 of 3): the master ended" in " ".join(result.notes)


def test_trouble_that_passes_loses_no_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Engine(PlayedEngine):
        def health_problem(self) -> str:
            if len(self.troubles) == 1:
                (tmp_path / "go").touch()  # only now may the run end
            return super().health_problem()

    monkeypatch.setattr(session, "_LOOK_S", 0.0)
    act: Act = {**OK, "until": str(tmp_path / "go")}
    engine = Engine([act], troubles=["", "refused", "", "refused", "refused", ""])
    result, _ = run(monkeypatch, tmp_path / "r", engine)
    assert (result.finished, engine.restarts, _troubles(result)) == (4, 0, [])
    assert engine.troubles == []


def test_a_cluster_is_looked_after_rarely_and_trouble_believed_when_it_stays() -> None:
    engine = PlayedEngine([OK], troubles=["refused", "refused", "", "refused", "refused", "refused", "refused"])
    lookout = session._Lookout(engine)
    told = [(second, problem) for second in range(60) if (problem := lookout.health_problem(second))]
    assert told == [(30, "refused"), (35, "refused")]
    assert engine.looks == 11  # in the 1,200 rounds of the wait loop that a minute has


def test_nobody_looks_after_the_cluster_in_a_short_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(session, "_LOOK_S", math.inf)  # shorter than that, that is
    engine = PlayedEngine([OK])
    run(monkeypatch, tmp_path / "r", engine)
    assert engine.looks == 4  # before each trial


# ---------------------------------------------------------------- killed together with sparkcast


class Killed(BaseException):
    """Nothing of sparkcast gets to do anything more."""


def _run_until_killed(monkeypatch: pytest.MonkeyPatch, folder: Path, study: Study) -> None:
    """The first run is noted to go on twice, then all is over."""
    engine = PlayedEngine([{"sleep": 60}])
    noted = Store.note_running

    def note_then_die(store: Store, run_id: str) -> None:
        noted(store, run_id)
        engine.notes_of_life += 1
        if engine.notes_of_life == 2:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(session, "SEEN_EVERY_S", 0.0)
        patch.setattr(Store, "note_running", note_then_die)
        with pytest.raises(Killed):
            run(patch, folder, engine, study)
    for process in engine.started:
        process.stop()


def test_a_run_killed_with_sparkcast_counts_against_the_total_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    now = [1000.0]
    monkeypatch.setattr("sparkcast.store.store.time.time", lambda: now[0])
    monkeypatch.setattr("sparkcast.store.clock.monotonic", lambda: now[0])
    launch = PlayedEngine.start

    def start_and_go_on(engine: PlayedEngine, submission: Submission, log: Path) -> Handle:
        now[0] += 40.0  # until it is seen for the first time
        return launch(engine, submission, log)

    monkeypatch.setattr(PlayedEngine, "start", start_and_go_on)
    study = _limited(total_s=45.0)
    _run_until_killed(monkeypatch, tmp_path / "r", study)
    now[0] += 3600.0
    result, _ = run(monkeypatch, tmp_path / "r", PlayedEngine([{"sleep": 60}]), study, resume=True)
    assert (result.finished, len(result.left_out)) == (0, 4)
    assert result.reason == "the limit on the total time"
    store = open_store(tmp_path / "r")
    assert store.spent_s("s") == 45.0 + 40.0  # the killed one: 40 s, and the 5 s in which nobody looked
    store.close()


def test_a_note_that_cannot_be_written_loses_no_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(store: Store, run_id: str) -> None:
        raise StoreError("the store failed: database is locked")

    monkeypatch.setattr(session, "SEEN_EVERY_S", 0.0)
    monkeypatch.setattr(Store, "note_running", fail)
    result, _ = run(monkeypatch, tmp_path / "r", PlayedEngine([OK]))
    assert result.finished == 4


def test_two_errors_at_the_start_end_the_run_with_the_cause(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="the first 2 trials failed, the last with: ValueError: no"):
        run(monkeypatch, tmp_path / "r", PlayedEngine([BROKEN]))


def test_an_error_among_successes_is_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    result, _ = run(monkeypatch, tmp_path / "r", PlayedEngine([OK, BROKEN, BROKEN, OK]))
    assert [o.outcome for o in result.new] == [Outcome.OK, Outcome.ERROR, Outcome.ERROR, Outcome.OK]


def test_results_removed_during_a_run_are_an_error_and_not_a_success(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    launch = PlayedEngine.start

    def start_and_remove(engine: PlayedEngine, submission: Submission, log: Path) -> Handle:
        process = launch(engine, submission, log)
        wait_for(process)
        if len(engine.started) == 2:
            shutil.rmtree(tmp_path / "r")
        return process

    monkeypatch.setattr(PlayedEngine, "start", start_and_remove)
    engine = PlayedEngine([OK])
    with pytest.raises(StoreError, match="was removed or moved while sparkcast was using it"):
        run(monkeypatch, tmp_path / "r", engine)
    assert len(engine.started) == 2
    assert not (tmp_path / "r").exists(), "nothing is put where the results were"


def test_results_removed_during_a_long_run_end_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(session, "SEEN_EVERY_S", 0.0)
    launch = PlayedEngine.start

    def start_and_remove(engine: PlayedEngine, submission: Submission, log: Path) -> Handle:
        process = launch(engine, submission, log)
        shutil.rmtree(tmp_path / "r")
        return process

    monkeypatch.setattr(PlayedEngine, "start", start_and_remove)
    engine = PlayedEngine([{"sleep": 600}])
    with pytest.raises(StoreError, match="was removed or moved"):
        run(monkeypatch, tmp_path / "r", engine)
    engine.started[0].stop()


def test_a_run_during_which_the_clock_was_set_is_made_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    now, launch = time.time, PlayedEngine.start

    def start_and_set_back(engine: PlayedEngine, submission: Submission, log: Path) -> Handle:
        if len(engine.started) == 1:
            monkeypatch.setattr(time, "time", lambda: now() - 3600)
        return launch(engine, submission, log)

    monkeypatch.setattr(PlayedEngine, "start", start_and_set_back)
    engine = PlayedEngine([OK])
    result, _ = run(monkeypatch, tmp_path / "r", engine, _limited(total_s=300.0))
    assert (result.finished, len(engine.started)) == (4, 5)
    assert [o.outcome for o in result.new] == [Outcome.OK] * 4
    assert all(0 <= o.responses["total_s"] < 300 for o in result.new)
    assert any("clock of this machine was set back by 1 h" in note for note in result.notes)
    store = open_store(tmp_path / "r")
    assert 0 < store.spent_s("s") < 300
    store.close()


def test_a_folder_that_others_can_read_is_pointed_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "r").mkdir(0o755)
    result, _ = run(monkeypatch, tmp_path / "r", PlayedEngine([OK]))
    assert any("chmod -R go=" in note for note in result.notes)
    result, _ = run(monkeypatch, tmp_path / "own", PlayedEngine([OK]))
    assert not _troubles(result)


def _limited(**limits: float) -> Study:
    return replace(STUDY, limits=Limits(**limits))


def test_the_total_limit_is_never_passed_and_what_it_left_out_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    slow: Act = {**OK, "sleep": 1.5}
    result, _ = run(monkeypatch, tmp_path / "r", PlayedEngine([slow]), _limited(total_s=5.0))
    assert 1 <= result.finished < 4
    assert len(result.left_out) == 4 - result.finished
    assert "in total" in result.reason
    store = open_store(tmp_path / "r")
    assert store.spent_s("s") <= 5.0 + 1.0
    store.close()


def test_a_run_that_reaches_the_total_limit_is_stopped_and_says_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    result, _ = run(monkeypatch, tmp_path / "r", PlayedEngine([{"sleep": 60}]), _limited(total_s=0.5))
    assert result.finished == 0
    assert len(result.left_out) == 4


def test_a_trial_over_its_own_limit_is_a_timeout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    result, _ = run(monkeypatch, tmp_path / "r", PlayedEngine([{"sleep": 60}, OK]), _limited(trial_s=3))
    assert [o.outcome for o in result.new] == [Outcome.TIMEOUT, Outcome.OK, Outcome.OK, Outcome.OK]


def test_a_full_disk_is_an_error_with_advice_and_resume_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    engine = PlayedEngine([OK])
    launch = engine.start

    def fail_second(submission: Submission, log: Path) -> Handle:
        if log.parent.name.startswith("0002"):
            raise OSError(28, "No space left on device")
        return launch(submission, log)

    monkeypatch.setattr(engine, "start", fail_second)
    with pytest.raises(StoreError, match="No space left on device") as caught:
        run(monkeypatch, tmp_path / "r", engine)
    assert caught.value.exit_code == 2
    assert "resume=True" in caught.value.hint
    result, _ = run(monkeypatch, tmp_path / "r", PlayedEngine([OK]), resume=True)
    assert (result.finished, len(result.new)) == (4, 3)


def test_running_again_without_resume_is_refused_half_way(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(RunError):
        run(monkeypatch, tmp_path / "r", PlayedEngine([OK, LOST]))
    with pytest.raises(StudyError, match="1 of 4 trials"):
        run(monkeypatch, tmp_path / "r", PlayedEngine([OK]))


# ---------------------------------------------------------------- interrupted while nothing is measured


class Interrupted(PlayedEngine):
    """Somebody wants it to stop at a certain point, and again while it does."""

    def __init__(self, at: str, number: int, troubles: list[str] | None = None) -> None:
        super().__init__([OK], troubles)
        self._at, self._number, self.passed, self.is_up = at, number, list[str](), False

    def _pass(self, point: str) -> None:
        if point == self._at:
            os.kill(os.getpid(), self._number)
            time.sleep(60)
        self.passed.append(point)

    def __enter__(self) -> Self:
        self._pass("start")
        self.is_up = True
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(os.getpid(), self._number)  # heard, and no reason to leave anything behind
        self.is_up = False

    def warm_up(self, job: SparkJob) -> None:
        self._pass("warm-up")

    def restart(self) -> None:
        self._pass("restart")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("at", "passed"), [("start", []), ("warm-up", ["start"]), ("restart", ["start", "warm-up"])])
def test_a_signal_stops_at_once_what_is_not_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: int, at: str, passed: list[str]
) -> None:
    engine = Interrupted(at, number, troubles=["the master ended"] if at == "restart" else [])
    result, _ = run(monkeypatch, tmp_path / "r", engine)
    assert result.interrupted
    assert (result.reason, result.finished, len(result.left_out)) == ("interrupted", 0, 4)
    assert (engine.passed, engine.is_up, engine.started) == (passed, False, [])
    again, _ = run(monkeypatch, tmp_path / "r", PlayedEngine([OK]), resume=True)
    assert again.finished == 4


def test_a_signal_stops_the_making_of_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made: list[Configuration] = []

    def prepare(self: object, settings: Configuration, data_dir: Path) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
        made.append(settings)
        return ""

    monkeypatch.setattr(MonteCarloPi, "prepare", prepare)
    result, _ = run(monkeypatch, tmp_path / "r", PlayedEngine([OK]))
    assert (result.interrupted, result.finished, made) == (True, 0, [])


def test_signals_mean_again_what_they_meant_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    run(monkeypatch, tmp_path / "r", Interrupted("start", signal.SIGINT))
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


# ---------------------------------------------------------------- runs that never get their executors


class Waiting(PlayedEngine):
    """A cluster without room: its second run registers and then waits."""

    def start(self, submission: Submission, log: Path) -> Handle:
        if len(self.started) == 1:
            event = {"Event": "SparkListenerApplicationStart", "App Name": "x", "App ID": "app-1", "Timestamp": 1000}
            (log.parent / "eventlog" / "app-1").write_text(json.dumps(event) + "\n")
        return super().start(submission, log)

    def shortage(self, application: str, shape: Shape) -> int:
        return shape.executors


def _attempts(folder: Path) -> list[tuple[Outcome, str]]:
    store = open_store(folder)
    found = [(o.outcome, o.cause) for o in store.observations("s", include_lost=True)]
    store.close()
    return found


def test_a_run_that_never_started_is_lost_once_and_resume_tries_it_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    engine = Waiting([OK, {"sleep": 60}])
    with pytest.raises(RunError, match=r"trial 2 .* never started: asked for .* none came within") as caught:
        run(monkeypatch, tmp_path / "r", engine, _limited(trial_s=3))
    assert "resume=True" in caught.value.hint
    (first, _), (second, cause) = _attempts(tmp_path / "r")
    assert (first, second, len(engine.started)) == (Outcome.OK, Outcome.LOST, 2)
    assert "none came within" in cause
    result, _ = run(monkeypatch, tmp_path / "r", PlayedEngine([OK]), resume=True)
    assert (result.finished, len(result.new)) == (4, 3)


def test_a_run_without_room_is_ended_before_its_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(placement, "_PATIENCE_S", 0.2)
    monkeypatch.setattr(placement, "_LOOK_S", 0.0)
    with pytest.raises(RunError, match=r"never started: .* and the cluster has no room for \d more"):
        run(monkeypatch, tmp_path / "r", Waiting([OK, {"sleep": 60}]))
    assert [outcome for outcome, _ in _attempts(tmp_path / "r")] == [Outcome.OK, Outcome.LOST]


def test_of_several_jobs_some_may_wait(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    several = replace(_limited(trial_s=3), fixed=STUDY.fixed | {"jobs": 2})
    result, _ = run(monkeypatch, tmp_path / "r", Waiting([OK, {"sleep": 60}, OK]), several)
    assert [o.outcome for o in result.new] == [Outcome.TIMEOUT, Outcome.OK, Outcome.OK, Outcome.OK]


def _in_shared_store(
    monkeypatch: pytest.MonkeyPatch, place: ResultsPlace, engine: PlayedEngine, *, resume: bool = False
) -> CampaignResult:
    monkeypatch.setattr(site, "engine_for", lambda options: engine)
    return run_campaign(STUDY, make_plan(STUDY), place, resume=resume)


def test_two_machines_measure_one_study_in_turn_in_a_store_that_they_share(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, postgres: PostgresServer
) -> None:
    url = postgres.new_url()
    first, second = (ResultsPlace(tmp_path / name, url) for name in ("here", "there"))
    with pytest.raises(RunError, match="lost 3 times"):
        _in_shared_store(monkeypatch, first, PlayedEngine([OK, LOST]))
    result = _in_shared_store(monkeypatch, second, PlayedEngine([OK]), resume=True)
    assert (result.finished, len(result.new)) == (4, 3)
    assert not (tmp_path / "here" / "store.sqlite").exists()
    assert stat.S_IMODE((tmp_path / "here").stat().st_mode) == 0o700
    assert len(list((tmp_path / "there" / "runs").iterdir())) == 3


def test_a_run_ends_at_once_when_its_study_is_taken_over_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, postgres: PostgresServer
) -> None:
    url = postgres.new_url()
    engine = PlayedEngine([{"sleep": 600}])
    note_running = Store.note_running

    def taken_over(store: Store, run_id: str) -> None:
        other = open_store(url)
        with other._database.engine.begin() as connection:
            connection.execute(sa.text("UPDATE leases SET token = token + 1, holder = 'ann on b, pid 7'"))
        other.close()
        note_running(store, run_id)

    monkeypatch.setattr(Store, "note_running", taken_over)
    monkeypatch.setattr(session, "SEEN_EVERY_S", 0.0)
    with pytest.raises(LeaseLostError, match="ann on b, pid 7"):
        _in_shared_store(monkeypatch, ResultsPlace(tmp_path / "r", url), engine)
    assert [process.exit for process in engine.started] == [Exit(-15)]
    store = open_store(url)
    assert store.observations("s") == ()
    store.close()


def test_a_server_that_restarts_between_and_during_runs_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, postgres: PostgresServer
) -> None:
    class RestartingEngine(PlayedEngine):
        def submission(self, job: SparkJob) -> Submission:
            postgres.restart()
            return super().submission(job)

    place = ResultsPlace(tmp_path / "r", postgres.new_url())
    result = _in_shared_store(monkeypatch, place, RestartingEngine([OK]))
    assert result.finished == 4
