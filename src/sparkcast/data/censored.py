"""Times of runs that were stopped: `> 2h`, `killed after 90 min`, `timeout`. What is left of them is a lower bound."""

import re
from collections.abc import Mapping, Sequence

from sparkcast.data.cell import COUNT, MONEY, SHARE, SIZE, TIME, Clock, Quantity, read_cell
from sparkcast.data.outcomes import GOOD, OPEN, RunEnd, read_word
from sparkcast.study import Outcome
from sparkcast.study.headings import fold

_FAMILIES = frozenset({COUNT, MONEY, SHARE, SIZE, TIME})
_SUSPICIOUS = 3  # runs that took exactly as long as each other and longer than all others
_MORE = re.compile(r"(?:>=?|≥|more than|over|at least|mehr als|plus de|mas de|piu di|mais de)\s*(.+)|(.+?)\s*\+")
_SPREAD = re.compile(r"^(.*\d)\s*(?:±|\+/-|\+-|\\pm)\s*[\d.,]+\s*(.*)$")
_ABOUT = re.compile(
    r"^(?:~|≈|≃|ca\.?\s|circa\s|approx\.?\s|about\s|around\s|etwa\s|env\.?\s|environ\s)\s*", re.IGNORECASE
)
_JOINING = re.compile(r"\b(after|at|by|nach|bei|apres|tras|dopo|apos|limit)\b|[()\[\]:]+(?=\s|$)|(?<=\s)[([]+|^[([]+")


def split_bounds(cells: Sequence[str], *, is_time: bool) -> tuple[list[str], dict[str, RunEnd]]:
    """The cells of a measured column with only their numbers, and by the text of a cell how its run ended.

    Only where other cells are numbers: a column of words stays as it is. What is no time has no bounds, but words.
    """
    texts = {cell for cell in cells if cell}
    exact = {cell: number for cell in texts if (number := _without_spread(cell)) != cell}
    if exact:
        cells = [exact.get(cell, cell) for cell in cells]
        texts = {cell for cell in cells if cell}
    unread = [cell for cell in texts if not _is_quantity(cell)]
    if not unread or len(unread) == len(texts):
        return list(cells), {}
    split = {cell: found for cell in unread if (found := _split(cell, is_time=is_time))}
    return [split[cell][0] if cell in split else cell for cell in cells], {c: end for c, (_, end) in split.items()}


def has_times(cells: Sequence[str]) -> bool:
    """Whether the numbers among the cells are mostly times by their own units."""
    read = [parsed for cell in set(cells) if cell and (parsed := read_cell(cell)) is not None]
    times = [one for one in read if isinstance(one, Clock) or (isinstance(one, Quantity) and one.families == {TIME})]
    return bool(times) and 2 * len(times) > len(read)


def _split(cell: str, *, is_time: bool) -> tuple[str, RunEnd] | None:
    text = fold(cell)
    if (more := _MORE.fullmatch(text)) and _is_quantity(rest := more[1] or more[2]):
        return (rest, RunEnd(Outcome.TIMEOUT, f"took longer than {rest}")) if is_time else None
    end = read_word(cell)
    if end is None or end is GOOD:
        return None
    if end is OPEN:
        return "", OPEN
    words = [word for word in _JOINING.sub(" ", text).split() if read_word(word) is None and word not in ("out", "of")]
    rest = " ".join(words)
    if not rest:
        return "", end
    return (rest if is_time else "", end) if _is_quantity(rest) else None


def _without_spread(cell: str) -> str:
    """The number alone of `12.3 ± 0.4` and `~12 min`."""
    found = _ABOUT.sub("", _SPREAD.sub(r"\1\2", cell)).strip()
    return found if found != cell and _is_quantity(found) else cell


def _is_quantity(text: str) -> bool:
    """Whether it is a number, alone or with a unit; `7200 killed` is not."""
    read = read_cell(text)
    return isinstance(read, Clock) or (isinstance(read, Quantity) and read.families <= _FAMILIES)


def longest_tie(times: Mapping[int, float]) -> tuple[int, float] | None:
    """How many runs took exactly the longest time, if so many did that a limit may have stopped them."""
    values = list(times.values())
    longest = max(values, default=0.0)
    count = values.count(longest)
    others = max((values.count(value) for value in set(values) if value != longest), default=0)
    return (count, longest) if count >= _SUSPICIOUS and count > others and others else None
