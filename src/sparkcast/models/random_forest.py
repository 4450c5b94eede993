"""A random forest, for responses without a simple shape."""

from collections.abc import Sequence

from sparkcast.models import MODELS, Fitted
from sparkcast.models._uncertainty import pose, with_residuals
from sparkcast.study import Configuration, Dataset


@MODELS.register("random-forest")
class RandomForest:
    """Averages 100 regression trees; never predicts beyond what was measured."""

    def __init__(self, trees: int = 100, seed: int = 0) -> None:
        self._trees = trees
        self._seed = seed

    def fit(self, data: Dataset, response: str) -> Fitted:
        problem = pose(data, response)  # before the slow import, so that bad data are refused at once
        from sklearn.ensemble import RandomForestRegressor

        domain, scale, samples = problem.domain, problem.scale, problem.samples
        # One row per configuration, so the bootstrap draws configurations and a tree's out-of-bag rows are ones it
        # has not seen: the error of unseen configurations comes with the fit, without refitting.
        forest = RandomForestRegressor(self._trees, oob_score=True, random_state=self._seed, n_jobs=1)
        target = [sum(map(scale.forward, values)) / len(values) for values in samples.values]
        weights = [len(values) for values in samples.values]
        forest.fit(domain.matrix(samples.configurations), target, sample_weight=weights)

        def points(at: Sequence[Configuration]) -> list[float]:
            return [scale.back(float(value)) for value in forest.predict(domain.matrix(at))]

        return with_residuals(problem, points, [scale.back(float(value)) for value in forest.oob_prediction_])
