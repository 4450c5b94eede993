"""Rows and settings of the four `mllib-*` workloads; no Spark here. They are run in
tests/papers/workloads/test_mllib_runs.py."""

import importlib.util
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from sparkcast import api
from sparkcast.errors import RunError, StudyError
from sparkcast.study import Configuration, Level
from sparkcast.workloads import WORKLOADS, complete, mllib
from sparkcast.workloads.driver import ship_workloads
from sparkcast.workloads.mllib import LearnsFromRows, ModelQuality, true_coefficients
from tests_support import Call

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = [name for name in WORKLOADS.names() if name.startswith("mllib-")]


def plug(name: str) -> LearnsFromRows:
    made = WORKLOADS.get(name)()
    assert isinstance(made, LearnsFromRows)
    return made


def complete_settings(name: str, **settings: Level) -> Configuration:
    return complete(WORKLOADS.get(name)(), settings)


def drawn(name: str, rows: int, **settings: Level) -> tuple[Any, Any]:
    return plug(name).make_rows(np.random.default_rng(5), rows, complete_settings(name, **settings))


@pytest.mark.parametrize("name", NAMES)
def test_the_same_settings_give_the_same_files_and_another_seed_gives_others(name: str, tmp_path: Path) -> None:
    def features(folder: str, **settings: Level) -> Any:
        settings = {"rows": 300, **settings}
        fingerprint = plug(name).prepare(complete_settings(name, **settings), tmp_path / folder)
        return pq.read_table(tmp_path / folder / fingerprint / "training").column("features").to_pylist()

    first = features("a")
    assert (len(first), len(first[0])) == (300, 20)
    assert features("b", partitions=7) == first
    assert features("a", seed=2) != first


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_held_out_that_were_not_learned_from(name: str, tmp_path: Path) -> None:
    folder = tmp_path / plug(name).prepare(complete_settings(name, rows=301), tmp_path)
    training, held_out = (pq.read_table(folder / part).column("features").to_pylist() for part in mllib._PARTS)
    assert (len(training), len(held_out)) == (301, 61)
    assert not {*map(tuple, training)} & {*map(tuple, held_out)}


def test_rows_beyond_one_chunk_are_new_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mllib, "_CHUNK_NUMBERS", 100 * 20)
    folder = tmp_path / plug(NAMES[0]).prepare(complete_settings(NAMES[0], rows=250), tmp_path)
    assert len(list((folder / "training").iterdir())) == 3
    rows = pq.read_table(folder / "training").column("features").to_pylist()
    assert len({*map(tuple, rows)}) == 250


def test_scikit_learn_finds_the_true_coefficients_of_both_regressions() -> None:
    for name, model in (
        ("mllib-linear-regression", LinearRegression()),
        ("mllib-logistic-regression", LogisticRegression(C=np.inf)),
    ):
        x, y = drawn(name, 50_000, features=6)
        found = model.fit(x, y).coef_.ravel()
        assert found == pytest.approx(true_coefficients(complete_settings(name, features=6)), abs=0.08)


@pytest.mark.parametrize("features", [1, 4, 20])
def test_the_classes_of_the_forest_are_equally_frequent_so_that_guessing_gives_a_half(features: int) -> None:
    assert drawn("mllib-random-forest", 50_000, features=features)[1].mean() == pytest.approx(0.5, abs=0.01)


def test_points_lie_around_the_centers_of_their_clusters() -> None:
    x, labels = drawn("mllib-kmeans", 20_000, clusters=3)
    for label in range(3):
        assert x[labels == label].std(axis=0) == pytest.approx(np.ones(20), abs=0.05)
    assert x.std(axis=0).mean() > 1.2


@pytest.mark.parametrize("name", NAMES)
def test_executors_make_rows_without_having_sparkcast_or_the_package_of_the_workload(name: str) -> None:
    from pyspark import cloudpickle

    ship_workloads()
    settings = dict(complete_settings(name, rows=300))
    make = partial(mllib._record_batches, part="training", make_rows=plug(name).make_rows, settings=settings)
    code = (
        "import sys; sys.modules['sparkcast'] = sys.modules['sparkcast_papers'] = None; "
        "import pyarrow; from pyspark import cloudpickle; "
        "make = cloudpickle.loads(sys.stdin.buffer.read()); "
        "numbers = pyarrow.record_batch([pyarrow.array([0])], names=['id']); "
        "print(*(batch.num_rows for batch in make([numbers])))"
    )
    pickled = cloudpickle.dumps(make)
    answer = subprocess.run([sys.executable, "-c", code], input=pickled, capture_output=True, check=True)
    assert answer.stdout == b"300\n"


