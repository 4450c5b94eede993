"""Every candidate's standing in a question: arrays, one place for each candidate."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from sparkcast.arrays import Bools, Floats, Ints
from sparkcast.fitting.answering import AnswerTable
from sparkcast.learned.about import ConfigurationRuns
from sparkcast.learned.curves import epochs_of
from sparkcast.learned.knowledge import Knowledge
from sparkcast.learned.predict import Prediction
from sparkcast.recommend import Limit
from sparkcast.recommend.comparison import Means, exact, means_of
from sparkcast.recommend.jointly import both, correlation
from sparkcast.recommend.question import Objective, Question
from sparkcast.study import Configuration, Kind, Vocabulary, same_level
from sparkcast.study.configuration import Levels, normal_level
from sparkcast.study.space import Candidates

_NEARLY_SURE = 0.9998  # level of the interval within which a limit is looked for
_HALVINGS = 40


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What a recommendation takes from runs beside models; a model file has it without them."""

    factors: tuple[str, ...]
    constants: Configuration
    seen: tuple[ConfigurationRuns, ...]
    responses: tuple[str, ...]  # that successful runs measured
    words: Vocabulary  # what the names of all these mean

    @classmethod
    def of(cls, known: Knowledge) -> "RunRecord":
        about = known.about
        names = {*about.factors, *about.fixed, *known.responses}
        # A deadline is about the time, also where no model knows it: then that model is what is missing.
        time = about.vocabulary.of_kind(Kind.TIME, among=names) or about.vocabulary.time
        beside = about.vocabulary.time_beside(time or "", known.responses)
        words = about.vocabulary.only(names | {name for name in (time, beside) if name})
        return cls(about.factors, about.fixed, about.seen, known.responses, words)

    @property
    def epochs(self) -> str:
        """The setting that counts epochs."""
        return epochs_of(self.words)


@dataclass(slots=True, eq=False)
class View:
    """Candidates, and what models say of them: filled when a question needs it."""

    candidates: Candidates
    broke: Bools  # run, and only failed
    proven: Bools  # run, and never failed
    supported: dict[str, Bools] = field(default_factory=dict)  # by response: near enough to what was run
    tables: dict[str, AnswerTable] = field(default_factory=dict)
    per_second: Floats | None = None
    held: Floats | None = None  # machines or cores
    missed: dict[str, Mapping[Configuration, float]] = field(default_factory=dict)  # of what was run, by the models
    means: dict[str, Means] = field(default_factory=dict)
    better: dict[object, Bools] = field(
        default_factory=dict
    )  # of the front, who is likely better than whom in something
    failure: Floats | None = None
    n_runs: Ints | None = None  # that succeeded, of each candidate
    near: Bools | None = None  # to some run, all settings together
    description: str = "candidates"
    is_sample: bool = False
    fronts: dict[object, list[int]] = field(default_factory=dict)  # the rows that nothing beats, by what is compared
    ranks: dict[Objective, "Ranks"] = field(default_factory=dict)
    places: Mapping[Configuration, int] | None = None  # of each candidate

    def first_left(self) -> Configuration:
        """The first candidate that is not known to fail."""
        return self.candidates.configuration(int(self.broke.argmin()))

    def is_by_epoch(self, known: RunRecord) -> bool:
        return known.epochs in self.candidates.levels and known.epochs not in known.factors


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """How good every candidate is, whatever the limits are."""

    loss: Floats  # of the objective; equal in three digits is a tie,
    order: Ints  # which the shorter time wins; best first

    @classmethod
    def of(cls, objective: Objective, values: Mapping[str, Floats], time: str | None) -> "Ranks":
        loss = (-1 if objective.is_maximum else 1) * significant(values[objective.response])
        return cls(loss, np.argsort(loss, kind="stable") if time is None else np.lexsort((values[time], loss)))


@dataclass(frozen=True, slots=True, eq=False)
class CostTable:
    """Money from time: what a unit of it costs, for each candidate."""

    time: AnswerTable
    per_unit: Floats

    @property
    def values(self) -> Floats:
        return self.time.values * self.per_unit

    def interval(self, level: float) -> tuple[Floats, Floats]:
        low, high = self.time.interval(level)
        return low * self.per_unit, high * self.per_unit

    def probability_below(self, limit: Floats | float) -> Floats:
        free = self.per_unit == 0
        amounts = limit / np.where(free, 1.0, self.per_unit)
        return np.where(free, 1.0, self.time.probability_below(amounts))

    def take(self, rows: Ints) -> "CostTable":
        return CostTable(self.time.take(rows), self.per_unit[rows])


