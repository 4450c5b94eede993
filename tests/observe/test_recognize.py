"""Event logs are told from other files by how they begin."""

from pathlib import Path

import pytest

from eventlogs_support import CODECS, application, as_lines
from sparkcast.observe.recognize import is_event_log

LINES = b"".join(as_lines(application()))


@pytest.mark.parametrize("codec", [*CODECS])
def test_a_log_of_any_codec_is_recognized(codec: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(CODECS[codec](LINES))
    assert is_event_log(tmp_path / "log")
    assert is_event_log(tmp_path)


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"\x1f\x8bnonsense", b"ZV", b'{"a": 1}'])
def test_other_files_are_not(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_bytes(content)
    assert not is_event_log(tmp_path / "table.csv")


def test_a_table_in_gzip_is_not(tmp_path: Path) -> None:
    (tmp_path / "table.csv.gz").write_bytes(CODECS["gz"](b"a,b\n1,2\n"))
    assert not is_event_log(tmp_path / "table.csv.gz")
