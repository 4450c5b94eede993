"""Long sessions, full disks, folders that cannot be written, readers meanwhile: with engines that play their part."""

import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from sparkcast import api
from sparkcast.engines import Handle, Submission
from sparkcast.errors import SparkcastError, StoreError
from sparkcast.runs import site
from sparkcast.runs.session import Progress
from sparkcast.store import open_store
from tests_support import Call, PlayedEngine

STUDY = """\
study: s
workload: pi
settings: {samples: [1000, 2000, 3000]}
design: {replicates: 2}
spark: {master: played}
"""
MIB = 2**20


class _Writing(PlayedEngine):
    """Its jobs leave so many bytes of output, as long as there is room for them."""

    def __init__(self, size: int) -> None:
        super().__init__(lambda settings: {"time_s": 1.0})
        self.size = size

    def start(self, submission: Submission, log: Path) -> Handle:
        log.write_bytes(b"x" * self.size)
        return super().start(submission, log)


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Callable[[PlayedEngine], PlayedEngine]:
    def use(engine: PlayedEngine) -> PlayedEngine:
        monkeypatch.setattr(site, "engine_for", lambda options: engine)
        return engine

    return use


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 4 MiB, in memory."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    try:
        made = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("needs mount")
    if made.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {made.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def _remount(folder: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True)


def test_a_disk_that_gets_full_during_a_run_ends_it_with_advice_and_loses_nothing(
    small_disk: Path, play: Callable[[PlayedEngine], PlayedEngine]
) -> None:
    (small_disk / "s.yaml").write_text(STUDY)
    play(_Writing(MIB))
    with pytest.raises(StoreError) as caught:
        api.run(small_disk / "s.yaml")
    assert "full" in str(caught.value) or "No space left" in str(caught.value)
    _remount(small_disk, "size=64m")
    store = open_store(small_disk / "s.results")
    before = store.observations("s")
    store.close()
    assert 0 < len(before) < 6
    result = api.run(small_disk / "s.yaml", resume=True)
    assert (result.finished, len(result.new)) == (6, 6 - len(before))
    assert api.check_store(small_disk / "s.results").ok
    store = open_store(small_disk / "s.results")
    assert store.observations("s")[: len(before)] == before
    store.close()


def test_a_folder_that_cannot_be_written_is_refused_to_run_and_still_read(
    small_disk: Path, play: Callable[[PlayedEngine], PlayedEngine], call: Call
) -> None:
    (small_disk / "s.yaml").write_text(STUDY)
    play(_Writing(1000))
    assert api.run(small_disk / "s.yaml").finished == 6
    _remount(small_disk, "ro")
    answer = call("run", small_disk / "s.yaml", "--resume")
    assert answer.code == 2
    assert "Traceback" not in answer.err
    assert "hint:" in answer.err
    assert len(api.load_data(small_disk / "s.yaml").dataset.observations) == 6
    assert api.check_store(small_disk / "s.results").ok
    assert call("store", "prune", small_disk / "s.results", "--keep", "1", "--yes").code == 2


def test_readers_see_whole_runs_while_others_are_made(
    tmp_path: Path, play: Callable[[PlayedEngine], PlayedEngine]
) -> None:
    (tmp_path / "s.yaml").write_text(STUDY)
    play(_Writing(10))
    problems: list[SparkcastError] = []
    seen, ended = list[int](), threading.Event()

    def read() -> None:
        while not ended.is_set():
            try:
                seen.append(len(api.load_data(tmp_path / "s.yaml").dataset.observations))
            except SparkcastError as error:
                problems.append(error)

    reader = threading.Thread(target=read)

    def on_progress(progress: Progress) -> None:
        if progress.done == 1 and not reader.is_alive() and not ended.is_set():
            reader.start()

    try:
        api.run(tmp_path / "s.yaml", on_progress=on_progress)
    finally:
        ended.set()
        reader.join()
    assert problems == []
    assert seen == sorted(seen)
    assert len(api.load_data(tmp_path / "s.yaml").dataset.observations) == 6


def test_a_search_that_was_killed_goes_on_and_makes_no_run_twice(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(STUDY.replace("design: {replicates: 2}\n", ""))
    program = tmp_path / "tune.py"
    program.write_text(
        "import os, sys\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "from sparkcast import api\n"
        "from sparkcast.runs import site\n"
        "from tests_support import PlayedEngine\n"
        "def play(settings):\n"
        "    if sys.argv[3] == 'die' and len(engine.ran) == 2:\n"
        "        os._exit(9)\n"
        "    return {'time_s': float(settings['samples'])}\n"
        "engine = PlayedEngine(play)\n"
        "site.engine_for = lambda options: engine\n"
        "api.tune(sys.argv[1], minimize='time_s', searcher='exhaustive', resume=True, budget=api.Budget(9))\n"
    )
    command = [sys.executable, str(program), str(tmp_path / "s.yaml"), str(Path(__file__).parents[1])]
    assert subprocess.run([*command, "die"], check=False).returncode == 9
    done = subprocess.run([*command, "live"], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    store = open_store(tmp_path / "s.results")
    runs = store.observations("s", include_lost=True)
    assert sorted(run.configuration["samples"] for run in runs) == [1000, 2000, 3000]
    assert store.running("s") == ()
    store.close()


@pytest.mark.slow
def test_two_hundred_trials_of_one_session_take_no_more_memory_and_files_than_fifty(
    tmp_path: Path, play: Callable[[PlayedEngine], PlayedEngine]
) -> None:
    (tmp_path / "s.yaml").write_text(STUDY.replace("[1000, 2000, 3000]", str([1000 + n for n in range(100)])))
    play(_Writing(10))
    process = psutil.Process()
    at: dict[int, tuple[int, int, int]] = {}

    def on_progress(progress: Progress) -> None:
        if progress.done in (50, 200) and progress.done not in at:
            at[progress.done] = (process.num_fds(), process.num_threads(), tracemalloc.get_traced_memory()[0])

    tracemalloc.start()
    try:
        result = api.run(tmp_path / "s.yaml", on_progress=on_progress)
    finally:
        tracemalloc.stop()
    assert result.finished == 200
    assert at[200][:2] == at[50][:2]
    kept = (at[200][2] - at[50][2]) / 150  # the results themselves are kept
    assert kept < 50_000, f"{kept:.0f} bytes for each trial"
    assert len(list((tmp_path / "s.results" / "runs").iterdir())) == 200
    assert len(list((tmp_path / "s.results").iterdir())) <= 8
