"""The time of one run before it was made: given, computed from settings, or predicted by somebody's model."""

from dataclasses import dataclass
from math import isfinite

from sparkcast.errors import StudyError
from sparkcast.study import Configuration, Expression, Study
from sparkcast.units import as_number, parse_seconds


@dataclass(frozen=True, slots=True)
class RunTime:
    """`text` is a duration (5m), arithmetic over settings (30 + 600 / executors), or a file of earlier runs (x.csv)."""

    text: str | int | float

    @property
    def file(self) -> str:
        """The name of the file of earlier runs, or ""."""
        name = str(self.text).strip()
        return name if name.endswith(".csv") else ""

    def check(self) -> None:
        """Raise StudyError for what is neither."""
        if not self.file and self._seconds() is None:
            Expression(str(self.text))

    def of(self, study: Study, configuration: Configuration) -> float:
        """Seconds; raises StudyError for a formula that gives none."""
        known: object = self._seconds()
        if known is None:
            values = {name: value if (n := as_number(value)) is None else n for name, value in configuration.items()}
            known = Expression(str(self.text)).evaluate(values)
        if not isinstance(known, (int, float)) or not isfinite(known) or known <= 0:
            raise StudyError(
                f"{study.where('design', 'time')}design.time = {self.text!r} gives {known!r} seconds",
                hint="write a time such as 5m, or a formula that is positive for every combination",
            )
        return float(known)

    def _seconds(self) -> float | None:
        try:
            return parse_seconds(self.text)
        except StudyError:
            return None
