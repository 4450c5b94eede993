"""Model files: the same answers after reading, and nothing else ever gets out of one."""

import dataclasses
import io
import json
import math
import subprocess
import sys
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge, RidgeCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from sparkcast.data.sources import is_model_file
from sparkcast.errors import StudyError
from sparkcast.fitting import uncertainty
from sparkcast.learned import saved as files
from sparkcast.learned.feasibility import fit_feasibility
from sparkcast.learned.saved import About, LearnedFrom, Seen, constants_in, load, save, seen_in
from sparkcast.learned.standins import PlainLinear, PlainTrees, Trees, from_plain, to_plain
from sparkcast.models import MODELS
from sparkcast.study import Configuration, Dataset, Observation, Outcome, Price

ASKED = [
    Configuration({"executors": 3, "net": "vgg"}),
    Configuration({"executors": 8, "net": "lenet5"}),
    Configuration({"executors": 12, "net": "vgg"}),
]


def runs() -> Dataset:
    return Dataset(
        ("executors", "net"),
        tuple(
            Observation(
                {"executors": e, "net": net, "cores": 2},
                {"time_s": slow * (5 + 60 / e + 0.3 * e + r / 7), "shuffle_s": 1 + 3 / e, "tasks_n": 8.0 * e},
                replicate=r,
            )
            for e in (1, 2, 4, 8)
            for net, slow in (("lenet5", 1.0), ("vgg", 3.0))
            for r in (1, 2)
        ),
    )


def about(name: str) -> About:
    return About(
        data="runs",
        factors=("executors", "net"),
        responses={"time_s": LearnedFrom(name, 16, 8)},
        runs=16,
        fixed=constants_in(runs()),
        seen=seen_in(runs()),
        candidates=(Configuration({"executors": 3, "net": "vgg"}),),
        price=Price(core_hour=0.05),
    )


def written(path: Path, name: str = "ridge") -> Path:
    fitted = MODELS.get(name)().fit(runs(), "time_s")
    save({"time_s": fitted}, path, about=about(name), feasibility=fit_feasibility(runs()))
    return path


@pytest.fixture
def quick_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """How large the errors are does not matter here, and finding out takes a fit per configuration."""
    monkeypatch.setattr(uncertainty, "left_out_predictions", lambda problem, learn: 1.1 * problem.target)


@pytest.mark.parametrize("name", MODELS.names())
def test_every_model_answers_the_same_after_it_was_saved(name: str, tmp_path: Path, quick_errors: None) -> None:
    fitted = MODELS.get(name)().fit(runs(), "time_s")
    save({"time_s": fitted}, tmp_path / "m.sparkcast", about=about(name))
    again = load(tmp_path / "m.sparkcast").fitted["time_s"]
    assert again.predict(ASKED) == fitted.predict(ASKED)
    assert again.interval(ASKED, level=0.8) == fitted.interval(ASKED, level=0.8)
    assert again.probability_below(ASKED, 30.0) == fitted.probability_below(ASKED, 30.0)
    assert [str(error) for error in again.beyond(ASKED)] == [str(error) for error in fitted.beyond(ASKED)]


def test_reading_a_model_file_does_not_wait_for_torch(tmp_path: Path) -> None:
    path = written(tmp_path / "m.sparkcast")
    code = (
        "import sys; from pathlib import Path; from sparkcast.learned.saved import load; "
        f"load(Path({str(path)!r})); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", ["median", "nnls", "scaling", "ridge"])
