"""The values of an expression in many rows at once. One row is a table of one row, so there is one way to evaluate.

A column is an array: float64 for numbers, bool for what is true or not, objects where there are texts. A row in which a
part of the expression has no value (not a finite number, or an operation on texts that are not comparable) has failed;
its values from there on mean nothing.
"""

import ast
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from typing import Any

from sparkcast.arrays import Array, Bools, Ints

_MOST_DIGITS = 400  # more than a float has on either side of its point


def _round(number: float, digits: float = 0) -> float:
    if digits != int(digits) or abs(digits) > _MOST_DIGITS:
        raise ValueError
    return round(number, int(digits))


# What is computed with numbers, by the operator or the function: by numpy where it does that to the last bit as exactly
# as Python does, by Python row by row elsewhere.
_Operation = str | Callable[..., float]
OPERATIONS: Mapping[type[ast.AST] | str, _Operation] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Pow: math.pow,
    ast.USub: "negative",
    ast.UAdd: "positive",
    ast.Not: "logical_not",
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
    "abs": "absolute",
    "ceil": "ceil",
    "exp": math.exp,
    "floor": "floor",
    "log": math.log,
    "log2": math.log2,
    "max": "maximum",
    "min": "minimum",
    "round": _round,
    "sqrt": "sqrt",
}
TEXT_OPERATIONS: Mapping[type[ast.AST] | str, Callable[..., Any]] = {
    ast.Not: operator.not_,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda part, whole: part in whole,
    ast.NotIn: lambda part, whole: part not in whole,
    "max": max,
    "min": min,
}
ARGUMENTS: Mapping[str, tuple[int, float]] = {  # of each function, the fewest and the most
    "abs": (1, 1),
    "ceil": (1, 1),
    "exp": (1, 1),
    "floor": (1, 1),
    "log": (1, 2),
    "log2": (1, 1),
    "max": (2, math.inf),
    "min": (2, math.inf),
    "round": (1, 2),
    "sqrt": (1, 1),
}


def as_number(value: Any) -> float:
    """A number as a float; infinite when it is too large, and nan when it is none."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return math.nan


def dotted(node: ast.expr) -> str:
    """The name that a part of an expression is: `cores`, or `spark.sql.shuffle.partitions`; "" when it is none."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(parts))) if isinstance(node, ast.Name) else ""


def as_column(values: Iterable[Any]) -> Array:
    import numpy as np

    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return values.astype(float, copy=False)
    items = [item if isinstance(item, str) else as_number(item) for item in values]
    return _array(items, object if any(isinstance(item, str) for item in items) else float)


def truths(column: Array) -> Bools:
    """Which rows count as true."""
    return _array([bool(item) for item in column], bool) if column.dtype == object else column.astype(bool)


def _texts(column: Array) -> Bools:
    """Which rows hold a text."""
    return _array([isinstance(item, str) for item in column], bool)


def _array(items: Sequence[Any], kind: type) -> Array:
    import numpy as np

    column: Array = np.empty(len(items), dtype=kind)
    column[:] = items
    return column


def _joined(where: Bools, yes: Array, no: Array) -> Array:
    """A column of what `yes` has for the rows where it counts, and `no` for the others."""
    import numpy as np

    kinds = {yes.dtype, no.dtype}
    kind = kinds.pop() if len(kinds) == 1 else object if np.dtype(object) in kinds else float
    column = np.empty(len(where), dtype=kind)
    column[where], column[~where] = yes, no
    return column


