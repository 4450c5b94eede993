"""How many questions a second the service answers, and how long each waits: a real server on loopback.

    python benchmarks/serve_load.py [--seconds 5] [--connections 32]

Each line is one endpoint under load by this many connections that ask without a pause, every question with other
numbers: nothing is answered from a cache unless the same question comes twice by chance. Beside them, from the same
run, an endpoint of FastAPI that returns what it was sent, and the naive handler, which loads the runs, fits the model
and answers, for each request anew. Server and load share the machine's cores, so each line also has the processor time
that the server took for one answer, which other work on the machine does not change.

Then the same service over a store of 1,000 recurring jobs: start to the first answer, and its memory before and after
some of the jobs were asked about.
"""

import argparse
import asyncio
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.request import Request, urlopen

import psutil

LEVELS = {
    "executors": (1, 2, 3, 4, 6, 8, 12, 16),
    "cores": (1, 2, 3, 4, 5, 6, 7, 8),
    "batch_size": (32, 64, 96, 128, 192, 256, 384, 512),
    "epochs": (1, 2, 3, 4, 5, 6, 8, 10),
}
ECHO = """
import sys, uvicorn
from fastapi import FastAPI
from sparkcast import api
from sparkcast.wire.documents import document_of

app = FastAPI()

@app.post("/echo")
async def echo(body: dict) -> dict:
    return body

@app.post("/naive")
def naive(body: dict) -> dict:
    return document_of("predict", api.predict(api.load_data(sys.argv[2]), body["at"]))

uvicorn.run(app, port=int(sys.argv[1]), log_level="error", access_log=False)
"""


def write_runs(path: Path, n: int = 120) -> None:
    """Runs of a made-up job at some of 4,096 configurations."""
    draw = random.Random(5)
    configurations = draw.sample(list(itertools.product(*LEVELS.values())), n)
    lines = [",".join((*LEVELS, "time_s", "accuracy"))]
    for executors, cores, batch, epochs in configurations:
        time_s = 8 + 40 * epochs / (executors * cores) ** 0.9 * (1 + 32 / batch) + 0.6 * executors
        accuracy = 0.97 - 0.25 / (epochs + 1) - batch / 4000 + draw.gauss(0, 0.004)
        levels = f"{executors},{cores},{batch},{epochs}"
        lines.append(f"{levels},{time_s * draw.lognormvariate(0, 0.06):.3f},{accuracy:.4f}")
    path.write_text("\n".join(lines) + "\n")


def a_configuration(draw: random.Random) -> dict[str, int]:
    return {name: draw.choice(levels) for name, levels in LEVELS.items()}


QUESTIONS: dict[str, tuple[str, Callable[[random.Random], dict[str, object]]]] = {
    "predict": (
        "/v1/predict",
        lambda d: {"study": "runs", "at": a_configuration(d), "level": round(d.uniform(0.8, 0.95), 2)},
    ),
    "recommend, brief": (
        "/v1/recommend",
        lambda d: {"study": "runs", "within": round(d.uniform(40, 400), 4), "brief": True},
    ),
    "recommend, whole": ("/v1/recommend", lambda d: {"study": "runs", "within": round(d.uniform(40, 400), 4)}),
    "check": (
        "/v1/check",
        lambda d: {"study": "runs", "configuration": a_configuration(d), "within": round(d.uniform(20, 400), 4)},
    ),
}


