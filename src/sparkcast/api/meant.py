"""Settings as people give them for a recurring job: `input` for what it reads, and nothing for what stays as it is."""

from collections.abc import Mapping

from sparkcast.data.sources import Data
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.learned.about import About
from sparkcast.study import Configuration, Level, Role
from sparkcast.units import parse_bytes

INPUT = "input"


def with_input_named(given: Mapping[str, Level], about: About) -> dict[str, Level]:
    """With the setting that the data have for the size of the data in place of `input`; sizes may have units.

    Raises:
        StudyError: there is no such setting, or it is given twice.
    """
    named = dict(given)
    size = _size_of(about)
    if INPUT in named and INPUT not in about.factors:
        if size is None:
            raise NotEnoughDataError(
                "the size of the data is not a setting of these runs: they all read the same, or do not record it",
                hint="leave out `input`",
            )
        if size in named:
            raise StudyError(f"`input` and {size} are the same setting", hint="give one of them")
        named[size] = named.pop(INPUT)
    if size is not None and isinstance(named.get(size), str) and about.vocabulary.setting(size).unit == "bytes":
        named[size] = parse_bytes(str(named[size]))
    return named


def with_usual(given: Mapping[str, Level], about: About, source: object) -> tuple[dict[str, Level], tuple[str, ...]]:
    """With the settings of the last run where none are given, and what to say of them."""
    usual = source.usual if isinstance(source, Data) else None
    if usual is None:
        return dict(given), ()
    filled = usual.only([name for name in usual if name in about.factors and name not in given])
    return {**filled, **given}, _told(filled)


def with_usual_size(
    given: Mapping[str, Level], about: About, source: object
) -> tuple[dict[str, Level], tuple[str, ...]]:
    """The same for the size of the data alone: nobody chooses how much there is to read."""
    usual, size = source.usual if isinstance(source, Data) else None, _size_of(about)
    if usual is None or size is None or size in given or size not in usual:
        return dict(given), ()
    return {**given, size: usual[size]}, _told(usual.only([size]))


def _told(filled: Configuration) -> tuple[str, ...]:
    return (f"as in the last run: {filled}",) if filled else ()


def _size_of(about: About) -> str | None:
    return next((name for name in about.factors if about.vocabulary.role(name) is Role.DATA_SIZE), None)
