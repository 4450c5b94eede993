"""Is this a Spark event log? Told by how it begins, so that one given in place of a table can be named."""

import zlib
from pathlib import Path

_PLAIN = b'{"Event":"SparkListener'
# Spark's codecs: zstd, lz4 (its own blocks, or frames), snappy, lzf.
_COMPRESSED = (b"\x28\xb5\x2f\xfd", b"LZ4Block", b"\x04\x22\x4d\x18", b"\x82SNAPPY\x00", b"ZV\x00", b"ZV\x01")
_GZIP = b"\x1f\x8b"  # of Databricks' logs, and of many other files
_MOST_FILES = 50  # of a folder


def is_event_log(path: Path) -> bool:
    """A log file, a rolling log (`eventlog_v2_...`), or a folder that holds logs."""
    try:
        if not path.is_dir():
            return path.is_file() and _begins_like_one(path)  # whoever reads a pipe takes it away
        if path.name.startswith("eventlog_v2_"):
            return True
        inside = sorted(path.iterdir())[:_MOST_FILES]
        return any(p.name.startswith("eventlog_v2_") or (p.is_file() and _begins_like_one(p)) for p in inside)
    except OSError:
        return False


def _begins_like_one(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(1024)
    if start.startswith(_GZIP):
        start = _unzipped(start)
    return start.replace(b" ", b"").startswith(_PLAIN) or start.startswith(_COMPRESSED)


def _unzipped(start: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=31).decompress(start)
    except zlib.error:
        return b""
