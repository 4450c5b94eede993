"""Arithmetic over settings and responses, safe to evaluate: rules and response formulas are written by strangers."""

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean

_MOST_DIGITS = 400  # more than a float has on either side of its point


def _round(number: Any, *digits: int) -> Any:
    if any(abs(n) > _MOST_DIGITS for n in digits):  # Python would compute 10 to that power first
        raise ValueError(f"{digits[0]} digits are too many")
    return round(number, *digits)


FUNCTIONS: Mapping[str, Any] = {
    "abs": abs,
    "ceil": math.ceil,
    "exp": math.exp,
    "floor": math.floor,
    "log": math.log,
    "log2": math.log2,
    "max": max,
    "min": min,
    "round": _round,
    "sqrt": math.sqrt,
}
_ALLOWED = (
    ast.Expression,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Call,
    ast.Name,
    ast.Constant,
    ast.Load,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
)


@dataclass(frozen=True, slots=True)
class Expression:
    """One arithmetic or logical expression. Names, numbers, strings, operators and a few functions; nothing else.

    >>> Expression("batch_size % (executors * cores) == 0").evaluate({"batch_size": 64, "executors": 2, "cores": 1})
    True
    """

    text: str
    names: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        try:
            tree = ast.parse(self.text, mode="eval")
        except (SyntaxError, ValueError) as error:
            raise StudyError(
                f"{self.text!r} is not an expression: {error}", hint="write it like: batch_size % executors == 0"
            ) from error
        names = set()
        for node in ast.walk(tree):
            if not isinstance(node, _ALLOWED):
                raise self._refusal(f"{type(node).__name__.lower()} is not allowed")
            if isinstance(node, ast.Constant) and not isinstance(node.value, (int, float, str)):
                raise self._refusal(f"{node.value!r} is not a number or a text")
            if isinstance(node, ast.Call) and (not isinstance(node.func, ast.Name) or node.keywords):
                raise self._refusal("only plain calls of known functions are allowed")
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in FUNCTIONS:
                raise self._refusal(f"{node.func.id!r} is not a known function")
            if isinstance(node, ast.Name):
                names.add(node.id)
        object.__setattr__(self, "names", frozenset(names - set(FUNCTIONS)))

    def _refusal(self, reason: str) -> StudyError:
        return StudyError(
            f"expression {self.text!r} is refused: {reason}",
            hint=f"allowed: numbers, names of settings, + - * / % **, comparisons, and/or/not, {', '.join(FUNCTIONS)}",
        )

    def require_names(self, known: tuple[str, ...]) -> None:
        """Raise for the first name that is not in `known`."""
        for name in sorted(self.names):
            if name not in known:
                raise StudyError(
                    f"expression {self.text!r} uses the unknown name {name!r}", hint=did_you_mean(name, known)
                )

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        # simpleeval bounds what the whitelist cannot: huge powers and huge strings.
        from simpleeval import SimpleEval

        from sparkcast.study._columns import failures, operators

        self.require_names(tuple(values))
        try:
            return SimpleEval(operators(), dict(FUNCTIONS), dict(values)).eval(self.text)
        except failures() as error:
            shown = ", ".join(f"{name}={values[name]!r}" for name in sorted(self.names))
            raise StudyError(f"expression {self.text!r} failed at {shown}: {error}") from error

    def evaluate_columns(self, columns: Mapping[str, Any]) -> Any:
        """What `evaluate` gives for each row of these columns: arrays of one length, or scalars that all rows share.

        >>> import numpy as np
        >>> Expression("cores > 0 and 8 / cores > memory").evaluate_columns({"cores": np.array([0, 2, 4]), "memory": 3})
        array([False,  True, False])
        """
        from sparkcast.study._columns import RowsFailed, evaluate

        table, rows = self._table(columns)
        if rows is None:
            return self.evaluate(columns)
        try:
            return evaluate(self._tree(), table, FUNCTIONS, rows) if rows.size else rows.astype(bool)
        except RowsFailed as failed:
            return self.evaluate(_row(table, failed.rows[0]))  # raises, and says how it failed

    def verdicts(self, columns: Mapping[str, Any], size: int) -> tuple[Any, Any]:
        """In which of `size` rows this is true, and in which it has no value."""
        import numpy as np

        from sparkcast.study._columns import RowsFailed, evaluate, truths

        table, _ = self._table(columns)
        rows = np.arange(size)
        holds, fails = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
        while rows.size:
            try:
                holds[rows] = truths(evaluate(self._tree(), table, FUNCTIONS, rows), rows.size)
                break
            except RowsFailed as failed:
                fails[failed.rows] = True
                rows = rows[~fails[rows]]
        return holds, fails

    def _tree(self) -> ast.Expression:
        return ast.parse(self.text, mode="eval")

    def _table(self, columns: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        """The columns that occur, ready for computing, and the numbers of the rows: None when all are scalars."""
        import numpy as np

        from sparkcast.study._columns import names_in, plain

        self.require_names(tuple(columns))
        lengths = {len(column) for column in columns.values() if np.ndim(column)}
        if len(lengths) > 1:
            raise ValueError(f"columns of different lengths: {sorted(lengths)}")
        occurring = names_in(self._tree())
        table = {name: plain(column) for name, column in columns.items() if name in occurring}
        return table, np.arange(lengths.pop()) if lengths else None


def _row(table: Mapping[str, Any], row: int) -> dict[str, Any]:
    from sparkcast.study._columns import plain

    return {name: plain(column[row]) if hasattr(column, "dtype") else column for name, column in table.items()}
