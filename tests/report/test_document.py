"""The list of runs in a report."""

import pytest

from sparkcast.report.document import NOT_RUN, planned_runs
from sparkcast.study import Configuration, Dataset, Observation, Plan, Trial


def trials(n: int) -> tuple[Trial, ...]:
    return tuple(Trial(Configuration({"rows": place}), replicate=1, position=place) for place in range(n))


def runs_of(*planned: Trial) -> tuple[Observation, ...]:
    return tuple(Observation(one.configuration, {"time_s": 1.0}, replicate=one.replicate) for one in planned)


def test_trials_come_in_the_order_of_the_plan_and_other_runs_after_them() -> None:
    plan = Plan("full", 0, trials(3))
    unplanned = [Observation({"rows": 9}, {"time_s": 1.0}, position=place) for place in (8, 7)]
    data = Dataset(("rows",), (*unplanned, *reversed(runs_of(*plan.trials[:2]))))
    lines = planned_runs(data, plan)
    assert [(line.position, line.settings["rows"]) for line in lines] == [(0, 0), (1, 1), (2, 2), (7, 9), (8, 9)]
    assert [line.outcome for line in lines] == ["ok", "ok", NOT_RUN, "ok", "ok"]


def test_a_second_trial_like_the_first_has_no_runs_left() -> None:
    [trial] = trials(1)
    lines = planned_runs(Dataset(("rows",), runs_of(trial, trial)), Plan("full", 0, (trial, trial)))
    assert [line.outcome for line in lines] == ["ok", "ok", NOT_RUN]


def test_the_work_grows_with_the_number_of_runs_and_not_with_its_square(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0
    restrict = Configuration.only

    def counting(self: Configuration, names: tuple[str, ...]) -> Configuration:
        nonlocal count
        count += 1
        return restrict(self, names)

    def comparisons(self: Observation, other: object) -> bool:
        nonlocal count
        count += 1
        return self is other

    plan = Plan("full", 0, trials(500))
    data = Dataset(("rows",), runs_of(*plan.trials))
    monkeypatch.setattr(Configuration, "only", counting)
    monkeypatch.setattr(Observation, "__eq__", comparisons)
    assert len(planned_runs(data, plan)) == 500
    assert count <= 3 * 500
