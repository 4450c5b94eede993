"""How often a job fails by itself, and why."""

from collections.abc import Sequence

from sparkcast.study import Observation, Outcome

_LAST = 20  # runs that say how likely the next is to fail
_USUAL, _WORTH = 0.02, 5.0  # of the runs of a usual job fail; what this is worth in runs


def failure_chance(runs: Sequence[Observation]) -> float:
    """That the next run fails by itself, from the last ones. Machines that vanish say nothing about the job."""
    ended = [run for run in runs if run.outcome is not Outcome.LOST and _is_over(run)][-_LAST:]
    failed = sum(not run.ok for run in ended)
    return (failed + _USUAL * _WORTH) / (len(ended) + _WORTH)


def _is_over(run: Observation) -> bool:
    return run.origin is None or run.origin.is_complete
