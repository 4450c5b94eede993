"""A gray box: what earlier runs showed inside (times of jobs and stages, tasks, bytes) beside their settings.

Such metrics of a run are known only after it, so a prediction needs something in their place. `replace="mean"` is what
the first a-MLLibrary did: a forest learns from settings and metrics, and is then asked with the means of the metrics.
`replace="predict"` (the default) gives each metric a law of the settings, and makes the response a sum of these laws:

    metric   = a + b * load + c * log(machines) + d * machines + e * max(0, load - knee)      a, b, c, d, e >= 0
    response = p * metric + q * other metric + ... + the same terms once more                 p, q, ... >= 0

with load = size / machines. The first four terms are Ernest's; the last one begins where the data of a machine no
longer fit into its memory and are read again. Runs seldom say exactly where that is, so a law is the average over all
places of the knee, and none, each weighted by how well it explains the metric. A stage that reads from the cache may
take a hundred times longer beyond the knee where the whole run takes a tenth more: that is what metrics are good for.

Every other setting scales the terms: a number by itself and its inverse, a category level by level.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.fitting.encoding import Axis, Domain
from sparkcast.fitting.problem import Problem, ResponseScale
from sparkcast.fitting.regression import Columns
from sparkcast.fitting.relative import positive_setting, require_times
from sparkcast.fitting.uncertainty import LearnedPoints
from sparkcast.models import MODELS
from sparkcast.models.base import Model
from sparkcast.study import Role
from sparkcast.study.setting import SIZES

Replacement = Literal["predict", "mean"]

_ROLES = ((Role.MACHINES,), (Role.CORES,), SIZES)
_KNEES = 24  # places that are tried
_MIN_LOADS = 4  # fewer different ones cannot tell a knee from a line
_NOISE = 1e-3  # no two runs agree better than this, relative: exact data must not be certain of a knee
_MOST_METRICS, _FEWEST_METRICS = 40, 8  # laws of many terms take longer, so there are fewer of them
_PLAIN = 4  # terms without a knee


@dataclass(frozen=True, slots=True)
class Terms:
    """What laws are sums of: Ernest's terms, then one term per knee; each for every effect of the other settings."""

    domain: Domain
    knees: tuple[float, ...]

    def of(self, x: Floats) -> Floats:
        load, machines = load_and_machines(self.domain, x)
        terms = [np.ones(len(x)), load, np.log(np.maximum(machines, 1.0)), machines]
        terms += [np.maximum(0.0, load - knee) for knee in self.knees]
        effects = _effects(self.domain, x)
        return np.column_stack([term * effect for term in terms for effect in effects])

    def places(self, n_columns: int) -> list[list[int]]:
        """The columns of a law without a knee, and those of a law with each of the knees."""
        per_term = n_columns // (_PLAIN + len(self.knees))
        starts = range(_PLAIN * per_term, n_columns, per_term)
        plain = list(range(_PLAIN * per_term))
        return [plain, *(plain + list(range(start, start + per_term)) for start in starts)]


@dataclass(frozen=True, slots=True)
class SumOfLaws:
    """A sum of laws is a law: one coefficient per term."""

    terms: Terms
    coefficients: Floats

    def __call__(self, x: Floats) -> Floats:
        return self.terms.of(x) @ self.coefficients


@dataclass(frozen=True, slots=True)
class WithMeans:
    """A forest over settings and metrics, asked with the mean of each metric."""

    domain: Domain
    scale: ResponseScale
    columns: Columns
    means: Floats
    forest: Any

    def __call__(self, x: Floats) -> Floats:
        metrics = np.tile(self.means, (len(x), 1))
        return self.scale.back(self.forest.predict(np.hstack([self.columns.of(self.domain, x), metrics])))


@MODELS.register("gray-box")
class GrayBox(Model):
    """Time as a sum of laws, one per metric of earlier runs (stage times, bytes), each with at most one bend."""

    auto_from = _MIN_LOADS
    columns = Columns(inverses=True)

    def __init__(self, replace: Replacement = "predict", trees: int = 100, seed: int = 0) -> None:
        if replace not in ("predict", "mean"):
            raise StudyError(f"gray-box cannot replace metrics with {replace!r}", hint="'predict' or 'mean'")
        self._replace = replace
        self._trees = trees
        self._seed = seed

    def learn(self, problem: Problem) -> LearnedPoints:
        metrics = _metrics(problem)
        if self._replace == "mean":
            return LearnedPoints(self._with_means(problem, metrics))
        return LearnedPoints(_sum_of_laws(problem, metrics))

    def _with_means(self, problem: Problem, metrics: Floats) -> WithMeans:
        from sklearn.ensemble import RandomForestRegressor

        forest = RandomForestRegressor(self._trees, random_state=self._seed, n_jobs=1)
        settings = self.columns.of(problem.domain, problem.x)
        forest.fit(np.hstack([settings, metrics]), problem.y, sample_weight=problem.weights)
        means = np.average(metrics, axis=0, weights=problem.weights)
        return WithMeans(problem.domain, problem.scale, self.columns, means, forest)


