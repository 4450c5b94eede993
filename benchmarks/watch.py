"""`watch` over a generated fleet: CPU time, memory, size of the store, wrong grouping, and what a kill costs.

    python benchmarks/watch.py --data DIR [--jobs 200] [--days 26] [--tasks 8] [--readers 2] [--kills 50]

DIR holds event logs of Spark SQL applications, whose lines the fleet is made of (see `_fleet.py`). Beside `watch`, the
same logs are read with plain `json`, one line after the other, which is the least that a reader in Python does. CPU
time is that of all processes; the clock on the wall is not looked at.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from _fleet import Fleet, FleetRun, log_lines, make_fleet, read_templates, write_log

from sparkcast.history import histories_of
from sparkcast.history.jobs import JobHistory, stored_runs
from sparkcast.store import open_store

_NEW_LOGS = 8  # that begin between two kills
_PLAIN = """
import json, pathlib, sys
n = 0
for file in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    with file.open("rb") as lines:
        for line in lines:
            n += len(json.loads(line))
print(n)
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--jobs", type=int, default=200)
    options.add_argument("--days", type=int, default=26)
    options.add_argument("--tasks", type=int, default=8)
    options.add_argument("--readers", type=int, default=2)
    options.add_argument("--kills", type=int, default=50)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    templates = read_templates(given.data)
    fleet = make_fleet(templates, jobs=given.jobs, days=given.days, seed=given.seed)
    with tempfile.TemporaryDirectory(prefix="sparkcast-watch-") as name:
        folder = Path(name)
        logs = folder / "logs"
        logs.mkdir()
        runs = fleet.runs()
        for run in runs:
            write_log(run, templates, logs, tasks=given.tasks)
        n_bytes = sum(file.stat().st_size for file in logs.iterdir())
        print(
            f"{len(runs):,} logs of {len(fleet.jobs)} jobs, {given.days} days, seed {given.seed}: "
            f"{n_bytes / 1e6:,.0f} MB, {n_bytes / len(runs) / 1e3:,.0f} KB each"
        )
        plain = _timed([sys.executable, "-c", _PLAIN, str(logs)])
        print(f"plain json           {_told(plain)}")
        store = folder / "store.results"
        first = _timed(_watch(logs, store, given.readers))
        print(f"watch, first time    {_told(first)}, {first[0] / plain[0]:.2f} times the CPU of plain json")
        again = _timed(_watch(logs, store, given.readers))
        print(f"watch, nothing new   {_told(again)}")
        size = (store / "store.sqlite").stat().st_size
        print(f"store                {size / 1e6:,.1f} MB, {size / len(runs) / 1e3:.1f} KB a run")
        begun = time.process_time()
        opened = open_store(store)
        found = histories_of(opened)
        print(f"grouping             {time.process_time() - begun:.1f} s of CPU, {_grouping(found, runs)}")
        opened.close()
        if given.kills:
            shutil.rmtree(logs)
            print(f"killed               {_killed(fleet, templates, folder / 'kills', given)}")


def _watch(logs: Path, store: Path, readers: int) -> list[str]:
    return [sys.executable, "-m", "sparkcast", "watch", str(logs), "--into", str(store), "--readers", str(readers)]


