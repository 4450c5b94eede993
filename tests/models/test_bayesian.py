"""The Bayesian model: what it expects, how it learns, and how sure it is."""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast.fitting.posterior import posterior_of
from sparkcast.fitting.prior import Terrain
from sparkcast.fitting.problem import pose
from sparkcast.models.auto import Auto
from sparkcast.models.bayesian import Bayesian
from sparkcast.study import Dataset, Kind, Level, Observation, Outcome, Response, Role, Setting, Vocabulary

Law = Callable[..., float]


def runs(law: Law, configurations: Sequence[Mapping[str, Level]], *, noise: float = 0.0, seed: int = 0) -> Dataset:
    draw = random.Random(seed)
    observations = [Observation(c, {"time_s": law(**c) * math.exp(draw.gauss(0, noise))}) for c in configurations]
    return Dataset(tuple(configurations[0]), tuple(observations))


def amdahl(executors: float) -> float:
    return 20 + 300 / executors


def test_intervals_and_probabilities_hold_for_jobs_it_has_not_seen() -> None:
    """Jobs drawn at random: serial part, power of the machines, data, a category, noise; eight runs of each."""
    draw = random.Random(7)
    inside = below = asked = 0
    for job in range(60):
        serial, power, data = draw.uniform(0, 60), draw.uniform(0.6, 1.1), draw.uniform(0.7, 1.2)
        slow, noise = draw.uniform(1, 2), draw.uniform(0.01, 0.1)

        def law(executors: int, size: int, net: str, of: tuple[float, ...] = (serial, power, data, slow)) -> float:
            return float((of[0] + 100 * size ** of[2] / executors ** of[1]) * (of[3] if net == "b" else 1))

        levels = [(e, s, n) for e in (1, 2, 4, 8, 16) for s in (1, 2, 4, 8) for n in "ab"]
        chosen: list[Any] = [dict(zip(("executors", "size", "net"), c, strict=True)) for c in draw.sample(levels, 14)]
        fitted = Bayesian().fit(runs(law, chosen[:8], noise=noise, seed=job), "time_s")
        known = {c["net"] for c in chosen[:8]}
        at = [c for c in chosen[8:] if c["net"] in known]
        for c, (low, high), (_, upper) in zip(at, fitted.interval(at), fitted.interval(at, level=0.6), strict=True):
            measured = law(**c) * math.exp(draw.gauss(0, noise))
            inside, below, asked = inside + (low <= measured <= high), below + (measured <= upper), asked + 1
    assert asked > 300
    assert 0.86 <= inside / asked <= 0.97
    assert 0.74 <= below / asked <= 0.90  # promised at 0.8


def test_machines_shorten_a_job_before_anything_says_so() -> None:
    """All runs have nearly the same number of machines: the role alone says what twice as many do."""
    configurations = [{"hosts": h, "chunk": c} for h, c in ((9, 1), (10, 2), (11, 4), (10, 8))]
    words = Vocabulary((Setting("hosts", role=Role.MACHINES), Setting("chunk")))
    data = runs(lambda hosts, chunk: 100.0, configurations, noise=0.15)
    known = Bayesian().fit(Dataset(data.factors, data.observations, vocabulary=words), "time_s")
    at = [{"hosts": 10, "chunk": 2}, {"hosts": 20, "chunk": 2}]
    one, two = known.predict(at)
    assert two < 0.85 * one
    one, two = Bayesian().fit(data, "time_s").predict(at)
    assert two > 0.85 * one


def test_a_number_of_unknown_meaning_may_be_in_proportion_to_the_time() -> None:
    data = runs(lambda modules: 30.0 * modules, [{"modules": m} for m in (1, 2, 3, 5, 6)], noise=0.01)
    [predicted] = Bayesian().fit(data, "time_s").predict([{"modules": 10}])
    assert predicted == pytest.approx(300, rel=0.1)


