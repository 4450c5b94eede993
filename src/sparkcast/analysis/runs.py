"""The runs a method can use, checked once: every later stage starts from these."""

import math
from collections import Counter
from collections.abc import Sequence

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study import Dataset, Kind, Observation


def usable_runs(data: Dataset, response: str) -> tuple[Observation, ...]:
    """The successful runs that measured `response`, each with every factor and only finite numbers."""
    known = tuple(dict.fromkeys((*data.responses, *(name for o in data.observations for name in o.responses))))
    if response not in known:
        raise StudyError(f"{data.name} has no response {response!r}", hint=did_you_mean(response, known))
    runs = data.successful(response)
    if not runs:
        raise NotEnoughDataError(
            f"{data.name} has no successful run that measured {response!r} ({left_out(data, response) or 'no runs'})",
            hint="run the study first, or find out why its runs failed",
        )
    for run in runs:
        _check(run, data.factors, response)
    return runs


def stopped_runs(data: Dataset, response: str) -> tuple[Observation, ...]:
    """The runs that were stopped before they ended, with every factor and the time they had taken by then."""
    if data.vocabulary.response(response).kind is not Kind.TIME:
        return ()
    return tuple(
        run
        for run in data.observations
        if run.was_stopped
        and 0 < run.responses.get(response, math.nan) < math.inf
        and all(name in run.configuration for name in data.factors)
    )


def left_out(data: Dataset, response: str) -> str:
    """The runs that `usable_runs` leaves out, counted by outcome: "2 oom, 1 timeout"; "" when there are none."""
    counts = Counter(
        f"without {response}" if o.ok else o.outcome.value
        for o in data.observations
        if not o.ok or response not in o.responses
    )
    return ", ".join(f"{count} {reason}" for reason, count in counts.items())


def _check(run: Observation, factors: Sequence[str], response: str) -> None:
    settings = tuple(run.configuration)
    for name in factors:
        if name not in run.configuration:
            raise StudyError(f"a run has no value for factor {name!r}", hint=did_you_mean(name, settings))
        value = run.configuration[name]
        if isinstance(value, float) and not math.isfinite(value):
            raise StudyError(f"a run has {name} = {value}", hint="fill in the value it ran with, or leave the run out")
    if not math.isfinite(run.responses[response]):
        raise StudyError(
            f"the run at {run.configuration.only(factors)} has {response} = {run.responses[response]}",
            hint="leave the run out, or mark it as failed with an outcome other than ok",
        )
