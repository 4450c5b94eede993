"""Pieces of a log to its lines, many at a time; lines of any length cannot fill the memory."""

from collections.abc import Iterable, Iterator


class Lines:
    """Iterate for lists of whole lines. Afterwards `too_long` tells how many lines were dropped for their length."""

    def __init__(self, pieces: Iterable[bytes], max_line_bytes: int) -> None:
        self._pieces = pieces
        self._most = max_line_bytes
        self._begun: list[bytes] = []  # of a line whose end has not come yet
        self._dropping = False
        self.too_long = 0

    def __iter__(self) -> Iterator[list[bytes]]:
        size = 0
        for piece in self._pieces:
            cut = piece.rfind(b"\n")
            if cut < 0:
                size += len(piece)
                if self._dropping:
                    continue
                self._begun.append(piece)
                if size > self._most:
                    self._dropping = True
                    self._begun = []
                    self.too_long += 1
                continue
            lines = (b"".join((*self._begun, piece[:cut])) if self._begun else piece[:cut]).split(b"\n")
            rest = piece[cut + 1 :]
            self._begun, size = ([rest], len(rest)) if rest else ([], 0)
            if self._dropping:
                del lines[0]
                self._dropping = False
            yield lines

    def rest(self) -> bytes:
        """What came after the last line break: a whole line, or one that was cut off."""
        return b"" if self._dropping else b"".join(self._begun)
