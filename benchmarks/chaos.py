"""Random kills of everything, at random moments of real studies: what is measured stays, once, and nothing is left.

    python benchmarks/chaos.py [--kills 200] [--minutes 600] [--seed 1] [--stores sqlite,postgresql] [--runners 1,3]

Each study has eight trials on embedded clusters, and is killed five times: sparkcast, driver, master, worker, executor
or PostgreSQL, three of four times while a trial runs. After each kill and at the end, the store is compared with what
it had. The kills are divided among stores and numbers of runners. No study is begun after so many minutes.
"""

import argparse
import itertools
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from chaos_support import TARGETS, Chaos
from postgres_support import PostgresServer

_PER_STUDY = 5


@contextmanager
def _own_temporary_folder() -> Iterator[None]:
    """By which what is left behind is told from processes of others."""
    before = os.environ.get("TMPDIR")
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        try:
            yield
        finally:
            tempfile.tempdir = None
            os.environ.pop("TMPDIR") if before is None else os.environ.update(TMPDIR=before)


def _round(server: PostgresServer | None, runners: int, chance: random.Random, kills: int) -> Chaos:
    targets = [*TARGETS, *(["postgresql"] if server is not None else [])]
    with tempfile.TemporaryDirectory(prefix="study-") as folder, _own_temporary_folder():
        chaos = Chaos(Path(folder), chance, server, runners)
        chaos.run([chance.choice(targets) for _ in range(kills)])
    return chaos


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stores", default="sqlite,postgresql")
    parser.add_argument("--runners", default="1,3")
    options = parser.parse_args()
    chance, done, broken = random.Random(options.seed), Counter[str](), 0
    cases = list(itertools.product(options.stores.split(","), map(int, options.runners.split(","))))
    inside = studies = 0
    until = time.monotonic() + 60 * options.minutes
    with closing(PostgresServer()) as server:
        for store, runners in itertools.cycle(cases):
            left = options.kills - sum(done.values())
            if left <= 0 or time.monotonic() > until:
                break
            chaos = _round(server if store == "postgresql" else None, runners, chance, min(_PER_STUDY, left))
            done, inside, studies = done + chaos.kills, inside + chaos.inside, studies + 1
            broken += len(chaos.broken)
            told = "; ".join(f"{count} x {problem}" for problem, count in chaos.ended_with.items())
            killed = ", ".join(f"{count} {target}" for target, count in chaos.kills.items())
            print(f"{store}, {runners} runner(s): {killed} ({chaos.inside} in a trial); resumed after: {told or '-'}")
            for problem in chaos.broken:
                print(f"  BROKEN: {problem}")
            sys.stdout.flush()
    print(f"{sum(done.values())} kills in {studies} studies, {inside} inside a trial: {dict(done)}")
    print(f"broken: {broken}")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
