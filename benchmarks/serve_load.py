"""How many questions a second the service answers, and how long each waits: a real server on loopback.

    python benchmarks/serve_load.py [--seconds 5] [--connections 32]

Each line is one endpoint under load by this many connections that ask without a pause, every question with other
numbers: nothing is answered from a cache unless the same question comes twice by chance. Beside them, from the same
run, an endpoint of FastAPI that returns what it was sent, and the naive handler, which loads the runs, fits the model
and answers, for each request anew. Server and load share the machine's cores.
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


def load(port: int, path: str, make: Callable[[random.Random], dict[str, object]], seconds: float, n: int) -> str:
    """Questions a second, and the latencies, of so many connections."""
    draw = random.Random(11)
    bodies = itertools.cycle([json.dumps(make(draw)).encode() for _ in range(20_000)])
    took: list[float] = []

    async def all_of_them() -> int:
        until = time.perf_counter() + seconds
        return sum(await asyncio.gather(*(one_connection(port, path, bodies, until, took) for _ in range(n))))

    began = time.perf_counter()
    bad = asyncio.run(all_of_them())
    elapsed = time.perf_counter() - began
    took.sort()
    p50, p99 = (1000 * took[int(len(took) * share)] for share in (0.5, 0.99))
    return f"{len(took) / elapsed:9,.0f}/s   p50 {p50:7.1f} ms   p99 {p99:7.1f} ms   {bad} errors"


def once(port: int, path: str, make: Callable[[random.Random], dict[str, object]]) -> float:
    """Seconds that one question takes, with nothing beside it."""
    asked = Request(f"http://127.0.0.1:{port}{path}", json.dumps(make(random.Random(1))).encode())
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


def wait_for(url: str, seconds: float = 120) -> float:
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


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--connections", type=int, default=32)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = Path(folder) / "runs.csv"
        write_runs(runs)
        port, other = free_port(), free_port()
        environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
        server = subprocess.Popen(
            [sys.executable, "-m", "sparkcast", "serve", str(runs), "--port", str(port)], env=environment
        )
        plain = subprocess.Popen([sys.executable, "-c", ECHO, str(other), str(runs)], env=environment)
        try:
            ready = wait_for(f"http://127.0.0.1:{port}/ready")
            print(f"start to ready, models fitted: {ready:.1f} s; memory {memory_of(server):.0f} MiB")
            wait_for(f"http://127.0.0.1:{other}/openapi.json")
            documented = json.load(urlopen(f"http://127.0.0.1:{port}/openapi.json"))["paths"]
            for name, (path, make) in QUESTIONS.items():
                if path in documented:
                    print(f"{name:18} {load(port, path, make, given.seconds, given.connections)}")
            echo = QUESTIONS["predict"][1]
            print(f"{'FastAPI echo':18} {load(other, '/echo', echo, given.seconds, given.connections)}")
            print(f"{'naive predict':18} {once(other, '/naive', echo):.2f} s for one question, alone")
        finally:
            for process in (server, plain):
                process.terminate()
                process.wait()


if __name__ == "__main__":
    main()
