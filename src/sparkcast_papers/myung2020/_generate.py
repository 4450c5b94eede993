"""Synthetic runs that are consistent with Tables 2 to 6 and 9 and with t1: no measurement of anybody's cluster.

The authors published no runs. A completion time is here a product, as the paper argues it is:

    minutes = scale * cores effect * executors effect * memory effect * partition effect * share of the sampling rate

`table2` spreads the shares of the sampling rates over the cells of cores and executors as Table 2 has them; in
`proportional` a sample of 10 % takes 10 % of the time; `waves` is table2 with tasks that run in whole waves.
"""

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Literal

from sparkcast.arrays import Bools, Floats
from sparkcast_papers.myung2020._tables import (
    CNNS,
    IMAGES,
    LEVELS,
    T1_FULL,
    TABLE_2,
    TABLE_3,
    TABLE_4,
    TABLE_5A,
    TABLE_5B,
    Spread,
)

if TYPE_CHECKING:
    from numpy.random import Generator

Mode = Literal["table2", "proportional", "waves"]
MODES: tuple[Mode, ...] = ("table2", "proportional", "waves")
_CELL_NOISE = 0.002  # relative, of a cell of cores and executors
_RUN_NOISE = 0.001  # relative, of one run


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Runs of one network, as columns. Not synthetic only where a file says so."""

    cnn: str
    sampling_rate: Floats
    memory: Floats
    executors: Floats
    cores: Floats
    partition_size: Floats
    minutes: Floats
    origin: str
    is_synthetic: bool = True

    def __len__(self) -> int:
        return len(self.minutes)

    def where(self, chosen: Bools) -> "Runs":
        columns = {name: getattr(self, name)[chosen] for name in (*LEVELS, "minutes")}
        return Runs(self.cnn, **columns, origin=self.origin, is_synthetic=self.is_synthetic)

    def at(self, *rates: int) -> "Runs":
        """Only runs at these sampling rates."""
        import numpy as np

        return self.where(np.isin(self.sampling_rate, rates))

    def aggregated(self) -> "Runs":
        """One row per sampling rate, executors and cores: the mean over memory and partition size, which become nan."""
        import numpy as np

        keys = np.column_stack([self.sampling_rate, self.executors, self.cores])
        cells, cell = np.unique(keys, axis=0, return_inverse=True)
        minutes = np.bincount(cell, self.minutes) / np.bincount(cell)
        nothing = np.full(len(cells), np.nan)
        rates, executors, cores = cells.T
        return Runs(
            self.cnn, rates, nothing, executors, cores, nothing, minutes, self.origin, is_synthetic=self.is_synthetic
        )


def generate(mode: Mode = "table2", seed: int = 0) -> tuple[Runs, ...]:
    """All 1260 runs of each network."""
    import numpy as np

    random = np.random.default_rng(seed)
    origin = f"SYNTHETIC, mode {mode}, seed {seed}"
    grid = np.array(list(product(*LEVELS.values())), dtype=float)
    return tuple(_network(k, grid, mode, random, origin) for k in range(len(CNNS)))


def tasks(sampling_rate: Floats, partition_size: Floats) -> Floats:
    """Partitions of a sample: one task each."""
    import numpy as np

    return np.ceil(IMAGES * sampling_rate / 100 / partition_size)


def _network(k: int, grid: Floats, mode: Mode, random: "Generator", origin: str) -> Runs:
    import numpy as np

    rate, memory, executors, cores, partition = grid.T
    cells = {cell: i for i, cell in enumerate(product(LEVELS["executors"], LEVELS["cores"]))}
    cell = np.array([cells[int(e), int(c)] for e, c in zip(executors, cores, strict=True)])
    minutes = _level(TABLE_5A[k], "cores", cores) * _level(TABLE_5B[k], "executors", executors)
    minutes *= (1 + _CELL_NOISE * random.standard_normal(len(cells)))[cell]
    minutes *= _falling(TABLE_3[k], memory) * _falling(TABLE_4[k], partition)
    minutes *= _shares(k, mode, random, len(cells))[cell, np.searchsorted(LEVELS["sampling_rate"], rate)]
    minutes *= 1 + _RUN_NOISE * random.standard_normal(len(grid))
    full = rate == LEVELS["sampling_rate"][-1]
    # t1 counts one run per cell of cores and executors.
    minutes *= float(T1_FULL[k]) * len(LEVELS["memory"]) * len(LEVELS["partition_size"]) / minutes[full].sum()
    if mode == "waves":
        rounds = tasks(rate, partition) / (executors * cores)
        minutes *= np.ceil(rounds) / rounds
    return Runs(CNNS[k], rate, memory, executors, cores, partition, minutes, origin)


def _level(printed: tuple[str, ...], setting: str, values: Floats) -> Floats:
    import numpy as np

    return np.array([float(text) for text in printed])[np.searchsorted(LEVELS[setting], values)]


def _falling(spread: Spread, values: Floats) -> Floats:
    """A straight line from the greatest scaled time at the smallest value to the least."""
    share: Floats = (values - values.min()) / (values.max() - values.min())
    return spread.high + (spread.low - spread.high) * share


def _shares(k: int, mode: Mode, random: "Generator", cells: int) -> Floats:
    """Time at each sampling rate as a share of that at 100 %, by cell."""
    import numpy as np

    if mode == "proportional":
        shares = np.array([rate / 100 for rate in LEVELS["sampling_rate"]])
        return shares * (1 + _CELL_NOISE * random.standard_normal((cells, len(shares))))
    columns = [random.permutation(_spread_out(TABLE_2[rate][k], cells)) for rate in LEVELS["sampling_rate"][:-1]]
    return np.column_stack([*columns, np.ones(cells)])


def _spread_out(spread: Spread, count: int) -> Floats:
    """As many values from the least to the greatest whose mean is the printed one: u^k between them."""
    import numpy as np
    from scipy.optimize import brentq

    even = np.linspace(0, 1, count, dtype=np.float64)
    middle = (spread.mean - spread.low) / (spread.high - spread.low)
    power: float = brentq(lambda power: float((even**power).mean()) - middle, 0.01, 100)
    return spread.low + (spread.high - spread.low) * even**power
