"""Inference with convolutional networks: its settings and what happens to a partition, without TensorFlow or Spark."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast import api
from sparkcast.arrays import Array
from sparkcast.errors import RunError, StudyError
from sparkcast.study import Level
from sparkcast.workloads import WORKLOADS, complete, extras
from sparkcast_papers.workloads import _cnn_replica
from sparkcast_papers.workloads._cnn_jobs import InferenceJobs
from sparkcast_papers.workloads._cnn_partition import predict_files
from sparkcast_papers.workloads._cnn_replica import Replica, kept
from sparkcast_papers.workloads._images import ImageSet, generate_images
from sparkcast_papers.workloads.cnn_inference import _sampled

CNN = WORKLOADS.get("cnn-inference")()
SIDE = 8


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"image_size": 31}, "image_size = 31 is too small for mobilenet-v2"),
        ({"image_size": 31, "network": "resnet50"}, "too small for resnet50"),
        ({"image_size": 70, "network": "xception"}, "too small for xception"),
        ({"image_size": 74, "network": "inception-v3"}, "too small for inception-v3"),
        ({"sampling_rate": 0.0}, "sampling_rate = 0 is not between 0 and 1"),
        ({"sampling_rate": 1.5}, "sampling_rate = 1.5 is not between 0 and 1"),
        ({"batch_size": 21}, "batch_size = 21 is more than partition_size = 20, so no batch is ever full"),
        ({"cores": 3, "threads": 2}, "3 cores per executor cannot be divided into replicas of 2 threads"),
        ({"memory": "256m"}, "memory = 256m is too small: Spark starts no executor with less than 450m"),
        ({"seed": 2**32}, "is too large"),
    ],
)
def test_settings_that_cannot_run_are_refused_with_a_hint(given: dict[str, Level], problem: str) -> None:
    with pytest.raises(StudyError) as caught:
        CNN.check(complete(CNN, given))
    assert problem in caught.value.problem
    assert caught.value.hint


@pytest.mark.parametrize("name", ["partition_size", "batch_size", "images", "threads", "image_size"])
def test_amounts_of_nothing_are_refused(name: str) -> None:
    setting = next(setting for setting in CNN.settings if setting.name == name)
    with pytest.raises(StudyError, match=f"{name} = 0 is below its minimum 1"):
        setting.check(0)


def test_the_heap_is_fixed_and_a_replica_has_the_threads_it_was_given() -> None:
    conf = CNN.spark_conf(complete(CNN, {"memory": "3g", "cores": 4, "threads": 2}))
    assert conf["spark.executor.extraJavaOptions"] == "-Xms3g"
    assert conf["spark.task.cpus"] == "2"
    assert conf["spark.executor.memoryOverhead"] == "3g"


def test_a_missing_package_is_named_before_anything_runs_but_the_study_loads_and_designs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "tensorflow" else object())
    with pytest.raises(StudyError, match="'cnn-inference' needs tensorflow, which is not installed") as caught:
        CNN.prepare(complete(CNN, {}), tmp_path)
    assert caught.value.hint == "pip install 'sparkcast[cnn]'"
    study = tmp_path / "s.yaml"
    study.write_text("study: s\nworkload: cnn-inference\nsettings: {partition_size: [20, 40], cores: [1, 2]}\n")
    assert len(api.plan(study).trials) == 4


def test_a_folder_without_images_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no image")
    with pytest.raises(StudyError, match="has no JPEG files"):
        CNN.prepare(complete(CNN, {"data_path": str(tmp_path)}), tmp_path)


def test_the_images_of_a_folder_are_found_at_any_depth(tmp_path: Path) -> None:
    made = generate_images(tmp_path / "made", count=3, side=SIDE)
    (tmp_path / "own" / "deep" / "er").mkdir(parents=True)
    for path, place in zip(made.paths(), ("a.jpg", "deep/b.JPEG", "deep/er/c.jpg"), strict=True):
        (tmp_path / "own" / place).write_bytes(path.read_bytes())
    assert CNN.prepare(complete(CNN, {"data_path": str(tmp_path / "own")}), tmp_path).startswith("3 JPEG files")


@settings(deadline=None)
@given(n=st.integers(1, 300), rate=st.floats(1e-6, 1), seed=st.integers(0, 9))
def test_a_sample_has_its_share_of_the_images_and_is_the_same_each_time(n: int, rate: float, seed: int) -> None:
    images = ImageSet(Path("/images"), tuple(f"{i:04}.jpg" for i in range(n)), (), "")
    sample = _sampled(images, rate, seed)
    assert len(sample) == max(1, round(rate * n))
    assert len({*sample}) == len(sample)
    assert sample == sorted(sample) == _sampled(images, rate, seed)


# ---------------------------------------------------------------- one partition


class Brightness(Replica):
    """Has two classes, dark and bright."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def prepare(self, pixels: Array) -> Array:
        return pixels / 255

    def predict(self, pixels: Array) -> Array:
        self.batches.append(len(pixels))
        bright = pixels.mean(axis=(1, 2, 3))
        return np.stack([1 - bright, bright], axis=1)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Seven images, every second one bright."""
    from PIL import Image

    made = [tmp_path / f"{n}.jpg" for n in range(7)]
    for n, path in enumerate(made):
        Image.new("RGB", (20, 12), (250, 250, 250) if n % 2 else (20, 20, 20)).save(path)
    return made


def test_a_partition_is_predicted_in_order_and_in_batches(files: list[Path]) -> None:
    replica = Brightness()
    predicted = predict_files(replica, files, side=SIDE, batch_size=3)
    assert predicted.labels == [0, 1, 0, 1, 0, 1, 0]
    assert (predicted.places, predicted.unreadable) == ([0, 1, 2, 3, 4, 5, 6], [])
    assert predicted.scores == pytest.approx([235 / 255, 250 / 255] * 3 + [235 / 255], rel=0.02)
    assert replica.batches == [3, 3, 1]


@pytest.mark.parametrize("content", [b"", b"no image", None], ids=["empty", "text", "cut"])
def test_an_unreadable_image_is_passed_over_and_told(files: list[Path], content: bytes | None) -> None:
    files[3].write_bytes(files[3].read_bytes()[:300] if content is None else content)
    predicted = predict_files(Brightness(), files, side=SIDE, batch_size=4)
    assert predicted.places == [0, 1, 2, 4, 5, 6]
    assert predicted.labels == [0, 1, 0, 0, 1, 0]
    assert predicted.unreadable == [3]


def test_a_file_that_is_not_there_is_an_error_and_no_unreadable_image(files: list[Path]) -> None:
    files[2].unlink()
    with pytest.raises(FileNotFoundError, match=r"2\.jpg"):
        predict_files(Brightness(), files, side=SIDE, batch_size=4)


def test_nothing_to_predict_is_no_problem() -> None:
    assert predict_files(Brightness(), [], side=SIDE, batch_size=4) == ([], [], [], [])


def test_what_is_kept_is_made_once_per_process_even_by_code_that_was_sent_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_cnn_replica, "_KEPT", "kept_by_this_test")
    made = [kept("a", object), kept("a", object), kept("b", object)]
    assert made[0] is made[1]
    assert made[0] is not made[2]
    assert sys.modules.pop("kept_by_this_test").made["a"] is made[0]  # where other globals find it too


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits it")
def test_a_partition_beyond_the_memory_of_its_process_is_a_memory_error() -> None:
    code = """
