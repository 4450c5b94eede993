"""Asking a standalone master what it has: a page as Spark 3.5 answers it, from a server of our own."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from sparkcast.engines.capacity import ClusterCapacity, Worker
from sparkcast.engines.embedded import EmbeddedCluster
from sparkcast.engines.spark import SparkCluster
from sparkcast.study import SparkOptions
from sparkcast.workloads import Shape

MIB = 2**20
PAGE: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data" / "standalone-3.5-master.json").read_text())
APPLICATION = PAGE["activeapps"][0]["id"]  # has two executors with one core, on both workers
Serve = Callable[[str], int]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Answers /json/ with a text, and returns the port where."""
    servers: list[HTTPServer] = []

    def start(text: str) -> int:
        class Page(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200 if self.path == "/json/" else 404)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_: object) -> None: ...

        servers.append(HTTPServer(("127.0.0.1", 0), Page))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return servers[-1].server_port

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def _engine(web_port: int, master: str = PAGE["url"]) -> SparkCluster:
    return SparkCluster(SparkOptions(master, {"spark.master.ui.port": str(web_port)}))


def test_the_workers_of_a_standalone_cluster_are_its_capacity(serve: Serve) -> None:
    capacity = _engine(serve(json.dumps(PAGE))).capacity([])
    assert capacity == ClusterCapacity((Worker(2, 2048 * MIB), Worker(1, 1024 * MIB)))


def test_the_port_of_the_page_may_come_from_sparks_own_variable(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_MASTER_WEBUI_PORT", str(serve(json.dumps(PAGE))))
    assert SparkCluster(SparkOptions(PAGE["url"])).capacity([]) is not None


def test_a_proxy_for_the_web_is_not_asked_for_the_cluster(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert _engine(serve(json.dumps(PAGE))).capacity([]) is not None


def test_a_dead_worker_counts_for_nothing(serve: Serve) -> None:
    first, second = PAGE["workers"]
    page = {**PAGE, "workers": [first, {**second, "state": "DEAD"}]}
    assert _engine(serve(json.dumps(page))).capacity([]) == ClusterCapacity((Worker(2, 2048 * MIB),))


def test_the_master_that_leads_is_believed(serve: Serve) -> None:
    web_port = serve(json.dumps(PAGE))
    assert _engine(web_port, "spark://127.0.0.1:17070,127.0.0.1:17077").capacity([]) is not None


@pytest.mark.parametrize(
    "text",
    [
        "<html>some other page</html>",
        "[]",
        "{}",
        json.dumps({**PAGE, "status": "STANDBY"}),
        json.dumps({**PAGE, "url": "spark://127.0.0.1:7070"}),
        json.dumps({**PAGE, "workers": [{"state": "ALIVE"}]}),
    ],
)
def test_a_page_of_another_kind_tells_nothing(serve: Serve, text: str) -> None:
    engine = _engine(serve(text))
    assert engine.capacity([]) is None
    assert engine.shortage(APPLICATION, Shape(9, 1, "512m", 1)) is None


def test_a_page_that_does_not_answer_tells_nothing() -> None:
    assert _engine(9).capacity([]) is None  # the port of discard


@pytest.mark.parametrize("master", ["yarn", "k8s://https://host:443", "local[2]"])
def test_clusters_that_cannot_be_asked_tell_nothing(master: str) -> None:
    assert SparkCluster(SparkOptions(master)).capacity([]) is None


@pytest.mark.parametrize("master", ["local-cluster[2,3,1024]", "local-cluster[ 2 , 3 , 1024 ]"])
def test_a_local_cluster_has_its_size_in_its_name(master: str) -> None:
    assert SparkCluster(SparkOptions(master)).capacity([]) == ClusterCapacity.alike(2, 3, 1024 * MIB)


@pytest.mark.parametrize(
    ("application", "executors", "memory", "shortage"),
    [
        (APPLICATION, 2, "512m", 0),  # has both
        (APPLICATION, 3, "512m", 0),  # one core is free
        (APPLICATION, 3, "2g", 1),  # but not enough memory beside it
        (APPLICATION, 5, "512m", 2),
        ("app-0", 1, "512m", 0),
        ("app-0", 3, "512m", 2),
    ],
)
def test_an_application_lacks_what_it_has_not_been_given_and_what_is_not_free(
    serve: Serve, application: str, executors: int, memory: str, shortage: int
) -> None:
    shape = Shape(executors, 1, memory, 1)
    assert _engine(serve(json.dumps(PAGE))).shortage(application, shape) == shortage


@pytest.mark.slow
def test_a_real_master_tells_what_its_workers_have() -> None:
    with EmbeddedCluster(SparkOptions()) as cluster:
        log = (cluster._running().folder / "logs" / "master.log").read_text()
        page = re.search(r"MasterWebUI to .* started at http://\S+:(\d+)", log)
        assert page is not None
        engine = _engine(int(page[1]), cluster._master)
        capacity = engine.capacity([])
        assert capacity == cluster.capacity([])
        assert capacity is not None
        assert engine.shortage("app-0", Shape(capacity.cores + 1, 1, "512m", 1)) == 1
