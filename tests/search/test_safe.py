"""Safe tuning in production: one change per run, within limits, back after harm, and an end."""

import math
from collections.abc import Callable

import pytest

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.search.safe import Change, Guard, PastRun, Step, one_change_each, propose
from sparkcast.study import Configuration, Level

GRID = tuple(
    Configuration({"executors": n, "cores": k, "codec": c}) for n in (1, 2, 4, 8) for k in (1, 2, 4) for c in "ab"
)
START = Configuration({"executors": 2, "cores": 2, "codec": "a"})
Times = Callable[[Configuration], float | None]


def amdahl(configuration: Configuration) -> float:
    return 20 + 320 / (float(configuration["executors"]) * float(configuration["cores"]))


def played(time_s: Times, guard: Guard | None = None, n_runs: int = 15) -> tuple[list[PastRun], Change]:
    history = [PastRun(START, 100.0), PastRun(START, 103.0)]
    for _ in range(n_runs):
        proposal = propose(history, GRID, guard)
        if proposal.is_final:
            break
        history.append(PastRun(proposal.configuration, time_s(proposal.configuration)))
    return history, proposal


def test_it_finds_better_settings_and_stops_with_them() -> None:
    history, last = played(amdahl)
    assert last.step is Step.STOP
    assert amdahl(last.base) < 0.5 * amdahl(START)
    assert last.gained > 0.4
    assert max(run.time_s or math.inf for run in history) <= 1.2 * 103


def test_one_run_is_repeated_before_anything_is_changed() -> None:
    proposal = propose([PastRun(START, 100.0)], GRID)
    assert (proposal.step, proposal.configuration) == (Step.KEEP, START)


@pytest.mark.parametrize("time_s", [None, 400.0])
def test_after_a_run_that_failed_or_was_too_slow_it_rolls_back(time_s: float | None) -> None:
    tried = START | {"executors": 4}
    proposal = propose([PastRun(START, 100.0), PastRun(START, 101.0), PastRun(tried, time_s)], GRID)
    assert (proposal.step, proposal.configuration) == (Step.ROLL_BACK, START)
    assert "last run" in proposal.why


def test_settings_that_failed_are_not_proposed_again() -> None:
    tried = START | {"executors": 4}
    history = [PastRun(START, 100.0), PastRun(START, 101.0), PastRun(tried, None)]
    for _ in range(6):
        proposal = propose(history, GRID)
        assert proposal.configuration != tried
        history.append(PastRun(proposal.configuration, amdahl(proposal.configuration)))


def test_no_change_is_proposed_that_may_miss_the_deadline() -> None:
    history = [PastRun(START, 100.0), PastRun(START, 103.0)]
    proposal = propose(history, [START, START | {"codec": "b"}], Guard(within_s=101.5, slower=1.0, risk=0.01))
    assert proposal.configuration == START


def test_where_the_deadline_is_missed_anyway_it_tries_what_is_likelier_to_meet_it() -> None:
    history = [PastRun(START, 100.0), PastRun(START, 103.0)]
    proposal = propose(history, GRID, Guard(within_s=60))
    assert proposal.step is Step.CHANGE
    assert float(proposal.configuration["executors"]) > 2 or float(proposal.configuration["cores"]) > 2


def test_a_broken_limit_makes_the_next_change_wait() -> None:
    first = propose([PastRun(START, 100.0), PastRun(START, 103.0)], GRID)
    history = [PastRun(START, 100.0), PastRun(START, 103.0), PastRun(first.configuration, 300.0), PastRun(START, 102.0)]
    proposal = propose(history, GRID)
    assert proposal.step in (Step.KEEP, Step.STOP) or proposal.risk < 0.05
    assert proposal.base == START


def test_the_cost_of_a_run_is_minimized_where_it_is_given() -> None:
    """All are as fast: one executor is the cheapest."""
    rates = {c: float(c["executors"]) for c in GRID}
    history = [PastRun(START, 100.0), PastRun(START, 100.0)]
    for _ in range(12):
        proposal = propose(history, GRID, Guard(slower=2.0), per_second=rates.__getitem__)
        if proposal.is_final:
            break
        history.append(PastRun(proposal.configuration, 100.0))
    assert rates[proposal.base] < rates[START]
    assert max(rates[run.configuration] for run in history) <= 2 * rates[START]


def test_more_data_are_not_taken_for_worse_settings() -> None:
    tried = START | {"executors": 4}
    sizes = (1.0, 2.0, 4.0, 1.0, 2.0, 4.0)
    past = [PastRun(START, 100 * size, size=size) for size in sizes]
    proposal = propose([*past, PastRun(tried, 220.0, size=4.0)], GRID, size=4.0)
    assert proposal.step is not Step.ROLL_BACK
    assert proposal.base == tried


def test_the_same_history_gives_the_same_proposal() -> None:
    history = [PastRun(START, 100.0), PastRun(START, 103.0), PastRun(START | {"codec": "b"}, 99.0)]
    assert propose(history, GRID) == propose(history, GRID)


def test_a_proposal_says_what_changes() -> None:
    proposal = propose([PastRun(START, 100.0), PastRun(START, 103.0)], GRID)
    assert proposal.step is Step.CHANGE
    assert proposal.changes
    for name, (old, new) in proposal.changes.items():
        assert (START[name], proposal.configuration[name]) == (old, new)


def test_neighbors_differ_in_one_setting_by_one_step() -> None:
    levels: dict[str, list[Level]] = {
        "executors": [8, 1, 4, 2],
        "memory": ["2g", "1024m", "4g"],
        "codec": ["a", "b", "c"],
    }
    base = Configuration({"executors": 2, "memory": "1g", "codec": "a"})
    found = one_change_each(base, levels)
    assert found[0] == base
    assert {str(c) for c in found[1:]} == {
        "executors=1, memory=1g, codec=a",
        "executors=4, memory=1g, codec=a",
        "executors=2, memory=2g, codec=a",
        "executors=2, memory=1g, codec=b",
        "executors=2, memory=1g, codec=c",
    }


def test_bad_input_is_refused_with_a_hint() -> None:
    with pytest.raises(NotEnoughDataError, match="no run that ended well"):
        propose([PastRun(START, None)], GRID)
    with pytest.raises(StudyError, match="not all runs and candidates have the setting 'codec'"):
        propose([PastRun(START, 1.0)], [{"executors": 2, "cores": 2}])
    with pytest.raises(StudyError, match="not between 0 and 1"):
        Guard(risk=5)
    with pytest.raises(StudyError, match="below 1"):
        Guard(slower=0.9)
    with pytest.raises(StudyError, match="not positive"):
        PastRun(START, -1.0)
