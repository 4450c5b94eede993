"""The guided search: what it knows of jobs, of failures, of money and of earlier workloads."""

import math
from collections.abc import Callable

import pytest

from sparkcast.search.base import Evaluation, Search
from sparkcast.search.points import known_from
from sparkcast.search.searchers.guided import Guided
from sparkcast.study import Configuration, Dataset, Observation, Outcome

Times = Callable[[Configuration], float | None]

CLUSTERS = tuple(
    Configuration({"machines": n, "cores": 4, "memory": m}) for n in (2, 4, 8, 16, 32) for m in (8, 16, 32, 64)
)
TYPES = ("a", "b", "c", "d", "e", "f")
TYPED = tuple(Configuration({"machines": n, "type": kind}) for n in (2, 4, 8, 16) for kind in TYPES)


def number(configuration: Configuration, name: str) -> float:
    return float(configuration[name])


def searched(search: Search, time_s: Times, *, at_most: int = 100) -> tuple[list[Configuration], Guided]:
    searcher = Guided(search)
    prices = {str(c): p for c, p in zip(search.candidates, search.per_second or (), strict=False)}
    asked: list[Configuration] = []
    while len(asked) < at_most and (configuration := searcher.ask()) is not None:
        asked.append(configuration)
        time = time_s(configuration)
        value = None if time is None else time * prices.get(str(configuration), 1.0)
        searcher.tell(Evaluation(configuration, value, time))
    return asked, searcher


def paid(candidates: tuple[Configuration, ...]) -> tuple[float, ...]:
    return tuple(number(c, "machines") * (1 + number(c, "memory") / 32 if "memory" in c else 1.0) for c in candidates)


def caching(configuration: Configuration) -> float:
    """Five times slower unless 500 GiB of data fit into the memory of all machines."""
    fits = number(configuration, "machines") * number(configuration, "memory") >= 500
    return 20 + 6000 / number(configuration, "machines") * (1 if fits else 5)


def test_it_finds_where_the_data_fit_into_memory_in_a_few_runs() -> None:
    prices = paid(CLUSTERS)
    costs = {str(c): caching(c) * p for c, p in zip(CLUSTERS, prices, strict=True)}
    for seed in range(3):
        asked, _ = searched(Search(CLUSTERS, seed=seed, per_second=prices), caching, at_most=8)
        assert min(costs[str(c)] for c in asked) < 1.1 * min(costs.values())


def test_it_stops_by_itself_and_says_why() -> None:
    asked, searcher = searched(Search(CLUSTERS, per_second=paid(CLUSTERS)), caching)
    assert len(asked) < len(CLUSTERS)
    assert searcher.stopped_because == "no further run is expected to pay for itself within 100 runs of the job"


def test_after_failures_with_little_memory_it_asks_for_more() -> None:
    searcher = Guided(Search(CLUSTERS, per_second=paid(CLUSTERS)))
    failed = []
    for configuration in (c for c in CLUSTERS if number(c, "machines") * number(c, "memory") <= 32):
        searcher.tell(Evaluation(configuration, None))
        failed.append(configuration)
    asked = searcher.ask()
    assert asked is not None
    largest = max(number(c, "machines") * number(c, "memory") for c in failed)
    assert number(asked, "machines") * number(asked, "memory") > 2 * largest


def test_few_runs_fail_when_little_memory_makes_them_fail() -> None:
    def needing_memory(configuration: Configuration) -> float | None:
        enough = number(configuration, "machines") * number(configuration, "memory") >= 128
        return 20 + 3000 / number(configuration, "machines") if enough else None

    asked, _ = searched(Search(CLUSTERS, per_second=paid(CLUSTERS)), needing_memory)
    assert 0 < sum(needing_memory(c) is None for c in asked) <= 3  # of 7 candidates that do
    assert any(needing_memory(c) is not None for c in asked)


def typed(work: float, serial: float) -> Times:
    """Type e is twice as fast as all others, which nothing but a run can show."""

    def time_s(configuration: Configuration) -> float:
        return (serial + work / number(configuration, "machines")) / (2 if configuration["type"] == "e" else 1)

    return time_s


def runs_of(time_s: Times, candidates: tuple[Configuration, ...], name: str) -> Dataset:
    runs = [Observation(c, {"time_s": time or 0.0}) for c in candidates if (time := time_s(c)) is not None]
    return Dataset(tuple(candidates[0]), tuple(runs), name)


