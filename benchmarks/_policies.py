"""Ways to decide under limits, one function each: a table and a question go in, a candidate comes out.

A new one is a function in `POLICIES`. `fits` is for it to keep what it learned from the table of the last question.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from _tables import Table

from sparkcast.arrays import Bools, Floats, Ints
from sparkcast.errors import InfeasibleError, SparkcastError
from sparkcast.fitting.problem import pose
from sparkcast.fitting.regression import Columns
from sparkcast.learned.knowledge import Knowledge
from sparkcast.recommend import Limit
from sparkcast.recommend.choose import Recommender
from sparkcast.recommend.question import Question
from sparkcast.study import Kind, Listed

SCORE = 1.64  # standard deviations that leave 5 % above


@dataclass(frozen=True, slots=True)
class Wanted:
    """A question to all policies. Less of the objective is better, if it is not to be maximized."""

    limits: tuple[Limit, ...]
    objective: str  # a response, or "resources": what a candidate holds times how long
    is_maximum: bool
    rows: Ints  # the candidates to choose from
    held: Floats  # how much each candidate of the table holds; 1 where no setting says so
    confidence: float = 0.95


@dataclass(frozen=True, slots=True)
class Decided:
    """`row` of the table, None if nothing was found; then perhaps the `closest`. `chance`: what was promised."""

    row: int | None = None
    chance: float = float("nan")
    closest: int | None = None
    problem: str = ""


Fits = dict[str, Any]
Policy = Callable[[Table, Wanted, Fits], Decided]


def is_kept(limit: Limit, values: Floats) -> Bools:
    return values <= limit.value if limit.is_upper else values >= limit.value


def worth(table: Table, wanted: Wanted, values: dict[str, Floats]) -> Floats:
    """The objective at every candidate, the less the better."""
    if wanted.objective == "resources":
        return wanted.held * values[_time(table)]
    return values[wanted.objective] * (-1 if wanted.is_maximum else 1)


def _time(table: Table) -> str:
    words = table.full.data.vocabulary
    return next(name for name in table.full.responses if words.response(name).kind is Kind.TIME)


def _best(table: Table, wanted: Wanted, values: dict[str, Floats], meets: Bools) -> Decided:
    good = wanted.rows[meets[wanted.rows]]
    return Decided(int(good[np.argmin(worth(table, wanted, values)[good])])) if len(good) else Decided()


# ---------------------------------------------------------------- what people have


def best_run(table: Table, wanted: Wanted, fits: Fits) -> Decided:
    """The best of the runs that kept the limits."""
    meets = np.logical_and.reduce(
        [table.was_run, *(is_kept(one, table.measured[one.response]) for one in wanted.limits)]
    )
    return _best(table, wanted, dict(table.measured), meets)


def gaussian_process(table: Table, wanted: Wanted, fits: Fits) -> Decided:
    """A process with a length for each setting on logarithms and log-odds: limits are kept by its mean + 1.64 sd."""
    values, meets = {}, np.ones(len(table.candidates), dtype=bool)
    for name in table.full.responses:
        if name not in fits:
            fits[name] = _gp(table, name)
        center, spread, back = fits[name]
        values[name] = back(center)
        for limit in (one for one in wanted.limits if one.response == name):
            meets &= is_kept(limit, back(center + (SCORE if limit.is_upper else -SCORE) * spread))
    return _best(table, wanted, values, meets)


def _gp(table: Table, name: str) -> tuple[Floats, Floats, Callable[[Floats], Floats]]:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
    from sklearn.preprocessing import StandardScaler

    x, y, at = _columns(table, name)
    scaler = StandardScaler().fit(x)
    is_share = table.full.data.vocabulary.response(name).kind is Kind.SHARE
    kernel = ConstantKernel(1.0, (1e-2, 1e3)) * Matern(np.ones(x.shape[1]), (0.1, 100.0), nu=2.5)
    process = GaussianProcessRegressor(kernel + WhiteKernel(1e-2, (1e-5, 1.0)), normalize_y=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        process.fit(scaler.transform(x), _odds(y) if is_share else np.log(y))
        center, spread = process.predict(scaler.transform(at), return_std=True)
    return center, spread, _share if is_share else np.exp


def _odds(share: Floats) -> Floats:
    share = np.clip(share, 1e-4, 1 - 1e-4)
    found: Floats = np.log(share / (1 - share))
    return found


def _share(odds: Floats) -> Floats:
    found: Floats = 1 / (1 + np.exp(-odds))
    return found


def _columns(table: Table, name: str) -> tuple[Floats, Floats, Floats]:
    problem = pose(table.learned, name)
    columns = Columns(only_logs=True)
    at = problem.domain.encode(table.candidates)
    return columns.of(problem.domain, problem.x), problem.target, columns.of(problem.domain, at)


def forest(table: Table, wanted: Wanted, fits: Fits) -> Decided:
    """As Courier decides: what a random forest says is taken as it is."""
    from sklearn.ensemble import RandomForestRegressor

    for name in table.full.responses:
        if name not in fits:
            x, y, at = _columns(table, name)
            fits[name] = RandomForestRegressor(200, random_state=0, n_jobs=1).fit(x, y).predict(at)
    meets = np.logical_and.reduce([is_kept(one, fits[one.response]) for one in wanted.limits])
    return _best(table, wanted, {name: fits[name] for name in table.full.responses}, meets)


# ---------------------------------------------------------------- sparkcast


def sparkcast(table: Table, wanted: Wanted, fits: Fits, *, model: str = "auto") -> Decided:
    """`recommend`, with what it promises."""
    if "recommender" not in fits:
        known = Knowledge(table.learned, model, _fitted=fits.get("fitted", {}))
        fits["recommender"] = Recommender(known, Listed(table.candidates), given=table.learned.factors)
        fits["rows"] = {c: i for i, c in enumerate(table.candidates)}
    answering: Recommender = fits["recommender"]
    first = table.candidates[int(wanted.rows[0])]
    varied = [name for name in table.full.work if name in table.learned.factors]
    fix = {name: first[name] for name in varied} if len(wanted.rows) < len(table.candidates) else {}
    objective = _objective_of(table, wanted, answering)
    question = Question(
        limits=wanted.limits,
        confidence=wanted.confidence,
        maximize=objective if wanted.is_maximum else None,
        minimize=None if wanted.is_maximum else objective,
        fix=fix,
        most=2,
    )
    try:
        chosen = answering.ask(question).chosen
    except InfeasibleError:
        return _closest(answering, question, fits["rows"])
    except SparkcastError as error:
        return Decided(problem=error.problem)
    return Decided(fits["rows"][chosen.configuration.only(table.learned.factors)], chosen.probability)


def _objective_of(table: Table, wanted: Wanted, answering: Recommender) -> str:
    if wanted.objective != "resources":
        return wanted.objective
    return _time(table) if answering.resources is None else answering.resources.name


def _closest(answering: Recommender, question: Question, rows: dict[Any, int]) -> Decided:
    """Of a refusal, the candidate that is likeliest to keep all limits."""
    candidates, chances = answering.probabilities(question)
    likeliest = int(np.argmax(chances))
    found = candidates.configuration(likeliest).only(answering.known.factors)
    return Decided(None, float(chances[likeliest]), rows[found])


POLICIES: dict[str, Policy] = {
    "sparkcast": sparkcast,
    "bayesian": partial(sparkcast, model="bayesian"),
    "best run": best_run,
    "gp + 1.64 sd": gaussian_process,
    "forest": forest,
}
USUAL: Sequence[str] = ("sparkcast", "best run", "gp + 1.64 sd", "forest")
