"""The settings of ingested runs, put together for a dataset from what all of their logs told."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from sparkcast.data.ingest.destination import job_of, origin_of
from sparkcast.data.ingest.settings import UNSET, differing, value_of
from sparkcast.data.ingest.sizes import SIZE_NAMES, SIZE_SETTINGS, varied_sizes, with_sizes
from sparkcast.study import (
    Configuration,
    Dataset,
    Kind,
    Level,
    Observation,
    Outcome,
    Response,
    Vocabulary,
)
from sparkcast.study.application import CORE_HOURS, FROM_THE_LOG, PART_RESPONSES, TIME, TOTAL_TIME, WORK, WORK_TIME
from sparkcast.study.configuration import Levels
from sparkcast.study.names import COST
from sparkcast.units import as_number
from sparkcast.workloads import CLUSTER_SETTINGS, is_property
from sparkcast.workloads.base import ACCURACY, THROUGHPUT

_TOLD = (
    TOTAL_TIME,
    TIME,
    WORK_TIME,
    CORE_HOURS,
    COST,
    ACCURACY.name,
    THROUGHPUT.name,
)  # the other responses are metrics
# What the names mean that are ours.
WORDS = Vocabulary(
    (*CLUSTER_SETTINGS, *SIZE_SETTINGS),
    (
        *FROM_THE_LOG,
        WORK,
        Response(COST, kind=Kind.MONEY),
        ACCURACY,
        THROUGHPUT,
        *(Response(name, kind=Kind.TIME) for name in PART_RESPONSES),
    ),
)


def datasets_of(runs: Collection[Observation]) -> dict[str, Dataset]:
    """The runs of each job, in the order in which jobs came."""
    jobs = dict.fromkeys(map(job_of, runs))
    return {job: dataset_of(job, (run for run in runs if job_of(run) == job)) for job in jobs}


def dataset_of(name: str, runs: Iterable[Observation]) -> Dataset:
    """Runs of one job that no study describes: what differs among them is varied.

    A run that was lost says nothing about its settings: a level that no other run had is no level.
    """
    complete = with_sizes(sorted(filter(_is_usable, runs), key=lambda run: (run.started_at or 0.0, run.run_id)))
    varied = differing([origin_of(run).properties for run in complete])
    known = dict.fromkeys((name for run in complete for name in run.configuration), UNSET)
    configurations = []
    for run in complete:
        levels = {name: value_of(origin_of(run).properties, name) for name in varied}
        configurations.append(Configuration({**known, **run.configuration, **levels}))
    observations = _numbered(zip(complete, configurations, strict=True), ())
    names = dict.fromkeys(name for one in configurations for name in one)
    others = (name for name in names if name not in SIZE_NAMES)
    factors = tuple(name for name in others if len({one.get(name) for one in configurations}) > 1)
    factors += varied_sizes(configurations)
    measured = {name for one in observations for name in one.responses}
    responses = tuple(name for name in _TOLD if name in measured)
    return Dataset(factors, observations, name, responses, WORDS.only((*names, *measured)))


def observations_beside(
    measured: Sequence[Observation], runs: Iterable[Observation], names: Collection[str], fixed: Levels
) -> tuple[Observation, ...]:
    """The measured runs of a study, and after them the ingested ones that belong to it."""
    return (*measured, *ingested_beside(measured, runs, names, fixed))


def ingested_beside(
    measured: Sequence[Observation], runs: Iterable[Observation], names: Collection[str], fixed: Levels
) -> tuple[Observation, ...]:
    """The ingested runs that tell all settings of a study and share the fixed ones, numbered after the measured."""
    belonging = []
    for run in runs:
        configuration = configuration_of(run, names)
        if _is_usable(run) and configuration.includes(fixed):
            belonging += [(run, configuration)] if set(configuration) >= set(names) else []
    return _numbered(belonging, measured)


def _is_usable(run: Observation) -> bool:
    return origin_of(run).is_complete and run.outcome is not Outcome.LOST


def configuration_of(run: Observation, names: Iterable[str]) -> Configuration:
    """The settings of these names, as far as the log tells them."""
    found: dict[str, Level] = {}
    for name in names:
        if name in run.configuration:
            found[name] = run.configuration[name]
        elif is_property(name) and (value := value_of(origin_of(run).properties, name)) != UNSET:
            found[name] = value
    return Configuration(found)


def mixed_levels(data: Dataset) -> tuple[str, ...]:
    """What to know of settings of which some values are numbers and some are not."""
    notes = []
    for name in data.factors:
        words = [level for level in data.levels(name) if as_number(level) is None]
        if words and len(words) < len(data.levels(name)):
            notes.append(
                f"{name} is not always a number ({', '.join(map(str, words[:3]))}), so it is taken as a category"
            )
    return tuple(notes)


def _moment(run: Observation) -> dict[str, str]:
    """When it began: what `analyze` may find to explain what settings do not."""
    if not run.started_at:
        return {}
    began = datetime.fromtimestamp(run.started_at, UTC)
    return {"weekday (UTC)": f"{began:%a}", "hour (UTC)": f"{began:%H}"}


def _numbered(
    runs: Iterable[tuple[Observation, Configuration]], after: Sequence[Observation]
) -> tuple[Observation, ...]:
    seen: dict[Configuration, int] = {}
    for one in after:
        seen[one.configuration] = max(seen.get(one.configuration, 0), one.replicate)
    first = max((one.position for one in after), default=0) + 1
    made = []
    for position, (run, configuration) in enumerate(runs, first):
        seen[configuration] = seen.get(configuration, 0) + 1
        made.append(
            replace(
                run,
                configuration=configuration,
                replicate=seen[configuration],
                position=position,
                labels={**_moment(run), **run.labels},
            )
        )
    return tuple(made)
