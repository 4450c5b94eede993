"""The service answers as the commands do, and says what each answer rests on."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from history_support import a_run
from serve_support import AT, asking, make_store, settings_of
from sparkcast import api
from sparkcast.data.ingest.into_store import NOT_ASKED
from sparkcast.errors import InfeasibleError
from sparkcast.learned.knowledge import knowledge_of
from sparkcast.learned.predict import predict
from sparkcast.plain import from_json, to_json
from sparkcast.recommend.brief import choose_briefly
from sparkcast.recommend.question import Question
from sparkcast.recommend.verdict import check_settings
from sparkcast.store import open_store
from sparkcast.wire.documents import document_of


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_store(tmp_path_factory.mktemp("team"))


@pytest.fixture(scope="module")
def client(place: str) -> Iterator[TestClient]:
    with asking(settings_of(place)) as found:
        yield found


def plain(document: object) -> object:
    return from_json(to_json(document))


def test_a_prediction_is_the_document_of_the_command_with_its_basis(client: TestClient, place: str) -> None:
    known = knowledge_of(api.load_data(place, study="train"), "ridge")
    expected = plain(document_of("predict", api.predict(known, AT)))
    for _ in range(2):  # the first goes the long way, the second may be looked up
        told = client.post("/v1/predict", json={"study": "train", "at": AT}).json()
        basis = told.pop("basis")
        assert (
            told == pytest.approx_document(expected) if hasattr(pytest, "approx_document") else _close(told, expected)
        )
        assert basis["runs"] == 36
        assert basis["configurations"] == 12
        assert basis["is_current"]
        assert basis["digest"]


def _close(a: object, b: object) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_close(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_close(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float | int):
        return abs(a - b) <= 1e-9 * max(1.0, abs(a))
    return a == b


@settings(deadline=None, max_examples=20)
@given(
    executors=st.sampled_from([1, 2, 4, 8]),
    batch=st.sampled_from([64, 128, 256]),
    level=st.sampled_from([0.5, 0.8, 0.9, 0.99]),
)
def test_a_prediction_that_is_looked_up_is_the_one_that_is_computed(
    client: TestClient, executors: int, batch: int, level: float
) -> None:
    state = client.app.state.service  # type: ignore[attr-defined]
    learned = state.learned("train")
    at = {"executors": executors, "batch_size": batch}
    looked_up = learned.tabled["total_s"].at(at, level)
    computed = predict(learned.knowledge, at, response="total_s", level=level)
    assert _close(plain(document_of("predict", looked_up)), plain(document_of("predict", computed)))


@settings(deadline=None, max_examples=25)
@given(within=st.floats(25, 400), confidence=st.sampled_from([0.5, 0.8, 0.95]))
def test_a_brief_choice_is_that_of_the_whole_recommendation(
    client: TestClient, within: float, confidence: float
) -> None:
    recommender = client.app.state.service.learned("train").advisor.recommender  # type: ignore[attr-defined]
    question = Question(within_s=within, confidence=confidence)
    brief = choose_briefly(recommender, question)
    if brief is None:
        with pytest.raises(InfeasibleError):
            recommender.ask(question)
        return
    whole = recommender.ask(question)
    assert brief.chosen.configuration == whole.chosen.configuration
    assert brief.chosen.probability == whole.chosen.probability
    assert whole.considered is not None
    assert brief.meeting == whole.considered.meeting


def test_a_check_admits_what_meets_the_deadline_and_changes_what_does_not(client: TestClient) -> None:
    body = {"study": "train", "configuration": AT, "within": "2m"}
    admitted = client.post("/v1/check", json=body).json()
    assert admitted["verdict"] == "admit"
    changed = client.post("/v1/check", json={**body, "configuration": {"executors": 1, "batch_size": 64}}).json()
    assert changed["verdict"] == "change"
    assert changed["change_to"]["probability"] >= 0.95 > changed["asked"]["probability"]
    refused = client.post("/v1/check", json={**body, "within": 1}).json()
    assert refused["verdict"] == "refuse"
    assert refused["nearest"]


def test_settings_that_are_no_candidate_are_checked_by_the_model(client: TestClient) -> None:
    learned = client.app.state.service.learned("train")  # type: ignore[attr-defined]
    at = {"executors": 3, "batch_size": 100}
    found = check_settings(learned.advisor.recommender, at, Question(within_s=150))
    predicted = predict(learned.knowledge, at, response="total_s")
    assert found.chances[0] == pytest.approx(predicted.probability(at_most=150), abs=0.02)


@pytest.mark.parametrize(
    ("path", "body", "status", "told"),
    [
        ("/v1/predict", {"study": "trian", "at": AT}, 404, "train"),
        ("/v1/predict", {"study": "train", "at": {"executers": 2}}, 422, "executors"),
        ("/v1/predict", {"study": "train", "at": AT, "levle": 0.9}, 422, "levle"),
        ("/v1/predict", {"study": "train", "at": {"executors": 4000, "batch_size": 64}}, 409, "extrapol"),
        ("/v1/recommend", {"study": "train", "within": "1s"}, 409, "relax"),
        ("/v1/recommend", {"study": "train", "within": "1s", "brief": True}, 409, "relax"),
        ("/v1/recommend", {"study": "train", "within": "soon"}, 422, "soon"),
        ("/v1/recommend", {"study": "train", "within": -1}, 422, "within"),
        ("/v1/recommend", {"study": "train", "limits": ["nonsense"]}, 422, "limit"),
        ("/v1/check", {"within": 5}, 422, "line"),
        ("/v1/check", {"line": "spark-submit --name train t.py 'x", "within": 5}, 422, "quote"),
        ("/v1/queue", {"arrival_rate": 1.0}, 422, "time"),
        ("/v1/analyze", {"study": "train", "response": "speed"}, 422, "speed"),
        ("/v1/nothing", {}, 404, "openapi"),
    ],
)
def test_what_cannot_be_answered_says_why_in_the_one_shape_of_errors(
    client: TestClient, path: str, body: dict[str, object], status: int, told: str
) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code == status, answer.text
    document = answer.json()
    assert document["schema"] == "sparkcast/error/1"
    assert document["error"].keys() == {"code", "problem", "hint", "nearest"}
    assert told in answer.text


def test_a_body_that_is_not_json_is_refused(client: TestClient) -> None:
    answer = client.post("/v1/predict", content=b"{not json", headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["schema"] == "sparkcast/error/1"


def test_a_study_tells_its_settings_and_its_runs(client: TestClient) -> None:
    told = client.get("/v1/studies/train").json()
    assert told["settings"] == {"executors": [1, 2, 4, 8], "batch_size": [64, 128, 256]}
    page = client.get("/v1/studies/train/observations", params={"after": 30, "limit": 100}).json()
    assert page["total"] == 36
    assert len(page["observations"]) == 6
    table = client.get("/v1/studies/train/export").text
    assert len(table.splitlines()) == 37
    assert [job["name"] for job in client.get("/v1/jobs").json()["jobs"]] == ["train"]


def test_a_study_file_and_a_table_are_served_by_their_names(tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("executors,time_s\n" + "".join(f"{n},{100 / n + k}\n" for n in (1, 2, 4, 8) for k in (0, 1)))
    with asking(settings_of(None, str(table))) as client:
        told = client.post("/v1/predict", json={"study": "mine", "at": {"executors": 2}}).json()
        assert 40 < told["prediction"]["value"] < 65
        assert client.post("/v1/studies/mine/observations", json={"runs": [{"configuration": AT}]}).status_code == 507


def test_a_service_without_anything_lives_and_says_that_it_knows_nothing() -> None:
    with asking(settings_of(None)) as client:
        assert client.get("/ready").status_code == 200
        assert client.get("/v1/studies").json()["studies"] == []
        assert client.post("/v1/predict", json={"study": "x", "at": {}}).status_code == 404


def test_prometheus_reads_predictions_and_requests(client: TestClient) -> None:
    client.post("/v1/predict", json={"study": "train", "at": AT})
    text = client.get("/metrics").text
    assert 'sparkcast_predicted_seconds{study="train",quantile="0.95"}' in text
    assert 'sparkcast_requests_total{method="POST",endpoint="/v1/predict",status="200"}' in text
    for line in text.splitlines():
        assert line.startswith("#") or len(line.rpartition(" ")[2]) > 0
        if not line.startswith("#"):
            float(line.rpartition(" ")[2])


def test_prometheus_reads_the_chance_of_the_deadline_that_jobs_are_submitted_with(client: TestClient) -> None:
    last = 20 + 200 / 8 * (1 + 32 / 256)  # about what the last run took
    for within, is_likely in ((2 * last, True), (last / 2, False)):
        body = {"study": "train", "configuration": AT, "within": within}
        assert client.post("/v1/check", json=body).status_code == 200
        text = client.get("/metrics").text
        assert f'sparkcast_deadline_seconds{{study="train"}} {within:.10g}' in text
        [chance] = re.findall(r'sparkcast_deadline_probability\{study="train"\} (\S+)', text)
        assert (float(chance) > 0.5) == is_likely


def test_prometheus_reads_that_a_job_got_slower(tmp_path: Path) -> None:
    place = str(tmp_path / "fleet.results")
    store = open_store(place, create=True)
    store.keep_ingested("nightly", NOT_ASKED, [a_run(n, work_s=600 if n < 15 else 900) for n in range(30)])
    store.keep_ingested("hourly", NOT_ASKED, [a_run(n, job="hourly", noise=1 + 0.01 * (n % 3)) for n in range(30)])
    store.close()
    with asking(settings_of(place)) as client:
        for job in ("nightly", "hourly"):
            assert client.get(f"/v1/studies/{job}").status_code == 200
        text = client.get("/metrics").text
    assert 'sparkcast_changes{study="nightly"} 1' in text
    assert 'sparkcast_changes{study="hourly"} 0' in text
    [ratio] = re.findall(r'sparkcast_last_change_ratio\{study="nightly"\} (\S+)', text)
    assert 0.3 < float(ratio) < 0.6


def test_a_line_is_checked_by_the_history_of_its_job_and_anew_when_runs_come_in(tmp_path: Path) -> None:
    place = str(tmp_path / "fleet.results")
    store = open_store(place, create=True)
    store.keep_ingested("nightly", NOT_ASKED, [a_run(n) for n in range(15)])
    question = {"line": "spark-submit --name nightly etl.py", "within": 900}
    with asking(settings_of(place)) as client:
        first = client.post("/v1/check", json=question).json()
        assert first["verdict"] == "admit"
        assert client.post("/v1/check", json=question).json()["probability"] == first["probability"]
        store.keep_ingested("nightly", NOT_ASKED, [a_run(n, work_s=1200) for n in range(15, 25)])
        assert client.post("/v1/check", json=question).json()["verdict"] != "admit"
        assert client.post("/v1/check", json={**question, "line": "spark-submit --name x y.py"}).status_code == 404
    store.close()
