"""Logs and output at a second place, and event logs where the cluster wants them."""

from pathlib import Path

import pytest

from eventlogs_support import REAL_LOG
from sparkcast import api
from sparkcast.engines import Handle, SparkJob, Submission
from sparkcast.errors import StoreError
from sparkcast.runs import site
from sparkcast.runs.files import FilePlace
from tests_support import Call, PlayedEngine

pytest.importorskip("fsspec")

STUDY = """\
study: s
workload: pi
settings: {samples: [1000, 2000]}
spark: {master: played}
"""


class _Logging(PlayedEngine):
    """Its jobs leave an event log where their properties say."""

    def __init__(self) -> None:
        super().__init__(lambda settings: {"time_s": 1.0})
        self.places: list[str] = []

    def submission(self, job: SparkJob) -> Submission:
        self.places.append(job.conf["spark.eventLog.dir"])
        return super().submission(job)

    def start(self, submission: Submission, log: Path) -> Handle:
        place = self.places[-1]
        if place.startswith("memory:"):
            import fsspec

            with fsspec.open(f"{place}/app-1.zstd", "wb") as file:
                file.write(REAL_LOG.read_bytes())
        else:
            Path(place.removeprefix("file://"), "app-1.zstd").write_bytes(REAL_LOG.read_bytes())
        log.write_text("hello")
        return super().start(submission, log)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> _Logging:
    (tmp_path / "s.yaml").write_text(STUDY)
    engine = _Logging()
    monkeypatch.setattr(site, "engine_for", lambda options: engine)
    return engine


@pytest.mark.parametrize("place", ["memory://cluster/logs", "{here}/cluster-logs", "file://{here}/cluster-logs"])
def test_an_event_log_is_read_from_where_its_user_has_it_written(place: str, engine: _Logging, tmp_path: Path) -> None:
    place = place.format(here=tmp_path)
    result = api.run(tmp_path / "s.yaml", conf={"spark.eventLog.dir": place})
    assert not any("event log" in note for note in result.notes)
    jobs = [one for one in dict.fromkeys(engine.places) if one.startswith(f"{place}/sparkcast-s-")]
    assert len(jobs) >= 2  # each job has a folder of its own
    for run in result.new:
        assert run.ok
        assert run.tasks is not None  # from the log
        assert (tmp_path / "s.results" / run.artifacts / "eventlog" / "app-1.zstd").is_file()


def test_a_place_of_event_logs_that_cannot_be_written_is_an_error_that_names_it(
    engine: _Logging, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        api.run(tmp_path / "s.yaml", conf={"spark.eventLog.dir": str(tmp_path / "file" / "logs")})
    assert engine.ran == []


@pytest.mark.parametrize("place", ["memory://team/artifacts", "shared", "{here}/shared"])
def test_logs_and_output_are_copied_to_a_second_place(place: str, engine: _Logging, tmp_path: Path) -> None:
    place = place.format(here=tmp_path)
    (tmp_path / "s.yaml").write_text(f"{STUDY}artifacts: {place}\n")
    for run in api.run(tmp_path / "s.yaml").new:
        absolute = place if "://" in place else str(tmp_path / place)
        back = tmp_path / "back" / run.artifacts
        assert FilePlace(f"{absolute}/s/{run.artifacts}").get(back)
        own = tmp_path / "s.results" / run.artifacts
        names = {str(path.relative_to(own)) for path in own.rglob("*") if path.is_file()}
        assert {"command.sh", "driver.log", "job.json", "eventlog/app-1.zstd"} <= names
        assert names == {str(path.relative_to(back)) for path in back.rglob("*") if path.is_file()}
        assert (back / "driver.log").read_text() == "hello"


def test_the_command_line_names_another_place(engine: _Logging, tmp_path: Path, call: Call) -> None:
    (tmp_path / "s.yaml").write_text(f"{STUDY}artifacts: one\n")
    assert call("run", "s.yaml", "--artifacts", str(tmp_path / "two")).code == 0
    assert not (tmp_path / "one").exists()
    assert (tmp_path / "two" / "s" / "runs").is_dir()


def test_a_second_place_that_cannot_be_written_is_said_before_anything_runs(engine: _Logging, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        api.run(api.load_study(tmp_path / "s.yaml", artifacts=str(tmp_path / "file")))
    with pytest.raises(StoreError, match="nosuch"):
        api.run(api.load_study(tmp_path / "s.yaml", artifacts="nosuch://place"))
    assert engine.ran == []


def test_what_cannot_be_copied_later_stays_here_and_the_result_is_kept(
    engine: _Logging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreError("no space left there")

    monkeypatch.setattr(FilePlace, "put", full)
    result = api.run(api.load_study(tmp_path / "s.yaml", artifacts=str(tmp_path / "two")))
    assert len(result.new) == 2
    assert any("no space left there" in note for note in result.notes)


def test_a_folder_comes_back_from_a_url_as_it_went_there(tmp_path: Path) -> None:
    place = FilePlace(f"memory://fetch/{tmp_path.name}")
    (tmp_path / "run" / "inner").mkdir(parents=True)
    (tmp_path / "run" / "inner" / "a.json").write_text("{}")
    place.put(tmp_path / "run")
    assert place.get(tmp_path / "back")
    assert (tmp_path / "back" / "inner" / "a.json").read_text() == "{}"
    assert not place.below("none").get(tmp_path / "nothing")
