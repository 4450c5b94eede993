"""May one more job start? Worked out by hand where times are certain, by laws where they are not."""

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast.errors import StudyError
from sparkcast.queues.admission import AdmittedJob, Slowed, decide, drawn_shares, forecast, left_when_held_up
from sparkcast.queues.described import Described, parse_described
from sparkcast.queues.slowdown import MeasuredSlowdown, Shared
from sparkcast.study import Configuration

ONE = Shared(1)


def job(
    name: str, alone_s: float, elapsed_s: float = 0.0, within_s: float | None = None, **more: float
) -> AdmittedJob[Slowed]:
    options = dict(more)
    scv = options.pop("scv", 0.0)
    servers = options.pop("servers", 1)
    return AdmittedJob(name, Slowed(alone_s, Shared(servers), scv), elapsed_s, within_s, **options)


def test_jobs_speed_up_when_others_end() -> None:
    """a: 40 of 100 s alone left, b: 80: they share until a ends after 80 more seconds, then b needs 40 alone.

    Elapsed times count among two: 120 s elapsed of 200.
    """
    ends = forecast([job("a", 100, 120), job("b", 100, 40)])
    assert [end.ends_s for end in ends] == pytest.approx([120 + 80, 40 + 80 + 40])


def test_a_new_job_slows_all_while_it_runs() -> None:
    """Alone, 60 s left; with a new job of 20 s both go at half speed for 40 s, after which 40 s are left."""
    found = decide([job("old", 100, 40)], job("new", 20))
    assert found.without[0].ends_s == pytest.approx(100)
    assert found.chosen is not None
    assert [end.ends_s for end in found.chosen.ends] == pytest.approx([40 + 40 + 40, 40])
    assert found.verdict == "admit"


def test_a_job_that_would_break_a_deadline_is_delayed_until_it_would_not() -> None:
    found = decide([job("old", 100, 40, within_s=110)], job("new", 20, within_s=100))
    assert found.verdict == "delay"
    assert found.chosen is not None
    assert found.chosen.start_in_s == pytest.approx(60)
    assert found.chosen.ends[1].ends_s == pytest.approx(80)
    assert [(option.what, option.breaks) for option in found.options if option.breaks] == [("admit", ("old",))]


def test_a_delayed_job_waits_for_the_end_itself_and_not_for_its_usual_moment() -> None:
    """However late the running job is, the new one does not disturb it."""
    running = [job("old", 100, 40, within_s=140, scv=0.01)]
    found = decide(running, job("new", 50, within_s=300, scv=0.01))
    assert found.verdict == "delay"
    assert found.chosen is not None
    assert found.chosen.ends[0] == found.without[0]
    assert found.chosen.start_after == 1
    assert found.chosen.start_in_s == pytest.approx(60, rel=0.03)


def test_a_smaller_form_is_taken_before_a_delay() -> None:
    running = [job("old", 100, 40, within_s=110)]
    found = decide(running, job("new", 20, within_s=100), smaller=[job("tiny", 8, within_s=100)])
    assert found.verdict == "shrink"
    assert found.chosen is not None
    assert found.chosen.new == "tiny"
    assert found.chosen.ends[0].ends_s == pytest.approx(108)


def test_a_job_that_cannot_be_in_time_at_all_is_refused() -> None:
    found = decide([job("old", 100, 40, within_s=110)], job("new", 20, within_s=30))
    assert found.verdict == "refuse"
    assert found.chosen is None
    assert all(option.breaks for option in found.options)
    assert decide([job("old", 100, 40, within_s=110)], job("new", 20, within_s=90), may_delay=False).verdict == "refuse"


def test_a_deadline_that_is_lost_anyway_is_not_the_new_job_s_fault() -> None:
    assert decide([job("late", 100, 40, within_s=50)], job("new", 20)).verdict == "admit"


def test_a_chance_that_falls_counts_also_when_it_was_below_the_confidence() -> None:
    """Nine in ten before, four in ten after: nobody would call that admitted without harm."""
    running = [job("old", 100, 0, within_s=130, scv=0.04)]
    found = decide(running, job("new", 30), may_delay=False)
    before, after = found.without[0].probability, found.options[0].ends[0].probability
    assert before is not None
    assert after is not None
    assert 0.85 < before < 0.95
    assert after < before - 0.1
    assert found.verdict == "refuse"


def test_slots_make_the_new_job_wait_in_line() -> None:
    found = decide([job("old", 100, 40, servers=2)], job("new", 20, servers=2), slots=1)
    assert found.chosen is not None
    assert [end.ends_s for end in found.chosen.ends] == pytest.approx([100, 80])


