"""The papers in small: real runs of our own in the shape of each paper, from `examples/PAPER/results`.

In a checkout they are read from there. The wheel carries them inside this package.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from sparkcast import api
from sparkcast.errors import StudyError
from sparkcast.replications import PartResult, Row, Section, show
from sparkcast.study import Configuration, Dataset, Level

RESULTS = "results"
LEVEL = 0.95
_HERE = Path(__file__).parent
_ABSENT = (
    "the runs of this paper in small are not in this installation: take the wheel or a checkout, where `make examples` "
    "makes them again; or pass a folder with {name} as `data=`"
)


def results_file(paper: str, name: str, data: Path | None = None) -> Path | None:
    """A table of runs in small: one in the folder of --data, else the one that comes with sparkcast; None without."""
    if data is not None and not data.exists():
        raise StudyError(f"there is no folder {str(data)!r}", hint=f"pass one with {name}, or leave out `data=`")
    kept = (_HERE / paper / RESULTS, _HERE.parents[1] / "examples" / paper / RESULTS)
    folders = kept if data is None else (data, *kept)
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def absent(name: str) -> PartResult:
    return PartResult((), notes=(_ABSENT.format(name=name),))


def read_runs(path: Path) -> Dataset:
    return api.load_data(path).dataset


def mean_of(runs: Dataset, response: str, **levels: object) -> float:
    """The mean of a response over the runs with these levels."""
    chosen = [
        run.responses[response]
        for run in runs.successful(response)
        if all(run.configuration[name] == level for name, level in levels.items())
    ]
    return fmean(chosen)


def duration_rows(*tables: Dataset) -> list[Row]:
    """How many runs there are, and how long all of them took, Spark's start included."""
    runs = [run for table in tables for run in table.observations]
    total_s = sum(run.responses.get("total_s", 0.0) for run in runs)
    failed = sum(not run.ok for run in runs)
    return [
        show("this study", "runs", len(runs)),
        show("this study", "of them failed", failed),
        show("this study", "minutes for all of them", total_s / 60),
    ]


def local_section(title: str, source: str, rows: Sequence[Row], notes: Sequence[str] = ()) -> Section:
    return Section(f"{title} [real runs in small]", source, tuple(rows), tuple(notes))


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of two measurements, over pairs of runs that differ in nothing else."""

    mean: float  # geometric
    low: float  # of the interval with probability LEVEL; by Student's t on logarithms
    high: float
    pairs: int


def ratio_of(pairs: Sequence[tuple[float, float]]) -> Ratio:
    """How many times the second is the first.

    >>> found = ratio_of([(1.0, 2.0), (2.0, 4.2), (1.0, 1.9)])
    >>> f"{found.mean:.2f} ({found.low:.2f} to {found.high:.2f})"
    '2.00 (1.76 to 2.26)'
    """
    import numpy as np
    from scipy import stats

    logs = np.log([after / before for before, after in pairs])
    middle, n = float(logs.mean()), len(logs)
    reach = float(stats.t.ppf((1 + LEVEL) / 2, n - 1) * logs.std(ddof=1) / np.sqrt(n)) if n > 1 else math.inf
    return Ratio(math.exp(middle), math.exp(middle - reach), math.exp(middle + reach), n)


def paired(runs: Dataset, response: str, factor: str, before: Level, after: Level) -> list[tuple[float, float]]:
    """The means of a response at two levels of a factor, for each combination of the others."""
    groups: dict[Configuration, dict[Level, list[float]]] = {}
    for run in runs.successful(response):
        varied = run.configuration.only(runs.factors)
        group = groups.setdefault(varied.without(factor), {})
        group.setdefault(varied[factor], []).append(run.responses[response])
    whole = [group for group in groups.values() if before in group and after in group]
    return [(fmean(group[before]), fmean(group[after])) for group in whole]


def ratio_rows(item: str, what: str, ratio: Ratio) -> list[Row]:
    return [
        show(item, f"{what}, {ratio.pairs} pairs", ratio.mean),
        show(item, f"{what}, {100 * LEVEL:g} % interval from", ratio.low),
        show(item, f"{what}, {100 * LEVEL:g} % interval to", ratio.high),
    ]
