"""A server is killed while runs are posted: what was acknowledged is stored once, and what was tried again too."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from serve_support import AT, eventually, make_store
from sparkcast.client import Client, ServiceDown
from sparkcast.store import open_store


@pytest.mark.slow
def test_every_acknowledged_run_is_stored_exactly_once_when_the_server_is_killed(tmp_path: Path) -> None:
    place = make_store(tmp_path)
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    client = Client(f"http://127.0.0.1:{port}", timeout_s=5)
    acknowledged: list[str] = []

    def start() -> "subprocess.Popen[bytes]":
        words = [sys.executable, "-m", "sparkcast", "serve", "--store", place, "--port", str(port)]
        process = subprocess.Popen(words, env={**os.environ, "PYTHONWARNINGS": "ignore"})
        eventually(lambda: process.poll() is not None or answers())
        assert process.poll() is None
        return process

    def answers() -> bool:
        try:
            return bool(client._get("/health"))
        except ServiceDown:
            return False

    def post(number: int) -> None:
        for i in range(25):
            key = f"post-{number}-{i}"
            run = {"configuration": AT, "responses": {"total_s": 100.0 + i}, "run_id": key}
            acknowledged.append(client.append("train", [run], key=key, tries=60)["runs"][0])

    server = start()
    posting = [threading.Thread(target=post, args=(number,)) for number in range(4)]
    for thread in posting:
        thread.start()
    for _ in range(2):
        time.sleep(0.5)
        server.send_signal(signal.SIGKILL)
        server.wait()
        server = start()
    for thread in posting:
        thread.join(timeout=240)
    server.terminate()
    server.wait(timeout=30)
    assert len(acknowledged) == len(set(acknowledged)) == 100
    store = open_store(place)
    stored = [run.run_id for run in store.ingested("train") if run.run_id.startswith("post-")]
    store.close()
    assert sorted(stored) == sorted(acknowledged)
