"""Pipes are read once and wholly; what never ends is refused."""

import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from sparkcast import api
from sparkcast.data import pipes
from sparkcast.data.sources import load_study
from sparkcast.errors import StudyError

TABLE = "executors,rows,time_s\n1,1000,10\n2,1000,6\n4,1000,4\n1,2000,19\n2,2000,11\n4,2000,7\n"
LOG = Path(__file__).parent / "eventlog-3.5-pi.zstd"


def _fifo(folder: Path, content: bytes, name: str = "runs.csv") -> Path:
    fifo = folder / name
    os.mkfifo(fifo)

    def write() -> None:
        with suppress(BrokenPipeError):
            fifo.write_bytes(content)

    threading.Thread(target=write, daemon=True).start()
    return fifo


@pytest.mark.parametrize("name", ["runs.csv", "runs", "x.log"])
def test_a_table_comes_through_a_fifo_whatever_it_is_called(tmp_path: Path, name: str) -> None:
    fifo = _fifo(tmp_path, TABLE.encode(), name)
    assert len(api.load_data(fifo).dataset.observations) == 6
    assert len(api.load_data(fifo).dataset.observations) == 6  # it can be asked for again


def test_a_large_table_comes_through_a_fifo_whole(tmp_path: Path) -> None:
    rows = "".join(f"{n % 7 + 1},{n},{n / 7:.3f}\n" for n in range(20_000))
    fifo = _fifo(tmp_path, f"executors,rows,time_s\n{rows}".encode())
    assert pipes.as_file(fifo).read_text().count("\n") == 20_001


def test_an_event_log_comes_through_a_fifo(tmp_path: Path) -> None:
    assert api.profile(_fifo(tmp_path, LOG.read_bytes(), "log")) is not None


def test_a_pipe_with_an_event_log_in_place_of_a_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="is a Spark event log"):
        api.load_data(_fifo(tmp_path, LOG.read_bytes()))


@pytest.mark.parametrize("redirect", ["cat runs.csv | {}", "{} < runs.csv", "{} <<'END'\n" + TABLE + "END"])
def test_standard_input_is_a_table(tmp_path: Path, redirect: str) -> None:
    (tmp_path / "runs.csv").write_text(TABLE)
    code = "from sparkcast import api; print(len(api.load_data('/dev/stdin').dataset.observations))"
    line = redirect.format(f'{sys.executable} -c "{code}"')
    answer = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (answer.stdout.strip(), answer.returncode) == ("6", 0), answer.stderr


def test_a_substituted_process_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text(TABLE)
    code = "import sys; from sparkcast import api; print(len(api.load_data_or_model(sys.argv[1]).dataset.observations))"
    line = f'{sys.executable} -c "{code}" <(cat runs.csv)'
    answer = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (answer.stdout.strip(), answer.returncode) == ("6", 0), answer.stderr


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/full", "/dev/null"])
@pytest.mark.parametrize("read", [api.load_data, api.load_data_or_model, api.profile, api.recommend, load_study])
def test_a_device_is_refused_before_it_is_read(tmp_path: Path, device: str, read: object) -> None:
    (tmp_path / "runs.csv").symlink_to(device)
    assert callable(read)
    with pytest.raises(StudyError, match=r"device|empty"):
        read(tmp_path / "runs.csv")


def test_a_fifo_that_nobody_writes_to_is_not_waited_for_forever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipes, "_PATIENCE_S", 0.0)
    os.mkfifo(tmp_path / "runs.csv")
    with pytest.raises(StudyError, match="nothing came through"):
        api.load_data(tmp_path / "runs.csv")


def test_a_pipe_that_brings_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipes, "MOST_BYTES", 100)
    with pytest.raises(StudyError, match="brings more than"):
        api.load_data(_fifo(tmp_path, TABLE.encode() * 9))


def test_a_study_file_cannot_be_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "s.yaml")
    with pytest.raises(StudyError, match="a study is a file") as caught:
        load_study(tmp_path / "s.yaml")
    assert "> study.yaml" in caught.value.hint
