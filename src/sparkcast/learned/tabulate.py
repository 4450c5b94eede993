"""What a model says of many candidates at once, kept: a question about another deadline then costs next to nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sparkcast.arrays import Bools, Floats, Ints
from sparkcast.errors import NotEnoughDataError
from sparkcast.fitting.answering import Answering, AnswerTable
from sparkcast.fitting.encoding import Domain
from sparkcast.learned.feasibility import Feasibility
from sparkcast.models import Fitted
from sparkcast.study.configuration import Levels
from sparkcast.study.space import Candidates

_MOST_LEVELS = 32  # for which intervals are kept


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """The answers of a model that knows nothing but configurations."""

    fitted: Fitted
    configurations: Sequence[Levels]
    values: Floats

    def interval(self, level: float) -> tuple[Floats, Floats]:
        low, high = np.array(self.fitted.interval(self.configurations, level=level)).T
        return low, high

    def probability_below(self, limit: Floats | float) -> Floats:
        limits = np.broadcast_to(np.asarray(limit, dtype=float), len(self.configurations))
        chances = np.empty(len(self.configurations))
        for one in np.unique(limits):  # prices are few, and so are the times that a budget pays for
            rows = np.flatnonzero(limits == one)
            chances[rows] = self.fitted.probability_below([self.configurations[i] for i in rows], float(one))
        return chances

    def take(self, rows: Ints) -> "_Asked":
        return _Asked(self.fitted, [self.configurations[i] for i in rows], self.values[rows])


@dataclass(frozen=True, slots=True, eq=False)
class KeptTable:
    """A table that remembers its values and intervals: many questions are about one level."""

    table: AnswerTable
    values: Floats
    kept: dict[float, tuple[Floats, Floats]] = field(default_factory=dict)

    @classmethod
    def of(cls, table: AnswerTable) -> "KeptTable":
        return cls(table, table.values)

    def interval(self, level: float) -> tuple[Floats, Floats]:
        if (known := self.kept.get(level)) is not None:
            return known
        if len(self.kept) >= _MOST_LEVELS:
            self.kept.pop(next(iter(self.kept)), None)
        self.kept[level] = found = self.table.interval(level)
        return found

    def probability_below(self, limit: Floats | float) -> Floats:
        return self.table.probability_below(limit)

    def take(self, rows: Ints) -> AnswerTable:
        return self.table.take(rows)


def tabulate(fitted: Fitted, candidates: Candidates) -> AnswerTable:
    if isinstance(fitted, Answering):
        return fitted.answers(_encode(fitted.domain, _with_known_levels(fitted.domain, candidates)))
    return table_at(fitted, candidates.configurations())


def _with_known_levels(domain: Domain, candidates: Candidates) -> Candidates:
    """A level that only failed runs had cannot be encoded: another stands in. `is_supported` says no to its rows."""
    levels = dict(candidates.levels)
    for axis in domain.axes:
        near = [level for level in levels.get(axis.name, ()) if not axis.is_beyond(level)]
        if near:
            levels[axis.name] = tuple(
                level if axis.can_encode(level) else near[0] for level in candidates.levels[axis.name]
            )
    return Candidates(levels, candidates.codes)


def table_at(fitted: Fitted, at: Sequence[Levels]) -> AnswerTable:
    """What a model says of these configurations."""
    if isinstance(fitted, Answering):
        return fitted.answers(fitted.domain.encode(at))
    return _Asked(fitted, at, np.array(fitted.predict(at)))


def is_supported(fitted: Fitted, candidates: Candidates) -> Bools:
    """Whether the runs say something about each candidate; see Fitted.beyond for what they lack."""
    if not isinstance(fitted, Answering):
        return np.array([error is None for error in fitted.beyond(candidates.configurations())], dtype=bool)
    return is_near(fitted.domain, candidates)


def is_near(domain: Domain, candidates: Candidates) -> Bools:
    """Whether each candidate is near enough to what was measured."""
    supported = np.ones(len(candidates), dtype=bool)
    for axis in domain.axes:
        if axis.name in candidates.levels:
            near = np.array([not axis.is_beyond(level) for level in candidates.levels[axis.name]])
            supported &= near[candidates.position(axis.name)]
    return supported


def failure_table(failures: Feasibility, candidates: Candidates) -> Floats:
    """How likely each candidate fails; of a category that was never run, as likely as the worst known one."""
    try:
        return failures.probability_rows(_encode(failures.domain, candidates))
    except NotEnoughDataError:
        names = [axis.name for axis in failures.domain.axes]
        return np.array([failures.worst_at(c.only(names)) for c in candidates.configurations()])


def _encode(domain: Domain, candidates: Candidates) -> Floats:
    codes = {name: candidates.position(name) for name in candidates.levels}
    return domain.encode_columns(candidates.levels, codes)
