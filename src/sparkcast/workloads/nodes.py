"""Samplers on the nodes of a cluster: started by the driver through its executors, one for each machine.

A Spark job with a task for each slot starts `sampler.py` as a process of its own on every executor. Each of them
connects to the driver, which keeps the first of every machine and hangs up on the others, and writes what it is sent to
a file, line by line: a run that crashes leaves what there was up to then. A sampler ends with its executor, or when the
driver hangs up.

A PySpark program of your own can do the same (docs/guides/machines.md):

    from sparkcast.workloads.nodes import watch_nodes

    with watch_nodes(spark.sparkContext):
        ...
"""

import json
import os
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sparkcast.study.names import SAMPLER_GROUP
from sparkcast.workloads import sampler

PERIOD_S = 1.0
NODES_FILE, NODES_VARIABLE = "nodes.jsonl", "SPARKCAST_NODES"
HERE = "here"  # a line that says so: executors run on the machine of the driver, which is sampled already
SWITCH = "spark.sparkcast.sampler"  # false: start nothing on the nodes
_LONGEST = 1 << 16  # bytes of a first line


@contextmanager
def watch_nodes(context: Any, file: Path | str | None = None) -> Iterator[None]:
    """Sample the nodes of this SparkContext's executors into a file, by default the one that sparkcast reads.

    Does nothing in a program that sparkcast did not start, and on the machine of the driver, which is sampled already.
    """
    target = file or os.environ.get(NODES_VARIABLE)
    if not target or context.getConf().get(SWITCH, "true").lower() == "false":
        yield
        return
    with _Receiver(context, Path(target)) as receiver:
        _start_samplers(context, receiver.address)
        yield


class _Receiver:
    """Takes what samplers send, in a thread for each, until it is closed."""

    def __init__(self, context: Any, file: Path) -> None:
        conf = context.getConf()
        host = conf.get("spark.driver.host", "127.0.0.1")
        self._server = socket.create_server((conf.get("spark.driver.bindAddress", host), 0), backlog=512)
        self._token = secrets.token_hex(16)
        self.address = (host, self._server.getsockname()[1], self._token)
        self._lock = threading.Lock()
        self._here = sampler.this_node()
        self._nodes, self._connections = {self._here}, list[socket.socket]()
        self._file = file.open("a", encoding="ascii")

    def __enter__(self) -> "_Receiver":
        threading.Thread(target=self._accept, name="node-samplers", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            for end in (self._server, *self._connections):
                with suppress(OSError):  # gone already
                    end.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits for it, as closing would not
            self._file.close()
        self._server.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._receive, args=(connection,), daemon=True).start()

    def _receive(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as lines:
            try:
                if lines.readline(_LONGEST).strip().decode(errors="replace") != self._token:
                    return
                about = json.loads(lines.readline(_LONGEST))
                node = str(about["node"])
                if not self._is_new(node, connection):
                    return
                self._write({"about": about})
                for line in lines:
                    self._write({"node": node, "values": [int(word) for word in line.split()]})
            except (OSError, ValueError):  # gone, the driver is done with it, or a line that was cut off
                return

    def _is_new(self, node: str, connection: socket.socket) -> bool:
        with self._lock:
            is_new = node not in self._nodes
            self._nodes.add(node)
            if is_new:
                self._connections.append(connection)
        if node == self._here:
            self._write({HERE: True})
        return is_new

    def _write(self, entry: dict[str, Any]) -> None:
        with self._lock:
            self._file.write(json.dumps(entry) + "\n")
            self._file.flush()


def _start_samplers(context: Any, address: tuple[str, int, str]) -> None:
    """A task for each slot, all at once: Spark deals them out among the executors in turn."""
    slots = max(1, context.defaultParallelism // int(context.getConf().get("spark.task.cpus", "1")))
    start = _starter(Path(sampler.__file__).read_bytes(), address)
    before = {name: context.getLocalProperty(name) for name in ("spark.jobGroup.id", "spark.job.description")}
    context.setJobGroup(SAMPLER_GROUP, "start a sampler on every node")
    try:
        context.parallelize(range(slots), slots).foreachPartition(start)
    finally:
        for name, value in before.items():
            context.setLocalProperty(name, value)


def _starter(program: bytes, address: tuple[str, int, str]) -> Any:
    host, port, token = address

    def start(_: object) -> None:
        import os
        import subprocess
        import sys
        from pathlib import Path

        # The executor's JVM has started the process that this one was forked from.
        daemon = Path(f"/proc/{os.getppid()}/stat").read_text(encoding="utf-8")
        executor = daemon.rpartition(")")[2].split()[1]
        started = subprocess.Popen(
            [sys.executable, "-I", "-", host, str(port), executor, str(PERIOD_S)],
            env={**os.environ, "SPARKCAST_TOKEN": token},  # command lines can be read by every user
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert started.stdin is not None
        started.stdin.write(program)
        started.stdin.close()

    return start
