"""Stopping runs from another thread, with an engine that plays its part."""

import threading
from pathlib import Path

import pytest

from sparkcast import api
from sparkcast.engines import Exit, Handle, Submission
from sparkcast.runs import site
from sparkcast.runs.campaign import CampaignResult
from sparkcast.runs.cancel import CancelToken, current_token
from sparkcast.store import open_store
from tests_support import Ended, PlayedEngine

STUDY = """\
study: s
workload: pi
settings: {samples: [1000, 2000, 3000]}
spark: {master: played}
"""


class Held(PlayedEngine):
    """Its first job runs until it is stopped, or until `release` is set."""

    def __init__(self) -> None:
        super().__init__(lambda settings: {"time_s": 1.0})
        self.is_running, self.release = threading.Event(), threading.Event()

    def start(self, submission: Submission, log: Path) -> Handle:
        ended = super().start(submission, log)
        if len(self.ran) > 1:
            return ended
        job = _UntilReleased(None, release=self.release)
        self.is_running.set()
        return job


class _UntilReleased(Ended):
    def __init__(self, returncode: int | None, release: threading.Event) -> None:
        super().__init__(returncode)
        self.release = release

    def poll(self) -> Exit | None:
        if self.release.is_set() and self.returncode is None:
            self.returncode = 0
        return self.exit


def _in_a_thread(
    folder: Path, token: CancelToken, answer: list[CampaignResult], *, resume: bool = False
) -> threading.Thread:
    def work() -> None:
        with token:
            answer.append(api.run(folder / "s.yaml", resume=resume))

    thread = threading.Thread(target=work)
    thread.start()
    return thread


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Held:
    (tmp_path / "s.yaml").write_text(STUDY)
    held = Held()
    monkeypatch.setattr(site, "engine_for", lambda options: held)
    return held


def test_the_current_trial_is_finished_and_no_other_is_started(engine: Held, tmp_path: Path) -> None:
    token, answer = CancelToken(), list[CampaignResult]()
    thread = _in_a_thread(tmp_path, token, answer)
    engine.is_running.wait()
    token.cancel()
    engine.release.set()
    thread.join()
    [result] = answer
    assert (result.finished, result.interrupted, len(engine.ran)) == (1, True, 1)
    assert api.run(tmp_path / "s.yaml", resume=True).finished == 3


def test_the_current_trial_is_stopped_at_once_and_left_for_resume(engine: Held, tmp_path: Path) -> None:
    token, answer = CancelToken(), list[CampaignResult]()
    thread = _in_a_thread(tmp_path, token, answer)
    engine.is_running.wait()
    token.cancel(now=True)
    thread.join()
    assert (answer[0].finished, answer[0].interrupted) == (0, True)
    store = open_store(tmp_path / "s.results")
    assert store.observations("s", include_lost=True) == ()
    store.close()
    assert api.run(tmp_path / "s.yaml", resume=True).finished == 3


def test_a_token_that_was_canceled_before_starts_nothing(engine: Held, tmp_path: Path) -> None:
    token = CancelToken()
    token.cancel()
    with token:
        result = api.run(tmp_path / "s.yaml")
    assert (result.finished, result.interrupted, engine.ran) == (0, True, [])


def test_a_token_holds_inside_its_with_and_in_its_thread_alone() -> None:
    token, other = CancelToken(), CancelToken()
    seen: list[bool] = []
    with token:
        thread = threading.Thread(target=lambda: seen.append(current_token() is token))
        thread.start()
        thread.join()
        with other:
            assert current_token() is other
        assert current_token() is token
    assert seen == [False]
    assert current_token() is not token
