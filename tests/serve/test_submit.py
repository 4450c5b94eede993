"""Jobs that are tuned in production, and that join others on the cluster."""

import http.server
import json
import random
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from serve_support import asking, serving, settings_of
from sparkcast import api
from sparkcast.api.submission import Adviser, ServiceAdviser, StoreAdviser, Wish, submit
from sparkcast.cli import app
from sparkcast.data.ingest.into_store import NOT_ASKED
from sparkcast.engines.running_jobs import jobs_running_at
from sparkcast.errors import RunError, StudyError
from sparkcast.serve.assistant import AssistantTools
from sparkcast.store import open_store
from sparkcast.study import Configuration, LogOrigin, Observation, Outcome

PARTITIONS, CODEC = "spark.sql.shuffle.partitions", "spark.io.compression.codec"
LEVELS = {PARTITIONS: (200, 50, 800), CODEC: ("lz4", "zstd")}


@pytest.fixture
def job(tmp_path: Path) -> list[str]:
    """A spark-submit that does nothing."""
    command = tmp_path / "spark-submit"
    command.write_text(f"#!{sys.executable}\n")
    command.chmod(0o755)
    return [str(command), "--name", "nightly", "etl.py"]


def told_of(time_s: float, at: Mapping[str, object], number: int, outcome: str = "ok") -> dict[str, object]:
    good = outcome == "ok"
    return {
        "configuration": at,
        "responses": {"total_s": time_s} if good else {},
        "outcome": outcome,
        "cause": "",
        "started_at": 1.7e9 + number,
        "run_id": f"run-{number}-{random.randrange(10**9)}",
    }


@pytest.mark.parametrize("how", ["store", "service"])
def test_a_job_without_a_history_is_tuned_from_its_first_run_on(tmp_path: Path, job: list[str], how: str) -> None:
    place = str(tmp_path / "new.results")
    open_store(place, create=True).close()
    with serving(settings_of(place)) as url:
        adviser: Adviser = StoreAdviser(place) if how == "store" else ServiceAdviser(url)
        wish = Wish("nightly", within_s=400, explore=True, levels=LEVELS)
        today = {PARTITIONS: 200, CODEC: "lz4"}
        steps = []
        for number in range(12):
            found = submit(job, wish, adviser, is_dry=True)
            assert found.advice is not None, found.as_written
            at = dict(found.advice.configuration)
            steps.append(found.advice.step)
            if number < 2:
                assert at == today
            changed = sum(at[name] != today[name] for name in at)
            assert found.advice.deadline_risk is not None
            if found.advice.step == "change":
                assert changed <= 2
                assert found.advice.deadline_risk <= 0.05
            assert f"{PARTITIONS}={at[PARTITIONS]}" in found.command
            time_s = (100 if at[PARTITIONS] == 200 else 70 if at[PARTITIONS] == 50 else 105) + 0.3 * (number % 3)
            adviser.report("nightly", told_of(time_s, at, number))
        assert "change" in steps[:4]
        assert at[PARTITIONS] == 50
        assert steps[-1] == "stop"


def test_a_change_that_breaks_the_deadline_is_taken_back(tmp_path: Path, job: list[str]) -> None:
    place = str(tmp_path / "new.results")
    open_store(place, create=True).close()
    adviser = StoreAdviser(place)
    wish = Wish("nightly", within_s=130, explore=True, levels=LEVELS)
    number = 0
    advice = submit(job, wish, adviser, is_dry=True).advice
    while advice is not None and advice.step != "change":
        adviser.report("nightly", told_of(100 + 0.3 * (number % 3), dict(advice.configuration), number))
        advice = submit(job, wish, adviser, is_dry=True).advice
        number += 1
    assert advice is not None
    adviser.report("nightly", told_of(300, dict(advice.configuration), number))
    after = submit(job, wish, adviser, is_dry=True).advice
    assert after is not None
    assert after.step == "roll-back"
    assert dict(after.configuration) == {PARTITIONS: 200, CODEC: "lz4"}


def test_what_the_line_says_is_not_explored(tmp_path: Path, job: list[str]) -> None:
    place = str(tmp_path / "new.results")
    open_store(place, create=True).close()
    line = [job[0], "--conf", f"{PARTITIONS}=64", *job[1:]]
    found = submit(line, Wish("nightly", explore=True, levels=LEVELS), StoreAdviser(place), is_dry=True)
    assert found.advice is not None
    assert found.advice.configuration[PARTITIONS] == 64
    assert found.command.count("--conf") == 2  # its own, and the codec


def test_a_job_that_never_varied_anything_needs_levels_to_be_tuned(tmp_path: Path, job: list[str]) -> None:
    place = str(tmp_path / "new.results")
    store = open_store(place, create=True)
    origin = LogOrigin("nightly", "posted", 0, is_complete=True)
    same = Configuration({PARTITIONS: 200})
    store.keep_ingested(
        "nightly",
        NOT_ASKED,
        [Observation(same, {"total_s": 9.0}, Outcome.OK, started_at=n, run_id=f"r{n}", origin=origin) for n in (1, 2)],
    )
    store.close()
    found = submit(job, Wish("nightly", explore=True), StoreAdviser(place), is_dry=True)
    assert "what may be changed" in found.as_written
    words = ["submit", "--store", place, "--levels", f"{PARTITIONS}=200,50", "--dry-run", "--", *job]
    assert isinstance(CliRunner().invoke(app, words).exception, StudyError)


# ---------------------------------------------------------------- jobs that run already


