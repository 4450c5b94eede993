"""What the codecs share."""

from typing import BinaryIO

PIECE = 1 << 18
# Blocks of lz4-java are at most 32 MB and usually 32 kB; whatever claims more is damaged or means harm.
MAX_BLOCK = 1 << 25


class DamagedError(Exception):
    """The file is cut off or damaged here; everything before it was yielded."""


def read_exactly(file: BinaryIO, size: int) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise DamagedError("cut off in the middle of a compressed block")
    return data