def test_a_serial_part_is_found_and_limits_what_machines_can_do() -> None:
    data = runs(amdahl, [{"executors": e} for e in (1, 2, 3, 4, 6, 8, 12)], noise=0.005)
    [predicted] = Bayesian().fit(data, "time_s").predict([{"executors": 24}])
    assert predicted == pytest.approx(amdahl(24), rel=0.15)  # a power law alone would say 26 s instead of 32.5


def test_times_on_more_machines_than_were_tried_are_less_sure() -> None:
    """Exact runs show no noise, but not how machines begin to wait for each other either."""
    data = runs(amdahl, [{"executors": e} for e in (1, 2, 3, 4, 6, 8, 12, 16)])
    tried, twice, ten_times = (
        math.log(high / low)
        for low, high in Bayesian().fit(data, "time_s").interval([{"executors": e} for e in (16, 32, 160)])
    )
    normal_90 = 2 * 1.645
    assert twice > normal_90 * 0.1 * math.sqrt(math.log(2)) > tried
    assert ten_times > normal_90 * 0.1 * math.sqrt(math.log(10))


def test_copies_of_runs_change_nothing() -> None:
    data = runs(amdahl, [{"executors": e} for e in (1, 2, 4, 8)], noise=0.1)
    twice = Dataset(data.factors, data.observations * 2)
    at = [{"executors": 3}]
    assert Bayesian().fit(twice, "time_s").interval(at) == Bayesian().fit(data, "time_s").interval(at)


def test_replicates_that_differ_tell_the_noise() -> None:
    def fitted(spread: float) -> float:
        seen = [(e, amdahl(e) * math.exp(s * spread)) for e in (1, 2, 4, 8) for s in (-1, 0, 1)]
        data = Dataset(("executors",), tuple(Observation({"executors": e}, {"time_s": t}) for e, t in seen))
        [(low, high)] = Bayesian().fit(data, "time_s").interval([{"executors": 4}])
        return math.log(high / low)

    assert fitted(0.2) > 2 * fitted(0.02)


def _ten_runs(*repeated: float) -> list[tuple[float, float]]:
    """The probability of half an hour, where runs take a minute and a half, and the width of the interval; without
    repeats and with them."""
    seen = [(e, amdahl(e)) for e in (1, 2, 3, 4, 6, 8, 10, 12, 16, 20)]
    found = []
    for factors in ((1.0,), (1.0, *repeated)):
        rows = [Observation({"executors": e}, {"time_s": t * f}) for e, t in seen for f in factors]
        fitted = Bayesian().fit(Dataset(("executors",), tuple(rows)), "time_s")
        [(low, high)] = fitted.interval([{"executors": 5}])
        found.append((fitted.probability_below([{"executors": 5}], 1800)[0], math.log(high / low)))
    return found


def test_runs_that_were_never_repeated_make_nothing_certain() -> None:
    (without, wide), (with_repeats, narrow) = _ten_runs(1.01)
    assert 0.95 < without < 0.99 < with_repeats
    assert wide > 1.2 * narrow


def test_what_is_said_of_a_configuration_left_out_is_near_to_what_a_new_fit_says() -> None:
    problem = pose(runs(amdahl, [{"executors": e} for e in (1, 2, 3, 4, 6, 8, 12, 16)], noise=0.03), "time_s")
    quick = posterior_of(problem).left_out
    again = [posterior_of(problem.without([i]))(problem.x[[i]])[0] for i in range(len(problem))]
    assert quick == pytest.approx(again, rel=0.06)


def test_a_response_that_is_no_time_is_learned_too() -> None:
    seen = [(b, {"auc": 1 / (1 + math.exp(-3 + b / 200)), "gain": 5 - b / 50}) for b in (16, 32, 64, 128, 256, 512)]
    words = Vocabulary((Setting("batch", role=Role.BATCH),))
    data = Dataset(("batch",), tuple(Observation({"batch": b}, v) for b, v in seen), vocabulary=words)
    [auc] = Bayesian().fit(data, "auc").predict([{"batch": 200}])
    assert auc == pytest.approx(1 / (1 + math.exp(-2)), abs=0.02)
    [gain] = Bayesian().fit(data, "gain").predict([{"batch": 300}])
    assert gain == pytest.approx(-1, abs=0.7)


