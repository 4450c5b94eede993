"""Runs of several clusters teach one job: by their measured speeds, then by its own runs."""

import math
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from history_support import MONDAY, a_run, write_store
from sparkcast import api
from sparkcast.errors import StudyError
from sparkcast.history.changes import changes_of
from sparkcast.history.gate import GateAnswer
from sparkcast.history.jobs import stored_runs
from sparkcast.history.model import JobModel
from sparkcast.history.points import RunPoint, points_of
from sparkcast.history.prior import FleetPrior
from sparkcast.observe.node_speed_job import by_node
from sparkcast.store import open_store
from sparkcast.store.speeds import keep_speed
from sparkcast.study import ClusterSpeed, Fingerprint, NodeSpeed, SparkOptions

_SLOWER = 1.4


def _speed(core: float) -> ClusterSpeed:
    return ClusterSpeed(MONDAY, (NodeSpeed("node1", 4, core, 2e8, 1e9), NodeSpeed("node2", 4, core, 2e8, 1e9)))


def _runs(cluster_of: Callable[[int], str], n: int = 60, *, measured: bool = False) -> tuple[RunPoint, ...]:
    """A job that takes so much longer on every cluster but the first."""
    draw = random.Random(1)
    runs = []
    for number in range(n):
        cluster = cluster_of(number)
        factor = _SLOWER if cluster != "a" else 1.0
        speed = _speed(100.0 / factor) if measured else None
        run = a_run(number, work_s=600 * factor, noise=math.exp(draw.gauss(0, 0.05)))
        runs.append(replace(run, fingerprint=Fingerprint(spark="3.5", cluster=cluster, speed=speed)))
    return points_of(runs)


def _errors(model: JobModel, first: int = 10) -> list[float]:
    return [abs(one.error) for one in model.scored[first:]]


def test_a_job_that_runs_on_two_clusters_in_turn_is_forecast_on_each() -> None:
    points = _runs(lambda number: "ab"[number % 2])
    model = JobModel(points, FleetPrior())
    assert np.median(_errors(model)) < 0.06
    assert model.places.of("b").mean == pytest.approx(math.log(_SLOWER), abs=0.06)
    assert changes_of("nightly", model) == ()


def test_a_move_to_a_slower_cluster_is_told_as_one() -> None:
    model = JobModel(_runs(lambda number: "a" if number < 40 else "b"), FleetPrior())
    (change,) = changes_of("nightly", model)
    assert change.low < _SLOWER - 1 < change.high
    assert [cause.kind for cause in change.causes] == ["cluster"]
    assert "since then on b, on a before" in change.sentence
    assert change.n_after == 20


def test_measured_speeds_say_what_another_cluster_does_before_the_first_run_there() -> None:
    first = {}
    for measured in (False, True):
        model = JobModel(_runs(lambda number: "a" if number < 40 else "b", measured=measured), FleetPrior())
        first[measured] = model.scored[40]
    assert abs(first[True].error) < 0.1 < abs(first[False].error)
    assert first[True].expected.sd < first[False].expected.sd
    assert all(one.is_calibrated for one in first.values())


def test_a_move_that_speeds_explain_is_no_change() -> None:
    model = JobModel(_runs(lambda number: "a" if number < 40 else "b", measured=True), FleetPrior())
    assert changes_of("nightly", model) == ()


def test_a_cluster_that_is_made_for_each_run_is_always_the_same() -> None:
    draw = random.Random(2)
    runs = [
        replace(a_run(n, noise=math.exp(draw.gauss(0, 0.05))), fingerprint=Fingerprint(spark="3.5", cluster=f"j-{n}"))
        for n in range(30)
    ]
    model = JobModel(points_of(runs), FleetPrior())
    assert not model.places.knows("j-3")
    assert model.forecast().sd < 0.12


