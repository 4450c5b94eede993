"""What measured streams tell a queue."""

from dataclasses import replace

import pytest

from sparkcast import api
from sparkcast.data.sources import Data
from sparkcast.errors import InfeasibleError, NotEnoughDataError, StudyError, UnknownNameError
from sparkcast.queues.calibration import calibrated
from sparkcast.queues.described import parse_class, parse_described
from sparkcast.queues.launching import Launched, Phases, SharedMachine, launched
from sparkcast.queues.measured import measured_jobs
from sparkcast.study import Configuration, Dataset, JobRun, Observation, Outcome, Sharing, TaskTotals

ONE, TWO = Configuration({"executors": 1}), Configuration({"executors": 2})
SMALL = api.Effort(n_jobs=1000, replications=2)


def stream(*jobs: tuple[float, float, Configuration]) -> Observation:
    """Jobs by arrival, end and settings."""
    runs = tuple(
        JobRun(number, settings, arrived, arrived + 1, arrived + 2, ended, {})
        for number, (arrived, ended, settings) in enumerate(jobs, start=1)
    )
    return Observation({}, {"response_s": 1.0}, jobs=runs)


# Alone: 10 and 12 s of one executor, 6 s of two; then two at once that take 18 s each.
STREAM = stream((0, 10, ONE), (20, 32, ONE), (40, 46, TWO), (60, 78, ONE), (60, 78, ONE))
DATA = Dataset((), (STREAM,))


def test_jobs_that_met_nobody_give_service_times_and_company_the_slowdown() -> None:
    found = measured_jobs(DATA, {"executors": 1})
    assert found.times.values == (10, 12)
    assert found.slowdown is not None
    assert found.slowdown.jobs == (1, 2)
    assert found.slowdown.factors == pytest.approx((1.0, 18 / 11))
    assert found.arrival_rate == pytest.approx(4 / 60)


def test_settings_of_a_mix_are_told_apart() -> None:
    assert measured_jobs(DATA).configurations == 2
    assert measured_jobs(DATA, {"executors": 2}).times.values == (6,)
    with pytest.raises(StudyError, match="'hosts' is not a factor"):
        measured_jobs(DATA, {"hosts": 2})


def test_streams_without_a_lone_job_do_not_tell_its_time() -> None:
    crowded = Dataset((), (stream((0, 30, ONE), (10, 40, ONE), (20, 50, ONE)),))
    with pytest.raises(NotEnoughDataError, match="no such job of these streams was alone"):
        measured_jobs(crowded)


def test_the_rate_of_the_streams_is_the_rate_of_the_queue() -> None:
    answer = api.queue(Data(DATA), api.Load(at={"executors": 1}), effort=SMALL)
    assert answer.arrival_rate == pytest.approx(4 / 60)
    assert answer.is_slowdown_measured
    with pytest.raises(InfeasibleError, match="grows without bound"):
        api.queue(Data(DATA), api.Load(1.0, at={"executors": 1}), effort=SMALL)


# ---------------------------------------------------------------- jobs that launch, wait for cores and run

MACHINE, PHASES = SharedMachine(2, 1.2), {ONE: Phases(2, 4), TWO: Phases(2, 3, width=2)}


def spark_stream(*jobs: tuple[float, Configuration]) -> Observation:
    """Jobs by arrival and settings, as the model has them."""
    fates = launched([Launched(at, PHASES[sort]) for at, sort in jobs], MACHINE)
    runs = tuple(
        JobRun(
            number,
            sort,
            at,
            fate.registered_s,
            fate.started_s,
            fate.ended_s,
            {},
            cores=PHASES[sort].width,
        )
        for number, ((at, sort), fate) in enumerate(zip(jobs, fates, strict=True), start=1)
    )
    return Observation({}, {"response_s": 1.0}, jobs=runs, sharing=Sharing("first come first served", 2))


SPARK = Dataset(
    (),
    (spark_stream((0, ONE), (20, ONE), (40, TWO), (60, ONE), (60, ONE), (61, TWO), (62, ONE), (90, ONE), (110, TWO)),),
)


def test_phases_and_what_the_machine_carries_are_found_in_streams() -> None:
    found = calibrated(SPARK)
    assert found is not None
    assert (len(found.alone), found.n_shared) == (5, 1)
    one, two = found.phases[ONE], found.phases[TWO]
    assert (one.launch_s, one.run_s, one.width) == pytest.approx((2, 4, 1))
    assert (two.launch_s, two.run_s, two.width) == pytest.approx((2, 3, 2))
    assert found.machine.carried == pytest.approx(1.2, rel=1e-3)


