"""gzip as Databricks writes it: one member or several, one after the other."""

import zlib
from collections.abc import Iterator
from typing import BinaryIO

from sparkcast.eventlogs.codecs.base import PIECE, DamagedError

MAGIC = b"\x1f\x8b"
_INPUT = 1 << 16
_GZIP = 31  # zlib's number for "with a gzip header"


def pieces(file: BinaryIO) -> Iterator[bytes]:
    member = zlib.decompressobj(_GZIP)
    compressed = b""
    while compressed := compressed or file.read(_INPUT):
        if member.eof:
            compressed = compressed.lstrip(b"\0")  # some tools pad with zeros
            if not compressed:
                continue
            member = zlib.decompressobj(_GZIP)
        try:
            piece = member.decompress(compressed, PIECE)
        except zlib.error as error:
            raise DamagedError(f"damaged gzip: {error}") from None
        compressed = member.unused_data if member.eof else member.unconsumed_tail
        if piece:
            yield piece
    if not member.eof:
        yield member.flush()
        raise DamagedError("cut off in the middle of a gzip member")
