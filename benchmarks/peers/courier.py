"""Courier's forest (2021): trees on the settings and the response as they are."""

from sparkcast.fitting.forest import grow
from sparkcast.models.base import MODELS, Columns, LearnedPoints, Model, Problem, Regressed, in_own_unit

_TREES = 200


@MODELS.register("courier-forest")
class CouriersForest(Model):
    """A forest of the response itself, not of its logarithm."""

    def learn(self, problem: Problem) -> LearnedPoints:
        posed, columns = in_own_unit(problem), Columns()
        forest, out_of_bag = grow(columns.of(posed.domain, posed.x), posed.y, posed.weights, trees=_TREES, seed=0)
        return LearnedPoints(Regressed(posed.domain, posed.scale, columns, forest), out_of_bag)
