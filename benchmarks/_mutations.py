"""Small wrong changes to a Python file, one at a time: what a test suite should notice.

Texts are left alone: f-strings, the arguments of `raise`, hints, annotations, decorators. So are defaults of parameters
and of fields, which are evaluated once, when a module is imported.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_CALLED = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "any": "all",
    "all": "any",
    "argmin": "argmax",
    "argmax": "argmin",
    "floor": "ceil",
    "ceil": "floor",
}
_NO_BEHAVIOR = {"hint", "strict"}  # keywords: a text, and a check of what cannot happen
_TEXTS = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp)


@dataclass(slots=True, eq=False)
class Mutation:
    """One change in the tree of a file: `holder`'s field (or one item of it) becomes `after`."""

    operator: str
    statement: ast.stmt
    function: ast.AST | None  # the outermost one, whose code holds the change; None at the top of the module
    function_name: str
    holder: ast.AST
    field: str
    item: int | None
    before: ast.AST
    after: ast.AST

    def put(self, node: ast.AST) -> None:
        if self.item is None:
            setattr(self.holder, self.field, node)
        else:
            getattr(self.holder, self.field)[self.item] = node

    def texts(self) -> tuple[str, str]:
        """The first line that differs, as it was and as it is with the mutation."""
        before = ast.unparse(self.statement)
        self.put(self.after)
        try:
            after = ast.unparse(self.after if self.before is self.statement else self.statement)
        finally:
            self.put(self.before)
        pairs = zip([*before.splitlines(), ""], [*after.splitlines(), ""], strict=False)
        first, second = next(((one, other) for one, other in pairs if one != other), (before, after))
        return first.strip(), second.strip()

    @property
    def lines(self) -> range:
        """Those of the statement, and of a compound one only its head."""
        body = getattr(self.statement, "body", None)
        last = max(self.statement.lineno, body[0].lineno - 1) if body else self.statement.end_lineno
        return range(self.statement.lineno, (last or self.statement.lineno) + 1)


@dataclass(frozen=True, slots=True)
class Source:
    """A file with everything that can be changed in it."""

    path: Path
    tree: ast.Module
    mutations: tuple[Mutation, ...]

    @classmethod
    def read(cls, path: Path) -> "Source":
        tree = ast.parse(path.read_text())
        return cls(path, tree, tuple(_Finder().of_module(tree)))


