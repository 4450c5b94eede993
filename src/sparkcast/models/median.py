"""The baseline every other model must beat."""

from collections.abc import Sequence
from statistics import median

from sparkcast.models import MODELS, Fitted
from sparkcast.models._encoding import Samples
from sparkcast.models._uncertainty import Points, learn, pose
from sparkcast.study import Configuration, Dataset


@MODELS.register("median")
class Median:
    """The median of all runs, whatever the settings: the baseline."""

    def fit(self, data: Dataset, response: str) -> Fitted:
        return learn(pose(data, response), _learn)


def _learn(samples: Samples) -> Points:
    # Each configuration counts once, however often it was repeated.
    centre = float(median(median(values) for values in samples.values))

    def points(at: Sequence[Configuration]) -> list[float]:
        return [centre] * len(at)

    return points
