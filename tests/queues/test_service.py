"""From runs to the times of jobs: which runs count, and what is said of them."""

from typing import Any

import pytest

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.queues.calibration import Timed, calibrate, carried_by
from sparkcast.queues.launching import Launched, Phases, SharedMachine, launched
from sparkcast.queues.measured import measured_jobs
from sparkcast.queues.service import measured_times
from sparkcast.queues.times import EmpiricalTimes, Spread
from sparkcast.study import Configuration, Dataset, Observation, Outcome
from sparkcast.study.names import usual_vocabulary


def runs(*rows: tuple[dict[str, Any], dict[str, float]], factors: tuple[str, ...] = ("executors", "jobs")) -> Dataset:
    observations = tuple(Observation(Configuration(settings), values) for settings, values in rows)
    names = dict.fromkeys(name for _, values in rows for name in values)
    words = usual_vocabulary(list(dict.fromkeys([*factors, "jobs"])), list(names))
    return Dataset(factors, observations, "", tuple(names), words)


def row(executors: int, jobs: int, seconds: float, **more: float) -> tuple[dict[str, Any], dict[str, float]]:
    return {"executors": executors, "jobs": jobs}, {"time_s": seconds, **more}


def test_only_runs_with_all_the_settings_count() -> None:
    data = runs(row(1, 1, 10), row(1, 1, 12), row(2, 1, 6), row(2, 1, 8))
    one = measured_times(data, {"executors": 1}, None)
    assert one is not None
    assert one.times == EmpiricalTimes((10.0, 12.0))
    assert measured_times(data, {"executors": 4}, None) is None
    assert measured_times(data, {"executors": 1, "jobs": 2}, None) is None  # no run has both
    with pytest.raises(StudyError, match="'cores' is not a factor"):
        measured_times(data, {"cores": 4}, None)
    everything = measured_times(data, {}, None)
    assert everything is not None
    assert everything.times.mean_s == 9.0


def test_a_spread_that_is_said_replaces_the_measured_one() -> None:
    data = runs(row(1, 1, 10), row(1, 1, 12))
    found = measured_times(data, {}, 0.5)
    assert found is not None
    assert found.times == Spread(11.0, 0.5)
    single = runs(row(1, 1, 10))
    with pytest.raises(NotEnoughDataError, match="one run shows how long a job takes, but not how much that varies"):
        measured_times(single, {}, None)
    known = measured_times(single, {}, 1.0)
    assert known is not None
    assert known.times == Spread(10.0, 1.0)


def test_runs_that_failed_are_none() -> None:
    failed = Dataset(
        ("executors",), (Observation({"executors": 1}, {"time_s": 10.0}, outcome=Outcome.OOM),), "", ("time_s",)
    )
    assert measured_times(failed, {"executors": 1}, None) is None


def test_start_up_is_mentioned_where_all_lone_runs_measured_it() -> None:
    with_response = runs(row(1, 1, 10, response_s=14), row(1, 1, 12, response_s=16))
    assert any("without start-up; the runs also show response_s" in note for note in measured_jobs(with_response).notes)
    only_some = runs(row(1, 1, 10, response_s=14), row(1, 1, 12))
    assert not any("without start-up" in note for note in measured_jobs(only_some).notes)
    assert measured_jobs(runs(row(1, 1, 10), row(1, 1, 12))).notes == ()


def test_the_slowdown_is_the_median_over_settings_of_means_against_those_alone() -> None:
    """At two at once 1.5, 2 and 4 times as long; where no job ran alone, nothing is compared."""
    data = runs(
        *(row(1, 1, 10), row(1, 1, 30), row(1, 2, 20), row(1, 2, 40)),
        *(row(2, 1, 10), row(2, 2, 20)),
        *(row(4, 1, 10), row(4, 2, 40)),
        *(row(8, 2, 1000),),
    )
    found = measured_jobs(data)
    assert found.slowdown is not None
    assert found.slowdown.jobs == (1, 2)
    assert found.slowdown.factors == pytest.approx((1.0, 2.0))
    assert "slowdown as measured (jobs at once × factor): 1 × 1, 2 × 2" in found.notes[-1]
    assert "beyond 2 jobs, throughput stops growing" in found.notes[-1]
    for bad in (0, "many"):
        with pytest.raises(StudyError, match=f"jobs = {bad} is not a number of jobs"):
            measured_jobs(runs(row(1, 1, 10), ({"executors": 1, "jobs": bad}, {"time_s": 3.0})))


# ---------------------------------------------------------------- what a machine carries


def test_the_machine_carries_what_makes_all_runs_together_as_long_as_they_were() -> None:
    """Two at once that took twice as long as alone: it carries one. Three that took 1.5 times as long: two."""
    own = Phases(0.0, 10.0)
    two = ([Launched(0.0, own)] * 2, 20.0)
    three = ([Launched(0.0, own)] * 3, 15.0)
    assert carried_by([two], 9) == pytest.approx(1.0, rel=1e-4)
    assert carried_by([three], 9) == pytest.approx(2.0, rel=1e-4)
    both = carried_by([two, three], 9)
    assert 1 < both < 2
    machine = SharedMachine(9, both)
    played = sum(fate.ended_s for jobs, _ in (two, three) for fate in launched(jobs, machine))
    assert played == pytest.approx(2 * 20 + 3 * 15, rel=1e-4)
    with pytest.raises(NotEnoughDataError, match="no jobs ran at once"):
        carried_by([([], 1.0)], 2)


def test_phases_are_means_of_those_alone_and_the_spread_is_of_all_jobs() -> None:
    alone = [Timed(0.0, 2.0, 10.0), Timed(5.0, 9.0, 17.0)]
    found = calibrate(alone, [[Timed(0.0, 3.0, 11.0), Timed(0.0, 3.0, 33.0)]], 2)
    [phases] = found.phases.values()
    assert (phases.launch_s, phases.run_s) == (3.0, 8.0)
    # Alone 10 and 12 s of 11. Together both are predicted to take 22 s, as 11 and 33 s are on average.
    assert found.machine.carried == pytest.approx(1.0, rel=1e-3)
    assert phases.scv == pytest.approx((2 * (1 / 11) ** 2 + 2 * 0.25) / 4, rel=1e-3)
    assert found.n_shared == 1
    assert found.told() == (
        "jobs launch, wait for 2 cores and run as in 2 jobs alone and 1 run of several: "
        "more than 1 at once slow each other down"
    )
