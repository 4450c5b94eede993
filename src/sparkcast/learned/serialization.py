"""The plain content of a model file: a tree in JSON, and its arrays as members in numpy's own format.

It holds dataclasses, enumerations, tuples, lists, dictionaries, numbers, strings and arrays, so that reading needs
numpy and nothing else. In the JSON a list stands for a tuple, and an object with one name for anything that JSON does
not have: `{"type": "module.Class", "fields": {...}}`, `{"enum": ["module.Class", "NAME"]}`, `{"array": 0}`,
`{"number": ["int64", 3]}`, `{"list": [...]}`, `{"dict": [[key, value], ...]}`.

Nothing of a file is built before the names of all its types were looked at, and no constructor ever runs.
"""

import io
import json
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from importlib import import_module
from typing import Any

from sparkcast.arrays import Array
from sparkcast.errors import StudyError

TREE = "content.json"
_ARRAYS = "arrays/{}.npy"
_NUMBERS = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()
_FIT_AGAIN = "recreate it: sparkcast fit DATA --save FILE"
IsOurs = Callable[[str], bool]


class NotPlainError(Exception):
    """A value has no place in plain content, such as an estimator of scikit-learn."""


# ---------------------------------------------------------------- writing


def packed(value: Any, is_ours: IsOurs) -> bytes:
    """A zip with the content; raises NotPlainError when something in it has no place there."""
    writer = _Writer(is_ours)
    tree = writer.plain(value)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(TREE, json.dumps(tree))  # which writes every float so that it is read as the same one
        for number, array in enumerate(writer.arrays):
            archive.writestr(_ARRAYS.format(number), _npy(array))
    return buffer.getvalue()


def _npy(array: Array) -> bytes:
    stream, npy = io.BytesIO(), _npy_format()
    npy.write_array(stream, array, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


@dataclass(slots=True)
class _Writer:
    is_ours: IsOurs
    arrays: list[Array] = field(default_factory=list)
    _numbers: dict[int, int] = field(default_factory=dict)  # of arrays by their id: many parts share one

    def plain(self, value: Any) -> Any:
        import numpy as np

        kind = type(value)
        if value is None or kind in (bool, int, float, str):
            return value
        if kind is tuple:
            return [self.plain(item) for item in value]
        if kind is list:
            return {"list": [self.plain(item) for item in value]}
        if kind is dict:
            return {"dict": [[self.plain(key), self.plain(item)] for key, item in value.items()]}
        if kind is np.ndarray and not value.dtype.hasobject:
            return {"array": self._number_of(value)}
        if isinstance(value, np.generic) and value.dtype.name in _NUMBERS:
            return {"number": [value.dtype.name, value.item()]}
        name = f"{kind.__module__}.{kind.__qualname__}"
        if isinstance(value, Enum) and self.is_ours(name):
            return {"enum": [name, value.name]}
        if is_dataclass(value) and self.is_ours(name):
            return {"type": name, "fields": {f.name: self.plain(getattr(value, f.name)) for f in fields(value)}}
        raise NotPlainError(name)

    def _number_of(self, array: Array) -> int:
        if id(array) not in self._numbers:
            self._numbers[id(array)] = len(self.arrays)
            self.arrays.append(array)
        return self._numbers[id(array)]


# ---------------------------------------------------------------- reading


def is_plain(archive: zipfile.ZipFile) -> bool:
    return TREE in archive.namelist()


def type_names(archive: zipfile.ZipFile) -> set[str]:
    """Every type that the content names."""
    return set(_names_in(json.loads(archive.read(TREE))))


def unpacked(archive: zipfile.ZipFile, is_ours: IsOurs) -> Any:
    """What was packed; raises StudyError for content that was not written by `packed`."""
    return _Reader(archive, is_ours).value(json.loads(archive.read(TREE)))


def _names_in(tree: Any) -> Iterator[str]:
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if "type" in part:
                yield str(part["type"])
            if "enum" in part:
                yield str(part["enum"][0])
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)


@dataclass(slots=True)
class _Reader:
    archive: zipfile.ZipFile
    is_ours: IsOurs
    _arrays: dict[int, Array] = field(default_factory=dict)

    def value(self, tree: Any) -> Any:
        if isinstance(tree, list):
            return tuple(self.value(item) for item in tree)
        if not isinstance(tree, dict):
            return tree
        if set(tree) == {"type", "fields"}:
            return self._dataclass(tree["type"], tree["fields"])
        if len(tree) != 1:
            raise _no_content(f"a part has {', '.join(sorted(tree))}")
        [(kind, content)] = tree.items()
        if kind == "list":
            return [self.value(item) for item in content]
        if kind == "dict":
            return {self.value(key): self.value(item) for key, item in content}
        if kind == "array":
            return self._array(content)
        if kind == "number":
            return _number(*content)
        if kind == "enum":
            return self._class(content[0], Enum)[content[1]]
        raise _no_content(f"a part is {kind!r}")

    def _dataclass(self, name: str, attributes: Mapping[str, Any]) -> Any:
        made = self._class(name, object)
        if _field_names(made) != set(attributes):
            raise _no_content(f"{name} has different fields in this version of sparkcast")
        found: Any = object.__new__(made)
        for attribute, tree in attributes.items():
            object.__setattr__(found, attribute, self.value(tree))  # most of them are frozen
        return found

    def _class(self, name: str, base: type) -> Any:
        if not self.is_ours(name):
            raise _no_content(f"{name} is not part of a model")
        module, _, attribute = name.rpartition(".")
        found = getattr(import_module(module), attribute)
        if not issubclass(found, base):
            raise _no_content(f"{name} is of a different kind")
        return found

    def _array(self, number: int) -> Array:
        if number not in self._arrays:
            self._arrays[number] = _read_array(self.archive.read(_ARRAYS.format(int(number))))
        return self._arrays[number]


def _read_array(content: bytes) -> Array:
    """An array that is as large as it says: a header alone may ask for any amount of memory."""
    stream, npy = io.BytesIO(content), _npy_format()
    if npy.read_magic(stream) != (1, 0):
        raise _no_content("an array is in another format")
    shape, _, dtype = npy.read_array_header_1_0(stream)
    is_whole = math.prod(shape) * dtype.itemsize == len(content) - stream.tell()
    if dtype.hasobject or not dtype.itemsize or not is_whole:
        raise _no_content("an array does not match its description")
    stream.seek(0)
    array: Array = npy.read_array(stream, allow_pickle=False)
    return array


def _field_names(made: Any) -> set[str] | None:
    return {f.name for f in fields(made)} if is_dataclass(made) else None


def _number(kind: str, value: Any) -> Any:
    import numpy as np

    if kind not in _NUMBERS or type(value) not in (bool, int, float):
        raise _no_content(f"{value!r} is not a number")
    return np.dtype(kind).type(value)


def _npy_format() -> Any:  # numpy says nothing of its types
    import numpy as np

    return np.lib.format


def _no_content(reason: str) -> StudyError:
    return StudyError(f"the content of the model file cannot be read: {reason}", hint=_FIT_AGAIN)