def test_many_configurations_are_learned_from_a_sample() -> None:
    draw = random.Random(1)
    cells = [{"executors": draw.randint(1, 64), "size": draw.uniform(1, 100)} for _ in range(700)]
    data = runs(lambda executors, size: 5 + 30 * size / executors, cells, noise=0.05)
    posterior = posterior_of(pose(data, "time_s"))
    assert len(posterior.rows) == 500
    [predicted] = posterior(np.array([[10.0, 50.0]]))
    assert predicted == pytest.approx(155, rel=0.05)


LEVELS: dict[str, list[Level]] = {
    "positive": [0.1, 0.5, 1, 2, 7.5, 50],
    "with zero": [0, 0.5, 1, 2],
    "of both signs": [-5, -1.5, 0, 0.3, 2, 5],
    "huge": [1e9, 3e10, 2e12, 1e15],
    "tiny": [1e-12, 4e-11, 1e-9],
    "category": ["a", "b", "c", "d", "e"],
}
VALUES = {
    Kind.TIME: [1e-6, 0.3, 2.0, 2.1, 50.0, 1e9],
    Kind.SHARE: [0.0, 0.1, 0.9, 0.95, 1.0],
    Kind.OTHER: [-1e3, -2.0, 0.0, 0.5, 1e3],
}


@settings(max_examples=30)
@given(st.data())
def test_whatever_was_run_the_answers_are_finite_and_in_order(draw: st.DataObject) -> None:
    shapes = draw.draw(st.lists(st.sampled_from(sorted(LEVELS)), min_size=1, max_size=4))
    names = [f"setting{j}" for j in range(len(shapes))]
    declared = tuple(Setting(name, role=draw.draw(st.sampled_from(list(Role)))) for name in names)
    kind = draw.draw(st.sampled_from(list(VALUES)))
    cell = st.fixed_dictionaries({n: st.sampled_from(LEVELS[shape]) for n, shape in zip(names, shapes, strict=True)})
    cells = draw.draw(st.lists(cell, min_size=3, max_size=12, unique_by=lambda c: tuple(c.values())))
    seen = tuple(Observation(c, {"y": draw.draw(st.sampled_from(VALUES[kind]))}) for c in cells)
    words = Vocabulary(declared, (Response("y", kind=kind),))
    fitted = Auto().fit(Dataset(tuple(names), seen, responses=("y",), vocabulary=words), "y")
    for value, (low, high) in zip(fitted.predict(cells), fitted.interval(cells), strict=True):
        assert math.isfinite(value)
        assert low <= value <= high
    assert all(0 <= chance <= 1 for chance in fitted.probability_below(cells, 1.0))


# ---------------------------------------------------------------- answers that were absurd


def test_a_number_asked_near_zero_gets_no_huge_answer() -> None:
    """A term 1/x said 7208 s here where the longest run took 74 s, inside the measured range."""
    cells = [(2, 0.001), (2, 0.5), (4, 0.9), (4, 0.25), (8, 1.0), (8, 0.6), (16, 0.4), (16, 0.8)]
    data = runs(
        lambda executors, fill: 40 + 60 / executors + 4 * fill,
        [{"executors": e, "fill": f} for e, f in cells],
        noise=0.02,
    )
    longest = max(run.responses["time_s"] for run in data.observations)
    at = [{"executors": e, "fill": f} for e in (2, 5, 16) for f in (0.001, 0.002, 0.01)]
    for value, (_, high) in zip(
        Auto().fit(data, "time_s").predict(at), Auto().fit(data, "time_s").interval(at), strict=True
    ):
        assert value < 1.5 * longest
        assert high < 4 * longest


