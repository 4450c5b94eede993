"""From what people say of jobs, servers and goals to the question that is answered."""

from typing import Any

import pytest

from sparkcast.errors import StudyError
from sparkcast.queues.answer import QueueQuestion
from sparkcast.queues.arrivals import Given, Renewal
from sparkcast.queues.described import parse_class, parse_described
from sparkcast.queues.launching import Phases, SharedMachine
from sparkcast.queues.load import Effort, Goal, Load, Servers, pose
from sparkcast.queues.measured import Launching
from sparkcast.queues.service import ServiceTimes
from sparkcast.queues.slowdown import MeasuredSlowdown
from sparkcast.queues.times import Spread
from sparkcast.study import Configuration

ALONE = ServiceTimes(Spread(30.0), notes=("as given",))
SLOWED = ServiceTimes(Spread(30.0), MeasuredSlowdown((1, 2), (1.0, 1.5)), ("slowed",), arrival_rate=0.02)
LAUNCHED = ServiceTimes(
    Spread(20.0),
    None,
    ("start-up included",),
    0.02,
    Launching(Spread(10.0), Phases(2.0, 8.0, 2), SharedMachine(6), ("launched",)),
)


def posed(*known: ServiceTimes, load: Load | None = None, servers: Servers | None = None, **goal: Any) -> QueueQuestion:
    return pose(load or Load(), known or (ALONE,), servers or Servers(4), Goal(**goal), Effort(1000, 3, 7, True))


def test_a_question_has_everything_that_was_said() -> None:
    found = posed(
        load=Load(0.1, arrival_scv=2.0, width=2),
        servers=Servers(4, "fifo", overtake=True, places=9),
        slo_s=300.0,
        percentile=90,
        compare=[4, 8],
        price_per_server_hour=0.5,
    )
    assert found.workload.arrivals == Renewal(0.1, 2.0)
    [one] = found.workload.classes
    assert (one.name, one.width, one.priority, one.share) == ("job", 2, 0, 1.0)
    assert (found.cluster.cores, found.cluster.discipline, found.cluster.overtake) == (4, "fifo", True)
    assert (found.slo_s, found.share, found.servers, found.price_per_server_hour) == (300.0, 0.9, (4, 8), 0.5)
    assert (found.n_jobs, found.replications, found.seed, found.with_figures) == (1000, 3, 7, True)
    assert (found.places, found.has_rate, found.notes) == (9, True, ("as given",))


def test_the_rate_is_the_one_that_is_said_else_the_one_that_was_measured_else_none() -> None:
    assert posed(SLOWED, load=Load(0.5)).workload.arrivals.rate == 0.5
    assert posed(SLOWED).workload.arrivals.rate == 0.02
    assert posed(SLOWED).has_rate
    assert not posed(ALONE, load=Load(arrival_scv=3.0)).has_rate
    assert posed(ALONE, load=Load(arrival_scv=3.0)).workload.arrivals.scv == 3.0


def test_given_arrivals_come_as_they_came_or_at_the_rate_that_is_said() -> None:
    came = [0.0, 10.0, 30.0]
    assert posed(load=Load(arrivals_s=came)).workload.arrivals == Given((0.0, 10.0, 30.0))
    assert posed(load=Load(1.0, arrivals_s=came)).workload.arrivals.rate == pytest.approx(1.0)


def test_jobs_share_as_runs_show_unless_somebody_says_how() -> None:
    assert posed(ALONE).cluster.discipline == "fifo"
    fair = posed(SLOWED).cluster
    assert (fair.discipline, fair.slowdown) == ("fair", SLOWED.slowdown)
    line = posed(SLOWED, servers=Servers(4, "fifo")).cluster
    assert (line.discipline, line.slowdown) == ("fifo", None)
    ranks = Load(mix=[parse_class("time=1s,priority=1"), parse_class("time=9s,priority=2")])
    assert posed(ALONE, ALONE, load=ranks).cluster.discipline == "priority"
    assert posed(ALONE, ALONE, load=ranks, servers=Servers(4, "fifo")).cluster.discipline == "fifo"
    equal = Load(mix=[parse_class("time=1s,priority=1"), parse_class("time=9s,priority=1")])
    assert posed(ALONE, ALONE, load=equal).cluster.discipline == "fifo"


