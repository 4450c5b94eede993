"""Expressions over whole columns: what `Expression.evaluate` gives row by row, for many rows at a time.

A value is a scalar, the same in every row, or an array. numpy computes what it computes to the last bit as Python does:
whole numbers up to 2**53, and floats without powers and logarithms. Everything else is left to Python, row by row.
"""

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, repeat
from typing import Any

_EXACT = 2**53  # whole numbers up to here are floats without loss, and their sums fit in 64 bits
_MOST_BITS = 2**16  # of a power; simpleeval alone would let one compute for hours
_KINDS = {bool: "bool", int: "int64", float: "float64"}


class RowsFailed(Exception):
    """The rows in which a part of an expression has no value."""

    def __init__(self, rows: Any) -> None:
        super().__init__(rows)
        self.rows = rows


def failures() -> tuple[type[Exception], ...]:
    """What an expression of a stranger can raise."""
    from simpleeval import InvalidExpression

    return InvalidExpression, ArithmeticError, TypeError, ValueError


def operators() -> dict[type[ast.AST], Callable[..., Any]]:
    """Python's operators, without those that a few letters make compute for hours or fill the memory."""
    from simpleeval import DEFAULT_OPERATORS

    return {**DEFAULT_OPERATORS, ast.Pow: partial(_power, DEFAULT_OPERATORS[ast.Pow]), ast.Mod: _modulo}


def _power(power: Callable[..., Any], base: Any, exponent: Any) -> Any:
    is_whole = isinstance(base, int) and isinstance(exponent, int)
    if is_whole and abs(base) > 1 and exponent * base.bit_length() > _MOST_BITS:
        raise ValueError(f"{base} ** {exponent} is too large")
    return power(base, exponent)


def _modulo(left: Any, right: Any) -> Any:
    if isinstance(left, str):
        raise TypeError("a text has no remainder")
    return left % right