def test_earlier_workloads_make_it_find_a_planted_optimum_in_fewer_runs() -> None:
    new = typed(900.0, 30.0)
    best = min(TYPED, key=lambda c: new(c) or math.inf)
    earlier = tuple(runs_of(typed(w, s), TYPED, f"{w}") for w, s in ((100.0, 50.0), (5000.0, 5.0), (400.0, 80.0)))
    with_earlier, without = (
        searched(Search(TYPED, per_second=(1.0,) * len(TYPED), earlier=some), new)[0] for some in (earlier, ())
    )
    assert with_earlier.index(best) < 2
    assert best not in without or without.index(best) > with_earlier.index(best)


def test_workloads_with_other_settings_are_ignored_and_named() -> None:
    stranger = Dataset(("rate",), tuple(Observation({"rate": r}, {"time_s": 1.0}) for r in range(5)), "stranger")
    search = Search(TYPED, per_second=(1.0,) * len(TYPED))
    with_stranger = Search(TYPED, per_second=(1.0,) * len(TYPED), earlier=(stranger,))
    asked, searcher = searched(with_stranger, typed(900.0, 30.0))
    assert asked == searched(search, typed(900.0, 30.0))[0]
    assert searcher.warnings == ("stranger not used: different settings",)


@pytest.mark.parametrize("is_cost", [True, False])
def test_settings_that_are_too_slow_are_no_answer(is_cost: bool) -> None:
    """Few machines are cheap and too slow; the cheapest in time is known after a few runs."""

    def time_s(configuration: Configuration) -> float:
        return 10 + 800 / number(configuration, "machines")

    candidates = tuple(Configuration({"machines": n}) for n in range(1, 25))
    prices = tuple(number(c, "machines") for c in candidates) if is_cost else None
    searcher = Guided(Search(candidates, per_second=prices, within_s=100.0))
    late = []
    while (configuration := searcher.ask()) is not None:
        time = time_s(configuration)
        late.append(time > 100.0)
        searcher.tell(Evaluation(configuration, time * number(configuration, "machines"), time))
    assert not all(late)
    assert sum(late) <= 4  # of 8 that are


def test_an_objective_that_is_not_made_of_time_is_searched_too() -> None:
    candidates = tuple(Configuration({"rate": r / 10, "layers": k}) for r in range(8) for k in (1, 2, 3))

    def loss(configuration: Configuration) -> float:
        return (number(configuration, "rate") - 0.4) ** 2 + 0.05 * number(configuration, "layers")

    asked, searcher = searched(Search(candidates), loss)
    assert min(map(loss, asked)) < 1.5 * min(map(loss, candidates))
    assert len(asked) < len(candidates)
    assert searcher.stopped_because


@pytest.mark.parametrize("is_time", [True, False])
def test_after_failures_with_large_batches_it_asks_for_smaller_ones(is_time: bool) -> None:
    candidates = tuple(Configuration({"batch_size": 2**k}) for k in range(3, 13))
    searcher = Guided(Search(candidates, per_second=(1.0,) * len(candidates) if is_time else None))
    for configuration in candidates[-3:]:
        searcher.tell(Evaluation(configuration, None))
    searcher.tell(Evaluation(candidates[3], 10.0))
    asked = searcher.ask()
    assert asked is not None
    assert number(asked, "batch_size") < 512


def test_many_candidates_are_searched_as_well() -> None:
    many = tuple(Configuration({"machines": n, "memory": m}) for n in range(1, 41) for m in range(4, 64, 4))
    asked, _ = searched(Search(many, per_second=paid(many)), caching, at_most=3)
    assert len(asked) == 3


# ---------------------------------------------------------------- how a run failed

BY_CORES = tuple(
    Configuration({"machines": 4, "cores": n, "memory": m}) for n in (1, 2, 4, 8, 16) for m in (8, 16, 32, 64)
)


def after_failure(candidates: tuple[Configuration, ...], failed: Configuration, outcome: Outcome) -> Configuration:
    """What it asks for when its first run fails, where all cost the same."""
    searcher = Guided(Search(candidates, per_second=(1.0,) * len(candidates)))
    limit_s = 3600.0 if outcome is Outcome.TIMEOUT else None
    searcher.tell(Evaluation(failed, None, None, outcome, limit_s))
    asked = searcher.ask()
    assert asked is not None
    return asked


