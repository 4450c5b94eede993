"""Plans of SQL executions: the first and the last tree of each, with what their metrics came to."""

from collections.abc import Callable, Iterator
from typing import Any

from sparkcast.eventlogs import events
from sparkcast.eventlogs.result import PlanNode, SqlMetric

_LONGEST_TEXT = 2000
_LONGEST_OPERATOR = 500  # a projection of a wide table lists every column
_MOST_ROWS = 1_000_000  # metrics and nodes; more than any real application has
_KEPT = ("Location", "Format", "PartitionFilters", "PushedFilters", "DataFilters")  # of what is told about scans


class Plans:
    """Keeps the first and the latest plan of each execution, and turns them into rows once it has ended.

    Adaptive execution tells the plan again after every stage: all but the first and the last are dropped unread.
    """

    def __init__(self, once: Callable[[Any], Any]) -> None:
        self._once = once  # the same value, held once however often it comes
        self._first: dict[int, events.PlanInfo] = {}  # as they came
        self._last: dict[int, events.PlanInfo] = {}
        self._rows: dict[int, tuple[list[_Row], list[_Row]]] = {}
        self._n_rows = 0
        self._values: dict[int, float] = {}

    def put(self, execution_id: int, plan: events.PlanInfo) -> None:
        if execution_id in self._rows:  # told again after its end
            self._n_rows -= sum(map(_size, self._rows.pop(execution_id)))
        if execution_id in self._first or len(self._first) + len(self._rows) < _MOST_ROWS:
            self._first.setdefault(execution_id, plan)
            self._last[execution_id] = plan

    def end(self, execution_id: int) -> None:
        """No other plan is to come: keep what is wanted of the two."""
        first, last = self._first.pop(execution_id, None), self._last.pop(execution_id, None)
        if first is None or last is None:
            return
        last_rows = list(self._compact(last))
        rows = (last_rows if first is last else list(self._compact(first))), last_rows
        size = sum(map(_size, rows))
        if self._n_rows + size <= _MOST_ROWS:
            self._rows[execution_id] = rows
            self._n_rows += size

    def add(self, accumulator_id: int, value: float) -> None:
        """Stages tell the sum so far, so the greatest is the last."""
        if accumulator_id in self._values or len(self._values) < _MOST_ROWS:
            self._values[accumulator_id] = max(value, self._values.get(accumulator_id, value))

    def finish(self) -> None:
        """Those whose end is not in the log."""
        for execution_id in list(self._first):
            self.end(execution_id)

    def of(self, execution_id: int) -> tuple[tuple[PlanNode, ...], tuple[PlanNode, ...]]:
        """The first and the last plan of an execution: one and the same where it did not change."""
        first, last = self._rows.get(execution_id, ([], []))
        nodes = tuple(map(self._node, last))
        return (nodes if first is last else tuple(map(self._node, first))), nodes

    def _compact(self, plan: events.PlanInfo) -> Iterator["_Row"]:
        """Depth first, parents before children."""
        waiting, place = [(plan, -1)], 0
        while waiting:
            node, parent = waiting.pop()
            waiting += [(child, place) for child in reversed(node.children)]
            metrics = [(self._once(one.name), self._once(one.kind), one.accumulator_id) for one in node.metrics]
            told = {name: self._once(node.metadata[name][:_LONGEST_TEXT]) for name in _KEPT if name in node.metadata}
            name = self._once(node.name.strip()[:_LONGEST_TEXT])
            yield name, self._once(node.text.strip()[:_LONGEST_OPERATOR]), parent, metrics, told
            place += 1

    def _node(self, row: "_Row") -> PlanNode:
        name, text, parent, metrics, told = row
        values = tuple(SqlMetric(metric, kind, number, self._values.get(number)) for metric, kind, number in metrics)
        return PlanNode(name, text, parent, values, told)


def _size(rows: list["_Row"]) -> int:
    return sum(1 + len(metrics) for _, _, _, metrics, _ in rows)


_Row = tuple[str, str, int, list[tuple[str, str, int]], dict[str, str]]
