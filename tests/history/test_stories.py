"""What pages tell of a job: whether its deadline is at risk, when a run that goes on will end, where time goes."""

import random
from math import exp

import pytest

from history_support import DAY, MONDAY, a_run, in_progress
from sparkcast.history.jobs import JobHistory
from sparkcast.history.stories import JobStory, stories_of
from sparkcast.study import Observation, Price


def runs(n: int = 20) -> list[Observation]:
    draw = random.Random(5)
    return [a_run(k, noise=exp(draw.gauss(0, 0.05))) for k in range(n)]


def story(own: list[Observation], *, price: Price | None = None, deadline_s: float | None = None) -> JobStory:
    until = max(run.started_at or 0.0 for run in own)
    deadlines = {} if deadline_s is None else {"nightly": deadline_s}
    history = JobHistory("nightly", "nightly", tuple(own))
    return next(stories_of([history], since_s=MONDAY, until_s=until, price=price, deadlines=deadlines))


def test_a_deadline_far_above_the_runs_is_safe_and_one_in_their_middle_is_at_risk() -> None:
    safe, risky = story(runs(), deadline_s=1200.0), story(runs(), deadline_s=620.0)
    assert safe.in_time is not None
    assert safe.in_time > 0.99
    assert not safe.is_at_risk
    assert risky.in_time is not None
    assert 0.1 < risky.in_time < 0.9
    assert risky.is_at_risk


def test_without_a_deadline_nothing_is_at_risk() -> None:
    assert story(runs()).in_time is None
    assert not story(runs()).is_at_risk


def test_no_saving_is_offered_to_a_job_whose_deadline_is_at_risk() -> None:
    roomy = [a_run(k, memory_gib=48, peak_gib=6.0) for k in range(20)]
    assert story(roomy, deadline_s=1200.0).savings
    assert story(roomy, deadline_s=600.0).savings == ()


def test_memory_saves_nothing_where_only_cores_have_a_price() -> None:
    roomy = [a_run(k, memory_gib=48, peak_gib=6.0) for k in range(20)]
    assert story(roomy, price=Price(core_hour=0.05, gib_hour=0.006)).savings
    assert story(roomy, price=Price(core_hour=0.05)).savings == ()


def test_the_end_of_a_run_that_goes_on_is_told_in_moments() -> None:
    going = in_progress(a_run(20), 1)
    told = story([*runs(), going]).ends
    assert told is not None
    low, middle, high = told
    began = MONDAY + 20 * DAY
    assert began + 130 < low < middle < high < began + 1500
    assert middle - began == pytest.approx(620, rel=0.15)


def test_a_run_without_an_end_before_others_was_killed_and_is_not_going_on() -> None:
    killed = in_progress(a_run(10), 1)
    own = runs()
    assert story([*own[:10], killed, *own[11:]]).ends is None


def test_where_time_goes_is_told_of_a_single_run_too() -> None:
    one = story(runs(1))
    assert one.spent["CPU"] == pytest.approx(600, rel=0.2)
    assert one.spent["starting the driver"] == 5.0
    assert one.parts is None
