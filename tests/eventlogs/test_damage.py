"""Some hundreds of damaged logs; benchmarks/eventlog_fuzz.py reads ten thousand, with the clock."""

import random
from pathlib import Path

import pytest

from eventlogs_support import application, as_lines, bomb, damaged_log, real_lines
from sparkcast.eventlogs import LogStatus, read_log

CLEAN = [real_lines(), as_lines(application(20))]


@pytest.mark.parametrize("seed", range(10))
def test_no_damage_breaks_the_reader(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "log"
    for number in range(40):
        draw = random.Random(seed * 1000 + number)
        path.write_bytes(damaged_log(draw, draw.choice(CLEAN)))
        log = read_log(path)
        assert (log.status is LogStatus.OK) == (log.reason == ""), number
        assert len(log.tasks.frame()) == len(log.tasks)
        assert isinstance(log.tasks.total("run_ms"), int)


@pytest.mark.parametrize("seed", range(6))
def test_a_bomb_is_stopped_early(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(bomb(random.Random(seed)))
    log = read_log(path)
    assert log.status is not LogStatus.OK
    assert log.counts.log_bytes < 2**25
