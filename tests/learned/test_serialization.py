"""Plain content of model files: what was written is read again to the last digit, and nothing else is ever built."""

import dataclasses
import io
import json
import math
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparkcast.errors import StudyError
from sparkcast.learned import saved as files
from sparkcast.learned.saved import About, LearnedFrom, load, save
from sparkcast.learned.serialization import NotPlainError, packed, type_names, unpacked
from sparkcast.models import MODELS
from sparkcast.study import Configuration, Dataset, Observation


class Shape(Enum):
    FLAT = 1
    STEEP = 2


class Word(StrEnum):
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Part:
    value: Any
    other: Any = None


@dataclass(frozen=True, slots=True)
class Touchy:
    """Leaves a mark when its constructor runs."""

    value: int

    def __post_init__(self) -> None:
        raise AssertionError("built")


def is_ours(name: str) -> bool:
    return name.startswith(f"{__name__}.")


def again(value: Any) -> Any:
    with zipfile.ZipFile(io.BytesIO(packed(value, is_ours))) as archive:
        return unpacked(archive, is_ours)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(2**70),
        5e-324,
        0.1 + 0.2,
        1.7976931348623157e308,
        math.inf,
        -math.inf,
        "",
        "é\n\x00",
        (),
        (1, (2.0, "3")),
        [1, [2], (3,)],
        {"a": 1, 2: "b", (3, "c"): None, 4.5: {}},
        {"type": "os.system", "fields": {}},  # a dictionary that looks like a type is still one
        Shape.STEEP,
        Word.TIME,
        Part(Part((5e-324, math.inf)), [Shape.FLAT]),
    ],
)
def test_what_was_written_is_read_again_with_its_types(value: Any) -> None:
    found = again(value)
    assert found == value
    assert repr(found) == repr(value)


def test_what_is_no_number_and_a_negative_zero_stay_what_they_are() -> None:
    assert math.isnan(again(math.nan))
    assert math.copysign(1, again(-0.0)) == -1


@pytest.mark.parametrize(
    "array",
    [
        np.array([[0.1, np.nan], [np.inf, 5e-324]]),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array([], dtype=np.int64),
        np.array(3.5),
        np.array([True, False]),
        np.array(["a", "bcd"]),
        np.array([(1, 2.5)], dtype=[("left", "<i8"), ("threshold", "<f8")]),
    ],
)
def test_arrays_are_read_again_bit_by_bit(array: Any) -> None:
    found = again(Part(array)).value
    assert (found.dtype, found.shape, found.tobytes()) == (array.dtype, array.shape, array.tobytes())


@pytest.mark.parametrize("number", [np.float64(0.1), np.float32(0.1), np.int64(7), np.bool_(True), np.float64("nan")])
def test_numbers_of_numpy_stay_numbers_of_numpy(number: Any) -> None:
    found = again(number)
    assert type(found) is type(number)
    assert found.tobytes() == number.tobytes()


def test_an_array_that_many_parts_share_is_written_once_and_shared_again() -> None:
    array = np.arange(3.0)
    content = packed((array, Part(array)), is_ours)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert sorted(archive.namelist()) == ["arrays/0.npy", "content.json"]
    first, second = again((array, Part(array)))
    assert first is second.value


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, print, np.array([object()]), Path(), Part, np.datetime64("2024-01-01"), 1j]
)
def test_anything_else_has_no_place_in_it(value: Any) -> None:
    with pytest.raises(NotPlainError):
        packed(Part((1, {"deep": value})), is_ours)


def test_types_that_are_not_ours_have_no_place_in_it() -> None:
    with pytest.raises(NotPlainError, match="Part"):
        packed(Part(1), lambda name: False)
    with pytest.raises(NotPlainError, match="Shape"):
        packed(Shape.FLAT, lambda name: False)


def test_no_constructor_runs() -> None:
    touchy = object.__new__(Touchy)
    object.__setattr__(touchy, "value", 3)
    assert again(touchy).value == 3


def forged(tree: Any, members: dict[str, bytes] | None = None) -> zipfile.ZipFile:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("content.json", json.dumps(tree))
        for name, content in (members or {}).items():
            archive.writestr(name, content)
    return zipfile.ZipFile(buffer)


