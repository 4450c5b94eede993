"""TFRecord files, written and read without TensorFlow, and with it."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from sparkcast_papers.workloads._tfrecord import (
    DamagedRecordError,
    decode_example,
    decode_image_example,
    encode_example,
    framed,
    image_example,
    read_records,
    record_offsets,
)

int64s = some.integers(-(2**63), 2**63 - 1)
features = some.dictionaries(
    some.text(max_size=8),
    some.lists(some.binary(max_size=40), max_size=3)
    | some.lists(int64s, min_size=1, max_size=4)
    | some.lists(some.floats(width=32, allow_nan=False), min_size=1, max_size=4),
    max_size=4,
)
contents = some.lists(some.binary(max_size=200), max_size=5)


def written(path: Path, records: list[bytes]) -> Path:
    path.write_bytes(b"".join(map(framed, records)))
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all examples of a property."""
    return tmp_path_factory.mktemp("tfrecord") / "a.tfrecord"


@given(features=features)
def test_an_example_comes_back_as_it_was(features: dict[str, Any]) -> None:
    assert decode_example(encode_example(features)) == features


@given(records=contents)
def test_records_come_back_as_they_were(records: list[bytes], file: Path) -> None:
    assert list(read_records(written(file, records))) == records


@given(records=contents, data=some.data())
def test_records_can_be_read_from_any_of_them_on(records: list[bytes], data: some.DataObject, file: Path) -> None:
    starts = record_offsets(written(file, records))
    assert len(starts) == len(records)
    first = data.draw(some.integers(0, len(records)))
    count = data.draw(some.integers(0, len(records) - first))
    start = [*starts, file.stat().st_size][first]
    assert list(read_records(file, start=start, count=count)) == records[first : first + count]
    with pytest.raises(DamagedRecordError, match="ends after"):
        list(read_records(file, start=start, count=len(records) - first + 1))


@given(records=contents.filter(bool), data=some.data())
def test_a_file_that_was_cut_is_never_read_to_the_end(records: list[bytes], data: some.DataObject, file: Path) -> None:
    whole = written(file, records).read_bytes()
    last = len(framed(records[-1]))
    file.write_bytes(whole[: -data.draw(some.integers(1, last - 1))])
    for read in (read_records, record_offsets):
        with pytest.raises(DamagedRecordError, match="cut short"):
            list(read(file))


@given(records=contents.filter(bool), data=some.data())
def test_a_flipped_bit_is_detected(records: list[bytes], data: some.DataObject, file: Path) -> None:
    damaged = bytearray(written(file, records).read_bytes())
    bit = data.draw(some.integers(0, 8 * len(damaged) - 1))
    damaged[bit // 8] ^= 1 << bit % 8
    file.write_bytes(damaged)
    with pytest.raises(DamagedRecordError, match="checksum"):
        list(read_records(file))


@given(content=some.binary(max_size=60))
def test_any_bytes_are_an_example_or_an_error(content: bytes) -> None:
    try:
        decode_example(content)
    except DamagedRecordError as error:
        assert "not a tf.train.Example" in str(error)  # noqa: PT017


def test_the_checksum_is_that_of_the_format() -> None:
    # CRC-32C of "123456789" is e3069283 (RFC 3720, the check value of the polynomial), masked as TensorFlow does.
    crc = 0xE3069283
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    assert framed(b"123456789")[-4:] == masked.to_bytes(4, "little")


def test_a_picture_has_its_class_its_file_and_its_size() -> None:
    content = image_example(b"jpeg", 3, file="roses/1.jpg", shape=(4, 5))
    assert decode_image_example(content) == (b"jpeg", 3, "roses/1.jpg")
    assert decode_example(content)["image/height"] == [4]
    assert decode_image_example(image_example(b"jpeg", -1)) == (b"jpeg", -1, "")


def test_an_example_without_a_picture_names_what_it_has() -> None:
    with pytest.raises(DamagedRecordError, match="no image/encoded or label, only speed"):
        decode_image_example(encode_example({"speed": [1.5]}))


def test_integers_that_are_not_packed_are_read_too() -> None:
    one_by_one = b"\x08\x05\x08\x07"  # field 1 as a number, twice
    feature = b"\x1a" + bytes([len(one_by_one)]) + one_by_one
    entry = b"\x0a\x01n\x12" + bytes([len(feature)]) + feature
    features = b"\x0a" + bytes([len(entry)]) + entry
    assert decode_example(b"\x0a" + bytes([len(features)]) + features) == {"n": [5, 7]}


_TENSORFLOW = """
import sys
import tensorflow as tf

ours, theirs = sys.argv[1:]
for record in tf.data.TFRecordDataset(ours):
    example = tf.train.Example.FromString(record.numpy())
    print(example.SerializeToString(deterministic=True).hex())
def feature(**lists):
    return tf.train.Feature(**lists)
with tf.io.TFRecordWriter(theirs) as writer:
    for n in range(3):
        example = tf.train.Example(features=tf.train.Features(feature={
            "image/encoded": feature(bytes_list=tf.train.BytesList(value=[bytes([n]) * 1000])),
            "label": feature(int64_list=tf.train.Int64List(value=[n - 1])),
            "weights": feature(float_list=tf.train.FloatList(value=[0.5, n])),
            "empty": feature(),
        }))
        writer.write(example.SerializeToString())
"""


@pytest.mark.slow
def test_tensorflow_reads_what_we_write_and_we_read_what_it_writes(tmp_path: Path) -> None:
    examples = [image_example(bytes([n]) * n, n - 1, file=f"{n}.jpg", shape=(n, 2**40)) for n in range(3)]
    examples.append(encode_example({"weights": [0.25, -1e20], "n": [-(2**63), 2**63 - 1, 0], "a": [b""]}))
    ours = written(tmp_path / "ours.tfrecord", examples)
    theirs = tmp_path / "theirs.tfrecord"
    answer = subprocess.run(
        [sys.executable, "-c", _TENSORFLOW, ours, theirs],
        env={"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert [bytes.fromhex(line) for line in answer.stdout.split()] == examples
    assert [decode_example(record) for record in read_records(theirs)] == [
        {"image/encoded": [bytes([n]) * 1000], "label": [n - 1], "weights": [0.5, n], "empty": []} for n in range(3)
    ]