@pytest.mark.parametrize("n", [3, 4, 5])
def test_few_runs_give_an_interval_that_means_something(n: int) -> None:
    """A Student t distribution with one degree of freedom went from 0.04 s to 1.4 million s."""
    data = runs(amdahl, [{"executors": e} for e in (1, 2, 4, 8, 16)[:n]], noise=0.05)
    [(low, high)] = Auto().fit(data, "time_s").interval([{"executors": 3}], level=0.99)
    assert high / low < 10


def test_an_interval_is_not_far_wider_than_every_error() -> None:
    """One was 588 % wide where no error was above 10 %."""
    data = runs(amdahl, [{"executors": e} for e in (1, 2, 4, 8)], noise=0.02)
    fitted = Auto().fit(data, "time_s")
    [value], [(low, high)] = fitted.predict([{"executors": 3}]), fitted.interval([{"executors": 3}])
    assert (high - low) / value < 0.8


# ---------------------------------------------------------------- runs that were stopped


def stopped_at(limit_s: float, law: Law, configurations: Sequence[Mapping[str, Level]], cause: str = "") -> Dataset:
    """What a table shows of runs that nobody let take longer than `limit_s`."""
    ended = runs(law, configurations, noise=0.02).observations
    outcome = Outcome.ERROR if cause else Outcome.TIMEOUT
    seen = [
        run
        if run.responses["time_s"] < limit_s
        else replace(run, responses={"time_s": limit_s}, outcome=outcome, cause=cause)
        for run in ended
    ]
    return Dataset(tuple(configurations[0]), tuple(seen))


def chunked(executors: float, chunk: float) -> float:
    return 400 / executors * (4 if chunk == 2 else 1)


GRID: list[Mapping[str, Level]] = [{"executors": e, "chunk": c} for e in (1, 2, 4, 8) for c in (1, 2)]
SLOW: list[Mapping[str, Level]] = [{"executors": 1, "chunk": 2}]  # takes 1600 s


@pytest.mark.parametrize("model", [Bayesian, Auto])
@pytest.mark.parametrize("cause", ["", "killed after 600 s"])
def test_a_run_that_was_stopped_took_longer_than_its_limit(model: Any, cause: str) -> None:
    data = stopped_at(600, chunked, GRID, cause)
    assert sum(not run.ok for run in data.observations) == 2
    fitted = model().fit(data, "time_s")
    [below] = fitted.probability_below(SLOW, 600)
    assert below < 0.1
    [(low, high)] = fitted.interval(SLOW)
    assert low < 1600 < high


def test_a_stopped_run_moves_predictions_up_and_never_down() -> None:
    data = stopped_at(600, chunked, GRID)
    without = replace(data, observations=tuple(run for run in data.observations if run.ok))
    for at in GRID:
        [heard], [not_heard] = (
            Bayesian().fit(data, "time_s").predict([at]),
            Bayesian().fit(without, "time_s").predict([at]),
        )
        assert heard > 0.93 * not_heard


def test_a_limit_far_below_what_is_expected_says_next_to_nothing() -> None:
    data = runs(amdahl, [{"executors": e} for e in (2, 4, 8, 16)], noise=0.02)
    early = Observation({"executors": 1}, {"time_s": 10.0}, Outcome.TIMEOUT)
    at = [{"executors": 3}]
    known = Bayesian().fit(replace(data, observations=(*data.observations, early)), "time_s")
    assert known.predict(at) == pytest.approx(Bayesian().fit(data, "time_s").predict(at), rel=0.02)


def test_a_run_that_hung_does_not_outweigh_those_that_ended() -> None:
    data = runs(amdahl, [{"executors": e} for e in (1, 2, 3, 4, 6, 8, 12) for _ in range(2)], noise=0.03)
    hung = Observation({"executors": 4}, {"time_s": 7200.0}, Outcome.TIMEOUT)
    [predicted] = (
        Bayesian().fit(replace(data, observations=(*data.observations, hung)), "time_s").predict([{"executors": 4}])
    )
    assert predicted == pytest.approx(amdahl(4), rel=0.1)


