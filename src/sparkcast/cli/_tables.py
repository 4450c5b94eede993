"""The options of every command that reads runs: how a table is understood, and which study of a store is meant."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparkcast.cli._output import say

if TYPE_CHECKING:
    from sparkcast.api import Data, TableOptions

Factors = Annotated[
    str | None,
    typer.Option(
        help=(
            "Columns of a table that are factors, e.g. executors,batch_size. Default: those that vary and are "
            "not measurements."
        ),
        show_default=False,
    ),
]
Roles = Annotated[
    list[str] | None,
    typer.Option(
        "--role",
        metavar="NAME=ROLE",
        help="What a name means: hosts=machines, rows=data-size, auc=share, minutes=time:min. Repeatable.",
    ),
]
Ignore = Annotated[str | None, typer.Option(metavar="NAMES", help="Columns of a table to leave out, e.g. note,user.")]
NoValue = Annotated[
    list[str] | None,
    typer.Option(
        "--na",
        metavar="WORD",
        help="A word that marks a missing value in a table, besides NA and the like. Repeatable.",
    ),
]
TimeUnit = Annotated[
    str | None, typer.Option(metavar="UNIT", help="Unit of times in a table that have none: ns, us, ms, s, min, h, d.")
]
Decimal = Annotated[
    str | None,
    typer.Option(metavar="MARK", help="Decimal mark, if the table leaves it open: comma or point."),
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="NAME=VALUE",
        help="Only the rows of a table that have this value, e.g. job=kmeans. Repeatable.",
    ),
]
FillDown = Annotated[
    str | None,
    typer.Option(metavar="NAMES", help="Columns of merged cells: an empty cell has the value above it."),
]
CompleteRows = Annotated[
    bool, typer.Option("--complete-rows", help="Leave out rows of a table in which a setting has no value.")
]
Outcomes = Annotated[
    list[str] | None,
    typer.Option(
        "--outcome",
        metavar="WORD=OUTCOME",
        help="What a word for the end of a run means: ok, error, oom, timeout or running. Repeatable.",
    ),
]
TimeLimit = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Runs of a table that took this long were stopped, e.g. 2h: they failed."),
]
StudyName = Annotated[
    str | None,
    typer.Option("--study", help="Which study of a store, or which MLflow experiment, if there are several."),
]


@dataclass(frozen=True, slots=True)
class TableArguments:
    """What the options say."""

    factors: str | None = None
    role: list[str] | None = None
    ignore: str | None = None
    na: list[str] | None = None
    time_unit: str | None = None
    decimal: str | None = None
    where: list[str] | None = None
    fill_down: str | None = None
    complete_rows: bool = False
    outcome: list[str] | None = None
    time_limit: str | None = None
    study: str | None = None

    def options(self, responses: Sequence[str]) -> "TableOptions":
        from sparkcast.data.options import TableOptions

        return TableOptions(
            factors=names(self.factors or ""),
            responses=responses,
            roles=parse_roles(self.role or ()),
            ignore=names(self.ignore or ""),
            na=self.na or (),
            time_unit=self.time_unit,
            decimal=self.decimal,
            where=_pairs(self.where or (), "--where", "job=kmeans"),
            fill_down=names(self.fill_down or ""),
            complete_rows=self.complete_rows,
            outcomes=_pairs(self.outcome or (), "--outcome", "parked=error"),
            time_limit=self.time_limit,
        )


AS_IT_STANDS = TableArguments()  # without any option

_OPTIONS = {
    "factors": Factors,
    "role": Roles,
    "ignore": Ignore,
    "na": NoValue,
    "time_unit": TimeUnit,
    "decimal": Decimal,
    "where": Where,
    "fill_down": FillDown,
    "complete_rows": CompleteRows,
    "outcome": Outcomes,
    "time_limit": TimeLimit,
    "study": StudyName,
}


def reads_runs(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the shared options in place of its parameter `reading`."""

    @wraps(command)
    def call(**given: Any) -> None:
        options = {name: given.pop(name) for name in _OPTIONS}
        command(**given, reading=TableArguments(**options))

    signature = inspect.signature(command)
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=getattr(AS_IT_STANDS, name), annotation=kind)
        for name, kind in _OPTIONS.items()
    ]
    own = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in signature.parameters.values()]
    place = next(place for place, parameter in enumerate(own) if parameter.name == "reading")
    parameters = [*own[:place], *shared, *own[place + 1 :]]
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _pairs(texts: Sequence[str], option: str, example: str) -> dict[str, str]:
    """Parse `job=kmeans`; a value may hold anything."""
    from sparkcast.errors import StudyError

    pairs: dict[str, str] = {}
    for text in texts:
        name, separator, value = (piece.strip() for piece in text.partition("="))
        if not (name and separator):
            raise StudyError(f"{option} {text!r} is not NAME=VALUE", hint=f"e.g. {option} {example}")
        pairs[name] = value
    return pairs


def parse_roles(texts: "list[str] | tuple[str, ...]") -> dict[str, str]:
    """Parse `hosts=machines`, one or several between commas."""
    from sparkcast.errors import StudyError

    roles: dict[str, str] = {}
    for part in (part for text in texts for part in names(text)):
        name, separator, role = (piece.strip() for piece in part.partition("="))
        if not (name and separator and role):
            raise StudyError(f"--role {part!r} is not NAME=ROLE", hint="e.g. --role hosts=machines --role auc=share")
        if roles.get(name, role) != role:
            raise StudyError(f"--role gives {name} twice: {roles[name]} and {role}", hint="give each name one role")
        roles[name] = role
    return roles


def say_meanings(data: "Data", as_json: bool = False) -> None:
    """How a table was understood, and of a store which meanings only names told. With --json that is a field."""
    taken: dict[str, list[str]] = {}
    for role, name in data.taken_as:
        taken.setdefault(role, []).append(name)
    if taken:
        say("taken as " + "; ".join(f"{role}: {', '.join(found)}" for role, found in taken.items()))
    if data.understood is not None and not as_json:
        for line in data.understood.lines():
            say(line)


def understood(data: object) -> dict[str, Any]:
    """What --json tells beside a result."""
    found = getattr(data, "understood", None)
    return {} if found is None else {"understood": found}
