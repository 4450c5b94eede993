"""How far settings are from those that were measured."""

import numpy as np

from sparkcast.fitting.encoding import Axis, domain_of
from sparkcast.recommend import Nearest
from sparkcast.recommend.evaluation import RunRecord
from sparkcast.study import Configuration, Level
from sparkcast.units import as_number


class MeasuredPoints:
    """The configurations that were run with success, each setting in shares of its measured range."""

    def __init__(self, known: RunRecord) -> None:
        self._known = known
        self._ran = [seen.configuration for seen in known.seen if seen.ok]
        self._axes = domain_of(known.factors, self._ran, known.words).axes if self._ran else ()
        self._places = np.array([[_place(axis, c[axis.name]) for axis in self._axes] for c in self._ran])

    def nearest(self, configuration: Configuration) -> Nearest | None:
        """The measured configuration most like this one; distances along the settings are added up."""
        if not self._ran:
            return None
        place = np.array([_place(axis, configuration[axis.name]) for axis in self._axes])
        apart = np.abs(self._places - place)
        is_category = np.array([not axis.is_number for axis in self._axes], dtype=bool)
        distances = np.where(is_category, apart > 0, apart).sum(axis=1)
        best = int(distances.argmin())
        return Nearest(
            self._ran[best].only(self._known.factors), float(distances[best]) + self._further_epochs(configuration)
        )

    def _further_epochs(self, configuration: Configuration) -> float:
        epochs = self._known.epochs
        if epochs not in configuration or epochs in self._known.factors:
            return 0.0
        ran_for = float(self._known.constants.get(epochs, 1))
        return abs(float(configuration[epochs]) - ran_for) / ran_for


def _place(axis: Axis, level: Level) -> float:
    """In shares of the measured range, of ratios where all are positive; of a category, its number."""
    import math

    number = as_number(level)
    if axis.numbers is None or number is None:
        known = [str(one) for one in axis.levels]
        return float(known.index(str(level))) if str(level) in known else -1.0
    low, high = axis.numbers[0], axis.numbers[-1]
    if low == high:
        return float(number != low)
    return math.log(number / low) / math.log(high / low) if low > 0 and number > 0 else (number - low) / (high - low)
