"""What findings about operators share: walking a plan, and the stages that an operator ran in."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sparkcast.eventlogs import PlanNode, SqlExecution
from sparkcast.facts.queries import StagePlan
from sparkcast.facts.stages import StageFacts
from sparkcast.profile.findings.base import Evidence

_ROWS = "number of output rows"


@dataclass(frozen=True)
class QueryPlan:
    """The last plan of one query."""

    query: SqlExecution

    @property
    def nodes(self) -> tuple[PlanNode, ...]:
        return self.query.plan

    @cached_property
    def children(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for place, node in enumerate(self.nodes):
            found.setdefault(node.parent, []).append(place)
        return found

    def below(self, place: int, *, until: str = "") -> Iterator[int]:
        """An operator and those below it; those below one whose name has `until` are left out."""
        waiting = [place]
        while waiting:
            place = waiting.pop()
            yield place
            if not until or until not in self.nodes[place].name:
                waiting += reversed(self.children.get(place, []))

    def rows(self, place: int) -> float | None:
        """That an operator gives: its own count, or that of the only one below it."""
        while True:
            told = self.nodes[place].value(_ROWS)
            below = self.children.get(place, [])
            if told is not None or len(below) != 1:
                return told
            place = below[0]


def plans(evidence: Evidence) -> Iterator[QueryPlan]:
    yield from (QueryPlan(query) for query in evidence.log.sql_executions if query.plan)


def stages_with(plan: QueryPlan, place: int, evidence: Evidence) -> list[StageFacts]:
    """The stages in which an operator ran."""
    return [stage for stage, told in stage_plans(plan, evidence) if place in told.places]


def stage_plans(plan: QueryPlan, evidence: Evidence) -> Iterator[tuple[StageFacts, StagePlan]]:
    for stage in evidence.stages:
        told = evidence.facts.plans.get(stage.key)
        if told is not None and told.query.execution_id == plan.query.execution_id:
            yield stage, told
