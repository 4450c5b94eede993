"""What training processes on the cluster tell the driver while they work: a Spark job answers only at its end."""

import json
import re
import secrets
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sparkcast.errors import RunError
from sparkcast.workloads.base import Job

_LEAVE_S = 20.0  # for the processes to end once the result is there

Address = tuple[str, int, str]  # host, port, and a token that keeps strangers out


@contextmanager
def listening(context: Any, receive: Callable[[dict[str, Any]], None]) -> Iterator[Address]:
    """Receive JSON lines from the cluster."""
    token = secrets.token_hex(16)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            if self.rfile.readline().decode(errors="replace").strip() == token:
                for line in self.rfile:
                    receive(json.loads(line))

    conf = context.getConf()
    host = conf.get("spark.driver.host", "127.0.0.1")
    # Closing a threading server waits for its handlers: everything that was sent has then been received.
    with socketserver.ThreadingTCPServer((conf.get("spark.driver.bindAddress", host), 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        try:
            yield host, server.server_address[1], token
        finally:
            server.shutdown()


def train_together(job: Job, processes: int, train_one: Callable[[Address], Iterator[None]]) -> None:
    """Train in the Python workers of one barrier stage: Spark starts all of them or none.

    Raises RunError with what the process that failed first has said: Spark tells of the task that ended first.
    """
    context = job.spark_context()
    failures: list[str] = []
    has_result = threading.Event()
    with listening(context, _receiver(job, failures, has_result)) as driver:
        stage = context.parallelize(range(processes), processes).barrier()
        training = stage.mapPartitions(lambda _: train_one(driver))
        try:
            until_told(context, has_result, training.count)
        except Exception as error:
            if not failures:
                raise
            raise RunError(f"a training process failed: {_what_was_raised(failures[0])}\n{failures[0]}") from error


def _what_was_raised(traceback: str) -> str:
    """The line of a traceback that names the exception: the last one, of several that led to each other."""
    raised = re.findall(r"^[\w.]+(?:: .*)?$", traceback, flags=re.MULTILINE)
    return str(raised[-1]) if raised else "it said nothing"


def _receiver(job: Job, failures: list[str], has_result: threading.Event) -> Callable[[dict[str, Any]], None]:
    def receive(message: dict[str, Any]) -> None:
        kind = message.pop("kind")
        if kind == "loading":
            job.loading()
        elif kind == "started":
            job.started()
        elif kind == "epoch":
            job.epoch(**message)
        elif kind == "result":
            job.result(**message)
            has_result.set()
        else:
            failures.append(message["cause"])

    return receive


def until_told(context: Any, has_result: threading.Event, run: Callable[[], object]) -> None:
    """Run to the end, or to a little after the result when the processes do not manage to take leave of each other.

    The result comes after a barrier of all processes. When one of them then dies while it is torn down (gloo's threads
    may abort it), the others would wait five minutes for it.
    """
    errors: list[Exception] = []

    def work() -> None:
        try:
            run()
        except Exception as error:
            errors.append(error)

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(0.2)
        if has_result.is_set():
            worker.join(_LEAVE_S)
            if worker.is_alive():
                context.cancelAllJobs()
            return
    if errors and not has_result.is_set():
        raise errors[0]


@contextmanager
def speaking(driver: Address) -> Iterator[Callable[..., None]]:
    import socket

    host, port, token = driver
    with socket.create_connection((host, port), timeout=60) as connection:
        connection.sendall(f"{token}\n".encode())
        yield lambda **message: connection.sendall(f"{json.dumps(message)}\n".encode())
