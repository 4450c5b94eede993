"""Ordinary least squares on the settings."""

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.fitting.encoding import Domain
from sparkcast.fitting.plain import in_own_unit
from sparkcast.fitting.problem import Problem, pose
from sparkcast.fitting.regression import Columns
from sparkcast.fitting.selection import least_squares, select_columns
from sparkcast.fitting.uncertainty import FittedPoints, LearnedPoints, fit
from sparkcast.models import MODELS
from sparkcast.models.base import Model
from sparkcast.study import Dataset

_PLAIN = Columns()
_RICH = Columns(logs=True, inverses=True, degree=2)


@MODELS.register("linear")
class Linear(Model):
    """Least squares, linear in each setting, a constant per category; select=N picks among curves and products.

    With `select` up to that many columns are chosen by forward selection among x, log x, 1/x and their products, as
    a-MLLibrary does. `log` learns the logarithm of positive responses.
    """

    def __init__(self, select: int = 0, *, log: bool = True) -> None:
        if select < 0:
            raise StudyError(f"select={select} is not valid", hint="0 uses all settings, 5 the five best columns")
        self._select = select
        self._log = log

    def fit(self, data: Dataset, response: str) -> FittedPoints:
        problem = pose(data, response)
        if not self._select:
            require_rows("linear", problem, coefficients(problem.domain) + 1)
        return fit(problem, self.learn)

    def learn(self, problem: Problem) -> LearnedPoints:
        posed = problem if self._log else in_own_unit(problem)
        if self._select:
            x = _RICH.of(posed.domain, posed.x)
            return LearnedPoints(least_squares(posed, _RICH, select_columns(x, posed.y, posed.weights, self._select)))
        require_rows("linear", problem, coefficients(problem.domain))
        return LearnedPoints(least_squares(posed, _PLAIN, range(_PLAIN.of(posed.domain, posed.x).shape[1])))


def coefficients(domain: Domain) -> int:
    """The mean, a slope for each number, and a difference for each level of a category but one."""
    varied = [axis for axis in domain.axes if not axis.is_constant]
    return 1 + sum(1 if axis.is_number else len(axis.levels) - 1 for axis in varied)


def require_rows(model: str, problem: Problem, least: int) -> None:
    if len(problem) < least:
        raise NotEnoughDataError(
            f"{model} needs {least} different configurations for this many settings, but there are only {len(problem)}",
            hint="run more, or use a model that shrinks its coefficients, such as ridge or lasso",
        )
