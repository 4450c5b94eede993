"""Zstandard as Spark writes it: standard frames, one after the other, the last one unfinished while in progress."""

from collections.abc import Iterator
from typing import BinaryIO

from sparkcast.eventlogs.codecs.base import PIECE, DamagedError

MAGIC = b"\x28\xb5\x2f\xfd"
# A frame that asks for more memory than this to be decoded is refused; zstd's own default is 128 MB.
_MAX_WINDOW = 1 << 27
_INPUT = 1 << 17


def pieces(file: BinaryIO) -> Iterator[bytes]:
    import zstandard

    n_good = 0
    try:
        for piece in _read(file, PIECE):
            n_good += len(piece)
            yield piece
    except zstandard.ZstdError as error:
        file.seek(0)
        yield from _last_good(file, n_good)
        raise DamagedError(f"damaged zstd: {error}") from None


def _last_good(file: BinaryIO, n_read: int) -> Iterator[bytes]:
    """What an error takes with it that was decoded in the same step: again in small steps, from where we were."""
    import zstandard

    try:
        for piece in _read(file, 1 << 10):
            if n_read < len(piece):
                yield piece[n_read:]
            n_read = max(0, n_read - len(piece))
    except zstandard.ZstdError:
        return


def _read(file: BinaryIO, size: int) -> Iterator[bytes]:
    import zstandard

    decompressor = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW)
    reader = decompressor.stream_reader(file, read_size=_INPUT, read_across_frames=True, closefd=False)
    while piece := reader.read1(size):
        yield piece
