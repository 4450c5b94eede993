"""LZF as compress-lzf writes it: chunks of at most 64 kB, plain (type 0) or compressed (type 1). Decoded by hand."""

from collections.abc import Iterator
from typing import BinaryIO

from sparkcast.eventlogs.codecs.base import DamagedError, read_exactly

MAGIC = b"ZV"
_PLAIN, _COMPRESSED = 0, 1


def pieces(file: BinaryIO) -> Iterator[bytes]:
    while start := file.read(5):
        if len(start) < 5:
            raise DamagedError("cut off in the header of an lzf chunk")
        if start[:2] != MAGIC or start[2] not in (_PLAIN, _COMPRESSED):
            raise DamagedError("damaged header of an lzf chunk")
        stored = int.from_bytes(start[3:5], "big")
        if start[2] == _PLAIN:
            yield read_exactly(file, stored)
        else:
            size = int.from_bytes(read_exactly(file, 2), "big")
            yield _expanded(read_exactly(file, stored), size)


def _expanded(data: bytes, size: int) -> bytes:
    out = bytearray()
    at, end = 0, len(data)
    try:
        while at < end:
            control = data[at]
            at += 1
            if control < 32:  # a run of 1 to 32 bytes as they are
                out += data[at : at + control + 1]
                at += control + 1
                continue
            length = control >> 5
            if length == 7:
                length += data[at]
                at += 1
            length += 2
            begin = len(out) - ((control & 0x1F) << 8) - data[at] - 1
            at += 1
            if begin < 0:
                raise DamagedError("damaged lzf chunk: refers to before its beginning")
            part = out[begin : begin + length]
            while len(part) < length:  # it overlaps what it makes: a repetition
                part += part[: length - len(part)]
            out += part
    except IndexError:
        raise DamagedError("damaged lzf chunk: ends too early") from None
    if len(out) != size:
        raise DamagedError("damaged lzf chunk: not as long as it says")
    return bytes(out)