import numpy as np
from sparkcast_papers.workloads._cnn_partition import _limit_memory
np.ones(10)
_limit_memory(600 * 2**20, "ResNet50")
np.empty(100 * 2**20, dtype=np.uint8)
for attempt in (lambda: np.empty(700 * 2**20, dtype=np.uint8), lambda: _limit_memory(2**20, "ResNet50")):
    try:
        attempt()
    except MemoryError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first.startswith("Unable to allocate 700. MiB")
    assert second.startswith("a replica of ResNet50 takes ")
    assert "more than the 1 MiB that each Python process has" in second


# ---------------------------------------------------------------- what comes back


class Played(InferenceJobs):
    """Gives these rows, and predicts alone what `alone` says."""

    def __init__(self, n_files: int, alone: tuple[int, float] = (7, 1.0)) -> None:
        self._files, self._partition_size, self._alone = [f"{n}.jpg" for n in range(n_files)], 2, alone

    def _run(self, partitions: Sequence[Sequence[str]], *, barrier: bool = False) -> list[Any]:
        label, score = self._alone
        return [SimpleNamespace(partition=n, labels=[label], scores=[score]) for n in range(len(partitions))]


def row(partition: int, places: list[int], unreadable: Sequence[int] = ()) -> SimpleNamespace:
    n = len(places)
    return SimpleNamespace(
        partition=partition, places=places, labels=[7] * n, scores=[1.0] * n, unreadable=list(unreadable)
    )


def test_every_image_is_accounted_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert Played(3).checked([row(0, [0, 1]), row(1, [0])]) == 0
    assert Played(3).checked([row(1, [0]), row(0, [1], unreadable=[0])]) == 1
    assert "unreadable image: 0.jpg" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([row(0, [0, 1])], "2 results for 3 images"),
        ([row(0, [0, 1]), row(0, [0, 1])], "4 results for 3 images"),
        ([row(0, [0, 0]), row(1, [0])], "3 results for 3 images: some are missing or there twice"),
        ([row(0, [], [0, 1]), row(1, [], [0])], "none of the 3 images can be read, such as 0.jpg"),
    ],
)
def test_images_that_are_missing_or_there_twice_fail_the_run(rows: list[Any], problem: str) -> None:
    with pytest.raises(RunError, match=problem):
        Played(3).checked(rows)


@pytest.mark.parametrize("alone", [(8, 1.0), (7, 1.01)])
def test_replicas_that_differ_fail_the_run(alone: tuple[int, float]) -> None:
    with pytest.raises(RunError, match="the replicas of the network differ"):
        Played(3, alone).checked([row(0, [0, 1]), row(1, [0])])
