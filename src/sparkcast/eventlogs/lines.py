"""Pieces of a log to blocks of whole lines; lines of any length cannot fill the memory."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class LineBlock(NamedTuple):
    """Whole lines within `data`: not cut out of it, because copying all of a log takes time."""

    data: bytes
    start: int
    end: int


class Lines:
    """Iterate for blocks of whole lines. `too_long` tells how many lines were dropped for their length."""

    def __init__(self, pieces: Iterable[bytes], max_line_bytes: int) -> None:
        self._pieces = pieces
        self._most = max_line_bytes
        self._begun: list[bytes] = []  # of a line whose end has not come yet
        self._is_dropping = False
        self.too_long = 0

    def __iter__(self) -> Iterator[LineBlock]:
        size = 0
        for piece in self._pieces:
            cut = piece.rfind(b"\n") + 1
            if not cut:
                size += len(piece)
                if not self._is_dropping:
                    self._begun.append(piece)
                    self._drop_if(size > self._most)
                continue
            start, begun = 0, self._begun
            if begun or self._is_dropping:
                start = piece.find(b"\n") + 1
            rest = piece[cut:]
            self._begun, size = ([rest], len(rest)) if rest else ([], 0)
            if begun:
                line = b"".join((*begun, piece[:start]))
                yield LineBlock(line, 0, len(line))
            self._is_dropping = False
            if start < cut:
                yield LineBlock(piece, start, cut)

    def _drop_if(self, is_too_long: bool) -> None:
        if is_too_long:
            self._is_dropping = True
            self._begun = []
            self.too_long += 1

    def rest(self) -> bytes:
        """What came after the last line break: a whole line, or one that was cut off."""
        return b"".join(self._begun)