def test_reading_a_model_of_numbers_needs_neither_scikit_learn_nor_pandas(name: str, tmp_path: Path) -> None:
    path = written(tmp_path / "m.sparkcast", name)
    code = (
        "import sys; from pathlib import Path; from sparkcast.learned.saved import load; "
        f"load(Path({str(path)!r})).fitted['time_s'].predict([{{'executors': 3, 'net': 'vgg'}}]); "
        "print(*sorted({'sklearn', 'skops', 'torch', 'pandas', 'scipy.stats'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "\n"


def test_a_file_tells_what_it_is_and_keeps_what_questions_need(tmp_path: Path) -> None:
    path = written(tmp_path / "m.sparkcast")
    with zipfile.ZipFile(path) as archive:
        told = json.loads(archive.read("sparkcast.json"))
    assert (told["format"], told["schema"], told["runs"]) == ("sparkcast-model", 3, 16)
    assert told["responses"] == {"time_s": {"model": "ridge", "runs": 16, "configurations": 8, "available": None}}
    read = load(path)
    assert read.about.factors == ("executors", "net")
    assert read.about.fixed == {"cores": 2}
    assert read.about.price == Price(core_hour=0.05)
    assert read.about.seen[0] == Seen(Configuration({"executors": 1, "net": "lenet5"}), ok=2, failed=0)
    assert read.about.candidates == (Configuration({"executors": 3, "net": "vgg"}),)
    assert read.about.created.startswith("20")
    assert read.feasibility is not None
    assert read.feasibility.probability_of_failure(ASKED) == [1 / 18] * 3
    assert read.notes == ()


def test_a_loaded_model_can_be_saved_again(tmp_path: Path) -> None:
    first = load(written(tmp_path / "a.sparkcast", "random-forest"))
    save(first.fitted, tmp_path / "b.sparkcast", about=first.about)
    again = load(tmp_path / "b.sparkcast")
    assert again.fitted["time_s"].predict(ASKED) == first.fitted["time_s"].predict(ASKED)


def test_saving_leaves_the_fitted_model_as_it_is(tmp_path: Path) -> None:
    fitted: Any = MODELS.get("random-forest")().fit(runs(), "time_s")
    save({"time_s": fitted}, tmp_path / "m.sparkcast", about=about("random-forest"))
    assert isinstance(fitted.points.estimator, RandomForestRegressor)


def test_an_existing_file_is_kept_unless_it_may_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "m.sparkcast"
    path.write_text("precious")
    with pytest.raises(StudyError, match=r"exists\n  hint: add --force"):
        written(path)
    assert path.read_text() == "precious"
    save({}, path, about=About("d", (), {}, 0), force=True)
    assert zipfile.is_zipfile(path)
    assert [file.name for file in tmp_path.iterdir()] == ["m.sparkcast"]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"cannot write (.|\n)*No such file"):
        written(tmp_path / "nowhere" / "m.sparkcast")


def test_a_model_file_is_known_by_its_beginning_or_its_name(tmp_path: Path) -> None:
    assert is_model_file(written(tmp_path / "without-suffix"))
    assert is_model_file(tmp_path / "to-be.sparkcast")
    (tmp_path / "runs.csv").write_text("executors,time_s\n1,2\n")
    assert not is_model_file(tmp_path / "runs.csv")
    assert not is_model_file(tmp_path)


# ---------------------------------------------------------------- files that are refused


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_truncated_file_is_refused(share: float, tmp_path: Path) -> None:
    path = written(tmp_path / "m.sparkcast")
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(StudyError, match=r"incomplete model file(.|\n)*copy it again"):
        load(path)


@pytest.mark.parametrize("share", [0.001, 0.1, 1 / 3, 0.5, 0.7, 0.9, 0.999])
def test_a_file_in_which_one_byte_has_changed_is_refused(share: float, tmp_path: Path) -> None:
    path = written(tmp_path / "m.sparkcast")
    content = bytearray(path.read_bytes())
    content[int(share * len(content))] ^= 0xFF
    path.write_bytes(bytes(content))
    with pytest.raises(StudyError):
        load(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"No such file(.|\n)*is the path right"):
        load(tmp_path / "nothing.sparkcast")
    with pytest.raises(StudyError, match="directory"):
        load(tmp_path)


def test_a_zip_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "photos.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("photo.txt", "a cat")
    with pytest.raises(StudyError, match="not a sparkcast model file"):
        load(path)
    (tmp_path / "m.skops").write_bytes(files._skops().dumps({"fitted": 1}))
    with pytest.raises(StudyError, match="not a sparkcast model file"):
        load(tmp_path / "m.skops")


def test_a_file_of_a_newer_sparkcast_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "m.sparkcast")
    changed(path, lambda told: told | {"schema": files.SCHEMA + 1, "sparkcast": "9.0.0"})
    with pytest.raises(StudyError, match=r"written by a newer sparkcast \(9\.0\.0\)(.|\n)*upgrade"):
        load(path)


@pytest.mark.parametrize("schema", [1, 2])
def test_a_file_of_an_older_sparkcast_is_refused_with_the_way_to_make_it_again(schema: int, tmp_path: Path) -> None:
    path = written(tmp_path / "m.sparkcast")
    changed(path, lambda told: told | {"schema": schema, "sparkcast": "0.1.0"})
    with pytest.raises(StudyError, match=r"written by an older sparkcast \(0\.1\.0\)(.|\n)*sparkcast fit DATA --save"):
        load(path)


@pytest.mark.parametrize(
    "damage", [{"format": "other"}, {"schema": "1"}, {"responses": {}}, {"seen": [1]}, {"price": 3}]
)
def test_a_file_that_contradicts_itself_is_refused(damage: dict[str, Any], tmp_path: Path) -> None:
    path = written(tmp_path / "m.sparkcast")
    changed(path, lambda told: told | damage)
    with pytest.raises(StudyError):
        load(path)


