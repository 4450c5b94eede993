"""Model files: the same answers after reading, and nothing else ever gets out of one."""

import dataclasses
import hashlib
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparkcast import api
from sparkcast.data.sources import Data, is_model_file
from sparkcast.errors import StudyError, UnknownNameError
from sparkcast.fitting import uncertainty
from sparkcast.learned.about import ConfigurationRuns, seen_in
from sparkcast.learned.fit import GridSearch
from sparkcast.learned.saved import SCHEMA, SavedModel, load, save
from sparkcast.models import MODELS
from sparkcast.study import (
    Configuration,
    Dataset,
    Epoch,
    Expression,
    Fingerprint,
    Listed,
    Observation,
    Outcome,
    Price,
    Space,
)

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


def model(name: str = "ridge", **others: Any) -> SavedModel:
    data = others.pop("data", runs())
    return SavedModel(data, name, Data(data).pool(), Price(core_hour=0.05), trained=("time_s",), **others)


def written(path: Path, name: str = "ridge") -> Path:
    save(model(name), path)
    return path


def again(path: Path, saved: SavedModel) -> SavedModel:
    save(saved, path / "again.sparkcast")
    return load(path / "again.sparkcast")


@pytest.fixture
def quick_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """How large the errors are does not matter here, and finding out takes a fit per configuration."""
    monkeypatch.setattr(uncertainty, "left_out_predictions", lambda problem, learn: 1.1 * problem.target)


@pytest.mark.parametrize("name", [name for name in MODELS.names() if name not in MODELS.declaring("replays_logs")])
def test_every_model_answers_the_same_after_it_was_saved(name: str, tmp_path: Path, quick_errors: None) -> None:
    fitted = MODELS.get(name)().fit(runs(), "time_s")
    read = load(written(tmp_path / "m.sparkcast", name)).model_of("time_s")[1]
    assert read.predict(ASKED) == fitted.predict(ASKED)
    assert read.interval(ASKED, level=0.8) == fitted.interval(ASKED, level=0.8)
    assert read.probability_below(ASKED, 30.0) == fitted.probability_below(ASKED, 30.0)
    assert [str(error) for error in read.beyond(ASKED)] == [str(error) for error in fitted.beyond(ASKED)]


@pytest.mark.parametrize("name", ["auto", "random-forest", "gaussian-process"])
def test_a_file_gives_the_same_answers_on_any_number_of_threads(name: str, tmp_path: Path) -> None:
    path = written(tmp_path / "m.sparkcast", name)
    code = (
        "from pathlib import Path; from sparkcast.learned.saved import load; "
        f"print(repr(load(Path({str(path)!r})).model_of('time_s')[1].interval({[dict(at) for at in ASKED]!r})))"
    )
    answers = set()
    for threads in ("1", "2", "3"):
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
        answers.add(done.stdout)
    assert len(answers) == 1


