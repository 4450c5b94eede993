"""The Spark job that measures the nodes of a cluster: submitted by `speed`, it imports nothing of ours.

    spark-submit node_speed_job.py RESULT SECONDS

Its tasks run at the same moment, one for each core that Spark has: first they compute, then they write to where Spark
spills, then each sends to a task of another node.
"""

import contextlib
import json
import os
import socket
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

_CORES, _DISK, _NETWORK = 0.4, 0.3, 0.3  # of the time
_BLOCK = os.urandom(1 << 16) + bytes(1 << 16)
_CHUNK = 1 << 20
_MOST_BYTES = 1 << 29  # that a task writes


def main() -> None:
    from pyspark import SparkContext

    result, seconds = sys.argv[1], float(sys.argv[2])
    context = SparkContext()
    context.setLogLevel("ERROR")
    slots = context.defaultParallelism
    told = context.parallelize(range(slots), slots).barrier().mapPartitions(lambda _: measure(seconds)).collect()
    found = {"tasks": told, "master": context.master, "properties": dict(context.getConf().getAll())}
    Path(result).write_text(json.dumps(found), encoding="utf-8")
    context.stop()


def measure(seconds: float) -> Iterator[dict[str, Any]]:
    """What one task does."""
    from pyspark import BarrierTaskContext

    task = BarrierTaskContext.get()
    host = task.getTaskInfos()[task.partitionId()].address.rpartition(":")[0] or socket.gethostname()
    task.barrier()
    core = _computed(_CORES * seconds)
    task.barrier()
    disk = _written(_DISK * seconds)
    task.barrier()
    network = _sent(task, host, _NETWORK * seconds)
    yield {"host": host, "core": core, "disk": disk, "network": network}


def _computed(seconds: float) -> float:
    """Rounds in a second: half of each is the interpreter's own work, half is that of compiled code."""
    begun, rounds = time.perf_counter(), 0
    while (took := time.perf_counter() - begun) < seconds:
        value = 1
        for number in range(20_000):
            value = (value * 1_103_515_245 + number) & 0x7FFFFFFF
        zlib.compress(_BLOCK, 1)
        rounds += 1
    return rounds / took


def _written(seconds: float) -> float:
    """Bytes a second, on the disk and not in its cache."""
    named = os.environ.get("SPARK_LOCAL_DIRS") or os.environ.get("LOCAL_DIRS") or "."
    folder = Path(named.split(",")[0])
    chunk = os.urandom(_CHUNK)
    begun, written = time.perf_counter(), 0
    with tempfile.TemporaryFile(dir=folder if folder.is_dir() else None) as file:
        while time.perf_counter() - begun < seconds and written < _MOST_BYTES:
            for _ in range(8):
                written += file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
    return written / (time.perf_counter() - begun)


def _sent(task: Any, host: str, seconds: float) -> float:
    """Bytes a second to a task of another node; 0 where there is none, or it cannot be reached."""
    server = socket.create_server(("", 0))
    server.settimeout(4 * seconds)
    taking = threading.Thread(target=_take, args=(server,), daemon=True)
    taking.start()
    places = [json.loads(one) for one in task.allGather(json.dumps([host, server.getsockname()[1]]))]
    own = task.partitionId()
    following = [places[(own + step) % len(places)] for step in range(1, len(places))]
    target = next(((name, port) for name, port in following if name != host), None)
    task.barrier()
    rate = 0.0
    if target is not None:
        with contextlib.suppress(OSError):
            rate = _pushed(target, seconds)
    task.barrier()
    server.close()
    return rate


def _pushed(target: tuple[str, int], seconds: float) -> float:
    chunk = bytes(_CHUNK)
    with socket.create_connection(target, timeout=4 * seconds) as connection:
        begun, sent = time.perf_counter(), 0
        while time.perf_counter() - begun < seconds:
            connection.sendall(chunk)
            sent += len(chunk)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)  # all of it arrived
        return sent / (time.perf_counter() - begun)


def _take(server: socket.socket) -> None:
    """Whatever anybody sends, each in a thread of its own."""
    with contextlib.suppress(OSError):
        while True:
            connection, _ = server.accept()
            threading.Thread(target=_drain, args=(connection,), daemon=True).start()


def _drain(connection: socket.socket) -> None:
    with contextlib.suppress(OSError), connection:
        while connection.recv(_CHUNK):
            pass


def by_node(tasks: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of each node: the cores that measured, the speed of one of them, and what all wrote and sent together."""
    nodes: dict[str, list[dict[str, Any]]] = {}
    for one in tasks:
        nodes.setdefault(one["host"], []).append(one)
    return [
        {
            "host": host,
            "cores": len(some),
            "core": sum(one["core"] for one in some) / len(some),
            "disk": sum(one["disk"] for one in some),
            "network": sum(one["network"] for one in some),
        }
        for host, some in sorted(nodes.items())
    ]


if __name__ == "__main__":
    main()