def test_a_file_that_would_fill_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "m.sparkcast")
    monkeypatch.setattr(files, "_MAX_BYTES", 1000)
    with pytest.raises(StudyError, match="unpack to more than"):
        load(path)


class Boom:
    """Leaves a mark when it is built or restored."""

    built = False

    def __init__(self) -> None:
        self.fuse = 1

    def __setstate__(self, state: object) -> None:
        Boom.built = True


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (Boom(), "Boom"),
        (partial(print, "hello"), "functools.partial"),
        (Path.unlink, "unlink"),
        (math.sqrt, "math.sqrt"),
        (RandomForestRegressor(2).fit([[0.0], [1.0]], [0.0, 1.0]), "sklearn.tree._tree.Tree"),
    ],
)
def test_anything_but_known_types_is_refused_by_name_and_never_built(
    content: object, name: str, tmp_path: Path
) -> None:
    path = forged(tmp_path, {"fitted": {"time_s": content}, "curves": {}, "feasibility": None})
    with pytest.raises(StudyError, match=f"{name}(.|\n)*which no sparkcast model file contains"):
        load(path)
    assert not Boom.built


@pytest.mark.parametrize(
    "name",
    [
        "sparkcast.learned.saved.Path",  # only imported there
        "sparkcast.learned.saved.import_module",
        "sparkcast.learned.saved.save",
        "sparkcast.models.ridge.Ridge",
        "sparkcast.models.nothing.Nothing",
        "sparkcast.data.sources.Data",
        "sparkcast.modelsandmore.Thing",
    ],
)
def test_only_dataclasses_under_the_name_of_their_own_module_are_ours(name: str) -> None:
    assert not files._is_ours(name)
    assert files._is_ours("sparkcast.fitting.uncertainty.Distribution")


def test_a_whole_tree_without_its_arrays_is_refused(tmp_path: Path) -> None:
    """An estimator of trees that skops would trust may hold anything in place of a tree."""
    forest = RandomForestRegressor(1)
    forest.estimators_ = ["no tree"]
    path = forged(tmp_path, {"fitted": {"time_s": forest}, "curves": {}, "feasibility": None})
    with pytest.raises(StudyError, match="RandomForestRegressor"):
        load(path)


@pytest.mark.parametrize("model", [[1, 2], uncertainty.Distribution])
def test_something_that_cannot_answer_is_refused(model: object, tmp_path: Path) -> None:
    path = forged(tmp_path, {"fitted": {"time_s": model}, "curves": {}, "feasibility": None})
    with pytest.raises(StudyError, match="does not contain the models it lists"):
        load(path)


def test_a_model_that_holds_unknown_types_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"cannot be saved(.|\n)*Boom"):
        save({"time_s": Boom()}, tmp_path / "m.sparkcast", about=about("boom"))  # type: ignore[dict-item]
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- linear regressions


@pytest.mark.parametrize("regression", [RidgeCV(), Ridge(alpha=0.3), LinearRegression()])
def test_a_regression_on_standardized_columns_says_the_same_as_numbers_alone(regression: Any) -> None:
    x = np.random.default_rng(4).lognormal(3, 2, (30, 4))
    pipeline = make_pipeline(StandardScaler(), regression).fit(x, np.log(x).sum(axis=1))
    kept = to_plain(pipeline)
    assert isinstance(kept, PlainLinear)
    for rows in (x, x[:1], 3 * x):
        assert kept.predict(rows).tolist() == pipeline.predict(rows).tolist()


def test_pipelines_of_other_kinds_stay_what_they_are() -> None:
    x, y = np.eye(4), np.arange(4.0)
    for made in (make_pipeline(Ridge()), make_pipeline(StandardScaler(), StandardScaler(), Ridge())):
        assert isinstance(to_plain(made.fit(x, y)), Pipeline)
    two = make_pipeline(StandardScaler(), Ridge()).fit(x, np.column_stack([y, y]))
    assert isinstance(to_plain(two), Pipeline)
    for scaler in (StandardScaler(with_mean=False), StandardScaler(with_std=False)):
        assert isinstance(to_plain(make_pipeline(scaler, Ridge()).fit(x, y)), Pipeline)
    assert isinstance(to_plain(make_pipeline(StandardScaler(), Ridge())), Pipeline)  # not fitted


# ---------------------------------------------------------------- trees


def forest() -> tuple[RandomForestRegressor, Any]:
    x = np.random.default_rng(3).random((40, 3))
    return RandomForestRegressor(7, random_state=0).fit(x, x[:, 0] + x[:, 1] ** 2), x


