"""From the bytes of a file to the bytes of the log, a piece at a time.

The first bytes say which compression it is; names lie. Every codec yields what it can and raises `DamagedError` where
it cannot go on, so that what came before is kept.
"""

from collections.abc import Callable, Iterator
from typing import BinaryIO

from sparkcast.eventlogs.codecs import gzip, lz4_java, lzf, snappy_java, zstd
from sparkcast.eventlogs.codecs.base import PIECE, DamagedError

__all__ = ["PIECE", "DamagedError", "decompressed"]

_BY_MAGIC: dict[bytes, Callable[[BinaryIO], Iterator[bytes]]] = {
    zstd.MAGIC: zstd.pieces,
    gzip.MAGIC: gzip.pieces,
    lz4_java.MAGIC: lz4_java.pieces,
    snappy_java.MAGIC: snappy_java.pieces,
    lzf.MAGIC: lzf.pieces,
}
_LONGEST_MAGIC = max(map(len, _BY_MAGIC))


def decompressed(file: BinaryIO) -> Iterator[bytes]:
    """The pieces of the log that a file at its beginning holds, each at most a few MB long."""
    start = file.read(_LONGEST_MAGIC)
    file.seek(0)
    for magic, pieces in _BY_MAGIC.items():
        if start.startswith(magic):
            return pieces(file)
    if start and any(magic.startswith(start) for magic in _BY_MAGIC):
        return _cut_off_at_once()
    return _plain(file)


def _plain(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(PIECE):
        yield piece


def _cut_off_at_once() -> Iterator[bytes]:
    raise DamagedError("cut off in the compression's first bytes")
    yield b""
