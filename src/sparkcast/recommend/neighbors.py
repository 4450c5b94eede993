"""How far settings are from those that were measured."""

import math

import numpy as np

from sparkcast.arrays import Bools, Floats
from sparkcast.fitting.encoding import Axis, domain_of
from sparkcast.recommend import Nearest
from sparkcast.recommend.evaluation import RunRecord
from sparkcast.study import Configuration, Level
from sparkcast.study.space import Candidates
from sparkcast.units import as_number

_MOST_COMPARED = 100_000_000  # settings of candidates with settings of runs
_MOST_RUNS, _FEWEST_RUNS = 1000, 20  # that candidates are compared with
_BLOCK = 5_000_000  # compared at once, to bound memory
_ONE_RANGE = 1.0  # away is not far, however dense the runs are


class MeasuredPoints:
    """The configurations that were run with success, each setting in shares of its measured range."""

    def __init__(self, known: RunRecord) -> None:
        self._known = known
        self._ran = [seen.configuration for seen in known.seen if seen.ok]
        self._axes = domain_of(known.factors, self._ran, known.words).axes if self._ran else ()
        self._places = np.array([[_place(axis, c[axis.name]) for axis in self._axes] for c in self._ran])
        self._is_category = np.array([not axis.is_number for axis in self._axes], dtype=bool)

    def nearest(self, configuration: Configuration) -> Nearest | None:
        """The measured configuration most like this one; distances along the settings are added up."""
        if not self._ran:
            return None
        place = np.array([_place(axis, configuration[axis.name]) for axis in self._axes])
        [distances] = self._distances(place[None, :], self._places)
        best = int(distances.argmin())
        return Nearest(
            self._ran[best].only(self._known.factors), float(distances[best]) + self._further_epochs(configuration)
        )

    def is_near(self, candidates: Candidates) -> Bools:
        """Which candidates have a run about as near as runs have each other, or within one range of a setting.

        What a model says of the others is its own opinion, and the best of many opinions is mostly a lucky one.
        """
        if len(self._ran) < 2 or not self._axes:
            return np.ones(len(candidates), dtype=bool)
        room = _MOST_COMPARED // (len(candidates) * len(self._axes))
        some = np.linspace(0, len(self._ran) - 1, min(len(self._ran), max(_FEWEST_RUNS, min(room, _MOST_RUNS))))
        runs = self._places[np.unique(some.round().astype(int))]
        columns = [
            np.array([_place(axis, level) for level in candidates.levels[axis.name]])[candidates.position(axis.name)]
            for axis in self._axes
        ]
        usual = float(np.median(self._nearest_of(runs, runs, is_same=True)))
        near: Bools = self._nearest_of(np.column_stack(columns), runs) <= max(usual, _ONE_RANGE) + 1e-9
        return near

    def _nearest_of(self, places: Floats, runs: Floats, *, is_same: bool = False) -> Floats:
        """How far each place is from the run that is most like it; of runs themselves, from another one."""
        step, found = max(1, _BLOCK // runs.size), np.empty(len(places))
        for start in range(0, len(places), step):
            distances = self._distances(places[start : start + step], runs)
            if is_same:
                own = np.arange(start, start + len(distances))
                distances[own - start, own] = np.inf
            found[start : start + step] = distances.min(axis=1)
        return found

    def _distances(self, places: Floats, runs: Floats) -> Floats:
        apart = np.abs(places[:, None] - runs)
        distances: Floats = np.where(self._is_category, apart > 0, apart).sum(axis=2)
        return distances

    def _further_epochs(self, configuration: Configuration) -> float:
        epochs = self._known.epochs
        if epochs not in configuration or epochs in self._known.factors:
            return 0.0
        ran_for = float(self._known.constants.get(epochs, 1))
        return abs(float(configuration[epochs]) - ran_for) / ran_for


def _place(axis: Axis, level: Level) -> float:
    """In shares of the measured range, of ratios where all are positive; of a category, its number."""
    number = as_number(level)
    if axis.numbers is None or number is None:
        known = [str(one) for one in axis.levels]
        return float(known.index(str(level))) if str(level) in known else -1.0
    low, high = axis.numbers[0], axis.numbers[-1]
    if low == high:
        return float(number != low)
    return math.log(number / low) / math.log(high / low) if low > 0 and number > 0 else (number - low) / (high - low)
