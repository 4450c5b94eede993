"""Each run of a job against those before it; changes and what changed with them."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from history_support import a_history, a_run
from sparkcast.history.changes import changes_of, score_run, unusual_places
from sparkcast.history.learn import learn_prior
from sparkcast.history.model import TOTAL, WORK, JobModel
from sparkcast.history.points import points_of
from sparkcast.history.prior import FleetPrior
from sparkcast.study import Observation


def _model(runs: Sequence[Observation], prior: FleetPrior | None = None) -> JobModel:
    return JobModel(points_of(runs), prior or FleetPrior(), TOTAL)


@pytest.fixture(scope="module")
def jobs() -> list[list[Observation]]:
    noises = (0.03, 0.06, 0.1, 0.15)
    return [a_history(50, job=f"job {n}", sigma=noises[n % 4], seed=n, work_s=100.0 * (n + 1)) for n in range(12)]


def test_intervals_hold_what_they_promise_one_run_ahead(jobs: list[list[Observation]]) -> None:
    prior = learn_prior(points_of(runs) for runs in jobs[::2])
    for quantity in (TOTAL, WORK):
        scored = [one for runs in jobs[1::2] for one in JobModel(points_of(runs), prior, quantity).scored[8:]]
        share = sum(one.is_calibrated for one in scored) / len(scored)
        assert 0.85 < share < 0.95


def test_the_prior_of_a_store_is_what_its_jobs_have_in_common(jobs: list[list[Observation]]) -> None:
    prior = learn_prior(points_of(runs) for runs in jobs)
    assert prior.n_jobs == 12
    assert prior.input_shares[0] + prior.input_shares[1] + prior.input_shares[2] > 0.5  # nearly all of the time
    assert 0.05 < prior.noise < 0.1
    assert learn_prior([]) == FleetPrior()


def test_jobs_that_do_not_change_raise_no_alarm_even_where_noise_has_heavy_tails() -> None:
    alarms = n = 0
    for seed in range(12):
        draw = random.Random(seed)
        noises = [math.exp(0.06 * draw.gauss(0, 1) / math.sqrt(draw.gammavariate(2.5, 1 / 2.5))) for _ in range(80)]
        model = _model([a_run(number, noise=noise) for number, noise in enumerate(noises)])
        alarms += len(changes_of("job", model)) + len(unusual_places(model))
        n += len(noises)
    assert alarms <= n / 300


def test_input_that_grows_and_executors_that_double_are_no_change() -> None:
    draw = random.Random(3)
    runs = [
        a_run(n, gib=100 * 1.01**n, executors=4 if n < 30 else 8, noise=math.exp(draw.gauss(0, 0.05)))
        for n in range(60)
    ]
    assert changes_of("job", _model(runs)) == ()


@pytest.mark.parametrize("sigma", [0.03, 0.07])
def test_a_job_that_takes_a_quarter_longer_is_noticed_within_five_runs(sigma: float) -> None:
    for seed in range(5):
        (change,) = changes_of("nightly", _model(_slower(sigma, seed)))
        days = (change.found_s - change.since_s) / 86400
        assert days <= 5
        assert abs((change.since_s - _slower(sigma, seed)[30].started_at) / 86400) <= 1  # type: ignore[operator]
        assert change.low - 0.05 < 0.25 < change.high + 0.05


def _slower(sigma: float, seed: int, **after: object) -> list[Observation]:
    """From run 30 on, the join takes half as long again: a quarter of the whole."""
    draw = random.Random(seed)
    before = [a_run(n, noise=math.exp(draw.gauss(0, sigma))) for n in range(30)]
    slow = {"shares": (0.2, 0.765, 0.3), **after}
    return [*before, *(a_run(n, noise=math.exp(draw.gauss(0, sigma)), **slow) for n in range(30, 45))]  # type: ignore[arg-type]


def test_the_stage_and_the_setting_that_changed_are_named() -> None:
    runs = _slower(0.05, 1, properties={"spark.sql.shuffle.partitions": "800"})
    (change,) = changes_of("nightly", _model(runs))
    causes = {cause.kind: cause.name for cause in change.causes}
    assert causes["stage"] == "SortMergeJoin id"
    assert causes["setting"] == "spark.sql.shuffle.partitions"
    assert "spark.sql.shuffle.partitions 200 -> 800" in change.sentence
    assert "longer at the same input" in change.sentence


def test_a_run_that_waited_is_told_with_what_it_waited_for() -> None:
    runs = [*a_history(30), a_run(30, waiting_s=700.0)]
    model = _model(runs)
    assert unusual_places(model) == [30]
    score = score_run("nightly", model, 30)
    assert score.is_unusual
    assert next(iter(score.extra)) == "waiting for executors"
    assert "input as usual" in score.sentence
    assert "99 of 100 such runs take less than" in score.sentence
    assert changes_of("nightly", model) == ()


def test_one_run_out_of_line_is_no_change_and_forgets_itself() -> None:
    runs = [*a_history(30), a_run(30, noise=3.0), *a_history(45)[31:]]
    model = _model(runs)
    assert changes_of("nightly", model) == ()
    assert math.exp(model.forecast(input_size=100 * 2**30).mean) == pytest.approx(620, rel=0.08)


def test_the_first_runs_of_a_job_raise_no_alarm() -> None:
    for runs in ([a_run(0, noise=1.0), a_run(1, noise=4.0)], [a_run(n, noise=2.0**n) for n in range(5)]):
        model = _model(runs)
        assert unusual_places(model) == []
        assert changes_of("nightly", model) == ()


def test_a_job_without_input_in_its_logs_is_forecast_all_the_same() -> None:
    draw = random.Random(1)
    runs = [a_run(n, gib=100, noise=math.exp(draw.gauss(0, 0.05))) for n in range(20)]
    points = points_of(runs)
    bare = [replace(point, input_size=0.0) for point in points]
    model = JobModel(bare, FleetPrior())
    assert not model.has_input
    assert math.exp(model.forecast().mean) == pytest.approx(620, rel=0.1)


def test_the_size_of_a_change_becomes_surer_with_every_run_since() -> None:
    widths = []
    for n in (44, 80):
        runs = [a_run(k, work_s=600 * (1.3 if k >= 40 else 1), noise=math.exp(_noise(k))) for k in range(n)]
        (change,) = changes_of("nightly", _model(runs))
        true = 0.3 * 600 / 620  # of the stages; the rest takes as long as before
        assert change.low < true < change.high
        widths.append(change.high - change.low)
    assert widths[1] < 0.6 * widths[0]
    assert change.change == pytest.approx(true, abs=0.03)


def _noise(number: int) -> float:
    return random.Random(f"size {number}").gauss(0, 0.06)
