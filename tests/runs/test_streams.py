"""Streams of jobs, with an engine that plays its part; and one on a real cluster."""

import dataclasses
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from eventlogs_support import REAL_LOG
from sparkcast import api
from sparkcast.engines import ClusterFacts, Handle, Submission
from sparkcast.errors import NotEnoughDataError, RunError, StudyError
from sparkcast.runs import session, site
from sparkcast.runs.campaign import CampaignResult
from sparkcast.runs.session import Progress
from sparkcast.store import open_store
from sparkcast.study import Observation, Outcome
from tests_support import Ended, PlayedEngine, wait_until

STREAM = """\
study: s
workload: pi
settings: {samples: 1000}
arrivals: {at: [0s, 50ms, 100ms, 150ms]}
mix: [{share: 0.75, executors: 1}, {share: 0.25, executors: 2}]
price: {core_hour: 3600}
spark: {master: played, conf: {spark.scheduler.mode: FAIR}}
"""
AT_ONCE = "study: s\nworkload: pi\nsettings: {samples: 1000, jobs: [1, 3]}\nspark: {master: played}\n"


def fine(settings: Mapping[str, object]) -> Mapping[str, float]:
    return {"time_s": 2.0 * int(str(settings["executors"]))}


class Cluster(PlayedEngine):
    def facts(self) -> ClusterFacts:
        return ClusterFacts("3.5.9", "17", "played", "first come first served", 8)


class LosesOne(Cluster):
    """The third job it ever starts vanishes."""

    def start(self, submission: Submission, log: Path) -> Handle:
        started = super().start(submission, log)
        return Ended(137) if len(self.ran) == 3 else started


def run(
    monkeypatch: pytest.MonkeyPatch, folder: Path, engine: PlayedEngine, text: str = STREAM, *, resume: bool = False
) -> tuple[CampaignResult, list[Progress]]:
    (folder / "s.yaml").write_text(text)
    monkeypatch.setattr(site, "engine_for", lambda options: engine)
    told: list[Progress] = []
    return api.run(folder / "s.yaml", resume=resume, on_progress=told.append), told


def stored(folder: Path, *, include_lost: bool = False) -> tuple[Observation, ...]:
    store = open_store(folder / "s.results")
    try:
        return store.observations("s", include_lost=include_lost)
    finally:
        store.close()


def test_every_job_of_a_stream_is_kept_with_its_settings_times_and_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    engine = Cluster(fine)
    result, _ = run(monkeypatch, tmp_path, engine)
    [kept] = stored(tmp_path)
    assert result.finished == 1
    assert sorted(int(str(settings["executors"])) for settings in engine.ran) == [1, 1, 1, 2]
    assert [int(str(settings["executors"])) for settings in engine.ran] == [
        job.configuration["executors"] for job in kept.jobs
    ]
    assert [job.number for job in kept.jobs] == [1, 2, 3, 4]
    arrived = [job.arrived_s for job in kept.jobs]
    assert all(job.ended_s >= job.arrived_s >= due for job, due in zip(kept.jobs, (0, 0.05, 0.1, 0.15), strict=True))
    assert arrived == sorted(arrived)
    assert [job.cores for job in kept.jobs] == [job.configuration["executors"] for job in kept.jobs]
    for job in kept.jobs:
        assert job.responses == {"time_s": 2.0 * int(str(job.configuration["executors"]))}
        assert (tmp_path / "s.results" / job.artifacts / "report.jsonl").is_file()
    assert len({job.artifacts for job in kept.jobs}) == 4
    assert kept == result.new[0] or dataclasses.replace(result.new[0], started_at=kept.started_at) == kept


def test_how_the_cluster_was_shared_is_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run(monkeypatch, tmp_path, Cluster(fine))
    sharing = stored(tmp_path)[0].sharing
    assert sharing is not None
    assert (sharing.policy, sharing.cores, sharing.mode) == ("first come first served", 8, "FAIR")