def test_other_jobs_run_all_along() -> None:
    [end] = forecast([job("one", 100)], background=1)
    assert end.ends_s == pytest.approx(200)


def test_how_far_a_job_is_tells_how_fast_it_goes() -> None:
    [end] = forecast([job("slow", 100, 90, done=0.5)])
    assert end.ends_s == pytest.approx(180)
    [fresh] = forecast([job("known", 100, done=0.75)])
    assert fresh.ends_s == pytest.approx(25)


def test_a_measured_slowdown_is_followed() -> None:
    times = Slowed(60.0, MeasuredSlowdown((1, 2), (1.0, 1.5)))
    ends = forecast([AdmittedJob("a", times, 0.0), AdmittedJob("b", replace(times, alone_s=30.0), 0.0)])
    assert [end.ends_s for end in ends] == pytest.approx([45 + 30, 45])


def test_uncertain_times_make_uncertain_ends() -> None:
    [end] = forecast([job("one", 100, 0, within_s=120, scv=0.04)])
    assert end.low_s < end.ends_s < end.high_s
    assert end.ends_s == pytest.approx(100, rel=0.01)
    expected = 0.5 * (1 + math.erf(math.log(1.2) / math.sqrt(2 * math.log(1.04))))
    assert end.probability == pytest.approx(expected, abs=0.01)


def test_a_job_that_still_runs_has_not_ended() -> None:
    """At 100 s half of such jobs have ended; of the others the middle one ends at the quantile 0.75."""
    sigma = math.sqrt(math.log1p(0.04))
    [end] = forecast([job("one", 100, 100, scv=0.04)])
    assert end.ends_s == pytest.approx(100 * math.exp(sigma * NormalDist().inv_cdf(0.75)), rel=0.01)


def test_a_job_held_up_is_as_likely_to_need_more_than_it_is_late_as_less() -> None:
    [end] = forecast([job("stuck", 100, 250, scv=0.01)])
    assert end.ends_s == pytest.approx(250 + 150, rel=0.02)
    assert left_when_held_up(150.0, np.array([0.5, 0.75])).tolist() == [150.0, 450.0]


@given(
    st.lists(st.tuples(st.floats(10, 200), st.floats(0, 0.9)), min_size=1, max_size=4),
    st.floats(10, 200),
    st.integers(1, 3),
)
def test_one_more_job_ends_nobody_earlier(present: list[tuple[float, float]], new_s: float, servers: int) -> None:
    running = [job(str(i), alone, alone * done, servers=servers) for i, (alone, done) in enumerate(present)]
    found = decide(running, job("new", new_s, servers=servers))
    assert found.chosen is not None
    for before, after in zip(found.without, found.chosen.ends, strict=False):
        assert after.ends_s >= before.ends_s - 1e-6
    total = sum(max(0.0, end.ends_s - one.elapsed_s) for end, one in zip(found.without, running, strict=True))
    assert math.isfinite(total)


@given(st.lists(st.floats(1, 100), min_size=1, max_size=5))
def test_work_is_neither_lost_nor_made(alone: list[float]) -> None:
    """One server, all at once: the last ends when all the work is done, whatever the order."""
    ends = forecast([job(str(i), seconds) for i, seconds in enumerate(alone)])
    assert max(end.ends_s for end in ends) == pytest.approx(sum(alone))
    assert [end.ends_s for end in ends] == pytest.approx([sum(min(a, s) for a in alone) for s in alone])


def test_nothing_runs_and_nothing_is_asked() -> None:
    assert forecast([]) == ()
    found = decide([], job("new", 10, within_s=20))
    assert found.verdict == "admit"
    assert found.chosen is not None
    assert found.chosen.ends[0].ends_s == pytest.approx(10)


def test_jobs_that_cannot_be_are_refused() -> None:
    with pytest.raises(StudyError, match="the deadline of a cannot be 0"):
        job("a", 10, within_s=0)
    with pytest.raises(StudyError, match="a is 100% done"):
        job("a", 10, done=1.0)
    with pytest.raises(StudyError, match="cannot have been running for -1 s"):
        job("a", 10, -1)
    with pytest.raises(StudyError, match="same name"):
        forecast([job("a", 10), job("a", 20)])
    with pytest.raises(StudyError, match="2 jobs run on 1 slots"):
        forecast([job("a", 10), job("b", 20)], slots=1)


