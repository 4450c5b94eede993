"""Predictions of a response at many configurations, computed together and looked up one by one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sparkcast.arrays import Floats, Ints
from sparkcast.errors import NotEnoughDataError
from sparkcast.fitting.answering import AnswerTable
from sparkcast.fitting.distribution import Distribution
from sparkcast.learned.knowledge import Knowledge
from sparkcast.learned.predict import (
    Prediction,
    PredictionAt,
    means_of_table,
    notes_at,
    notes_on,
    with_answerer,
    with_failures,
)
from sparkcast.learned.support import Categories, categories_of
from sparkcast.learned.tabulate import KeptTable, is_supported, tabulate
from sparkcast.models import Fitted
from sparkcast.study import Configuration
from sparkcast.study.configuration import Levels
from sparkcast.study.space import Candidates


@dataclass(frozen=True, slots=True, eq=False)
class _OneRow:
    """A row of such a table, as a table of its own."""

    whole: KeptTable
    row: int

    @property
    def values(self) -> Floats:
        return self.whole.values[self.row : self.row + 1]

    def interval(self, level: float) -> tuple[Floats, Floats]:
        low, high = self.whole.interval(level)
        return low[self.row : self.row + 1], high[self.row : self.row + 1]

    def probability_below(self, limit: Floats | float) -> Floats:
        return self.whole.table.take(np.array([self.row])).probability_below(limit)

    def take(self, rows: Ints) -> AnswerTable:
        return self.whole.table.take(np.array([self.row])[rows])


@dataclass(frozen=True)
class TabledPredictions:
    """What `predict` answers at each candidate, without `extrapolate`. Nothing is known of one that it would refuse."""

    known: Knowledge
    response: str
    candidates: Candidates

    def at(self, asked: Levels, level: float = 0.9) -> PredictionAt | None:
        """The prediction at these settings; None where they are no candidate, or one that `predict` must look at."""
        configuration = Configuration(asked)
        row = self.rows.get(configuration)
        if row is None or not self._supported[row]:
            return None
        if (kept := self._told.get(row)) is None:
            kept = self._told[row] = self._at(row, configuration)
        one = kept.distribution
        prediction = Prediction(self.response, one.median, *one.interval(level), level)
        return replace(kept, prediction=prediction, beside=self._beside_at(row, level))

    def _at(self, row: int, configuration: Configuration) -> PredictionAt:
        """All that no level changes."""
        about, one = self.known.about, Distribution(_OneRow(self._table, row))
        found = PredictionAt(
            configuration,
            self._name,
            Prediction(self.response, one.median, *one.interval(), 0.9),
            self._means[row],
            notes=(*self._notes, *notes_at(self.known, self.response, configuration)),
            vocabulary=about.vocabulary,
            distribution=one,
            span=about.vocabulary.response(self.response).span,
        )
        found = with_answerer(found, self._fitted, configuration, self._categories)
        if self.known.feasibility is None:
            return found
        return with_failures(found, self.known.feasibility, about.factors)

    @cached_property
    def _told(self) -> dict[int, PredictionAt]:
        """By row: so many as were asked about."""
        return {}

    @cached_property
    def rows(self) -> Mapping[Configuration, int]:
        """Where each candidate is."""
        return {configuration: row for row, configuration in enumerate(self.candidates.configurations())}

    @cached_property
    def _model(self) -> tuple[str, Fitted]:
        return self.known.model_of(self.response)

    @property
    def _name(self) -> str:
        return self._model[0]

    @property
    def _fitted(self) -> Fitted:
        return self._model[1]

    @cached_property
    def _table(self) -> KeptTable:
        return KeptTable.of(tabulate(self._fitted, self.candidates))

    @cached_property
    def _supported(self) -> list[bool]:
        found: list[bool] = is_supported(self._fitted, self.candidates).tolist()
        return found

    @cached_property
    def _means(self) -> list[float]:
        return means_of_table(self._table.table)

    @cached_property
    def _notes(self) -> tuple[str, ...]:
        return notes_on(self.known, self.response, self._fitted)

    @cached_property
    def _categories(self) -> Categories:
        about = self.known.about
        return categories_of([seen.configuration for seen in about.seen if seen.ok], about.factors)

    @cached_property
    def _beside(self) -> tuple[str, KeptTable] | None:
        words = self.known.about.vocabulary
        other = words.time_beside(self.response, self.known.responses)
        if other is None:
            return None
        try:
            return other, KeptTable.of(tabulate(self.known.model_of(other)[1], self.candidates))
        except NotEnoughDataError:
            return None

    def _beside_at(self, row: int, level: float) -> Prediction | None:
        if self._beside is None:
            return None
        name, table = self._beside
        one = Distribution(_OneRow(table, row))
        return Prediction(name, one.median, *one.interval(level), level)

    def prepare(self) -> "TabledPredictions":
        """Compute everything that the first answer would wait for."""
        for row, configuration in enumerate(self.rows):
            if self._supported[row]:
                found = self.at(configuration)
                assert found is not None
                found.distribution.as_plain()
                break
        return self
