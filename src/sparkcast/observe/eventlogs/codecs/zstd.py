"""Zstandard as Spark writes it: standard frames, one after the other, the last one unfinished while in progress."""

from collections.abc import Iterator
from typing import BinaryIO

from sparkcast.observe.eventlogs.codecs.base import DamagedError

MAGIC = b"\x28\xb5\x2f\xfd"
# A frame that asks for more memory than this to be decoded is refused; zstd's own default is 128 MB.
_MAX_WINDOW = 1 << 27
# One block. Asking for more at once would lose what was decoded before a damaged block.
_BLOCK = 1 << 17


def pieces(file: BinaryIO) -> Iterator[bytes]:
    import zstandard

    decompressor = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW)
    reader = decompressor.stream_reader(file, read_size=_BLOCK, read_across_frames=True, closefd=False)
    try:
        while piece := reader.read1(_BLOCK):
            yield piece
    except zstandard.ZstdError as error:
        raise DamagedError(f"damaged zstd: {error}") from None
