import io
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlogs_support import CODECS, REAL_LOG
from sparkcast.eventlogs.codecs import DamagedError, decompressed

# Text that repeats, as logs do, and noise that cannot be compressed.
REPEATING = st.lists(
    st.sampled_from([b'{"Event":', b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", b"x", b"12345", b"\n"]), max_size=400
)
DATA = st.one_of(st.binary(max_size=3000), REPEATING.map(b"".join))
every_codec = pytest.mark.parametrize("codec", CODECS)


def _decoded(compressed: bytes) -> tuple[bytes, bool]:
    """What came out, and whether the end was clean."""
    out = b""
    try:
        for piece in decompressed(io.BytesIO(compressed)):
            out += piece
    except DamagedError:
        return out, False
    return out, True


@every_codec
@given(data=DATA)
def test_what_java_libraries_write_comes_back(codec: str, data: bytes) -> None:
    assert _decoded(CODECS[codec](data)) == (data, True)


@every_codec
@given(data=DATA.filter(len), cut=st.floats(0, 1))
def test_a_file_cut_off_anywhere_gives_the_beginning(codec: str, data: bytes, cut: float) -> None:
    compressed = CODECS[codec](data)
    out, _ = _decoded(compressed[: int(cut * len(compressed))])
    assert data.startswith(out)


@every_codec
def test_more_of_a_file_gives_more_of_the_log(codec: str) -> None:
    data = random.Random(1).randbytes(6000).hex().encode()
    compressed = CODECS[codec](data)
    sizes = [len(_decoded(compressed[:cut])[0]) for cut in range(0, len(compressed) + 1, 500)]
    assert sizes == sorted(sizes)
    assert sizes[len(sizes) // 2] > len(data) / 4


@every_codec
@given(data=DATA, seed=st.integers(0, 10**6))
def test_flipped_bits_never_break_a_codec(codec: str, data: bytes, seed: int) -> None:
    draw = random.Random(seed)
    compressed = bytearray(CODECS[codec](data))
    for _ in range(draw.randint(1, 5) if compressed else 0):
        compressed[draw.randrange(len(compressed))] ^= 1 << draw.randrange(8)
    _decoded(bytes(compressed))


@given(
    st.binary(max_size=100),
    st.sampled_from([b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"LZ4Block", b"\x82SNAPPY\0", b"ZV", b""]),
)
def test_no_bytes_whatever_break_a_codec(data: bytes, magic: bytes) -> None:
    _decoded(magic + data)


def test_plain_files_are_read_as_they_are() -> None:
    assert _decoded(b'{"Event":1}\n') == (b'{"Event":1}\n', True)
    assert _decoded(b"") == (b"", True)


def test_joined_streams_are_read_one_after_the_other() -> None:
    for codec, compress in CODECS.items():
        assert _decoded(compress(b"one") + compress(b"two")) == (b"onetwo", True), codec


def test_a_damaged_block_of_zstd_costs_only_what_follows() -> None:
    import zstandard

    data = b"".join(random.Random(place).randbytes(50).hex().encode() for place in range(20_000))
    compressed = bytearray(zstandard.ZstdCompressor(write_checksum=False).compress(data))
    compressed[len(compressed) // 2 :] = b"\xff" * (len(compressed) - len(compressed) // 2)
    out, is_clean = _decoded(bytes(compressed))
    assert not is_clean
    assert data.startswith(out[: len(data) // 3])
    assert len(out) > len(data) / 3


def test_a_block_that_claims_gigabytes_is_refused() -> None:
    import struct

    lz4 = struct.pack("<8sBiii", b"LZ4Block", 0x26, 4, 2**31 - 1, 0) + b"abcd"
    snappy = b"\x82SNAPPY\0" + struct.pack(">iii", 1, 1, 5) + b"\xff\xff\xff\xff\x0f"
    assert _decoded(lz4) == _decoded(snappy) == (b"", False)


def test_a_real_log_of_spark_is_decompressed() -> None:
    out, is_clean = _decoded(REAL_LOG.read_bytes())
    assert is_clean
    assert out.startswith(b'{"Event":"SparkListenerLogStart"')