def _metrics(problem: Problem) -> Floats:
    if problem.metrics is None or not problem.metric_names:
        raise NotEnoughDataError(
            f"gray-box learns from metrics besides {problem.response.name}, but these runs have none",
            hint="for a CSV, name the settings with `factors=`: its other numeric columns then become metrics",
        )
    return problem.metrics


def _sum_of_laws(problem: Problem, metrics: Floats) -> SumOfLaws:
    require_times(problem, "gray-box")
    terms = Terms(problem.domain, _knees(problem))
    columns = terms.of(problem.x)
    places = terms.places(columns.shape[1])
    most = max(_FEWEST_METRICS, _PLAIN * _MOST_METRICS // len(places[0]))
    seen = [*_useful(metrics, problem.y, most).T, problem.target]
    laws = np.column_stack([_law(columns, places, values, problem.weights) for values in seen])
    # Parts are what the laws say of the metrics, not what was measured: at new settings only the laws are at hand.
    parts = np.hstack([columns[:, places[0]], columns @ laws])
    shares, _ = _non_negative(parts, problem.target, problem.weights)
    coefficients = laws @ shares[len(places[0]) :]
    coefficients[places[0]] += shares[: len(places[0])]
    return SumOfLaws(terms, coefficients)


def _useful(metrics: Floats, y: Floats, most: int) -> Floats:
    """The metrics that can have a law; of more than `most` those that go best with the response."""
    metrics = metrics[:, np.all(metrics > 0, axis=0)]
    metrics = metrics[:, np.ptp(metrics, axis=0) > 0]
    if metrics.shape[1] <= most:
        return metrics
    logs = np.log(metrics)
    logs = (logs - logs.mean(axis=0)) / logs.std(axis=0)
    order = np.argsort(-np.abs(logs.T @ (y - y.mean())), kind="stable")
    return metrics[:, np.sort(order[:most])]


def _knees(problem: Problem) -> tuple[float, ...]:
    """Evenly spaced ratios between the second smallest load and the largest."""
    loads = np.unique(load_and_machines(problem.domain, problem.x)[0].round(12))
    if len(loads) < _MIN_LOADS:
        return ()
    steps = np.geomspace(loads[1], loads[-1], 2 * _KNEES + 1)
    return tuple(steps[1::2].tolist())


def _law(columns: Floats, places: list[list[int]], values: Floats, weights: Floats) -> Floats:
    """The average of the laws without a knee and with each knee, weighted by their evidence."""
    coefficients = np.zeros((len(places), columns.shape[1]))
    evidence = np.empty(len(places))
    for i, place in enumerate(places):
        coefficients[i, place], error = _non_negative(columns[:, place], values, weights)
        spare = max(1, len(values) - np.count_nonzero(coefficients[i]) - (i > 0))
        evidence[i] = -spare / 2 * math.log(error**2 / len(values) + _NOISE**2)
        evidence[i] -= math.log((len(places) - 1) * len(values)) if i else 0.0
    likely = np.exp(evidence - evidence.max())
    average: Floats = likely @ coefficients / likely.sum()
    return average


def _non_negative(columns: Floats, values: Floats, weights: Floats) -> tuple[Floats, float]:
    """Non-negative coefficients with the least relative errors, and the root of their sum of squares."""
    from scipy.optimize import nnls

    root = np.sqrt(weights)
    rows = columns * (root / values)[:, None]
    norms: Floats = np.linalg.norm(rows, axis=0)
    norms[norms == 0] = 1.0
    coefficients, error = nnls(rows / norms, root, maxiter=100 * rows.shape[1])
    return coefficients / norms, float(error)


def load_and_machines(domain: Domain, x: Floats) -> tuple[Floats, Floats]:
    """Data per machine (per core where they are known), and machines; 1 of what the settings do not name."""
    machines, cores, size = (positive_setting("gray-box", domain, x, *roles) for roles in _ROLES)
    return size / (machines * cores), machines * cores


def _effects(domain: Domain, x: Floats) -> list[Floats]:
    """What the settings that are no machines and no size may scale a term with; 1 comes first."""
    own = [domain.first(*roles) for roles in _ROLES]
    others = [(axis, x[:, j]) for j, axis in enumerate(domain.axes) if axis.name not in own and not axis.is_constant]
    return [np.ones(len(x)), *(effect for axis, values in others for effect in _effects_of(axis, values))]


def _effects_of(axis: Axis, values: Floats) -> list[Floats]:
    if axis.numbers is None:
        return [(values == code) * 1.0 for code in range(len(axis.levels))]
    if axis.is_positive:
        return [values, 1 / np.maximum(values, axis.numbers[0] / 1000)]
    return [np.maximum(0.0, values - axis.numbers[0]), np.maximum(0.0, axis.numbers[-1] - values)]