def test_a_forecast_is_of_the_cluster_that_is_asked_about() -> None:
    model = JobModel(_runs(lambda number: "ab"[number % 2], measured=True), FleetPrior())
    on_a, on_b = (model.forecast(cluster=name).mean for name in "ab")
    assert on_b - on_a == pytest.approx(math.log(_SLOWER), abs=0.05)
    faster = model.forecast(cluster="c", speed=_speed(200.0))
    assert faster.mean < on_a - 0.4
    assert faster.sd > model.forecast(cluster="a").sd


# ---------------------------------------------------------------- asked, watched and measured


def _store(tmp_path: Path, *, measured: bool) -> Path:
    """A job that ran on `a` only, and the speeds of `a` and `b`."""
    draw = random.Random(3)
    runs = [
        replace(a_run(n, noise=math.exp(draw.gauss(0, 0.04))), fingerprint=Fingerprint(spark="3.5", cluster="a"))
        for n in range(30)
    ]
    place = write_store(tmp_path / "fleet.results", runs)
    store = open_store(place)
    for name, core in (("a", 100.0), ("b", 50.0)) if measured else ():
        keep_speed(store, name, _speed(core))
    store.close()
    return place


def _ask(place: Path, cluster: str | None) -> GateAnswer:
    master = f"--master {cluster}" if cluster else ""
    line = f"spark-submit {master} --name nightly --num-executors 4 --executor-cores 4 x.py"
    return api.check(line, place, within_s=900, input_size=100 * 2**30, at_s=MONDAY + 31 * 86400)


def test_the_gate_answers_for_a_cluster_where_the_job_never_ran_from_its_speed(tmp_path: Path) -> None:
    place = _store(tmp_path, measured=True)
    here, there = _ask(place, None), _ask(place, "b")
    assert here.time is not None
    assert there.time is not None
    assert there.time.median == pytest.approx(2 * here.time.median, rel=0.15)
    assert here.verdict.value == "admit"
    assert there.verdict.value != "admit"
    assert any("measured speeds" in told for told in there.basis)


def test_a_master_that_neither_runs_nor_speeds_know_is_as_the_last_runs(tmp_path: Path) -> None:
    place = _store(tmp_path, measured=False)
    here, there = _ask(place, None), _ask(place, "b")
    assert here.time is not None
    assert there.time is not None
    assert there.time.median == here.time.median


def test_the_last_speed_of_a_cluster_counts(tmp_path: Path) -> None:
    place = _store(tmp_path, measured=True)
    store = open_store(place)
    keep_speed(store, "a", replace(_speed(70.0), measured_s=MONDAY + 1))
    (first, *_) = stored_runs(store)
    store.close()
    assert first.fingerprint is not None
    assert first.fingerprint.speed is not None
    assert first.fingerprint.speed.core == 70.0
    assert first.fingerprint == replace(first.fingerprint, speed=None)  # replicates may have different ones


def test_a_local_cluster_without_a_name_is_not_measured_for_a_store(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="do not name it"):
        api.measure_speed(tmp_path / "fleet.results", spark=SparkOptions("local[2]"))
    with pytest.raises(StudyError, match="too little"):
        api.measure_speed(seconds=0.1)


def test_tasks_of_one_node_are_one_node() -> None:
    tasks = [
        {"host": host, "core": core, "disk": 10.0, "network": network}
        for host, core, network in (("n2", 30.0, 5.0), ("n1", 20.0, 0.0), ("n2", 40.0, 5.0))
    ]
    first, second = by_node(tasks)
    assert first == {"host": "n1", "cores": 1, "core": 20.0, "disk": 10.0, "network": 0.0}
    assert second == {"host": "n2", "cores": 2, "core": 35.0, "disk": 20.0, "network": 10.0}


@pytest.mark.slow
def test_the_nodes_of_a_real_cluster_are_measured(tmp_path: Path) -> None:
    found = api.measure_speed(tmp_path / "fleet.results", cluster="laptop", seconds=1)
    (node,) = found.speed.nodes
    assert node.core > 0
    assert node.disk > 0
    assert node.network == 0  # there is no other
