"""Mixed load on a service over PostgreSQL while both are killed and started again: is each acknowledged run kept once?

    python benchmarks/serve_kills.py [--minutes 10] [--posters 4] [--askers 2] [--every 20] [--seed 1]

Posters report runs, each under a key of its own, and try again until they are told that it is stored; a quarter of the
posts is sent once more although it was acknowledged. Askers predict, recommend and check. Every 20 seconds or so the
service gets a SIGKILL, or PostgreSQL an immediate stop, in turn. At the end the store is compared with what was
acknowledged. What askers get instead of an answer is counted: nothing but "does not answer", status 503, and 409 where
nothing meets the deadline may come.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from postgres_support import PostgresServer
from serve_support import eventually, free_port, is_up, runs_of_training
from sparkcast.client import Client, ServiceDown, ServiceFailed
from sparkcast.data.ingest.into_store import NOT_ASKED
from sparkcast.store import open_store

_EXPECTED = (409, 503)  # nothing meets the limits; the store does not answer


@dataclass
class Seen:
    """What the clients were told."""

    acknowledged: list[str] = field(default_factory=list)
    repeated: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)
    is_over: threading.Event = field(default_factory=threading.Event)


@dataclass
class Service:
    """A process that is killed and started again on the same port."""

    store: str
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def client(self) -> Client:
        return Client(f"http://127.0.0.1:{self.port}", timeout_s=20)

    def start(self) -> None:
        words = [sys.executable, "-m", "sparkcast", "serve", "--store", self.store, "--port", str(self.port)]
        environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
        self.process = subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL)
        eventually(lambda: is_up(self.client), 300)

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.start()


def post(number: int, service: Service, seen: Seen, draw: random.Random) -> None:
    client = service.client
    for i in range(10**9):
        if seen.is_over.is_set():
            return
        key = f"post-{number}-{i}"
        at = {"executors": draw.choice((1, 2, 4, 8)), "batch_size": draw.choice((64, 128, 256))}
        run = {"configuration": at, "responses": {"total_s": draw.uniform(50, 300)}, "run_id": key}
        found = client.append("train", [run], key=key, tries=10_000)
        with seen.lock:
            seen.acknowledged += found["runs"]
        if draw.random() < 0.25:
            again = client.append("train", [run], key=key, tries=10_000)
            assert again["runs"] == found["runs"]
            with seen.lock:
                seen.repeated += 1
        time.sleep(0.1)


def ask(service: Service, seen: Seen, draw: random.Random) -> None:
    client = service.client
    at = {"executors": 4, "batch_size": 64}
    questions: list[Callable[[], object]] = [
        lambda: client.predict("train", at, level=round(draw.uniform(0.5, 0.95), 3)),
        lambda: client.recommend("train", within=draw.uniform(60, 300), brief=draw.random() < 0.5),
        lambda: client.check(study="train", configuration=at, within=draw.uniform(60, 300)),
        client.studies,
    ]
    while not seen.is_over.is_set():
        try:
            draw.choice(questions)()
            told = "answered"
        except ServiceDown:
            told = "does not answer"
        except ServiceFailed as error:
            told = f"status {error.status}" + ("" if error.status in _EXPECTED else f": {error.problem}")
        with seen.lock:
            seen.asked[told] += 1
        time.sleep(0.05)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--posters", type=int, default=4)
    parser.add_argument("--askers", type=int, default=2)
    parser.add_argument("--every", type=float, default=20, help="seconds between kills")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    database, seen, kills = PostgresServer(), Seen(), Counter[str]()
    service = Service(database.new_url())
    try:
        store = open_store(service.store, create=True)
        store.keep_ingested("train", NOT_ASKED, runs_of_training())
        store.close()
        service.start()
        until = time.monotonic() + 60 * given.minutes
        draws = [random.Random(100 * given.seed + n) for n in range(given.posters + given.askers)]
        work = [partial(post, n, service, seen, draws.pop()) for n in range(given.posters)]
        work += [partial(ask, service, seen, draw) for draw in draws]
        threads = [threading.Thread(target=one, daemon=True) for one in work]
        for thread in threads:
            thread.start()
        draw = random.Random(given.seed)
        while time.monotonic() < until:
            time.sleep(draw.uniform(0.5, 1.5) * given.every)
            target = ("service", "database")[sum(kills.values()) % 2]
            service.kill() if target == "service" else database.crash()
            kills[target] += 1
        seen.is_over.set()
        for thread in threads:
            thread.join(timeout=300)
        alive = sum(thread.is_alive() for thread in threads)
        store = open_store(service.store)
        stored = Counter(run.run_id for run in store.ingested("train") if run.run_id.startswith("post-"))
        store.close()
        lost = [name for name in seen.acknowledged if not stored[name]]
        twice = [name for name, n in stored.items() if n > 1]
        print(f"{given.minutes:g} minutes; killed: {dict(kills)}; threads that never ended: {alive}")
        print(f"posts acknowledged {len(seen.acknowledged)}, of which sent again {seen.repeated}")
        print(f"stored {sum(stored.values())}; lost {len(lost)}; stored twice {len(twice)}")
        print(f"questions: {dict(seen.asked)}")
        if lost or twice or alive:
            raise SystemExit(1)
    finally:
        if service.process is not None:
            service.process.kill()
            service.process.wait()
        database.close()


if __name__ == "__main__":
    main()
