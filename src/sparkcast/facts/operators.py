"""What operators of SQL plans are called: by their kind and by what they work on, `SortMergeJoin customer_id`."""

import re
from collections.abc import Iterator

from sparkcast.eventlogs import PlanNode
from sparkcast.study.redaction import redact_text

_ID = re.compile(r"#\d+L?")  # that Spark gives to columns
_ORDER = re.compile(r" (?:ASC|DESC)(?: NULLS (?:FIRST|LAST))?")
_PARTITIONING = re.compile(r"(?:hash|range)partitioning\((.*), \d+\)")
_FUNCTION = re.compile(r"([A-Za-z_]\w*|<lambda>)\(")
_LOCATION = re.compile(r"\[([^\],]*)")  # InMemoryFileIndex(1 paths)[hdfs:/data/orders]
_KEYS = re.compile(r"keys=\[")
_MOST_COLUMNS, _LONGEST = 2, 60

NESTED_LOOPS = ("BroadcastNestedLoopJoin", "CartesianProduct")
SHUFFLED_JOINS = ("SortMergeJoin", "ShuffledHashJoin")
# What a pipeline is best called by, the first of these that it has.
_TELLING = (
    *(*NESTED_LOOPS, "BatchEvalPython", "ArrowEvalPython", "InPandas", "InArrow", "Python"),
    *("Execute ", "WriteFiles", "OverwriteByExpression", "AppendData"),
    *(*SHUFFLED_JOINS, "BroadcastHashJoin", "Window", "Generate", "Expand", "Aggregate", "TakeOrdered", "Sort"),
    *("InMemoryTableScan", "Scan", "Range", "Filter", "Exchange"),
)


def is_python(node: PlanNode) -> bool:
    """Whether it hands rows to Python workers."""
    return "EvalPython" in node.name or "InPandas" in node.name or "InArrow" in node.name


def rank(node: PlanNode) -> int:
    """How much its name says about the pipeline that it is in: the smallest says most."""
    return next((place for place, word in enumerate(_TELLING) if word in node.name), len(_TELLING))


def label(node: PlanNode) -> str:
    """An operator by kind and subject.

    >>> label(PlanNode("SortMergeJoin", "SortMergeJoin [customer_id#1L], [id#7L], Inner"))
    'SortMergeJoin customer_id'
    >>> label(PlanNode("Exchange", "Exchange hashpartitioning(k#3, 200), ENSURE_REQUIREMENTS, [plan_id=5]"))
    'Exchange k'
    """
    about = ", ".join(_shortened([*_subject(node)]))
    if not about or about in node.name:
        return redact_text(node.name)
    return redact_text(f"{node.name} {about}"[:_LONGEST])


def functions(node: PlanNode) -> list[str]:
    """The Python functions that an operator calls, by their names."""
    text = node.text.removeprefix(node.name).lstrip()
    listed = next(_lists(text), "") if text.startswith("[") else text.split(", [")[0]
    # What is inside of its parentheses is mostly Spark's own.
    found = (_FUNCTION.match(_ID.sub("", item)) for item in _items(listed))
    return list(dict.fromkeys(match[1] for match in found if match))


def plain(text: str) -> str:
    """Without the numbers that Spark gives to columns."""
    return _ID.sub("", text)


def _subject(node: PlanNode) -> Iterator[str]:
    text = node.text
    if is_python(node):
        yield from functions(node)
    elif node.is_scan:
        if match := _LOCATION.search(node.metadata.get("Location", "")):
            yield _last_of_path(match[1])
    elif "Exchange" in node.name:
        if match := _PARTITIONING.search(text):
            yield from (_ORDER.sub("", item) for item in _items(match[1]))
    elif node.name.startswith("Execute "):
        first = text.removeprefix(node.name).strip().split(",")[0]
        yield from [_last_of_path(first)] if "/" in first else []
    elif node.name in NESTED_LOOPS:
        yield condition(node)
    elif "Aggregate" in node.name:
        if match := _KEYS.search(text):
            yield from _items(next(_lists(text[match.end() - 1 :]), ""))
    elif "Join" in node.name or node.name in ("Sort", "Window"):
        lists = [*_lists(text)]
        which = 1 if node.name == "Window" and len(lists) > 1 else 0
        yield from (_ORDER.sub("", item) for item in _items(lists[which] if lists else ""))


def condition(node: PlanNode) -> str:
    """Of a nested-loop or cartesian join, what it compares each pair of rows by."""
    text = _ID.sub("", node.text.removeprefix(node.name).strip())
    place = text.find("(")
    return _without_outer(text[place:]) if place >= 0 else ""


def _without_outer(text: str) -> str:
    """`((a > b))` is a > b."""
    text = text.strip()
    while text.startswith("(") and text.endswith(")") and _closes_at(text) == len(text) - 1:
        text = text[1:-1]
    return text


def _closes_at(text: str) -> int:
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if depth == 0:
            return place
    return -1


def _lists(text: str) -> Iterator[str]:
    """What is in square brackets, the outermost ones."""
    start = text.find("[")
    while start >= 0:
        end = _closes_at(text[start:])
        if end < 0:  # cut off
            yield text[start + 1 :]
            return
        yield text[start + 1 : start + end]
        start = text.find("[", start + end)


def _items(text: str) -> Iterator[str]:
    """At the commas outside of parentheses."""
    depth, begun = 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            yield text[begun:place].strip()
            begun = place + 1
    if text[begun:].strip():
        yield text[begun:].strip()


def _shortened(items: list[str]) -> list[str]:
    items = [_ID.sub("", item) for item in items]
    return [*items[:_MOST_COLUMNS], "..."] if len(items) > _MOST_COLUMNS else items


def _last_of_path(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