class Asked:
    """A question, and every candidate's standing in it."""

    def __init__(
        self,
        question: Question,
        limits: tuple[Limit, ...],
        objective: Objective,
        tables: Mapping[str, AnswerTable],
        failure: Floats | None,
        view: View,
        wanted: Bools,
        words: Vocabulary,
        settings: Mapping[str, Floats],
        noise: Callable[[str], float | None],
        spending: tuple[str, AnswerTable] | None,
    ) -> None:
        self.question, self.limits, self.objective, self.tables = question, limits, objective, tables
        self.view, self.failure, self.wanted, self.words, self._noise = view, failure, wanted, words, noise
        self.time = words.of_kind(Kind.TIME, among=tables)  # None when nobody knows it
        # Near enough to what was run for every model that is asked, and not known to fail ...
        self.allowed = np.logical_and.reduce(
            [wanted & ~view.broke, *(view.supported[r] for r in tables if r in view.supported)]
        )
        # ... nor likely to.
        safe = True if failure is None else (failure <= question.max_failure) | view.proven
        supported = self.allowed & safe
        # Far from all runs the model alone speaks: of many such points the best is mostly a lucky one.
        near = supported if view.near is None else supported & view.near
        self.kept = near if near.any() else supported
        self.far = supported & ~self.kept
        self._intervals: dict[str, tuple[Floats, Floats]] = {}
        self.values = {response: table.values for response, table in tables.items()} | dict(settings)
        self.spent = None if spending is None else spending[0]  # what breaks ties
        self._compared = {**tables, **({} if spending is None else {spending[0]: spending[1]})}
        # Probabilities of all candidates would take longer than everything else: a quantile tells as well who keeps.
        self.keeps = {limit: _is_kept(limit, self.kept_value(limit)) for limit in limits}
        self.meets = np.logical_and.reduce([self.kept, *self.keeps.values()])
        if self.is_joint:  # each limit alone is not enough
            rows = np.flatnonzero(self.meets)
            self.meets[rows] = self.probability(rows) >= question.confidence
        if objective not in view.ranks:
            view.ranks[objective] = Ranks.of(objective, self.values, self.time)
        self.loss, self.order = view.ranks[objective].loss, view.ranks[objective].order

    def chances(self, limit: Limit, rows: Ints) -> Floats:
        """The probability that these candidates keep to a limit."""
        below = self.tables[limit.response].take(rows).probability_below(limit.value)
        return below if limit.is_upper else 1 - below

    def probability(self, rows: Ints) -> Floats:
        """That each of these candidates keeps to all limits, in one and the same run."""
        return self._together(rows, {limit: self.chances(limit, rows) for limit in self.limits})

    @property
    def is_joint(self) -> bool:
        """Whether more than one model has to be right."""
        return len({self._source(limit) for limit in self.limits}) > 1

    def needed(self, limit: Limit, rows: Ints) -> Floats:
        """The value in place of the limit's with which each of these candidates qualifies; nan where there is none."""
        alone = self.kept_value(limit)[rows]
        if not self.is_joint or not len(rows):
            return alone
        table = self.tables[limit.response].take(rows)
        others = {other: self.chances(other, rows) for other in self.limits if other != limit}

        def qualifies(values: Floats) -> Bools:
            below = table.probability_below(values)
            chance = below if limit.is_upper else 1 - below
            return self._together(rows, {limit: chance, **others}) >= self.question.confidence

        ends = table.interval(_NEARLY_SURE)
        enough, short = ends[1] if limit.is_upper else ends[0], alone
        possible = qualifies(enough)
        for _ in range(_HALVINGS):
            middle = (enough + short) / 2
            good = qualifies(middle)
            enough, short = np.where(good, middle, enough), np.where(good, short, middle)
        return np.where(possible, enough, np.nan)

    def _source(self, limit: Limit) -> str:
        """The response whose model speaks of a limit."""
        table = self.tables[limit.response]
        own = table.time if isinstance(table, CostTable) else table
        return next((name for name, known in self.view.tables.items() if known is own), limit.response)

    def _together(self, rows: Ints, chances: Mapping[Limit, Floats]) -> Floats:
        by_source: dict[tuple[str, bool], Floats] = {}
        for limit, chance in chances.items():
            key = (self._source(limit), limit.is_upper)
            by_source[key] = np.minimum(by_source.get(key, chance), chance)
        found: Floats = np.ones(len(rows))
        before: list[tuple[str, bool]] = []
        for key, chance in by_source.items():
            if (key[0], not key[1]) in before:  # between two bounds
                found = np.maximum(found + chance - 1, 0.0)
            else:
                found = both(found, chance, self._correlated(before[0], key) if len(before) == 1 else 0.0)
            before.append(key)
        return found

    def _correlated(self, first: tuple[str, bool], second: tuple[str, bool]) -> float:
        missed = self.view.missed
        if first[0] not in missed or second[0] not in missed:
            return 0.0
        return correlation(missed[first[0]], missed[second[0]]) * (1 if first[1] == second[1] else -1)

    def nearest_misses(self, n: int) -> Ints:
        """Candidates that break a limit, those that are nearest to keeping it first."""
        rows = np.flatnonzero(self.kept & ~self.meets)
        gaps = [
            abs(self.kept_value(limit)[rows] - limit.value) / (abs(limit.value) or 1.0) * ~self.keeps[limit][rows]
            for limit in self.keeps
        ]
        return rows[np.argsort(np.max(gaps, axis=0), kind="stable")[:n]] if gaps else rows[:n]

    def interval(self, response: str) -> tuple[Floats, Floats]:
        if response not in self._intervals:
            self._intervals[response] = self.tables[response].interval(self.question.quantile_level)
        return self._intervals[response]

    def means(self, response: str) -> Means:
        """What is known of the mean of a response, or of the setting that is the objective, at every candidate."""
        known = self.view.means
        if response not in known:
            table, n_runs = self._compared.get(response), self.view.n_runs
            assert n_runs is not None
            known[response] = (
                exact(self.values[response])
                if table is None
                else means_of(table, self.words.response(response), self._noise(response), n_runs)
            )
        return known[response]

    def kept_value(self, limit: Limit) -> Floats:
        """The value in place of the limit's that each candidate would keep to with exactly the wanted confidence."""
        confidence = self.question.confidence
        if confidence == 0.5:
            return self.values[limit.response]
        if confidence > 0.5:
            low, high = self.interval(limit.response)
        else:
            low, high = self.tables[limit.response].interval(round(1 - 2 * confidence, 12))
        return high if (confidence > 0.5) == limit.is_upper else low

    def predictions(self, rows: Ints) -> list[tuple[Prediction, ...]]:
        """Of each of these candidates, every response."""
        level = self.question.quantile_level
        by_response = []
        for response in self.tables:
            low, high = self.interval(response)
            numbers = zip(self.values[response][rows].tolist(), low[rows].tolist(), high[rows].tolist(), strict=True)
            by_response.append([Prediction(response, *three, level) for three in numbers])
        return list(zip(*by_response, strict=True)) if by_response else [()] * len(rows)


