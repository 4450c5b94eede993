"""Published studies, done again: a paper's numbers beside ours, and its mistakes beside what is true.

One sub-package per paper, one module per part of it; both join by being there.
"""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from sparkcast.registry import Registry


class Verdict(StrEnum):
    AGREES = "agrees"
    DIFFERS = "differs"
    SHOWN = "shown"  # nothing to hold it against, or the other number comes from other data


@dataclass(frozen=True, slots=True)
class Row:
    """One number. It agrees when ours, rounded to the digits that were printed, is the printed one."""

    item: str
    quantity: str
    printed: str  # with the digits it was printed with; "" where there is none
    expected: float | None
    ours: float | None  # None where the paper is only repeated
    difference: float | None  # ours less the expected
    verdict: Verdict
    rule: str  # how they were compared


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    source: str  # where the printed numbers stand
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()  # why rows differ or could not be held against anything


@dataclass(frozen=True, slots=True)
class Figure:
    """A number that demonstrates a mistake: what the paper has, and what is right; None where there is no number."""

    what: str
    paper: float | None
    right: float | None


@dataclass(frozen=True, slots=True)
class Mistake:
    number: int
    says: str
    truth: str
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True, slots=True)
class Findings:
    """What one part of a replication gives."""

    sections: tuple[Section, ...]
    mistakes: tuple[Mistake, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Replicated:
    paper: str
    title: str
    parts: tuple[str, ...]  # those that were done
    known_parts: tuple[str, ...]  # those that could be
    sections: tuple[Section, ...]
    mistakes: tuple[Mistake, ...]
    notes: tuple[str, ...]
    counts: dict[Verdict, int]
    agrees: bool  # no number differs


class Part(Protocol):
    """A part of a paper that can be done by itself."""

    def run(self, data: Path | None) -> Findings:
        """`data` is where the authors' measurements lie; None when only what the paper prints is at hand."""
        ...


class Replication(Protocol):
    """A paper."""

    title: str
    parts: Registry[Part]


REPLICATIONS: Registry[Replication] = Registry("replication", __name__)


def replicate(paper: str, part: str | None = None, data: Path | None = None) -> Replicated:
    """Do a paper's calculations again; all its parts unless one is named."""
    replication = REPLICATIONS.get(paper)
    registry = replication.parts
    known = registry.names()
    chosen = known if part is None else (part,)
    found = [registry.get(name)().run(data) for name in chosen]
    sections = tuple(section for findings in found for section in findings.sections)
    mistakes = sorted((m for findings in found for m in findings.mistakes), key=lambda mistake: mistake.number)
    verdicts = [row.verdict for section in sections for row in section.rows]
    return Replicated(
        paper=paper,
        title=replication.title,
        parts=chosen,
        known_parts=known,
        sections=sections,
        mistakes=tuple(mistakes),
        notes=tuple(dict.fromkeys(note for findings in found for note in findings.notes)),
        counts={verdict: verdicts.count(verdict) for verdict in Verdict},
        agrees=Verdict.DIFFERS not in verdicts,
    )
