"""Published studies, done again: a paper's numbers beside ours, and its mistakes beside what is true.

What a replication is, for whoever writes one. The papers themselves are packages of their own that join through the
entry points `sparkcast.replications`; those that come with sparkcast are in `sparkcast_papers`.

Printed numbers are kept as text, for their digits are the tolerance.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sparkcast.display import Displayed, frame_of, plain_row
from sparkcast.errors import StudyError
from sparkcast.registry import Registry

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "MOST_DIGITS",
    "REPLICATIONS",
    "Agreement",
    "CorrectedFigure",
    "Mistake",
    "NeedsMeasurements",
    "PaperPart",
    "PartResult",
    "Replicated",
    "Replication",
    "Row",
    "Section",
    "at_digits",
    "compare",
    "data_file",
    "replicate",
    "show",
]

# Further digits depend on the order in which a machine adds, so that no two libraries share them.
MOST_DIGITS = 12


class NeedsMeasurements(StudyError):
    """A part can do nothing without --data."""


class Agreement(StrEnum):
    AGREES = "agrees"
    DIFFERS = "differs"
    SHOWN = "shown"  # nothing to hold it against, or the other number comes from other data


@dataclass(frozen=True, slots=True)
class Row:
    """One number. It agrees when ours, rounded to the digits that were printed, is the printed one."""

    item: str
    quantity: str
    printed: str  # in the paper, with its digits; "" where it prints none
    expected: float | None
    ours: float | None  # None where the paper is only repeated
    difference: float | None  # ours less the expected
    verdict: Agreement
    rule: str  # how they were compared
    reference: str = ""  # what ours is compared with, where no paper prints it

    @property
    def compared(self) -> str:
        """The number that ours is compared with, with its digits."""
        return self.printed or self.reference


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    source: str  # where the numbers to compare with come from
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()  # why rows differ or could not be held against anything
    is_printed: bool = True  # whether a paper prints them; else somebody else computed them, or there are none
    is_synthetic: bool = False  # whether ours come from generated runs, which agree with nothing that was measured

    def __post_init__(self) -> None:
        if not self.is_printed:
            moved = tuple(replace(row, printed="", reference=row.compared) for row in self.rows)
            object.__setattr__(self, "rows", moved)


@dataclass(frozen=True, slots=True)
class CorrectedFigure:
    """A number that demonstrates a mistake: what the paper has, and what is right; None where there is no number."""

    what: str
    paper: float | None
    right: float | None


@dataclass(frozen=True, slots=True)
class Mistake:
    number: int
    says: str
    truth: str
    figures: tuple[CorrectedFigure, ...] = ()


@dataclass(frozen=True, slots=True)
class PartResult:
    """What one part of a replication gives."""

    sections: tuple[Section, ...]
    mistakes: tuple[Mistake, ...] = ()
    notes: tuple[str, ...] = ()
    headlines: tuple[str, ...] = ()  # what to know first, in words: shown without --details too


@dataclass(frozen=True, slots=True)
class Replicated(Displayed):
    paper: str
    title: str
    parts: tuple[str, ...]  # those that were done
    known_parts: tuple[str, ...]  # those that could be
    sections: tuple[Section, ...]
    mistakes: tuple[Mistake, ...]
    notes: tuple[str, ...]
    counts: dict[Agreement, int]  # of measured and printed figures
    agrees: bool  # no number differs
    headlines: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()  # parts that need the authors' measurements
    synthetic_counts: dict[Agreement, int] = field(default_factory=dict)  # of generated runs; empty without any

    def frame(self) -> "pd.DataFrame":
        """A row for each number: the paper's, ours, and whether they agree."""
        return frame_of(
            {"section": section.title, **plain_row(row)} for section in self.sections for row in section.rows
        )


class PaperPart(Protocol):
    """A part of a paper that can be done by itself."""

    def run(self, data: Path | None) -> PartResult:
        """`data` is where the authors' measurements lie; None when only what the paper prints is at hand.

        Raises NeedsMeasurements when that is not enough: the part is then left out unless it was named.
        """
        ...


class Replication(Protocol):
    """A paper."""

    title: str
    parts: Registry[PaperPart]


REPLICATIONS: Registry[Replication] = Registry("replication")


