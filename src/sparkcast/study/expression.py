"""Arithmetic over settings and responses, safe to evaluate: rules and response formulas are written by strangers."""

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean

FUNCTIONS: Mapping[str, Any] = {
    "abs": abs,
    "ceil": math.ceil,
    "exp": math.exp,
    "floor": math.floor,
    "log": math.log,
    "log2": math.log2,
    "max": max,
    "min": min,
    "round": round,
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
        from simpleeval import InvalidExpression, SimpleEval

        self.require_names(tuple(values))
        try:
            return SimpleEval(names=dict(values), functions=dict(FUNCTIONS)).eval(self.text)
        except (InvalidExpression, ArithmeticError, TypeError, ValueError) as error:
            shown = ", ".join(f"{name}={values[name]!r}" for name in sorted(self.names))
            raise StudyError(f"expression {self.text!r} failed at {shown}: {error}") from error
