"""What a model learns from: one response by configuration, as arrays."""

import math
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from sparkcast.analysis.runs import stopped_runs, usable_runs
from sparkcast.arrays import Floats
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.fitting.encoding import Domain, domain_of
from sparkcast.study import Configuration, Dataset, Kind, Observation, Response

MIN_CONFIGURATIONS = 3
_ROUNDING = 1e-6
ODDS_FLOOR = 1e-3  # an accuracy of 0 or 1 in a few test images is not certainty
_TOTALS = "tasks run_s cpu_s gc_s deserialize_s shuffle_read_bytes shuffle_write_bytes spilled_bytes".split()


def log_odds(share: Floats) -> Floats:
    found: Floats = np.log(share) - np.log1p(-share)
    return found


@dataclass(frozen=True, slots=True)
class ResponseScale:
    """How a response is compared: as ratios (logarithms), odds or differences, and between which bounds it lies."""

    is_log: bool
    low: float = -math.inf
    high: float = math.inf
    has_odds: bool = False  # of a share of `high`

    def forward(self, values: Floats) -> Floats:
        if self.has_odds:
            return log_odds(np.clip(values / self.high, ODDS_FLOOR, 1 - ODDS_FLOOR))
        return np.log(self.clip(values)) if self.is_log else np.asarray(values, dtype=float)

    def back(self, values: Floats) -> Floats:
        if self.has_odds:
            return self.clip(self.high / (1 + np.exp(np.clip(-values, -700.0, 700.0))))
        # Beyond 700 a float overflows.
        return self.clip(np.exp(np.minimum(values, 700.0)) if self.is_log else values)

    def clip(self, values: Floats) -> Floats:
        return np.clip(values, self.low, self.high)


@dataclass(frozen=True, slots=True)
class LowerBounds:
    """Configurations of which a run was stopped, once each: the response would have been more than that."""

    x: Floats  # rows like those of a problem
    values: Floats  # the longest, in the unit of the response

    def __len__(self) -> int:
        return len(self.values)

    def apart_from(self, x: Floats, kept: Sequence[int]) -> "LowerBounds":
        """Without the configurations among `x` that are not kept: who is left out tells nothing."""
        gone = np.delete(x, kept, axis=0)
        stays = ~(self.x[:, None] == gone).all(axis=2).any(axis=1)
        return LowerBounds(self.x[stays], self.values[stays])


@dataclass(frozen=True, slots=True)
class Problem:
    """One response by configuration: replicates stay together, so every row is another configuration."""

    response: Response
    domain: Domain
    scale: ResponseScale
    configurations: tuple[Configuration, ...]
    values: tuple[tuple[float, ...], ...]  # of the replicates
    x: Floats  # one row per configuration, one column per factor, see Domain.encode
    y: Floats  # the mean of the replicates on the scale
    metrics: Floats | None = None  # seen beside the response (stage times, ...), rows like x; see gray-box
    metric_names: tuple[str, ...] = ()
    stopped: "LowerBounds | None" = None  # what runs tell that took longer than somebody waited

    def __len__(self) -> int:
        return len(self.values)

    @property
    def n_stopped(self) -> int:
        return 0 if self.stopped is None else len(self.stopped)

    @property
    def weights(self) -> Floats:
        """Replicates per configuration, relative: repeating the whole study changes nothing."""
        counts: Floats = np.array([len(values) for values in self.values], dtype=float)
        return counts / float(counts.mean())

    @property
    def target(self) -> Floats:
        """The typical value of each configuration, in the unit of the response."""
        return self.scale.back(self.y)

    def run_error(self, said: Floats) -> float | None:
        """The mean error of single runs in percent, as `validate` computes it, of what is said of their configurations.

        None where nothing is said, and where all runs are 0, which has no percentage.
        """
        missed = [
            100 * abs(value - answer) / abs(value)
            for answer, values in zip(said.tolist(), self.values, strict=True)
            for value in values
            if value and math.isfinite(answer)
        ]
        return fmean(missed) if missed else None

    def subset(self, rows: Sequence[int]) -> "Problem":
        """The same question with fewer configurations to learn from, and so perhaps a smaller measured range."""
        kept = list(rows)
        return replace(
            self,
            domain=self.domain.narrowed(self.x[kept]),
            configurations=tuple(self.configurations[i] for i in kept),
            values=tuple(self.values[i] for i in kept),
            x=self.x[kept],
            y=self.y[kept],
            metrics=None if self.metrics is None else self.metrics[kept],
            stopped=None if self.stopped is None else self.stopped.apart_from(self.x, kept),
        )

    def without(self, rows: Sequence[int]) -> "Problem":
        gone = set(rows)
        return self.subset([i for i in range(len(self)) if i not in gone])

    def column(self, name: str) -> Floats:
        """One factor of every configuration."""
        return self.x[:, [axis.name for axis in self.domain.axes].index(name)]


