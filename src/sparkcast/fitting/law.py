"""What particles of the Bayesian model say of settings before the remainder is looked at (see `prior`).

Given a particle's serial part and powers' spreads, the logarithm of what is left of each time is one Gaussian process.
"""

from dataclasses import dataclass

import numpy as np

from sparkcast.arrays import Floats, Ints
from sparkcast.fitting.prior import Quantities, Terrain
from sparkcast.fitting.problem import Problem
from sparkcast.study import Kind, Role
from sparkcast.study.setting import PASSES, SIZES

_LEVEL = 1.5  # standard deviation of the level of the whole job
_NUGGET = 1e-8
_STEEP = 0.03  # e-folds of memory within which a jump happens
_MOST_STRETCHED = 1.5
_LEAST_LEFT = 1e-3  # of a time, beside the serial part; a measured one has at least 2 %
_NEAR_ZERO = 1e-3  # of the smallest number: no setting goes below it


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Settings of some configurations, as the model sees them."""

    numbers: Floats  # centered; logarithms of positive ones, others in terms of their range
    amounts: Floats  # relative to their mean
    categories: Floats

    def __len__(self) -> int:
        return len(self.numbers)

    def at(self, places: Ints) -> "Rows":
        return Rows(self.numbers[places], self.amounts[places], self.categories[places])


@dataclass(frozen=True, slots=True)
class Inputs:
    """From columns of settings to what the model sees."""

    numbers: tuple[int, ...]  # columns of x
    are_logs: tuple[bool, ...]
    lowest: tuple[float, ...]
    centers: tuple[float, ...]
    units: tuple[float, ...]
    categories: tuple[int, ...]

    def rows(self, x: Floats) -> Rows:
        raw = _raw(x, self.numbers, self.are_logs, self.lowest)
        centered = (raw - np.array(self.centers)) / np.array(self.units)
        columns = [
            np.exp(centered[:, k]) if is_log else _above(raw[:, k], self.lowest[k], self.centers[k])
            for k, is_log in enumerate(self.are_logs)
        ]
        amounts = np.array(columns, dtype=float).reshape(len(columns), len(x)).T
        return Rows(centered, amounts, x[:, list(self.categories)])


def _above(values: Floats, lowest: float, center: float) -> Floats:
    """Numbers that may be 0, as multiples of their mean."""
    start = min(lowest, 0.0)
    return np.maximum(values - start, 0.0) / max(center - start, 1e-12)


def _raw(x: Floats, numbers: tuple[int, ...], are_logs: tuple[bool, ...], lowest: tuple[float, ...]) -> Floats:
    columns = [
        np.log(np.maximum(x[:, j], low * _NEAR_ZERO)) if is_log else x[:, j]
        for j, is_log, low in zip(numbers, are_logs, lowest, strict=True)
    ]
    return np.array(columns, dtype=float).reshape(len(columns), len(x)).T


def inputs_of(problem: Problem) -> tuple[Inputs, Terrain]:
    axes = problem.domain.axes
    numbers = tuple(j for j, axis in enumerate(axes) if axis.is_number and not axis.is_constant)
    are_logs = tuple(axes[j].is_positive for j in numbers)
    lowest = tuple((axes[j].numbers or (0.0,))[0] for j in numbers)
    categories = tuple(j for j, axis in enumerate(axes) if not axis.is_number and not axis.is_constant)
    raw = _raw(problem.x, numbers, are_logs, lowest)
    centers = tuple(float(raw[:, k].mean()) for k in range(len(numbers)))
    units = tuple(
        1.0 if is_log else float(raw[:, k].max() - raw[:, k].min()) or 1.0 for k, is_log in enumerate(are_logs)
    )
    is_time = problem.response.kind is Kind.TIME and problem.scale.is_log
    has_odds = problem.response.kind is Kind.SHARE and not problem.scale.is_log
    has_repeats = any(len(set(values)) > 1 for values in problem.values)
    roles = tuple(axes[j].role for j in numbers)
    terrain = Terrain(roles, are_logs, len(categories), is_time, has_odds, has_repeats)
    return Inputs(numbers, are_logs, lowest, centers, units, categories), terrain


@dataclass(frozen=True, slots=True, eq=False)
class RunData:
    """The runs, as the model sees them."""

    rows: Rows
    y: Floats  # on the link, the mean of replicates
    replicates: Floats
    freedom: float  # of replicates around their means: how much they say about the noise
    squares: float
    n_measured: int  # those after them were stopped: their `y` is where

    @property
    def center(self) -> float:
        return float(self.y[: self.n_measured].mean())

    @property
    def n_stopped(self) -> int:
        return len(self.y) - self.n_measured


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """What particles say before the remainder is looked at."""

    terrain: Terrain
    known: Quantities
    center: float

    def serial(self, rows: Rows) -> Floats:
        """The serial part at each of the rows, up to a factor."""
        found = np.ones((len(self.known.growth), len(rows)))
        if machines := self.terrain.places(Role.TOTAL_CORES, Role.MACHINES):
            found *= np.exp(self.known.growth[:, None] * rows.numbers[:, machines[0]])
        for j in range(len(self.terrain.roles)):
            share = self.known.proportion[:, [j]]
            if share.any():
                found *= 1 - share + share * rows.amounts[:, j]
        return np.maximum(found, 1e-9)

    def mean(self, rows: Rows) -> Floats:
        """The logarithm of the shared part that is expected at each of the rows."""
        expected: Floats = self.center + self.known.power_means @ rows.numbers.T
        known = self.known
        if known.cliff.any():
            missing = self._missing(rows, known.need, known.need_growth)
            expected = expected + known.cliff[:, None] * np.maximum(missing, 0.0)
        if known.jump.any():
            missing = self._missing(rows, known.jump_need, known.jump_growth)
            expected = expected + known.jump[:, None] / (1 + np.exp(np.clip(-missing / _STEEP, -700, 700)))
        return expected

    def _missing(self, rows: Rows, need: Floats, growth: Floats) -> Floats:
        """How much memory is missing at each of the rows, in e-folds; below 0 where there is enough."""
        places = [*self.terrain.places(Role.MEMORY), *self.terrain.places(Role.MACHINES)[:1]]
        data = rows.numbers[:, self.terrain.places(*SIZES, *PASSES)].sum(axis=1)
        missing: Floats = need[:, None] + growth[:, None] * data - rows.numbers[:, places].sum(axis=1)
        return missing

    def covariance(self, left: Rows, right: Rows) -> Floats:
        known, shape = self.known, (-1, len(left), len(right))
        apart = (left.numbers[:, None] - right.numbers).reshape(len(left) * len(right), -1)
        products = (left.numbers[:, None] * right.numbers).reshape(len(left) * len(right), -1)
        squares = ((1 / known.lengths**2) @ (apart**2).T).reshape(shape)
        found: Floats = (known.power_spreads**2 @ products.T).reshape(shape)
        found += _LEVEL**2
        remainder = known.remainder[:, None, None] ** 2
        if self.terrain.n_categories:
            same = (left.categories[:, None] == right.categories).reshape(len(left) * len(right), -1) * 1.0
            found += (known.offsets**2 @ same.T).reshape(shape)
            # What numbers do in one category they partly do in all, and partly in categories that are alike.
            differ = (known.closeness**2 @ (1 - same).T).reshape(shape)
            apart_by = known.distance[:, None, None] ** 2 * differ
            common = known.common[:, None, None]
            found += (1 - common) * remainder * _matern(squares + apart_by)
            remainder = common * remainder
        found += remainder * _matern(squares)
        return found

    def variance(self, rows: Rows) -> Floats:
        """The diagonal of `covariance`."""
        known = self.known
        fixed = _LEVEL**2 + (known.offsets**2).sum(axis=1) + known.remainder**2
        found: Floats = known.power_spreads**2 @ (rows.numbers**2).T + fixed[:, None]
        return found

    def remains(self, seen: RunData) -> tuple[Floats, Floats, Floats]:
        """Serial part (a factor per particle), what is left of each run on the link, and by how much that stretches
        errors. Of a run that was stopped it may be all, and is then next to nothing."""
        if not self.terrain.is_time:
            like = np.ones((len(self.known.noise), len(seen.y)))
            return np.zeros(len(like)), like * seen.y, like
        times = np.exp(seen.y)
        serial = self.serial(seen.rows)
        factor = self.known.serial * (times / serial)[:, : seen.n_measured].min(axis=1)
        left = np.maximum(times - factor[:, None] * serial, _LEAST_LEFT * times)
        return factor, np.log(left), times / left

    def covariance_of_runs(self, seen: RunData, stretch: Floats) -> Floats:
        """Of what was measured: the process, and each run's own deviation from it."""
        found, diagonal = self.covariance(seen.rows, seen.rows), np.arange(len(seen.y))
        single = self.known.noise[:, None] ** 2 / seen.replicates + self.known.between[:, None] ** 2
        # Where the serial part is nearly all of a run, what is left of it can be much less than it seems but hardly
        # more: a run that was measured is never as good as unobserved.
        found[:, diagonal, diagonal] += np.minimum(stretch, _MOST_STRETCHED) ** 2 * single + _NUGGET
        return found


def _matern(squares: Floats) -> Floats:
    """Matern's kernel of smoothness 5/2 in place of the squared distances: memory fetched anew takes longer."""
    squares *= 5
    distance = np.sqrt(squares)
    squares /= 3
    squares += distance
    squares += 1
    np.negative(distance, out=distance)
    squares *= np.exp(distance, out=distance)
    return squares