def replicate(paper: str, part: str | None = None, data: Path | None = None) -> Replicated:
    """Do a paper's calculations again; all its parts that `data` allows, unless one is named."""
    replication = REPLICATIONS.get(paper)
    registry = replication.parts
    known = registry.names()
    done: dict[str, PartResult] = {}
    left_out: dict[str, NeedsMeasurements] = {}
    for name in known if part is None else (part,):
        try:
            done[name] = registry.get(name)().run(data)
        except NeedsMeasurements as needs:
            left_out[name] = needs
    if not done:
        raise next(iter(left_out.values()))
    found = list(done.values())
    sections = tuple(section for findings in found for section in findings.sections)
    mistakes = sorted((m for findings in found for m in findings.mistakes), key=lambda mistake: mistake.number)
    measured = _verdicts(section for section in sections if not section.is_synthetic)
    synthetic = _verdicts(section for section in sections if section.is_synthetic)
    notes = [note for findings in found for note in findings.notes]
    notes += [f"part {name} was left out: {needs.problem}: {needs.hint}" for name, needs in left_out.items()]
    return Replicated(
        paper=paper,
        title=replication.title,
        parts=tuple(done),
        known_parts=known,
        sections=sections,
        mistakes=tuple(mistakes),
        notes=tuple(dict.fromkeys(notes)),
        counts=_counts(measured),
        agrees=Agreement.DIFFERS not in (*measured, *synthetic),
        headlines=tuple(headline for findings in found for headline in findings.headlines),
        left_out=tuple(left_out),
        synthetic_counts=_counts(synthetic) if synthetic else {},
    )


def _counts(verdicts: list[Agreement]) -> dict[Agreement, int]:
    return {verdict: verdicts.count(verdict) for verdict in Agreement}


def _verdicts(sections: Iterable[Section]) -> list[Agreement]:
    return [row.verdict for section in sections for row in section.rows]


def compare(item: str, quantity: str, printed: str, ours: float, *, digits: int = MOST_DIGITS) -> Row:
    """The row of a number that should be met: ours is rounded to the digits that were printed, `digits` at most.

    >>> compare("nodes", "F", "0.811084", 0.8110843).verdict, compare("nodes", "F", "0.811", 0.8118).verdict
    (<Agreement.AGREES: 'agrees'>, <Agreement.DIFFERS: 'differs'>)
    """
    count = len(Decimal(printed).as_tuple().digits)
    rule = f"{count} printed digit{'s' * (count > 1)}" if count <= digits else f"first {digits} of {count} digits"
    same = at_digits(printed, ours, digits) == at_digits(printed, float(printed), digits)
    return _row(item, quantity, printed, ours, Agreement.AGREES if same else Agreement.DIFFERS, rule)


def show(item: str, quantity: str, ours: float | None, printed: str = "") -> Row:
    """The row of a number that is shown only."""
    return _row(item, quantity, printed, ours, Agreement.SHOWN, "not compared" if printed else "no printed number")


def at_digits(printed: str, value: float, digits: int = MOST_DIGITS) -> str:
    """A value with as many decimals as a printed number has.

    >>> at_digits("0.535950", 0.53594987), at_digits("7.2e-03", 0.0072459)
    ('0.535950', '0.0072')
    """
    if not math.isfinite(value):
        return str(value)
    _, own, exponent = Decimal(printed).as_tuple()
    assert isinstance(exponent, int)
    surplus = max(0, len(own) - digits)
    with localcontext(prec=400):
        return str(Decimal(value).quantize(Decimal(1).scaleb(exponent + surplus)))


def _row(item: str, quantity: str, printed: str, ours: float | None, verdict: Agreement, rule: str) -> Row:
    expected = float(printed) if printed else None
    value = None if ours is None else float(ours)
    difference = None if expected is None or value is None else value - expected
    return Row(item, quantity, printed, expected, value, difference, verdict, rule)


def data_file(data: Path, name: str) -> Path:
    """A file in the folder that was named with --data: measurements are the authors', never part of a package."""
    if not data.is_dir():
        raise StudyError(f"`data=` {str(data)!r} is not a folder", hint=f"pass the folder that contains {name}")
    path = data / name
    if not path.is_file():
        raise StudyError(f"there is no file {name!r} in {str(data)!r}", hint=f"pass the folder that contains {name}")
    return path
