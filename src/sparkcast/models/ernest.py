"""Ernest: how time depends on machines and data (Venkataraman et al., NSDI 2016).

    time = a + b * size / machines + c * log(machines) + d * machines,    a, b, c, d >= 0

Ernest knows machines and size only. Every other factor that varies (batch size, memory, ...) gets a law of its own for
each combination of its levels, so each combination needs enough configurations, and only combinations that were run
can be predicted.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.fitting.encoding import Domain
from sparkcast.fitting.problem import Problem, pose
from sparkcast.fitting.relative import positive_setting, relative_nnls, require_times
from sparkcast.fitting.uncertainty import FittedPoints, LearnedPoints, fit
from sparkcast.models import MODELS
from sparkcast.models.base import Model
from sparkcast.study import Dataset, Role
from sparkcast.study.setting import SIZES

_ROLES = ((Role.MACHINES,), (Role.CORES,), SIZES)
_MIN_PER_LAW = 3
Key = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TermCoefficients:
    """The coefficients of Ernest's terms for each combination of the settings it knows nothing of."""

    domain: Domain
    others: tuple[int, ...]  # their columns
    keys: tuple[Key, ...]
    coefficients: tuple[tuple[float, ...], ...]

    def __call__(self, x: Floats) -> Floats:
        known = dict(zip(self.keys, self.coefficients, strict=True))
        keys = [tuple(row) for row in x[:, list(self.others)].tolist()]
        for key in keys:
            if key not in known:
                raise self._unknown(key)
        coefficients = np.array([known[key] for key in keys]).reshape(len(x), -1)
        times: Floats = (_features(self.domain, x) * coefficients).sum(axis=1)
        return times

    def _unknown(self, key: Key) -> NotEnoughDataError:
        names = [self.domain.axes[j].name for j in self.others]
        return NotEnoughDataError(
            f"ernest has no law for {_show(self.domain, self.others, key)}: it cannot interpolate between levels of "
            f"{', '.join(names)}",
            hint="run this combination with several numbers of machines, or use another model",
        )


@MODELS.register("ernest")
class Ernest(Model):
    """Time from data size and machines by Ernest's law; one law per combination of the other factors."""

    is_usual = True

    def fit(self, data: Dataset, response: str) -> FittedPoints:
        problem = pose(data, response)
        _laws(problem, _MIN_PER_LAW)
        return fit(problem, self.learn)

    def learn(self, problem: Problem) -> LearnedPoints:
        return LearnedPoints(_laws(problem, _MIN_PER_LAW - 1))  # a configuration may be left out


def _laws(problem: Problem, least: int) -> TermCoefficients:
    axes = problem.domain.axes
    own = _own(problem.domain)
    others = tuple(j for j, axis in enumerate(axes) if axis.name not in own and not axis.is_constant)
    _check(problem, own)
    groups = defaultdict(list)
    for i, row in enumerate(problem.x[:, list(others)].tolist()):
        groups[tuple(row)].append(i)
    for key, rows in groups.items():
        if len(rows) < least:
            raise _too_few(problem.domain, others, key, len(rows))
    laws = {key: _law(problem.subset(rows)) for key, rows in groups.items()}
    return TermCoefficients(problem.domain, others, tuple(laws), tuple(laws.values()))


def _own(domain: Domain) -> list[str | None]:
    """The settings that are Ernest's machines, cores and size: of several with one meaning the first."""
    return [domain.first(*roles) for roles in _ROLES]


def _check(problem: Problem, own: list[str | None]) -> None:
    require_times(problem, "ernest")
    varied = [axis for axis in problem.domain.axes if axis.name in own and not axis.is_constant]
    if not varied:
        raise NotEnoughDataError(
            "ernest needs runs that differ in machines or data size",
            hint="vary one of them; declare which setting is which with "
            "`roles={NAME: 'machines'}` or `roles={NAME: 'data-size'}`",
        )
    if not all(axis.is_positive for axis in varied):
        raise StudyError("ernest needs machines and data sizes as positive numbers", hint="use another model")


def _too_few(domain: Domain, others: tuple[int, ...], key: Key, n: int) -> NotEnoughDataError:
    names = ", ".join(domain.axes[j].name for j in others)
    return NotEnoughDataError(
        f"ernest cannot model {names or 'other settings'}, so it fits one law per combination of them, but "
        f"{_show(domain, others, key) or 'all runs'} has only {n} configurations of machines and data size",
        hint=f"run at least {_MIN_PER_LAW} for each combination, or use another model",
    )


def _show(domain: Domain, others: tuple[int, ...], key: Key) -> str:
    axes = [domain.axes[j] for j in others]
    parts = [(a.name, f"{v:g}" if a.is_number else a.levels[int(v)]) for a, v in zip(axes, key, strict=True)]
    return ", ".join(f"{name}={value}" for name, value in parts)


def _law(problem: Problem) -> tuple[float, ...]:
    """Non-negative least squares on relative errors, or the longest runs would decide alone."""
    return tuple(relative_nnls(problem, _features(problem.domain, problem.x)).tolist())


def _features(domain: Domain, x: Floats) -> Floats:
    machines, cores, size = (positive_setting("ernest", domain, x, *roles) for roles in _ROLES)
    processes = machines * cores
    return np.column_stack([np.ones(len(x)), size / processes, np.log(processes), processes])
