"""A question about a handful of candidates of which everything is known: every answer can be worked out by hand."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from sparkcast.arrays import Bools, Floats, Ints
from sparkcast.recommend import Limit
from sparkcast.recommend.evaluation import Asked, View
from sparkcast.recommend.question import Objective, Question
from sparkcast.study import Kind, Response, Setting, Vocabulary
from sparkcast.study.setting import Role
from sparkcast.study.space import Candidates

WORDS = Vocabulary(
    (Setting("executors", role=Role.MACHINES),),
    (
        Response("time_s", kind=Kind.TIME),
        Response("cost", kind=Kind.MONEY, unit="USD"),
        Response("accuracy", kind=Kind.SHARE, unit="share correct"),
        Response("error_count"),
    ),
)


@dataclass(frozen=True, slots=True, eq=False)
class Normals:
    """What a model says of each candidate: a normal distribution of the next run."""

    values: Floats
    spread: Floats

    @classmethod
    def of(cls, values: Sequence[float], spread: float | Sequence[float]) -> "Normals":
        center = np.array(values, dtype=float)
        return cls(center, np.broadcast_to(np.array(spread, dtype=float), center.shape))

    def interval(self, level: float) -> tuple[Floats, Floats]:
        reach = NormalDist().inv_cdf(0.5 + level / 2) * self.spread
        return self.values - reach, self.values + reach

    def probability_below(self, limit: Floats | float) -> Floats:
        scores = (np.broadcast_to(np.asarray(limit, dtype=float), self.values.shape) - self.values) / self.spread
        return np.array([NormalDist().cdf(score) for score in scores.tolist()])

    def take(self, rows: Ints) -> "Normals":
        return Normals(self.values[rows], self.spread[rows])


def asked(
    objective: Objective,
    limits: Sequence[Limit] = (),
    *,
    settings: Sequence[dict[str, Any]] = (),
    failure: Sequence[float] | None = None,
    broke: Sequence[int] = (),
    proven: Sequence[int] = (),
    near: Sequence[bool] | None = None,
    unsupported: Sequence[int] = (),
    wanted: Sequence[bool] | None = None,
    n_runs: Sequence[int] | None = None,
    noise: float | None = None,
    spends: str | None = None,
    words: Vocabulary = WORDS,
    question: Question | None = None,
    **tables: Normals,
) -> Asked:
    """`broke`, `proven` and `unsupported` are rows. Without `settings` the candidates are executors=1, 2, 3, ..."""
    n = len(next(iter(tables.values())).values)
    given = settings or [{"executors": i + 1} for i in range(n)]
    candidates = Candidates.of(given, list(given[0]))
    view = View(
        candidates,
        _rows(broke, n),
        _rows(proven, n),
        supported={next(iter(tables)): ~_rows(unsupported, n)},
        near=None if near is None else np.array(near),
        n_runs=np.ones(n, dtype=int) if n_runs is None else np.array(n_runs),
    )
    return Asked(
        question or Question(limits=limits),
        tuple(limits),
        objective,
        tables,
        None if failure is None else np.array(failure),
        view,
        np.ones(n, dtype=bool) if wanted is None else np.array(wanted),
        words,
        {},
        lambda _: noise,
        None if spends is None else (spends, tables[spends]),
    )


def _rows(rows: Sequence[int], n: int) -> Bools:
    found = np.zeros(n, dtype=bool)
    found[list(rows)] = True
    return found
