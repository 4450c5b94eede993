"""Safe tuning of a real recurring job: what 25 production runs gain, and what the worst of them cost.

    python benchmarks/safe_tuning_real.py --raw raw.json [--runs 25] [--most 15m] [--ways explore,tune,random]

The job is `programs/nightly_report.py` on a real cluster of this machine, with six Spark properties; each begins as
its owner wrote it, which is not well. Three ways make the same number of runs, in turns, so that other work on the
machine meets all of them:

- `explore`: what `sparkcast submit --explore --within DEADLINE --levels ...` decides.
- `tune`: the searcher of `sparkcast tune`, which is free to try anything.
- `random`: properties drawn at random.

The start is the median of five runs as its owner wrote it; the deadline is 1.5 times that. Everything is kept in
`raw.json`, and an interrupted benchmark goes on where it was.
"""

import argparse
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from _real_cluster import SMALL, RealCluster, real_cluster

from sparkcast.api.submission import StoreAdviser, Wish, submit
from sparkcast.search.base import SEARCHERS, Evaluation, Search
from sparkcast.store import open_store
from sparkcast.study import Configuration, Level, Vocabulary
from sparkcast.study.names import completed
from sparkcast.units import parse_seconds

LEVELS: dict[str, tuple[Level, ...]] = {  # the first of each is the start
    "spark.sql.shuffle.partitions": (400, 200, 100, 50, 16, 4),
    "spark.sql.adaptive.enabled": ("false", "true"),
    "spark.io.compression.codec": ("zstd", "lz4", "snappy"),
    "spark.serializer": (
        "org.apache.spark.serializer.JavaSerializer",
        "org.apache.spark.serializer.KryoSerializer",
    ),
    "spark.sql.codegen.wholeStage": ("false", "true"),
    "spark.default.parallelism": (64, 16, 4, 2),
}
START = {name: levels[0] for name, levels in LEVELS.items()}
N_START = 5
SLACK = 1.5  # of the deadline over the start
WAYS = ("explore", "tune", "random")
Run = dict[str, Any]


def timed(cluster: RealCluster, at: Mapping[str, Level]) -> Run:
    """One run with these properties."""
    conf = {**SMALL, **{name: str(level) for name, level in at.items()}}
    began = time.time()
    words = cluster.line("nightly_report.py", "nightly", conf)
    done = subprocess.run(words, env=cluster.environment(), capture_output=True, text=True, check=False, timeout=900)
    is_good = done.returncode == 0 and "products=997" in done.stdout
    if not is_good:
        print(done.stderr[-2000:], file=sys.stderr)
    return {"at": dict(at), "began": began, "took_s": time.time() - began, "ok": is_good}


def next_of(way: str, past: list[Run], deadline_s: float, line: list[str]) -> tuple[dict[str, Level], str]:
    """What the next run uses, and which step that is."""
    if way == "explore":
        with tempfile.TemporaryDirectory() as folder:
            place = str(Path(folder) / "nightly.results")
            open_store(place, create=True).close()
            adviser = StoreAdviser(place)
            for number, run in enumerate(past):
                told = {"total_s": run["took_s"]} if run["ok"] else {}
                outcome = "ok" if run["ok"] else "error"
                one = {"configuration": run["at"], "responses": told, "outcome": outcome, "cause": ""}
                adviser.report("nightly", {**one, "started_at": run["began"], "run_id": f"run-{number}"})
            wish = Wish("nightly", within_s=deadline_s, explore=True, levels=LEVELS)
            found = submit(line, wish, adviser, is_dry=True).advice
            assert found is not None
            return dict(found.configuration), found.step
    draw = random.Random(len(past))
    if way == "random":
        return {name: draw.choice(levels) for name, levels in LEVELS.items()}, "change"
    every = tuple(Configuration(dict(zip(LEVELS, row, strict=True))) for row in itertools.product(*LEVELS.values()))
    words = completed(Vocabulary(), tuple(LEVELS), ("total_s",))
    searcher = SEARCHERS.get("guided")(Search(every, seed=1, vocabulary=words))
    for run in past:
        time_s = run["took_s"] if run["ok"] else None
        searcher.tell(Evaluation(Configuration(run["at"]), time_s, time_s))
    asked = searcher.ask()
    return dict(asked if asked is not None else min(past, key=lambda run: run["took_s"])["at"]), "change"


def told_of(way: str, raw: dict[str, Any]) -> str:
    start, runs = raw["start_s"], raw[way]
    deadline = SLACK * start
    last = runs[-1]["at"] if way == "explore" else min(runs, key=lambda run: run["took_s"])["at"]
    own = [run["took_s"] for run in runs if run["at"] == last]
    worst = max(run["took_s"] for run in runs) / start
    broken = sum(run["took_s"] > deadline or not run["ok"] for run in runs)
    mean = sum(run["took_s"] for run in runs) / len(runs) / start
    told = f"{len(runs)} runs; settings at the end {median(own) / start - 1:+.0%} (median of {len(own)} runs); "
    told += f"all runs {mean - 1:+.0%}; worst {worst:.2f} of the start; {broken} deadlines broken"
    stopped = next((n for n, run in enumerate(runs) if run["step"] == "stop"), None)
    return told + ("" if stopped is None else f"; stopped after {stopped} runs") + f"; ends with {last}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raw", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--most", default="15m")
    parser.add_argument("--ways", default=",".join(WAYS))
    given = parser.parse_args()
    until, ways = time.monotonic() + parse_seconds(given.most), given.ways.split(",")
    raw: dict[str, Any] = (
        json.loads(given.raw.read_text()) if given.raw.exists() else {"start": [], **{w: [] for w in WAYS}}
    )
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    with real_cluster() as cluster:
        while len(raw["start"]) < N_START:
            raw["start"].append(timed(cluster, START))
        raw["start_s"] = median(run["took_s"] for run in raw["start"])
        print(f"start {raw['start_s']:.1f} s: {[round(run['took_s'], 1) for run in raw['start']]}", flush=True)
        line = cluster.line("nightly_report.py", "nightly", SMALL)
        for number in range(given.runs):
            for way in ways:
                if len(raw[way]) > number or time.monotonic() > until:
                    continue
                past = raw[way] or []
                at, step = next_of(way, past or raw["start"][:2], SLACK * raw["start_s"], line)
                raw[way].append({**timed(cluster, at), "step": step})
                print(f"{number + 1:2} {way:8} {step:9} {raw[way][-1]['took_s']:6.1f} s  {at}", flush=True)
                given.raw.write_text(json.dumps(raw))
    for way in ways:
        if raw[way]:
            print(f"{way:8} {told_of(way, raw)}")


if __name__ == "__main__":
    main()