@contextmanager
def page(documents: dict[str, object]) -> Iterator[str]:
    """A UI of a cluster."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = documents.get(self.path)
            self.send_response(200 if found is not None else 404)
            self.end_headers()
            self.wfile.write(json.dumps(found).encode())

        def log_message(self, format: str, *args: object) -> None:
            return

    server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def test_running_jobs_are_counted_on_the_page_of_the_cluster() -> None:
    apps = [{"id": "app-1", "state": "RUNNING"}, {"id": "app-2", "state": "WAITING"}]
    with page({"/json/": {"activeapps": apps}}) as url:
        assert jobs_running_at(url) == jobs_running_at(url + "/") == 2
    with page({"/ws/v1/cluster/metrics": {"clusterMetrics": {"appsRunning": 3, "appsPending": 1}}}) as url:
        assert jobs_running_at(url + "/cluster") == 4
    nothings: list[dict[str, object]] = [{}, {"/json/": [1]}, {"/json/": {"activeapps": None}}]
    for nothing in nothings:
        with page(nothing) as url, pytest.raises(RunError, match="does not tell"):
            jobs_running_at(url)
    with pytest.raises(RunError, match="does not answer"):
        jobs_running_at(url)
    with pytest.raises(StudyError, match="not the URL"):
        jobs_running_at("master:8080")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Runs of a training that was alone, or shared the cluster with one or two others."""
    place = str(tmp_path_factory.mktemp("shared") / "team.results")
    draw = random.Random(3)
    runs: list[Observation] = []
    for jobs in (1, 2, 3):
        for batch in (32, 64, 128, 256):
            for _ in range(3):
                time_s = jobs * (10 + 3200 / batch) * draw.lognormvariate(0, 0.03)
                told = {"total_s": time_s, "accuracy": 0.95 - batch / 5000}
                at = Configuration({"batch_size": batch, "jobs": jobs})
                origin = LogOrigin("train", "posted", 0, is_complete=True)
                runs.append(
                    Observation(
                        at, told, Outcome.OK, started_at=1.7e9 + len(runs), run_id=f"r{len(runs)}", origin=origin
                    )
                )
    store = open_store(place, create=True)
    store.keep_ingested("train", NOT_ASKED, runs)
    store.close()
    return place


@pytest.fixture(scope="module")
def client(shared: str) -> Iterator[TestClient]:
    with asking(settings_of(shared)) as found:
        yield found


@pytest.mark.parametrize("how", ["store", "service"])
def test_the_choice_counts_the_jobs_that_run_already(shared: str, job: list[str], how: str) -> None:
    with serving(settings_of(shared)) as url:
        adviser: Adviser = StoreAdviser(shared) if how == "store" else ServiceAdviser(url)
        chosen = {}
        for n in (0, 1, 2):
            wish = Wish("train", within_s=120, passed=("batch_size",), jobs_running=n)
            found = submit(job, wish, adviser, is_dry=True)
            assert found.advice is not None, found.as_written
            chosen[n] = float(found.advice.configuration["batch_size"])
            assert found.advice.configuration["jobs"] == n + 1
            assert "jobs" not in " ".join(found.command)
        assert chosen[0] == 32 < chosen[2]
        unknown = submit(job, Wish("train", within_s=120, passed=("batch_size",)), adviser, is_dry=True)
        assert unknown.advice is not None
        assert "says how many run" in unknown.advice.reason


def test_a_job_runs_as_written_where_the_page_of_the_cluster_does_not_answer(shared: str, job: list[str]) -> None:
    wish = Wish("train", within_s=120, passed=("batch_size",), jobs_running="http://127.0.0.1:9")
    assert "does not answer" in submit(job, wish, StoreAdviser(shared), is_dry=True).as_written


def test_the_command_asks_the_page_of_the_cluster(shared: str, job: list[str]) -> None:
    with page({"/json/": {"activeapps": [{}, {}]}}) as url:
        words = ["submit", "--store", shared, "--study", "train", "--within", "120s", "--argument", "batch_size"]
        answer = CliRunner().invoke(app, [*words, "--jobs-running", url, "--dry-run", "--json", "--", *job])
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.stdout)["advice"]["configuration"]["jobs"] == 3


def test_a_check_counts_the_jobs_that_run_already(client: TestClient) -> None:
    body = {"study": "train", "configuration": {"batch_size": 32}, "within": 150}
    verdicts = [client.post("/v1/check", json={**body, "jobs_running": n}).json()["verdict"] for n in (0, 2)]
    assert verdicts[0] == "admit"
    assert verdicts[1] != "admit"
    assert client.post("/v1/check", json={**body, "jobs_running": 9}).status_code == 409
    whole = api.recommend(api.load_data(client.app.state.service.catalog.stores[0]), within_s=150, model="ridge")  # type: ignore[attr-defined]
    assert whole.chosen.configuration["jobs"] == 1


def test_an_assistant_can_say_how_many_jobs_run(client: TestClient) -> None:
    tools = AssistantTools(client.app.state.service, reads_files=False)  # type: ignore[attr-defined]
    chosen = [tools.recommend("train", within="120s", jobs_running=n).answer for n in (0, 2)]
    assert "batch_size=32" in chosen[0]
    assert "batch_size=32" not in chosen[1]
    asked = [tools.check(study="train", settings={"batch_size": 32}, within="150s", jobs_running=n) for n in (0, 2)]
    assert asked[0].answer.startswith("admit")
    assert not asked[1].answer.startswith("admit")
