"""Other numbers of epochs than the runs had, from their curves."""

import math
import random
from dataclasses import replace

import pytest

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.learned.curves import fit_curve, has_curves
from sparkcast.study import Configuration, Dataset, Epoch, Observation

LAST = 4


def time_s(executors: int, batch: int, epoch: float) -> float:
    return 3.0 / math.sqrt(math.sqrt(executors)) + epoch * 20 / executors * math.sqrt(64 / batch)


def accuracy(batch: int, epoch: float) -> float:
    odds = 2.0 - 0.5 * math.log(batch / 64) + 0.8 * math.log(epoch / LAST)
    return 1 / (1 + math.exp(-odds))


def runs(noise: float = 0.0, replicates: int = 1, after_s: float = 0.0, last: int = LAST) -> Dataset:
    dice = random.Random(1)
    observations = []
    for e in (1, 2, 4):
        for b in (64, 128, 256):
            for r in range(replicates):
                factor = math.exp(dice.gauss(0, noise))
                curve = tuple(
                    Epoch(
                        k,
                        factor * time_s(e, b, k),
                        {"accuracy": min(1.0, accuracy(b, k) + dice.gauss(0, noise / 10))},
                    )
                    for k in range(1, last + 1)
                )
                responses = {"time_s": curve[-1].time_s + after_s, **curve[-1].values}
                settings = Configuration({"executors": e, "batch_size": b, "epochs": last})
                observations.append(Observation(settings, responses, replicate=r + 1, curve=curve))
    return Dataset(("executors", "batch_size"), tuple(observations), responses=("time_s", "accuracy"))


def at(epochs: float, executors: int = 2, batch: int = 128) -> list[Configuration]:
    return [Configuration({"executors": executors, "batch_size": batch, "epochs": epochs})]


@pytest.mark.parametrize("epochs", [1, 2, 3, 4, 8, 16])
def test_time_is_a_start_and_equal_epochs(epochs: int) -> None:
    assert fit_curve(runs(), "time_s").predict(at(epochs)) == [pytest.approx(time_s(2, 128, epochs), rel=0.02)]


@pytest.mark.parametrize("epochs", [1, 2, 3, 4, 8, 16])
def test_accuracy_saturates(epochs: int) -> None:
    fitted = fit_curve(runs(), "accuracy")
    assert fitted.predict(at(epochs)) == [pytest.approx(accuracy(128, epochs), abs=0.01)]
    assert fitted.predict(at(10**9))[0] <= 1


def test_accuracies_may_be_percent() -> None:
    data = runs()
    percent = tuple(
        replace(
            run,
            responses={"accuracy": 100 * run.responses["accuracy"]},
            curve=tuple(replace(epoch, values={"accuracy": 100 * epoch.values["accuracy"]}) for epoch in run.curve),
        )
        for run in data.observations
    )
    fitted = fit_curve(Dataset(data.factors, percent), "accuracy")
    assert fitted.predict(at(8)) == [pytest.approx(100 * accuracy(128, 8), abs=1)]


@pytest.mark.parametrize("level", [0.9, 0.999])
@pytest.mark.parametrize("epochs", [1, 8, 1000])
def test_the_interval_of_an_accuracy_by_epoch_stays_between_zero_and_one(epochs: int, level: float) -> None:
    [(low, high)] = fit_curve(runs(noise=0.5), "accuracy").interval(at(epochs), level=level)
    assert 0 <= low <= high <= 1


def test_an_accuracy_that_falls_is_not_continued_downwards() -> None:
    data = runs()
    falling = tuple(
        replace(run, curve=tuple(replace(epoch, values={"accuracy": 0.9 - 0.1 * epoch.number}) for epoch in run.curve))
        for run in data.observations
    )
    fitted = fit_curve(Dataset(data.factors, falling), "accuracy")
    assert fitted.predict(at(16)) == [pytest.approx(fitted.predict(at(4))[0])]


def test_what_comes_after_the_last_epoch_belongs_to_the_time() -> None:
    fitted = fit_curve(runs(after_s=1.0), "time_s")
    assert fitted.predict(at(LAST)) == [pytest.approx(time_s(2, 128, LAST) + 1, rel=0.02)]


def test_the_interval_holds_for_configurations_that_were_not_seen() -> None:
    data = runs(noise=0.1, replicates=2)
    inside, asked = 0, 0
    for e in (1, 2, 4):
        for b in (64, 128, 256):
            kept = tuple(
                o for o in data.observations if (o.configuration["executors"], o.configuration["batch_size"]) != (e, b)
            )
            fitted = fit_curve(Dataset(data.factors, kept), "time_s")
            for run in [o for o in data.observations if o not in kept]:
                for epoch in run.curve:
                    [(low, high)] = fitted.interval(at(epoch.number, e, b))
                    inside += low <= epoch.time_s <= high
                    asked += 1
    assert inside / asked > 0.8