def test_runs_that_were_stopped_and_repeated_are_learned_among_many() -> None:
    """Of many configurations only some are sampled by; those that were stopped count all the same."""
    ended = runs(amdahl, [{"executors": e} for e in range(1, 90)], noise=0.05).observations
    stopped = tuple(Observation({"executors": e}, {"time_s": 400.0}, outcome=Outcome.TIMEOUT) for e in range(1, 60, 7))
    [(low, high)] = Bayesian().fit(Dataset(("executors",), ended + stopped), "time_s").interval([{"executors": 70}])
    assert low < amdahl(70) < high < 400


def test_a_run_that_failed_by_itself_says_nothing_of_times() -> None:
    data = runs(amdahl, [{"executors": e} for e in (1, 2, 4, 8)], noise=0.03)
    failed = Observation({"executors": 4}, {"time_s": 7200.0}, Outcome.ERROR, "FileNotFoundError")
    at = [{"executors": 3}]
    with_failed = Bayesian().fit(replace(data, observations=(*data.observations, failed)), "time_s")
    assert with_failed.predict(at) == Bayesian().fit(data, "time_s").predict(at)


# ---------------------------------------------------------------- many settings


def properties(n_runs: int, n_settings: int, seed: int) -> list[dict[str, Level]]:
    draw = random.Random(seed)
    return [{f"p{k}": draw.choice((1, 2, 4, 8, 16)) for k in range(n_settings)} for _ in range(n_runs)]


def test_of_many_settings_that_do_nothing_the_typical_run_is_predicted() -> None:
    asked = properties(40, 25, seed=1)
    for seed in (2, 3, 4):
        [*predicted] = (
            Bayesian().fit(runs(lambda **_: 100.0, properties(15, 25, seed), noise=0.1), "time_s").predict(asked)
        )
        apart = [abs(math.log(value / 100)) for value in predicted]
        assert sum(apart) / len(apart) < 0.08


def test_one_of_many_settings_that_matters_is_found() -> None:
    def law(**at: Any) -> float:
        return float(100 * at["p7"] ** 0.6)

    asked = properties(40, 25, seed=1)
    fitted = Bayesian().fit(runs(law, properties(20, 25, seed=2), noise=0.05), "time_s")
    apart = [abs(math.log(value / law(**at))) for value, at in zip(fitted.predict(asked), asked, strict=True)]
    assert sum(apart) / len(apart) < 0.12


def test_where_settings_tell_nothing_the_median_of_the_runs_joins() -> None:
    """The less they tell of runs that were left out, the more it is heard."""

    def weight(law: Law) -> float:
        fitted = Auto().fit(runs(law, properties(20, 25, seed=2), noise=0.1), "time_s")
        assert fitted.inside.answering == ("bayesian", "median")
        [heard] = fitted.inside.distribution.weights  # type: ignore[attr-defined]
        return float(heard)

    assert weight(lambda **_: 100.0) > 0.4
    assert weight(lambda **at: float(100 * at["p7"] ** 0.9)) < 0.1


def test_of_many_settings_none_is_cut_to_test_an_extrapolation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly every question is beyond the range of some setting: it took seconds for each of them."""
    fitted = Auto().fit(runs(lambda **_: 100.0, properties(15, 25, seed=2), noise=0.1), "time_s")
    monkeypatch.setattr("sparkcast.models.auto._extrapolated", lambda *_: pytest.fail("learned again"))
    asked = [dict.fromkeys(fitted.problem.domain.known, 32)]
    assert fitted.predict(asked) == pytest.approx([100], rel=0.2)
    assert fitted.choice_for(asked[0]).answering == ("bayesian", "median")


def test_a_few_settings_of_unknown_meaning_are_all_expected_to_act() -> None:
    assert Terrain((Role.OTHER,) * 6, (True,) * 6, 0, is_time=True).share_acting == 1
    assert Terrain((Role.OTHER,) * 20, (True,) * 20, 10, is_time=True).share_acting == pytest.approx(3 / 27)
    with_roles = Terrain((Role.MACHINES, Role.CORES, *(Role.OTHER,) * 6), (True,) * 8, 0, is_time=True)
    assert not with_roles.has_many
