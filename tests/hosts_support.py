"""Several hosts on one machine: network namespaces behind a switch of their own, from which nothing leads outside."""

import itertools
import os
import shutil
import subprocess
from pathlib import Path
from typing import Self

from sparkcast.engines._installation import find_spark
from sparkcast.engines._java import find_java
from tests_support import wait_until

_NET = "10.213.77"
_NAMES = itertools.count(1)


def why_not() -> str:
    """Why there can be no such hosts here; "" where there can."""
    if shutil.which("ip") is None:
        return "needs iproute2"
    name = f"sc{os.getpid()}try"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if made.returncode:
        return f"network namespaces are not permitted here: {made.stderr.strip()}"
    linked = subprocess.run(
        ["ip", "-n", name, "link", "add", "br0", "type", "bridge"], capture_output=True, text=True, check=False
    )
    subprocess.run(["ip", "netns", "del", name], check=False)
    return f"there is no bridge here: {linked.stderr.strip()}" if linked.returncode else ""


class Hosts:
    """`names`, each with an address, and a Spark standalone cluster among them."""

    def __init__(self, folder: Path, *names: str) -> None:
        self._folder, self._prefix = folder, f"sc{os.getpid()}x{next(_NAMES)}"
        self.address = {name: f"{_NET}.{number}" for number, name in enumerate(names, start=11)}
        self._started: list[subprocess.Popen[bytes]] = []
        self._spark, self._java = (
            find_spark(honor_spark_home=False),
            find_java(find_spark(honor_spark_home=False).version),
        )

    def __enter__(self) -> Self:
        try:
            self._add("switch")
            self._ip("switch", "link", "add", "br0", "type", "bridge")
            self._ip("switch", "link", "set", "br0", "up")
            for number, (name, address) in enumerate(self.address.items()):
                self._add(name)
                port = f"p{number}"
                self._ip("switch", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", self.ns(name))
                self._ip("switch", "link", "set", port, "master", "br0", "up")
                self._ip(name, "addr", "add", f"{address}/24", "dev", "eth0")
                self._ip(name, "link", "set", "eth0", "up")
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._started):
            process.kill()
            process.wait()
        self._remove()

    def ns(self, name: str) -> str:
        return f"{self._prefix}{name}"

    def _add(self, name: str) -> None:
        subprocess.run(["ip", "netns", "add", self.ns(name)], check=True, capture_output=True)
        self._ip(name, "link", "set", "lo", "up")

    def _remove(self) -> None:
        for name in (*self.address, "switch"):
            subprocess.run(["ip", "netns", "del", self.ns(name)], check=False, capture_output=True)

    def _ip(self, name: str, *arguments: str) -> None:
        subprocess.run(["ip", "-n", self.ns(name), *arguments], check=True, capture_output=True)

    def cut_off(self, name: str) -> None:
        self._ip(name, "link", "set", "eth0", "down")

    def reconnect(self, name: str) -> None:
        self._ip(name, "link", "set", "eth0", "up")

    def start(self, name: str, *command: str, **env: str) -> "subprocess.Popen[bytes]":
        """A process on a host, with its output in a file of its name."""
        local = {"SPARK_LOCAL_IP": self.address[name], "SPARK_LOCAL_HOSTNAME": self.address[name]}
        with (self._folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                ["ip", "netns", "exec", self.ns(name), *command],
                cwd=self._folder,
                stdout=log,
                stderr=log,
                env={**os.environ, **local, **env},
            )
        self._started.append(process)
        return process

    def log(self, name: str) -> str:
        return (self._folder / f"{name}.log").read_text()

    def start_spark(self, master: str, *workers: str) -> None:
        """A master and workers with a core each, which notice in seconds that a host is gone."""
        at = ("--host", self.address[master], "--port", "7077", "--webui-port", "8080")
        self._daemon(master, "master.Master", *at)
        self._workers = {worker: self._start_worker(worker, master) for worker in workers}
        wait_until(lambda: self.log(master).count("Registering worker") >= len(workers))

    def restart_worker(self, worker: str, master: str) -> None:
        """As an administrator would: by itself a worker takes minutes to find its master again."""
        registered = self.log(master).count("Registering worker")
        self._workers[worker].kill()
        self._workers[worker].wait()
        self._workers[worker] = self._start_worker(worker, master)
        wait_until(lambda: self.log(master).count("Registering worker") > registered)

    def _start_worker(self, worker: str, master: str) -> "subprocess.Popen[bytes]":
        return self._daemon(
            worker, "worker.Worker", "--host", self.address[worker], "--cores", "1", "--memory", "1g",
            "--work-dir", str(self._folder / f"work-{worker}"), self.master_url(master),
        )  # fmt: skip

    def _daemon(self, host: str, name: str, *arguments: str) -> "subprocess.Popen[bytes]":
        options = "-Dspark.worker.timeout=15 -Dspark.network.timeout=20s -Dspark.master.rest.enabled=false"
        env = {
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_MASTER_OPTS": options,
            "SPARK_WORKER_OPTS": options,
            "SPARK_LOG_DIR": str(self._folder),
            "JAVA_HOME": str(self._java.home),
        }
        run = str(self._spark.home / "bin" / "spark-class")
        return self.start(host, run, f"org.apache.spark.deploy.{name}", *arguments, **env)

    def master_url(self, name: str) -> str:
        return f"spark://{self.address[name]}:7077"
