"""Programs that know nothing of sparkcast, each made a study by pasting its line, on a real cluster."""

import json
import shutil
from pathlib import Path

import pyspark
import pytest

from sparkcast import api
from sparkcast.study import Outcome
from tests_support import Sparkcast

pytestmark = pytest.mark.slow

HOME = Path(pyspark.__file__).parent
EXAMPLES = HOME / "examples" / "src" / "main" / "python"
RESOURCES = {  # that sql/basic.py reads and the package does not have
    "people.json": '{"name": "Michael"}\n{"name": "Andy", "age": 30}\n{"name": "Justin", "age": 19}\n',
    "people.txt": "Michael, 29\nAndy, 30\nJustin, 19\n",
}


@pytest.mark.parametrize(
    ("program", "arguments", "changes", "expected"),
    [
        (
            "pi.py",
            ["4"],
            [
                ("# responses: {accuracy: 'AUC = ([0-9.]+)'}", "responses: {pi: 'roughly ([0-9.]+)'}"),
                ("# jobs: 1", "jobs: 2"),
            ],
            {"pi": pytest.approx(3.14, abs=0.1), "task_count": 4},
        ),
        ("kmeans.py", ["data/mllib/kmeans_data.txt", "2", "0.1"], [], {}),
        (
            "ml/random_forest_classifier_example.py",
            [],
            [("# responses: {accuracy: 'AUC = ([0-9.]+)'}", "responses: {error: 'Test Error = ([0-9.e-]+)'}")],
            {"error": pytest.approx(0.1, abs=0.2)},
        ),
        ("sql/basic.py", [], [("conf: {}", "conf: {spark.sql.shuffle.partitions: 2}")], {}),
    ],
    ids=["pi", "kmeans", "random_forest", "sql"],
)
def test_an_example_of_spark_becomes_a_study_and_runs_unchanged(
    sparkcast: Sparkcast,
    tmp_path: Path,
    program: str,
    arguments: list[str],
    changes: list[tuple[str, str]],
    expected: dict[str, object],
    no_orphans: None,
) -> None:
    shutil.copytree(HOME / "data", tmp_path / "data")
    resources = tmp_path / "examples" / "src" / "main" / "resources"
    resources.mkdir(parents=True)
    for name, text in RESOURCES.items():
        (resources / name).write_text(text)
    begun = sparkcast("init", "--", "spark-submit", "--executor-memory", "800m", EXAMPLES / program, *arguments)
    assert begun.returncode == 0, begun.stderr
    text = begun.stdout.replace("replicates: 2", "replicates: 1")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "job.yaml").write_text(text)
    ran = sparkcast("run", "job.yaml", "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["finished"] == 1
    [run] = api.load_data(tmp_path / "job.yaml").dataset.observations
    assert run.outcome is Outcome.OK, run.cause
    assert 0 < run.responses["time_s"] < run.responses["total_s"]
    assert 0 < run.responses["startup_s"] < run.responses["total_s"]
    assert run.responses["task_s"] > 0
    for name, value in expected.items():
        assert run.responses[name] == value
    assert run.fingerprint is not None
    assert bool(run.fingerprint.data) == bool(arguments[1:])  # of kmeans, which names its file
