"""The whole answer about a queue: which formulas it has, what is noted, and how a day looks."""

from typing import Any

import numpy as np
import pytest

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.queues import Measures
from sparkcast.queues.answer import QueueAnswer, QueueQuestion, answer, closed_forms, day
from sparkcast.queues.arrivals import Arrivals, Given, Renewal, poisson
from sparkcast.queues.launching import Phases, SharedMachine
from sparkcast.queues.simulate import Cluster
from sparkcast.queues.slowdown import MeasuredSlowdown
from sparkcast.queues.times import Spread
from sparkcast.queues.workload import JobClass, JobMix

SLOWDOWN = MeasuredSlowdown((1, 2, 4), (1.0, 1.2, 2.4))
PHASES = Phases(2.0, 8.0)


def mix(
    arrivals: Arrivals | float = 0.1,
    *,
    mean_s: float = 30.0,
    scv: float = 1.0,
    widths: tuple[int, ...] = (1,),
    **more: Any,
) -> JobMix:
    came = poisson(arrivals) if isinstance(arrivals, float) else arrivals
    return JobMix(came, tuple(JobClass(f"of {w}", Spread(mean_s, scv), width=w, **more) for w in widths))


def ask(workload: JobMix | None = None, cluster: Cluster | None = None, **options: Any) -> QueueAnswer:
    given = {"n_jobs": 1000, "replications": 2, **options}
    return answer(QueueQuestion(workload or mix(), cluster or Cluster(4), **given))


# ---------------------------------------------------------------- formulas


def forms(workload: JobMix, cluster: Cluster, places: int | None = None) -> list[Measures]:
    return list(closed_forms(workload, cluster, places))


def test_jobs_of_several_widths_or_phases_have_no_formula() -> None:
    assert forms(mix(0.01, widths=(1, 2)), Cluster(4)) == []
    launching = Cluster(4, "launching", machine=SharedMachine(4))
    assert forms(mix(0.01, mean_s=10.0, phases=PHASES), launching) == []


def test_arrivals_that_are_not_poisson_have_only_approximations_and_none_where_jobs_share() -> None:
    for arrivals in (Renewal(0.02, 0.5), Given(tuple(float(50 * i) for i in range(30)))):
        names = [one.queue for one in forms(mix(arrivals), Cluster(1))]
        assert names == ["G/G/1, Whitt", "G/G/1, Allen-Cunneen"]
        assert forms(mix(arrivals), Cluster(1, "fair")) == []
        [limited] = forms(mix(arrivals), Cluster(2), places=2)
        assert not limited.is_exact
    bursty, _ = forms(mix(Renewal(0.1, 4.0)), Cluster(4))
    smooth, _ = forms(mix(Renewal(0.1, 0.25)), Cluster(4))
    assert bursty.mean_wait_s > 2 * smooth.mean_wait_s
    variable, _ = forms(mix(Renewal(0.1, 0.25), scv=4.0), Cluster(4))
    assert variable.mean_wait_s > 2 * smooth.mean_wait_s


def test_a_limited_system_is_exact_for_exponential_jobs_or_where_nobody_waits() -> None:
    """Erlang's loss formula holds for all service times."""

    def is_exact(scv: float, places: int) -> bool:
        [found] = forms(mix(scv=scv), Cluster(2), places)
        return found.is_exact

    assert [is_exact(1.0, 5), is_exact(0.5, 5), is_exact(0.5, 2)] == [True, False, True]


def test_sharing_has_a_formula_only_where_all_may_start_and_all_cores_are_of_use() -> None:
    assert [one.queue for one in forms(mix(0.02), Cluster(1, "fair"))] == ["M/G/1-PS"]
    assert forms(mix(0.02), Cluster(1, "fair", slots=3)) == []
    assert forms(mix(0.02, widths=(2,)), Cluster(5, "fair")) == []
    [found] = forms(mix(0.02, widths=(2,)), Cluster(4, "fair"))
    assert found.servers == 2
    [measured] = forms(mix(0.02), Cluster(1, "fair", SLOWDOWN))
    [equal] = forms(mix(0.02), Cluster(1, "fair"))
    assert measured.mean_response_s < equal.mean_response_s


