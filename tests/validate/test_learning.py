import math
import random
from itertools import product

import pytest

from sparkcast.errors import NotEnoughDataError, StudyError, UnknownNameError
from sparkcast.models import MODELS, Fitted
from sparkcast.study import Dataset, Observation
from sparkcast.validate import FoldProgress
from sparkcast.validate.learning import learning_curve


def measured(replicates: int = 2) -> Dataset:
    noise = random.Random(1)
    return Dataset(
        ("executors", "batch_size"),
        tuple(
            Observation(
                {"executors": e, "batch_size": b},
                {"time_s": (30 / e + 2) * (1 + 64 / b) * math.exp(noise.gauss(0, 0.03))},
                replicate=r,
            )
            for e, b in product((1, 2, 4, 8), (64, 128, 256))
            for r in range(1, replicates + 1)
        ),
    )


class Recorder:
    """Notes what it learns from, and predicts as the median does."""

    learned: list[tuple[Observation, ...]]
    needed: int

    def fit(self, data: Dataset, response: str) -> Fitted:
        self.learned.append(data.observations)
        if len(data.observations) < self.needed:
            raise NotEnoughDataError("8 runs are needed", hint="run more")
        return MODELS.get("median")().fit(data, response)


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> type[Recorder]:
    Recorder.learned, Recorder.needed = [], 8
    known = MODELS.get
    monkeypatch.setattr(MODELS, "get", lambda name: Recorder if name == "recorder" else known(name))
    return Recorder


def test_a_model_that_can_learn_gets_better_with_more_configurations_and_the_baseline_is_there() -> None:
    curve = learning_curve(measured(), "time_s", ["ridge"], [4, 9])
    errors = {(point.model, point.n_configurations): point.mape for point in curve.points}
    assert list(errors) == [("ridge", 4), ("ridge", 9), ("median", 4), ("median", 9)]
    assert errors["ridge", 9] < errors["ridge", 4]
    assert errors["ridge", 9] < errors["median", 9]
    assert (curve.n_configurations, curve.repeats, curve.seed) == (12, 5, 0)
    assert curve.noise_floor_mape is not None
    assert curve.noise_floor_mape < errors["ridge", 9]


def test_the_error_is_the_mean_of_the_draws_between_the_best_and_the_worst(recorder: type[Recorder]) -> None:
    times = (4.0, 4.0, 4.0, 8.0)
    data = Dataset(("x",), tuple(Observation({"x": x}, {"time_s": t}) for x, t in enumerate(times)))
    recorder.needed = 3
    point = learning_curve(data, "time_s", ["recorder"], [3], repeats=8).points[0]
    # The median of three is 4 in any case: wrong by half of 8, and right otherwise.
    errors = [0 if any(run.responses["time_s"] == 8 for run in runs) else 50 for runs in recorder.learned]
    assert (len(errors), set(errors)) == (8, {0, 50})
    assert (point.low, point.high, point.n_draws) == (0, 50, 8)
    assert point.mape == pytest.approx(sum(errors) / 8)


def test_larger_sizes_know_what_smaller_ones_did_and_replicates_stay_together(recorder: type[Recorder]) -> None:
    data = measured(replicates=3)
    learning_curve(data, "time_s", ["recorder"], [4, 8], repeats=3)
    small, large = recorder.learned[:3], recorder.learned[3:]
    for few, many in zip(small, large, strict=True):
        assert set(map(data.key, few)) < set(map(data.key, many))
        assert (len(few), len(many)) == (4 * 3, 8 * 3)
    assert len({frozenset(map(data.key, few)) for few in small}) > 1


def test_a_model_that_refuses_a_size_is_left_out_there_with_its_reason(recorder: type[Recorder]) -> None:
    curve = learning_curve(measured(), "time_s", ["recorder"], [3, 4])
    assert [(p.model, p.n_configurations) for p in curve.points] == [("recorder", 4), ("median", 3), ("median", 4)]
    assert curve.refused == (("recorder", 3, "8 runs are needed"),)


def test_the_same_seed_gives_the_same_curve_and_another_one_another() -> None:
    data = measured()
    first = learning_curve(data, "time_s", [], [5], seed=1)
    assert first == learning_curve(data, "time_s", [], [5], seed=1)
    assert first.points != learning_curve(data, "time_s", [], [5], seed=2).points


def test_without_sizes_there_are_a_handful_from_three_to_four_fifths() -> None:
    curve = learning_curve(measured(replicates=1), "time_s", [])
    assert [point.n_configurations for point in curve.points] == [3, 4, 5, 6, 8, 10]
    assert curve.noise_floor_mape is None


def test_categories_that_were_not_learned_are_not_tested() -> None:
    data = Dataset(
        ("x", "net"),
        tuple(Observation({"x": x, "net": n}, {"time_s": 5.0 + x}) for x in range(6) for n in ("a", "b")),
    )
    curve = learning_curve(data, "time_s", ["ridge"], [3])
    assert [point.model for point in curve.points] == ["ridge", "median"]
    assert curve.refused == ()


def test_every_size_is_announced() -> None:
    steps: list[FoldProgress] = []
    learning_curve(measured(), "time_s", [], [4, 8], repeats=2, on_step=steps.append)
    assert steps == [FoldProgress("median", 1, 1, 1, 4), FoldProgress("median", 1, 1, 3, 4)]


@pytest.mark.parametrize("size", [0, 12])
def test_a_size_that_leaves_nothing_to_learn_or_to_test_is_refused(size: int) -> None:
    with pytest.raises(StudyError, match=r"choose sizes from 1 to 11"):
        learning_curve(measured(), "time_s", [], [size])


def test_three_configurations_are_too_few_and_a_wrong_name_is_no_refusal() -> None:
    few = Dataset(("x",), tuple(Observation({"x": x}, {"time_s": 1.0 + x}) for x in range(3)))
    with pytest.raises(NotEnoughDataError, match=r"3 configurations are too few"):
        learning_curve(few, "time_s", [])
    with pytest.raises(UnknownNameError):
        learning_curve(measured(), "time_s", ["rigde"])
