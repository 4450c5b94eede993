"""What a plan takes and what it can tell; times that a design gives or that are learned from earlier runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sparkcast import api
from sparkcast.designs import make_plan
from sparkcast.designs.summary import PlanSummary, effect_in_sd, relative_noise, summarize_plan
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.learned.run_time import run_times
from sparkcast.study import DesignChoice, Factor, Limits, Observation, Plan, Price, Study

FACTORS = (Factor("executors", (1, 2, 4)), Factor("samples", (10, 20)))


def study(folder: Path | None = None, **options: object) -> Study:
    return Study(
        "s",
        "pi",
        FACTORS,
        limits=Limits(trial_s=60.0, total_s=200.0),
        price=Price(0.6),
        design=DesignChoice("optimal", options=options) if options else DesignChoice(),
        path=folder / "s.yaml" if folder else None,
    )


def plan_of(made: Study) -> Plan:
    return make_plan(made, run_times(made).predicted)


def summarize(made: Study, plan: Plan, seen: Sequence[Observation] = (), **options: Any) -> PlanSummary:
    return summarize_plan(made, plan, seen, time_of=run_times(made).given, **options)


def run(executors: int, samples: int, seconds: float, replicate: int = 1) -> Observation:
    responses = {"time_s": seconds, "total_s": seconds + 10}
    return Observation({"executors": executors, "samples": samples}, responses, replicate=replicate)


def test_without_runs_a_trial_is_expected_to_take_its_limit() -> None:
    summary = summarize(study(), plan_of(study()))
    assert (summary.trial_s, summary.total_s, summary.done) == (60.0, 360.0, 0)
    assert "limit on one trial" in summary.estimated_from
    assert (summary.left_out, summary.left_out_trials) == (3, (4, 5, 6))
    # Seven executors twice, a minute each, at 0.6 an hour.
    assert summary.price == pytest.approx(14 * 60 / 3600 * 0.6)


def test_the_price_counts_what_executors_held_in_the_runs_so_far_as_answers_do() -> None:
    def held(executors: int) -> Observation:  # for 50 of 100 s
        return Observation(
            {"executors": executors, "samples": 10}, {"total_s": 100.0, "core_hours": executors * 50 / 3600}
        )

    summary = summarize(study(), plan_of(study()), (held(1), held(2)))
    assert summary.price == pytest.approx(14 * 50 / 3600 * 0.6)  # seven executors twice, 100 s each


def test_earlier_runs_of_a_configuration_count_for_it_and_their_mean_for_the_others() -> None:
    seen = (run(1, 10, 90.0), run(1, 10, 110.0, 2), run(2, 10, 40.0))
    summary = summarize(study(), plan_of(study()), seen)
    mean = (100 + 120 + 50) / 3
    assert summary.total_s == pytest.approx(110 + 50 + 4 * mean)
    assert "the mean of 3 runs" in summary.estimated_from


def test_a_budget_on_the_command_line_wins_over_the_limit() -> None:
    assert summarize(study(), plan_of(study()), budget_s=400.0).left_out == 0


def test_the_time_that_a_design_gives_is_the_estimate() -> None:
    made = study(runs=8, time="10 * samples / executors")
    summary = summarize(made, plan_of(made))
    expected = sum(10 * float(t["samples"]) / float(t["executors"]) for t in summary.trials)
    assert summary.total_s == pytest.approx(expected)
    assert "design's time formula" in summary.estimated_from


def test_times_are_learned_from_a_file_beside_the_study(tmp_path: Path) -> None:
    rows = [f"{e},{s},{5 + 20 * s / e:g}" for e in (1, 2, 4) for s in (10, 20, 30)]
    (tmp_path / "earlier.csv").write_text("\n".join(["executors,samples,time_s", *rows]))
    made = study(tmp_path, budget="30m", time="earlier.csv")
    plan = plan_of(made)
    assert plan == plan_of(made)
    took = sum(5 + 20 * float(t.configuration["samples"]) / float(t.configuration["executors"]) for t in plan.trials)
    assert 0.75 * 1800 < took < 1.25 * 1800
    summary = summarize(made, plan)
    assert summary.total_s is not None
    assert summary.total_s <= 1800


def test_a_file_of_runs_that_varies_something_else_is_refused(tmp_path: Path) -> None:
    rows = [f"{e},{s},{5 + s / e:g}" for e in (1, 2, 4) for s in (10, 20)]
    (tmp_path / "earlier.csv").write_text("\n".join(["executors,rows,time_s", *rows]))
    with pytest.raises(StudyError, match="varies rows, which the study does not define"):
        plan_of(study(tmp_path, budget="30m", time="earlier.csv"))


def test_the_plan_does_not_change_while_results_come_in() -> None:
    made = study(budget="10m", time="30 + 60 / executors")
    before = plan_of(made)
    summarize(made, before, (run(1, 10, 3000.0),))
    assert plan_of(made) == before


def test_an_effect_in_percent_is_measured_by_the_noise_of_replicates() -> None:
    seen = (run(1, 10, 95.0), run(1, 10, 105.0, 2), run(2, 10, 95.0), run(2, 10, 105.0, 2))
    # Pooled variance 50, mean 100.
    assert relative_noise(study(), seen) == pytest.approx(50**0.5 / 100)
    assert effect_in_sd(study(), seen, "10%") == pytest.approx(10 / 50**0.5)
    assert effect_in_sd(study(), (), "1.5") == 1.5
    with pytest.raises(NotEnoughDataError):
        effect_in_sd(study(), seen[:1], "10%")


def test_a_center_point_that_the_workload_will_refuse_is_named_before_anything_runs(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(
        "study: s\nworkload: mnist-training\nsettings: {executors: [1, 4], batch_size: [64, 256]}\n"
        "design: {center_points: 1}\n"
    )
    notes = api.plan(path).notes
    assert "a center point cannot be run: batch_size = 160 cannot be divided equally among 3 executors" in notes[-1]
    assert "add the rule" in notes[-1]
