"""The probability that settings fail, from the runs that did."""

import pytest

from sparkcast.errors import NotEnoughDataError
from sparkcast.learned.feasibility import Feasibility, fit_feasibility
from sparkcast.study import Configuration, Dataset, Observation, Outcome

GIGABYTES = (1, 2, 4, 8, 16)


def study(failing_below: int, replicates: int = 3, outcome: Outcome = Outcome.OOM) -> Dataset:
    """Runs with less memory than that fail."""
    return Dataset(
        ("memory", "executors"),
        tuple(
            Observation(
                {"memory": f"{gb}g", "executors": e},
                {} if gb < failing_below else {"time_s": 1.0},
                outcome=outcome if gb < failing_below else Outcome.OK,
            )
            for gb in GIGABYTES
            for e in (1, 2)
            for _ in range(replicates)
        ),
    )


def chances(found: Feasibility, gigabytes: tuple[int, ...] = GIGABYTES) -> list[float]:
    return found.probability_of_failure([{"memory": f"{gb}g", "executors": 1} for gb in gigabytes])


def test_settings_that_failed_are_likely_to_fail_and_others_are_not() -> None:
    found = chances(fit_feasibility(study(failing_below=3)))
    assert found == sorted(found, reverse=True)
    assert found[0] > 0.8
    assert found[-1] < 0.1


def test_the_sense_of_a_setting_is_learned() -> None:
    data = Dataset(
        ("batch_size",),
        tuple(
            Observation({"batch_size": b}, {}, outcome=Outcome.OOM if b > 200 else Outcome.OK)
            for b in (32, 64, 128, 256, 512)
            for _ in range(3)
        ),
    )
    small, large = fit_feasibility(data).probability_of_failure([{"batch_size": 32}, {"batch_size": 512}])
    assert small < 0.2 < 0.8 < large


def test_few_runs_say_little() -> None:
    few, many = (chances(fit_feasibility(study(3, replicates=n))) for n in (1, 20))
    assert few[0] < many[0]
    assert few[-1] > many[-1]


def test_one_failure_among_few_runs_is_no_certainty() -> None:
    data = Dataset(
        ("executors",),
        (
            Observation({"executors": 1}, {}, outcome=Outcome.OOM),
            Observation({"executors": 2}, {"time_s": 1.0}),
            Observation({"executors": 4}, {"time_s": 1.0}),
        ),
    )
    first, _, last = fit_feasibility(data).probability_of_failure([{"executors": e} for e in (1, 2, 4)])
    assert 0.3 < first < 0.8
    assert 0.05 < last < 0.4


def test_without_failures_the_rule_of_succession_answers() -> None:
    found = fit_feasibility(study(failing_below=0))
    assert (found.n_failed, found.n_runs) == (0, 30)
    assert chances(found) == [1 / 32] * 5


def test_when_everything_failed_it_is_likely_to_fail_again() -> None:
    found = chances(fit_feasibility(study(failing_below=100)))
    assert all(0.9 < chance < 1 for chance in found)


def test_far_from_all_runs_it_is_less_sure_than_the_slope_alone() -> None:
    found = chances(fit_feasibility(study(3, replicates=1)), (1, 10**6))
    assert 0.001 < found[1] < 0.2


@pytest.mark.parametrize("outcome", [Outcome.OOM, Outcome.TIMEOUT, Outcome.ERROR])
def test_every_way_to_fail_counts(outcome: Outcome) -> None:
    assert fit_feasibility(study(3, outcome=outcome)).n_failed == 12


def test_lost_runs_say_nothing() -> None:
    data = study(3, outcome=Outcome.LOST)
    found = fit_feasibility(data)
    assert (found.n_runs, found.n_failed) == (18, 0)
    lost = Dataset(data.factors, tuple(o for o in data.observations if o.outcome is Outcome.LOST))
    with pytest.raises(NotEnoughDataError, match="no runs to learn failures from"):
        fit_feasibility(lost)


def test_categories_have_their_own_odds() -> None:
    data = Dataset(
        ("net",),
        tuple(
            Observation({"net": net}, {}, outcome=Outcome.OOM if net == "vgg" else Outcome.OK)
            for net in ("vgg", "lenet5", "mlp")
            for _ in range(5)
        ),
    )
    at: list[Configuration] = [Configuration({"net": "vgg"}), Configuration({"net": "lenet5"})]
    large, small = fit_feasibility(data).probability_of_failure(at)
    assert small < 0.2 < 0.7 < large
    assert fit_feasibility(data).probability_of_failure([]) == []
