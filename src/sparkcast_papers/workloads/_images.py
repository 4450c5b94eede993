"""Pictures for the image workloads: JPEG files, one folder per class, generated or a folder of one's own.

A generated picture shows its class by hue and by the direction of its stripes, under noise, so that a network can learn
it and a JPEG file of it is about as large as that of a photo.
"""

import hashlib
import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sparkcast.errors import StudyError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]  # height x width x 3

SUFFIXES = (".jpg", ".jpeg")
_DONE = "images.json"  # written last: a folder without it was left half made
_VERSION = 1  # of the recipe: raise it when the same request gives other pictures
_QUALITY = 90


@dataclass(frozen=True, slots=True)
class ImageSet:
    """JPEG files of a folder with one folder per class."""

    folder: Path
    files: tuple[str, ...]  # relative to the folder, sorted
    classes: tuple[str, ...]
    fingerprint: str

    def __len__(self) -> int:
        return len(self.files)

    def paths(self) -> tuple[Path, ...]:
        return tuple(self.folder / file for file in self.files)

    def label(self, file: str) -> int:
        return self.classes.index(Path(file).parent.name)


def generate_images(data_dir: Path, *, count: int, side: int, classes: int = 5, seed: int = 1) -> ImageSet:
    """`count` square pictures of `side` pixels, equally many of each class; made once, then found again."""
    name = f"images-{count}x{side}-{classes}-seed{seed}-v{_VERSION}"
    folder = data_dir / name
    if not (folder / _DONE).is_file():
        _make(folder, count, side, classes, seed)
    return ImageSet(folder, **_read_list(folder), fingerprint=name)


def images_in(folder: Path) -> ImageSet:
    """The JPEG files of a folder with one folder per class; files beside them are passed over."""
    return _found(folder, "*/*", hint="put them in one folder per class: roses/1.jpg, ...")


def images_under(folder: Path) -> ImageSet:
    """The JPEG files of a folder and of all folders in it, where their classes do not matter."""
    return _found(folder, "**/*", hint="they end in .jpg or .jpeg")


def _found(folder: Path, pattern: str, *, hint: str) -> ImageSet:
    if not folder.is_dir():
        raise StudyError(f"{folder} is not a folder", hint="data_path: FOLDER with JPEG files")
    found = sorted(path for path in folder.glob(pattern) if path.suffix.lower() in SUFFIXES and path.is_file())
    if not found:
        raise StudyError(f"{folder} has no JPEG files", hint=hint)
    facts = "\n".join(f"{path.relative_to(folder)} {path.stat().st_size}" for path in found)
    return ImageSet(
        folder,
        files=tuple(str(path.relative_to(folder)) for path in found),
        classes=tuple(sorted({path.parent.name for path in found})),
        fingerprint=f"{len(found)} JPEG files sha256:{hashlib.sha256(facts.encode()).hexdigest()[:12]}",
    )


def picture(index: int, *, side: int, classes: int, seed: int) -> "Pixels":
    """The picture with this number: stripes in the hue and direction of its class, shifted and noisy."""
    import numpy as np

    random = np.random.default_rng((seed, index))
    label = index % classes
    angle = np.pi * (label + random.normal(0, 0.08)) / classes
    rows, columns = np.mgrid[0:side, 0:side] / side
    wave = np.sin(
        2 * np.pi * (random.uniform(3, 6) * (rows * np.sin(angle) + columns * np.cos(angle)) + random.random())
    )
    hue = 2 * np.pi * (label / classes + np.array([0, 1 / 3, 2 / 3]))
    color = 128 + 60 * np.cos(hue)
    pixels = color + 45 * wave[:, :, None] + random.normal(0, 18, (side, side, 1))
    return np.asarray(pixels.clip(0, 255), dtype=np.uint8)


def encode_jpeg(pixels: "Pixels") -> bytes:
    from io import BytesIO

    from PIL import Image

    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=_QUALITY)
    return buffer.getvalue()


def decode_jpeg(content: bytes, side: int | None = None) -> "Pixels":
    """The pixels of a JPEG file, resized to a square of `side` where one is given.

    Raises OSError when the file is damaged or cut short.
    """
    import numpy as np
    from PIL import Image

    pixels = _decoded(content, side or 0)
    if side is None or pixels.shape == (side, side, 3):
        return pixels
    return np.asarray(Image.fromarray(pixels).resize((side, side), Image.Resampling.BILINEAR))


def _decoded(content: bytes, side: int) -> "Pixels":
    """At full size, or at 1/2, 1/4 or 1/8 of it where that is not below `side`: libjpeg shrinks while it decodes."""
    try:
        from simplejpeg import decode_jpeg, decode_jpeg_header  # the same pixels as Pillow gives, in less time
    except ImportError:
        return _decoded_by_pillow(content, side)
    try:
        height, width, *_ = decode_jpeg_header(content)
        shrink = max((n for n in (8, 4, 2) if side and min(height, width) >= side * n), default=1)
        pixels: Pixels = decode_jpeg(content, min_height=-(-height // shrink), min_width=-(-width // shrink))
        return pixels
    except ValueError:  # damaged, or another format: Pillow reads it or says what is wrong
        return _decoded_by_pillow(content, side)


def _decoded_by_pillow(content: bytes, side: int) -> "Pixels":
    from io import BytesIO

    import numpy as np
    from PIL import Image

    with Image.open(BytesIO(content)) as image:
        image.draft("RGB", (side, side) if side else None)
        return np.asarray(image if image.mode == "RGB" else image.convert("RGB"))


def _make(folder: Path, count: int, side: int, classes: int, seed: int) -> None:
    """All or nothing: the folder gets its name when it is complete."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".images-"))
    try:
        names = [f"class-{label}" for label in range(classes)]
        for name in names:
            (draft / name).mkdir()
        files = []
        for index in range(count):
            file = f"{names[index % classes]}/{index:07d}.jpg"
            (draft / file).write_bytes(encode_jpeg(picture(index, side=side, classes=classes, seed=seed)))
            files.append(file)
        (draft / _DONE).write_text(json.dumps({"files": sorted(files), "classes": names}), encoding="utf-8")
        draft.chmod(0o755)
        if folder.exists():  # half made by an earlier attempt
            shutil.rmtree(folder)
        draft.replace(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _read_list(folder: Path) -> dict[str, tuple[str, ...]]:
    content = json.loads((folder / _DONE).read_text(encoding="utf-8"))
    return {key: tuple(content[key]) for key in ("files", "classes")}
