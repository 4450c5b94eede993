"""How logs are read, and by whom: this machine, or a cluster."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sparkcast.data.ingest.applications import ObservedLog, observe_log
from sparkcast.data.ingest.settings import Pattern
from sparkcast.eventlogs import Log, LogRead, Taken, read_logs
from sparkcast.study import Price


@dataclass(frozen=True, slots=True)
class LogQuery:
    """What to look for in every log."""

    patterns: tuple[Pattern, ...] = ()
    price: Price | None = None

    def observe(self, log: LogRead) -> ObservedLog | None:
        """What one log showed, if anything. Runs where it is read."""
        return observe_log(log, self.patterns, self.price)

    def beside(self, patterns: Sequence[Pattern]) -> "LogQuery":
        """With these patterns too, where none of their names is there."""
        asked = {pattern.name for pattern in self.patterns}
        return replace(self, patterns=(*self.patterns, *(one for one in patterns if one.name not in asked)))

    def as_plain(self) -> dict[str, Any]:
        price = None if self.price is None else self.price.as_plain()
        return {"patterns": [asdict(pattern) for pattern in self.patterns], "price": price}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> "LogQuery":
        price = None if plain["price"] is None else Price.from_plain(plain["price"])
        return cls(tuple(Pattern(**pattern) for pattern in plain["patterns"]), price)


# Reads logs, wherever: the same rows in the same order.
Reader = Callable[[Sequence[Log], LogQuery], Iterable[Taken[ObservedLog | None]]]


def read_here(
    logs: Sequence[Log], reading: LogQuery, processes: int | None = None, *, ignore_interrupts: bool = False
) -> Iterable[Taken[ObservedLog | None]]:
    return read_logs(logs, reading.observe, processes=processes, ignore_interrupts=ignore_interrupts)
