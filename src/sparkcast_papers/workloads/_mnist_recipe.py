"""How `mnist-training` trains, whatever the framework: which rate and batch size each epoch has, and when to stop."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from sparkcast.errors import StudyError
from sparkcast.study import Configuration

NETWORKS = ("lenet5", "simplenet", "bi-rnn")
OPTIMIZERS = ("sgd", "nesterov", "adam", "adagrad", "rmsprop")
WITH_MOMENTUM = ("sgd", "nesterov")
SCHEDULES = ("constant", "step", "exponential", "poly")
SCHEDULED = ("learning_rate", "batch_size")
RECURRENT_UNITS = 128  # of each direction of bi-rnn, as in BigDL's tutorial
# The defaults of both frameworks, written out so that they stay the same.
ADAM_BETAS, ADAM_EPSILON = (0.9, 0.999), 1e-8
RMSPROP_DECAY, RMSPROP_EPSILON = 0.99, 1e-8


@dataclass(frozen=True, slots=True)
class Stage:
    """What one epoch trains with."""

    batch_size: int
    learning_rate: float


@dataclass(frozen=True, slots=True)
class Recipe:
    network: str
    optimizer: str
    momentum: float
    stages: tuple[Stage, ...]  # one for each epoch
    processes: int  # what shares one batch: executors times cores
    seed: int
    patience: int = 0  # epochs without a better accuracy after which to stop; 0 is never
    target_accuracy: float = 0.0  # at which to stop; 0 is never

    @property
    def stops_early(self) -> bool:
        return bool(self.patience or self.target_accuracy)

    @property
    def phases(self) -> tuple[tuple[int, int], ...]:
        """Epochs in a row with the same batch size: the size, and the last of the epochs, counted from 1."""
        runs = groupby(enumerate(self.stages, start=1), key=lambda numbered: numbered[1].batch_size)
        return tuple((batch_size, max(number for number, _ in epochs)) for batch_size, epochs in runs)

    @classmethod
    def of(cls, settings: Configuration) -> "Recipe":
        """What the settings of a run say; StudyError for a combination that no training has."""
        optimizer, momentum = str(settings["optimizer"]), float(settings["momentum"])
        _check_optimizer(optimizer, momentum)
        stages = _stages(settings)
        if optimizer not in WITH_MOMENTUM and len({stage.learning_rate for stage in stages}) > 1:
            raise StudyError(
                f"optimizer = {optimizer} has no learning-rate schedule: BigDL has schedules only for SGD",
                hint="use optimizer: sgd or nesterov, or schedule_on: batch_size, or schedule: constant",
            )
        processes = int(settings["executors"]) * int(settings["cores"])
        _check_shares(stages, settings, processes)
        target_accuracy = float(settings["target_accuracy"])
        if target_accuracy >= 1:
            raise StudyError(
                f"target_accuracy = {target_accuracy:g} is never exceeded",
                hint="use a share below 1, such as 0.95; 0 is no target",
            )
        return cls(
            network=str(settings["network"]),
            optimizer=optimizer,
            momentum=momentum,
            stages=stages,
            processes=processes,
            seed=int(settings["seed"]),
            patience=int(settings["patience"]),
            target_accuracy=target_accuracy,
        )


def is_enough(accuracies: Sequence[float], patience: int, target_accuracy: float) -> bool:
    """Whether training ends after these epochs: at the target, or `patience` epochs after the best one.

    >>> is_enough([0.7, 0.9, 0.9], patience=1, target_accuracy=0.0)
    True
    >>> is_enough([0.7, 0.9], patience=0, target_accuracy=0.9)
    True
    """
    if target_accuracy and accuracies[-1] >= target_accuracy:
        return True
    best = max(range(len(accuracies)), key=lambda epoch: accuracies[epoch])
    return bool(patience) and len(accuracies) - 1 - best >= patience


def _check_optimizer(optimizer: str, momentum: float) -> None:
    if momentum >= 1:
        raise StudyError(f"momentum = {momentum:g} never comes to rest", hint="use a number below 1, such as 0.9")
    if momentum and optimizer not in WITH_MOMENTUM:
        raise StudyError(
            f"optimizer = {optimizer} takes no momentum, but momentum = {momentum:g}",
            hint="add the rule: momentum == 0 or optimizer in ('sgd', 'nesterov')",
        )
    if optimizer == "nesterov" and not momentum:
        raise StudyError("optimizer = nesterov needs a momentum, and momentum = 0", hint="set momentum: 0.9")


def _stages(settings: Configuration) -> tuple[Stage, ...]:
    """What each epoch trains with.

    The batch size is divided by what the rate would have been multiplied with: the noise of the gradient, which goes
    with their ratio, falls in the same way, and the steps get fewer (Smith et al., 2018).
    """
    epochs, warmup = int(settings["epochs"]), int(settings["warmup_epochs"])
    rate, batch_size = float(settings["learning_rate"]), int(settings["batch_size"])
    if warmup >= epochs:
        raise StudyError(
            f"warmup_epochs = {warmup} leaves nothing of {epochs} epochs",
            hint="use fewer than epochs, with a rule where both vary: warmup_epochs < epochs",
        )
    factors = _factors(settings, epochs - warmup)
    raised = [rate * (epoch + 1) / (warmup + 1) for epoch in range(warmup)]
    if settings["schedule_on"] == "learning_rate":
        sizes, rates = [batch_size] * epochs, [*raised, *(rate * factor for factor in factors)]
    else:
        sizes = [batch_size] * warmup + [_raised(batch_size, factor) for factor in factors]
        rates = [*raised, *[rate] * len(factors)]
    return tuple(Stage(*pair) for pair in zip(sizes, rates, strict=True))


def _factors(settings: Configuration, epochs: int) -> list[float]:
    """What the learning rate of each epoch after warming up is multiplied with."""
    schedule, decay, every = str(settings["schedule"]), float(settings["decay"]), int(settings["decay_epochs"])
    if schedule == "constant":
        return [1.0] * epochs
    if schedule == "poly":
        return [1 - epoch / epochs for epoch in range(epochs)]
    if not 0 < decay < 1:
        raise StudyError(f"decay = {decay:g} is not between 0 and 1", hint="0.5 halves the learning rate")
    if every >= epochs:
        raise StudyError(
            f"schedule = {schedule} never decays: the first decay comes after {every} of {epochs} epochs",
            hint="use fewer decay_epochs, more epochs, or schedule: constant",
        )
    return [decay ** (epoch // every if schedule == "step" else epoch / every) for epoch in range(epochs)]


def _raised(batch_size: int, factor: float) -> int:
    raised = batch_size / factor
    if abs(raised - round(raised)) > 1e-6:
        raise StudyError(
            f"the schedule raises batch_size = {batch_size} to {raised:.6g}, which is no whole number",
            hint="use schedule: step with a decay such as 0.5",
        )
    return round(raised)


def _check_shares(stages: tuple[Stage, ...], settings: Configuration, processes: int) -> None:
    for epoch, batch_size in enumerate((stage.batch_size for stage in stages), start=1):
        if batch_size % processes:
            raised = "" if batch_size == settings["batch_size"] else f", which the schedule reaches in epoch {epoch},"
            raise StudyError(
                f"batch_size = {batch_size}{raised} cannot be divided equally among {settings['executors']} executors "
                f"of {settings['cores']} cores",
                hint="add the rule: batch_size % (executors * cores) == 0",
            )
