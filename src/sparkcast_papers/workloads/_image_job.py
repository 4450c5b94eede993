"""What the image workloads share: the settings that say which pictures, and how tasks get them."""

import hashlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sparkcast.errors import StudyError
from sparkcast.study import Configuration, Role, Setting
from sparkcast.workloads.base import Job, require_extra
from sparkcast_papers.workloads._images import ImageSet, decode_jpeg, encode_jpeg, generate_images, images_in
from sparkcast_papers.workloads._shards import Skipped, commit, discard, is_complete, new_folder, write_draft
from sparkcast_papers.workloads._tfrecord import image_example

# Plain values, because tasks exchange them.
Picture = tuple[str, str, int]  # its path, its name in the folder, its class
Corrupt = list[tuple[str, str]]  # files that could not be decoded, and why

DATA_PATH = Setting("data_path", "", "folder with one folder of JPEG files per class; empty: generated pictures")
SEED = Setting("seed", 1, "random seed for generated pictures", minimum=0)
CLASSES = 5  # as the Flowers set has
_RECORDS_PER_SHARD = 1000


def images_setting(default: int, role: Role = Role.DATA_SIZE) -> Setting:
    return Setting("images", default, "number of generated pictures", minimum=1, role=role)


def image_size_setting(default: int) -> Setting:
    return Setting("image_size", default, "pixels per side of generated pictures", minimum=8)


def require_images(needed_by: str) -> None:
    """Raise StudyError when what reads JPEG and TFRecord files is not installed."""
    require_extra("images", ("PIL", "simplejpeg", "google_crc32c"), needed_by=f"workload {needed_by!r}")


def count_images(settings: Configuration) -> int:
    """How many pictures there will be; raises StudyError for a folder without any."""
    folder = str(settings["data_path"])
    return len(images_in(Path(folder))) if folder else int(settings["images"])


def images_of(settings: Configuration, data_dir: Path) -> ImageSet:
    """The pictures of these settings; generated ones are made where they are missing."""
    if folder := str(settings["data_path"]):
        return images_in(Path(folder).resolve())
    return generate_images(
        data_dir.resolve(),  # tasks work elsewhere
        count=int(settings["images"]),
        side=int(settings["image_size"]),
        classes=CLASSES,
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


def wake(context: Any, settings: Configuration) -> None:
    """Start Python on every slot, with what decoding needs."""
    slots = int(settings["executors"]) * int(settings["cores"])
    context.parallelize(range(slots), slots).foreach(_import_libraries)


def _import_libraries(_: int) -> None:
    import google_crc32c  # noqa: F401
    import numpy  # noqa: F401
    import simplejpeg  # noqa: F401
    from PIL import JpegImagePlugin  # noqa: F401


def tell_skipped(job: Job, skipped: Sequence[Skipped]) -> None:
    """Name the pictures that could not be decoded: some to people, all in the log of the run."""
    for image in skipped:
        print(f"skipped {image.file}: {image.problem}", file=sys.stderr)
    if skipped:
        first = ", ".join(image.file for image in skipped[:3])
        more = ", ..." if len(skipped) > 3 else ""
        job.note(f"{len(skipped)} of the images could not be decoded and were skipped: {first}{more}")


def pictures_of(images: ImageSet) -> list[Picture]:
    return [(str(images.folder / file), file, images.label(file)) for file in images.files]


def as_shards(images: ImageSet, data_dir: Path, side: int | None = None) -> Path:
    """The folder with the same pictures in TFRecord files, byte for byte or resized; made once, then found again.

    Pictures that cannot be resized are left out and stand in the manifest.
    """
    what = f"{images.folder} {images.fingerprint} {side}"
    folder = data_dir.resolve() / f"tfrecords-{hashlib.sha256(what.encode()).hexdigest()[:16]}"
    if not is_complete(folder):
        discard(folder)
        new_folder(folder)
        pictures, corrupt = pictures_of(images), list[tuple[str, str]]()
        drafts = []
        for start in range(0, len(pictures), _RECORDS_PER_SHARD):
            share = pictures[start : start + _RECORDS_PER_SHARD]
            drafts.append(write_draft(folder, _as_they_are(share) if side is None else resized(share, side, corrupt)))
        commit(folder, drafts, [Skipped(*file) for file in corrupt])
    return folder


def _as_they_are(pictures: Iterable[Picture]) -> Iterator[bytes]:
    for path, file, label in pictures:
        yield image_example(Path(path).read_bytes(), label, file=file)


def resized(pictures: Iterable[Picture], side: int, corrupt: Corrupt) -> Iterator[bytes]:
    """Examples of the pictures as squares; those that cannot be decoded are added to `corrupt` instead."""
    for path, file, label in pictures:
        content = Path(path).read_bytes()
        try:
            pixels = decode_jpeg(content, side)
        except OSError as error:
            corrupt.append((file, str(error)))
        else:
            yield image_example(encode_jpeg(pixels), label, file=file, shape=(side, side))