def test_more_epochs_of_the_same_configurations_do_not_narrow_the_interval_like_more_configurations() -> None:
    """Nine configurations are nine errors, however many epochs each has."""
    few, many = (fit_curve(runs(noise=0.1, last=n), "time_s").errors for n in (2, 8))
    assert few.df == many.df == 8


def test_replicates_and_epochs_of_a_configuration_are_left_out_together() -> None:
    data = runs(noise=0.1)
    once, often = (fit_curve(Dataset(data.factors, data.observations * n), "time_s") for n in (1, 4))
    assert often.interval(at(3))[0] == pytest.approx(once.interval(at(3))[0], rel=1e-6)


def test_far_more_epochs_than_measured_are_beyond() -> None:
    fitted = fit_curve(runs(), "time_s")
    near, far = fitted.beyond([*at(12), *at(100)])
    assert near is None
    assert far is not None
    assert "epochs = 100 is too far" in far.problem


def test_epochs_must_be_given_and_other_settings_are_checked() -> None:
    fitted = fit_curve(runs(), "time_s")
    with pytest.raises(StudyError, match="'epochs' is missing"):
        fitted.predict([{"executors": 2, "batch_size": 64}])
    with pytest.raises(StudyError, match="no run has the setting 'epoch'"):
        fitted.predict([{"executors": 2, "batch_size": 64, "epoch": 3}])


def test_too_few_curves_and_other_responses_are_refused() -> None:
    data = runs()
    with pytest.raises(NotEnoughDataError, match=r"2 configurations with time_s per epoch(.|\n)*at least 3"):
        fit_curve(Dataset(data.factors, data.observations[:2]), "time_s")
    with pytest.raises(NotEnoughDataError, match="0 configurations"):
        fit_curve(runs(last=1), "time_s")
    with pytest.raises(StudyError, match="do not report cost per epoch"):
        fit_curve(data, "cost")


def test_curves_are_of_use_when_epochs_are_no_factor_and_there_are_some() -> None:
    data = runs()
    assert has_curves(data, "time_s")
    assert has_curves(data, "accuracy")
    assert not has_curves(data, "cost")
    assert not has_curves(runs(last=1), "time_s")
    assert not has_curves(Dataset(("executors", "epochs"), data.observations), "time_s")


def test_a_configuration_that_was_run_goes_on_as_it_did() -> None:
    """Its own epochs tell more of it than other configurations do."""
    dice = random.Random(3)
    observations = []
    for k, executors in enumerate((1, 2, 3, 4, 5, 6, 7, 8)):
        height, slope = dice.uniform(-1, 2), dice.uniform(0.2, 1.0)  # nothing of it in the settings
        curve = tuple(
            Epoch(
                e, float(e), {"accuracy": 1 / (1 + math.exp(-height - slope * math.log(e / 4) - dice.gauss(0, 0.05)))}
            )
            for e in range(1, 5)
        )
        shown = {"accuracy": curve[-1].values["accuracy"]}
        observations.append(Observation({"executors": executors, "depth": 1 + k % 2}, shown, curve=curve))
    fitted = fit_curve(Dataset(("executors", "depth"), tuple(observations), responses=("accuracy",)), "accuracy")

    def width(executors: int, depth: int, epochs: float) -> float:
        [(low, high)] = fitted.interval([Configuration({"executors": executors, "depth": depth, "epochs": epochs})])
        return high - low

    assert width(3, 1, 4) < 0.5 * width(3, 2, 4)  # the other was never run
    assert width(3, 1, 4) < width(3, 1, 8) < width(3, 2, 8)


def test_what_a_short_curve_does_later_is_less_sure_than_what_a_long_one_did() -> None:
    data = runs(noise=0.1)
    short = tuple(replace(run, curve=run.curve[:2]) if k == 4 else run for k, run in enumerate(data.observations))
    fitted = fit_curve(replace(data, observations=short), "accuracy")
    whole = fit_curve(data, "accuracy")
    [(low, high)], [(lowest, highest)] = whole.interval(at(LAST)), fitted.interval(at(LAST))
    assert highest - lowest > high - low


def test_two_epochs_do_not_show_how_far_runs_are_from_their_own_curve() -> None:
    [(low, high)] = fit_curve(runs(noise=0.3, last=2), "accuracy").interval(at(2))
    assert high - low > 0.05
