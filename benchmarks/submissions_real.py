"""Real jobs with deadlines in a Poisson stream, on a real cluster: who chooses the batch size, and what comes of it.

    python benchmarks/submissions_real.py --raw raw.json [--jobs 40] [--blocks 4] [--most 15m] [--seed 1]

Three ways get the same arrivals and the same deadlines, in turns, block by block, so that other work on the machine
meets all of them:

- `submit`: each job goes through `sparkcast submit --within DEADLINE --jobs-running UI --server URL`, a process of its
  own that asks a service which batch size meets the deadline with 95% probability now, and reports the result.
- `courier`: Courier's rule. Its forest predicts the time at the present number of jobs; the most accurate batch size
  whose prediction is within the deadline is taken, and when there is none, the fastest.
- `fixed`: batch size 64.

First, 1 to 4 jobs are run at once with each batch size: what both models learn from. Everything is kept in `raw.json`,
and an interrupted benchmark goes on where it was; `--most` ends a part of it after so long. The job is
`programs/train_digits.py`. A job's time counts from its arrival to its exit, with what the choice itself took.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean, median
from typing import Any

from _real_cluster import SMALL, RealCluster, real_cluster

from sparkcast import api
from sparkcast.client import Client, ServiceDown
from sparkcast.data.ingest.into_store import NOT_ASKED
from sparkcast.engines.running_jobs import jobs_running_at
from sparkcast.errors import NotEnoughDataError
from sparkcast.store import open_store
from sparkcast.study import Configuration, LogOrigin, Observation, Outcome
from sparkcast.units import parse_seconds

BATCHES = (32, 64, 128, 256)
FIXED = 64
AT_ONCE = (1, 2, 3, 4)
REPLICATES = {1: 3, 2: 1, 3: 1, 4: 1}  # each of n at once is n runs
BUSY = 0.6  # of what the cluster could do: arrivals are that frequent
WAYS = ("submit", "courier", "fixed")
Job = dict[str, Any]


def line_of(cluster: RealCluster, batch: int | None) -> list[str]:
    chosen = () if batch is None else ("--batch-size", str(batch))
    return cluster.line("train_digits.py", "train", SMALL, chosen)


def ran(words: Sequence[str], cluster: RealCluster) -> Job:
    """One job, from now to its exit."""
    began = time.time()
    done = subprocess.run(words, env=cluster.environment(), capture_output=True, text=True, check=False, timeout=900)
    told = re.search(r"accuracy=([\d.]+) steps=(\d+)", done.stdout)
    if done.returncode or told is None:
        print(done.stderr[-2000:], file=sys.stderr)
    batch = None if told is None else min(BATCHES, key=lambda one: abs(3 * -(-1440 // one) - int(told[2])))
    accuracy = None if told is None else float(told[1])
    said = [text for text in done.stderr.splitlines() if text.startswith(("using", "running as written"))]
    return {"began": began, "took_s": time.time() - began, "batch": batch, "accuracy": accuracy, "said": said}


# ---------------------------------------------------------------- what is learned from


def calibrate(raw: dict[str, Any], cluster: RealCluster, save: "Saver") -> None:
    for jobs in AT_ONCE:
        for replicate in range(REPLICATES[jobs]):
            for batch in BATCHES:
                key = f"{jobs}-{batch}-{replicate}"
                if key in raw["calibration"]:
                    continue
                found: list[Job] = [{} for _ in range(jobs)]

                def one(place: int, batch: int = batch, found: list[Job] = found) -> None:
                    found[place] = ran(line_of(cluster, batch), cluster)

                threads = [threading.Thread(target=one, args=(place,)) for place in range(jobs)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                raw["calibration"][key] = found
                print(f"{jobs} at once, batch size {batch}: {[round(job['took_s'], 1) for job in found]}", flush=True)
                save()


def runs_of(raw: dict[str, Any]) -> list[Observation]:
    runs: list[Observation] = []
    for key, jobs in raw["calibration"].items():
        n, batch, _ = map(int, key.split("-"))
        for job in jobs:
            if job["accuracy"] is not None:
                told = {"total_s": job["took_s"], "accuracy": job["accuracy"]}
                origin = LogOrigin("train", "posted", 0, is_complete=True)
                at, run_id = Configuration({"batch_size": batch, "jobs": n}), f"calibration-{len(runs)}"
                runs.append(Observation(at, told, Outcome.OK, started_at=job["began"], run_id=run_id, origin=origin))
    return runs


# ---------------------------------------------------------------- the stream


def stream_of(raw: dict[str, Any], n_jobs: int, seed: int) -> list[tuple[float, float]]:
    """When each job arrives after the one before, and its deadline: in seconds."""
    draw = random.Random(seed)
    widest = max(int(key.split("-")[0]) for key in raw["calibration"])
    together = fmean(max(times) for batch in BATCHES for times in _times(raw, widest, batch))
    rate = BUSY * widest / together
    fastest = median(time_s for times in _times(raw, 1, BATCHES[-1]) for time_s in times)
    slowest = median(time_s for times in _times(raw, 3, BATCHES[0]) for time_s in times)
    return [(draw.expovariate(rate), draw.uniform(1.2 * fastest, 1.2 * slowest)) for _ in range(n_jobs)]


def _times(raw: dict[str, Any], jobs: int, batch: int) -> list[list[float]]:
    """Of each time that so many were run at once."""
    keys = (key for key in raw["calibration"] if key.startswith(f"{jobs}-{batch}-"))
    return [[job["took_s"] for job in raw["calibration"][key]] for key in keys]


class Chooser:
    """Courier's rule, from the calibration."""

    def __init__(self, store: str) -> None:
        data = api.load_data(store, study="train")
        model = api.fit(data, model="courier").model
        self._times = {  # ahead, so that a choice takes no time
            jobs: [
                one.prediction.value for one in api.predict(model, [{"batch_size": b, "jobs": jobs} for b in BATCHES])
            ]
            for jobs in AT_ONCE
        }
        self._accuracy = {
            batch: fmean(
                run.responses["accuracy"]
                for run in data.dataset.observations
                if run.configuration["batch_size"] == batch and "accuracy" in run.responses
            )
            for batch in BATCHES
        }

    def batch(self, n_running: int, within_s: float) -> int:
        times = self._times[min(n_running + 1, AT_ONCE[-1])]
        good = [batch for batch, time_s in zip(BATCHES, times, strict=True) if time_s <= within_s]
        return max(good, key=self._accuracy.__getitem__) if good else BATCHES[times.index(min(times))]


