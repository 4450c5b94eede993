"""Uploads of event logs, and long work."""

import gzip
import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from eventlogs_support import REAL_LOG
from serve_support import asking, eventually, make_store, settings_of
from sparkcast import api
from sparkcast.plain import from_json, to_json
from sparkcast.serve.app import create_app
from sparkcast.store.service import ServiceRows, service_url
from sparkcast.wire.documents import document_of


def uploads(client: TestClient) -> list[Path]:
    return [*Path(client.app.state.service.folder).glob("upload-*")]  # type: ignore[attr-defined]


def test_an_uploaded_log_gets_its_profile_and_nothing_of_it_is_kept() -> None:
    with asking(settings_of(None)) as client:
        told = client.post("/v1/profile", content=REAL_LOG.read_bytes())
        assert told.status_code == 200, told.text
        expected = from_json(to_json(document_of("profile", api.profile(REAL_LOG))))
        assert {**told.json(), "log": ""} == {**expected, "log": ""}
        assert uploads(client) == []


def test_an_uploaded_log_is_replayed_on_other_clusters() -> None:
    with asking(settings_of(None)) as client:
        told = client.post("/v1/whatif?executors=1,2,4&cores=1", content=REAL_LOG.read_bytes())
        assert [one["executors"] for one in told.json()["configurations"]] == [1, 2, 4]
        assert client.post("/v1/whatif?executors=0", content=b"x").status_code == 422
        assert client.post("/v1/whatif?executors=1;2", content=b"x").status_code == 422


@pytest.mark.parametrize(
    "body",
    [b"not a log", b"\x28\xb5\x2f\xfd" + b"\0" * 40, gzip.compress(b"x" * 100)[:-9], b"{}\n" * 500],
    ids=["text", "zstd", "gzip that ends early", "no events"],  # bytes of gzip hold the time of day
)
def test_what_is_no_log_is_refused_without_a_name_of_this_machine(body: bytes) -> None:
    with asking(settings_of(None)) as client:
        answer = client.post("/v1/profile", content=body)
        assert answer.status_code == 422, answer.text
        assert "upload-" not in answer.text
        assert "/tmp" not in answer.text
        assert uploads(client) == []


def test_a_log_that_unpacks_to_too_much_is_refused_before_it_is_read() -> None:
    line = b'{"Event":"SparkListenerLogStart","Spark Version":"3.5.0"}\n'
    with asking(settings_of(None, max_log_bytes=10_000)) as client:
        answer = client.post("/v1/profile", content=gzip.compress(line * 1000))
        assert answer.status_code == 422
        assert "10,000 bytes" in answer.text
    with asking(settings_of(None)) as client:
        bomb = gzip.compress(b" " * 50_000_000)
        answer = client.post("/v1/profile", content=bomb)
        assert answer.status_code == 422
        assert "150 times" in answer.text


def test_no_request_names_a_path_of_this_machine(tmp_path: Path) -> None:
    with asking(settings_of(make_store(tmp_path))) as client:
        for run in ("/etc/passwd", str(REAL_LOG), "../../x", "train-1"):
            answer = client.post("/v1/profile", params={"run": run, "study": "train"})
            assert answer.status_code == 404, answer.text


def test_a_log_that_the_store_knows_is_profiled_by_the_name_of_its_run(tmp_path: Path) -> None:
    place = str(tmp_path / "team.results")
    api.ingest(REAL_LOG, place)
    with asking(settings_of(place)) as client:
        [study] = client.get("/v1/studies").json()["studies"]
        store = client.app.state.service.store()  # type: ignore[attr-defined]
        [run] = store.ingested(study["name"])
        told = client.post("/v1/profile", params={"run": run.run_id, "study": study["name"]})
        assert told.status_code == 200, told.text
        assert told.json()["parts"]


def test_long_work_tells_its_steps_and_then_its_answer(tmp_path: Path) -> None:
    with asking(settings_of(make_store(tmp_path))) as client:
        accepted = client.post("/v1/validate", json={"study": "train", "models": ["ridge", "median"]})
        assert accepted.status_code == 202
        where = accepted.headers["location"]
        events = client.get(f"{where}/events").text
        assert "event: end" in events
        done = client.get(where).json()
        assert done["state"] == "done"
        assert [card["model"] for card in done["answer"]["scorecards"]] == ["ridge", "median"]


def test_work_that_fails_tells_why(tmp_path: Path) -> None:
    with asking(settings_of(make_store(tmp_path))) as client:
        answer = client.post("/v1/validate?wait=30", json={"study": "train", "protocol": "guess"})
        assert answer.status_code in (404, 422)
        assert "guess" in answer.text


def test_work_that_a_stopped_service_left_is_done_by_the_next(tmp_path: Path) -> None:
    place = make_store(tmp_path)
    rows = ServiceRows(service_url(place))
    row = rows.add_work("validate", {"study": "train", "models": ["median"]}, "")
    rows.note_work(row.id, {"step": "begun"})  # and then the service was killed
    lost = rows.add_work("profile", {"logs": ["/nowhere/upload-1"], "is_upload": True, "options": {}}, "")
    rows.close()
    with asking(settings_of(place)) as client:
        eventually(lambda: client.get(f"/v1/work/{row.id}").json()["state"] == "done")
        told = eventually(lambda: (found := client.get(f"/v1/work/{lost.id}").json())["state"] == "failed" and found)
        assert "upload it again" in told["answer"]["error"]["hint"]


def test_work_can_be_cancelled_while_a_process_does_it(tmp_path: Path) -> None:
    with asking(settings_of(make_store(tmp_path), workers=1, model="auto")) as client:
        slow = {"study": "train", "protocol": "loo", "models": ["auto", "gray-box"]}
        where = client.post("/v1/validate", json=slow).headers["location"]
        assert client.delete(where).json()["state"] == "cancelled"
        time.sleep(0.2)
        assert client.get(where).json()["state"] == "cancelled"


def test_the_openapi_document_describes_every_answer() -> None:
    document = create_app(settings_of(None)).openapi()
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            assert {"401", "403", "404", "422", "429"} <= told["responses"].keys(), (method, path)
            assert told["summary"]