def _is_kept(limit: Limit, value: Floats) -> Bools:
    return value <= limit.value if limit.is_upper else value >= limit.value


def significant(values: Floats, digits: int = 3) -> Floats:
    """Rounded to so many digits, whatever the size."""
    with np.errstate(divide="ignore"):
        magnitude = np.where(values == 0, 0.0, np.floor(np.log10(np.abs(values))))
    unit = 10.0 ** (magnitude - digits + 1)
    return np.round(values / unit) * unit


def runs_at(candidates: Candidates, ran: Sequence[tuple[Levels, int]], names: Sequence[str]) -> Ints:
    """How often each candidate was run; `ran`: settings, and how often these were."""
    codes = {name: {level: code for code, level in enumerate(candidates.levels[name])} for name in names}
    known = {
        tuple(codes[name][normal_level(settings[name])] for name in names): n
        for settings, n in ran
        if n and all(normal_level(settings[name]) in codes[name] for name in names)
    }
    if not known or not names:
        return np.full(len(candidates), sum(known.values()))
    places = [list(candidates.levels).index(name) for name in names]
    both = np.concatenate([np.array(list(known), dtype=candidates.codes.dtype), candidates.codes[:, places]])
    sizes = [len(candidates.levels[name]) for name in names]
    if prod(sizes) < 2**62:  # one number for each row
        which = both.astype(np.int64) @ np.array([prod(sizes[i + 1 :]) for i in range(len(sizes))])
    else:
        which = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)
    own, others = which[: len(known)], which[len(known) :]
    order = np.argsort(own)
    at = np.minimum(np.searchsorted(own[order], others), len(own) - 1)
    counts = np.array(list(known.values()))[order]
    return np.where(own[order][at] == others, counts[at], 0)


def rows_like(candidates: Candidates, configuration: Levels, names: Sequence[str]) -> Bools:
    """Which candidates have these settings, however they are written."""
    like = np.ones(len(candidates), dtype=bool)
    for name in names:
        same = np.array([same_level(level, configuration[name]) for level in candidates.levels[name]])
        like &= same[candidates.position(name)]
    return like
