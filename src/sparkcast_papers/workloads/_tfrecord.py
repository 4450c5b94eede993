"""TFRecord files and the tf.train.Example messages in them, without TensorFlow.

A record is its length (8 bytes, little-endian), a masked CRC-32C of the length, the data, and a masked CRC-32C of the
data (https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details). The data is a protobuf message
`Example`: a map from names to lists of bytes, floats or 64-bit integers.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

Feature = Sequence[bytes] | Sequence[int] | Sequence[float]

IMAGE, LABEL = "image/encoded", "label"
FILE, HEIGHT, WIDTH = "image/filename", "image/height", "image/width"

_LENGTH_BYTES, _CHECKSUM_BYTES = 8, 4
_HEADER_BYTES = _LENGTH_BYTES + _CHECKSUM_BYTES
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types of protobuf
_BYTES_LIST, _FLOAT_LIST, _INT64_LIST = 1, 2, 3  # fields of Feature


class DamagedRecordError(OSError):
    """A file that is no TFRecord file, was cut short or has other bytes than were written."""


def image_example(image: bytes, label: int, *, file: str = "", shape: tuple[int, int] | None = None) -> bytes:
    """An Example with an encoded picture, its class and, where given, its file and its height and width."""
    features: dict[str, Feature] = {IMAGE: (image,), LABEL: (label,)}
    if file:
        features[FILE] = (file.encode(),)
    if shape is not None:
        features |= {HEIGHT: shape[:1], WIDTH: shape[1:]}
    return encode_example(features)


def decode_image_example(content: bytes) -> tuple[bytes, int, str]:
    """The encoded picture, its class and its file ("" without one). Raises DamagedRecordError for other Examples."""
    features = decode_example(content)
    image, label, file = (features.get(name) or (None,) for name in (IMAGE, LABEL, FILE))
    if not isinstance(image[0], bytes) or not isinstance(label[0], int):
        raise DamagedRecordError(f"an Example has no {IMAGE} or {LABEL}, only {', '.join(features) or 'nothing'}")
    return image[0], label[0], file[0].decode() if isinstance(file[0], bytes) else ""


def encode_example(features: Mapping[str, Feature]) -> bytes:
    """The bytes of an Example. A feature is floats when its first value is one; whole numbers fit into 64 bits."""
    entries = (
        _field(1, _field(1, name.encode()) + _field(2, _encode_feature(features[name]))) for name in sorted(features)
    )
    return _field(1, b"".join(entries))


def decode_example(content: bytes) -> dict[str, Feature]:
    """The features of an Example by name. Raises DamagedRecordError for bytes that are not one."""
    features: dict[str, Feature] = {}
    try:
        for _, entries in _fields(content):
            for _, entry in _fields(_message(entries)):
                name, feature = b"", b""
                for number, value in _fields(_message(entry)):
                    if number == 1:
                        name = _message(value)
                    elif number == 2:
                        feature = _message(value)
                features[name.decode()] = _decode_feature(feature)
    except (IndexError, ValueError, struct.error) as error:
        raise DamagedRecordError(f"not a tf.train.Example: {error}") from error
    return features


def framed(content: bytes) -> bytes:
    """A record: what stands in a file for this content."""
    length = struct.pack("<Q", len(content))
    return b"".join((length, struct.pack("<I", _masked_crc(length)), content, struct.pack("<I", _masked_crc(content))))


def read_records(path: Path, *, start: int = 0, count: int | None = None) -> Iterator[bytes]:
    """The contents of records, each checked: all of them, or `count` from the one that starts at byte `start`."""
    with path.open("rb") as file:
        file.seek(start)
        at, n_read = start, 0
        while n_read != count and (length := _read_length(file, path, at)) is not None:
            content = file.read(length)
            checksum = file.read(_CHECKSUM_BYTES)
            if len(content) < length or len(checksum) < _CHECKSUM_BYTES:
                raise DamagedRecordError(f"{path}: the record at byte {at} is cut short")
            if struct.unpack("<I", checksum)[0] != _masked_crc(content):
                raise DamagedRecordError(f"{path}: the record at byte {at} does not match its checksum")
            yield content
            at += _HEADER_BYTES + length + _CHECKSUM_BYTES
            n_read += 1
        if count is not None and n_read < count:
            raise DamagedRecordError(f"{path} ends after {n_read} of {count} records from byte {start}")


def record_offsets(path: Path) -> list[int]:
    """Where each record starts, found without reading what is in them."""
    offsets, size = [], path.stat().st_size
    with path.open("rb") as file:
        at = 0
        while (length := _read_length(file, path, at)) is not None:
            offsets.append(at)
            at += _HEADER_BYTES + length + _CHECKSUM_BYTES
            if at > size:
                raise DamagedRecordError(f"{path}: the record at byte {offsets[-1]} is cut short")
            file.seek(at)
    return offsets


def _read_length(file: BinaryIO, path: Path, at: int) -> int | None:
    """How long the next record's content is; None at the end of the file."""
    header = file.read(_HEADER_BYTES)
    if not header:
        return None
    if len(header) < _HEADER_BYTES:
        raise DamagedRecordError(f"{path}: the record at byte {at} is cut short")
    length, checksum = struct.unpack("<QI", header)
    if checksum != _masked_crc(header[:_LENGTH_BYTES]):
        raise DamagedRecordError(f"{path}: there is no record at byte {at}, its length does not match its checksum")
    return int(length)


