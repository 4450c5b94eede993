"""The paper's operational laws: the rate of the disk is found by inversion in each run, then follows a straight line.

T = N (S + 1 / (mu - lambda)),    N = epochs * records / batch,    lambda = max(1, processes / workers) / S
"""

from collections.abc import Sequence

from sparkcast.arrays import Floats
from sparkcast.study import Configuration, Dataset
from sparkcast.units import as_number
from sparkcast_papers.courier2021._splits import settings, times

CPU_S = 0.045  # of one batch; the paper says of one record
RECORDS, EPOCHS, WORKERS = 60_000, 10, 3


def numbers(at: Sequence[Configuration], name: str) -> Floats:
    import numpy as np

    return np.array([as_number(configuration[name]) for configuration in at], dtype=float)


def passes(at: Sequence[Configuration]) -> Floats:
    """N: batches that are worked through."""
    return EPOCHS * RECORDS / numbers(at, "batch")


def arrival_rate(at: Sequence[Configuration], cpu_s: float = CPU_S) -> Floats:
    """lambda: requests per second that come to the disk."""
    import numpy as np

    return np.maximum(1.0, _processes(at) / WORKERS) / cpu_s


def disk_rate(runs: Dataset, cpu_s: float = CPU_S) -> Floats:
    """mu of each run by inversion: negative where a run is faster than the CPU alone, without bound next to that."""
    at = settings(runs)
    return 1 / (times(runs) / passes(at) - cpu_s) + arrival_rate(at, cpu_s)


def spare_rate(train: Dataset, at: Sequence[Configuration]) -> Floats:
    """mu - lambda as the straight line in batch and processes has it; nothing keeps it positive."""
    import numpy as np

    line = np.linalg.lstsq(_line(settings(train)), disk_rate(train), rcond=None)[0]
    return _line(at) @ line - arrival_rate(at)


def laws(train: Dataset, at: Sequence[Configuration]) -> Floats:
    return passes(at) * (CPU_S + 1 / spare_rate(train, at))


def laws_as_printed(train: Dataset, at: Sequence[Configuration]) -> Floats:
    """With 1 / (lambda - mu), as the paper prints it."""
    return passes(at) * (CPU_S - 1 / spare_rate(train, at))


def _processes(at: Sequence[Configuration]) -> Floats:
    return numbers(at, "cpu") * numbers(at, "njobs")


def _line(at: Sequence[Configuration]) -> Floats:
    import numpy as np

    return np.column_stack([np.ones(len(at)), numbers(at, "batch"), _processes(at)])
