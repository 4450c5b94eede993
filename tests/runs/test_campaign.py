"""Running a plan, with an engine that plays its part in milliseconds: limits, losses, hopeless studies."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import pytest

from sparkcast.designs import make_plan
from sparkcast.engines import Capacity, ClusterFacts, SparkJob, Submission
from sparkcast.errors import RunError, StoreError, StudyError
from sparkcast.runs import site
from sparkcast.runs.campaign import CampaignResult, run_campaign
from sparkcast.runs.session import Progress
from sparkcast.store import open_store
from sparkcast.study import Configuration, DesignChoice, Factor, Limits, Outcome, SparkOptions, Study

# Plays the driver: reports as the n-th entry of the script says, then ends.
_DRIVER = """\
import json, sys, time
report, act = sys.argv[1], json.loads(sys.argv[2])
time.sleep(act.get("sleep", 0))
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
        self.script, self.troubles, self.restarts = list(script), troubles or [], 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def capacity(self, settings: list[Configuration]) -> Capacity | None:
        return None

    def defaults(self) -> Mapping[str, str]:
        return {}

    def warm_up(self, job: SparkJob) -> None: ...

    def submission(self, job: SparkJob) -> Submission:
        act = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return Submission((sys.executable, "-c", _DRIVER, job.arguments[1], json.dumps(dict(act))), {})

    def start(self, submission: Submission, log: Path) -> "subprocess.Popen[bytes]":
        with log.open("wb") as output:
            return subprocess.Popen(submission.argv, stdout=output, stderr=output)

    def stop(self, process: "subprocess.Popen[bytes]") -> None:
        process.kill()
        process.wait()

    def facts(self) -> ClusterFacts:
        return ClusterFacts("3.5.9", "17", "played")

    def trouble(self) -> str:
        return self.troubles.pop(0) if self.troubles else ""

    def restart(self) -> None:
        self.restarts += 1


STUDY = Study(
    "s",
    "pi",
    (Factor("executors", (1, 2)),),
    {"samples": 1000},
    design=DesignChoice(replicates=2),
    spark=SparkOptions("played"),
)


def run(
    monkeypatch: pytest.MonkeyPatch, folder: Path, engine: PlayedEngine, study: Study = STUDY, *, resume: bool = False
) -> tuple[CampaignResult, list[Progress]]:
    monkeypatch.setattr(site, "engine_for", lambda options: engine)
    seen: list[Progress] = []
    return run_campaign(study, make_plan(study), folder, resume=resume, on_progress=seen.append), seen


def test_every_trial_is_run_once_with_progress_and_time_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    result, seen = run(monkeypatch, tmp_path / "r", PlayedEngine([OK]))
    assert (result.finished, result.planned, result.left_out) == (4, 4, ())
    assert [p.done for p in seen if p.is_note] == [1, 2, 3, 4]
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
    assert "--resume" in caught.value.hint
    result, _ = run(monkeypatch, tmp_path / "r", PlayedEngine([OK]), resume=True)
    assert (result.finished, len(result.new)) == (4, 3)


def test_a_cluster_in_trouble_is_started_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    engine = PlayedEngine([{"sleep": 5}, OK], troubles=["", "the master ended", "the master ended"])
    result, _ = run(monkeypatch, tmp_path / "r", engine)
    assert result.finished == 4
    assert engine.restarts == 1


def test_two_errors_at_the_start_end_the_run_with_the_cause(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="the first 2 trials failed, the last with: ValueError: no"):
        run(monkeypatch, tmp_path / "r", PlayedEngine([BROKEN]))


def test_an_error_among_successes_is_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    result, _ = run(monkeypatch, tmp_path / "r", PlayedEngine([OK, BROKEN, BROKEN, OK]))
    assert [o.outcome for o in result.new] == [Outcome.OK, Outcome.ERROR, Outcome.ERROR, Outcome.OK]


def _limited(**limits: float) -> Study:
    import dataclasses

    return dataclasses.replace(STUDY, limits=Limits(**limits))


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

    def fail_second(submission: Submission, log: Path) -> "subprocess.Popen[bytes]":
        if log.parent.name.startswith("0002"):
            raise OSError(28, "No space left on device")
        return launch(submission, log)

    monkeypatch.setattr(engine, "start", fail_second)
    with pytest.raises(StoreError, match="No space left on device") as caught:
        run(monkeypatch, tmp_path / "r", engine)
    assert caught.value.exit_code == 2
    assert "--resume" in caught.value.hint
    result, _ = run(monkeypatch, tmp_path / "r", PlayedEngine([OK]), resume=True)
    assert (result.finished, len(result.new)) == (4, 3)


def test_running_again_without_resume_is_refused_half_way(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(RunError):
        run(monkeypatch, tmp_path / "r", PlayedEngine([OK, LOST]))
    with pytest.raises(StudyError, match="1 of 4 trials"):
        run(monkeypatch, tmp_path / "r", PlayedEngine([OK]))