def pose(data: Dataset, response: str, *, least: int = MIN_CONFIGURATIONS) -> Problem:
    """The learning problem behind `data`; refuses data from which no error can be estimated."""
    runs = usable_runs(data, response)
    groups: dict[Configuration, list[Observation]] = defaultdict(list)
    for run in runs:
        groups[data.key(run)].append(run)
    if len(groups) < least:
        raise NotEnoughDataError(
            f"{len(groups)} different configurations with {response} are too few for predictions",
            hint=f"run at least {least}; replicates of the same ones do not help",
        )
    configurations = tuple(group[0].configuration for group in groups.values())
    values = tuple(tuple(run.responses[response] for run in group) for group in groups.values())
    meaning = replace(data.vocabulary.response(response), formula=None)
    _check_values(meaning, [value for group in values for value in group])
    domain = domain_of(data.factors, configurations, data.vocabulary)
    scale = scale_of(meaning, [value for group in values for value in group])
    metrics, names = _metrics(list(groups.values()), response)
    x = domain.encode(list(groups))
    y, stopped = _means(scale, values), _stopped_in(data, response, domain)
    return Problem(meaning, domain, scale, configurations, values, x, y, metrics, names, stopped)


def scale_of(response: Response, values: Sequence[float]) -> ResponseScale:
    if response.kind is Kind.SHARE and min(values) >= 0 and max(values) <= 100:
        # Some write shares as percent, and some compute them a little above 1.
        is_percent = max(values) > 1 + _ROUNDING or response.unit == "%"
        return ResponseScale(is_log=False, low=0.0, high=100.0 if is_percent else 1.0)
    return ResponseScale(is_log=True, low=5e-324) if min(values) > 0 else ResponseScale(is_log=False)


def _stopped_in(data: Dataset, response: str, domain: Domain) -> LowerBounds | None:
    """Where a category or a constant differs from all that ended well, a stopped run tells nothing of the others."""
    longest: dict[Configuration, float] = {}
    for run in stopped_runs(data, response):
        key = data.key(run)
        longest[key] = max(run.responses[response], longest.get(key, 0.0))
    rows = {}
    for key in longest:
        with suppress(NotEnoughDataError, StudyError):
            rows[key] = domain.encode([key])[0]
    return LowerBounds(np.array(list(rows.values())), np.array([longest[key] for key in rows])) if rows else None


def _check_values(response: Response, values: Sequence[float]) -> None:
    if response.is_never_negative and min(values) < 0:
        raise StudyError(
            f"{response.name} is {min(values):g} in a run, which is impossible", hint="correct or remove that run"
        )


def _means(scale: ResponseScale, values: Sequence[Sequence[float]]) -> Floats:
    return np.array([float(scale.forward(np.array(group)).mean()) for group in values])


def _metrics(groups: Sequence[Sequence[Observation]], response: str) -> tuple[Floats, tuple[str, ...]]:
    """What was seen beside the answer in every run, by configuration: other responses, and totals over its tasks."""
    seen = [[_numbers(run) for run in group] for group in groups]
    shared = set.intersection(*(set(run) for group in seen for run in group)) - {response}
    names = tuple(name for name in seen[0][0] if name in shared)
    rows = [[fmean(run[name] for run in group) for name in names] for group in seen]
    table = np.array(rows, dtype=float).reshape(len(rows), len(names))
    finite = np.isfinite(table).all(axis=0)
    return table[:, finite], tuple(name for name, keep in zip(names, finite, strict=True) if keep)


def _numbers(run: Observation) -> dict[str, float]:
    totals = {} if run.tasks is None else {f"tasks.{name}": float(getattr(run.tasks, name)) for name in _TOTALS}
    return {**totals, **run.responses}
