"""The one other number of executors worth telling of, by replaying the log."""

from sparkcast.errors import SparkcastError
from sparkcast.eventlogs import LogRead
from sparkcast.facts import AppFacts
from sparkcast.replay import Replayed, WhatIfQuestion, recorded, what_if
from sparkcast.study import Outcome

_SLOWER, _SAVES = 0.10, 0.10  # fewer executors: at most so much slower, for at least so many core-hours less
_FASTER, _COSTS = 0.15, 0.15  # more of them: at least so much faster, for at most so many core-hours more
_SHORTEST_S = 30.0  # an application over sooner is mostly start-up


def alternative_of(log: LogRead, facts: AppFacts) -> Replayed | None:
    """Fewer executors that hardly take longer, else more that hardly cost more; None without either."""
    shape = facts.shape
    is_plain = not (shape.is_local or shape.is_dynamic or facts.is_interactive) and len(shape.profiles) == 1
    is_whole = facts.is_complete and facts.outcome is Outcome.OK and facts.span.wall_s >= _SHORTEST_S
    if not (is_plain and is_whole and shape.executors > 0):
        return None
    others = {max(round(shape.executors * factor), 1) for factor in (0.25, 0.5, 0.75, 2)} - {shape.executors}
    try:
        found = what_if([recorded(log, facts)], WhatIfQuestion(executors=tuple(sorted(others)))).configurations
    except SparkcastError:  # a barrier that needs them all, no tasks: nothing to tell
        return None
    fewer = [one for one in found if one.change <= _SLOWER and one.change_core_hours <= -_SAVES]
    more = [one for one in found if one.change <= -_FASTER and one.change_core_hours <= _COSTS]
    return min(fewer, key=lambda one: one.core_hours, default=None) or min(
        more, key=lambda one: one.time_s, default=None
    )
