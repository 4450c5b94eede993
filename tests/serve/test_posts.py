"""Runs that are posted: stored once, learned from, and never in the way of others."""

import threading
from pathlib import Path

import pytest

from serve_support import AT, asking, eventually, make_store, settings_of
from sparkcast import api
from sparkcast.serve.catalog import CatalogEntry
from sparkcast.serve.learning import Learned, learn

RUN = {"configuration": {"executors": 4, "batch_size": 64}, "responses": {"total_s": 95.0}, "started_at": 1.8e9}
POST = "/v1/studies/train/observations"
KEY = {"Idempotency-Key": "run-2026-11-19"}


def test_a_post_that_is_repeated_is_stored_once(tmp_path: Path) -> None:
    place = make_store(tmp_path)
    with asking(settings_of(place)) as client:
        first = client.post(POST, json={"runs": [RUN]}, headers=KEY)
        again = client.post(POST, json={"runs": [RUN]}, headers=KEY)
        assert (first.status_code, again.status_code) == (201, 200)
        assert first.json() == again.json()
        other = client.post(POST, json={"runs": [{**RUN, "responses": {"total_s": 1.0}}]}, headers=KEY)
        assert other.status_code == 409
        assert client.post(POST, json={"runs": [RUN]}).status_code == 201  # without a key each post is another run
        assert client.post(POST, json={"runs": [RUN]}).status_code == 201
    assert len(api.load_data(place, study="train").dataset.observations) == 36 + 3


def test_a_repeated_post_is_known_to_another_service_of_the_store(tmp_path: Path) -> None:
    place = make_store(tmp_path)
    for status in (201, 200):
        with asking(settings_of(place)) as client:
            assert client.post(POST, json={"runs": [RUN]}, headers=KEY).status_code == status


def test_the_model_is_learned_anew_in_the_background_when_runs_come_in(tmp_path: Path) -> None:
    with asking(settings_of(make_store(tmp_path))) as client:
        asked = {"study": "train", "at": AT}
        before = client.post("/v1/predict", json=asked).json()
        slow = [{**RUN, "responses": {"total_s": 400.0 + n}} for n in range(20)]
        client.post(POST, json={"runs": slow})

        def changed() -> bool:
            return bool(client.post("/v1/predict", json=asked).json()["basis"]["digest"] != before["basis"]["digest"])

        eventually(changed)
        after = client.post("/v1/predict", json=asked).json()
        assert after["basis"]["runs"] == 56
        assert after["prediction"]["value"] > 1.5 * before["prediction"]["value"]


def test_runs_that_another_process_stores_are_noticed(tmp_path: Path) -> None:
    from sparkcast.data.ingest.into_store import NOT_ASKED
    from sparkcast.store import open_store
    from sparkcast.study import Configuration, LogOrigin, Observation

    place = make_store(tmp_path)
    with asking(settings_of(place)) as client:
        client.post("/v1/predict", json={"study": "train", "at": AT})
        store = open_store(place)
        origin = LogOrigin("train", "posted", 0, is_complete=True)
        store.keep_ingested(
            "train", NOT_ASKED, [Observation(Configuration(AT), {"total_s": 90.0}, run_id="new", origin=origin)]
        )
        store.close()
        eventually(lambda: client.post("/v1/predict", json={"study": "train", "at": AT}).json()["basis"]["runs"] == 37)


def test_a_job_that_was_never_seen_becomes_a_study(tmp_path: Path) -> None:
    with asking(settings_of(make_store(tmp_path))) as client:
        runs = [
            {"configuration": {"executors": n}, "responses": {"total_s": 100 / n + k}}
            for n in (1, 2, 4, 8)
            for k in (0, 2)
        ]
        assert client.post("/v1/studies/etl/nightly/observations", json={"runs": runs}).status_code == 201
        told = client.post("/v1/predict", json={"study": "etl/nightly", "at": {"executors": 2}})
        assert told.status_code == 200, told.text
        assert told.json()["basis"]["runs"] == 8


@pytest.mark.parametrize(
    ("run", "told"),
    [
        ({"configuration": {}, "responses": {"total_s": 5}}, "no settings"),
        ({"configuration": AT, "responses": {}}, "total_s"),
        ({"configuration": AT, "responses": {"total_s": -5}}, "negative"),
        ({"configuration": AT, "responses": {"total_s": "fast"}}, "number"),
        ({"configuration": AT, "responses": {"total_s": 5}, "outcome": "fine"}, "fine"),
        ({"configuration": {"executors": [1]}, "responses": {"total_s": 5}}, "valid"),
        ({"configuration": AT, "responses": {"total_s": 5}, "log": "/etc/passwd"}, "log"),
        ({"configuration": AT, "responses": {"total_s": 5}, "run_id": "../x"}, "run_id"),
        ({"configuration": AT, "responses": {"total_s": 5}, "run_id": "train-1"}, "already"),
    ],
)
def test_a_run_that_no_answer_could_use_is_refused(tmp_path: Path, run: dict[str, object], told: str) -> None:
    with asking(settings_of(make_store(tmp_path))) as client:
        answer = client.post(POST, json={"runs": [run]})
        assert answer.status_code in (409, 422), answer.text
        assert told in answer.text
        assert client.get("/v1/studies/train").json()["runs"] == 36


def test_failed_runs_are_kept_with_their_cause_and_without_its_secrets(tmp_path: Path) -> None:
    with asking(settings_of(make_store(tmp_path))) as client:
        cause = "java.sql.SQLException: jdbc:postgresql://u:hunter2@db/x"
        failed = {"configuration": AT, "outcome": "oom", "cause": cause}
        assert client.post(POST, json={"runs": [failed]}).status_code == 201
        eventually(lambda: client.get("/v1/studies/train").json()["failed"] == 1)
        text = client.get("/v1/studies/train/observations").text
        assert "SQLException" in text
        assert "hunter2" not in text


def test_who_asks_first_is_told_to_come_back_where_learning_takes_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end, began = threading.Event(), []

    def slowly(entry: CatalogEntry, model: str) -> Learned:
        began.append(entry.name)
        may_end.wait(60)
        return learn(entry, model)

    monkeypatch.setattr("sparkcast.serve.state.learn", slowly)
    monkeypatch.setattr("sparkcast.serve.v1.common._MOST_WAIT_S", 0.05)
    body = {"study": "train", "at": AT}
    with asking(settings_of(make_store(tmp_path))) as client:
        for _ in range(2):
            answer = client.post("/v1/predict", json=body)
            assert answer.status_code == 503
            assert "still being learned" in answer.json()["error"]["problem"]
            assert answer.headers["Retry-After"]
        may_end.set()
        assert eventually(lambda: client.post("/v1/predict", json=body).status_code == 200)
        assert began == ["train"]