def _timed(command: list[str]) -> tuple[float, int]:
    """CPU seconds of a command and its children, and the most memory that any of its processes had, KiB."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime, used.ru_maxrss)"
    )
    told = subprocess.run([sys.executable, "-c", code, *command], check=True, capture_output=True, text=True).stdout
    seconds, memory = told.split()
    return float(seconds), int(memory)


def _told(used: tuple[float, int]) -> str:
    return f"{used[0] / 60:.2f} core-minutes, {used[1] / 1024:,.0f} MiB at most in one process"


def _grouping(found: tuple[JobHistory, ...], runs: list[FleetRun]) -> str:
    """A run is grouped wrongly when most of its group are of another job, or most of its job are in another group."""
    truth = {run.app_id: run.job.job for run in runs}
    group = {run.run_id: history.key for history in found for run in history.runs}
    pairs = Counter((truth[one], group[one]) for one in truth)
    job_of_group: dict[str, str] = {}
    group_of_job: dict[str, str] = {}
    for (job, key), _ in pairs.most_common():
        job_of_group.setdefault(key, job)
        group_of_job.setdefault(job, key)
    wrong = [one for one in truth if job_of_group[group[one]] != truth[one] or group_of_job[truth[one]] != group[one]]
    named = Counter(truth[one] for one in wrong).most_common(3)
    told = (
        f"{len(found)} jobs found of {len(group_of_job)}, {100 * len(wrong) / len(truth):.2f}% of runs grouped wrongly"
    )
    return told + (f" ({', '.join(f'{job}: {n}' for job, n in named)})" if named else "")


# ---------------------------------------------------------------- killed at any moment


def _killed(fleet: Fleet, templates: object, folder: Path, given: argparse.Namespace) -> str:
    """Logs grow, end and roll while `watch` is killed again and again; then what the store has beside the truth."""
    draw = random.Random(given.seed)
    logs, store = folder / "logs", folder / "store.results"
    logs.mkdir(parents=True)
    runs = draw.sample(fleet.runs(), _NEW_LOGS * given.kills)
    waiting = [(run, list(log_lines(run, templates, given.tasks))) for run in runs]  # type: ignore[arg-type]
    growing: list[tuple[FleetRun, list[str], int]] = []
    n_kills = n_ended = 0
    while waiting or growing:
        n_new = _NEW_LOGS if n_kills < given.kills else len(waiting)  # before the next kill
        if n_kills < given.kills:
            watching = subprocess.Popen(
                [*_watch(logs, store, given.readers), "--every", "0.2s"],
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
            until = time.monotonic() + draw.uniform(0.3, 4.0)
        while time.monotonic() < until or n_kills >= given.kills:
            some = min(len(waiting), n_new, draw.randrange(3))
            growing += [(*waiting.pop(), 0) for _ in range(some)]
            n_new -= some
            growing = [left for one in growing if (left := _grown(one, logs, draw)) is not None]
            time.sleep(0.02 if n_kills < given.kills else 0.0)
            if not growing and not (waiting and n_new):
                break
        if n_kills < given.kills:
            n_ended += watching.poll() is not None
            os.kill(watching.pid, signal.SIGKILL)
            watching.wait()
            n_kills += 1
    subprocess.run(_watch(logs, store, given.readers), check=True, stdout=subprocess.DEVNULL)
    opened = open_store(store)
    kept = stored_runs(opened)
    opened.close()
    ids = Counter(run.run_id for run in kept)
    times = {run.run_id: run for run in kept}
    lost = [run.app_id for run in runs if run.app_id not in ids]
    twice = [one for one, count in ids.items() if count > 1]
    unfinished = [run.app_id for run in runs if run.app_id in ids and not times[run.app_id].responses]
    return (
        f"{n_kills} times while {len(runs)} logs grew ({n_ended} had ended by themselves): {len(lost)} lost, "
        f"{len(twice)} twice, {len(unfinished)} not known as finished, "
        f"{len(set(ids) - {run.app_id for run in runs})} extra"
    )


def _grown(
    one: tuple[FleetRun, list[str], int], logs: Path, draw: random.Random
) -> tuple[FleetRun, list[str], int] | None:
    """Some more lines of a log; None when it has ended. A third of the logs roll."""
    run, lines, begun = one
    rolls = run.job.number % 3 == 0
    end = begun + draw.randrange(1, max(len(lines) // 4, 2))
    some = "".join(f"{line}\n" for line in lines[begun:end])
    if rolls:
        folder = logs / f"eventlog_v2_{run.app_id}"
        folder.mkdir(exist_ok=True)
        status = folder / f"appstatus_{run.app_id}.inprogress"
        status.touch()
        (folder / f"events_{len(list(folder.glob('events_*'))) + 1}_{run.app_id}").write_text(some)
        if end >= len(lines):
            status.rename(folder / f"appstatus_{run.app_id}")
    else:
        file = logs / f"{run.app_id}.inprogress"
        with file.open("a") as log:
            log.write(some)
        if end >= len(lines):
            file.rename(logs / run.app_id)
    return (run, lines, end) if end < len(lines) else None


if __name__ == "__main__":
    main()
