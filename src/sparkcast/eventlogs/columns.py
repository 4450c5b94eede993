"""Typed columns that only grow: numbers packed as narrow as they fit, texts as codes.

A million tasks have forty million numbers. Most are small or zero, so a chunk of rows is kept in the narrowest integers
that hold it; whoever asks for a column gets 64-bit integers, with which arithmetic is safe.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

_LEAST, _MOST = -(2**63), 2**63 - 1
# What one unit of a column is in seconds, by the ending of its name.
_SECONDS = {"_ms": 1e-3, "_ns": 1e-9}


@dataclass(frozen=True, slots=True)
class ColumnTable:
    """Columns of equal length: `numbers` by name, and `texts` by name as codes into `words`.

    Names end in their unit: `_ms` and `_ns` (Spark mixes both), `_bytes`. Times of day are milliseconds since the Unix
    epoch, 0 where the log tells none; ids are -1 where it tells none; other numbers that are missing are 0.
    """

    numbers: Mapping[str, NDArray[np.signedinteger[Any]]]
    texts: Mapping[str, NDArray[np.signedinteger[Any]]]
    words: Mapping[str, tuple[str, ...]]

    def __len__(self) -> int:
        return next((len(column) for column in self.numbers.values()), 0)

    def __contains__(self, name: object) -> bool:
        return name in self.numbers or name in self.texts

    def __iter__(self) -> Iterator[str]:
        return iter((*self.numbers, *self.texts))

    def __getitem__(self, name: str) -> Integers:
        """A column of numbers as 64-bit integers; of a column of texts its codes (see `words`)."""
        column = self.numbers[name] if name in self.numbers else self.texts[name]
        return column.astype(np.int64)

    def flags(self, name: str) -> Flags:
        return np.asarray(self.numbers[name] != 0, dtype=np.bool_)

    def seconds(self, name: str) -> NDArray[np.float64]:
        """A column whose name ends in `_ms` or `_ns`, in seconds."""
        return self.numbers[name].astype(np.float64) * _SECONDS[name[-3:]]

    def text(self, name: str) -> NDArray[np.object_]:
        """A column of texts, spelled out."""
        words = np.array(self.words[name] or ("",), dtype=object)
        return np.asarray(words[self.texts[name]], dtype=object)

    def total(self, name: str) -> int:
        """The exact sum of a column of numbers."""
        column = self.numbers[name]
        if abs(float(column.sum(dtype=np.float64))) < 2**62 and abs(float(column.max(initial=0))) < 2**62:
            return int(column.sum(dtype=np.int64))
        return sum(column.tolist())  # nonsense in the log; Python's integers do not overflow

    def where(self, rows: Flags | Integers) -> "ColumnTable":
        """The rows chosen by a mask or by their positions."""
        return ColumnTable(
            {name: column[rows] for name, column in self.numbers.items()},
            {name: column[rows] for name, column in self.texts.items()},
            self.words,
        )

    def frame(self) -> Any:
        """The table as a pandas DataFrame."""
        import pandas as pd

        columns: dict[str, Any] = {name: self[name] for name in self.numbers}
        for name, codes in self.texts.items():
            columns[name] = pd.Categorical.from_codes(codes, categories=pd.Index(self.words[name]))
        return pd.DataFrame(columns)


class TextCodes:
    """Texts numbered in the order in which they come. `codes` is a plain dict, into which the hot path looks first."""

    def __init__(self, most: int = 1_000_000, longest: int = 500) -> None:
        self.codes: dict[str, int] = {}
        self._most, self._longest = most, longest

    def code(self, word: str) -> int:
        return self.codes[self.kept(word)]

    def kept(self, word: str) -> str:
        """Give a word its number, and say as what it has one: long ones are cut."""
        word = word[: self._longest]
        if word not in self.codes and len(self.codes) >= self._most:
            word = "(others)"  # no log has so many: one made to fill the memory
        self.codes.setdefault(word, len(self.codes))
        return word


class Growing:
    """Rows on their way into a ColumnTable: packed one by one, and turned into columns some thousand at a time."""

    def __init__(self, numbers: Sequence[str], texts: Sequence[str]) -> None:
        self._names = (*numbers, *texts)
        self._n_numbers = len(numbers)
        self.words = tuple(TextCodes() for _ in texts)
        # The hot path packs each row at once, numbers before the codes of texts, and appends it to `packed`: thousands
        # of rows of Python's integers fill the processor's cache.
        self.pack = struct.Struct(f"{len(self._names)}q").pack
        self.packed: list[bytes] = []
        self._n_in_columns = 0
        self._chunks: list[list[NDArray[np.signedinteger[Any]]]] = []

    @property
    def n_rows(self) -> int:
        return self._n_in_columns + len(self.packed)

    def add(self, numbers: Sequence[int], texts: Sequence[str]) -> None:
        """One row."""
        codes = (words.code(text) for words, text in zip(self.words, texts, strict=True))
        self.packed.append(self.pack(*map(clamped, numbers), *codes))

    def turn(self) -> None:
        """Make columns of the rows that are packed, each as narrow as it can be."""
        if not self.packed:
            return
        rows = np.frombuffer(b"".join(self.packed), np.int64).reshape(-1, len(self._names))
        self._n_in_columns = self.n_rows
        self.packed.clear()
        columns = zip(rows.T, rows.min(axis=0).tolist(), rows.max(axis=0).tolist(), strict=True)
        self._chunks.append([column.astype(_narrowest(*reach)) for column, *reach in columns])

    def table(self) -> ColumnTable:
        self.turn()
        columns = {}
        for place, name in enumerate(self._names):
            parts = [chunk[place] for chunk in self._chunks]
            columns[name] = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int8)
            for chunk in self._chunks:  # free as we go: never two copies of everything
                chunk[place] = columns[name][:0]
        self._chunks.clear()
        numbers, texts = self._names[: self._n_numbers], self._names[self._n_numbers :]
        return ColumnTable(
            {name: columns[name] for name in numbers},
            {name: columns[name] for name in texts},
            {name: tuple(words.codes) for name, words in zip(texts, self.words, strict=True)},
        )


def clamped(value: int) -> int:
    """The nearest 64-bit integer."""
    return min(max(value, _LEAST), _MOST)


def _narrowest(least: int, most: int) -> type[np.signedinteger[Any]]:
    for kind, bits in ((np.int8, 7), (np.int16, 15), (np.int32, 31)):
        if -(1 << bits) <= least and most < 1 << bits:
            return kind
    return np.int64
