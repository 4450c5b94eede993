from dataclasses import replace

import pytest

from sparkcast.errors import JavaError, RunError
from sparkcast.recommend.staleness import staleness
from sparkcast.runs.environment import here
from sparkcast.study import Fingerprint

HERE = Fingerprint(
    "Xeon 8375C", 8, 16 * 2**30, "Linux 6.1.0 x86_64", "3.11.7", "3.5.3", "17.0.9", "embedded: 2 worker(s) x 4 core(s)"
)


@pytest.mark.parametrize("cluster", ["spark://head:7077", "yarn", "k8s://https://head:6443", "spark://127.0.0.1:7077"])
def test_this_machine_says_nothing_about_runs_of_another_cluster(cluster: str) -> None:
    assert here([replace(HERE, cluster=cluster)]) is None
    assert here([HERE, replace(HERE, cluster=cluster)]) is None
    assert here([]) is None


@pytest.mark.parametrize("workers", ["1 worker(s) x 8", "2 worker(s) x 4"])
def test_this_machine_is_measured_with_as_many_workers_as_the_runs_had(
    workers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: set(range(8)), raising=False)
    cluster = f"embedded: {workers} core(s)"
    measured = here([replace(HERE, cluster=cluster)])
    assert measured is not None
    assert measured.cluster == cluster
    assert measured.cores > 0
    assert measured.memory_bytes > 0
    assert staleness([measured], here([measured])).verdict == "fresh"


def test_this_machine_is_measured_for_runs_of_a_local_master() -> None:
    measured = here([replace(HERE, cluster="local[2]")])
    assert measured is not None
    assert measured.cluster == "local[2]"


def test_a_machine_without_spark_is_not_where_jobs_run(monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (RunError("Spark is not installed"), JavaError("no Java")):

        def refuse(_options: object, error: RunError = error) -> None:
            raise error

        monkeypatch.setattr("sparkcast.runs.environment.engine_for", refuse)
        assert here([HERE]) is None
