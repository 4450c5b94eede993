"""The samples of a run as a few bytes: columns of differences, each as narrow as it can be, compressed.

    b"samples1", then compressed: a line of JSON that tells what follows, and the differences between neighbors of each
    column, folded to 0, 1, 2, ... for 0, -1, 1, ..., as little-endian integers of 1, 2, 4 or 8 bytes

An hour of random samples of a machine with eight cores takes 100 KB; as text it would be 990 KB.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from sparkcast.errors import StoreError
from sparkcast.study.series import HostSeries, RunSeries, StageSpan

_MAGIC = b"samples1"
_WIDTHS = (1, 2, 4, 8)
_HOST_FACTS = ("host", "node", "cores", "memory_bytes", "ticks_per_s", "has_executors")
_STAGE_NUMBERS = ("stage_id", "attempt", "started_ms", "ended_ms")


def pack(series: RunSeries) -> bytes:
    body: list[bytes] = []
    names = tuple(dict.fromkeys(stage.name for stage in series.stages))
    places = {name: place for place, name in enumerate(names)}
    stages: dict[str, Sequence[int]] = {
        number: [getattr(stage, number) for stage in series.stages] for number in _STAGE_NUMBERS
    }
    stages["name"] = [places[stage.name] for stage in series.stages]
    head = {
        "hosts": [
            {fact: getattr(host, fact) for fact in _HOST_FACTS} | {"columns": _pack_columns(host.counters, body)}
            for host in series.hosts
        ],
        "stages": {"names": names, "columns": _pack_columns(stages, body)},
    }
    return _MAGIC + zlib.compress(json.dumps(head).encode() + b"\n" + b"".join(body), 9)


def unpack(packed: bytes) -> RunSeries:
    """Raises StoreError for bytes that are damaged, or of a later version of sparkcast."""
    if not packed.startswith(_MAGIC):
        raise StoreError(
            f"the samples of a run begin with {packed[: len(_MAGIC)]!r}, which this version cannot read",
            hint="upgrade sparkcast: pip install --upgrade sparkcast",
        )
    try:
        text, _, body = zlib.decompress(packed[len(_MAGIC) :]).partition(b"\n")
        head, at = json.loads(text), 0
        hosts = []
        for about in head["hosts"]:
            counters, at = _unpack_columns(about["columns"], body, at)
            hosts.append(HostSeries(**{fact: about[fact] for fact in _HOST_FACTS}, counters=counters))
        stages, at = _unpack_columns(head["stages"]["columns"], body, at)
        names = [head["stages"]["names"][place] for place in stages.pop("name")]
        spans = [dict(zip(stages, row, strict=True)) for row in zip(*stages.values(), strict=True)]
        return RunSeries(
            tuple(hosts), tuple(StageSpan(**span, name=name) for span, name in zip(spans, names, strict=True))
        )
    except (zlib.error, ValueError, KeyError, IndexError, TypeError) as error:
        raise StoreError(f"the samples of a run are damaged: {error}", hint="its other results are not") from error


def _pack_columns(columns: Mapping[str, Sequence[int]], body: list[bytes]) -> list[Any]:
    """Adds to the body; returns what tells how to read it: name, length, first value, bytes of each difference."""
    import numpy as np

    layout: list[Any] = []
    for name, values in columns.items():
        steps = np.diff(np.array(values, dtype=np.int64))  # wraps around where it must, and back again
        folded = (steps.astype(np.uint64) << np.uint64(1)) ^ (steps >> np.int64(63)).astype(np.uint64)
        most = int(folded.max(initial=0))
        width = next(width for width in _WIDTHS if most < 2 ** (8 * width))
        body.append(folded.astype(f"<u{width}").tobytes())
        layout.append([name, len(values), int(values[0]) if len(values) else 0, width])
    return layout


def _unpack_columns(layout: Sequence[Any], body: bytes, at: int) -> tuple[dict[str, tuple[int, ...]], int]:
    """The columns, and where the next ones begin."""
    import numpy as np

    found: dict[str, tuple[int, ...]] = {}
    for name, length, first, width in layout:
        n_steps = max(length - 1, 0)
        folded = np.frombuffer(body, dtype=f"<u{width}", count=n_steps, offset=at).astype(np.uint64)
        at += n_steps * width
        steps = (folded >> np.uint64(1)) ^ (np.uint64(0) - (folded & np.uint64(1)))
        values = np.concatenate([np.array([first], dtype=np.int64).astype(np.uint64), steps]).cumsum(dtype=np.uint64)
        found[name] = tuple(values.astype(np.int64).tolist()) if length else ()
    return found, at
