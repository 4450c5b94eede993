"""What happens to one partition of images in a Python process of an executor.

Everything here is sent to processes that may have no sparkcast: functions and plain values only.
"""

import gc
import sys
import zipimport
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sparkcast_papers.workloads._cnn_replica import Replica, kept, load_replica
from sparkcast_papers.workloads._images import decode_jpeg

_MIB = 2**20
_SPARE = 64 * _MIB  # for what TensorFlow allocates in passing


class Predicted(NamedTuple):
    """Predictions of some images; places count from the first of them."""

    places: list[int]  # that were predicted
    labels: list[int]  # the class with the largest logit
    scores: list[float]  # this logit
    unreadable: list[int]  # places of those that no image could be made of


def ready_replica(network: Mapping[str, Any], most_bytes: int | None) -> Replica:
    """The replica of this process, loaded once and kept, with no more than `most_bytes` of memory for the process."""

    def load() -> Replica:
        replica = load_replica(**network)
        gc.freeze()  # or after each task garbage is collected among all that TensorFlow has made
        if most_bytes is not None:
            _limit_memory(most_bytes, network["network"])
        return replica

    return kept(tuple(network.items()), load)


def predict_files(replica: Replica, files: Sequence[Path], *, side: int, batch_size: int) -> Predicted:
    """Turn a whole partition into what the network takes, then push it through in batches."""
    import numpy as np

    pixels = np.empty((len(files), side, side, 3), dtype=np.float32)
    np.empty(_SPARE, dtype=np.uint8)  # given back at once: if memory is short, here, where it is an error and no abort
    places: list[int] = []
    for place, file in enumerate(files):
        content = file.read_bytes()
        if (picture := _decoded(content, side)) is not None:
            pixels[len(places)] = picture
            places.append(place)
    prepared = replica.prepare(pixels[: len(places)])
    labels: list[int] = []
    scores: list[float] = []
    for start in range(0, len(places), batch_size):
        logits = replica.predict(prepared[start : start + batch_size])
        labels += logits.argmax(axis=1).tolist()
        scores += logits.max(axis=1).tolist()
    return Predicted(places, labels, scores, sorted({*range(len(files))} - {*places}))


def _decoded(content: bytes, side: int) -> Any:
    """The pixels of an image, or None when the file has none."""
    from PIL import Image

    try:
        return decode_jpeg(content, side)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):  # all that Pillow says of bad files
        return None


def forget_zip_files() -> None:
    """Spare the next task reading them: Spark's Python processes have what was imported looked for anew in each task.

    They hold Python's own packages of Spark and its jar, and each is read again in case it has changed. Forgotten here,
    at the end of a task, they are found again when something is imported from them.
    """
    for path, finder in [*sys.path_importer_cache.items()]:
        if isinstance(finder, zipimport.zipimporter):
            del sys.path_importer_cache[path]


def _limit_memory(most_bytes: int, network: str) -> None:
    """Let no more be allocated in this process than that. Raises MemoryError when it has more already.

    It is limited when the replica is loaded, and not from the start as spark.executor.pyspark.memory does: TensorFlow
    aborts when it is refused memory while it loads, which tells nobody why. Only what is private to the process counts
    (RLIMIT_DATA, which Linux enforces): not the code of libraries, which all processes share.
    """
    import resource

    if sys.platform != "linux":
        return
    status = Path("/proc/self/status").read_text(encoding="ascii")
    used = next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmData:"))
    if used > most_bytes:
        raise MemoryError(
            f"a replica of {network} takes {used // _MIB} MiB, more than the {most_bytes // _MIB} MiB that each Python "
            "process has: memory divided by the replicas of an executor"
        )
    _, hardest = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, hardest))
