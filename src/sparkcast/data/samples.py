"""What was sampled on the machines of runs: read from their store, and written as tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sparkcast.data.sources import Data
from sparkcast.data.table import write_rows
from sparkcast.errors import NotEnoughDataError
from sparkcast.observe.series import StageUse, rates, stage_uses
from sparkcast.study import Level, Observation
from sparkcast.study.series import RunSeries

By = Literal["sample", "stage"]


@dataclass(frozen=True, slots=True)
class SampledRun:
    """A run with the samples of its machines and the times of its stages."""

    observation: Observation
    series: RunSeries

    @property
    def stages(self) -> tuple[StageUse, ...]:
        """How busy each machine was during each stage."""
        return stage_uses(self.series)


def sampled_runs(data: Data, observations: Sequence[Observation] | None = None) -> tuple[SampledRun, ...]:
    """The runs that have samples; none of a table, which has no store."""
    if data.results is None:
        return ()
    from sparkcast.store import open_store

    store = open_store(data.results)
    try:
        wanted = data.dataset.observations if observations is None else observations
        found = [(run, store.series(run.run_id)) for run in wanted if run.run_id]
    finally:
        store.close()
    return tuple(SampledRun(run, series) for run, series in found if series is not None)


def fastest_and_slowest(data: Data) -> tuple[Observation, ...]:
    """The two runs that differ most in their time; one where there is only one, none where times are not known."""
    time = data.dataset.vocabulary.time
    runs = sorted(data.dataset.successful(time), key=lambda run: run.responses[time]) if time else []
    return tuple(runs) if len(runs) < 2 else (runs[0], runs[-1])


def write_samples(data: Data, path: Path, by: By) -> int:
    """One row for each sample, or for each stage, of every machine of every run; returns the number of runs."""
    runs = sampled_runs(data)
    rows = [{**_of_run(run.observation), **row} for run in runs for row in _rows(run, by)]
    if not rows:
        raise NotEnoughDataError(
            f"no {by} of a machine is stored with these runs",
            hint="samples are taken by `sparkcast run` and stay in the store: give the study, not a table",
        )
    write_rows(rows, list(dict.fromkeys(name for row in rows for name in row)), path)
    return len(runs)


def _of_run(run: Observation) -> dict[str, Level]:
    return {**run.configuration, "replicate": run.replicate, "position": run.position, "run_id": run.run_id}


def _rows(run: SampledRun, by: By) -> Iterator[Mapping[str, Level]]:
    if by == "stage":
        for stage in run.stages:
            told: dict[str, Level] = {"host": stage.host, "stage_id": stage.stage_id, "attempt": stage.attempt}
            told |= {"stage": stage.name, "started_s": stage.started_s, "ended_s": stage.ended_s}
            yield told | dict(stage.means)
        return
    for host in run.series.hosts:
        columns = {name: values.tolist() for name, values in rates(host).items()}
        for number, at_ms in enumerate(host.at_ms[1:]):
            values = {name: column[number] for name, column in columns.items()}
            yield {"host": host.host, "has_executors": int(host.has_executors), "at_ms": at_ms, **values}
