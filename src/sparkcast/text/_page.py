"""What is told about a result, before it is known for how wide a page and for whom: at a shell or in Python."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sparkcast.study.redaction import redact_text
from sparkcast.text._layout import shell_lines, table_lines, wrapped

Words = Callable[[str], str]  # of a text that names arguments as Python writes them, what its reader types

_LABELS = 13  # columns at least before the text of a labeled line
_LONG_LABEL = 25  # the name of a response from this length on moves no text but its own


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together, for any width."""

    lines: Callable[[int, Words], list[str]]
    is_note: bool = False  # a remark beside the answer: commands print it on stderr


class Page:
    """Blocks in the order in which they are told. Secrets are taken out of all of them."""

    def __init__(self, *, details: bool = False) -> None:
        self.details = details
        self.blocks: list[Block] = []

    def tell(self, text: str, hang: str = "  ") -> None:
        """Sentences, wrapped between words."""
        self._add(lambda width, words: wrapped(_clean(text, words), width, hang))

    def say(self, text: str) -> None:
        """A remark beside the answer."""
        self.blocks.append(Block(lambda width, words: wrapped(_clean(text, words), width), is_note=True))

    def labeled(self, inner: Sequence[tuple[str, str]], outer: Sequence[tuple[str, str]] = ()) -> None:
        """Labels with what they stand for, in two columns; the inner ones are indented."""
        pairs = [(f"  {label}", text) for label, text in inner] + [*outer]
        self._add(lambda width, words: list(_labeled(pairs, width, words)))

    def table(
        self, title: str, header: Sequence[str], rows: Sequence[Sequence[object]], optional: Sequence[str] = ()
    ) -> None:
        """A table. Where it is too wide, columns in `optional` are left out, the last of them first."""

        def lines(width: int, words: Words) -> list[str]:
            cells = [[_clean(str(cell), words) for cell in row] for row in rows]
            return [*table_lines(words(title), header, cells, width, optional), ""]

        self._add(lines)

    def shell(self, label: str, command: str, *, below: bool = False) -> None:
        """A command to paste: beside its label, or below it in lines that end in a backslash."""
        command = redact_text(command)

        def lines(width: int, _: Words) -> list[str]:
            fits = not below and len(label) + 1 + len(command) <= width
            return [f"{label} {command}"] if fits else [label, *shell_lines(command, width, "  ")]

        self._add(lines)

    def verbatim(self, text: str) -> None:
        """What goes into a file or a shell as it stands."""
        self._add(lambda *_: [text])

    def options(self, label: str, given: Sequence[str]) -> None:
        """Options to paste into another command, each on its line."""
        clean = list(map(redact_text, given))
        self._add(lambda *_: [label, *(f"  {one} \\" for one in clean[:-1]), *(f"  {one}" for one in clean[-1:])])

    def text(self, width: int) -> str:
        """Everything, remarks included, as Python writes it."""
        lines = [line for block in self.blocks for line in block.lines(width, _as_it_is)]
        return "\n".join(lines).rstrip("\n")

    def _add(self, lines: Callable[[int, Words], list[str]]) -> None:
        self.blocks.append(Block(lines))


def _labeled(pairs: Sequence[tuple[str, str]], width: int, words: Words) -> Iterator[str]:
    column = max(_LABELS, *(len(label) + 2 for label, _ in pairs if len(label) < _LONG_LABEL))
    for label, text in pairs:
        first = f"{label} ".ljust(column)
        shown = wrapped(_clean(text, words), width - len(first), "")
        yield first + shown[0]
        yield from (" " * len(first) + line for line in shown[1:])


def _clean(text: str, words: Words) -> str:
    """Without passwords, tokens and keys, whoever wrote the text."""
    return words(redact_text(text))


def _as_it_is(text: str) -> str:
    return text
