"""What each epoch of `mnist-training` trains with, and when training ends; nothing is trained here."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.designs import make_plan
from sparkcast.errors import StudyError
from sparkcast.study import Level
from sparkcast.study.file import parse_study
from sparkcast.workloads import WORKLOADS, complete, resolve
from sparkcast_papers.workloads._mnist_recipe import (
    NETWORKS,
    OPTIMIZERS,
    SCHEDULED,
    SCHEDULES,
    Recipe,
    Stage,
    is_enough,
)

MNIST = WORKLOADS.get("mnist-training")()


def recipe(**settings: Level) -> Recipe:
    return Recipe.of(complete(MNIST, settings))


def rates(**settings: Level) -> list[float]:
    return [stage.learning_rate for stage in recipe(learning_rate=0.8, **settings).stages]


def test_without_a_schedule_all_epochs_are_alike() -> None:
    assert recipe(epochs=3).stages == (Stage(128, 0.2),) * 3
    assert recipe(epochs=3).phases == ((128, 3),)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"schedule": "step", "epochs": 3}, [0.8, 0.4, 0.2]),
        ({"schedule": "step", "epochs": 5, "decay_epochs": 2, "decay": 0.1}, [0.8, 0.8, 0.08, 0.08, 0.008]),
        ({"schedule": "exponential", "epochs": 3, "decay_epochs": 2, "decay": 0.25}, [0.8, 0.4, 0.2]),
        ({"schedule": "poly", "epochs": 4}, [0.8, 0.6, 0.4, 0.2]),
        ({"warmup_epochs": 3, "epochs": 5}, [0.2, 0.4, 0.6, 0.8, 0.8]),
        ({"warmup_epochs": 1, "epochs": 4, "schedule": "step"}, [0.4, 0.8, 0.4, 0.2]),
    ],
)
def test_a_schedule_sets_the_learning_rate_of_each_epoch(settings: dict[str, Level], expected: list[float]) -> None:
    assert rates(**settings) == pytest.approx(expected)


def test_the_batch_is_raised_where_the_rate_would_decay_and_the_rate_stays() -> None:
    made = recipe(schedule="step", decay_epochs=2, epochs=5, batch_size=64, schedule_on="batch_size")
    assert made.stages == tuple(Stage(size, 0.2) for size in (64, 64, 128, 128, 256))
    assert made.phases == ((64, 2), (128, 4), (256, 5))


def test_warming_up_raises_the_rate_also_where_the_batch_is_scheduled() -> None:
    assert recipe(schedule="step", epochs=3, schedule_on="batch_size", warmup_epochs=1, learning_rate=0.8).stages == (
        Stage(128, 0.4),
        Stage(128, 0.8),
        Stage(256, 0.8),
    )


@given(
    epochs=st.integers(2, 8),
    decay_epochs=st.integers(1, 7),
    warmup_epochs=st.integers(0, 7),
    decay=st.sampled_from([0.5, 0.25, 0.125]),
)
def test_the_rate_over_the_batch_size_is_the_same_whichever_of_them_is_scheduled(
    epochs: int, decay_epochs: int, warmup_epochs: int, decay: float
) -> None:
    settings: dict[str, Level] = {
        "epochs": epochs,
        "decay_epochs": decay_epochs,
        "warmup_epochs": warmup_epochs,
        "decay": decay,
        "schedule": "step",
    }
    if warmup_epochs + decay_epochs >= epochs:
        with pytest.raises(StudyError):
            recipe(**settings)
        return
    of_rate, of_batch = (recipe(**settings, schedule_on=what).stages for what in SCHEDULED)
    for one, other in zip(of_rate, of_batch, strict=True):
        assert one.learning_rate / one.batch_size == pytest.approx(other.learning_rate / other.batch_size)
    assert recipe(**settings, schedule_on="batch_size").phases[-1][1] == epochs


@pytest.mark.parametrize(
    ("settings", "problem", "hint"),
    [
        ({"optimizer": "adam", "momentum": 0.9}, "optimizer = adam takes no momentum", "momentum == 0 or optimizer in"),
        ({"optimizer": "nesterov"}, "needs a momentum", "momentum: 0.9"),
        ({"momentum": 1.0}, "momentum = 1 never comes to rest", "below 1"),
        ({"optimizer": "rmsprop", "schedule": "poly"}, "rmsprop has no learning-rate schedule", "schedule_on"),
        ({"optimizer": "adam", "warmup_epochs": 1}, "adam has no learning-rate schedule", "optimizer: sgd"),
        ({"schedule": "step", "decay": 1.5}, "decay = 1.5 is not between 0 and 1", "0.5 halves"),
        ({"schedule": "step", "decay_epochs": 2}, "never decays: the first decay comes after 2 of 2", "more epochs"),
        ({"warmup_epochs": 2}, "leaves nothing of 2 epochs", "warmup_epochs < epochs"),
        ({"schedule": "poly", "epochs": 4, "schedule_on": "batch_size"}, "128 to 170.667", "schedule: step"),
        (
            {"schedule": "step", "decay": 0.3, "schedule_on": "batch_size"},
            "to 426.667, which is no whole number",
            "0.5",
        ),
        ({"target_accuracy": 1.0}, "target_accuracy = 1 is never exceeded", "below 1"),
    ],
)
def test_a_recipe_that_no_training_has_is_refused_with_a_hint(
    settings: dict[str, Level], problem: str, hint: str
) -> None:
    with pytest.raises(StudyError) as caught:
        MNIST.check(complete(MNIST, settings))
    assert problem in str(caught.value)
    assert hint in (caught.value.hint or "")


def test_every_batch_of_a_schedule_must_be_shared_equally_and_fit_the_data() -> None:
    settings: dict[str, Level] = {"schedule": "step", "schedule_on": "batch_size", "epochs": 3}
    with pytest.raises(StudyError, match="batch_size = 10, which the schedule reaches in epoch 2, cannot be divided"):
        MNIST.check(complete(MNIST, {**settings, "batch_size": 4, "decay": 0.4, "executors": 4}))
    with pytest.raises(StudyError, match="batch_size = 4096 is more than the 4000 training images"):
        MNIST.check(complete(MNIST, {**settings, "batch_size": 1024}))


def test_an_unknown_optimizer_is_refused_with_what_was_meant() -> None:
    study = parse_study("study: s\nworkload: mnist-training\nsettings: {executors: [1, 2], optimizer: adm}\n")
    with pytest.raises(StudyError) as caught:
        resolve(study)
    assert "optimizer = 'adm'" in str(caught.value)
    assert "adam" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("accuracies", "patience", "target", "expected"),
    [
        ([0.5], 0, 0.0, False),
        ([0.5, 0.4, 0.3], 0, 0.0, False),
        ([0.5, 0.6], 1, 0.0, False),
        ([0.5, 0.5], 1, 0.0, True),  # as good is not better
        ([0.5, 0.4], 2, 0.0, False),
        ([0.5, 0.4, 0.45], 2, 0.0, True),
        ([0.8], 0, 0.8, True),
        ([0.9, 0.7], 0, 0.8, False),  # it would have ended an epoch ago
        ([0.7, 0.7], 1, 0.8, True),
    ],
)
def test_training_ends_at_the_target_or_when_patience_runs_out(
    accuracies: list[float], patience: int, target: float, expected: bool
) -> None:
    assert is_enough(accuracies, patience, target) is expected


def test_both_frameworks_take_every_combination() -> None:
    taken: dict[tuple[Level, ...], str] = {}
    levels: tuple[tuple[Level, ...], ...] = (NETWORKS, OPTIMIZERS, (0.0, 0.9), SCHEDULES, SCHEDULED, (0, 1), (0, 2))
    names = ("network", "optimizer", "momentum", "schedule", "schedule_on", "warmup_epochs", "patience")
    for combination in product(*levels):
        settings: dict[str, Level] = dict(zip(names, combination, strict=True))
        answers = {answer_to(settings | {"framework": framework, "epochs": 4}) for framework in ("bigdl", "torch")}
        [taken[combination]] = answers
    assert {combination[1] for combination, refused in taken.items() if not refused} == {*OPTIMIZERS}
    assert {combination[3] for combination, refused in taken.items() if not refused} == {*SCHEDULES}


def answer_to(settings: dict[str, Level]) -> str:
    try:
        MNIST.check(complete(MNIST, settings))
    except StudyError as error:
        return str(error)
    return ""


# ---------------------------------------------------------------- results from before these settings existed

STUDY = "study: s\nworkload: mnist-training\nsettings: {executors: [1, 2], %s}\n"
EARLIER = {  # of a study that was resolved before there were optimizers
    *("executors", "cores", "memory", "jobs", "batch_size", "learning_rate", "epochs", "network"),
    *("sampling_rate", "framework", "dataset", "data_path", "seed"),
}


@pytest.mark.parametrize("settings", ["epochs: 2", "epochs: 2, optimizer: sgd, momentum: 0, schedule: constant"])
def test_trials_of_earlier_studies_keep_their_keys(settings: str) -> None:
    study = resolve(parse_study(STUDY % settings))
    assert {*study.measured_definition()["settings"]} == EARLIER
    keys = {trial.configuration["executors"]: trial.key for trial in make_plan(study).trials}
    assert keys == {1: "f27373bdf7814b12", 2: "112c44300500de59"}


def test_settings_away_from_their_defaults_or_in_a_rule_are_recorded() -> None:
    study = resolve(parse_study(STUDY % "optimizer: adam" + "rules: [patience < 3]\n"))
    assert study.fixed["optimizer"] == "adam"
    assert study.fixed["patience"] == 0
    assert "momentum" not in study.fixed
