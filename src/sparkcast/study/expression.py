"""Arithmetic over settings and responses, safe to evaluate: rules and response formulas are written by strangers."""

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sparkcast.arrays import Bools
from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study._evaluator import (
    ARGUMENTS,
    OPERATIONS,
    TEXT_OPERATIONS,
    _Program,
    as_column,
    as_number,
    dotted,
    evaluate,
    truths,
)

MAX_LENGTH = 2000  # characters
MAX_DEPTH = 100  # levels of operators and brackets; a sum of n numbers has n - 1
_ALLOWED = "numbers, strings, names of settings, + - * / // % **, comparisons, in, and/or/not, if/else, " + ", ".join(
    ARGUMENTS
)


@dataclass(frozen=True, slots=True)
class Expression:
    """One arithmetic or logical expression. Names, numbers, texts, operators and a few functions; nothing else.

    Numbers are floating-point numbers and always finite, texts can only be compared. What has no such value (a division
    by zero, `'a' < 1`) is a StudyError.

    >>> Expression("batch_size % (executors * cores) == 0").evaluate({"batch_size": 64, "executors": 2, "cores": 1})
    True
    """

    text: str
    names: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", frozenset(_names(self.text)))

    def require_names(self, known: tuple[str, ...]) -> None:
        """Raise for the first name that is not in `known`."""
        for name in sorted(self.names):
            if name not in known:
                raise StudyError(
                    f"expression {self.text!r} uses the unknown name {name!r}", hint=did_you_mean(name, known)
                )

    def evaluate(self, values: Mapping[str, Any]) -> float | bool | str:
        """The value where names have these values: that of a table with one row."""
        self.require_names(tuple(values))
        found = evaluate(self.text, _tree(self.text), {name: as_column([values[name]]) for name in self.names}, 1)
        if found.failed[0]:
            shown = ", ".join(f"{name}={_shown(values[name])}" for name in sorted(self.names))
            raise StudyError(
                f"expression {self.text!r} failed at {shown or 'any settings'}: {found.reason}",
                hint="every part must be a finite number, or strings to compare; guard a part like this: "
                "cores > 0 and 8 / cores > 1",
            )
        [value] = found.values.tolist()
        return value  # type: ignore[no-any-return]

    def evaluate_columns(self, columns: Mapping[str, Any]) -> Any:
        """What `evaluate` gives for each row of these columns: arrays of one length, or scalars that all rows share.

        >>> import numpy as np
        >>> Expression("cores > 0 and 8 / cores > memory").evaluate_columns({"cores": np.array([0, 2, 4]), "memory": 3})
        array([False,  True, False])
        """
        import numpy as np

        lengths = {len(column) for column in columns.values() if np.ndim(column)}
        if len(lengths) > 1:
            raise ValueError(f"columns of different lengths: {sorted(lengths)}")
        if not lengths:
            return self.evaluate(columns)
        found = self._evaluated(columns, lengths.pop())
        if found.failed.any():
            row = int(found.failed.argmax())
            shared = {name: column for name, column in columns.items() if not np.ndim(column)}
            self.evaluate(shared | {name: columns[name][row] for name in columns.keys() - shared.keys()})
        return found.values

    def verdicts(self, columns: Mapping[str, Any], size: int) -> tuple[Bools, Bools]:
        """In which of `size` rows this is true, and in which it has no value."""
        found = self._evaluated(columns, size)
        return truths(found.values) & ~found.failed, found.failed

    def _evaluated(self, columns: Mapping[str, Any], size: int) -> _Program:
        import numpy as np

        self.require_names(tuple(columns))
        table = {
            name: as_column(columns[name]) if np.ndim(columns[name]) else as_column([columns[name]]).repeat(size)
            for name in self.names
        }
        return evaluate(self.text, _tree(self.text), table, size)


@lru_cache(maxsize=256)
def _tree(text: str) -> ast.expr:
    if len(text) > MAX_LENGTH:
        raise StudyError(
            f"the expression {text[:40] + '...'!r} has {len(text):,} characters, more than {MAX_LENGTH:,}",
            hint="split it into several rules, or shorten it",
        )
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # the last two: nested too deeply
        raise StudyError(
            f"{_shortened(text)} is not an expression: {error or 'it is nested too deeply'}",
            hint="write it like: batch_size % executors == 0",
        ) from error


def _names(text: str) -> set[str]:
    """The names that an expression uses. Raises StudyError for what is not allowed in one."""
    names = set()
    waiting = [(_tree(text), 1)]
    while waiting:  # a loop, because Python's own stack ends before a long chain of operators does
        node, depth = waiting.pop()
        reason = f"it is nested more than {MAX_DEPTH} levels deep" if depth > MAX_DEPTH else _objection(node)
        if reason:
            raise StudyError(f"expression {_shortened(text)} is rejected: {reason}", hint=f"allowed: {_ALLOWED}")
        if name := dotted(node):
            names.add(name)
            continue
        parts = node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
        waiting += [(part, depth + 1) for part in parts if isinstance(part, ast.expr)]
    return names


def _objection(node: ast.expr) -> str:
    """Why this part of an expression is not allowed, its own parts aside; "" when it is."""
    match node:
        case ast.Attribute() if dotted(node):
            return ""  # the name of a Spark property; nothing is looked up in anything
        case ast.Name() | ast.BoolOp() | ast.IfExp() | ast.Constant(value=str()):
            return ""
        case ast.Constant(value=int() | float() as value):
            return "" if math.isfinite(as_number(value)) else "a number is too large"
        case ast.Constant(value=value):
            return f"{value!r} is not a number or a string"
        case ast.UnaryOp(op=sign) | ast.BinOp(op=sign) if type(sign) in OPERATIONS:
            return ""
        case ast.Compare(ops=signs) if all(type(sign) in TEXT_OPERATIONS for sign in signs):
            return ""
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            if name not in ARGUMENTS:
                return f"{name!r} is not a known function"
            least, most = ARGUMENTS[name]
            wanted = f"{least}" if least == most else f"{least} to {most}" if most < math.inf else f"{least} or more"
            given = len(arguments)
            return "" if least <= given <= most else f"{name} takes {wanted} argument(s), not {given}"
        case ast.Call():
            return "only plain calls to known functions are allowed"
    return f"{type(node).__name__.lower()} is not allowed"


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 200 else f"{text[:60]}...")


def _shown(value: Any) -> str:
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, int) and value.bit_length() > 2**10:
        return "(a huge number)"  # Python refuses to write it out
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    shown = repr(int(value) if is_whole else value)
    return shown if len(shown) <= 100 else f"{shown[:100]}..."
