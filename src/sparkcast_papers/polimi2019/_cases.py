"""How measurements were divided into those learned from and those asked: by data size and by number of cores.

The slides name the sizes only. The cores are those of the library's first public release.
"""

from dataclasses import dataclass

Cores = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """Numbers of cores to learn from; all others are asked."""

    train: Cores
    test: Cores

    @property
    def interpolates(self) -> bool:
        return min(self.train) < min(self.test) and max(self.test) < max(self.train)


@dataclass(frozen=True, slots=True)
class Conf:
    """Data sizes to learn from, and the one that is asked."""

    train: tuple[int, ...]
    test: int

    @property
    def name(self) -> str:
        return f"{'+'.join(map(str, self.train))} / {self.test}"


def _cases(every: Cores, trains: tuple[str, ...]) -> tuple[Case, ...]:
    chosen = [tuple(int(core) for core in train.split()) for train in trains]
    return tuple(Case(train, tuple(core for core in every if core not in train)) for train in chosen)


TPC_DS_CORES = tuple(core for core in range(6, 46, 2) if core != 20)
TPC_DS = _cases(
    TPC_DS_CORES,
    (
        "6 10 14 18 24 28 32 36 40 44",
        "6 12 18 26 32 38 44",
        "6 14 24 32 40 44",
        "6 16 30 42 44",
        "6 8 18 32 44",
        "6 10 16 26 44",
    ),
)
SPARK_BENCH_CORES = tuple(range(6, 50, 2))
SPARK_BENCH = _cases(
    SPARK_BENCH_CORES,
    (
        "6 10 14 18 22 26 30 34 38 42 46",
        "6 12 18 24 30 36 42 48",
        "6 14 22 30 38 48",
        "6 16 26 36 42 48",
        "6 8 18 30 40 48",
        "6 10 16 24 34 48",
        "6 16 26 36 46",
    ),
)
"""Case 0, a random fifth, comes before these."""

SLIDE_CONFS = tuple(
    Conf(train, test)
    for train, test in (
        ((250,), 250),
        ((750,), 750),
        ((1000,), 1000),
        ((250, 750), 1000),
        ((250, 1000), 750),
        ((750, 1000), 250),
    )
)
K_MEANS_CONFS = tuple(
    Conf(train, test) for train, test in (((9, 18, 27), 36), ((9, 18, 36), 27), ((9, 27, 36), 18), ((18, 27, 36), 9))
)
