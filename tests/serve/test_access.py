"""Who may ask what: every endpoint with every kind of token."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from serve_support import AT, asking, make_store, runs_of_training, settings_of
from sparkcast.data.ingest.into_store import NOT_ASKED
from sparkcast.serve.gate import scope_of
from sparkcast.store import open_store
from sparkcast.store.service import ServiceRows, service_url

OPEN = {"/health", "/ready", "/v1/session"}


class Keys:
    def __init__(self, place: str) -> None:
        rows = ServiceRows(service_url(place))
        self.read = rows.add_token("reader", "read", team="a")
        self.write = rows.add_token("writer", "write", team="a")
        self.admin = rows.add_token("admin", "admin")
        self.other = rows.add_token("other", "admin", team="b")
        self.expired = rows.add_token("expired", "admin", expires_at=time.time() - 1)
        self.revoked = rows.add_token("revoked", "admin")
        self.slow = rows.add_token("slow", "read", per_minute=3)
        rows.revoke_token("revoked")
        rows.give("train", "a")
        rows.close()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    found = make_store(tmp_path_factory.mktemp("team"))
    store = open_store(found)
    store.keep_ingested("everybodys", NOT_ASKED, runs_of_training("everybodys"))
    store.close()
    return found


@pytest.fixture(scope="module")
def keys(place: str) -> Keys:
    return Keys(place)


@pytest.fixture(scope="module")
def client(place: str, keys: Keys) -> Iterator[TestClient]:
    with asking(settings_of(place, require_token=True)) as found:
        yield found


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def endpoints(client: TestClient) -> list[tuple[str, str]]:
    paths = client.app.openapi()["paths"]  # type: ignore[attr-defined]
    found = [(method.upper(), path) for path, methods in paths.items() for method in methods]
    assert len(found) > 20
    return [(method, path) for method, path in found if path not in OPEN]


def filled(path: str) -> str:
    return path.replace("{study}", "train").replace("{name}", "nobody").replace("{work_id}", "nothing")


@pytest.mark.parametrize("kind", ["none", "unknown", "expired", "revoked", "basic"])
def test_no_endpoint_answers_without_a_valid_token(client: TestClient, keys: Keys, kind: str) -> None:
    headers = {
        "none": {},
        "unknown": bearer("sct_x"),
        "expired": bearer(keys.expired),
        "revoked": bearer(keys.revoked),
        "basic": {"Authorization": "Basic eDp5"},
    }[kind]
    for method, path in endpoints(client):
        answer = client.request(method, filled(path), headers=headers)
        assert answer.status_code == 401, (method, path, answer.text)
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert answer.json()["schema"] == "sparkcast/error/1"


def test_no_endpoint_answers_a_token_whose_scope_is_too_narrow(client: TestClient, keys: Keys) -> None:
    tokens = {"read": keys.read, "write": keys.write, "admin": keys.admin}
    order = list(tokens)
    for method, path in endpoints(client):
        wanted = scope_of(method, filled(path))
        assert wanted is not None
        for scope, token in tokens.items():
            answer = client.request(method, filled(path), headers=bearer(token))
            is_narrow = order.index(scope) < order.index(wanted)
            assert (answer.status_code == 403) == is_narrow, (method, path, scope, answer.status_code, answer.text)


def test_another_teams_study_does_not_exist_for_anybody_else(client: TestClient, keys: Keys) -> None:
    run = {"runs": [{"configuration": AT, "responses": {"total_s": 5}}]}
    asked = [
        ("POST", "/v1/predict", {"study": "train", "at": AT}),
        ("POST", "/v1/recommend", {"study": "train"}),
        ("POST", "/v1/recommend", {"study": "train", "brief": True, "within": 300}),
        ("POST", "/v1/analyze", {"study": "train"}),
        ("POST", "/v1/check", {"study": "train", "configuration": AT, "within": 9}),
        ("POST", "/v1/check", {"line": "spark-submit --name train t.py", "within": 9}),
        ("POST", "/v1/submission", {"study": "train"}),
        ("POST", "/v1/validate", {"study": "train"}),
        ("POST", "/v1/queue", {"study": "train", "at": AT}),
        ("GET", "/v1/studies/train", None),
        ("GET", "/v1/studies/train/observations", None),
        ("GET", "/v1/studies/train/export", None),
        ("POST", "/v1/studies/train/observations", run),
        ("POST", "/v1/profile?run=train-1&study=train", None),
        ("POST", "/v1/whatif?run=train-1&study=train", None),
    ]
    client.post("/v1/predict", json={"study": "train", "at": AT}, headers=bearer(keys.read))  # it is learned now
    for method, path, body in asked:
        answer = client.request(method, path, json=body, headers=bearer(keys.other))
        assert answer.status_code == 404, (method, path, answer.text)
        assert "train" not in answer.json()["error"]["nearest"]
    for path in ("/v1/studies", "/v1/jobs", "/v1/fleet?since=9999d", "/metrics"):
        told = client.get(path, headers=bearer(keys.other)).text
        assert '"train"' not in told
    assert '"train"' in client.get("/v1/studies", headers=bearer(keys.read)).text


def test_an_administrator_of_one_team_does_not_administer_all(client: TestClient, keys: Keys) -> None:
    for method, path, body in (
        ("GET", "/v1/tokens", None),
        ("POST", "/v1/tokens", {"name": "mine", "scope": "admin"}),
        ("DELETE", "/v1/tokens/admin", None),
        ("GET", "/v1/audit", None),
        ("PUT", "/v1/owners", {"study": "train", "team": "b"}),
    ):
        assert client.request(method, path, json=body, headers=bearer(keys.other)).status_code == 403


def test_tokens_are_made_shown_once_and_revoked(client: TestClient, keys: Keys, place: str) -> None:
    made = client.post("/v1/tokens", json={"name": "ci", "scope": "write"}, headers=bearer(keys.admin))
    assert made.status_code == 201
    secret = made.json()["token"]
    assert client.get("/v1/studies", headers=bearer(secret)).status_code == 200
    assert secret not in client.get("/v1/tokens", headers=bearer(keys.admin)).text
    stored = b"".join(file.read_bytes() for file in Path(place).iterdir() if file.is_file())
    assert secret.encode() not in stored
    assert client.post("/v1/tokens", json={"name": "ci"}, headers=bearer(keys.admin)).status_code == 409
    assert client.delete("/v1/tokens/ci", headers=bearer(keys.admin)).status_code == 200
    assert client.get("/v1/studies", headers=bearer(secret)).status_code == 401


def test_more_requests_than_the_rate_are_refused(client: TestClient, keys: Keys) -> None:
    statuses = [client.get("/v1/studies", headers=bearer(keys.slow)).status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]


def test_it_is_noted_who_was_told_what(client: TestClient, keys: Keys) -> None:
    client.post("/v1/predict", json={"study": "train", "at": AT}, headers=bearer(keys.read))
    client.post("/v1/predict", json={"study": "train", "at": AT})
    noted = client.get("/v1/audit", headers=bearer(keys.admin)).json()["requests"]
    assert ("reader", "train", 200) in {(one["who"], one["about"], one["status"]) for one in noted}
    assert 401 in {one["status"] for one in noted}


def test_a_session_keeps_the_token_where_scripts_cannot_read_it(client: TestClient, keys: Keys) -> None:
    answer = client.post("/v1/session", json={"token": keys.read})
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert client.get("/v1/studies").status_code == 200
    client.delete("/v1/session")
    client.cookies.clear()
    assert client.get("/v1/studies").status_code == 401
    assert client.post("/v1/session", json={"token": "sct_wrong"}).status_code == 401


def test_every_answer_carries_the_headers_that_protect_pages(client: TestClient) -> None:
    for path in ("/health", "/v1/studies", "/nothing"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "access-control-allow-origin" not in headers


def test_pages_of_other_sites_and_other_names_of_this_machine_are_refused(place: str) -> None:
    with asking(settings_of(place)) as client:
        body = {"study": "train", "at": AT}
        assert client.post("/v1/predict", json=body, headers={"Origin": "https://evil.example"}).status_code == 403
        assert client.post("/v1/predict", json=body, headers={"Host": "evil.example"}).status_code == 421
        assert client.post("/v1/predict", json=body, headers={"Origin": "http://testserver"}).status_code == 200


def test_bodies_are_limited_whether_or_not_they_say_how_long_they_are(place: str) -> None:
    with asking(settings_of(place, max_json_bytes=1000, max_body_bytes=2000)) as client:
        assert client.post("/v1/predict", content=b" " * 1001).status_code == 413
        assert client.post("/v1/profile", content=b" " * 2001).status_code == 413

        def pieces() -> Iterator[bytes]:
            for _ in range(30):
                yield b" " * 100

        assert client.post("/v1/profile", content=pieces()).status_code == 413
        assert client.post("/v1/analyze", content=pieces()).status_code == 413
        assert not list(Path(client.app.state.service.folder).glob("upload-*"))  # type: ignore[attr-defined]