def _by_row(function: Callable[..., Any] | None, columns: Sequence[Array]) -> list[Any]:
    """The function of each row; nan where it has none."""
    return [_or_nan(function, row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _or_nan(function: Callable[..., Any] | None, arguments: Sequence[Any]) -> Any:
    try:
        return math.nan if function is None else function(*arguments)
    except (ArithmeticError, TypeError, ValueError):
        return math.nan


def evaluate(text: str, tree: ast.expr, columns: Mapping[str, Array], size: int) -> "_Program":
    """The values of `tree`, which was parsed from `text` and checked, in every row of `as_column`s of this size."""
    import numpy as np

    found = _Program(text, columns, np.zeros(size, dtype=bool))
    with np.errstate(all="ignore"):
        found.values = found.value(tree, np.arange(size))
    return found


_Key = type[ast.AST] | str  # an operator or the name of a function


@dataclass(slots=True, eq=False)
class _Program:
    text: str
    columns: Mapping[str, Array]
    failed: Bools  # which rows have no value
    reason: str = ""  # why the first one that was found has none
    values: Array = field(init=False)

    def value(self, node: ast.expr, rows: Ints) -> Array:
        """What a part of the expression is in these rows."""
        import numpy as np

        match node:
            case ast.Constant(value=value):
                return np.broadcast_to(as_column([value]), len(rows))
            case ast.Name() | ast.Attribute():
                return self._named(node, self.columns[dotted(node)], rows)
            case ast.UnaryOp(op=sign, operand=operand):
                return self._applied(node, type(sign), [operand], rows)
            case ast.BinOp(op=sign, left=left, right=right):
                return self._applied(node, type(sign), [left, right], rows)
            case ast.Compare(ops=[sign], left=left, comparators=[right]):
                return self._applied(node, type(sign), [left, right], rows)
            case ast.Compare(ops=signs, left=left, comparators=others):
                pairs = zip(signs, pairwise([left, *others]), strict=True)
                return self._decided([ast.Compare(a, [sign], [b]) for sign, (a, b) in pairs], False, rows)
            case ast.BoolOp(op=sign, values=operands):
                return self._decided(operands, isinstance(sign, ast.Or), rows)
            case ast.IfExp(test=test, body=body, orelse=other):
                holds = truths(self.value(test, rows))
                return _joined(holds, self.value(body, rows[holds]), self.value(other, rows[~holds]))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._applied(node, name, arguments, rows)
        raise AssertionError(f"{type(node).__name__} is rejected when an expression is parsed")

    def _named(self, node: ast.expr, column: Array, rows: Ints) -> Array:
        values = column if len(column) == len(rows) else column[rows]
        is_number = slice(None) if values.dtype != object else ~_texts(values)
        self._require_finite(node, values[is_number].astype(float, copy=False), rows[is_number])
        return values

    def _decided(self, operands: Sequence[ast.expr], stops_at: bool, rows: Ints) -> Array:
        """Like Python, the first value that decides; later ones are computed only where none has."""
        found = self.value(operands[0], rows)
        for operand in operands[1:]:
            is_open = truths(found) != stops_at
            found = _joined(is_open, self.value(operand, rows[is_open]), found[~is_open])
        return found

    def _applied(self, node: ast.expr, key: _Key, operands: Sequence[ast.expr], rows: Ints) -> Array:
        """Texts are compared in the rows that have any, numbers are computed with in the others."""
        import numpy as np

        columns = [self.value(operand, rows) for operand in operands]
        if key not in OPERATIONS:
            return self._of_texts(node, key, columns, rows)
        holding = [_texts(column) for column in columns if column.dtype == object]
        if not holding:
            return self._of_numbers(node, key, columns, rows)
        is_text = np.logical_or.reduce(holding)
        texts = self._of_texts(node, key, [column[is_text] for column in columns], rows[is_text])
        numbers = self._of_numbers(node, key, [column[~is_text] for column in columns], rows[~is_text])
        return _joined(is_text, texts, numbers)

    def _of_texts(self, node: ast.expr, key: _Key, columns: Sequence[Array], rows: Ints) -> Array:
        found = _by_row(TEXT_OPERATIONS.get(key), columns)
        self._fail(rows[[item is math.nan for item in found]], node, "invalid use of a string")
        return _array(found, object if isinstance(key, str) else bool)

    def _of_numbers(self, node: ast.expr, key: _Key, columns: Sequence[Array], rows: Ints) -> Array:
        import numpy as np

        operation, numbers = OPERATIONS[key], [column.astype(float, copy=False) for column in columns]
        if isinstance(operation, str):
            function = getattr(np, operation)
            found = function(*numbers) if function.nin == len(numbers) else reduce(function, numbers)
        else:
            found = _array(_by_row(operation, numbers), float)
        by_zero = key in (ast.Div, ast.FloorDiv, ast.Mod) and not numbers[1].all()
        self._require_finite(node, found, rows, "division by zero" if by_zero else "not a finite number")
        return found

    def _require_finite(self, node: ast.expr, column: Array, rows: Ints, reason: str = "not a finite number") -> None:
        import numpy as np

        self._fail(rows[~np.isfinite(column)], node, reason)

    def _fail(self, rows: Ints, node: ast.expr, reason: str) -> None:
        if len(rows):
            self.failed[rows] = True
            part = ast.get_source_segment(self.text, node) if hasattr(node, "lineno") else None
            self.reason = self.reason or f"{reason} in {part or self.text}"