def _masked_crc(content: bytes) -> int:
    """CRC-32C, rotated and shifted by a constant as TensorFlow does."""
    import google_crc32c

    crc: int = google_crc32c.value(content)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _encode_feature(values: Feature) -> bytes:
    if not values or isinstance(values[0], bytes):
        return _field(_BYTES_LIST, b"".join(_field(1, value) for value in values))  # type: ignore[arg-type]
    if isinstance(values[0], float):
        return _field(_FLOAT_LIST, _field(1, struct.pack(f"<{len(values)}f", *values)))
    return _field(_INT64_LIST, _field(1, b"".join(_varint(int(value) & (2**64 - 1)) for value in values)))


def _decode_feature(content: bytes) -> Feature:
    for kind, values in _fields(content):
        items = [value for _, value in _fields(_message(values))]
        if kind == _BYTES_LIST:
            return [_message(item) for item in items]
        if kind == _FLOAT_LIST:
            return [number for item in items for (number,) in struct.iter_unpack("<f", _message(item))]
        if kind == _INT64_LIST:  # packed, or one by one as old writers do
            return [_signed(n) for item in items for n in ([item] if isinstance(item, int) else _varints(item))]
    return []


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    """Seven bits a byte, least first; the eighth says whether more follow."""
    if number < 0x80:
        return number.to_bytes(1, "little")
    made = bytearray()
    while number >= 0x80:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    made.append(number)
    return bytes(made)


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


def _varints(content: bytes) -> Iterator[int]:
    at = 0
    while at < len(content):
        number, at = _read_varint(content, at)
        yield number


def _read_varint(content: bytes, at: int) -> tuple[int, int]:
    number = content[at]
    at += 1
    if number < 0x80:
        return number, at
    number, shift = number & 0x7F, 7
    while True:
        byte = content[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number & (2**64 - 1), at
        if shift > 63:
            raise ValueError("a number has more than 64 bits")


def _message(value: bytes | int) -> bytes:
    if isinstance(value, int):
        raise ValueError("a number stands where a message should")
    return value


def _fields(content: bytes) -> Iterator[tuple[int, bytes | int]]:
    """The fields of a message: number and value."""
    at = 0
    while at < len(content):
        tag, at = _read_varint(content, at)
        wire_type = tag & 7
        if wire_type == _VARINT:
            number, at = _read_varint(content, at)
            yield tag >> 3, number
            continue
        if wire_type == _BYTES:
            length, at = _read_varint(content, at)
        elif wire_type in (_FIXED32, _FIXED64):
            length = 4 if wire_type == _FIXED32 else 8
        else:
            raise ValueError(f"there is no wire type {wire_type}")
        if at + length > len(content):
            raise ValueError("a field is cut short")
        yield tag >> 3, content[at : at + length]
        at += length
