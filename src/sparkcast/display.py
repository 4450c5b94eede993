"""How results show themselves: `print(result)` in words, and in a notebook as the block of the report.

Results are defined far to the left of what puts them into words and pictures. `sparkcast.api`, which knows both,
brings them together with `connect`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_TEXT: list[Callable[[object, bool, int], str]] = []
_HTML: list[Callable[[object], str | None]] = []
_COLUMNS = 100  # as a command has where there is no terminal


def connect(text: Callable[[object, bool, int], str], html: Callable[[object], str | None]) -> None:
    """Say how results are put into words, and which have a block of the report."""
    _TEXT[:], _HTML[:] = [text], [html]


class Displayed:
    """A result that people read: `print(result)` is what the command prints."""

    __slots__ = ()

    def text(self, *, details: bool = False, width: int = _COLUMNS) -> str:
        """What the command prints; with `details`, everything."""
        return _TEXT[0](self, details, width) if _TEXT else repr(self)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """The block of the HTML report where it has one, else the text."""
        block = _HTML[0](self) if _HTML else None
        return block or f"<pre>{escape(str(self))}</pre>"


def frame_of(rows: Iterable[Mapping[str, Any]]) -> "pd.DataFrame":
    """Rows as a pandas DataFrame."""
    import pandas as pd

    return pd.DataFrame([dict(row) for row in rows])


def plain_row(item: Any) -> dict[str, Any]:
    """The fields of a dataclass that fit a cell of a table.

    >>> from sparkcast.study import Setting
    >>> plain_row(Setting("hosts"))["name"]
    'hosts'
    """
    found = {field.name: getattr(item, field.name) for field in fields(item)}
    return {name: value for name, value in found.items() if value is None or isinstance(value, str | int | float)}
