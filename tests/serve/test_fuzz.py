"""Whatever is asked, the service answers with a documented status, never with a failure of its own."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from eventlogs_support import REAL_LOG
from serve_support import asking, make_store, settings_of

_FEW = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
_VALUES = st.one_of(
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
    st.booleans(),
    st.none(),
    st.sampled_from([1, 2, 4, 64, 128, "1g", "nan", "1e400", "0x10", "²", "../../etc"]),
)
_SETTINGS = st.dictionaries(
    st.one_of(st.sampled_from(["executors", "batch_size"]), st.text(max_size=8)), _VALUES, max_size=3
)
_SECONDS = st.one_of(_VALUES, st.sampled_from(["300s", "5m", "-1s", "1e9h", 100, 0.001]))
_FIELDS = {
    "within": _SECONDS,
    "budget": _VALUES,
    "confidence": _VALUES,
    "limits": st.lists(
        st.sampled_from(["total_s <= 300", "accuracy >= 90%", "x > 1", "<=", "total_s < -1"]), max_size=3
    ),
    "maximize": st.sampled_from([None, "accuracy", "executors", "total_s", "nothing", ""]),
    "minimize": st.sampled_from([None, "total_s", "cost", "batch_size"]),
    "fix": _SETTINGS,
    "brief": st.booleans(),
    "levels": st.dictionaries(
        st.sampled_from(["executors", "batch_size", "x"]), st.lists(_VALUES, max_size=3), max_size=2
    ),
    "free_epochs": st.booleans(),
    "extrapolate": st.booleans(),
    "jobs_running": st.integers(-2, 5),
    "most": st.integers(-1, 50),
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with asking(settings_of(make_store(tmp_path_factory.mktemp("team")))) as found:
        yield found


def documented(client: TestClient, path: str, status: int) -> bool:
    paths = client.app.openapi()["paths"]  # type: ignore[attr-defined]
    return str(status) in paths[path]["post"]["responses"] and status < 500


@_FEW
@given(at=st.one_of(_SETTINGS, st.lists(_SETTINGS, max_size=3)), level=_VALUES, extrapolate=st.booleans())
def test_any_prediction(client: TestClient, at: object, level: object, extrapolate: bool) -> None:
    answer = client.post("/v1/predict", json={"study": "train", "at": at, "level": level, "extrapolate": extrapolate})
    assert documented(client, "/v1/predict", answer.status_code), answer.text


@_FEW
@given(body=st.fixed_dictionaries({}, optional=_FIELDS))
def test_any_recommendation(client: TestClient, body: dict[str, object]) -> None:
    answer = client.post("/v1/recommend", json={"study": "train", **body})
    assert documented(client, "/v1/recommend", answer.status_code), answer.text


@_FEW
@given(configuration=_SETTINGS, within=_SECONDS, confidence=st.floats(-1, 2))
def test_any_check(client: TestClient, configuration: object, within: object, confidence: float) -> None:
    body = {"study": "train", "configuration": configuration, "within": within, "confidence": confidence}
    answer = client.post("/v1/check", json=body)
    assert documented(client, "/v1/check", answer.status_code), answer.text


@_FEW
@given(
    properties=st.dictionaries(
        st.sampled_from(["spark.executor.instances", "spark.cores.max", "x"]), st.text(max_size=5)
    )
)
def test_any_submission(client: TestClient, properties: dict[str, str]) -> None:
    body = {"study": "train", "within": 300, "properties": properties, "passed": ["batch_size"]}
    answer = client.post("/v1/submission", json=body)
    assert documented(client, "/v1/submission", answer.status_code), answer.text


@settings(_FEW, max_examples=25)
@given(
    study=st.sampled_from(["train", "new", ""]),
    levels=st.dictionaries(
        st.sampled_from(["executors", "batch_size", "spark.executor.memory", "spark.executor.cores", "spark.x", ""]),
        st.lists(_VALUES, min_size=1, max_size=3),
        max_size=2,
    ),
)
def test_any_exploration(client: TestClient, study: str, levels: dict[str, list[object]]) -> None:
    body = {"study": study, "within": 300, "explore": True, "levels": levels, "passed": ["batch_size"]}
    answer = client.post("/v1/submission", json=body)
    assert documented(client, "/v1/submission", answer.status_code), answer.text


@_FEW
@given(runs=st.lists(st.fixed_dictionaries({"configuration": _SETTINGS, "responses": _SETTINGS}), max_size=2))
def test_any_post(client: TestClient, runs: object) -> None:
    answer = client.post("/v1/studies/fuzzed/observations", json={"runs": runs})
    assert answer.status_code in (201, 200, 409, 422), answer.text


@settings(deadline=None, max_examples=25)
@given(
    start=st.sampled_from([REAL_LOG.read_bytes(), b"\x28\xb5\x2f\xfd", b"\x1f\x8b\x08", b"LZ4Block", b"{"]),
    cut=st.integers(0, 6000),
    rest=st.binary(max_size=200),
)
def test_any_upload(client: TestClient, start: bytes, cut: int, rest: bytes) -> None:
    answer = client.post("/v1/profile", content=start[:cut] + rest)
    assert answer.status_code in (200, 409, 422), answer.text
