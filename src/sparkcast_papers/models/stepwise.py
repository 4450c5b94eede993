"""Stepwise regression (Draper and Smith, Applied Regression Analysis, chapter 15)."""

from sparkcast.arrays import Floats
from sparkcast.errors import StudyError
from sparkcast.models.base import MODELS, Columns, LearnedPoints, Model, Problem, in_own_unit, least_squares

_COLUMNS = Columns(logs=True, inverses=True, degree=2)
_ALIASED = 1e-8  # less than this share of a column left beside the others is rounding error
_EXACT = 1e-20  # share of the variation left over when a fit is exact but for rounding
_MAX_STEPS = 100


@MODELS.register("stepwise")
class Stepwise(Model):
    """Least squares on x, log x, 1/x and products, each added or removed by its F test (Draper-Smith).

    A column enters when the F test of its coefficient has p below `enter`; any that has p above `remove` beside
    the others leaves. `log` learns the logarithm of positive responses.
    """

    def __init__(self, enter: float = 0.05, remove: float = 0.10, *, log: bool = True) -> None:
        if not 0 < enter <= remove < 1:
            raise StudyError(
                f"p to enter {enter} and to remove {remove} would add and remove the same column forever",
                hint="0 < enter <= remove < 1, such as 0.05 and 0.10",
            )
        self._enter = enter
        self._remove = remove
        self._log = log

    def learn(self, problem: Problem) -> LearnedPoints:
        posed = problem if self._log else in_own_unit(problem)
        x = _COLUMNS.of(posed.domain, posed.x)
        return LearnedPoints(least_squares(posed, _COLUMNS, self.select(x, posed.y, posed.weights)))

    def select(self, x: Floats, y: Floats, weights: Floats) -> tuple[int, ...]:
        """The columns that the F tests leave, in the order in which they came in."""
        import numpy as np

        root = np.sqrt(weights)
        share = weights / weights.sum()
        columns, answer = (x - share @ x) * root[:, None], (y - share @ y) * root
        chosen: list[int] = []
        for _ in range(_MAX_STEPS):
            entering = _strongest(columns, answer, chosen, self._enter)
            if entering is None:
                break
            chosen.append(entering)
            while (leaving := _weakest(columns, answer, chosen, self._remove)) is not None:
                chosen.remove(leaving)
        return tuple(chosen)


def _strongest(columns: Floats, answer: Floats, chosen: list[int], enter: float) -> int | None:
    """The column that explains most of what is left, if its F test lets it in. Columns have mean 0."""
    import numpy as np
    from scipy.stats import f

    spare = len(answer) - len(chosen) - 2
    basis = np.linalg.qr(columns[:, chosen])[0]
    beside = columns - basis @ (basis.T @ columns)
    left = answer - basis @ (basis.T @ answer)
    own = (beside**2).sum(axis=0)
    usable = own > _ALIASED * np.maximum((columns**2).sum(axis=0), np.finfo(float).tiny)
    usable[chosen] = False
    unexplained = float(left @ left)
    if spare < 1 or not usable.any() or unexplained <= _EXACT * float(answer @ answer):
        return None
    gains = np.where(usable, (beside.T @ left) ** 2 / np.where(usable, own, 1.0), -1.0)
    best = int(np.argmax(gains))
    rest = max(unexplained - float(gains[best]), _EXACT * unexplained)
    return best if f.sf(gains[best] / (rest / spare), 1, spare) < enter else None


def _weakest(columns: Floats, answer: Floats, chosen: list[int], remove: float) -> int | None:
    """The chosen column that is needed least beside the others, if its F test no longer keeps it."""
    import numpy as np
    from scipy.stats import f

    if not chosen:
        return None
    spare = len(answer) - len(chosen) - 1
    basis, triangle = np.linalg.qr(columns[:, chosen])
    slopes = np.linalg.solve(triangle, basis.T @ answer)
    left = answer - columns[:, chosen] @ slopes
    noise = max(float(left @ left), _EXACT * float(answer @ answer)) / spare
    inverse = np.linalg.inv(triangle)
    statistics = slopes**2 / ((inverse**2).sum(axis=1) * noise)
    worst = int(np.argmin(statistics))
    return chosen[worst] if f.sf(statistics[worst], 1, spare) > remove else None