def test_reading_a_model_file_trains_nothing(tmp_path: Path) -> None:
    path = written(tmp_path / "m.sparkcast", "random-forest")
    code = (
        "import sys; from pathlib import Path; from sparkcast.learned.saved import load; "
        f"load(Path({str(path)!r})); print(*sorted({{'sklearn', 'torch', 'pandas', 'scipy.stats'}} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "\n"


def test_a_file_is_a_document_that_people_can_read(tmp_path: Path) -> None:
    text = json.loads(written(tmp_path / "m.sparkcast").read_text())
    assert (text["format"], text["schema"]) == ("sparkcast-model", SCHEMA)
    content = text["content"]
    assert (content["model"], content["trained"]) == ("ridge", ["time_s"])
    assert content["data"]["factors"] == ["executors", "net"]
    assert len(content["data"]["observations"]) == 16
    assert content["data"]["observations"][1]["configuration"] == {"executors": 1, "net": "lenet5", "cores": 2}
    assert content["created"].startswith("20")


def test_a_file_keeps_what_questions_need(tmp_path: Path) -> None:
    read = load(written(tmp_path / "m.sparkcast"))
    assert (read.runs, read.runs.vocabulary.as_plain()) == (runs(), runs().vocabulary.as_plain())
    assert read.about.fixed == {"cores": 2}
    assert read.about.price == Price(core_hour=0.05)
    assert read.about.seen[0] == ConfigurationRuns(Configuration({"executors": 1, "net": "lenet5"}), ok=2, failed=0)
    assert read.about.candidates == model().about.candidates
    assert read.feasibility is not None
    assert read.feasibility.probability_of_failure(ASKED) == [1 / 18] * 3
    assert read.notes == ()


@pytest.mark.parametrize(
    "pool",
    [
        Listed((Configuration({"executors": 3, "net": "vgg"}),)),
        Space({"executors": (1, 2, 8), "net": ("vgg",)}, Configuration({"cores": 2}), (Expression("executors > 1"),)),
    ],
)
def test_candidates_that_are_not_those_of_the_data_are_kept(pool: Space | Listed, tmp_path: Path) -> None:
    assert again(tmp_path, dataclasses.replace(model(), pool=pool)).about.pool() == pool


def test_failures_curves_and_places_are_kept_but_no_paths_and_no_excerpts_of_logs(tmp_path: Path) -> None:
    here = Fingerprint("Xeon 8375C", 8, 2**34, "Linux", "3.11", "3.5.3", "17", "yarn")
    first, second, *others = runs().observations
    curve = (Epoch(1, 2.5, {"accuracy": 0.5}), Epoch(2, 5.0, {"accuracy": 0.75}))
    first = dataclasses.replace(first, curve=curve, fingerprint=here, started_at=1.5e9, position=7)
    second = dataclasses.replace(second, outcome=Outcome.OOM, responses={"heap": float("nan")})
    second = dataclasses.replace(second, cause="OutOfMemoryError at /home/me", artifacts="runs/0001", run_id="ab12")
    data = dataclasses.replace(runs(), observations=(first, second, *others))
    read = again(tmp_path, model(data=data)).runs
    assert read.observations[0] == first
    assert read.observations[1] == dataclasses.replace(second, responses={}, cause="", artifacts="", run_id="")
    assert "/home/me" not in (tmp_path / "again.sparkcast").read_text()


def test_a_loaded_model_can_be_saved_again(tmp_path: Path) -> None:
    first = load(written(tmp_path / "a.sparkcast", "random-forest"))
    second = again(tmp_path, first)
    assert second.model_of("time_s")[1].predict(ASKED) == first.model_of("time_s")[1].predict(ASKED)


def test_settings_that_a_search_found_are_those_of_the_file(tmp_path: Path) -> None:
    data = Data(runs())
    found = api.fit(data, ["time_s"], model="courier", search=GridSearch("courier2021", trials=2)).model
    assert found.settings["time_s"]
    read = again(tmp_path, found)
    assert read.settings == found.settings
    assert read.model_of("time_s")[1].predict(ASKED) == found.model_of("time_s")[1].predict(ASKED)


def test_an_existing_file_is_kept_unless_it_may_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "m.sparkcast"
    path.write_text("precious")
    with pytest.raises(StudyError, match=r"exists\n  hint: add `force=True`"):
        written(path)
    assert path.read_text() == "precious"
    save(model("median"), path, force=True)
    assert load(path).model == "median"
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
    with pytest.raises(StudyError, match=r"is incomplete(.|\n)*copy it again"):
        load(path)


@pytest.mark.parametrize("flip", [0x01, 0xFF])
def test_a_file_in_which_one_byte_has_changed_is_refused(flip: int, tmp_path: Path) -> None:
    path = written(tmp_path / "m.sparkcast", "median")
    content = path.read_bytes()
    for place in range(0, len(content), 7):
        path.write_bytes(content[:place] + bytes([content[place] ^ flip]) + content[place + 1 :])
        with pytest.raises(StudyError):
            load(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"No such file(.|\n)*is the path right"):
        load(tmp_path / "nothing.sparkcast")
    with pytest.raises(StudyError, match="directory"):
        load(tmp_path)


def test_a_zip_as_older_model_files_are_is_refused_with_the_way_to_make_it_again(tmp_path: Path) -> None:
    path = tmp_path / "old.sparkcast"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("sparkcast.json", '{"format": "sparkcast-model", "schema": 3}')
    with pytest.raises(StudyError, match=r"older sparkcast(.|\n)*api.save_model\(api.fit\(DATA\).model, FILE\)"):
        load(path)


@pytest.mark.parametrize("schema", [1, 2, 3])
def test_a_file_of_an_older_schema_is_refused_with_the_way_to_make_it_again(schema: int, tmp_path: Path) -> None:
    path = written(tmp_path / "m.sparkcast")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": schema}))
    with pytest.raises(
        StudyError, match=r"written by an older sparkcast(.|\n)*api.save_model\(api.fit\(DATA\).model, FILE\)"
    ):
        load(path)


def test_a_file_of_a_newer_sparkcast_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "m.sparkcast")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": SCHEMA + 1}))
    with pytest.raises(StudyError, match=rf"newer sparkcast: its schema is {SCHEMA + 1}(.|\n)*upgrade"):
        load(path)


