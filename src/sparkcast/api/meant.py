"""Settings as people give them for a recurring job: `input` for what it reads, and nothing for what stays as it is."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sparkcast.data.sources import Data
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.study import Configuration, Level, Role, Vocabulary
from sparkcast.units import parse_bytes

if TYPE_CHECKING:
    from sparkcast.learned.knowledge import Knowledge

INPUT = "input"


def with_input_named(given: Mapping[str, Level], source: "Data | Knowledge") -> dict[str, Level]:
    """With the setting that the data have for the size of the data in place of `input`; sizes may have units.

    Raises:
        StudyError: there is no such setting, or it is given twice.
    """
    factors, words = _varied(source)
    named, size = dict(given), _size_of(source)
    if INPUT in named and INPUT not in factors:
        if size is None:
            raise NotEnoughDataError(
                "the size of the data is not a setting of these runs: they all read the same, or do not record it",
                hint="leave out `input`",
            )
        if size in named:
            raise StudyError(f"`input` and {size} are the same setting", hint="give one of them")
        named[size] = named.pop(INPUT)
    if size is not None and isinstance(named.get(size), str) and words.setting(size).unit == "bytes":
        named[size] = parse_bytes(str(named[size]))
    return named


def with_usual(given: Mapping[str, Level], source: "Data | Knowledge") -> tuple[dict[str, Level], tuple[str, ...]]:
    """With the settings of the last run where none are given, and what to say of them."""
    usual = source.usual if isinstance(source, Data) else None
    if usual is None:
        return dict(given), ()
    filled = usual.only([name for name in usual if name not in given])
    return {**filled, **given}, _told(filled)


def with_usual_size(given: Mapping[str, Level], source: "Data | Knowledge") -> tuple[dict[str, Level], tuple[str, ...]]:
    """The same for the size of the data alone: nobody chooses how much there is to read."""
    usual, size = source.usual if isinstance(source, Data) else None, _size_of(source)
    if usual is None or size is None or size in given or size not in usual:
        return dict(given), ()
    return {**given, size: usual[size]}, _told(usual.only([size]))


def _told(filled: Configuration) -> tuple[str, ...]:
    return (f"as in the last run: {filled}",) if filled else ()


def _size_of(source: "Data | Knowledge") -> str | None:
    factors, words = _varied(source)
    return next((name for name in factors if words.role(name) is Role.DATA_SIZE), None)


def _varied(source: "Data | Knowledge") -> tuple[tuple[str, ...], Vocabulary]:
    if isinstance(source, Data):
        return source.dataset.factors, source.dataset.vocabulary
    return source.about.factors, source.about.vocabulary
