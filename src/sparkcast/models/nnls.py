"""Times as sums of non-negative physical terms."""

from sparkcast.models import MODELS
from sparkcast.models._model import Model
from sparkcast.models._problem import Problem
from sparkcast.models._relative import require_times
from sparkcast.models._terms import physical_terms, sums_of
from sparkcast.models._uncertainty import Learned


@MODELS.register("nnls")
class NonNegativeLeastSquares(Model):
    """Sums of non-negative physical terms (start-up, work shared by machines, waiting), on relative errors."""

    auto_from = 3

    def learn(self, problem: Problem) -> Learned:
        require_times(problem, "nnls")
        return Learned(sums_of(problem, physical_terms(problem.domain)))