def test_after_a_timeout_it_asks_for_more_cores_where_memory_is_the_same() -> None:
    same_memory = tuple(c for c in BY_CORES if c["memory"] == 16)
    asked = after_failure(same_memory, same_memory[1], Outcome.TIMEOUT)
    assert number(asked, "cores") > 2


def test_after_running_out_of_memory_it_asks_for_more_memory() -> None:
    asked = after_failure(BY_CORES, BY_CORES[5], Outcome.OOM)
    assert number(asked, "memory") > number(BY_CORES[5], "memory")


def test_a_job_that_was_stopped_at_a_limit_is_not_looked_for_where_it_takes_longer() -> None:
    """Few machines are cheapest by the hour, and too slow: 4 of 12 candidates are stopped at the limit."""

    def time_s(configuration: Configuration) -> float:
        return 40_000 / number(configuration, "machines")

    candidates = tuple(Configuration({"machines": n}) for n in (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32))
    searcher = Guided(Search(candidates, per_second=tuple(number(c, "machines") for c in candidates)))
    n_stopped = 0
    while (configuration := searcher.ask()) is not None:
        time = time_s(configuration)
        if time > 7200:
            n_stopped += 1
            searcher.tell(Evaluation(configuration, None, None, Outcome.TIMEOUT, 7200.0))
        else:
            searcher.tell(Evaluation(configuration, time * number(configuration, "machines"), time, Outcome.OK))
    assert n_stopped <= 3


def test_a_limit_that_nobody_told_is_at_least_what_other_runs_took() -> None:
    searcher = Guided(Search(BY_CORES, per_second=(1.0,) * len(BY_CORES)))
    searcher.tell(Evaluation(BY_CORES[-1], 50.0, 50.0, Outcome.OK))
    searcher.tell(Evaluation(BY_CORES[0], None, None, Outcome.TIMEOUT))
    assert searcher._told(known_from(searcher._evaluations, searcher._points)).stopped == {0: math.log(50.0)}


# ---------------------------------------------------------------- types of machines, room, earlier workloads


def named(n: int) -> tuple[Configuration, ...]:
    return tuple(Configuration({"machine_type": f"type{i}"}) for i in range(n))


def test_types_of_which_only_the_names_are_known_are_not_taken_to_be_alike() -> None:
    """Three of nine are four times as fast, which two slow ones do not tell."""
    fast = {"type4", "type6", "type8"}
    candidates = named(9)
    asked, _ = searched(
        Search(candidates, per_second=(1.0,) * 9), lambda c: 100.0 if c["machine_type"] in fast else 400.0
    )
    assert any(c["machine_type"] in fast for c in asked)


def test_what_costs_more_is_expected_to_be_faster() -> None:
    candidates, prices = named(6), (1.0, 1.0, 2.0, 2.0, 4.0, 4.0)
    log_times = Guided(Search(candidates, per_second=prices))._drawn.log_times.mean(axis=0)
    assert log_times[:2].mean() > log_times[2:4].mean() > log_times[4:].mean()


def test_the_second_run_has_much_memory_when_the_first_has_not() -> None:
    asked, _ = searched(Search(CLUSTERS, per_second=(1.0,) * len(CLUSTERS)), caching, at_most=2)
    assert any(number(c, "machines") * number(c, "memory") >= 1024 for c in asked)


def test_earlier_workloads_that_mislead_do_not_end_the_search_too_soon() -> None:
    """All earlier ones are indifferent to memory; the new one is five times as fast where its data fit."""
    prices = paid(CLUSTERS)

    def indifferent(work: float) -> Times:
        return lambda c: 20 + work / number(c, "machines")

    earlier = tuple(runs_of(indifferent(work), CLUSTERS, f"{work}") for work in (300.0, 3000.0, 30000.0))
    costs = {str(c): caching(c) * p for c, p in zip(CLUSTERS, prices, strict=True)}
    asked, _ = searched(Search(CLUSTERS, per_second=prices, earlier=earlier), caching)
    alone, _ = searched(Search(CLUSTERS, per_second=prices), caching)
    best = min(costs[str(c)] for c in asked)
    assert best <= 1.1 * min(costs[str(c)] for c in alone)
