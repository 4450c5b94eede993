"""Promised versus observed: what is counted, and what is said of it."""

import json
import math
import random
from itertools import product
from pathlib import Path

import pytest

from sparkcast.models import MODELS
from sparkcast.study import Configuration, Dataset, Observation
from sparkcast.validate import Kept
from sparkcast.validate import TestedRun as LeftOut
from sparkcast.validate.calibration import PROMISED, broken_promise, kept_promises, wilson
from sparkcast.validate.score import validate
from tests_support import Call


def left_out(executors: int, probability: float | None, *, replicate: int = 1, seed: int = 0) -> LeftOut:
    at = Configuration({"executors": executors, "seed": seed})
    return LeftOut(at, replicate, 10.0, 10.0, 9.0, 11.0, probability)


def measured(n_replicates: int = 2) -> Dataset:
    noise = random.Random(1)
    return Dataset(
        ("executors", "batch_size"),
        tuple(
            Observation(
                {"executors": e, "batch_size": b},
                {"time_s": (30 / e + 2) * (1 + 64 / b) * math.exp(noise.gauss(0, 0.03))},
                replicate=r,
            )
            for e, b in product((1, 2, 4), (64, 128, 256))
            for r in range(1, n_replicates + 1)
        ),
    )


def test_a_promise_is_kept_by_runs_at_or_below_its_quantile() -> None:
    runs = [left_out(e, chance) for e, chance in enumerate((0.1, 0.5, 0.85, 0.97), start=1)]
    kept = kept_promises(runs, ["executors"])
    assert [one.promised for one in kept] == list(PROMISED)
    assert [one.share for one in kept] == [0.5, 0.5, 0.75, 0.75]
    assert all(one.low <= one.share <= one.high and one.n_configurations == 4 for one in kept)


def test_replicates_share_the_one_vote_of_their_configuration() -> None:
    runs = [left_out(1, 0.99, replicate=r, seed=r) for r in range(1, 9)]
    [kept] = kept_promises([*runs, left_out(2, 0.1), left_out(2, 0.99, replicate=2)], ["executors"], [0.9])
    assert (kept.share, kept.n_configurations) == (0.25, 2)
    assert (kept.low, kept.high) == wilson(0.25, 2)


def test_runs_without_a_probability_promise_nothing() -> None:
    assert kept_promises([left_out(1, None)], ["executors"]) == ()


@pytest.mark.parametrize(
    ("share", "n", "low", "high"),
    # Newcombe (1998), table I, method 3.
    [
        (81 / 263, 263, 0.2553, 0.3662),
        (15 / 148, 148, 0.0624, 0.1605),
        (0.0, 20, 0.0, 0.1611),
        (1 / 29, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_is_that_of_wilson(share: float, n: int, low: float, high: float) -> None:
    assert wilson(share, n) == pytest.approx((low, high), abs=1e-4)


def test_an_interval_at_either_end_holds_the_share_itself() -> None:
    for n in range(1, 60):
        assert wilson(0.0, n)[0] == 0.0 < wilson(0.0, n)[1] < 1
        assert 0 < wilson(1.0, n)[0] < wilson(1.0, n)[1] == 1.0


def test_a_promise_that_its_interval_leaves_out_is_called_broken() -> None:
    kept = (Kept(0.8, 0.6, 0.5, 0.7, 90), Kept(0.95, 0.72, 0.6, 0.81, 90))
    assert broken_promise("auto", kept) == (
        "auto is overconfident here: promises made with probability 95% held in 72% of the cases"
    )
    assert broken_promise("auto", [Kept(0.8, 0.75, 0.6, 0.9, 20)]) is None
    cautious = broken_promise("auto", [Kept(0.5, 0.9, 0.7, 0.97, 20), Kept(0.9, 0.95, 0.8, 0.99, 20)])
    assert cautious is not None
    assert cautious.startswith("auto is more cautious here than it claims: promises made with probability 50%")


def test_a_tested_run_has_the_probability_that_its_model_gave_it() -> None:
    data = measured()
    card = validate(data, "time_s", models=["ridge"]).scorecards[0]
    run = card.runs[0]
    others = Dataset(data.factors, tuple(o for o in data.observations if o.configuration != run.configuration))
    [expected] = MODELS.get("ridge")().fit(others, "time_s").probability_below([run.configuration], run.actual)
    assert run.probability_below == pytest.approx(expected)
    assert card.kept == kept_promises(card.runs, data.factors)
    assert card.kept[0].n_configurations == 9


def test_a_draw_that_tests_a_configuration_again_does_not_count_it_twice() -> None:
    for card in validate(measured(), "time_s", "holdout:0.5", ["ridge"]).scorecards:
        assert len(card.runs) > 18
        assert {one.n_configurations for one in card.kept} == {9}


@pytest.mark.parametrize("level", PROMISED)
def test_a_promise_is_kept_exactly_where_the_predicted_quantile_is_not_exceeded(level: float) -> None:
    """Interval and probability come from one distribution: the upper end at 2p - 1 is the quantile of p."""
    for card in validate(measured(), "time_s", models=["ridge"], level=max(2 * level - 1, 1e-9)).scorecards:
        for run in card.runs:
            assert run.probability_below is not None
            assert (run.probability_below <= level) == (run.actual <= run.high)


@pytest.fixture
def runs(tmp_path: Path) -> None:
    rows = [
        f"{o.configuration['executors']},{o.configuration['batch_size']},{o.responses['time_s']}"
        for o in measured().observations
    ]
    (tmp_path / "runs.csv").write_text("\n".join(["executors,batch_size,time_s", *rows]) + "\n")


@pytest.mark.usefixtures("runs")
def test_validate_prints_promised_against_kept_for_auto_even_where_another_is_best(call: Call) -> None:
    answer = call("validate", "runs.csv", "--factors", "executors,batch_size", "--model", "auto,ridge", "--details")
    assert answer.code == 0, answer.err
    lines = [" ".join(line.split()) for line in answer.out.splitlines()]
    at = lines.index("promised observed, of 9 configurations")
    assert "within the limit that auto promised" in lines[at - 1]
    assert [line.split()[0] for line in lines[at + 2 : at + 6]] == ["50%", "80%", "90%", "95%"]
    assert all(" to " in line for line in lines[at + 2 : at + 6])


@pytest.mark.usefixtures("runs")
def test_json_has_what_was_kept_by_every_model_and_the_probability_of_every_run(call: Call) -> None:
    answer = call("validate", "runs.csv", "--factors", "executors,batch_size", "--model", "ridge", "--json")
    for card in json.loads(answer.out)["scorecards"]:
        assert [one["promised"] for one in card["kept"]] == [0.5, 0.8, 0.9, 0.95]
        assert all(0 <= run["probability_below"] <= 1 for run in card["runs"])
