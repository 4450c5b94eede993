"""Ridge regression on the settings and their usual curves."""

from collections.abc import Sequence

from sparkcast.models import MODELS, Fitted
from sparkcast.models._encoding import Samples
from sparkcast.models._uncertainty import Points, Problem, learn, pose
from sparkcast.study import Configuration, Dataset


@MODELS.register("ridge")
class Ridge:
    """Linear in x, log x and 1/x of each setting; the logarithm of the response when it is positive."""

    def fit(self, data: Dataset, response: str) -> Fitted:
        problem = pose(data, response)
        return learn(problem, lambda samples: _learn(problem, samples))


def _learn(problem: Problem, samples: Samples) -> Points:
    import numpy as np
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    domain, scale = problem.domain, problem.scale
    # One row per configuration: the closed-form leave-one-out that picks alpha then never sees a replicate.
    target = [sum(map(scale.forward, values)) / len(values) for values in samples.values]
    # Relative, or repeating the whole study would change how much alpha means.
    weights = [len(values) * len(samples.values) / len(samples.all_values()) for values in samples.values]
    model = make_pipeline(StandardScaler(), RidgeCV(alphas=np.logspace(-4, 4, 25)))
    model.fit(domain.matrix(samples.configurations, with_curves=True), target, ridgecv__sample_weight=weights)

    def points(at: Sequence[Configuration]) -> list[float]:
        return [scale.back(float(value)) for value in model.predict(domain.matrix(at, with_curves=True))]

    return points
