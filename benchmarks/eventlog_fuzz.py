"""Read thousands of damaged event logs: none may crash the reader, hang it, or take two seconds more than a clean one.

    python benchmarks/eventlog_fuzz.py [--logs 10000] [--seed 1]

One in two hundred is a decompression bomb; the others are cut off, bit-flipped, reordered, duplicated, hold
huge numbers, wrong types, deep nesting or no UTF-8, and are compressed in all ways, whole or damaged.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from eventlogs_support import application, as_lines, bomb, damaged_log, real_lines
from sparkcast.errors import StudyError
from sparkcast.eventlogs import LogRead, read_log
from sparkcast.profile import profile_log

_BOMB_EVERY = 200


def _use(log: LogRead) -> None:
    """What others do with a log must not break either."""
    for name in ("tasks", "stages", "jobs", "executors", "sql_executions", "resource_profiles"):
        log.frame(name)
    for name in log.tasks.numbers:
        log.tasks.total(name)
    if log.was_read:
        with suppress(StudyError):  # told when a log knows no times
            found = profile_log(log)
            assert abs(sum(found.parts.values()) - found.wall_s) <= 1e-3 * found.wall_s, found.parts
    if log.application.duration_s is not None and log.was_read:
        log.summary()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    clean = [real_lines(), as_lines(application(50))]
    statuses: Counter[str] = Counter()
    slowest = {"damaged": (0.0, 0.0, -1), "bomb": (0.0, 0.0, -1)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        for number in range(options.logs):
            draw = random.Random(options.seed * 1_000_003 + number)
            kind = "bomb" if number % _BOMB_EVERY == 0 else "damaged"
            path.write_bytes(bomb(draw) if kind == "bomb" else damaged_log(draw, draw.choice(clean)))
            begun, used = time.perf_counter(), time.process_time()
            try:
                log = read_log(path)
                _use(log)
            except Exception as error:
                sys.exit(f"log {number} of seed {options.seed}: {type(error).__name__}: {error}")
            took, used = time.perf_counter() - begun, time.process_time() - used
            statuses[log.status] += 1
            slowest[kind] = max(slowest[kind], (used, took, number))
    print(f"{options.logs:,} logs: {dict(statuses)}")
    for kind, (used, took, number) in slowest.items():
        print(f"slowest {kind}: {used:.2f} s of CPU in {took:.2f} s (log {number})")


if __name__ == "__main__":
    main()