def test_the_headline_is_exact_where_a_formula_is_and_else_simulated() -> None:
    exact = ask()
    assert exact.method == "M/M/4"
    assert exact.mean_response_s is not None
    assert exact.mean_response_s.low == exact.mean_response_s.value == exact.closed_forms[0].mean_response_s
    assert exact.mean_wait_s is not None
    assert exact.mean_wait_s.value == exact.closed_forms[0].mean_wait_s
    simulated = ask(mix(scv=0.5))
    assert simulated.method == "simulated"
    assert simulated.simulation is not None
    assert simulated.mean_response_s == simulated.simulation.mean_response_s
    assert simulated.mean_wait_s == simulated.simulation.mean_wait_s
    assert simulated.response_s == simulated.simulation.response_percentiles[0.95]
    limited = ask(mix(scv=0.5), Cluster(2), places=5)
    assert limited.method == "M/M/2/5"  # rough, but all there is
    assert (limited.simulation, limited.response_s, limited.capacities) == (None, None, ())
    assert limited.stable_rate == float("inf")
    nothing = ask(has_rate=False, slo_s=300.0)
    assert (nothing.closed_forms, nothing.mean_response_s, nothing.meets_slo) == ((), None, None)


# ---------------------------------------------------------------- verdict and capacity


def test_the_deadline_is_met_when_the_percentile_is_within_it() -> None:
    percentile = ask().response_s
    assert percentile is not None
    assert ask(slo_s=percentile.value).meets_slo
    assert ask(slo_s=0.999 * percentile.value).meets_slo is False
    assert ask().meets_slo is None


def test_clusters_around_the_one_at_hand_are_compared_in_steps_of_the_widest_job() -> None:
    assert [one.servers for one in ask(slo_s=300.0).capacities] == [3, 4, 5, 6]
    wide = ask(mix(0.02, widths=(3,)), Cluster(3), slo_s=300.0)
    assert [one.servers for one in wide.capacities] == [3, 6, 9]
    given = ask(servers=(4, 8))
    assert [one.servers for one in given.capacities] == [4, 8]
    assert given.capacities[0].response_s == given.response_s  # one number for one question
    assert given.capacities[0].most_rate is None
    assert ask().capacities == ()


def test_servers_that_are_needed_are_told_only_where_more_can_be_had() -> None:
    assert ask(slo_s=300.0).servers_needed == 4
    assert ask().servers_needed is None
    assert ask(has_rate=False, slo_s=300.0).servers_needed is None
    assert ask(mix(0.02), Cluster(1, "fair", SLOWDOWN), slo_s=300.0).servers_needed is None


def test_each_class_is_judged_by_its_own_percentile() -> None:
    classes = (JobClass("short", Spread(1.0, 0.0), 0.97), JobClass("long", Spread(50.0, 0.0), 0.03))
    found = ask(JobMix(poisson(0.01), classes), Cluster(4), slo_s=40.0)
    assert found.simulation is not None
    assert {one.name: one.meets_slo for one in found.simulation.classes} == {"short": True, "long": False}
    assert found.meets_slo  # of all jobs together
    assert found.servers_needed is None
    assert "long would miss its deadline even alone: no number of servers helps" in found.notes
    unjudged = ask(JobMix(poisson(0.01), classes), Cluster(4))
    assert unjudged.simulation is not None
    assert [one.meets_slo for one in unjudged.simulation.classes] == [None, None]


# ---------------------------------------------------------------- notes


def noted(words: str, *asked: Any, **options: Any) -> bool:
    return any(words in note for note in ask(*asked, **options).notes)