def test_certain_times_have_certain_quantiles() -> None:
    times = Slowed(10.0, ONE)
    assert times.quantiles(3, np.array([0.1, 0.9])).tolist() == [30.0, 30.0]
    assert times.share_within(1, 9.9) == 0.0
    assert times.share_within(1, 10.0) == 1.0


# ---------------------------------------------------------------- described in a line


def test_a_line_describes_a_job() -> None:
    found = parse_described("batch_size=128,executors=2,elapsed=2m,within=300s,done=40%")
    assert found == Described(Configuration({"batch_size": 128, "executors": 2}), 120.0, 300.0, 0.4)
    assert parse_described("time=5m").alone_s == 300.0


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("time", "'time' is not name=value"),
        ("time=1s,time=2s", "time appears twice"),
        ("time=0s", "no job takes 0 s"),
        ("time=1s,within=0s", "a deadline of 0 s is not positive"),
        ("time=1s,done=140%", "done=140% is not between"),
        ("time=1s,done=most", "'most' is not a percentage"),
        ("time=soon", "'soon' is not a duration"),
        ("batch_size=1e999", "is not finite"),
    ],
)
def test_a_line_that_says_nothing_sensible_is_refused(line: str, words: str) -> None:
    with pytest.raises(StudyError) as refused:
        parse_described(line)
    assert words in refused.value.problem
    assert refused.value.hint


# ---------------------------------------------------------------- against a reference with one loop and no arrays


def played(
    work: Sequence[float], *, servers: float, slots: int | None, background: int, after: int
) -> tuple[list[float], float]:
    """When jobs of so many seconds alone end that share `servers`, and when the last of them starts.

    It starts once `after` others have ended and a slot is free.
    """
    left, ends, now, started = list(work), [math.inf] * len(work), 0.0, math.inf
    here = set(range(len(work) - 1))
    while math.inf in ends:
        is_due = started == math.inf and sum(end < math.inf for end in ends) >= after
        if is_due and (slots is None or len(here) + background < slots):
            here.add(len(work) - 1)
            started = now
        speed = min(1.0, servers / (len(here) + background))
        step = min(left[j] for j in here) / speed
        now += step
        for j in sorted(here):
            left[j] -= step * speed
            if left[j] <= 1e-9:
                ends[j] = now
                here.discard(j)
    return ends, started


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.floats(5, 100), st.floats(0, 0.8)), min_size=1, max_size=4),
    st.floats(5, 100),
    st.integers(1, 3),
    st.integers(0, 2),
    st.integers(0, 2),
    st.booleans(),
)
def test_ends_are_those_of_jobs_that_are_played_one_event_at_a_time(
    present: list[tuple[float, float]], new_s: float, servers: int, background: int, spare: int, has_slots: bool
) -> None:
    """Of times that are certain; how far each is, is known, and none has been running."""
    slots = max(1, len(present) + background) + spare if has_slots else None
    running = [job(str(j), alone, done=done, servers=servers) for j, (alone, done) in enumerate(present)]
    found = decide(
        running,
        replace(job("new", new_s, servers=servers), within_s=1e-3),  # too short: so that every delay is looked at
        slots=slots,
        background=background,
        confidence=0.5,
    )
    assert found.verdict == "refuse"
    work = [alone * (1 - done) for alone, done in present]
    assert sorted(option.start_after for option in found.options) == list(range(len(present) + 1))
    for option in found.options:
        ends, started = played(
            [*work, new_s], servers=servers, slots=slots, background=background, after=option.start_after
        )
        assert [end.ends_s for end in option.ends] == pytest.approx(ends, rel=1e-6)
        assert option.start_in_s == pytest.approx(started, rel=1e-6, abs=1e-6)


def test_the_pace_of_a_job_so_far_goes_on_and_only_the_rest_is_uncertain() -> None:
    """Half done after 90 s: 180 s in all, times a spread that half of the work is left to have."""
    sigma = math.sqrt(math.log1p(0.04))
    [end] = forecast([job("slow", 100, 90, done=0.5, scv=0.04)])
    reach = NormalDist().inv_cdf(0.9) * sigma
    left = [90 * math.exp(sign * reach * 0.5) for sign in (-1, 0, 1)]
    assert (end.low_s, end.ends_s, end.high_s) == pytest.approx([90 + rest for rest in left], rel=0.01)
    [nearly] = forecast([job("slow", 100, 90, done=0.9, scv=0.04)])
    assert nearly.high_s == pytest.approx(90 + 10 * math.exp(reach * 0.1), rel=0.01)
    [two, _] = forecast([job("slow", 100, 90, done=0.5), job("other", 50, 0, done=0.0)])
    # Its pace is that among two, 90 s for half: the other ends after 100 s, when 90 of 45 s alone are done.
    assert two.ends_s == pytest.approx(90 + 90)


