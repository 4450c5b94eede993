"""Rows that are held against a number with a tolerance, each of which says that its data are synthetic."""

import dataclasses
from collections.abc import Sequence

from sparkcast.replications import Agreement, Row, Section, compare, show
from sparkcast_papers.myung2020._generate import Runs


def near(item: str, quantity: str, expected: str, ours: float, within: float) -> Row:
    """Agrees when ours is within so much of the expected number."""
    is_near = abs(ours - float(expected)) <= within
    return _judged(show(item, quantity, ours, expected), is_near, f"within {within:g}")


def at_least(item: str, quantity: str, expected: str, ours: float) -> Row:
    return _judged(show(item, quantity, ours, expected), ours >= float(expected), "at least")


def no_worse(item: str, quantity: str, expected: str, ours: float, within: float) -> Row:
    """Agrees when ours is better, or less than so much worse."""
    return _judged(show(item, quantity, ours, expected), ours >= float(expected) - within, f"at most {within:g} less")


def noisy(item: str, quantity: str, ours: float, printed: str = "") -> Row:
    """A network's number: it depends on where its training began."""
    return dataclasses.replace(show(item, quantity, ours, printed), rule="not compared: mlp is noisy")


def section(origin: Runs | str, title: str, source: str, rows: Sequence[Row], notes: Sequence[str] = ()) -> Section:
    """A section whose title and rows name where its runs come from."""
    words = origin if isinstance(origin, str) else origin.origin
    is_synthetic = isinstance(origin, str) or origin.is_synthetic
    told = [dataclasses.replace(row, rule=f"synthetic; {row.rule}") if is_synthetic else row for row in rows]
    is_printed = "independently" not in source
    return Section(f"{title} [{words}]", source, tuple(told), tuple(notes), is_printed, is_synthetic)


def _judged(row: Row, is_right: bool, rule: str) -> Row:
    return dataclasses.replace(row, verdict=Agreement.AGREES if is_right else Agreement.DIFFERS, rule=rule)


__all__ = ["at_least", "compare", "near", "no_worse", "noisy", "section", "show"]
