"""What the image workloads share: the settings that say which pictures, and how tasks get them."""

import hashlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from sparkcast.errors import StudyError
from sparkcast.study import Configuration, Role, Setting
from sparkcast.workloads._images import ImageSet, generate_images, images_in
from sparkcast.workloads._shards import Skipped, commit, discard, is_complete, new_folder, write_draft
from sparkcast.workloads._tfrecord import image_example
from sparkcast.workloads.extras import require_extra

DATA_PATH = Setting("data_path", "", "folder with one folder of JPEG files per class; empty: generated pictures")
SEED = Setting("seed", 1, "random seed for generated pictures", minimum=0)
_CLASSES = 5  # as the Flowers set has
_RECORDS_PER_SHARD = 1000


def images_setting(default: int, role: Role = Role.DATA_SIZE) -> Setting:
    return Setting("images", default, "number of generated pictures", minimum=1, role=role)


def image_size_setting(default: int) -> Setting:
    return Setting("image_size", default, "pixels per side of generated pictures", minimum=8)


def require_images(needed_by: str) -> None:
    """Raise StudyError when what reads JPEG and TFRecord files is not installed."""
    require_extra("images", ("PIL", "google_crc32c"), needed_by=f"workload {needed_by!r}")


def count_images(settings: Configuration) -> int:
    """How many pictures there will be; raises StudyError for a folder without any."""
    folder = str(settings["data_path"])
    return len(images_in(Path(folder))) if folder else int(settings["images"])


def images_of(settings: Configuration, data_dir: Path) -> ImageSet:
    """The pictures of these settings; generated ones are made where they are missing."""
    if folder := str(settings["data_path"]):
        return images_in(Path(folder).resolve())
    return generate_images(
        data_dir,
        count=int(settings["images"]),
        side=int(settings["image_size"]),
        classes=_CLASSES,
        seed=int(settings["seed"]),
    )


def require_batches(batch_size: int, batches: int, n_images: int) -> None:
    """Raise StudyError when there are fewer pictures than the batches take."""
    if batch_size > n_images:
        raise StudyError(
            f"batch_size = {batch_size} is more than the {n_images} images",
            hint=f"use a batch_size up to {n_images}, or more images",
        )
    if batch_size * batches > n_images:
        raise StudyError(
            f"{batches} batches of {batch_size} are more than the {n_images} images",
            hint="use more images, or add the rule: batch_size * batches <= images",
        )


def wake(_: int) -> None:
    """Start Python on an executor, with what decoding needs; a task."""
    import google_crc32c  # noqa: F401
    import numpy  # noqa: F401
    from PIL import JpegImagePlugin  # noqa: F401


def tell_skipped(skipped: Sequence[Skipped]) -> None:
    """Name the pictures that could not be decoded in the log of the run."""
    for image in skipped:
        print(f"skipped {image.file}: {image.problem}", file=sys.stderr)


def as_shards(images: ImageSet, data_dir: Path) -> Path:
    """The folder with the same pictures, byte for byte, in TFRecord files; made once, then found again."""
    folder = data_dir / f"tfrecords-{hashlib.sha256(f'{images.folder} {images.fingerprint}'.encode()).hexdigest()[:16]}"
    if not is_complete(folder):
        discard(folder)
        new_folder(folder)
        starts = range(0, len(images), _RECORDS_PER_SHARD)
        drafts = [
            write_draft(folder, _examples(images, images.files[start : start + _RECORDS_PER_SHARD])) for start in starts
        ]
        commit(folder, drafts)
    return folder


def _examples(images: ImageSet, files: Sequence[str]) -> Iterator[bytes]:
    for file in files:
        yield image_example((images.folder / file).read_bytes(), images.label(file), file=file)
