"""Plugs from outside, installed through entry points: model, design, searcher, workload and engine, one file each."""

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

Call = Callable[..., "subprocess.CompletedProcess[str]"]

FILES = {
    "acme_model.py": '''
        """The configuration that was run and resembles the asked one most."""
        from dataclasses import dataclass
        from typing import Any
        from sparkcast.models.base import MODELS, LearnedPoints, Model, Problem

        @dataclass(frozen=True, slots=True, eq=False)
        class Neighbors:
            x: Any
            target: Any
            spread: Any

            def __call__(self, x: Any) -> Any:
                distances = (((x[:, None] - self.x) / self.spread) ** 2).sum(axis=2)
                return self.target[distances.argmin(axis=1)]

        @MODELS.register("acme-nearest")
        class Nearest(Model):
            """The response of the nearest configuration that was run."""

            auto_from = 3
            is_usual = True

            def learn(self, problem: Problem) -> LearnedPoints:
                spread = problem.x.std(axis=0)
                return LearnedPoints(Neighbors(problem.x, problem.target, spread + (spread == 0)))
        ''',
    "acme_design.py": '''
        """A design of somebody else."""
        from dataclasses import dataclass
        from sparkcast.designs.base import DESIGNS, Chosen, Study, TimeOf

        @DESIGNS.register("acme-first")
        @dataclass(frozen=True)
        class First:
            """The first so many combinations."""

            runs: int = 3

            def choose(self, study: Study, time_of: TimeOf | None = None) -> Chosen:
                return Chosen(study.space().candidates().configurations()[: self.runs])
        ''',
    "acme_searcher.py": '''
        """A searcher of somebody else."""
        from sparkcast.search.base import SEARCHERS, Search, Evaluation

        @SEARCHERS.register("acme-backwards")
        class Backwards:
            """The candidates from last to first."""

            warnings: tuple[str, ...] = ()

            def __init__(self, search: Search) -> None:
                self._left = list(search.candidates)

            def ask(self):
                return self._left.pop() if self._left else None

            def tell(self, evaluation: Evaluation) -> None:
                pass

            @property
            def stopped_because(self) -> str:
                return "" if self._left else "every candidate was run"
        ''',
    "acme_workload.py": '''
        """A workload of somebody else, whose machines are called hosts."""
        import time
        from sparkcast.workloads.base import WORKLOADS, Kind, Response, Role, Setting

        @WORKLOADS.register("acme-sum")
        class Sum:
            """Adds up numbers."""

            settings = (
                Setting("hosts", 1, "machines that add", minimum=1, role=Role.MACHINES),
                Setting("numbers", 1000, "how many to add", minimum=1, role=Role.DATA_SIZE),
            )
            responses = (Response("seconds", kind=Kind.TIME), Response("auc", kind=Kind.SHARE))
            example = {"hosts": [1, 2], "numbers": [1000, 2000]}

            def check(self, settings) -> None:
                pass

            def prepare(self, settings, data_dir) -> str:
                return ""

            def spark_conf(self, settings):
                return {}

            def run(self, job) -> None:
                context = job.spark_context()
                job.started()
                start = time.perf_counter()
                total = context.parallelize(range(int(job.settings["numbers"])), 2).sum()
                job.result(seconds=time.perf_counter() - start, auc=0.5 + 0.4 * (total > 0))
        ''',
    "acme_engine.py": '''
        """An engine of somebody else: a gateway that takes jobs."""
        from sparkcast.engines.base import ENGINES, Submission

        @ENGINES.register("acme-gateway")
        class Gateway:
            """A gateway of acme, by its address: acme:HOST."""

            masters = ("acme",)

            def __init__(self, options):
                self._host = options.master.partition(":")[2]

            def capacity(self, shapes):
                return None

            def defaults(self):
                return {}

            def submission(self, job):
                conf = [word for name, value in job.conf.items() for word in ("--conf", f"{name}={value}")]
                return Submission(("acme-submit", "--at", self._host, *conf, str(job.application), *job.arguments), {})
        ''',
}
ENTRY_POINTS = """
[sparkcast.models]
acme = acme_model:Nearest
[sparkcast.designs]
acme = acme_design:First
[sparkcast.searchers]
acme = acme_searcher:Backwards
[sparkcast.workloads]
acme = acme_workload:Sum
[sparkcast.engines]
acme = acme_engine:Gateway
"""
STUDY = """
study: acme
workload: acme-sum
settings: {hosts: [1, 2], numbers: [1000, 2000, 4000]}
design: {kind: acme-first, runs: 4}
responses: [seconds, auc]
price: {core_hour: 0.5}
limits: {trial: 2m}
"""
ROWS = [(hosts, numbers, 3 + numbers / hosts / 100) for hosts in (1, 2, 4) for numbers in (100, 200, 400)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder on the path with the modules and the metadata that `pip install` would leave."""
    site = tmp_path_factory.mktemp("site")
    for name, text in FILES.items():
        (site / name).write_text(textwrap.dedent(text))
    info = site / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    return site


@pytest.fixture(scope="module")
def environment(site: Path) -> dict[str, str]:
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path}


@pytest.fixture
def call(environment: dict[str, str], tmp_path: Path) -> Call:
    rows = "\n".join(f"{hosts},{numbers},{seconds}" for hosts, numbers, seconds in ROWS)
    (tmp_path / "runs.csv").write_text(f"hosts,numbers,seconds\n{rows}\n")
    (tmp_path / "acme.yaml").write_text(STUDY)

    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "sparkcast", *words]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=500
        )

    return run


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("models", "acme-nearest"),
        ("designs", "acme-first"),
        ("searchers", "acme-backwards"),
        ("workloads", "acme-sum"),
        ("engines", "acme-gateway"),
    ],
)
def test_a_plug_from_outside_is_listed(call: Call, kind: str, name: str) -> None:
    assert name in call("list", kind).stdout


def test_a_model_from_outside_is_validated_joins_auto_and_is_saved(call: Call) -> None:
    asked = ("runs.csv", "--role", "hosts=machines,numbers=data-size,seconds=time")
    validated = json.loads(call("validate", *asked, "--model", "acme-nearest", "--json").stdout)
    assert "acme-nearest" in [card["model"] for card in validated["scorecards"]]
    learned = json.loads(call("fit", *asked, "--json").stdout)
    assert "acme-nearest" in learned["responses"][0]["choices"][0]["errors"]
    saved = call("fit", *asked, "--model", "acme-nearest", "--save", "acme.sparkcast")
    assert saved.returncode == 0, saved.stderr
    answer = json.loads(call("predict", "acme.sparkcast", "--at", "hosts=2,numbers=200", "--json").stdout)
    assert answer["prediction"]["value"] == pytest.approx(4.0)
    assert answer["model"] == "acme-nearest"


def test_a_saved_model_of_a_package_that_is_not_there_is_refused(call: Call, tmp_path: Path) -> None:
    asked = ("runs.csv", "--role", "seconds=time", "--model", "acme-nearest", "--save", "acme.sparkcast")
    assert call("fit", *asked).returncode == 0
    command = [sys.executable, "-m", "sparkcast", "predict", "acme.sparkcast", "--at", "hosts=2,numbers=200"]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert answer.returncode == 2
    assert "no model named 'acme-nearest'" in answer.stderr


def test_a_design_from_outside_plans_a_study_of_a_workload_from_outside(call: Call) -> None:
    plan = json.loads(call("design", "acme.yaml", "--json").stdout)
    assert plan["design"] == "acme-first"
    assert [(trial["hosts"], trial["numbers"]) for trial in plan["trials"]] != []
    assert len(plan["trials"]) == 4


def test_an_engine_from_outside_takes_the_masters_that_it_declares(call: Call) -> None:
    answer = call("run", "acme.yaml", "--dry-run", "--master", "acme:gate.example", "--json")
    assert answer.returncode == 0, answer.stderr
    lines = json.loads(answer.stdout)
    assert len(lines) == 4
    assert all("acme-submit" in line and "--at gate.example" in line for line in lines)


def test_plugs_from_outside_stand_on_the_generated_pages(environment: dict[str, str]) -> None:
    root = Path(__file__).parents[1]
    code = "import runpy; print(runpy.run_path('docs/generate.py')['_plugins']())"
    command = [sys.executable, "-c", code]
    answer = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    for name in ("acme-nearest", "acme-first", "acme-backwards", "acme-sum", "acme-gateway"):
        assert f"`{name}`" in answer.stdout


@pytest.mark.slow
def test_plugs_from_outside_are_run_and_tuned_on_a_real_cluster(call: Call, no_orphans: None) -> None:
    ran = call("run", "acme.yaml", "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["finished"] == 4
    tuned = call("tune", "acme.yaml", "--searcher", "acme-backwards", "--minimize", "cost", "--max-runs", "2", "--json")
    assert tuned.returncode == 0, tuned.stderr
    result = json.loads(tuned.stdout)
    assert result["searcher"] == "acme-backwards"
    assert result["best"]["configuration"]["hosts"] in (1, 2)
    assert "--conf spark.executor.instances=" in " ".join(result["conf"])
