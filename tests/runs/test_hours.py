"""Studies whose blocks run at different hours, by a clock that the test moves."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparkcast import api
from sparkcast.errors import StudyError
from sparkcast.learned.across_blocks import across_blocks, block_scatter
from sparkcast.models import MODELS
from sparkcast.runs import session, site
from sparkcast.runs.session import Progress
from sparkcast.study import Dataset, Observation
from sparkcast.study.hours import BLOCK, in_blocks
from tests_support import PlayedEngine

HOUR = 3600.0
STUDY = """\
study: s
workload: pi
settings: {samples: [1000, 2000]}
design: {replicates: 3, spread: 24h, seed: 1}
spark: {master: played}
"""


class Clock:
    """Time passes only by sleeping, and by what runs take."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.moment = 1_800_000_000.0
        monkeypatch.setattr(time, "time", lambda: self.moment)
        monkeypatch.setattr(time, "sleep", self._sleep)
        monkeypatch.setattr(session, "_TELL_S", HOUR)

    def _sleep(self, seconds: float) -> None:
        self.moment += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., PlayedEngine]:
    def use(times: Callable[[Any], float], text: str = STUDY) -> PlayedEngine:
        (tmp_path / "s.yaml").write_text(text)
        engine = PlayedEngine(lambda settings: {"time_s": times(settings)})
        monkeypatch.setattr(site, "engine_for", lambda options: engine)
        return engine

    return use


def _hours(runs: tuple[Observation, ...]) -> list[float]:
    begun = min(run.started_at or 0.0 for run in runs)
    return sorted(round(((run.started_at or 0.0) - begun) / HOUR, 2) for run in runs)


def test_each_block_begins_when_it_is_due_and_all_its_settings_run_there(
    clock: Clock, play: Callable[..., PlayedEngine], tmp_path: Path
) -> None:
    play(lambda settings: 1.0)
    told: list[str] = []
    result = api.run(tmp_path / "s.yaml", on_progress=lambda progress: told.append(progress.text))
    assert result.finished == 6
    assert _hours(result.new) == [0, 0, 8, 8, 16, 16]
    assert [text for text in told if "begins in" in text and "block 2 of 3" in text]
    runs = api.load_data(tmp_path / "s.yaml").dataset.observations
    blocks = {(run.labels[BLOCK], run.configuration["samples"]) for run in runs}
    assert blocks == {(block, samples) for block in "123" for samples in (1000, 2000)}


def test_after_an_interruption_the_next_block_is_as_far_from_the_last_as_ever(
    clock: Clock, play: Callable[..., PlayedEngine], tmp_path: Path
) -> None:
    play(lambda settings: 1.0)
    token = api.CancelToken()

    def stop_in_the_wait(progress: Progress) -> None:
        if "begins in" in progress.text:
            token.cancel()

    with token:
        stopped = api.run(tmp_path / "s.yaml", on_progress=stop_in_the_wait)
    assert (stopped.finished, stopped.interrupted) == (2, True)
    clock.moment += 100 * HOUR
    result = api.run(tmp_path / "s.yaml", resume=True)
    assert result.finished == 6
    runs = api.load_data(tmp_path / "s.yaml").dataset.observations
    assert _hours(runs) == [0, 0, 100, 100, 108, 108]
    assert {run.labels[BLOCK] for run in runs} == {"1", "2", "3"}


