"""Samplers on nodes and the driver that receives them, on this machine and without Spark."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sparkcast.study import Configuration
from sparkcast.workloads import driver, nodes, sampler
from sparkcast.workloads.nodes import HERE, NODES_VARIABLE, SWITCH, watch_nodes
from tests_support import wait_until


class Conf(dict[str, str]):
    pass


class Context:
    """What a driver needs of a SparkContext, with executors whose tasks are ours."""

    defaultParallelism = 2

    def __init__(self, start: Callable[[Any], None] | None = None, **conf: str) -> None:
        self._conf = Conf({"spark.driver.host": "127.0.0.1", **conf})
        self._start, self.properties = start, dict[str, str | None]()

    def getConf(self) -> Conf:
        return self._conf

    def getLocalProperty(self, name: str) -> str | None:
        return self.properties.get(name)

    def setLocalProperty(self, name: str, value: str | None) -> None:
        self.properties[name] = value

    def setJobGroup(self, group: str, description: str) -> None:
        self.properties |= {"spark.jobGroup.id": group, "spark.job.description": description}

    def parallelize(self, items: range, _slots: int) -> "Context":
        self.slots = len(items)
        return self

    def foreachPartition(self, function: Callable[[Any], None]) -> None:
        assert self.properties["spark.jobGroup.id"] == "sparkcast"
        if self._start is not None:
            self._start(function)


def entries(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def launch(address: tuple[str, int, str], node: str, pid: int, token: str = "") -> "subprocess.Popen[bytes]":
    host, port, right = address
    return subprocess.Popen(
        [sys.executable, "-I", sampler.__file__, host, str(port), str(pid), "0.01"],
        env={"SPARKCAST_TOKEN": token or right, "SPARKCAST_NODE": node},
        stderr=subprocess.DEVNULL,
    )


def test_one_sampler_of_each_machine_is_kept_and_all_end_with_the_driver(tmp_path: Path) -> None:
    file = tmp_path / "nodes.jsonl"
    with nodes._Receiver(Context(), file) as receiver:
        first = launch(receiver.address, "a", os.getpid())
        wait_until(lambda: file.exists() and len(entries(file)) > 3)
        second, stranger = launch(receiver.address, "a", os.getpid()), launch(receiver.address, "b", 1, token="x")
        assert second.wait(60) is not None
        assert stranger.wait(60) is not None
        other, here = launch(receiver.address, "c", os.getpid()), launch(receiver.address, sampler.this_node(), 1)
        assert here.wait(60) is not None
        wait_until(lambda: {"node": "c"}.items() <= entries(file)[-1].items())
    assert first.wait(60) is not None
    assert other.wait(60) is not None
    told = entries(file)
    assert [entry["about"]["node"] for entry in told if "about" in entry] == ["a", "c"]
    assert {HERE: True} in told
    names = told[0]["about"]["names"]
    assert all(len(entry["values"]) == len(names) for entry in told if "values" in entry)


def test_a_sampler_ends_with_its_executor(tmp_path: Path) -> None:
    executor = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with nodes._Receiver(Context(), tmp_path / "nodes.jsonl") as receiver:
        started = launch(receiver.address, "a", executor.pid)
        wait_until(lambda: bool(entries(tmp_path / "nodes.jsonl")))
        executor.communicate(b"\n")
        assert started.wait(60) == 0


# The task leaves it running, as it should.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_task_starts_a_sampler_and_leaves_the_job_group_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "nodes.jsonl"
    context = Context(start=lambda function: function(iter(())))
    context.properties["spark.jobGroup.id"] = "mine"
    with watch_nodes(context, file):
        wait_until(lambda: {HERE: True} in entries(file))
    assert context.properties["spark.jobGroup.id"] == "mine"
    assert context.slots == 2


@pytest.mark.parametrize("conf", [{}, {SWITCH: "false"}])
def test_nothing_is_started_outside_of_sparkcast_or_when_switched_off(
    conf: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(NODES_VARIABLE, raising=False)
    if conf:
        monkeypatch.setenv(NODES_VARIABLE, str(tmp_path / "nodes.jsonl"))
    with watch_nodes(Context(start=lambda _: pytest.fail("a job was started"), **conf)):
        pass
    assert not (tmp_path / "nodes.jsonl").exists()


def test_a_port_that_is_scanned_harms_nobody(tmp_path: Path) -> None:
    with nodes._Receiver(Context(), tmp_path / "nodes.jsonl") as receiver:
        host, port, _ = receiver.address
        for words in (b"", b"\x00\xff" * 10, b"GET / HTTP/1.1\r\n\r\n"):
            with socket.create_connection((host, port)) as stranger:
                stranger.sendall(words)
    assert (tmp_path / "nodes.jsonl").read_text() == ""


@pytest.mark.parametrize(
    ("error", "told"), [(OSError("Cannot run program python3"), "Cannot run"), (KeyError(), "Key")]
)
def test_a_cluster_that_cannot_be_sampled_costs_the_samples_and_not_the_run(
    error: Exception, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_context: object) -> None:
        raise error

    monkeypatch.setattr(driver, "watch_nodes", refuse)
    with driver.Report(tmp_path / "report.jsonl") as report:
        driver.DriverJob(Configuration({}), tmp_path, report)._watch_nodes()
    [note] = entries(tmp_path / "report.jsonl")
    assert note["text"].startswith(f"the nodes of the cluster were not sampled: {told}")
