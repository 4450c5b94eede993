"""The client of the standard library, and jobs that are submitted with what it is told."""

import ast
import sys
from pathlib import Path

import pytest

import sparkcast.client
from serve_support import AT, make_store, runs_of_training, serving, settings_of
from sparkcast import api
from sparkcast.api.submission import ServiceAdviser, StoreAdviser, Wish, submit
from sparkcast.client import Client, ServiceDown, ServiceFailed
from sparkcast.recommend.submission import SubmittedJob

NOWHERE = "http://127.0.0.1:9"  # the discard port, where nobody listens


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> "object":
    with serving(settings_of(make_store(tmp_path_factory.mktemp("team")))) as found:
        yield found


@pytest.fixture
def job(tmp_path: Path) -> str:
    """A spark-submit that writes down how it was called, and ends as its program says."""
    command = tmp_path / "spark-submit"
    command.write_text(
        f"#!{sys.executable}\nimport sys, pathlib\n"
        f"pathlib.Path({str(tmp_path / 'called')!r}).write_text('\\n'.join(sys.argv[1:]))\n"
        "sys.exit(int(sys.argv[-1]) if sys.argv[-1].isdigit() and '--code' in sys.argv else 0)\n"
    )
    command.chmod(0o755)
    return str(command)


def called(job: str) -> list[str]:
    return Path(job).with_name("called").read_text().splitlines()


def test_the_client_needs_the_standard_library_only() -> None:
    tree = ast.parse(Path(sparkcast.client.__file__).read_text())
    names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    names |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert {str(name).partition(".")[0] for name in names} <= sys.stdlib_module_names


def test_the_client_asks_and_reports(url: str) -> None:
    client = Client(url)
    assert "train" in [study["name"] for study in client.studies()]
    assert client.predict("train", AT)["prediction"]["response"] == "total_s"
    assert client.recommend("train", within="2m", brief=True)["chosen"]["probability"] >= 0.95
    assert client.check(study="train", configuration=AT, within=300)["verdict"] == "admit"
    assert client.queue(arrival_rate=0.1, service_time="30s", servers=4, jobs=1000, replications=2)["servers"] == 4
    run = {"configuration": {"executors": 2}, "responses": {"total_s": 50}}
    first, again = (client.append("reported", [run], key="the-same-key") for _ in range(2))
    assert first == again
    assert client.study("reported")["runs"] == 1


def test_what_the_service_refuses_is_raised_with_its_hint(url: str) -> None:
    with pytest.raises(ServiceFailed, match="did you mean") as caught:
        Client(url).predict("trian", AT)
    assert caught.value.status == 404
    assert caught.value.nearest == ("train",)


def test_a_service_that_does_not_answer_is_down() -> None:
    with pytest.raises(ServiceDown):
        Client(NOWHERE).studies()
    with pytest.raises(ValueError, match="no URL"):
        Client("localhost:8080")


def test_a_job_gets_settings_that_meet_its_deadline_and_gives_its_result_back(url: str, job: str) -> None:
    wish = Wish("train", within_s=120, passed=("batch_size",))
    found = submit([job, "--name", "train", "train.py", "--rows", "5"], wish, ServiceAdviser(url))
    assert found.exit_code == 0
    assert found.advice is not None
    assert called(job)[:2] == ["--conf", f"spark.executor.instances={found.advice.configuration['executors']}"]
    assert called(job)[-2:] == ["--batch-size", str(found.advice.configuration["batch_size"])]
    assert "stored" in found.stored
    last = Client(url)._get("/v1/studies/train/export?form=json")
    assert last["rows"]


def test_what_the_line_says_is_never_changed(url: str, job: str) -> None:
    line = [job, "--num-executors", "4", "train.py", "--batch-size=128"]
    found = submit(line, Wish("train", within_s=300, passed=("batch_size",)), ServiceAdviser(url))
    assert called(job) == line[1:]
    assert found.advice is not None
    assert dict(found.advice.configuration) == {"executors": 4, "batch_size": 128}
    assert dict(found.advice.held) == {"executors": 4, "batch_size": 128}


@pytest.mark.parametrize("place", ["down", "unknown", "too strict", "not passed"])
def test_a_job_runs_as_written_where_nothing_can_be_advised(url: str, job: str, place: str) -> None:
    said: list[str] = []
    line = [job, "--name", "train", "train.py", "--code", "7"]
    wish = {
        "down": Wish("train", within_s=120, passed=("batch_size",)),
        "unknown": Wish("nobody", within_s=120),
        "too strict": Wish("train", within_s=1, passed=("batch_size",)),
        "not passed": Wish("train", within_s=120),
    }[place]
    found = submit(line, wish, ServiceAdviser(NOWHERE if place == "down" else url), say=said.append)
    assert called(job) == line[1:]
    assert found.exit_code == 7
    assert said[0].startswith("running as written: ")
    assert "not stored" in found.stored


def test_a_store_advises_without_a_service(tmp_path: Path, job: str) -> None:
    place = make_store(tmp_path)
    found = submit([job, "train.py"], Wish("train", within_s=120, passed=("batch_size",)), StoreAdviser(place))
    assert found.advice is not None
    assert len(api.load_data(place, study="train").dataset.observations) == len(runs_of_training()) + 1


def test_exploring_changes_one_setting_at_most(tmp_path: Path, job: str) -> None:
    place = make_store(tmp_path)
    wish = Wish("train", within_s=400, passed=("batch_size",), explore=True)
    found = submit([job, "train.py"], wish, StoreAdviser(place), is_dry=True)
    assert isinstance(found, SubmittedJob)
    assert found.advice is not None
    assert found.advice.step in ("change", "keep", "stop", "roll-back")
    ran = {run.configuration for run in runs_of_training()}
    near = min(sum(found.advice.configuration[n] != one[n] for n in one) for one in ran)
    assert near <= 1


def test_secrets_of_the_line_are_not_sent(url: str, job: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[object] = []
    original = Client._call

    def call(self: Client, *args: object) -> object:
        sent.append(args)
        return original(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Client, "_call", call)
    line = [job, "--conf", "spark.hadoop.fs.s3a.secret.key=hunter2", "train.py", "--password", "hunter2"]
    submit(line, Wish("train", within_s=120, passed=("batch_size",)), ServiceAdviser(url))
    assert sent
    assert "hunter2" not in repr(sent)
    assert "spark.hadoop.fs.s3a.secret.key=hunter2" in called(job)