def test_rows_that_executors_make_are_those_of_the_files(tmp_path: Path) -> None:
    settings = complete_settings(NAMES[0], rows=300)
    folder = tmp_path / plug(NAMES[0]).prepare(settings, tmp_path)
    made = mllib._chunk(0, "training", plug(NAMES[0]).make_rows, settings)
    assert made.column("features").to_pylist() == pq.read_table(folder / "training").column("features").to_pylist()
    elsewhere = tmp_path / "elsewhere"
    plug(NAMES[0]).prepare(settings | {"source": "cluster"}, elsewhere)
    assert not elsewhere.exists()


def test_a_model_that_is_no_better_than_guessing_is_an_error() -> None:
    workload = plug("mllib-random-forest")
    workload._require_better_than_chance(ModelQuality({"accuracy": 0.51}))
    for accuracy in (0.5, 0.3, float("nan")):
        with pytest.raises(RunError, match=r"no better than guessing: accuracy = .* where guessing gives 0.5"):
            workload._require_better_than_chance(ModelQuality({"accuracy": accuracy}))


@pytest.mark.parametrize(
    ("name", "settings", "problem"),
    [
        ("mllib-kmeans", {"k": 50, "rows": 40}, "rows = 40 is too few: it takes 10 for each of k = 50 clusters"),
        ("mllib-linear-regression", {"rows": 100}, "rows = 100 is too few: it takes 10 for each of the 20 features"),
        ("mllib-logistic-regression", {"rows": 1}, "rows = 1 is too few"),
        ("mllib-random-forest", {"rows": 99}, "rows = 99 is too few"),
        ("mllib-random-forest", {"depth": 31}, "depth = 31 is more than MLlib grows"),
        ("mllib-random-forest", {"rows": 100, "partitions": 101}, "leaves some of the 101 partitions empty"),
        ("mllib-kmeans", {"seed": 2**63}, "is too large"),
    ],
)
def test_settings_that_cannot_work_are_refused_with_a_hint(name: str, settings: dict[str, Level], problem: str) -> None:
    with pytest.raises(StudyError, match=problem) as caught:
        WORKLOADS.get(name)().check(complete_settings(name, **settings))
    assert caught.value.hint


@pytest.mark.parametrize("line", ["rows: 0", "partitions: 0", "features: 0", "k: 1", "iterations: 0", "rows: many"])
def test_levels_out_of_range_are_bad_usage_that_names_the_line(call: Call, tmp_path: Path, line: str) -> None:
    (tmp_path / "s.yaml").write_text(f"study: s\nworkload: mllib-kmeans\nsettings:\n  {line}\n")
    answer = call("design", "s.yaml")
    assert answer.code == 2
    assert "s.yaml line 4: " in answer.err


def test_a_data_folder_that_cannot_be_written_is_told(call: Call, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("study: s\nworkload: mllib-kmeans\nsettings: {rows: 200}\n")
    (tmp_path / "s.results").mkdir()
    (tmp_path / "s.results" / "data").write_text("no folder")
    answer = call("run", "s.yaml")
    assert answer.code == 2
    assert "cannot write to" in answer.err


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("mllib-*.yaml")), ids=lambda file: file.stem)
def test_an_example_is_a_study_of_the_workload_that_it_is_named_after(file: Path) -> None:
    study = api.load_study(file)
    assert (study.name, study.workload) == (file.stem, file.stem)
    assert api.plan(file).trials


def test_without_pyarrow_a_study_is_designed_but_a_run_says_what_to_install(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.yaml").write_text("study: s\nworkload: mllib-kmeans\nsettings: {executors: [1, 2]}\n")
    found = importlib.util.find_spec
    monkeypatch.setattr("sparkcast.workloads.extras.find_spec", lambda name: None if name == "pyarrow" else found(name))
    assert "mllib-kmeans" in call("list", "workloads").out
    assert call("design", "s.yaml").code == 0
    answer = call("run", "s.yaml")
    assert answer.code == 2
    assert "workload 'mllib-kmeans' needs pyarrow, which is not installed" in answer.err
    assert "pip install 'sparkcast[parquet]'" in answer.err