class _Finder:
    """Walks over what runs, and yields what may be changed."""

    def __init__(self) -> None:
        self._function: ast.AST | None = None
        self._names: list[str] = []
        self._statement: ast.stmt = ast.Pass()

    def of_module(self, tree: ast.Module) -> Iterator[Mutation]:
        for number, node in enumerate(tree.body):
            if isinstance(node, ast.Assign | ast.AnnAssign):
                if not _is_dunder(node):
                    self._statement = node
                    yield from self._field(node, "value", None, node.value)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from self._node(tree, "body", number, node)

    def _node(self, holder: ast.AST, field: str, item: int | None, node: ast.AST) -> Iterator[Mutation]:
        match node:
            case ast.ClassDef():
                yield from self._class(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from self._body(node)
            case ast.JoinedStr() | ast.Assert() | ast.Import() | ast.ImportFrom():
                return
            case ast.keyword() if node.arg in _NO_BEHAVIOR:
                return
            case _:
                yield from self._any(holder, field, item, node)

    def _class(self, node: ast.ClassDef) -> Iterator[Mutation]:
        self._names.append(node.name)
        for number, part in enumerate(node.body):
            if self._function is not None or isinstance(part, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
                yield from self._node(node, "body", number, part)
        self._names.pop()

    def _body(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Mutation]:
        outer, self._function = self._function, self._function or node
        self._names.append(node.name)
        for number, part in enumerate(node.body):
            yield from self._node(node, "body", number, part)
        self._names.pop()
        self._function = outer

    def _any(self, holder: ast.AST, field: str, item: int | None, node: ast.AST) -> Iterator[Mutation]:
        outer = self._statement
        if isinstance(node, ast.stmt):
            self._statement = node
        for operator, after in _variants(node, field):
            yield self._mutation(operator, holder, field, item, node, after)
        if not isinstance(node, ast.Raise):
            for name, value in ast.iter_fields(node):
                if name not in ("annotation", "returns", "decorator_list", "type_comment"):
                    yield from self._field(node, name, None, value)
        self._statement = outer

    def _field(self, holder: ast.AST, field: str, item: int | None, value: object) -> Iterator[Mutation]:
        if isinstance(value, list):
            for number, one in enumerate(value):
                yield from self._field(holder, field, number, one)
        elif isinstance(value, ast.AST):
            if isinstance(holder, ast.Compare) and field == "ops":
                other = _COMPARED[type(value)]()  # type: ignore[index]
                yield self._mutation("comparison", holder, field, item, value, other)
            elif not (isinstance(holder, ast.arguments) and field in ("defaults", "kw_defaults")):
                yield from self._node(holder, field, item, value)

    def _mutation(
        self, operator: str, holder: ast.AST, field: str, item: int | None, before: ast.AST, after: ast.AST
    ) -> Mutation:
        if isinstance(before, ast.expr | ast.stmt):
            ast.fix_missing_locations(ast.copy_location(after, before))
        names = ".".join(self._names)
        return Mutation(operator, self._statement, self._function, names, holder, field, item, before, after)


def _is_dunder(node: ast.Assign | ast.AnnAssign) -> bool:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    return isinstance(target, ast.Name) and target.id.startswith("__")


def _variants(node: ast.AST, field: str) -> Iterator[tuple[str, ast.AST]]:
    """What may stand there instead, each with the name of its operator."""
    if (
        isinstance(node, ast.expr)
        and field in ("test", "ifs")
        and not isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp)
    ):
        yield "condition", ast.UnaryOp(ast.Not(), node)
    if isinstance(node, ast.stmt):
        yield from _statements(node)
    else:
        yield from _expressions(node)


def _expressions(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.BinOp() if type(node.op) in _COMPUTED and not _is_text(node.left) and not _is_text(node.right):
            yield "arithmetic", ast.BinOp(node.left, _COMPUTED[type(node.op)](), node.right)
        case ast.BoolOp():
            yield "boolean", ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield "sign", node.operand
        case ast.Constant(value=bool() as value):
            yield "constant", ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield "constant", ast.Constant(value + 1)
        case ast.Constant(value=float() as value):
            yield "constant", ast.Constant(2 * value or 1.0)
        case ast.Call(func=ast.Name(id=name)) if name in _CALLED:
            yield "function", ast.Call(ast.Name(_CALLED[name], ast.Load()), node.args, node.keywords)
        case ast.Call(func=ast.Attribute(attr=name) as called) if name in _CALLED:
            other = ast.Attribute(called.value, _CALLED[name], ast.Load())
            yield "function", ast.Call(other, node.args, node.keywords)
        case ast.Call(func=ast.Name(id="abs")):
            yield "function", node.args[0]
        case ast.Slice():
            if node.lower is not None:
                yield "slice", ast.Slice(None, node.upper, node.step)
            if node.upper is not None:
                yield "slice", ast.Slice(node.lower, None, node.step)


def _statements(node: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise(exc=ast.expr()):
            yield "deletion", ast.Pass()
            if isinstance(node, ast.AugAssign) and type(node.op) in _COMPUTED:
                yield "arithmetic", ast.AugAssign(node.target, _COMPUTED[type(node.op)](), node.value)
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "deletion", ast.Pass()
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield "return", ast.Return(ast.Constant(None))
        case ast.Continue():
            yield "deletion", ast.Break()
        case ast.Break():
            yield "deletion", ast.Continue()


def _is_text(node: ast.expr) -> bool:
    """Whether + joins rather than adds here."""
    return isinstance(node, _TEXTS) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
