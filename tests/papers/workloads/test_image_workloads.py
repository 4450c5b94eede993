"""image-read, tfrecord-write and flowers-training: what they refuse, and their parts; no Spark here."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from sparkcast.designs import make_plan
from sparkcast.engines.embedded import EmbeddedCluster
from sparkcast.errors import RunError, StudyError
from sparkcast.study import Level
from sparkcast.study.file import load_study
from sparkcast.workloads import WORKLOADS, complete, extras, resolve, workload_of
from sparkcast_papers.workloads import image_read
from sparkcast_papers.workloads._flowers_keras import _whole_batches
from sparkcast_papers.workloads._image_job import as_shards, images_of, pictures_of
from sparkcast_papers.workloads._images import generate_images
from sparkcast_papers.workloads.flowers_training import _split
from sparkcast_papers.workloads.image_read import _batches, _check, _decode, _files, _imbalance, _records, _sum_up
from tests_support import Call

EXAMPLES = Path(__file__).parents[3] / "examples"
NAMES = ("image-read", "tfrecord-write", "flowers-training")


def refusal(name: str, **settings: Level) -> StudyError:
    workload = WORKLOADS.get(name)()
    with pytest.raises(StudyError) as caught:
        workload.check(complete(workload, settings))
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize(
    ("name", "settings", "problem"),
    [
        ("image-read", {"batch_size": 512}, "batch_size = 512 is more than the 256 images"),
        ("image-read", {"batch_size": 32, "batches": 16}, "16 batches of 32 are more than the 256 images"),
        ("image-read", {"partitions": 17}, "batches = 16 leaves some of the 17 partitions empty"),
        ("image-read", {"data_path": "/nonexistent"}, "/nonexistent is not a folder"),
        ("tfrecord-write", {"images": 3}, "3 images leave some of the 4 partitions empty"),
        ("tfrecord-write", {"data_path": "/nonexistent"}, "/nonexistent is not a folder"),
        ("flowers-training", {"strategy": "multi-worker-mirrored"}, "does not work with executors = 1"),
        ("flowers-training", {"executors": 2}, "'one-device' does not work with executors = 2"),
        (
            "flowers-training",
            {"strategy": "mirrored", "cores": 3},
            "batch_size = 16 cannot be divided equally among 3 replicas",
        ),
        ("flowers-training", {"batch_size": 161}, "more than the 160 training images"),
        (
            "flowers-training",
            {"images": 25, "strategy": "mirrored", "cores": 8},
            "5 images for validation are too few for 8 replicas",
        ),
        ("flowers-training", {"images": 20}, "20 images of 5 classes are too few"),
        ("flowers-training", {"learning_rate": 0.0}, "nothing is learned"),
    ],
)
def test_settings_that_cannot_run_are_refused_with_a_hint(name: str, settings: dict[str, Level], problem: str) -> None:
    assert problem in str(refusal(name, **settings))


@pytest.mark.parametrize(
    ("name", "line", "problem"),
    [
        ("image-read", "cache: [flase, true]", "cache = 'flase' is not one of its choices"),
        ("image-read", "partitions: 0", "partitions = 0 is below its minimum 1"),
        ("image-read", "repetitions: 1", "repetitions = 1 is below its minimum 2"),
        ("tfrecord-write", "partitions: 0", "partitions = 0 is below its minimum 1"),
        ("flowers-training", "strategy: miror", "strategy = 'miror' is not one of its choices"),
    ],
)
def test_a_study_with_a_misspelled_level_names_its_line(call: Call, name: str, line: str, problem: str) -> None:
    Path("s.yaml").write_text(f"study: s\nworkload: {name}\nsettings:\n  {line}\n")
    answer = call("design", "s.yaml")
    assert answer.code == 2
    assert problem in answer.err
    assert "line 4" in answer.err


@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_a_workload_can_be_run(name: str) -> None:
    study = resolve(load_study(EXAMPLES / f"{name}.yaml"))
    workload = workload_of(study)
    trials = make_plan(study).trials
    assert len(trials) > 2
    for trial in trials:
        workload.check(complete(workload, trial.configuration))


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_without_jpeg_files_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "roses").mkdir()
    (tmp_path / "roses" / "1.png").touch()
    assert "has no JPEG files" in str(refusal(name, data_path=str(tmp_path)))


@pytest.mark.parametrize("name", NAMES)
def test_without_its_packages_a_study_designs_and_does_not_run(
    name: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda module: find_spec(module) if module == "keras" else None)
    monkeypatch.setattr(EmbeddedCluster, "__enter__", lambda _: pytest.fail("started a cluster"))
    Path("s.yaml").write_text(f"study: s\nworkload: {name}\nsettings: {{seed: [1, 2]}}\n")
    assert name in call("list", "workloads").out
    assert call("design", "s.yaml").code == 0
    answer = call("run", "s.yaml")
    assert answer.code == 2
    assert "not installed" in answer.err
    assert "pip install 'sparkcast[" in answer.err


def test_an_output_path_that_cannot_be_written_to_is_refused_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    workload = WORKLOADS.get("tfrecord-write")()
    settings = complete(workload, {"images": 4, "output_path": str(tmp_path / "file" / "folder")})
    with pytest.raises(StudyError, match="cannot be written to: Not a directory"):
        workload.prepare(settings, tmp_path)


def test_flowers_that_are_no_pictures_are_left_out_or_refused(tmp_path: Path) -> None:
    images = generate_images(tmp_path / "data", count=30, side=32, classes=2)
    images.paths()[0].write_text("no picture")
    workload = WORKLOADS.get("flowers-training")()
    settings = complete(workload, {"data_path": str(images.folder), "batch_size": 8})
    workload.check(settings)
    assert workload.prepare(settings, tmp_path / "a").endswith(", 1 of them left out as corrupt")
    for path in images.paths():
        path.write_text("no picture either")
    with pytest.raises(StudyError, match="none of the 30 images could be decoded, the first because: cannot identify"):
        workload.prepare(settings, tmp_path / "b")


@given(
    batch_size=some.integers(1, 60).flatmap(lambda n: some.tuples(some.just(n), some.sampled_from([1, 2, 3, 4]))),
    count=some.integers(4, 300),
)
def test_validation_is_in_equal_batches_that_leave_out_few(batch_size: tuple[int, int], count: int) -> None:
    share, replicas = batch_size
    size, used = _whole_batches(count, share * replicas, replicas)
    assert 0 < size <= share * replicas
    assert used % size == size % replicas == 0
    n_batches = used // size
    assert count - used < n_batches * replicas


def test_every_fifth_picture_of_a_class_is_for_validation() -> None:
    files = [f"{label}/{n}" for label in "ab" for n in range(11)]
    training, held_out = _split(files)
    assert held_out == ("a/4", "a/9", "b/4", "b/9")
    assert sorted(training + held_out) == sorted(files)


def test_jpeg_and_tfrecord_files_give_the_same_pixels_in_the_same_batches(tmp_path: Path) -> None:
    images = generate_images(tmp_path, count=11, side=16, classes=3)
    read = {}
    for name, places in (("jpeg", _files(images)), ("tfrecord", _records(as_shards(images, tmp_path)))):
        batches = _batches(places, 4, 2)
        read[name] = [(n, count, checksum) for n, _, count, checksum, _, _ in _sum_up(_decode(b, 8) for b in batches)]
    assert read["jpeg"] == read["tfrecord"]
    assert [(n, count) for n, count, _ in read["jpeg"]] == [(0, 4), (1, 4)]


def test_records_of_a_batch_are_read_in_one_go_also_across_files() -> None:
    places = [("a", 0, 1), ("a", 100, 1), ("a", 200, 1), ("b", 0, 1)]
    assert _batches(places, 2, 2) == [(0, [("a", 0, 2)]), (1, [("a", 200, 1), ("b", 0, 1)])]


def test_a_corrupt_picture_is_named_and_the_rest_of_its_batch_is_read(tmp_path: Path) -> None:
    images = generate_images(tmp_path, count=4, side=16)
    images.paths()[2].write_text("no picture")
    for places in (_files(images), _records(as_shards(images, tmp_path))):
        [batch] = _batches(places, 4, 1)
        _, pixels, corrupt = _decode(batch, 8)
        assert len(pixels) == 3
        [(file, problem)] = corrupt
        assert file.endswith(images.files[2])
        assert "cannot identify" in problem


def test_a_missing_picture_is_no_corrupt_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        _decode((0, [(str(tmp_path / "a.jpg"), 0, 1)]), 8)


def test_a_run_that_read_other_pixels_is_an_error(tmp_path: Path) -> None:
    images = generate_images(tmp_path, count=4, side=16)
    reads = list(_sum_up(_decode(batch, 8) for batch in _batches(_files(images), 2, 2)))
    _check([reads, reads], images, 2, 8)
    with pytest.raises(RunError, match="two repetitions read different images"):
        _check([reads, reads[:1]], images, 2, 8)
    other = [
        (number, executor, count, checksum + 1, s, corrupt) for number, executor, count, checksum, s, corrupt in reads
    ]
    with pytest.raises(RunError, match="not those of the JPEG files"):
        _check([other, other], images, 2, 8)
    nothing = [(0, "a", 0, 0, 1.0, [("x.jpg", "no picture")])]
    with pytest.raises(RunError, match="none of the images could be decoded, the first because: no picture"):
        _check([nothing, nothing], images, 2, 8)


def test_imbalance_is_one_when_even_and_the_number_of_executors_when_one_did_all() -> None:
    def read(executor: str, seconds: float) -> image_read.Read:
        return 0, executor, 1, 0, seconds, []

    assert _imbalance([read("a", 1), read("b", 2), read("a", 1)], 2) == 1
    assert _imbalance([read("a", 1), read("a", 2)], 2) == 2
    assert _imbalance([read("a", 3), read("b", 1)], 2) == 1.5


def test_generated_pictures_have_whole_paths_because_tasks_work_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = complete(WORKLOADS.get("image-read")(), {"images": 2, "image_size": 16})
    images = images_of(settings, Path("data"))
    assert images.folder.is_absolute()
    assert as_shards(images, Path("data")).is_absolute()


def test_a_picture_has_its_path_its_name_and_its_class(tmp_path: Path) -> None:
    images = generate_images(tmp_path, count=2, side=16, classes=2)
    assert pictures_of(images)[1] == (os.path.join(images.folder, images.files[1]), images.files[1], 1)  # noqa: PTH118
