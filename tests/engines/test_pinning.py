"""Executors of the embedded cluster on CPUs of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sparkcast.engines import _pinned_java, embedded
from sparkcast.engines.conf import thread_conf
from sparkcast.engines.machine import Machine


def test_executors_claim_different_cpus_until_there_are_none(tmp_path: Path) -> None:
    for cpu in (0, 3, 10):
        (tmp_path / str(cpu)).touch()
    assert _pinned_java.claim(tmp_path, 2) == [0, 3]
    assert _pinned_java.claim(tmp_path, 2) == []  # and gives back the one it got
    assert _pinned_java.claim(tmp_path, 1) == [10]
    assert _pinned_java.claim(tmp_path, 1) == []


def _launch(folder: Path, cores: int) -> "subprocess.Popen[str]":
    """With a Java that prints the CPUs it has, and ends with its input."""
    java = folder / "java"
    java.write_text(
        f"#!{sys.executable}\nimport os, sys\n"
        "print(sorted(os.sched_getaffinity(0)), *sys.argv[1:], flush=True)\nsys.stdin.read()\n"
    )
    java.chmod(0o700)
    return subprocess.Popen(
        [sys.executable, "-I", _pinned_java.__file__, "-Xmx1g", "Main"],
        env={**os.environ, "SPARKCAST_PINNING": f"{java}|{folder / 'cpus'}|{cores}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_java_runs_on_its_cpus_and_frees_them_with_its_end(tmp_path: Path) -> None:
    own = min(os.sched_getaffinity(0))
    (tmp_path / "cpus").mkdir()
    (tmp_path / "cpus" / str(own)).touch()
    for _ in range(2):
        java = _launch(tmp_path, 1)
        assert java.stdout is not None
        assert java.stdout.readline() == f"[{own}] -Xmx1g Main\n"
        assert _pinned_java.claim(tmp_path / "cpus", 1) == []  # it has it as long as it lives
        java.communicate()
    assert not (tmp_path / _pinned_java.UNPINNED).exists()


def test_an_executor_with_more_cores_than_there_are_is_not_pinned_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpus").mkdir()
    monkeypatch.setattr(_pinned_java, "_PATIENCE_S", 0.0)
    monkeypatch.setenv("SPARKCAST_PINNING", f"/opt/jdk/bin/java|{tmp_path / 'cpus'}|2")
    executed = []
    monkeypatch.setattr(os, "execve", lambda *told: executed.append(told))
    monkeypatch.setattr(sys, "argv", ["java", "Main"])
    _pinned_java.main()
    [(java, arguments, environment)] = executed
    assert (java, arguments) == ("/opt/jdk/bin/java", ["/opt/jdk/bin/java", "Main"])
    assert environment["JAVA_HOME"] == "/opt/jdk"
    assert "SPARKCAST_PINNING" not in environment
    assert (tmp_path / _pinned_java.UNPINNED).exists()


def test_a_quota_below_the_cpus_of_the_machine_pins_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "quota" not in embedded._why_not_pinned() or len(os.sched_getaffinity(0)) > 1
    monkeypatch.setattr(embedded, "this_machine", lambda: Machine(0, 2**30))
    assert "quota" in embedded._why_not_pinned()


def test_a_task_has_as_many_threads_as_cores() -> None:
    assert set(thread_conf({}).values()) == {"1"}
    threads = thread_conf({"spark.task.cpus": "4"})
    assert set(threads.values()) == {"4"}
    assert {"spark.executorEnv.OMP_NUM_THREADS", "spark.executorEnv.OPENBLAS_NUM_THREADS"} <= set(threads)
