"""What the guide shows for Airflow and for Kubernetes does what it says: with stand-ins for what is not installed."""

import json
import re
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sparkcast
from serve_support import asking, serving, settings_of

GUIDE = Path(sparkcast.__file__).parents[2] / "docs" / "guides" / "service.md"
pytestmark = pytest.mark.skipif(not GUIDE.exists(), reason="a checkout has docs/, an installed package has not")
JOB = {"study": "nightly", "within": "30m"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A job whose executors and memory were varied: all of its settings are Spark's."""
    from sparkcast.data.ingest.into_store import NOT_ASKED
    from sparkcast.store import open_store
    from sparkcast.study import Configuration, LogOrigin, Observation, Outcome

    found = str(tmp_path_factory.mktemp("team") / "team.results")
    store = open_store(found, create=True)
    origin = LogOrigin("nightly", "posted", 0, is_complete=True)
    levels = [(executors, memory) for executors in (1, 2, 4, 8) for memory in ("2g", "4g", "8g")]
    runs = [
        Observation(
            Configuration({"executors": executors, "memory": memory}),
            {"total_s": 60 + 3000 / executors + n},
            Outcome.OK,
            started_at=1.7e9 + n,
            run_id=f"nightly-{n}",
            origin=origin,
        )
        for n, (executors, memory) in enumerate(2 * levels)
    ]
    store.keep_ingested("nightly", NOT_ASKED, runs)
    store.close()
    return found


def blocks(language: str) -> Iterator[str]:
    yield from re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text(), re.DOTALL)


def test_the_airflow_task_asks_before_it_submits(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    [code] = [block for block in blocks("python") if "airflow" in block]
    submitted: list[dict[str, Any]] = []
    decorators, operators = types.ModuleType("decorators"), types.ModuleType("spark_submit")
    decorators.task = lambda function: function  # type: ignore[attr-defined]
    operators.SparkSubmitOperator = lambda **given: submitted.append(given)  # type: ignore[attr-defined]
    for name in ("airflow", "airflow.providers", "airflow.providers.apache", "airflow.providers.apache.spark"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "airflow.providers.apache.spark.operators", types.ModuleType("operators"))
    monkeypatch.setitem(sys.modules, "airflow.decorators", decorators)
    monkeypatch.setitem(sys.modules, "airflow.providers.apache.spark.operators.spark_submit", operators)
    with serving(settings_of(place)) as url:
        exec(code.replace("http://sparkcast:8080", url).replace("timeout_s=5", "timeout_s=60"), {})
    exec(code.replace("http://sparkcast:8080", "http://127.0.0.1:9"), {})  # where nobody listens
    assert submitted[0]["conf"].keys() >= {"spark.executor.instances", "spark.executor.memory"}
    assert all(isinstance(value, str) for value in submitted[0]["conf"].values())
    assert submitted[1]["conf"] == {}


def test_the_patch_of_a_spark_application_sets_its_properties(place: str) -> None:
    [line] = [block for block in blocks("console") if "kubectl patch" in block]
    [body] = re.findall(r"-d '(\{.*?\})'", line)
    [program] = re.findall(r"python -c '(.*?)'", line)
    assert json.loads(body) == JOB
    with asking(settings_of(place)) as client:
        answer = client.post("/v1/submission", json=json.loads(body))
    made = subprocess.run(
        [sys.executable, "-c", program], input=answer.text, capture_output=True, text=True, check=True
    )
    patch = json.loads(made.stdout)
    assert patch.keys() == {"spec"}
    assert patch["spec"].keys() == {"sparkConf"}
    assert patch["spec"]["sparkConf"]["spark.executor.instances"].isdigit()
