"""Runs of several clusters teach one job: by their measured speeds, then by its own runs."""

import math
import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from history_support import MONDAY, a_run
from sparkcast.history.changes import changes_of
from sparkcast.history.model import JobModel
from sparkcast.history.points import RunPoint, points_of
from sparkcast.history.prior import FleetPrior
from sparkcast.study import ClusterSpeed, Fingerprint, NodeSpeed

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
