"""Times as sums of non-negative physical terms: what a job does, and what that is divided by.

A job starts up, makes passes or steps over its data, and spends time on every record. Start-up is done once; the work
is done by one process, or shared by the machines, by the cores of each, or by both; and machines that work together
wait for each other, once per step. A number whose meaning is not known may slow down or speed up each kind of work,
whichever the runs show. A category slows everything down by one ratio per level. No coefficient is negative, so that a
sum that fits what was measured stays a time far outside of it.

Terms add up when they follow each other. Where they overlap (data are read while others are computed with) the longest
decides: with `overlap` p, time = (sum of term^p)^(1/p), for which the coefficients are found in the same way.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.fitting.encoding import Axis, Domain
from sparkcast.fitting.problem import Problem
from sparkcast.study import Role
from sparkcast.study.setting import PASSES, SIZES

Part = tuple[int, str]  # a column of x, and its shape
Term = tuple[Part, ...]  # their product; the empty one is constant
Effects = tuple[tuple[float, ...], ...]  # of the levels of each category

_PARTS = {
    "machines": (Role.MACHINES,),
    "cores": (Role.CORES,),
    "size": SIZES,
    "batch": (Role.BATCH,),
    "jobs": (Role.JOBS,),
}
_WORK = ("size", "passes", "steps", "batch")
_PENALTY = 1e-7  # of unit columns: terms that the runs cannot tell apart share the work, exact laws stay exact
NEAR_ZERO = 1e-3  # of the smallest number and of the shortest run: neither goes below this share
_MAX_ROUNDS = 20
_LEVEL_PRIOR = 0.5  # how many runs the assumption "a level changes nothing" is worth


@dataclass(frozen=True, slots=True)
class Sums:
    """The terms times their coefficients, times the effects of the levels of each category."""

    domain: Domain
    terms: tuple[Term, ...]
    coefficients: tuple[float, ...]
    overlap: float
    categories: tuple[int, ...]  # columns of x
    effects: Effects
    least: float

    def __call__(self, x: Floats) -> Floats:
        powers = _columns(self.domain, self.terms, x) ** self.overlap @ np.array(self.coefficients)
        times: Floats = powers ** (1 / self.overlap) * _ratios(self.categories, self.effects, x)
        return np.maximum(times, self.least)

    @property
    def size(self) -> int:
        """How many numbers were learned."""
        return sum(value > 0 for value in self.coefficients) + sum(len(levels) - 1 for levels in self.effects)


def sums_of(problem: Problem, terms: Sequence[Term], *, overlap: float = 1.0) -> Sums:
    """Fit relative errors: coefficients and effects of levels in turns, each the best given the other."""
    axes, target, weights = problem.domain.axes, problem.target, problem.weights
    categories = tuple(j for j, axis in enumerate(axes) if not axis.is_number and not axis.is_constant)
    effects: Effects = tuple((1.0,) * len(axes[j].levels) for j in categories)
    powers = _columns(problem.domain, terms, problem.x) ** overlap
    lost = np.inf
    for _ in range(_MAX_ROUNDS):
        ratios = (_ratios(categories, effects, problem.x) / target) ** overlap
        coefficients = _penalized_nnls(powers * ratios[:, None], weights)
        sums = (powers @ coefficients) ** (1 / overlap) / target
        effects = _refined(problem, categories, effects, sums)
        relative = sums * _ratios(categories, effects, problem.x)
        before, lost = lost, float((weights * (relative - 1) ** 2).sum())
        if not categories or lost > before * (1 - 1e-5):
            break
    least = NEAR_ZERO * float(target.min())
    return Sums(problem.domain, tuple(terms), tuple(coefficients.tolist()), overlap, categories, effects, least)


def physical_terms(domain: Domain) -> tuple[Term, ...]:
    """Every term that the settings of this domain can have, from what they mean."""
    roles = roles_of(domain)
    *amounts, records = _amounts(roles)
    if amounts:
        start, *repeated = amounts
        done_once = [start, *_waiting(roles, start)]
        work = [term for amount in repeated for term in (*_shared(roles, amount), *_waiting(roles, amount))]
        work += _shared(roles, records)
    else:  # the amount of work never varied
        done_once, work = [], [*_shared(roles, records), *_waiting(roles, records)]
    work += [
        _times(term, ((j, shape),))
        for j in _others(domain, roles)
        for shape in _directions(domain.axes[j])
        for term in work
    ]
    terms = _different([*done_once, *work])
    if "jobs" in roles:
        terms += [_times(term, ((roles["jobs"], "x"),)) for term in terms]
    return tuple(terms)


def roles_of(domain: Domain) -> dict[str, int]:
    """The columns of the settings whose meaning is known and that vary: of several with one meaning the first."""
    columns = {axis.name: j for j, axis in enumerate(domain.axes) if axis.is_positive and not axis.is_constant}
    named = {part: domain.first(*roles, among=columns) for part, roles in _PARTS.items()}
    found = {part: columns[name] for part, name in named.items() if name is not None}
    # With a batch size, iterations are steps of one batch; without one they are passes over the data, like epochs.
    passes = domain.first(*PASSES, among=columns)
    if passes is not None:
        is_step = domain.axes[columns[passes]].role is Role.ITERATIONS and "batch" in found
        found["steps" if is_step else "passes"] = columns[passes]
    return found


def _others(domain: Domain, roles: dict[str, int]) -> list[int]:
    """The columns of numbers whose meaning is not known."""
    known = set(roles.values())
    return [j for j, axis in enumerate(domain.axes) if axis.is_number and not axis.is_constant and j not in known]


def _amounts(roles: dict[str, int]) -> list[Term]:
    """What a job does once, per pass, per step and, last, per record."""
    size, passes, steps, batch = (((roles[role], "x"),) if role in roles else () for role in _WORK)
    if steps:
        return _different([(), steps, _times(steps, batch), _times(steps, batch, size)])
    if batch:
        per_step = _times(passes, size, ((roles["batch"], "1/x"),))
        return _different([(), passes, _times(passes, batch), per_step, _times(passes, size)])
    return _different([(), passes, size, _times(passes, size)])


def _shared(roles: dict[str, int], amount: Term) -> list[Term]:
    """The amount done by one process, by all machines, by the cores of one, by the cores of all."""
    machines, cores = (((roles[role], "1/x"),) if role in roles else () for role in ("machines", "cores"))
    return _different([amount, _times(amount, machines), _times(amount, cores), _times(amount, machines, cores)])


def _waiting(roles: dict[str, int], amount: Term) -> list[Term]:
    """What grows with those who do it: messages to each machine, along a tree, around a ring; cores in the way."""
    shapes = [("machines", "x"), ("machines", "log"), ("machines", "1 - 1/x"), ("cores", "x")]
    return [_times(amount, ((roles[role], shape),)) for role, shape in shapes if role in roles]


def _directions(axis: Axis) -> tuple[str, str]:
    return ("x", "1/x") if axis.is_positive else ("above lowest", "below highest")


def _times(*terms: Term) -> Term:
    return tuple(sorted(part for term in terms for part in term))


def _different(terms: Iterable[Term]) -> list[Term]:
    return list(dict.fromkeys(terms))


def _columns(domain: Domain, terms: Sequence[Term], x: Floats) -> Floats:
    """One column per term."""
    parts = {part for term in terms for part in term}
    shapes = {(j, shape): _shape(domain.axes[j], shape, x[:, j]) for j, shape in parts}
    columns = np.ones((len(x), len(terms)))
    for k, term in enumerate(terms):
        for part in term:
            columns[:, k] *= shapes[part]
    return columns


def _shape(axis: Axis, shape: str, values: Floats) -> Floats:
    assert axis.numbers is not None
    low, high = axis.numbers[0], axis.numbers[-1]
    if shape == "above lowest":
        return np.maximum(values - low, 0.0) / (high - low)
    if shape == "below highest":
        return np.maximum(high - values, 0.0) / (high - low)
    positive: Floats = np.maximum(values, low * NEAR_ZERO)
    if shape == "x":
        return positive / low
    if shape == "1/x":
        return low / positive
    counts: Floats = np.maximum(positive, 1.0)
    return np.log(counts) if shape == "log" else 1 - 1 / counts


def _penalized_nnls(columns: Floats, weights: Floats) -> Floats:
    """Non-negative coefficients that minimize sum(w (columns @ b - 1)^2) with a small penalty, whatever the units."""
    from scipy.optimize import nnls

    rows = columns * np.sqrt(weights)[:, None]
    norms: Floats = np.linalg.norm(rows, axis=0)
    norms[norms == 0] = 1.0
    n_terms = columns.shape[1]
    system = np.vstack([rows / norms, np.sqrt(_PENALTY) * np.eye(n_terms)])
    answer = np.concatenate([np.sqrt(weights), np.zeros(n_terms)])
    found: Floats = nnls(system, answer, maxiter=100 * n_terms)[0]
    return found / norms


def _ratios(categories: Sequence[int], effects: Effects, x: Floats) -> Floats:
    product = np.ones(len(x))
    for j, of_level in zip(categories, effects, strict=True):
        product *= np.array(of_level)[x[:, j].astype(int)]
    return product


def _refined(problem: Problem, categories: Sequence[int], effects: Effects, sums: Floats) -> Effects:
    """The best effects given the sums; a level with few runs stays near 1."""
    refined = list(effects)
    for k, j in enumerate(categories):
        levels, n = problem.x[:, j].astype(int), len(refined[k])
        relative = sums * _ratios(categories, tuple(refined), problem.x) / np.array(refined[k])[levels]
        pull = np.bincount(levels, problem.weights * relative, n) + _LEVEL_PRIOR
        hold = np.bincount(levels, problem.weights * relative**2, n) + _LEVEL_PRIOR
        refined[k] = tuple((pull / hold).tolist())
    return tuple(refined)