def test_jobs_that_launch_take_their_times_phases_and_cores_from_the_runs() -> None:
    found = posed(LAUNCHED)
    assert (found.cluster.discipline, found.cluster.cores, found.cluster.machine) == ("launching", 6, SharedMachine(6))
    [one] = found.workload.classes
    assert (one.times, one.phases, one.width) == (Spread(10.0), Phases(2.0, 8.0, 2), 2)
    assert found.notes == ("launched",)
    line = posed(LAUNCHED, servers=Servers(4, "fifo"))
    assert (line.cluster.cores, line.cluster.machine, line.notes) == (4, None, ("start-up included",))
    assert line.workload.classes[0].times == Spread(20.0)
    # Where it is not known of every class, nothing is launched.
    two = Load(mix=[parse_class("executors=1"), parse_class("executors=2")])
    assert posed(LAUNCHED, ALONE, load=two).cluster.discipline == "fifo"


def test_classes_have_their_names_shares_widths_and_notes_once() -> None:
    load = Load(mix=[parse_class("time=1s,share=3,width=2"), parse_class("time=9s,share=1,priority=4")])
    found = posed(ALONE, ALONE, load=load)
    assert [(one.share, one.width, one.priority) for one in found.workload.classes] == [(3.0, 2, 0), (1.0, 1, 4)]
    assert [one.name for one in found.workload.classes] == ["time=1s,share=3,width=2", "time=9s,share=1,priority=4"]
    assert found.notes == ("as given",)


def test_a_mix_and_a_job_of_its_own_exclude_each_other() -> None:
    classes = [parse_class("time=1s")]
    conflicting: tuple[dict[str, Any], ...] = ({"service_time_s": 3.0}, {"scv": 0.0}, {"at": {"a": 1}}, {"width": 2})
    for own in conflicting:
        with pytest.raises(StudyError, match="a mix of jobs gives the time"):
            Load(mix=classes, **own)
    assert len(Load(mix=classes).classes) == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("time=1s,width=1.5", "width is not an integer"),
        ("time=1s,share=0", "its share is not above 0"),
        ("time=1s,share=inf", "its share is not above 0"),
        ("time=1s,scv=wide", "scv = wide is not a number"),
        ("time=1s,,", "'' is not name=value"),
        ("=3", "'=3' is not name=value"),
    ],
)
def test_a_class_that_says_nothing_sensible_is_refused(line: str, words: str) -> None:
    with pytest.raises(StudyError) as refused:
        parse_class(line)
    assert words in refused.value.problem


def test_what_a_line_says_is_all_that_is_taken_from_it() -> None:
    plain = parse_described("batch_size=64")
    assert plain.settings == {"batch_size": 64}
    assert (plain.elapsed_s, plain.within_s, plain.done, plain.alone_s) == (None, None, None, None)
    assert parse_described("time=5m, done=0.25, elapsed=0s").done == 0.25
    assert parse_described("time=5m,elapsed=0s").elapsed_s == 0
    assert parse_described("time=5m,done=0%").done == 0
    for line in ("time=5m,done=100%", "time=5m,done=1", "time=5m,done=-0.1"):
        with pytest.raises(StudyError, match="is not between 0 and 100%"):
            parse_described(line)
    one = parse_class("executors=2,scv=0.5,width=3,priority=2")
    assert (one.settings, one.alone_s, one.scv, one.share) == (Configuration({"executors": 2}), None, 0.5, None)
    assert (one.width, one.priority) == (3, 2)
