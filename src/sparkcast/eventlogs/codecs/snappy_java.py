"""The stream of snappy-java (`SnappyOutputStream`): not the framing format of other snappy tools.

A header (magic, version, compatible version), then blocks: length (big-endian), raw snappy. Where streams were joined,
the header comes again.
"""

import struct
from collections.abc import Iterator
from typing import BinaryIO

from sparkcast.eventlogs.codecs.base import MAX_BLOCK, DamagedError, read_exactly

MAGIC = b"\x82SNAPPY\0"
_VERSIONS = 8
_LENGTH = struct.Struct(">I")


def pieces(file: BinaryIO) -> Iterator[bytes]:
    import cramjam

    while start := file.read(_LENGTH.size):
        if len(start) < _LENGTH.size:
            raise DamagedError("cut off in the length of a snappy block")
        if start == MAGIC[: _LENGTH.size]:
            read_exactly(file, len(MAGIC) - _LENGTH.size + _VERSIONS)
            continue
        (stored,) = _LENGTH.unpack(start)
        if stored > MAX_BLOCK:
            raise DamagedError("damaged length of a snappy block")
        data = read_exactly(file, stored)
        if _original_size(data) > MAX_BLOCK:
            raise DamagedError("a snappy block claims an impossible size")
        try:
            yield bytes(cramjam.snappy.decompress_raw(data))
        except (cramjam.DecompressionError, ValueError) as error:
            raise DamagedError(f"damaged snappy block: {error}") from None


def _original_size(block: bytes) -> int:
    """The number in front of raw snappy: seven bits a byte, the least first."""
    size = 0
    for place, byte in enumerate(block[:5]):
        size |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return size
    raise DamagedError("damaged size of a snappy block")