def test_what_to_know_of_an_answer_is_noted_where_it_applies_and_nowhere_else() -> None:
    assert ask().notes == ()
    no_formula, simulated = "there is no formula for jobs of different width", "the stable rate is simulated"
    of_widths, of_ranks = ask(mix(widths=(1, 2)), Cluster(16)).notes, ask(mix(), Cluster(4, "priority")).notes
    assert [note.startswith((no_formula, simulated)) for note in of_widths] == [True, True]
    assert [note.startswith(no_formula) for note in of_ranks] == [True]
    nearly = "the arrival rate is within 2% of the stable rate"
    assert noted(nearly, mix(0.0327), Cluster(1))
    assert not noted(nearly, mix(0.0323), Cluster(1))
    assert not noted(nearly, mix(0.0327), Cluster(1), has_rate=False, slo_s=300.0)
    more = "the effect of more servers is unknown"
    assert noted(more, mix(0.02), Cluster(1, "fair", SLOWDOWN), slo_s=300.0)
    assert not noted(more, mix(0.02), Cluster(1, "fair", SLOWDOWN))
    assert not noted(more, slo_s=300.0)
    capacity = "with a system capacity, the formula assumes exponential service"
    assert noted(capacity, mix(), Cluster(4), places=6)
    assert not noted(more, mix(), Cluster(4), places=6, slo_s=300.0)
    linear, machine = "capacity scales linearly with cores", Cluster(2, "launching", machine=SharedMachine(2))
    launched = mix(0.02, mean_s=10.0, phases=PHASES)
    assert noted(linear, launched, machine, slo_s=300.0)
    assert noted(linear, launched, machine, servers=(2,))
    assert not noted(linear, launched, machine)
    assert not noted(linear, slo_s=300.0)
    assert ask(notes=("as measured",), slo_s=300.0).notes == ("as measured",)


# ---------------------------------------------------------------- figures


def test_figures_are_computed_only_when_they_are_wanted() -> None:
    plain, drawn = ask(), ask(with_figures=True)
    assert (plain.curve, plain.day) == ((), ())
    assert len(drawn.day) == 288
    assert [point.rate for point in drawn.curve] == sorted(point.rate for point in drawn.curve)
    assert drawn.curve[-1].rate == pytest.approx(0.95 * 4 / 30)
    assert ask(has_rate=False, slo_s=300.0, with_figures=True).day == ()
    assert ask(places=6, with_figures=True).curve == ()


def test_a_day_is_the_second_of_two_and_told_every_five_minutes() -> None:
    regular = mix(Renewal(1 / 600, 0.0), mean_s=300.0, scv=0.0, widths=(2,))
    moments = day(regular, Cluster(4))
    assert [moments[1].at_s, moments[-1].at_s] == pytest.approx([300.0, 86_100.0])
    # One job of two cores every ten minutes for five of them.
    assert {(one.jobs, one.running, one.cores) for one in moments} == {(0.0, 0.0, 0.0), (1.0, 1.0, 2.0)}
    busy = np.array([one.running for one in moments])
    assert busy.mean() == pytest.approx(0.5, abs=0.01)


def test_a_day_of_few_given_arrivals_ends_with_them() -> None:
    came = Given(tuple(float(60 * i) for i in range(31)))
    moments = day(mix(came, mean_s=1.0, scv=0.0), Cluster(1))
    assert moments[0].at_s == 0
    assert moments[1].at_s == pytest.approx(30 * 60 / 288)


def test_waiting_jobs_of_a_day_are_in_the_system_but_do_not_run() -> None:
    moments = day(mix(0.03), Cluster(1))
    assert any(one.jobs > one.running for one in moments)
    assert all(one.running <= min(one.jobs, 1) for one in moments)
    jobs = np.mean([one.jobs for one in moments])
    assert 2 < jobs < 40  # M/M/1 at 90 %: 9 on average


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seed": -1}, "seed"),
        ({"share": 0.0}, "the percentile is 0"),
        ({"price_per_server_hour": -0.1}, "a price of -0.1 is not possible"),
        ({"n_jobs": 999}, "2 runs of 999 jobs are too few"),
        ({"replications": 1}, "1 runs of 1000 jobs are too few"),
        ({"cluster": Cluster(4, "fair"), "places": 6}, "a system capacity needs jobs that wait in line"),
        ({"workload": mix(widths=(1, 2)), "places": 6}, "a system capacity with jobs of different width"),
        ({"workload": mix(widths=(8,))}, "a job holds 8 cores and the cluster has 4"),
    ],
)
def test_questions_that_have_no_answer_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(StudyError, match=words):
        ask(**options)


def test_a_price_of_nothing_and_twenty_arrivals_are_enough() -> None:
    assert ask(price_per_server_hour=0.0, slo_s=300.0).capacities[0].cost_per_hour == 0
    came = tuple(float(60 * i) for i in range(20))
    assert ask(mix(Given(came))).closed_forms
    with pytest.raises(NotEnoughDataError, match="19 arrivals are too few"):
        ask(mix(Given(came[1:])))