def test_runners_take_no_trial_before_its_block_is_due(
    clock: Clock, play: Callable[..., PlayedEngine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(lambda settings: 1.0)
    lock = threading.Lock()

    def sleep(seconds: float) -> None:
        with lock:
            clock.moment += 600

    monkeypatch.setattr(time, "sleep", sleep)
    result = api.run(tmp_path / "s.yaml", runners=2)
    assert result.finished == 6
    assert _hours(result.new)[2] >= 8
    assert _hours(result.new)[4] >= 16


def test_one_replicate_cannot_be_spread(play: Callable[..., PlayedEngine], tmp_path: Path) -> None:
    play(lambda settings: 1.0, STUDY.replace("replicates: 3, ", ""))
    with pytest.raises(StudyError, match=r"line 4: .*cannot be spread over hours"):
        api.run(tmp_path / "s.yaml")


def test_a_search_confirms_its_winner_at_another_hour_and_may_change_its_mind(
    clock: Clock, play: Callable[..., PlayedEngine], tmp_path: Path
) -> None:
    begun = clock.moment

    def times(settings: Any) -> float:
        """1000 samples are quick only in the first hours; 2000 always are, nearly."""
        samples = settings["samples"]
        hours = (clock.moment - begun) / HOUR
        return {1000: 10.0 if hours < 1 else 30.0 + hours, 2000: 11.0 + hours / 8, 4000: 50.0}[samples]

    engine = play(times, STUDY.replace("[1000, 2000]", "[1000, 2000, 4000]"))
    result = api.tune(tmp_path / "s.yaml", minimize="time_s", searcher="exhaustive")
    assert result.best is not None
    assert result.best.configuration["samples"] == 2000
    assert result.at_other_hours is not None
    assert result.at_other_hours.best == pytest.approx((11.0, 12.0, 13.0), abs=0.1)
    assert result.at_other_hours.runner_up == pytest.approx((10.0, 38.0, 46.0), abs=0.1)
    assert len(engine.ran) == 3 + 2 * 2
    assert "Confirmed" in str(result)


def test_a_search_that_is_stopped_before_says_that_nothing_is_confirmed(
    clock: Clock, play: Callable[..., PlayedEngine], tmp_path: Path
) -> None:
    play(lambda settings: settings["samples"] / 1000)
    token = api.CancelToken()

    def stop_in_the_wait(progress: Progress) -> None:
        if "confirms" in progress.text:
            token.cancel()

    with token:
        result = api.tune(tmp_path / "s.yaml", minimize="time_s", searcher="exhaustive", on_progress=stop_in_the_wait)
    assert result.interrupted
    assert "all its runs are of one block" in str(result)
    again = api.tune(tmp_path / "s.yaml", minimize="time_s", searcher="exhaustive", resume=True)
    assert again.at_other_hours is not None
    assert len(again.at_other_hours.best) == 3


# ---------------------------------------------------------------- intervals


def _job(n_blocks: int, between: float, within: float, random: np.random.Generator) -> Dataset:
    runs = [
        Observation(
            {"executors": executors},
            {"time_s": float(np.exp(3 + 0.1 * executors + shift + random.normal(0, within)))},
            labels={BLOCK: str(block)},
        )
        for block in range(n_blocks)
        for shift in [random.normal(0, between)]
        for executors in (1, 2, 3, 4, 6, 8)
    ]
    return Dataset(("executors",), tuple(runs))


def test_what_sets_blocks_apart_is_estimated_apart_from_the_noise_of_runs() -> None:
    random = np.random.default_rng(0)
    data = _job(400, 0.2, 0.05, random)
    values = np.log([run.responses["time_s"] for run in data.observations])
    scatter = block_scatter(data.observations, [data.key(run) for run in data.observations], values)
    assert scatter is not None
    assert scatter.between == pytest.approx(0.2, rel=0.1)
    assert scatter.within == pytest.approx(0.05, rel=0.1)


def test_intervals_hold_for_a_run_at_an_hour_that_was_not_measured() -> None:
    """90% of runs in blocks of their own: without what sets blocks apart, two blocks give 70%."""
    random, covered = np.random.default_rng(1), {"plain": list[bool](), "across": list[bool]()}
    for _ in range(40):
        data = _job(2, 0.1, 0.03, random)
        plain = MODELS.get("linear")().fit(data, "time_s")
        across = across_blocks(plain, data, data.vocabulary.response("time_s"))
        for name, fitted in (("plain", plain), ("across", across)):
            [(low, high)] = fitted.interval([{"executors": 4}])
            new = np.exp(3.4 + random.normal(0, 0.1, 50) + random.normal(0, 0.03, 50))
            covered[name] += [low <= time_s <= high for time_s in new.tolist()]
    assert np.mean(covered["across"]) > 0.85
    assert np.mean(covered["plain"]) < 0.8


def test_the_interval_and_the_probability_come_from_the_same_distribution() -> None:
    data = _job(3, 0.1, 0.03, np.random.default_rng(2))
    fitted = across_blocks(MODELS.get("linear")().fit(data, "time_s"), data, data.vocabulary.response("time_s"))
    [(low, high)] = fitted.interval([{"executors": 2}], level=0.8)
    assert fitted.probability_below([{"executors": 2}], high) == [pytest.approx(0.9, abs=1e-6)]
    assert fitted.probability_below([{"executors": 2}], low) == [pytest.approx(0.1, abs=1e-6)]
    [median] = fitted.predict([{"executors": 2}])
    assert low < median < high


def test_runs_of_one_hour_are_one_block() -> None:
    runs = [Observation({"a": 1}, {"t": 1.0}, started_at=at) for at in (0.0, 3000.0, 7200.0, 7300.0, 20_000.0)]
    assert [run.labels[BLOCK] for run in in_blocks(runs, 2 * HOUR)] == ["1", "1", "2", "2", "3"]
    assert in_blocks(runs, None) == tuple(runs)
