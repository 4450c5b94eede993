"""The hierarchy of Myung and Yu (2020), for any factors.

Level 1 learns for each factor which share of the longest time its levels take, among runs that agree on all else. Level
2 learns the time from these shares: from each of them (sum), or from their product alone. Machines and cores come as
1 / x, sizes, epochs and jobs as x, other positive numbers as both, categories as levels. Every regression is the best
of a few techniques by the error on rows left out one by one; all of it is learned from the rows given, nothing else.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sparkcast.arrays import Floats
from sparkcast.errors import StudyError
from sparkcast.models.base import Axis, Domain, LearnedPoints, Problem, ResponseScale, in_own_unit
from sparkcast.models.lasso import lasso_slopes, left_out_errors
from sparkcast.study import Role
from sparkcast.study.setting import PASSES, SIZES
from sparkcast_papers.myung2020._forests import forest_loo
from sparkcast_papers.myung2020._lines import lasso_loo, mean_squared_errors, ridge, ridge_loo
from sparkcast_papers.myung2020._tables import ALPHAS

Technique = Literal["lasso", "ridge", "forest"]
LINES: tuple[Technique, ...] = ("lasso", "ridge")
TECHNIQUES: tuple[Technique, ...] = (*LINES, "forest")
_TREES = 50
_INVERSE = (Role.MACHINES, Role.CORES, Role.TOTAL_CORES)
_DIRECT = (*SIZES, *PASSES, Role.JOBS)
_LEAST_SHARE = 0.1  # of the smallest share measured: an extrapolated line may cross zero
_TIE = 1 + 1e-6
_TOLERANCE = 1e-10
_MAX_CONDITION = 30  # of columns beyond which an exact lasso takes too long


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    intercept: float
    slopes: Floats

    def predict(self, columns: Floats) -> Floats:
        return self.intercept + columns @ self.slopes


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    forest: Any

    def predict(self, columns: Floats) -> Floats:
        predicted: Floats = self.forest.predict(columns)
        return predicted


@dataclass(frozen=True, slots=True, eq=False)
class OneLevel:
    """The response straight from the columns of all factors."""

    domain: Domain
    scale: ResponseScale
    regression: Line | Trees

    def __call__(self, x: Floats) -> Floats:
        return self.scale.back(self.regression.predict(all_columns(self.domain, x)))


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """Level 1: the share of the longest time that each level of one factor takes."""

    factor: int
    regression: Line | Trees
    least: float

    def of(self, domain: Domain, x: Floats) -> Floats:
        import numpy as np

        columns = factor_columns(domain.axes[self.factor], x[:, self.factor])
        return np.maximum(self.regression.predict(columns), self.least)


@dataclass(frozen=True, slots=True, eq=False)
class TwoLevel:
    """The response from the shares of level 1."""

    domain: Domain
    scale: ResponseScale
    shares: tuple[Share, ...]
    is_product: bool
    regression: Line | Trees = field(kw_only=True)

    def __call__(self, x: Floats) -> Floats:
        return self.scale.back(self.regression.predict(features(self.domain, x, self.shares, self.is_product)))


def learn_one_level(problem: Problem, techniques: Sequence[Technique], seed: int) -> LearnedPoints:
    posed = in_own_unit(problem)
    regression = best_regression(all_columns(posed.domain, posed.x), posed.y, techniques, seed)
    return LearnedPoints(OneLevel(posed.domain, posed.scale, regression))


def learn_two_level(problem: Problem, techniques: Sequence[Technique], seed: int, *, is_product: bool) -> LearnedPoints:
    posed = in_own_unit(problem)
    domain = posed.domain
    shares = tuple(_share(posed, j, techniques, seed) for j in _varied(domain))
    # The product is meant to be proportional to the time: steps would end at the largest one measured.
    second = tuple(t for t in techniques if t in LINES) or LINES if is_product else techniques
    columns = features(domain, posed.x, shares, is_product)
    regression = best_regression(columns, posed.y, second, seed)
    return LearnedPoints(TwoLevel(domain, posed.scale, shares, is_product, regression=regression))


def check_techniques(techniques: Sequence[str]) -> None:
    unknown = [name for name in techniques if name not in TECHNIQUES]
    if unknown or not techniques:
        raise StudyError(f"techniques {list(techniques)} are not valid", hint=f"choose from {', '.join(TECHNIQUES)}")


def features(domain: Domain, x: Floats, shares: Sequence[Share], is_product: bool) -> Floats:
    """What level 2 learns from."""
    import numpy as np

    table = np.column_stack([np.ones(len(x)), *(share.of(domain, x) for share in shares)])
    return table.prod(axis=1, keepdims=True) if is_product else table[:, 1:]


def all_columns(domain: Domain, x: Floats) -> Floats:
    import numpy as np

    varied = _varied(domain)
    return np.hstack([factor_columns(domain.axes[j], x[:, j]) for j in varied]) if varied else np.zeros((len(x), 1))


def factor_columns(axis: Axis, x: Floats) -> Floats:
    """One factor as its law has it."""
    import numpy as np

    if axis.numbers is None:
        levels: Floats = (x[:, None] == np.arange(len(axis.levels))) * 1.0
        return levels
    if not axis.is_positive or axis.role in _DIRECT:
        return x[:, None]
    inverse: Floats = 1 / np.maximum(x, axis.numbers[0] / 1000)
    return inverse[:, None] if axis.role in _INVERSE else np.column_stack([x, inverse])


def scaled_times(problem: Problem, factor: int) -> tuple[list[int], Floats]:
    """Rows, and for each its time as a share of the longest among the runs that differ in this factor only.

    Groups that lack a level would be scaled by another one, so only whole groups count. Without any (no factorial
    design), the shares are those of the factor's main effect, and every row has one.
    """
    import numpy as np

    others = [j for j in _varied(problem.domain) if j != factor]
    groups = defaultdict(list)
    for i, key in enumerate(problem.x[:, others].tolist()):
        groups[tuple(key)].append(i)
    n_levels = len(np.unique(problem.x[:, factor]))
    whole = [rows for rows in groups.values() if len(rows) == n_levels]
    if not whole:
        return list(range(len(problem))), _main_effect(problem, factor)
    rows = [i for group in whole for i in group]
    return rows, np.concatenate([problem.y[group] / problem.y[group].max() for group in whole])


def best_regression(columns: Floats, y: Floats, techniques: Sequence[Technique], seed: int) -> Line | Trees:
    """The technique with the smallest error on rows that were left out, fitted to all; of equal ones the first."""
    found: list[tuple[float, Line | Trees | None]] = [
        _forest(columns, y, seed) if technique == "forest" else _line(columns, y, technique) for technique in techniques
    ]
    error, best = found[0]
    for other_error, other in found[1:]:
        if other_error * _TIE < error:
            error, best = other_error, other
    return best or Trees(_new_forest(seed).fit(columns, y))


def _line(columns: Floats, y: Floats, technique: Technique) -> tuple[float, Line]:
    """The line with the best penalty, and its error on rows that were left out as a share of the largest value.

    Columns and response are brought to one size first, so that the penalties of the paper do for any unit.
    """
    import numpy as np

    spread = columns.std(axis=0)
    # A column that varies by rounding only would get a slope of any size.
    spread[spread <= 1e-12 * np.maximum(np.abs(columns).max(axis=0), 1e-300)] = np.inf
    middle, size = columns.mean(axis=0), _size(y)
    standard, answer = (columns - middle) / spread, y / size
    errors = _ridge_errors(standard, answer) if technique == "ridge" else _lasso_errors(standard, answer)
    best = int(np.argmin(errors))
    alphas = ALPHAS[best : best + 1]
    if technique == "ridge":
        slopes = ridge(standard, answer, alphas).slopes[0]
    else:
        slopes = lasso_slopes(standard, answer, alphas, _TOLERANCE)[:, 0]
    own = slopes * size / spread
    return float(errors[best]), Line(float(y.mean() - middle @ own), own)


def _ridge_errors(x: Floats, y: Floats) -> Floats:
    return mean_squared_errors(ridge_loo(x, y, ALPHAS), y)


def _lasso_errors(x: Floats, y: Floats) -> Floats:
    import numpy as np

    singular = np.linalg.svd(x, compute_uv=False)
    if singular[0] < _MAX_CONDITION * singular[-1]:
        return mean_squared_errors(lasso_loo(x, y, ALPHAS), y)
    return left_out_errors(x, y, ALPHAS)


def _forest(columns: Floats, y: Floats, seed: int) -> tuple[float, Trees | None]:
    """The error of a forest on rows that its trees did not draw, and the forest.

    Trees of one column need not be grown to know what they say of a row left out, so there is no forest yet.
    """
    if columns.shape[1] == 1:
        forest, unseen = None, forest_loo(columns, y, (_TREES,), 1, seed=seed)[0]
    else:
        forest = _new_forest(seed).set_params(oob_score=True).fit(columns, y)
        unseen = forest.oob_prediction_
    return float((((unseen - y) / _size(y)) ** 2).mean()), None if forest is None else Trees(forest)


def _new_forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(_TREES, random_state=seed, n_jobs=1)


def _size(y: Floats) -> float:
    return float(abs(y).max()) or 1.0


def _varied(domain: Domain) -> list[int]:
    return [j for j, axis in enumerate(domain.axes) if not axis.is_constant]


def _share(problem: Problem, factor: int, techniques: Sequence[Technique], seed: int) -> Share:
    rows, shares = scaled_times(problem, factor)
    axis = problem.domain.axes[factor]
    # A sample's time is scaled up to the whole: steps would end at the largest sample.
    own = tuple(t for t in techniques if t in LINES) or LINES if axis.role in SIZES else techniques
    columns = factor_columns(axis, problem.x[rows, factor])
    return Share(factor, best_regression(columns, shares, own, seed), float(shares.min()) * _LEAST_SHARE)


def _main_effect(problem: Problem, factor: int) -> Floats:
    """Shares of the longest time by levels of one factor, others being equal: least squares on logarithms."""
    import numpy as np

    blocks = {j: _effect_columns(problem, j) for j in _varied(problem.domain)}
    table = np.hstack([block - block.mean(axis=0) for block in blocks.values()])
    answer = np.log(np.maximum(problem.y, np.finfo(float).tiny))
    slopes = np.linalg.lstsq(table, answer - answer.mean(), rcond=1e-10)[0]
    before = sum(block.shape[1] for j, block in blocks.items() if j < factor)
    own = blocks[factor]
    effect = own @ slopes[before : before + own.shape[1]]
    shares: Floats = np.exp(effect - effect.max())
    return shares


def _effect_columns(problem: Problem, factor: int) -> Floats:
    """A column per level where there are rows enough for those of all factors, else one for a number."""
    import numpy as np

    axis, x = problem.domain.axes[factor], problem.x
    seen = [len(np.unique(x[:, j])) for j in _varied(problem.domain)]
    if axis.numbers is not None and 1 + sum(seen) - len(seen) >= len(problem):
        return np.log(x[:, [factor]]) if axis.is_positive else x[:, [factor]] / max(map(abs, axis.numbers))
    levels: Floats = (x[:, [factor]] == np.unique(x[:, factor])) * 1.0
    return levels