def names_in(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


# ---------------------------------------------------------------- columns


def plain(value: Any) -> Any:
    """A scalar as Python's own, or a column as an array of bool, int64, float64 or, of anything else, objects."""
    import numpy as np

    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return value.item()
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return value
    if isinstance(value, np.ndarray) and (kept := _typed(value)) is not None:
        return kept
    items = value.tolist() if isinstance(value, np.ndarray) else list(value)
    if any(issubclass(kind, np.generic) for kind in set(map(type, items))):
        items = [item.item() if isinstance(item, np.generic) else item for item in items]
    return as_column(items)


def _typed(column: Any) -> Any:
    import numpy as np

    if column.dtype.kind in "iu" and (not column.size or max(-int(column.min()), int(column.max())) <= _EXACT):
        return column.astype(np.int64, copy=False)
    if column.dtype.kind == "f" and column.dtype.itemsize <= 8:
        return column.astype(np.float64, copy=False)
    return column if column.dtype.kind == "b" else None


def as_column(values: Sequence[Any]) -> Any:
    import numpy as np

    types = set(map(type, values))
    kind = _KINDS.get(types.pop(), "object") if len(types) == 1 else "object"
    if kind == "int64" and max(map(abs, values)) > _EXACT:
        kind = "object"
    column = np.empty(len(values), dtype=kind)
    column[:] = values
    return column


def _kind(value: Any) -> str:
    """The type of the array that holds this."""
    if _is_array(value):
        return str(value.dtype)
    if isinstance(value, int) and abs(value) > _EXACT:
        return "object"
    return _KINDS.get(type(value), "object")


def _is_array(value: Any) -> bool:
    return hasattr(value, "dtype")


def _taken(value: Any, rows: Any) -> Any:
    return value[rows] if _is_array(value) else value


def _joined(parts: Sequence[tuple[Any, Any]], size: int) -> Any:
    """One column from the values at several places, which have different types only where they must."""
    import numpy as np

    kinds = {_kind(value) for _, value in parts}
    column = np.empty(size, dtype=kinds.pop() if len(kinds) == 1 else object)
    for places, value in parts:
        column[places] = value
    return column


def truths(value: Any, size: int) -> Any:
    """Which of the rows count as true."""
    import numpy as np

    if not _is_array(value):
        return np.full(size, bool(value))
    return np.array([bool(item) for item in value], dtype=bool) if value.dtype == object else value.astype(bool)


# ---------------------------------------------------------------- walking the expression


def evaluate(tree: ast.Expression, columns: Mapping[str, Any], functions: Mapping[str, Any], rows: Any) -> Any:
    """The values at these rows of `plain` columns, as an array. Raises RowsFailed."""
    walk = _Walk(columns, functions, operators())
    return _joined([(slice(None), walk.value(tree.body, rows))], rows.size)


@dataclass(frozen=True, slots=True)
class _Walk:
    columns: Mapping[str, Any]
    functions: Mapping[str, Any]
    operators: Mapping[type[ast.AST], Any]

    def value(self, node: ast.expr, rows: Any) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self._named(node.id, rows)
            case ast.UnaryOp():
                return self._operated(node.op, [node.operand], rows)
            case ast.BinOp():
                return self._operated(node.op, [node.left, node.right], rows)
            case ast.Compare():
                return self._compared(node, rows)
            case ast.BoolOp():
                return self._decided(node, rows)
            case ast.IfExp():
                return self._chosen(node, rows)
            case ast.Call(func=ast.Name(id=name)):
                fast = _FAST_FUNCTIONS.get((name, len(node.args) > 1))
                return _applied(self.functions[name], fast, [self.value(part, rows) for part in node.args], rows)
        raise AssertionError(f"{type(node).__name__} is refused when an expression is made")

    def _named(self, name: str, rows: Any) -> Any:
        if name not in self.columns:
            return self.functions[name]
        column = self.columns[name]
        return column if _is_array(column) and column.size == rows.size else _taken(column, rows)

    def _operated(self, sign: ast.AST, operands: Sequence[ast.expr], rows: Any) -> Any:
        if type(sign) not in self.operators:
            raise RowsFailed(rows)
        values = [self.value(operand, rows) for operand in operands]
        return _applied(self.operators[type(sign)], _FAST_OPERATORS.get(type(sign)), values, rows)

    def _compared(self, node: ast.Compare, rows: Any) -> Any:
        if len(node.ops) == 1:
            return self._operated(node.ops[0], [node.left, node.comparators[0]], rows)
        pairs = zip(node.ops, pairwise([node.left, *node.comparators]), strict=True)
        links: list[ast.expr] = [ast.Compare(left, [sign], [right]) for sign, (left, right) in pairs]
        return self._decided(ast.BoolOp(ast.And(), links), rows)

    def _decided(self, node: ast.BoolOp, rows: Any) -> Any:
        """Like Python, the first value that decides; later ones are evaluated only where none has."""
        import numpy as np

        stops_at = isinstance(node.op, ast.Or)
        parts: list[tuple[Any, Any]] = []
        places = np.arange(rows.size)
        for operand in node.values[:-1]:
            value = self.value(operand, rows[places])
            is_decided = truths(value, places.size) == stops_at
            parts.append((places[is_decided], _taken(value, is_decided)))
            places = places[~is_decided]
            if not places.size:
                return _joined(parts, rows.size)
        parts.append((places, self.value(node.values[-1], rows[places])))
        return _joined([part for part in parts if part[0].size], rows.size)

    def _chosen(self, node: ast.IfExp, rows: Any) -> Any:
        import numpy as np

        holds = truths(self.value(node.test, rows), rows.size)
        branches = [(np.flatnonzero(holds), node.body), (np.flatnonzero(~holds), node.orelse)]
        return _joined(
            [(places, self.value(branch, rows[places])) for places, branch in branches if places.size], rows.size
        )


def _applied(function: Callable[..., Any], fast: Callable[..., Any] | None, values: Sequence[Any], rows: Any) -> Any:
    import numpy as np

    if not any(_is_array(value) for value in values):
        try:
            return function(*values)
        except failures():
            raise RowsFailed(rows) from None
    is_for_objects = fast in (operator.eq, operator.ne)
    if fast is not None and (is_for_objects or all(_kind(value) != "object" for value in values)):
        with np.errstate(all="ignore"):
            if (result := fast(*values)) is not None:
                return result
    return _by_python(function, values, rows)


def _by_python(function: Callable[..., Any], values: Sequence[Any], rows: Any) -> Any:
    def arguments() -> Any:
        return zip(*(v.tolist() if _is_array(v) else repeat(v, rows.size) for v in values), strict=True)

    try:
        return as_column([function(*row) for row in arguments()])
    except failures():
        raise RowsFailed(rows[[_fails(function, row) for row in arguments()]]) from None


def _fails(function: Callable[..., Any], arguments: Sequence[Any]) -> bool:
    try:
        function(*arguments)
    except failures():
        return True
    return False


# ---------------------------------------------------------------- what numpy computes; None is left to Python


def _number(value: Any) -> Any:
    """Python counts with True as 1."""
    if not _is_array(value):
        return +value
    return value.astype("int64") if value.dtype == bool else value


def _bounded(result: Any) -> Any:
    return None if result.dtype == "int64" and max(-int(result.min()), int(result.max())) > _EXACT else result


def _sum(left: Any, right: Any) -> Any:
    return _bounded(_number(left) + _number(right))


def _difference(left: Any, right: Any) -> Any:
    return _bounded(_number(left) - _number(right))


def _product(left: Any, right: Any) -> Any:
    import numpy as np

    left, right = _number(left), _number(right)
    is_whole = _kind(left) == _kind(right) == "int64"
    if is_whole and int(np.abs(left).max()) * int(np.abs(right).max()) > _EXACT:
        return None
    return left * right


def _quotient(left: Any, right: Any) -> Any:
    import numpy as np

    return None if np.any(right == 0) else np.true_divide(_number(left), _number(right))


def _remainder(left: Any, right: Any) -> Any:
    import numpy as np

    return None if np.any(right == 0) else np.remainder(_number(left), _number(right))


def _rounded(rounding: str) -> Callable[..., Any]:
    def fast(value: Any) -> Any:
        import numpy as np

        if value.dtype != float:
            return _number(value)
        result = getattr(np, rounding)(value)
        return result.astype("int64") if (np.abs(result) <= _EXACT).all() else None

    return fast


def _root(value: Any) -> Any:
    import numpy as np

    return None if np.any(value < 0) else np.sqrt(_number(value))


def _extreme(is_better: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def fast(first: Any, *others: Any) -> Any:
        import numpy as np

        if len({_kind(value) for value in (first, *others)}) > 1:
            return None
        best = first
        for value in others:
            best = np.where(is_better(value, best), value, best)
        return best

    return fast


_FAST_OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: _sum,
    ast.Sub: _difference,
    ast.Mult: _product,
    ast.Div: _quotient,
    ast.Mod: _remainder,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Not: lambda value: value == 0,
    ast.USub: lambda value: -_number(value),
    ast.UAdd: _number,
}
_FAST_FUNCTIONS: Mapping[tuple[str, bool], Callable[..., Any]] = {  # by name, and whether of several arguments
    ("abs", False): lambda value: abs(_number(value)),
    ("ceil", False): _rounded("ceil"),
    ("floor", False): _rounded("floor"),
    ("round", False): _rounded("rint"),
    ("sqrt", False): _root,
    ("max", True): _extreme(operator.gt),
    ("min", True): _extreme(operator.lt),
}