def test_responses_of_a_stream_are_of_one_job_on_average(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run(monkeypatch, tmp_path, Cluster(fine))
    [kept] = api.load_data(tmp_path / "s.yaml").dataset.observations
    assert kept.responses["time_s"] == pytest.approx((3 * 2 + 4) / 4)
    assert kept.responses["cost"] == pytest.approx((3 * 2 * 1 + 4 * 2) / 4)  # seconds x cores, each by its own job
    assert {"response_s", "response_p90_s", "jobs_in_system"} <= set(kept.responses)


def test_jobs_at_once_are_a_stream_in_which_all_arrive_together(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run(monkeypatch, tmp_path, Cluster(fine), AT_ONCE)
    by_number = {o.configuration["jobs"]: o for o in stored(tmp_path)}
    assert len(by_number[3].jobs) == 3
    assert by_number[1].jobs == ()
    assert "response_s" in by_number[1].responses
    assert all("jobs" not in job.configuration for job in by_number[3].jobs)
    loaded = {o.configuration["jobs"]: o for o in api.load_data(tmp_path / "s.yaml").dataset.observations}
    assert all(job.slowdown is not None for job in loaded[3].jobs)
    assert "slowdown" in loaded[3].responses


def test_a_failed_job_ends_its_stream_and_the_rest_is_no_result(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    engine = Cluster(lambda settings: "no" if len(engine.ran) == 2 else fine(settings))
    run(monkeypatch, tmp_path, engine)
    [kept] = stored(tmp_path)
    assert len(engine.ran) == 2
    assert kept.outcome is Outcome.ERROR
    assert kept.responses == {}
    assert [job.outcome for job in kept.jobs] == [Outcome.OK, Outcome.ERROR]


def test_a_lost_job_loses_its_stream_which_is_tried_again_whole(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    engine = LosesOne(fine)
    result, _ = run(monkeypatch, tmp_path, engine)
    lost, kept = stored(tmp_path, include_lost=True)
    assert (lost.outcome, len(lost.jobs), lost.responses) == (Outcome.LOST, 3, {})
    assert (kept.outcome, len(kept.jobs)) == (Outcome.OK, 4)
    assert stored(tmp_path) == (kept,)
    assert [s["executors"] for s in engine.ran[:3]] == [s["executors"] for s in engine.ran[3:6]]
    assert "was lost (attempt 1 of 3)" in " ".join(result.notes)


def test_a_stream_lost_three_times_stays_open_for_resume(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class LosesAll(Cluster):
        def start(self, submission: Submission, log: Path) -> Handle:
            super().start(submission, log)
            return Ended(137)

    with pytest.raises(RunError, match="was lost 3 times"):
        run(monkeypatch, tmp_path, LosesAll(fine))
    assert stored(tmp_path) == ()
    result, _ = run(monkeypatch, tmp_path, Cluster(fine), resume=True)
    assert result.finished == 1
    assert len(stored(tmp_path)[0].jobs) == 4


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ("{trial: 100ms}", ["line 4", "the last of 4 jobs arrives after 0.15 s", "its limit of 0.10 s", "trial: 1m"]),
        ("{total: 150ms}", ["a stream takes at least 0.15 s", "the limit of 0.15 s in total", "total: 1m"]),
    ],
)
def test_a_stream_that_cannot_fit_its_limit_is_refused_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limits: str, words: list[str]
) -> None:
    engine = Cluster(fine)
    with pytest.raises(StudyError) as caught:
        run(monkeypatch, tmp_path, engine, f"{STREAM}limits: {limits}\n")
    for word in words:
        assert word in str(caught.value)
    assert (engine.entered, engine.ran) == (0, [])


def test_how_far_a_stream_is_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(session, "_TELL_S", 0.0)
    _, told = run(monkeypatch, tmp_path, Cluster(fine))
    far = re.compile(r"\d of 4 jobs have arrived: \d starting or waiting, \d running, \d done")
    assert any(far.fullmatch(progress.text) for progress in told)


def test_the_commands_of_all_jobs_are_shown_by_a_dry_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(STREAM.replace("master: played", "master: 'local-cluster[2,1,1024]'"))
    lines = api.dry_run(tmp_path / "s.yaml")
    assert [f"job-{n}/eventlog" in line for n, line in enumerate(lines, start=1)] == [True] * 4
    assert sum("spark.executor.instances=2" in line for line in lines) == 1


def test_arrivals_are_read_from_event_logs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    text = STREAM.replace("{at: [0s, 50ms, 100ms, 150ms]}", "{logs: old, speed: 20}")
    for name, start in (("b", 5000), ("a", 3000), ("c", 9000)):
        start_event = (
            f'{{"Event":"SparkListenerApplicationStart","App Name":"x","App ID":"{name}","Timestamp":{start}}}'
        )
        log = '{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}\n' + start_event + "\n"
        (tmp_path / "old" / f"application_{name}").write_text(log)
    run(monkeypatch, tmp_path, Cluster(fine), text)
    [kept] = stored(tmp_path)
    assert [job.arrived_s >= due for job, due in zip(kept.jobs, (0.0, 0.1, 0.3), strict=True)] == [True] * 3
    (tmp_path / "old" / "application_d").write_text(log.replace("9000", "9500").replace('"c"', '"d"'))
    with pytest.raises(StudyError, match=r"has changed since it was run: arrivals\.at"):
        run(monkeypatch, tmp_path, Cluster(fine), text, resume=True)


def test_one_log_or_logs_that_tell_no_start_are_no_stream(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    shutil.copy(REAL_LOG, tmp_path / "old")
    text = STREAM.replace("{at: [0s, 50ms, 100ms, 150ms]}", "{logs: old}")
    with pytest.raises(NotEnoughDataError, match="one application"):
        run(monkeypatch, tmp_path, Cluster(fine), text)
    (tmp_path / "old" / "app-2").write_text('{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}\n')
    with pytest.raises(NotEnoughDataError, match=r"1 of 2 event logs in .* do not tell when the application started"):
        run(monkeypatch, tmp_path, Cluster(fine), text)
    shutil.rmtree(tmp_path / "old")
    with pytest.raises(StudyError, match="no such file or folder"):
        run(monkeypatch, tmp_path, Cluster(fine), text)


REAL = """\
study: s
workload: pi
settings: {samples: 20000, partitions: 1}
arrivals: {at: [0s, 1s, 2s]}
mix: [{share: 0.67, executors: 1}, {share: 0.33, executors: 2}]
limits: {trial: 5m}
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_real_stream_that_is_killed_is_run_again_whole(tmp_path: Path, no_orphans: None) -> None:
    (tmp_path / "s.yaml").write_text(REAL)
    with (tmp_path / "run.log").open("wb") as log:
        command = [sys.executable, "-m", "sparkcast", "run", "s.yaml"]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log)
    reports = tmp_path / "s.results" / "runs"
    wait_until(lambda: len(list(reports.glob("*-1/job-*/report.jsonl"))) >= 1)
    process.kill()
    process.wait()
    assert stored(tmp_path) == ()
    result = api.run(tmp_path / "s.yaml", resume=True)
    assert result.finished == 1
    [kept] = api.load_data(tmp_path / "s.yaml").dataset.observations
    assert sorted(job.configuration["executors"] for job in kept.jobs) == [1, 1, 2]
    assert kept.artifacts.endswith("-2")
    assert kept.sharing is not None
    assert kept.sharing.policy.startswith("Spark standalone: FIFO")
    for job in kept.jobs:
        assert job.registered_s is not None
        assert job.started_s is not None
        assert job.arrived_s < job.registered_s < job.started_s < job.ended_s
        assert job.tasks is not None
        assert job.tasks.executors == job.configuration["executors"] == job.cores
    assert 0 < kept.responses["cores_busy"] < kept.responses["cores_held"]