def test_more_jobs_that_come_to_stay_slow_all_that_run_now() -> None:
    [end] = forecast([job("one", 100, 40)], coming=1)
    assert end.ends_s == pytest.approx(40 + 2 * 60)
    [beside] = forecast([job("one", 100, 40)], background=1, coming=1)
    assert beside.ends_s == pytest.approx(40 + 3 * (100 - 40 / 2))  # it has run at half speed so far


def test_a_job_held_up_among_others_is_as_late_as_the_time_among_so_many_says() -> None:
    """Among two 200 s are usual: at 300 s it is 100 s late, and as likely to need 100 s more of the same as less."""
    [stuck] = forecast([job("stuck", 100, 300, scv=0.01)], background=1)
    assert stuck.ends_s == pytest.approx(300 + 100, rel=0.02)
    assert stuck.low_s == pytest.approx(300 + 100 / 9, rel=0.02)
    assert stuck.high_s == pytest.approx(300 + 100 * 9, rel=0.05)


def test_of_ways_that_break_something_those_that_break_least_come_first() -> None:
    running = [job("a", 100, 40, within_s=101), job("b", 100, 40, within_s=205)]  # both end after 200 s
    found = decide(running, job("new", 30, within_s=500), may_delay=False)
    assert [option.breaks for option in found.options] == [("b",)]  # a is late anyway
    several = decide(running, job("new", 30), smaller=[job("tiny", 0.5)], may_delay=False)
    assert [(option.new, option.breaks) for option in several.options] == [("tiny", ()), ("new", ("b",))]
    assert several.chosen == several.options[0]


def test_no_more_than_ten_ends_are_waited_for() -> None:
    running = [job(str(i), 10.0 + i, servers=20) for i in range(12)]
    found = decide(running, job("new", 10, within_s=5, servers=20))
    assert max(option.start_after for option in found.options) == 10


def test_each_running_job_has_chances_of_its_own() -> None:
    """Two that are alike end both within the median with probability 1/4 if they are independent."""
    alike = [job(name, 100, 0, within_s=100, scv=0.04, servers=2) for name in "ab"]
    ends = forecast(alike)
    assert [end.probability for end in ends] == pytest.approx([0.5, 0.5], abs=0.01)
    one, other = (drawn_shares(0, place) for place in (0, 1))
    assert ((one < 0.5) & (other < 0.5)).mean() == pytest.approx(0.25, abs=0.05)
    assert sorted(one.tolist()) == pytest.approx([(i + 0.5) / len(one) for i in range(len(one))])
    assert drawn_shares(0, None).tolist() != one.tolist()
    assert drawn_shares(1, 0).tolist() != one.tolist()


def test_what_certain_and_uncertain_jobs_have_done_by_some_moment() -> None:
    times = Slowed(10.0, ONE, 0.04)
    sigma = math.sqrt(math.log1p(0.04))
    assert times.share_within(2, 20.0) == pytest.approx(0.5)
    assert times.share_within(1, 10 * math.exp(sigma)) == pytest.approx(NormalDist().cdf(1.0))
    assert times.share_within(1, 0.0) == 0.0
    shares = np.array([0.2, 0.7])
    assert [times.share_within(3, t) for t in times.quantiles(3, shares).tolist()] == pytest.approx([0.2, 0.7])
    with pytest.raises(StudyError, match="the time of a job cannot be 0 s"):
        Slowed(0.0, ONE)
    with pytest.raises(StudyError, match="squared coefficient of variation"):
        Slowed(1.0, ONE, -1.0)


def test_slots_that_others_hold_for_good_are_never_free() -> None:
    with pytest.raises(StudyError, match="the new job never gets a slot"):
        decide([], job("new", 10), slots=1, background=1)
    with pytest.raises(StudyError, match="1 jobs run on 0 slots"):
        decide([], job("new", 10), slots=0, background=1)
    with pytest.raises(StudyError, match="-1 jobs run on None slots"):
        forecast([], background=-1)
    assert decide([], job("new", 10), slots=2, background=1).verdict == "admit"
    with pytest.raises(StudyError, match="confidence is 95, not between"):
        decide([], job("new", 10), confidence=95)
