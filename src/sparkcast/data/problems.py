"""What is wrong with a table, all of it at once, by row and column."""

from collections.abc import Sequence
from dataclasses import dataclass

from sparkcast.errors import StudyError

_MOST = 20  # listed
_LONGEST = 40  # characters of a cell


@dataclass(frozen=True, slots=True)
class TableProblem:
    row: int | None  # as a spreadsheet counts; None for a whole column
    column: str  # empty for a whole row
    text: str

    def __str__(self) -> str:
        row = "" if self.row is None else f"row {self.row}"
        column = f"column {self.column!r}" if self.column else ""
        return f"{', '.join(part for part in (row, column) if part)}: {self.text}"


def shown(cell: str) -> str:
    """A cell in a message, which may hold a whole text."""
    return repr(cell if len(cell) <= _LONGEST else f"{cell[:_LONGEST]}...")


def refuse(source: str, problems: Sequence[TableProblem], *, hint: str) -> None:
    """Raise StudyError with every problem, if there is one."""
    if not problems:
        return
    if len(problems) == 1:
        raise StudyError(f"{source}, {problems[0]}", hint=hint)
    # By column first: a column that was misunderstood has many.
    listed = [f"  {problem}" for problem in problems[:_MOST]]
    if len(problems) > _MOST:
        listed.append(f"  and {len(problems) - _MOST} more")
    raise StudyError("\n".join([f"{source} has {len(problems)} problems:", *listed]), hint=hint)
