import os
from collections.abc import Mapping
from pathlib import Path

import psutil
import pytest

from sparkcast.engines import ClusterFacts, embedded
from sparkcast.engines.machine import Machine, this_machine
from sparkcast.observe.fingerprint import fingerprint

GIB = 2**30
CORES = 8
MEMORY = 64 * GIB
DOCKER = "/docker/0123"


@pytest.fixture(autouse=True)
def _big_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(CORES)))
    monkeypatch.setattr(psutil, "virtual_memory", lambda: type("Memory", (), {"total": MEMORY}))


def _root(folder: Path, groups: str, files: Mapping[str, str]) -> Path:
    for name, text in {"proc/self/cgroup": groups, **{f"sys/fs/cgroup/{k}": v for k, v in files.items()}}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{text}\n")
    return folder


@pytest.mark.parametrize(
    ("groups", "files", "cores", "memory"),
    [
        pytest.param("", {}, CORES, MEMORY, id="no control groups"),
        pytest.param("0::/", {"cpu.max": "200000 100000", "memory.max": str(4 * GIB)}, 2, 4 * GIB, id="container"),
        pytest.param("0::/", {"cpu.max": "max 100000", "memory.max": "max"}, CORES, MEMORY, id="no limits"),
        pytest.param("0::/", {"cpu.max": "250000 100000"}, 2, MEMORY, id="a share of a core is none"),
        pytest.param("0::/", {"cpu.max": "50000 100000"}, 1, MEMORY, id="less than a core is one"),
        pytest.param("0::/", {"cpu.max": "6400000 100000", "memory.max": str(2**50)}, CORES, MEMORY, id="wide limits"),
        pytest.param(
            "0::/a.slice/b.service",
            {"a.slice/memory.max": str(GIB), "a.slice/b.service/memory.max": "max", "a.slice/b.service/cpu.max": "3 1"},
            3,
            GIB,
            id="limits of the groups above hold as well",
        ),
        pytest.param(
            f"5:cpu,cpuacct:{DOCKER}\n4:memory:{DOCKER}\n0::/",
            {
                f"cpu{DOCKER}/cpu.cfs_quota_us": "400000",
                f"cpu{DOCKER}/cpu.cfs_period_us": "100000",
                f"memory{DOCKER}/memory.limit_in_bytes": str(2 * GIB),
                "memory/memory.limit_in_bytes": "9223372036854771712",
            },
            4,
            2 * GIB,
            id="version 1",
        ),
        pytest.param(
            f"5:cpuacct,cpu:{DOCKER}\n4:memory:{DOCKER}",
            {
                "cpu/cpu.cfs_quota_us": "-1",
                "cpu/cpu.cfs_period_us": "100000",
                "memory/memory.limit_in_bytes": str(2 * GIB),
            },
            CORES,
            2 * GIB,
            id="version 1 in a container that shows its own group only",
        ),
        pytest.param("0::/../other", {"cpu.max": "100000 100000"}, 1, MEMORY, id="a group beside ours"),
    ],
)
def test_no_more_is_offered_than_the_control_groups_allow(
    tmp_path: Path, groups: str, files: Mapping[str, str], cores: int, memory: int
) -> None:
    assert this_machine(_root(tmp_path, groups, files)) == Machine(cores, memory)


def test_no_more_cores_are_offered_than_the_affinity_allows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {1, 3, 5})
    assert this_machine(_root(tmp_path, "0::/", {"cpu.max": "800000 100000"})).cores == 3


def test_the_embedded_cluster_and_the_fingerprint_know_of_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparkcast.engines.embedded.this_machine", lambda: Machine(4, 10 * GIB))
    monkeypatch.setattr("sparkcast.observe.fingerprint.this_machine", lambda: Machine(4, 10 * GIB))
    shape = embedded._shape([])
    assert [worker.cores for worker in shape.workers] == [2, 2]
    assert sum(worker.memory for worker in shape.workers) <= 7 * GIB
    found = fingerprint(ClusterFacts("3.5.9", "17", "embedded"), "")
    assert (found.cores, found.memory_bytes) == (4, 10 * GIB)
