"""Generated pictures, and folders of one's own."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sparkcast.errors import StudyError
from sparkcast.workloads import extras
from sparkcast_papers.workloads._images import (
    _decoded,
    _decoded_by_pillow,
    decode_jpeg,
    encode_jpeg,
    generate_images,
    images_in,
    picture,
)


def test_generated_images_are_the_same_for_the_same_seed_and_found_again(tmp_path: Path) -> None:
    first = generate_images(tmp_path / "a", count=7, side=16, classes=3, seed=4)
    other = generate_images(tmp_path / "b", count=7, side=16, classes=3, seed=4)
    assert [path.read_bytes() for path in first.paths()] == [path.read_bytes() for path in other.paths()]
    first.paths()[0].write_bytes(b"kept")
    again = generate_images(tmp_path / "a", count=7, side=16, classes=3, seed=4)
    assert again == first
    assert again.paths()[0].read_bytes() == b"kept"


def test_a_half_made_folder_is_made_again(tmp_path: Path) -> None:
    images = generate_images(tmp_path, count=4, side=16)
    (images.folder / "images.json").unlink()
    images.paths()[0].unlink()
    assert all(path.is_file() for path in generate_images(tmp_path, count=4, side=16).paths())


def test_a_label_is_the_place_of_the_folder_among_the_classes(tmp_path: Path) -> None:
    images = generate_images(tmp_path, count=6, side=16, classes=3)
    assert [images.label(file) for file in images.files] == [0, 0, 1, 1, 2, 2]


def test_a_decoded_picture_looks_like_what_was_encoded(tmp_path: Path) -> None:
    images = generate_images(tmp_path, count=1, side=64, seed=9)
    decoded = decode_jpeg(images.paths()[0].read_bytes())
    original = picture(0, side=64, classes=5, seed=9)
    assert decoded.shape == original.shape
    assert np.corrcoef(decoded.ravel(), original.ravel())[0, 1] > 0.97
    assert decode_jpeg(images.paths()[0].read_bytes(), side=24).shape == (24, 24, 3)


@pytest.mark.parametrize("side", [0, 3, 16, 24, 32, 50, 70])
def test_pillow_alone_gives_the_same_pixels(side: int) -> None:
    content = encode_jpeg(picture(0, side=67, classes=5, seed=1)[:, :61])
    assert np.array_equal(_decoded(content, side), _decoded_by_pillow(content, side))


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_other_formats_and_gray_pictures_are_decoded_too(kind: str) -> None:
    buffer = BytesIO()
    Image.new("L", (20, 30), 77).save(buffer, kind)
    pixels = decode_jpeg(buffer.getvalue(), side=10)
    assert pixels.shape == (10, 10, 3)
    assert (pixels == 77).all()


def test_a_cut_file_is_an_os_error(tmp_path: Path) -> None:
    images = generate_images(tmp_path, count=1, side=64)
    with pytest.raises(OSError, match=r"(?i)truncated"):
        decode_jpeg(images.paths()[0].read_bytes()[:400])


def test_a_folder_of_ones_own_is_read_by_class(tmp_path: Path) -> None:
    generated = generate_images(tmp_path / "data", count=4, side=16, classes=2)
    (generated.folder / "class-0" / "notes.txt").write_text("passed over")
    own = images_in(generated.folder)
    assert (own.files, own.classes) == (generated.files, generated.classes)


def test_a_folder_without_images_is_an_error_that_tells_how_to_lay_it_out(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="has no JPEG files"):
        images_in(tmp_path)
    with pytest.raises(StudyError, match="is not a folder"):
        images_in(tmp_path / "nowhere")


def test_a_missing_package_is_named_with_the_command_that_installs_it() -> None:
    with pytest.raises(StudyError, match=r"needs no_such_package, which is not installed") as caught:
        extras.require_extra("cnn", ("json", "no_such_package"), needed_by="workload 'cnn-inference'")
    assert caught.value.hint == "pip install 'sparkcast[cnn]'"
