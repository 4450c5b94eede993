"""Text that fits a width: sentences, tables, shell commands. Words are never broken; nothing is printed here.

A table that is too wide gives way in this order: headings run over several lines, columns move together, those
declared optional go, texts run over several lines, and at last each row becomes a block of `name: value` lines.
"""

import re
import textwrap
from collections.abc import Sequence

_GAP, _SMALL_GAP = 3, 2  # between columns
_NARROWEST = 16  # a column of text that runs over several lines

# A number stays with its unit, and `p < 0.001` whole.
_GLUE = "\x00"
_UNIT = re.compile(r"(\d) (%|ms|s|min|h|d|MiB|GiB|TiB)(?=[\s,.;:)]|$)")
_EQUAL = re.compile(r"(\b\w{1,2}) ([=<>]) (?=[-\d])")


def wrapped(text: str, width: int, hang: str = "  ") -> list[str]:
    """Lines of at most `width`; a line keeps its own indentation, and what runs over hangs by `hang` more."""
    lines: list[str] = []
    for line in text.split("\n"):
        own = line[: len(line) - len(line.lstrip(" "))]
        lines += _filled(line[len(own) :], width, own, own + hang) or [""]
    return lines


def _filled(text: str, width: int, first: str, rest: str) -> list[str]:
    lines = textwrap.wrap(
        _glued(text),
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,  # a path or a --conf line that is longer stands alone
        break_on_hyphens=False,
    )
    return [line.replace(_GLUE, " ") for line in lines]


def _glued(text: str) -> str:
    return _UNIT.sub(rf"\1{_GLUE}\2", _EQUAL.sub(rf"\1{_GLUE}\2{_GLUE}", text))


def shell_lines(command: str, width: int, indent: str = "") -> list[str]:
    """A shell command over several lines, each but the last ending in a backslash, so that it can be pasted."""
    lines, rest = [indent], indent + "    "
    for word in _words_of(command):
        begun = lines[-1].strip()
        if begun and len(lines[-1]) + 1 + len(word) > width - 2:
            lines.append(rest)
            begun = ""
        lines[-1] += f" {word}" if begun else word
    return [f"{line} \\" for line in lines[:-1]] + lines[-1:]


def _words_of(command: str) -> list[str]:
    """Words of a shell command, quotes kept, an option with its value as one."""
    plain = re.findall(r"""(?:[^\s"']|"[^"]*"|'[^']*')+""", command)
    words: list[str] = []
    for word in plain:
        if words and re.fullmatch(r"--?[\w-]+", words[-1]) and not word.startswith("-"):
            words[-1] += f" {word}"
        else:
            words.append(word)
    return words


def table_lines(
    title: str, header: Sequence[str], rows: Sequence[Sequence[object]], width: int, optional: Sequence[str] = ()
) -> list[str]:
    """A table; columns that hold only numbers are aligned right."""
    cells = [[" ".join(str(cell).split()) for cell in row] for row in rows]
    widths, dropped = _widths(header, cells), list[str]()
    droppable, gap = [header.index(name) for name in optional if name in header], _GAP
    if _total(widths, gap) > width:
        widths = _with_wrapped_headings(header, cells)
    if _total(widths, gap) > width:
        gap = _SMALL_GAP
    while _total(widths, gap) > width and droppable:
        gone = droppable.pop()
        dropped.insert(0, header[gone])
        del widths[gone]
    widths = _narrowed(widths, header, cells, width, gap)
    lines = wrapped(title, width) if title else []
    if _total(widths, gap) > width:
        return lines + _stacked(header, cells, list(widths), width) + _left_out(dropped, width)
    is_number = {i: bool(cells) and all(_is_number(row[i]) for row in cells) for i in widths}
    lines += _row([header[i] for i in widths], widths, is_number, gap)
    lines.append("─" * _total(widths, gap))
    for row in cells:
        lines += _row([row[i] for i in widths], widths, is_number, gap)
    return lines + _left_out(dropped, width)


def _left_out(dropped: Sequence[str], width: int) -> list[str]:
    return wrapped(f"(not shown at this width: {', '.join(dropped)})", width) if dropped else []


def _total(widths: dict[int, int], gap: int) -> int:
    return sum(widths.values()) + gap * (len(widths) - 1)


def _widths(header: Sequence[str], cells: Sequence[Sequence[str]]) -> dict[int, int]:
    """By number of the column."""
    return {i: max(len(name), *(len(row[i]) for row in cells), 1) for i, name in enumerate(header)}


def _with_wrapped_headings(header: Sequence[str], cells: Sequence[Sequence[str]]) -> dict[int, int]:
    return {i: max(_longest_word(name), *(len(row[i]) for row in cells), 1) for i, name in enumerate(header)}


def _narrowed(
    widths: dict[int, int], header: Sequence[str], cells: Sequence[Sequence[str]], width: int, gap: int
) -> dict[int, int]:
    """Take from the widest columns of text what is too much, as far as words allow."""
    widths = dict(widths)
    least = {
        i: max(min(widths[i], _NARROWEST), _longest_word(header[i]), *(_longest_word(row[i]) for row in cells), 1)
        for i in widths
    }
    while _total(widths, gap) > width:
        wide = [i for i in widths if widths[i] > least[i]]
        if not wide:
            break
        widths[max(wide, key=lambda i: widths[i])] -= 1
    return widths


def _longest_word(text: str) -> int:
    return max((len(word) for word in _glued(text).split()), default=0)


def _row(cells: Sequence[str], widths: dict[int, int], is_number: dict[int, bool], gap: int) -> list[str]:
    columns = [_filled(cell, widths[i], "", "") or [""] for cell, i in zip(cells, widths, strict=True)]
    lines = []
    for at in range(max(map(len, columns))):
        parts = [column[at] if at < len(column) else "" for column in columns]
        aligned = [
            part.rjust(widths[i]) if is_number[i] else part.ljust(widths[i])
            for part, i in zip(parts, widths, strict=True)
        ]
        lines.append((" " * gap).join(aligned).rstrip())
    return lines


def _stacked(header: Sequence[str], cells: Sequence[Sequence[str]], columns: Sequence[int], width: int) -> list[str]:
    lines: list[str] = []
    for row in cells:
        first, *others = columns
        lines += wrapped(f"{header[first]}: {row[first]}", width)
        for i in others:
            lines += wrapped(f"  {header[i]}: {row[i]}", width) if row[i] else []
    return lines


def _is_number(text: str) -> bool:
    return not text or text in ("-", "–") or text[0].isdigit() or (text[0] in "-<+" and len(text) > 1)
