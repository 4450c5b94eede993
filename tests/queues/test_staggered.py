"""One more job beside others that launch, wait for cores and run; and the numbers of that from runs."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.queues.admission import AdmittedJob
from sparkcast.queues.calibration import Timed, calibrate
from sparkcast.queues.launching import Launched, Phases, SharedMachine, launched
from sparkcast.queues.staggered import decide, forecast, without_others
from sparkcast.study import Configuration

WIDE_OPEN = SharedMachine(2)
ONE_CORE = SharedMachine(1)
SLOWED = SharedMachine(2, 1.0)
SHORT = Phases(3, 4)


def test_a_new_job_waits_for_the_core_that_is_free_first() -> None:
    """Two run since 5 s and 4 s and end in 2 s and 3 s; the new one is up after 3 s, when both cores are free."""
    running = [AdmittedJob("a", SHORT, 5.0), AdmittedJob("b", SHORT, 4.0)]
    assert [end.ends_s for end in forecast(running, WIDE_OPEN, new=AdmittedJob("new", SHORT))] == [7, 7, 7]
    late = [AdmittedJob("a", SHORT, 3.0), AdmittedJob("b", SHORT, 3.0)]
    assert [end.ends_s for end in forecast(late, WIDE_OPEN, new=AdmittedJob("new", SHORT))] == [7, 7, 8]


def test_a_job_in_line_goes_before_the_new_one() -> None:
    """On one core the second waits until 7 s, which is in 1 s, and the new one behind it."""
    running = [AdmittedJob("a", SHORT, 6.0), AdmittedJob("b", SHORT, 5.0)]
    assert [end.ends_s for end in forecast(running, ONE_CORE, new=AdmittedJob("new", SHORT))] == [7, 10, 9]


def test_how_far_a_job_is_tells_how_fast_it_goes() -> None:
    [end] = forecast([AdmittedJob("a", SHORT, 7.0, done=0.5)], WIDE_OPEN)
    assert end.ends_s == pytest.approx(14)
    [unknown] = forecast([AdmittedJob("a", SHORT, 0.0, done=5 / 7)], WIDE_OPEN)
    assert unknown.ends_s == pytest.approx(2)


def test_a_job_later_than_any_is_held_up() -> None:
    """As likely to need more than it is late as less."""
    [end] = forecast([AdmittedJob("a", SHORT, 10.0)], WIDE_OPEN)
    assert end.ends_s == pytest.approx(13, rel=0.01)
    assert end.low_s < 10.5
    assert end.high_s > 30


def test_a_job_that_still_runs_has_not_ended_in_any_play_that_counts() -> None:
    [end] = forecast([AdmittedJob("a", Phases(3, 4, scv=0.04), 7.5)], WIDE_OPEN)
    assert 7.5 < end.low_s < end.ends_s < end.high_s < 12


def test_a_job_is_admitted_shrunk_delayed_or_refused() -> None:
    running = [AdmittedJob("a", SHORT, 3.5, within_s=8.0)]
    assert decide(running, AdmittedJob("new", SHORT), WIDE_OPEN).verdict == "admit"
    assert decide(running, AdmittedJob("new", SHORT, within_s=30.0), SLOWED).verdict == "delay"
    [shown, *_] = decide(running, AdmittedJob("new", SHORT, within_s=30.0), SLOWED).options
    assert shown.start_in_s == pytest.approx(3.5)
    assert shown.ends[-1].ends_s == pytest.approx(10.5)
    assert decide(running, AdmittedJob("new", SHORT, within_s=9.0), SLOWED).verdict == "refuse"
    tiny = AdmittedJob("tiny", Phases(0.1, 0.1))
    assert decide(running, AdmittedJob("new", SHORT), SLOWED, smaller=[tiny]).verdict == "shrink"
    assert decide([], AdmittedJob("new", SHORT, within_s=8.0), SLOWED).verdict == "admit"


@given(
    st.lists(st.floats(0.0, 4.0), max_size=3),
    st.tuples(st.floats(0.1, 5), st.floats(0.1, 5)),
    st.floats(0.5, 4),
    st.integers(1, 3),
)
def test_one_more_job_ends_nobody_earlier_who_got_cores_before_it(
    elapsed: list[float], new: tuple[float, float], carried: float, cores: int
) -> None:
    machine = SharedMachine(cores, carried)
    running = [AdmittedJob(str(i), SHORT, at) for i, at in enumerate(elapsed)]
    alone = forecast(running, machine)
    beside = forecast(running, machine, new=AdmittedJob("new", Phases(*new)))
    fates = launched([*(Launched(-at, SHORT) for at in elapsed), Launched(0.0, Phases(*new))], machine)
    for before, after, fate in zip(alone, beside, fates, strict=False):
        if fate.registered_s <= fates[-1].registered_s:
            assert after.ends_s >= before.ends_s - 1e-6


def test_other_jobs_hold_cores_and_slow_the_rest() -> None:
    machine = without_others(SharedMachine(3, 1.0), 1)
    assert machine.cores == 2
    assert machine.slowdown(1) == 2
    assert without_others(WIDE_OPEN, 0) is WIDE_OPEN
    with pytest.raises(StudyError, match="2 other jobs hold all 2 cores"):
        without_others(WIDE_OPEN, 2)


def test_two_jobs_of_one_name_are_refused() -> None:
    with pytest.raises(StudyError, match="same name"):
        decide([AdmittedJob("new", SHORT)], AdmittedJob("new", SHORT), WIDE_OPEN)


# ---------------------------------------------------------------- from runs


def measured(arrive: list[float], machine: SharedMachine, phases: Phases = SHORT) -> list[Timed]:
    fates = launched([Launched(at, phases) for at in arrive], machine)
    return [Timed(at, fate.registered_s, fate.ended_s) for at, fate in zip(arrive, fates, strict=True)]


@settings(max_examples=20)
@given(st.floats(0.5, 2.5))
def test_what_made_the_runs_is_found_again(carried: float) -> None:
    truth = SharedMachine(2, carried)
    alone = [Timed(0.0, 3.0, 7.0), Timed(0.0, 3.0, 7.0)]
    found = calibrate(alone, [measured([0, 0, 0], truth), measured([0, 1, 5, 6], truth)], 2)
    [phases] = found.phases.values()
    assert (phases.launch_s, phases.run_s) == (3, 4)
    assert phases.scv == pytest.approx(0, abs=1e-6)
    assert found.machine.carried == pytest.approx(carried, rel=1e-3)


def test_jobs_that_never_ran_at_once_tell_nothing_of_the_machine() -> None:
    with pytest.raises(NotEnoughDataError, match="no jobs ran at once"):
        calibrate([Timed(0.0, 3.0, 7.0)], [], 2)
    with pytest.raises(StudyError, match="cannot be 0 s"):
        calibrate([Timed(0.0, 3.0, 7.0)], [[Timed(0.0, 0.0, 0.0)]], 2)


def test_what_is_not_explained_is_the_spread() -> None:
    alone = [Timed(0.0, 3.0, 6.3), Timed(0.0, 3.0, 7.7)]
    found = calibrate(alone, [measured([0, 0], WIDE_OPEN)], 2)
    [phases] = found.phases.values()
    assert phases.alone_s == pytest.approx(7)
    assert phases.scv == pytest.approx(np.mean([0.01, 0.01, 0, 0]))


def test_settings_choose_a_sort_of_jobs() -> None:
    one, two = Configuration({"executors": 1, "samples": 9}), Configuration({"executors": 2, "samples": 9})
    alone = [Timed(0.0, 3.0, 7.0, one), Timed(0.0, 3.0, 9.0, two, width=2)]
    found = calibrate(alone, [[Timed(0.0, 3.0, 7.0, one), Timed(0.0, 3.0, 16.0, two, width=2)]], 2)
    wide = found.phases_of({"executors": 2})
    assert wide is not None
    assert (wide.alone_s, wide.width) == (9, 2)
    assert found.phases_of({"samples": 9}) is None
    assert found.phases_of({"hosts": 2}) is None


# ---------------------------------------------------------------- by hand, and by laws


def test_a_job_of_which_it_is_known_how_far_it_is_goes_on_from_there() -> None:
    """Of 7 s: a quarter done leaves 1.25 s to launch and 4 s to run; most of it done leaves no launch."""
    [early] = forecast([AdmittedJob("a", SHORT, 0.0, done=0.25)], WIDE_OPEN)
    assert early.ends_s == pytest.approx(5.25)
    beside = forecast([AdmittedJob("a", SHORT, 0.0, done=0.25), AdmittedJob("b", SHORT, 0.0, done=0.25)], ONE_CORE)
    assert [end.ends_s for end in beside] == pytest.approx([5.25, 9.25])  # the second waits for the core


def test_how_far_one_job_is_does_not_change_what_is_known_of_the_others() -> None:
    """The first has done half in 14 s, so that all of it takes 28 s; the second began 2 s ago."""
    first, second = forecast([AdmittedJob("a", SHORT, 14.0, done=0.5), AdmittedJob("b", SHORT, 2.0)], SharedMachine(4))
    assert (first.ends_s, second.ends_s) == pytest.approx((28, 7))


def test_uncertain_times_have_the_quantiles_of_a_log_normal_distribution() -> None:
    [end] = forecast([AdmittedJob("a", Phases(3, 4, scv=0.04), 0.0, within_s=8.0)], WIDE_OPEN)
    sigma = math.sqrt(math.log1p(0.04))
    reach = [7 * math.exp(NormalDist().inv_cdf(share) * sigma) for share in (0.1, 0.5, 0.9)]
    assert (end.low_s, end.ends_s, end.high_s) == pytest.approx(reach, rel=0.01)
    assert end.probability == pytest.approx(NormalDist().cdf(math.log(8 / 7) / sigma), abs=0.01)
    running, new = forecast(
        [AdmittedJob("a", Phases(3, 4, scv=0.04), 0.0)], WIDE_OPEN, new=AdmittedJob("new", Phases(3, 4, scv=0.04))
    )
    assert (running.ends_s, new.ends_s) == pytest.approx((7, 7), rel=0.01)


def test_a_delayed_job_starts_when_so_many_have_ended() -> None:
    running = [AdmittedJob("a", SHORT, 1.0), AdmittedJob("b", SHORT, 4.0, within_s=8.0)]
    found = decide(running, AdmittedJob("new", SHORT, within_s=1.0), SharedMachine(9, 2.0))
    assert found.verdict == "refuse"
    starts = {option.start_after: option.start_in_s for option in found.options}
    assert starts == pytest.approx({0: 0.0, 1: 3.0, 2: 6.0})
    last = next(option for option in found.options if option.start_after == 2)
    assert [end.ends_s for end in last.ends] == pytest.approx([7, 7, 13])
    assert last.breaks == ("new",)


def test_each_of_several_forms_is_looked_at_and_their_names_must_differ() -> None:
    with pytest.raises(StudyError, match="same name"):
        decide([], AdmittedJob("new", SHORT), WIDE_OPEN, smaller=[AdmittedJob("new", SHORT)])
    found = decide(
        [],
        AdmittedJob("new", SHORT, within_s=5.0),
        WIDE_OPEN,
        smaller=[AdmittedJob("tiny", Phases(1, 1), within_s=5.0)],
    )
    assert (found.verdict, found.confidence) == ("shrink", 0.95)
    refused = decide([AdmittedJob("a", SHORT)], AdmittedJob("new", SHORT, within_s=5.0), WIDE_OPEN, may_delay=False)
    assert [option.what for option in refused.options] == ["admit"]


@settings(max_examples=10)
@given(st.floats(0.2, 5), st.floats(0.2, 5), st.floats(0, 4), st.floats(0.3, 3))
def test_one_running_job_and_a_new_one_are_two_jobs_that_launch(
    launch_s: float, run_s: float, elapsed_s: float, carried: float
) -> None:
    """Of certain times the forecast is the play itself."""
    own, machine = Phases(launch_s, run_s), SharedMachine(1, carried)
    elapsed = min(elapsed_s, 0.9 * own.alone_s * max(1.0, 1 / carried))
    fates = launched([Launched(-elapsed, own), Launched(0.0, SHORT)], machine)
    old, new = forecast([AdmittedJob("a", own, elapsed)], machine, new=AdmittedJob("new", SHORT))
    assert (old.ends_s, new.ends_s) == pytest.approx((elapsed + fates[0].ended_s, fates[1].ended_s))


def test_a_job_that_is_held_up_does_not_hold_up_the_others() -> None:
    """It is 3 s late; the other one began 2 s ago and has a core of its own."""
    for late_first in (True, False):
        jobs = [AdmittedJob("late", SHORT, 10.0), AdmittedJob("other", SHORT, 2.0)]
        ends = forecast(jobs if late_first else jobs[::-1], SharedMachine(3))
        assert len(ends) == 2
        by_name = {end.name: end for end in ends}
        assert by_name["late"].ends_s == pytest.approx(13, rel=0.01)
        assert by_name["other"].ends_s == pytest.approx(7)
