"""What BigDL's optimizer says while it trains, one line an iteration."""

import re
from dataclasses import dataclass, field

from sparkcast.study import Epoch

_NUMBER = r"([-+]?(?:[0-9.]+(?:[eE][-+]?[0-9]+)?|NaN|Infinity))"
_HEAD = rf"\[Epoch (\d+) \d+/\d+\]\[Iteration (\d+)\]\[Wall Clock {_NUMBER} ?s\] "
_TRAINED = re.compile(
    rf"{_HEAD}Trained {_NUMBER} records in {_NUMBER} seconds\. Throughput is {_NUMBER} records/second\."
    rf"(?: Loss is {_NUMBER}\.)?"
)
_VALIDATED = re.compile(rf"{_HEAD}Top1Accuracy is Accuracy\(correct: (\d+), count: (\d+), accuracy: {_NUMBER}\)")


# What an iteration spent where, the mean over the executors; told at the level DEBUG.
_METRIC = re.compile(rf"(\w[\w ]*\w) : {_NUMBER} s")
_COMPUTING = ("computing time average",)
_SYNCHRONISING = (  # as BigDL spells them
    "get weights average",
    "aggregate gradient time",
    "put gradient",
    "aggregrateGradientParition average executor",
    "send weights average",
)


@dataclass(frozen=True, slots=True)
class Trained:
    """One iteration: `records` in `time_s` seconds."""

    epoch: int
    iteration: int
    wall_clock_s: float
    records: float
    time_s: float
    loss: float | None


@dataclass(frozen=True, slots=True)
class Validated:
    """Accuracy on held-out data at the end of an epoch."""

    epoch: int
    iteration: int
    wall_clock_s: float
    accuracy: float


def parse_line(line: str) -> Trained | Validated | None:
    """The iteration or validation that a log line tells of, whatever stands before it; None for any other line.

    >>> parse_line("[Epoch 1 128/60000][Iteration 1][Wall Clock 1.5s] Trained 128.0 records in 1.5 seconds. "
    ...            "Throughput is 85.3 records/second. Loss is 2.31.").loss
    2.31
    """
    if match := _TRAINED.search(line):
        loss = float(match[7]) if match[7] else None
        return Trained(int(match[1]), int(match[2]), float(match[3]), float(match[4]), float(match[5]), loss)
    if match := _VALIDATED.search(line):
        return Validated(int(match[1]), int(match[2]), float(match[3]), float(match[6]))
    return None


@dataclass(slots=True)
class EpochCollector:
    """Collects iterations into epochs."""

    records: float = 0.0
    training_s: float = 0.0
    compute_s: float = 0.0  # of an executor: forward and backward passes, and validation
    sync_s: float = 0.0  # of an executor: getting weights, giving and adding up gradients
    epochs: list[Epoch] = field(default_factory=list)
    _iterations: list[Trained] = field(default_factory=list)
    _trained_at: float | None = None

    def add(self, event: Trained | Validated | None, time_s: float) -> Epoch | None:
        """Take in what was said `time_s` seconds after the start; the epoch, when this completes one."""
        if isinstance(event, Trained):
            self.records += event.records
            self.training_s += event.time_s
            self._iterations.append(event)
            self._trained_at = time_s
        if not isinstance(event, Validated):
            return None
        if self._trained_at is not None:
            self.compute_s += time_s - self._trained_at
        told = {"accuracy": event.accuracy, "loss": self._mean_loss(), "throughput": self._throughput()}
        epoch = Epoch(event.epoch, time_s, {name: value for name, value in told.items() if value is not None})
        self._iterations.clear()
        self.epochs.append(epoch)
        return epoch

    def add_metric(self, line: str) -> None:
        """Take in a line of an iteration's own summary; any other line changes nothing."""
        if match := _METRIC.fullmatch(line.strip()):
            self.compute_s += float(match[2]) if match[1] in _COMPUTING else 0.0
            self.sync_s += float(match[2]) if match[1] in _SYNCHRONISING else 0.0

    def _mean_loss(self) -> float | None:
        losses = [i.loss for i in self._iterations if i.loss is not None]
        return sum(losses) / len(losses) if losses else None

    def _throughput(self) -> float | None:
        training_s = sum(i.time_s for i in self._iterations)
        return sum(i.records for i in self._iterations) / training_s if training_s else None
