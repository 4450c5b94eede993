"""Ernest: how time depends on machines and data (Venkataraman et al., NSDI 2016).

    time = a + b * size / machines + c * log(machines) + d * machines,    a, b, c, d >= 0

Ernest knows machines and size only. Every other factor that varies (batch size, memory, ...) gets a law of its own for
each combination of its levels, so each combination needs enough configurations, and only combinations that were run
can be predicted.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.models import MODELS, Fitted
from sparkcast.models._encoding import Samples
from sparkcast.models._uncertainty import Points, Problem, learn, pose
from sparkcast.study import Configuration, Dataset, show_configuration
from sparkcast.units import as_number

_MACHINES = ("machines", "instances", "executors")  # names of one thing: the first that is present counts
_CORES = "cores"  # of each machine
_SIZES = ("sampling_rate", "size", "data_size", "input_size", "rows")
_OWN = (*_MACHINES, _CORES, *_SIZES)
_MIN_PER_LAW = 3


@MODELS.register("ernest")
class Ernest:
    """Time from data size and machines by Ernest's law; one law per combination of the other factors."""

    def fit(self, data: Dataset, response: str) -> Fitted:
        problem = pose(data, response)
        others = tuple(axis.name for axis in problem.domain.axes if axis.name not in _OWN and not axis.is_constant)
        _check(problem, others)
        return learn(problem, lambda samples: _learn(samples, others, dict(problem.domain.fixed)))


def _check(problem: Problem, others: Sequence[str]) -> None:
    if not problem.scale.is_log:
        raise StudyError(f"ernest predicts times, {problem.response} is not one", hint="use another model for it")
    varied = [axis for axis in problem.domain.axes if axis.name in _OWN and not axis.is_constant]
    if not varied:
        raise NotEnoughDataError(
            "ernest needs runs that differ in machines or data size", hint=f"vary one of {', '.join(_OWN)}"
        )
    if any(axis.numbers is None or axis.numbers[0] <= 0 for axis in varied):
        raise StudyError("ernest needs machines and data sizes as positive numbers", hint="use another model")
    for key, indices in _groups(problem.samples, others).items():
        if len(indices) < _MIN_PER_LAW:
            law = show_configuration(dict(zip(others, key, strict=True))) or "all runs"
            raise NotEnoughDataError(
                f"ernest knows nothing of {', '.join(others)}, so it fits one law per combination of them, and {law} "
                f"has {len(indices)} configurations of machines and data size",
                hint=f"run at least {_MIN_PER_LAW} for each combination, or use another model",
            )


def _learn(samples: Samples, others: Sequence[str], fixed: Configuration) -> Points:
    laws = {key: _law(samples, indices) for key, indices in _groups(samples, others).items()}

    def points(at: Sequence[Configuration]) -> list[float]:
        # Runs know their fixed settings (cores: 2), who asks may leave them out.
        return [float(_features({**fixed, **c}) @ _law_for(laws, c, others)) for c in at]

    return points


def _groups(samples: Samples, others: Sequence[str]) -> dict[tuple[str, ...], list[int]]:
    groups = defaultdict(list)
    for i, configuration in enumerate(samples.configurations):
        groups[_key(configuration, others)].append(i)
    return groups


def _key(configuration: Configuration, others: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(configuration[name]) for name in others)


def _law(samples: Samples, indices: Sequence[int]) -> Any:
    """Nonnegative least squares on relative errors, or the longest runs would decide alone."""
    import numpy as np
    from scipy.optimize import nnls

    pairs = [(samples.configurations[i], value) for i in indices for value in samples.values[i]]
    rows = np.array([_features(configuration) / value for configuration, value in pairs])
    return nnls(rows, np.ones(len(rows)))[0]


def _law_for(laws: dict[tuple[str, ...], Any], configuration: Configuration, others: Sequence[str]) -> Any:
    key = _key(configuration, others)
    if key not in laws:
        raise NotEnoughDataError(
            f"ernest has no law for {show_configuration(configuration, others)}: it cannot go between levels of "
            f"{', '.join(others)}",
            hint="run this combination at several numbers of machines, or use another model",
        )
    return laws[key]


def _features(configuration: Configuration) -> Any:
    import numpy as np

    machines = _first(configuration, _MACHINES) * _first(configuration, (_CORES,))
    return np.array([1.0, _first(configuration, _SIZES) / machines, math.log(machines), machines])


def _first(configuration: Configuration, names: Sequence[str]) -> float:
    """The first of these settings that is present; 1 when none is."""
    found = (as_number(configuration[name]) for name in names if name in configuration)
    value = next((number for number in found if number is not None), 1.0)
    if value <= 0:
        raise StudyError(
            f"ernest needs positive numbers of machines and data, not {value:g}", hint="check the settings"
        )
    return value