class Saver:
    def __init__(self, file: Path, raw: dict[str, Any]) -> None:
        self._file, self._raw = file, raw

    def __call__(self) -> None:
        draft = self._file.with_suffix(".draft")
        draft.write_text(json.dumps(self._raw))
        draft.replace(self._file)


def play(way: str, jobs: Sequence[tuple[float, float]], cluster: RealCluster, url: str, chooser: Chooser) -> list[Job]:
    """A block of the stream."""
    found: list[Job] = [{} for _ in jobs]

    def one(place: int, within_s: float) -> None:
        began = time.time()
        running = jobs_running_at(cluster.ui)
        if way == "submit":
            asked = ["--study", "train", "--within", f"{within_s:.2f}s", "--server", url, "--argument", "batch_size"]
            words = [sys.executable, "-m", "sparkcast", "submit", *asked, "--jobs-running", cluster.ui, "--"]
            job = ran([*words, *line_of(cluster, None)], cluster)
        else:
            batch = FIXED if way == "fixed" else chooser.batch(running, within_s)
            job = ran(line_of(cluster, batch), cluster)
        found[place] = {**job, "took_s": time.time() - began, "within_s": within_s, "running": running}

    threads = []
    for place, (after_s, within_s) in enumerate(jobs):
        time.sleep(after_s)
        threads.append(threading.Thread(target=one, args=(place, within_s)))
        threads[-1].start()
    for thread in threads:
        thread.join()
    return found


def told_of(jobs: Sequence[Job]) -> str:
    met = [job["accuracy"] is not None and job["took_s"] <= job["within_s"] for job in jobs]
    good = [job["accuracy"] for job in jobs if job["accuracy"] is not None]
    advised = [ok for ok, job in zip(met, jobs, strict=True) if any(text.startswith("using") for text in job["said"])]
    told = f"{sum(met)} of {len(jobs)} deadlines met ({sum(met) / len(jobs):.0%}); accuracy {fmean(good):.3f}; "
    told += f"time {median(job['took_s'] for job in jobs):.1f} s (median)"
    if any(job["said"] for job in jobs):
        told += f"; promised {len(advised)}, of which met {sum(advised)}; run as written {len(jobs) - len(advised)}"
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raw", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=40)
    parser.add_argument("--blocks", type=int, default=4)
    parser.add_argument("--most", default="15m")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    until = time.monotonic() + parse_seconds(given.most)
    raw: dict[str, Any] = {"calibration": {}, "blocks": {}}
    if given.raw.exists():
        raw = json.loads(given.raw.read_text())
    save = Saver(given.raw, raw)
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    with ExitStack() as stack:
        cluster = stack.enter_context(real_cluster())
        calibrate(raw, cluster, save)
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        place = str(Path(folder) / "team.results")
        store = open_store(place, create=True)
        store.keep_ingested("train", NOT_ASKED, runs_of(raw))
        store.close()
        url = serve(place, stack)
        chooser = Chooser(place)
        jobs = stream_of(raw, given.jobs, given.seed)
        size = -(-len(jobs) // given.blocks)
        for block in range(given.blocks):
            for way in (*WAYS[block % 3 :], *WAYS[: block % 3]):
                key = f"{block}-{way}"
                if key not in raw["blocks"] and time.monotonic() < until:
                    raw["blocks"][key] = play(way, jobs[block * size : (block + 1) * size], cluster, url, chooser)
                    print(f"block {block}, {way}: {told_of(raw['blocks'][key])}", flush=True)
                    save()
    for way in WAYS:
        found = [job for key, block in raw["blocks"].items() if key.endswith(way) for job in block]
        if found:
            print(f"{way:8} {told_of(found)}")


def serve(place: str, stack: ExitStack) -> str:
    """The URL of a service that has learned."""
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = int(found.getsockname()[1])
    words = [sys.executable, "-m", "sparkcast", "serve", "--store", place, "--port", str(port)]
    server = subprocess.Popen(words, env={**os.environ, "PYTHONWARNINGS": "ignore"})
    stack.callback(server.wait)
    stack.callback(server.terminate)
    client = Client(f"http://127.0.0.1:{port}", timeout_s=300)
    while True:
        try:
            client.predict("train", {"batch_size": FIXED, "jobs": 1})
            return f"http://127.0.0.1:{port}"
        except ServiceDown:
            time.sleep(0.5)
        except NotEnoughDataError:
            raise SystemExit("the calibration is too small") from None


if __name__ == "__main__":
    main()