@pytest.mark.parametrize(
    "tree",
    [
        {"type": "os.system", "fields": {}},
        {"enum": ["signal.Signals", "SIGKILL"]},
        {"type": f"{__name__}.Part", "fields": {"value": 1}},
        {"type": f"{__name__}.Part", "fields": {"value": 1, "other": 2, "more": 3}},
        {"type": f"{__name__}.Shape", "fields": {}},
        {"enum": [f"{__name__}.Part", "value"]},
        {"type": f"{__name__}.Part"},
        {"list": [], "dict": []},
        {"eval": "1"},
        {"number": ["object", 1]},
        {"number": ["float64", "1"]},
    ],
)
def test_content_that_nobody_wrote_is_refused(tree: Any) -> None:
    with pytest.raises(StudyError, match="content of the model file cannot be read"):
        unpacked(forged(tree), is_ours)


def test_types_are_named_wherever_they_stand() -> None:
    tree = [{"dict": [[{"enum": ["a.B", "C"]}, {"list": [{"type": "d.E", "fields": {"x": {"type": "f.G"}}}]}]]}]
    assert type_names(forged(tree)) == {"a.B", "d.E", "f.G"}


def npy(array: Any, *, allow_pickle: bool = False) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=allow_pickle)
    return stream.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        npy(np.array([print], dtype=object), allow_pickle=True),
        npy(np.zeros(4)).replace(b"(4,)", b"(9,)"),  # claims more than there is
        npy(np.zeros(4)) + b"\x00",
        npy(np.zeros(4, dtype="V0")),
    ],
)
def test_an_array_that_is_not_what_it_says_is_refused(content: bytes) -> None:
    with pytest.raises(StudyError, match="an array does not match its description"):
        unpacked(forged({"array": 0}, {"arrays/0.npy": content}), is_ours)


# ---------------------------------------------------------------- in a model file


def written(path: Path) -> Path:
    runs = tuple(Observation({"executors": e}, {"time_s": 5 + 60 / e}) for e in (1, 2, 4, 8))
    fitted = MODELS.get("ernest")().fit(Dataset(("executors",), runs), "time_s")
    save({"time_s": fitted}, path, about=About("d", ("executors",), {"time_s": LearnedFrom("ernest", 4, 4)}, 4))
    return path


def changed(path: Path, change: Callable[[Any], Any]) -> Path:
    """The same file with another tree."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["content.json"] = json.dumps(change(json.loads(members["content.json"]))).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("name", ["os.system", "pathlib.Path", "sparkcast.data.sources.Data", "sparkcast.cli.app"])
def test_a_model_file_with_another_type_is_refused_by_its_name(name: str, tmp_path: Path) -> None:
    path = changed(written(tmp_path / "m.sparkcast"), lambda tree: [tree, {"type": name, "fields": {}}])
    with pytest.raises(StudyError, match=f"{name}, which no sparkcast model file contains"):
        load(path)


def test_a_model_file_with_a_tree_too_deep_to_follow_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "m.sparkcast")
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b""
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("content.json", "[" * 100_000 + "]" * 100_000)
    with pytest.raises(StudyError, match="not a usable model file"):
        load(path)


def test_a_model_file_without_one_of_its_arrays_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "m.sparkcast")
    changed(path, lambda tree: [tree, {"array": 99}])
    with pytest.raises(StudyError, match=r"not a usable model file(.|\n)*99"):
        load(path)


def test_the_smallest_float_survives_in_the_scale_of_a_model_file(tmp_path: Path) -> None:
    fitted: Any = load(written(tmp_path / "m.sparkcast")).fitted["time_s"]
    assert (fitted.scale.low, fitted.scale.high) == (5e-324, math.inf)
    assert fitted.predict([Configuration({"executors": 3})]) == pytest.approx([25.0], rel=0.1)
    assert dataclasses.is_dataclass(fitted)


def test_enumerations_of_ours_may_be_parts_of_models() -> None:
    assert files._is_ours("sparkcast.study.response.Kind")
    assert not files._is_ours("sparkcast.study.setting.Role")