@pytest.mark.parametrize(
    "damage",
    [
        {"data": 1},
        {"data": {"factors": ["executors"], "observations": [{"configuration": 3, "responses": {}}]}},
        {"data": {"factors": ["executors"], "observations": [{"configuration": {}, "responses": {"time_s": "1"}}]}},
        {"trained": "time_s"},
        {"price": 3},
        {"price": {"core_hour": -1.0}},
        {"space": {"levels": {}}},
        {"space": {"levels": {"executors": [1]}, "fixed": {}, "rules": ["__import__('os')"]}},
        {"probes": [1]},
    ],
)
def test_content_that_cannot_be_is_refused(damage: dict[str, Any], tmp_path: Path) -> None:
    path = written(tmp_path / "m.sparkcast")
    changed(path, lambda content: content | damage)
    with pytest.raises(StudyError):
        load(path)


def test_content_too_deep_to_follow_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.sparkcast"
    path.write_text(
        '{"format":"sparkcast-model","schema":4,"sha256":"","content":' + "[" * 100_000 + "]" * 100_000 + "}"
    )
    with pytest.raises(StudyError):
        load(path)


def test_a_model_that_is_not_installed_is_named_at_once(tmp_path: Path) -> None:
    path = written(tmp_path / "m.sparkcast")
    changed(path, lambda content: content | {"model": "rigde"})
    with pytest.raises(UnknownNameError, match=r"rigde(.|\n)*did you mean 'ridge'"):
        load(path)


@pytest.mark.parametrize(
    "settings",
    [
        {"trees": 50},
        {"n_estimators": 10**9},
        {"trees": 10**9, "depth": 4, "criterion": "squared_error", "features": 1.0},
        {"trees": 50, "depth": 4, "criterion": "squared_error", "features": True},
    ],
)
def test_settings_of_a_model_that_are_not_of_its_grid_are_refused(settings: dict[str, Any], tmp_path: Path) -> None:
    path = written(tmp_path / "m.sparkcast", "courier")
    changed(path, lambda content: content | {"grid": "courier2021", "settings": {"time_s": settings}})
    with pytest.raises(StudyError, match="not a combination of the grid"):
        load(path)


# ---------------------------------------------------------------- other versions


def test_another_version_is_mentioned_only_when_it_changes_what_the_model_says(tmp_path: Path) -> None:
    path = written(tmp_path / "m.sparkcast")
    changed(path, lambda content: content | {"versions": {"scikit-learn": "0.1"}})
    assert load(path).notes == ()

    def doubled(content: dict[str, Any]) -> dict[str, Any]:
        probes = [probe | {"prediction": 2 * probe["prediction"]} for probe in content["probes"]["time_s"]]
        return content | {"probes": {"time_s": probes}}

    changed(path, doubled)
    [note] = load(path).notes
    assert "scikit-learn 0.1, here" in note
    assert "differ by up to 50%" in note


@pytest.mark.parametrize("name", ["random-forest", "gaussian-process", "ridge"])
def test_a_thousand_predictions_with_intervals_ask_the_learned_part_once_each(name: str) -> None:
    fitted: Any = MODELS.get(name)().fit(runs(), "time_s")
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


def test_lost_runs_are_counted_apart_from_failures() -> None:
    outcomes = (Outcome.OK, Outcome.OOM, Outcome.LOST)
    data = Dataset(("executors",), tuple(Observation({"executors": 2}, {}, outcome=outcome) for outcome in outcomes))
    assert seen_in(data) == (ConfigurationRuns(Configuration({"executors": 2}), ok=1, failed=1, lost=1),)


def changed(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Write the same file with other content and the hash that belongs to it."""
    file = json.loads(path.read_text())
    content = json.dumps(change(file["content"]))
    head = {"format": file["format"], "schema": file["schema"], "sha256": hashlib.sha256(content.encode()).hexdigest()}
    path.write_text(json.dumps(head)[:-1] + ', "content": ' + content + "}")
