"""What really ran: from an event log to the facts of an application, which everybody asks for here.

from sparkcast.facts import facts_of
"""

from sparkcast.facts.application import AppFacts, PeakMemory, facts_of
from sparkcast.facts.attribution import Attribution
from sparkcast.facts.core_hours import CoreHours
from sparkcast.facts.queries import OperatorTime, QueryTime, QueryTimes
from sparkcast.facts.shape import ClusterShape, ExecutorCount, ProfileShape
from sparkcast.facts.span import Span
from sparkcast.facts.stages import StageFacts
from sparkcast.facts.timeline import Gap, JobSpan, Query, Timeline
from sparkcast.facts.volume import InputSource, Volume
from sparkcast.study.application import Part

__all__ = [
    "AppFacts",
    "Attribution",
    "ClusterShape",
    "CoreHours",
    "ExecutorCount",
    "Gap",
    "InputSource",
    "JobSpan",
    "OperatorTime",
    "Part",
    "PeakMemory",
    "ProfileShape",
    "Query",
    "QueryTime",
    "QueryTimes",
    "Span",
    "StageFacts",
    "Timeline",
    "Volume",
    "facts_of",
]
