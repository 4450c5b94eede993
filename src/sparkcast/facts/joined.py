"""A program may start several applications, one after the other or at once: what they are together."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from sparkcast.facts.application import AppFacts
from sparkcast.facts.responses import responses_of
from sparkcast.facts.shape import ClusterShape
from sparkcast.facts.span import Span
from sparkcast.study import TaskTotals
from sparkcast.study.application import (
    CORE_HOURS,
    GIB_HOURS,
    LAUNCH,
    PART_RESPONSES,
    STARTUP_TIME,
    TIME,
    TOTAL_TIME,
    Part,
)
from sparkcast.study.environment import is_local
from sparkcast.units import shortest_size

_FIRST = ("first_task_s", "first_job_s", "registered_s", "first_executor_s")  # moments of the totals, of which the
_LAST = ("last_job_s",)  # earliest or the latest counts


@dataclass(frozen=True)
class JoinedFacts:
    """The applications of one run, in the order in which they started; nearly always there is one."""

    applications: tuple[AppFacts, ...]

    @cached_property
    def span(self) -> Span:
        """From the first start to the last end."""
        spans = [one.span for one in self.applications]
        return Span(
            min(span.start_ms for span in spans),
            max(span.end_ms for span in spans),
            spans[0].submitted_ms,
            min((span.first_job_ms for span in spans if span.first_job_ms), default=0),
            max(span.last_job_ms for span in spans),
        )

    @cached_property
    def shape(self) -> ClusterShape:
        """Of the application that worked longest."""
        return max(self.applications, key=lambda one: one.span.time_s or 0.0).shape

    @property
    def different_shapes(self) -> str:
        """What each application had, in words, where they did not have the same; else ""."""
        found = dict.fromkeys(_shown(one.shape) for one in self.applications if one.span.time_s)
        return " and ".join(found) if len(found) > 1 else ""

    def responses(self) -> dict[str, float]:
        """Like those of one application: times from the first to the last, and sums of everything else."""
        each = [found for one in self.applications if (found := responses_of(one))]
        if len(self.applications) == 1 or not each:
            return each[0] if each else {}
        times = {TIME: self.span.time_s or 0.0, TOTAL_TIME: self.span.total_s, LAUNCH: self.span.launch_s}
        times[STARTUP_TIME] = (self.span.first_job_ms - (self.span.submitted_ms or self.span.start_ms)) / 1e3
        sums = {name: sum(found[name] for found in each) for name in each[0] if name not in PART_RESPONSES}
        held = [one.core_hours for one in self.applications]  # also by one that ran no Spark job
        paid = {CORE_HOURS: sum(one.paid for one in held), GIB_HOURS: sum(one.gib_hours for one in held)}
        return {**sums, **paid, **times, **self._parts()}

    def _parts(self) -> dict[str, float]:
        """They add up to the time from the first start to the last end: between applications only the driver works.

        Those of applications that lived at once share the time in which they did.
        """
        alive_s = _union_ms([(one.span.start_ms, one.span.end_ms) for one in self.applications]) / 1e3
        share = alive_s / sum(one.span.wall_s for one in self.applications)
        parts = {part.response: share * sum(one.parts[part] for one in self.applications) for part in Part}
        parts[Part.DRIVER_ONLY.response] += self.span.wall_s - alive_s
        return parts


def join_facts(applications: Sequence[AppFacts]) -> JoinedFacts | None:
    """The facts of a run; None without any."""
    return JoinedFacts(tuple(sorted(applications, key=lambda one: one.span.start_ms))) if applications else None


def join_totals(each: Sequence[TaskTotals]) -> TaskTotals | None:
    """Sums over all applications, and the first and last of their moments; None without any."""
    if not each:
        return None
    joined: dict[str, Any] = {}
    for name in (field.name for field in fields(TaskTotals)):
        values = [value for one in each if (value := getattr(one, name)) is not None]
        if name in (*_FIRST, *_LAST):
            joined[name] = (max if name in _LAST else min)(values, default=None)
        elif name == "master":  # one that ran on the cluster counts before one that the program kept to itself
            joined[name] = next((value for value in values if value and not is_local(value)), values[0])
        else:
            joined[name] = sum(values)
    return TaskTotals(**joined)


def _union_ms(intervals: Sequence[tuple[int, int]]) -> int:
    """How long at least one of them lasted.

    >>> _union_ms([(0, 10), (5, 12), (20, 30)])
    22
    """
    total, reached = 0, 0
    for start, end in sorted(intervals):
        total += max(end - max(start, reached), 0)
        reached = max(reached, end)
    return total


def _shown(shape: ClusterShape) -> str:
    executors = f"{shape.executors} executor{'s' * (shape.executors != 1)}"
    memory = f" and {shortest_size(shape.memory_bytes)}" if shape.memory_bytes else ""
    return f"{executors} with {shape.cores} core{'s' * (shape.cores != 1)}{memory} each"
