"""A service over made-up runs, for tests."""

import os
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from starlette.testclient import TestClient

from sparkcast.client import Client, ServiceDown
from sparkcast.data.ingest.into_store import NOT_ASKED
from sparkcast.serve.app import create_app
from sparkcast.serve.settings import ServeSettings
from sparkcast.store import open_store
from sparkcast.study import Configuration, LogOrigin, Observation, Outcome

AT = {"executors": 4, "batch_size": 64}


def runs_of_training(job: str = "train", replicates: int = 3, seed: int = 1) -> list[Observation]:
    """A job that takes about 20 s and 200 s of work."""
    draw = random.Random(seed)
    runs: list[Observation] = []
    for executors in (1, 2, 4, 8):
        for batch in (64, 128, 256):
            for _ in range(replicates):
                time_s = (20 + 200 / executors * (1 + 32 / batch)) * draw.lognormvariate(0, 0.05)
                settings = Configuration({"executors": executors, "batch_size": batch})
                number = len(runs) + 1
                origin = LogOrigin(job, "posted", 0, is_complete=True)
                runs.append(
                    Observation(
                        settings,
                        {"total_s": time_s, "accuracy": 0.95 - batch / 5000},
                        Outcome.OK,
                        "",
                        started_at=1.7e9 + number,
                        run_id=f"{job}-{number}",
                        origin=origin,
                    )
                )
    return runs


def make_store(folder: Path, job: str = "train") -> str:
    """A store with runs of a job; returns its place."""
    place = str(folder / "team.results")
    store = open_store(place, create=True)
    store.keep_ingested(job, NOT_ASKED, runs_of_training(job))
    store.close()
    return place


def settings_of(store: str | None, *sources: str, **options: Any) -> ServeSettings:
    """Without processes of its own, and with a model that is learned at once."""
    return ServeSettings(sources, store, **{"workers": 0, "model": "ridge", "refresh_s": 0.05, **options})


@contextmanager
def asking(settings: ServeSettings, **options: Any) -> Iterator[TestClient]:
    with TestClient(create_app(settings), raise_server_exceptions=False, **options) as client:
        yield client


@contextmanager
def serving(settings: ServeSettings) -> Iterator[str]:
    """A real server on a free port of loopback; its URL."""
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(create_app(settings), port=port, log_level="error", ws="none"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(timeout=20)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def process_of(words: list[str], client: Client) -> Iterator["subprocess.Popen[bytes]"]:
    """`sparkcast serve` in a process of its own, from when it answers this client until the end."""
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    process = subprocess.Popen([sys.executable, "-m", "sparkcast", "serve", *words], env=environment)
    try:
        eventually(lambda: process.poll() is not None or is_up(client))
        assert process.poll() is None
        yield process
    finally:
        process.terminate()
        process.wait(timeout=30)


def is_up(client: Client) -> bool:
    try:
        return bool(client._get("/health"))
    except ServiceDown:
        return False


def eventually(found: Any, seconds: float = 300.0) -> Any:
    """What `found` returns as soon as it is true."""
    until = time.monotonic() + seconds
    while not (value := found()):
        if time.monotonic() > until:
            raise AssertionError("it did not come true")
        time.sleep(0.02)
    return value