async def one_connection(
    port: int, path: str, bodies: "itertools.cycle[bytes]", until: float, took: list[float]
) -> int:
    """Ask over one connection until the time is over; returns how many answers were errors."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    bad = 0
    while time.perf_counter() < until:
        body = next(bodies)
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        head += f"Content-Length: {len(body)}\r\n\r\n"
        began = time.perf_counter()
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        lower = answer.lower()
        at = lower.index(b"content-length:")
        await reader.readexactly(int(lower[at + 15 : lower.index(b"\r\n", at)]))
        took.append(time.perf_counter() - began)
        bad += not answer.startswith(b"HTTP/1.1 200")
    writer.close()
    return bad


@dataclass(frozen=True, slots=True)
class Loaded:
    """What an endpoint did under load."""

    per_s: float
    p50_ms: float
    p99_ms: float
    cpu_ms: float  # of the server, for one answer
    errors: int

    def __str__(self) -> str:
        told = f"{self.per_s:9,.0f}/s   p50 {self.p50_ms:7.1f} ms   p99 {self.p99_ms:7.1f} ms   "
        return told + f"{self.cpu_ms:6.2f} ms of CPU each   {self.errors} errors"


@dataclass(frozen=True, slots=True)
class Pressure:
    seconds: float
    connections: int


def load(
    server: "subprocess.Popen[bytes]",
    port: int,
    path: str,
    make: Callable[[random.Random], dict[str, object]],
    pressure: Pressure,
) -> Loaded:
    """Questions a second, and the latencies, of so many connections."""
    seconds, n = pressure.seconds, pressure.connections
    draw = random.Random(11)
    bodies = itertools.cycle([json.dumps(make(draw)).encode() for _ in range(20_000)])
    took: list[float] = []

    async def all_of_them() -> int:
        until = time.perf_counter() + seconds
        return sum(await asyncio.gather(*(one_connection(port, path, bodies, until, took) for _ in range(n))))

    began, cpu_s = time.perf_counter(), cpu_of(server)
    bad = asyncio.run(all_of_them())
    elapsed, cpu_s = time.perf_counter() - began, cpu_of(server) - cpu_s
    took.sort()
    p50, p99 = (1000 * took[int(len(took) * share)] for share in (0.5, 0.99))
    return Loaded(len(took) / elapsed, p50, p99, 1000 * cpu_s / len(took), bad)


def cpu_of(process: "subprocess.Popen[bytes]") -> float:
    """Seconds of processor time, of the process alone."""
    times = psutil.Process(process.pid).cpu_times()
    return times.user + times.system


def once(port: int, path: str, body: dict[str, object]) -> float:
    """Seconds that one question takes, with nothing beside it."""
    asked = Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode())
    asked.add_header("Content-Type", "application/json")
    began = time.perf_counter()
    with urlopen(asked, timeout=600) as answer:
        answer.read()
    return time.perf_counter() - began


def free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for(url: str, seconds: float = 600) -> float:
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        try:
            with urlopen(url, timeout=5) as answer:
                if answer.status == 200:
                    return time.perf_counter() - began
        except OSError:
            time.sleep(0.05)
    raise TimeoutError(f"{url} did not answer within {seconds} s")


def memory_of(process: "subprocess.Popen[bytes]") -> float:
    """Of the server and its workers, in MiB."""
    whole = psutil.Process(process.pid)
    return sum(one.memory_info().rss for one in (whole, *whole.children(recursive=True))) / 2**20


def started(words: list[str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, *words], env={**os.environ, "PYTHONWARNINGS": "ignore"})


def endpoints_under_load(folder: Path, pressure: Pressure) -> None:
    runs = folder / "runs.csv"
    write_runs(runs)
    port, other = free_port(), free_port()
    server = started(["-m", "sparkcast", "serve", str(runs), "--port", str(port)])
    plain = started(["-c", ECHO, str(other), str(runs)])
    try:
        ready = wait_for(f"http://127.0.0.1:{port}/ready")
        print(f"start to ready, models fitted: {ready:.1f} s; memory {memory_of(server):.0f} MiB", flush=True)
        wait_for(f"http://127.0.0.1:{other}/openapi.json")
        make = QUESTIONS["predict"][1]
        echo = load(plain, other, "/echo", make, pressure)
        print(f"{'FastAPI echo':18} {echo}", flush=True)
        naive_s = once(other, "/naive", make(random.Random(1)))
        print(f"{'naive predict':18} {naive_s:.2f} s for one question, alone", flush=True)
        for name, (path, ask) in QUESTIONS.items():
            found = load(server, port, path, ask, pressure)
            beside = f"{found.per_s / echo.per_s:.2f} of the echo, {found.per_s * naive_s:,.0f} times the naive handler"
            print(f"{name:18} {found}   {beside}", flush=True)
    finally:
        for process in (server, plain):
            process.terminate()
            process.wait()


def many_jobs(folder: Path, n_jobs: int, n_runs: int, asked: int) -> None:
    """A store of so many jobs, of which some are asked about."""
    from sparkcast.data.ingest.into_store import NOT_ASKED
    from sparkcast.store import open_store
    from sparkcast.study import Configuration, LogOrigin, Observation, Outcome

    def about(job: int) -> dict[str, object]:
        return {"study": f"job-{job}", "at": {"executors": 2, "batch_size": 64}}

    draw, place = random.Random(3), str(folder / "team.results")
    store = open_store(place, create=True)
    for job in range(n_jobs):
        origin = LogOrigin(f"job-{job}", "posted", 0, is_complete=True)
        runs = []
        for n in range(n_runs):
            at = Configuration({"executors": (1, 2, 4, 8)[n % 4], "batch_size": (64, 256)[n // 4 % 2]})
            told = {"total_s": (20 + 200 / float(at["executors"])) * draw.lognormvariate(0, 0.05)}
            name = f"job-{job}-{n}"
            runs.append(Observation(at, told, Outcome.OK, started_at=1.7e9 + n, run_id=name, origin=origin))
        store.keep_ingested(f"job-{job}", NOT_ASKED, runs)
    store.close()
    port = free_port()
    server = started(["-m", "sparkcast", "serve", "--store", place, "--port", str(port)])
    try:
        ready = wait_for(f"http://127.0.0.1:{port}/ready")
        idle = memory_of(server)
        first = once(port, "/v1/predict", about(0))
        began = time.perf_counter()
        for job in range(1, asked):
            once(port, "/v1/predict", about(job))
        each = (time.perf_counter() - began) / max(asked - 1, 1)
        print(
            f"{n_jobs:,} jobs of {n_runs} runs: start to ready {ready:.1f} s, first answer {first:.1f} s later, "
            f"first answer about another job {each:.1f} s; memory {idle:.0f} MiB, "
            f"{memory_of(server):.0f} MiB after {asked} jobs were asked about",
            flush=True,
        )
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=5, help="for each endpoint; 0 leaves the first part out")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--jobs", type=int, default=1000, help="in the store of the second part; 0 leaves it out")
    parser.add_argument("--asked", type=int, default=50, help="of these jobs")
    given = parser.parse_args()
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        if given.seconds:
            endpoints_under_load(Path(folder), Pressure(given.seconds, given.connections))
        if given.jobs:
            many_jobs(Path(folder), given.jobs, 16, min(given.asked, given.jobs))


if __name__ == "__main__":
    main()
