"""What could be better, one file for each family. A family is a function in FAMILIES: evidence in, findings out.

Costs do not overlap by intent: each family takes other parts of the attribution, or other stages.
"""

from collections.abc import Callable, Iterable

from sparkcast.profile.findings.base import Evidence, Finding
from sparkcast.profile.findings.caches import small_cache, unread_cache
from sparkcast.profile.findings.cluster import idle_slots, launch_wait, never_used_executors, slow_start, unused_memory
from sparkcast.profile.findings.driver import driver_bound, idle_session, large_broadcast
from sparkcast.profile.findings.joins import missed_broadcast, nested_loop_join
from sparkcast.profile.findings.output import tiny_output
from sparkcast.profile.findings.partitions import few_tasks, large_partitions, skew, small_partitions
from sparkcast.profile.findings.reading import repeated_stages, small_files
from sparkcast.profile.findings.scans import unpushed_filter
from sparkcast.profile.findings.tasks import gc_pressure, lost_work, python_workers, slow_host, spill
from sparkcast.profile.findings.traffic import serializer, shuffle_bound

FAMILIES: tuple[Callable[[Evidence], Iterable[Finding]], ...] = (
    *(nested_loop_join, missed_broadcast, unpushed_filter, tiny_output, small_cache, unread_cache),
    *(skew, few_tasks, small_partitions, large_partitions),
    *(spill, gc_pressure, lost_work, slow_host, python_workers),
    *(shuffle_bound, serializer, small_files, repeated_stages),
    *(driver_bound, idle_session, large_broadcast),
    *(slow_start, launch_wait, idle_slots, never_used_executors, unused_memory),
)

__all__ = ["FAMILIES", "Evidence", "Finding", "find"]


# The work has to be done some other way: of what these cost, half may be saved.
_HALF_SAVED = ("python-workers", "serializer")


def find(evidence: Evidence) -> tuple[Finding, ...]:
    """The findings that cost enough to tell: what broke, then what costs most."""
    every = [finding for family in FAMILIES for finding in family(evidence)]
    found = [one for one in every if one.is_news or evidence.is_worth_telling(one)]
    return tuple(sorted(found, key=lambda one: (not one.is_failure, -_saved(one, evidence))))


def _saved(finding: Finding, evidence: Evidence) -> float:
    return evidence.weight(finding) / (2 if finding.name in _HALF_SAVED else 1)
