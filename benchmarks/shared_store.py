"""Several writers and readers on one store, on a real PostgreSQL that is restarted meanwhile, beside SQLite.

    python benchmarks/shared_store.py [--seconds 60] [--writers 8] [--readers 8] [--restarts 3]

Each writer holds a study of its own and stores runs as `sparkcast run` does: a run begins, is seen to, and ends. What
it was told is stored is compared with what the store has in the end. SQLite, in the same run, is not restarted. Readers
open the store anew each time: one that finds the server down is told so, and tries again.
"""

import argparse
import multiprocessing as mp
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from postgres_support import PostgresServer
from sparkcast.errors import SparkcastError
from sparkcast.store import open_store
from sparkcast.store.database import UnreachableError
from sparkcast.study import Configuration, Observation, Outcome, Plan, Study


@dataclass(frozen=True, slots=True)
class Seen:
    """What one process did."""

    stored: tuple[str, ...]  # runs of which it was told that they are stored
    read: int  # observations that it read
    errors: tuple[str, ...]
    found_down: int = 0  # opening the store, clearly told that its server cannot be reached


def _write(url: str, number: int, ready: Barrier, end: Event, seen: "mp.Queue[Seen]") -> None:
    ready.wait()
    stored: list[str] = []
    errors: list[str] = []
    store, study = open_store(url), f"study-{number}"
    store.register(Study(study, "pi", ()), Plan("full", 0, ()))
    with store.holding(study):
        while not end.is_set():
            try:
                trial = store.add_trial(study, Configuration({"executors": len(stored) + 1}), 1)
                run_id, _ = store.begin_run(study, trial)
                with suppress(UnreachableError):  # as a run does: what it will show is worth more than this note
                    store.note_running(run_id)
                store.finish_run(study, trial, Observation(trial.configuration, {"t": 1.0}, Outcome.OK, run_id=run_id))
            except SparkcastError as error:
                errors.append(error.problem)
            else:
                stored.append(run_id)
    store.close()
    seen.put(Seen(tuple(stored), 0, tuple(errors)))


def _read(url: str, number: int, ready: Barrier, end: Event, seen: "mp.Queue[Seen]") -> None:
    ready.wait()
    read, found_down, errors = 0, 0, list[str]()
    while not end.is_set():
        try:
            store = open_store(url)
        except UnreachableError as error:
            found_down += bool(error.hint)
            errors += [] if error.hint else [error.problem]
            time.sleep(0.5)
            continue
        try:
            read += sum(len(store.observations(study)) for study in store.study_names())
            store.close()
        except SparkcastError as error:
            errors.append(error.problem)
    seen.put(Seen((), read, tuple(errors), found_down))


def _measure(url: str, server: PostgresServer | None, options: argparse.Namespace) -> list[str]:
    open_store(url).close()
    context = mp.get_context("spawn")
    end, seen = context.Event(), context.Queue()
    jobs = [(_write, number) for number in range(options.writers)]
    jobs += [(_read, number) for number in range(options.readers)]
    ready = context.Barrier(len(jobs) + 1)
    processes = [context.Process(target=work, args=(url, number, ready, end, seen)) for work, number in jobs]
    for process in processes:
        process.start()
    ready.wait()  # until all have started Python
    begun = time.monotonic()
    for _ in range(options.restarts if server else 0):
        time.sleep(options.seconds / (options.restarts + 1))
        assert server is not None
        server.restart()
    time.sleep(max(0.0, begun + options.seconds - time.monotonic()))
    end.set()
    reports = [seen.get() for _ in processes]
    took = time.monotonic() - begun
    for process in processes:
        process.join()
    store = open_store(url)
    kept = Counter(run.run_id for study in store.study_names() for run in store.observations(study))
    store.close()
    told = {run_id for report in reports for run_id in report.stored}
    errors = Counter(error for report in reports for error in report.errors)
    doubled = sum(count - 1 for count in kept.values())
    lines = [
        f"runs stored          {len(told):,} ({len(told) / took:,.0f}/s)",
        f"observations read    {sum(report.read for report in reports):,}",
        f"lost                 {len(told - set(kept))}",
        f"doubled              {doubled}",
        f"stored, but not said {len(set(kept) - told)}",
        f"errors               {sum(errors.values())}",
        f"told that it is down {sum(report.found_down for report in reports)}",
    ]
    return [*lines, *(f"  {count} x {error}" for error, count in errors.most_common(5))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--readers", type=int, default=8)
    parser.add_argument("--restarts", type=int, default=3)
    options = parser.parse_args()
    who = f"{options.writers} writers, {options.readers} readers, {options.seconds:g} s"
    server = PostgresServer()
    try:
        print(f"PostgreSQL, {who}, {options.restarts} restarts", *_measure(server.new_url(), server, options), sep="\n")
    finally:
        server.close()
    with tempfile.TemporaryDirectory() as folder:
        print(f"\nSQLite, {who}", *_measure(f"sqlite:///{folder}/store.sqlite", None, options), sep="\n")


if __name__ == "__main__":
    main()