def test_a_job_alone_and_several_at_once_tell_the_same() -> None:
    at_once = spark_stream((0, ONE), (0, ONE), (0, ONE))
    tasks = TaskTotals(*(0,) * 13, registered_s=1002.0)
    alone = Observation({"executors": 1, "jobs": 1}, {"response_s": 6.0}, tasks=tasks, started_at=1000.0)
    three = replace(at_once, configuration=Configuration({"executors": 1, "jobs": 3}))
    found = calibrated(Dataset(("jobs",), (alone, three)))
    assert found is not None
    assert found.phases[ONE].alone_s == pytest.approx(6)
    assert found.machine.carried == pytest.approx(1.2, rel=1e-3)
    failed = replace(alone, outcome=Outcome.ERROR, responses={})
    assert calibrated(Dataset(("jobs",), (failed, three))) is None
    assert calibrated(Dataset(("jobs",), (alone,))) is None


def test_jobs_on_another_clock_tell_nothing_and_none_is_wider_than_the_cluster() -> None:
    [stream] = SPARK.observations
    skewed = tuple(replace(job, registered_s=job.arrived_s - 5) for job in stream.jobs)
    assert calibrated(Dataset((), (replace(stream, jobs=skewed),))) is None
    wide = tuple(replace(job, cores=8) for job in stream.jobs)
    found = calibrated(Dataset((), (replace(stream, jobs=wide),)))
    assert found is not None
    assert {phases.width for phases in found.phases.values()} == {2}


def test_a_queue_of_measured_jobs_is_simulated_as_spark_runs_them() -> None:
    answer = api.queue(Data(SPARK), api.Load(0.1, at={"executors": 1}), effort=SMALL)
    assert (answer.discipline, answer.servers) == ("launching", 2)
    assert answer.service_time_s == pytest.approx(6)
    assert answer.stable_rate == pytest.approx(1.2 / 6, rel=0.01)
    assert answer.simulation is not None
    assert answer.simulation.mean_response_s.value > 6
    assert answer.simulation.utilization.value > 0.1 * 4 / 2  # some run slower
    assert "more than 1.2 at once slow each other down" in answer.notes[0]
    fair = api.queue(Data(SPARK), api.Load(0.05, at={"executors": 1}), discipline="fair", effort=SMALL)
    assert fair.discipline == "fair"
    with pytest.raises(InfeasibleError, match="grows without bound"):
        api.queue(Data(SPARK), api.Load(1.0, at={"executors": 1}), effort=SMALL)


def test_more_cores_bring_their_part_of_the_machine() -> None:
    answer = api.queue(
        Data(SPARK), api.Load(0.15, at={"executors": 1}), goal=api.Goal(12, compare=[2, 4]), effort=SMALL
    )
    two, four = answer.capacities
    assert (two.stable_rate, four.stable_rate) == pytest.approx((1.2 / 6, 2.4 / 6), rel=0.01)
    assert two.response_s is not None
    assert four.response_s is not None
    assert four.response_s.value < two.response_s.value
    assert answer.servers_needed in (3, 4)
    assert "assumes capacity scales linearly with cores" in answer.notes[-1]


def test_jobs_of_several_widths_share_the_measured_machine() -> None:
    mix = [parse_class("executors=1,share=0.8"), parse_class("executors=2,share=0.2")]
    answer = api.queue(Data(SPARK), api.Load(0.05, mix=mix), effort=SMALL)
    assert answer.discipline == "launching"
    assert answer.simulation is not None
    assert [one.share for one in answer.simulation.classes] == pytest.approx([0.8, 0.2])


def test_an_admission_plays_measured_jobs_through() -> None:
    running = [parse_described("executors=1,elapsed=3s,within=7s")]
    found = api.admit(running, parse_described("executors=1,within=20s"), Data(SPARK))
    assert found.verdict == "delay"
    [old, new] = found.options[-1].ends
    expected = launched([Launched(-3, PHASES[ONE]), Launched(0, PHASES[ONE])], MACHINE)
    assert old.ends_s == pytest.approx(expected[0].ended_s + 3, rel=0.02)
    assert new.ends_s == pytest.approx(expected[1].ended_s, rel=0.02)
    assert "5 jobs alone and 1 run of several" in found.notes[0]
    with pytest.raises(StudyError, match="3 other jobs hold all 2 cores"):
        api.admit(running, parse_described("executors=1"), Data(SPARK), cluster=api.SharedCluster(others=3))


def test_a_way_that_no_run_shows_is_refused() -> None:
    with pytest.raises(StudyError, match="how jobs launch, wait for cores and run is not known"):
        api.queue(load=api.Load(0.01, service_time_s=30), discipline="launching")


def test_an_unknown_discipline_is_refused_instead_of_answered_with_another() -> None:
    with pytest.raises(UnknownNameError, match=r"no discipline 'lifo'(.|\n)*did you mean 'fifo'"):
        api.queue(load=api.Load(0.01, service_time_s=30), discipline="lifo")