def test_trees_predict_what_the_forest_did_to_the_last_digit() -> None:
    original, x = forest()
    kept: Trees = from_plain(to_plain(original))
    assert kept.predict(x).tolist() == original.predict(x).tolist()
    with pytest.raises(ValueError, match="trees of 3 columns"):
        kept.predict(x[:, :2])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("left_child", 10**6),
        ("right_child", -5),
        ("left_child", 0),
        ("feature", 3),
        ("feature", -1),
        ("right_child", -1),
    ],
)
def test_a_tree_that_leads_outside_its_arrays_or_round_in_circles_is_refused(field: str, value: int) -> None:
    plain: PlainTrees = to_plain(forest()[0])
    nodes = plain.nodes.copy()
    nodes[field][0] = value
    with pytest.raises(StudyError, match="a node points outside its tree"):
        from_plain(PlainTrees(plain.n_columns, plain.sizes, nodes, plain.values))


@pytest.mark.parametrize(
    "change",
    [
        {"n_columns": 0},
        {"n_columns": 3.0},
        {"values": np.zeros(3)},
        {"sizes": np.array([], dtype=int)},
        {"sizes": np.array([-1, 10**9])},
        {"nodes": np.zeros(4)},
        {"nodes": None},
        {"sizes": None},
    ],
)
def test_arrays_that_do_not_fit_together_are_no_trees(change: dict[str, Any]) -> None:
    plain: PlainTrees = to_plain(forest()[0])
    parts = {name: getattr(plain, name) for name in ("n_columns", "sizes", "nodes", "values")}
    with pytest.raises(StudyError, match="contains unusable trees"):
        from_plain(PlainTrees(**{**parts, **change}))


def test_a_masked_array_cannot_hide_where_its_nodes_lead() -> None:
    plain: PlainTrees = to_plain(forest()[0])
    nodes: Any = np.ma.array(plain.nodes.copy(), mask=False)  # type: ignore[no-untyped-call]
    nodes["left_child"][0] = 10**6
    nodes.mask[0] = True
    with pytest.raises(StudyError, match="contains unusable trees"):
        from_plain(PlainTrees(plain.n_columns, plain.sizes, nodes, plain.values))


# ---------------------------------------------------------------- other libraries


def test_another_library_is_mentioned_only_when_it_changes_what_the_model_says(tmp_path: Path) -> None:
    path = written(tmp_path / "m.sparkcast")
    changed(path, lambda told: told | {"libraries": {"scikit-learn": "0.1"}})
    assert load(path).notes == ()
    changed(path, lambda told: told | {"probes": {"time_s": [[p, 2 * v] for p, v in told["probes"]["time_s"]]}})
    [note] = load(path).notes
    assert "scikit-learn 0.1, here" in note
    assert "differ by up to 50%" in note


@pytest.mark.parametrize("name", ["random-forest", "gaussian-process", "ridge"])
def test_a_thousand_predictions_with_intervals_ask_the_learned_part_once_each(name: str, tmp_path: Path) -> None:
    fitted: Any = load(written(tmp_path / "m.sparkcast", name)).fitted["time_s"]
    many = [Configuration({"executors": 1 + i % 8, "net": ("vgg", "lenet5")[i % 2]}) for i in range(1000)]
    asked: list[int] = []

    def points(x: Any) -> Any:
        asked.append(len(x))
        return fitted.points(x)

    watched = dataclasses.replace(fitted, points=points)
    assert watched.predict(many)[:16] == pytest.approx([fitted.predict([at])[0] for at in many[:16]])
    assert watched.interval(many)[:16] == pytest.approx(np.array([fitted.interval([at])[0] for at in many[:16]]))
    assert asked == [1000, 1000]


# ---------------------------------------------------------------- what was run


def test_lost_runs_count_for_nothing() -> None:
    outcomes = (Outcome.OK, Outcome.OOM, Outcome.LOST)
    data = Dataset(("executors",), tuple(Observation({"executors": 2}, {}, outcome=outcome) for outcome in outcomes))
    assert seen_in(data) == (Seen(Configuration({"executors": 2}), ok=1, failed=1),)


def changed(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Write the same file with another sparkcast.json."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["sparkcast.json"] = json.dumps(change(json.loads(members["sparkcast.json"]))).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def forged(folder: Path, content: object) -> Path:
    """A file that says it is a model and holds something else."""
    real = written(folder / "real.sparkcast")
    with zipfile.ZipFile(real) as archive:
        told = archive.read("sparkcast.json")
    buffer = io.BytesIO(files._skops().dumps(content))
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("sparkcast.json", told)
    path = folder / "forged.sparkcast"
    path.write_bytes(buffer.getvalue())
    return path
