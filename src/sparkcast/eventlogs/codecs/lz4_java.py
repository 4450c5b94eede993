"""The block stream of lz4-java (`LZ4BlockOutputStream`): not the frame format of other lz4 tools.

Each block: "LZ4Block", a byte for method and level, compressed and original length, checksum (little-endian), data. An
empty block ends a stream; another may follow. Checksums are not looked at: damage shows in the blocks or in the JSON.
"""

import struct
from collections.abc import Iterator
from typing import BinaryIO

from sparkcast.eventlogs.codecs.base import MAX_BLOCK, DamagedError, read_exactly

MAGIC = b"LZ4Block"
_HEADER = struct.Struct("<8sBiii")
_RAW, _LZ4 = 0x10, 0x20


def pieces(file: BinaryIO) -> Iterator[bytes]:
    import cramjam

    while start := file.read(_HEADER.size):
        if len(start) < _HEADER.size:
            raise DamagedError("cut off in the header of an lz4 block")
        magic, token, stored, size, _ = _HEADER.unpack(start)
        if magic != MAGIC or not (0 <= stored <= MAX_BLOCK and 0 <= size <= MAX_BLOCK):
            raise DamagedError("damaged header of an lz4 block")
        data = read_exactly(file, stored)
        if size == 0:
            continue
        match token & 0xF0:
            case method if method == _RAW and stored == size:
                yield data
            case method if method == _LZ4:
                try:
                    piece = bytes(cramjam.lz4.decompress_block(data, output_len=size))
                except (cramjam.DecompressionError, ValueError) as error:
                    raise DamagedError(f"damaged lz4 block: {error}") from None
                if len(piece) != size:
                    raise DamagedError("damaged lz4 block: not as long as it says")
                yield piece
            case _:
                raise DamagedError("unknown method in the header of an lz4 block")
