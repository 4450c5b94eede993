"""Runs of MLflow: parameters are settings, metrics responses, metrics by step curves; and back."""

import json
import logging
import math
import os
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from sparkcast.data.grid import Grid
from sparkcast.data.options import TableOptions
from sparkcast.data.shapes import no_response
from sparkcast.data.table import MEANING, Table, meaning_of, understand
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study import Dataset, Epoch, Kind, Observation, Outcome, Role
from sparkcast.study.application import TIME
from sparkcast.study.names import usual_role, usual_vocabulary
from sparkcast.study.redaction import redact_text

_PREFIX = "mlflow:"
# Somebody killed a run for a reason: unless sparkcast itself wrote it as lost, it is a failure of its settings.
_ENDS = {"FINISHED": Outcome.OK, "FAILED": Outcome.ERROR, "KILLED": Outcome.ERROR}
_STATUS = {Outcome.OK: "FINISHED", Outcome.LOST: "KILLED"}
_OUTCOME = "sparkcast.outcome"
_LONGEST_TAG = 5000


def read_runs(source: str, options: TableOptions, experiment: str | None = None) -> Table:
    """The finished runs of an experiment, understood as a table with one column for each parameter and metric.

    The time of a run is that between its start and its end, where no metric is a time.
    """
    with _client(source, is_written=False) as client:
        chosen, found = _experiment(client, source, experiment)
        ended = [run for run in found if run.info.status in _ENDS]
        if not ended:
            raise NotEnoughDataError(
                f"no run of experiment {chosen.name!r} has finished", hint="try again when one has"
            )
        histories = [_history(client, run) for run in ended]
    grid, metrics, notes = _grid(ended, chosen.tags.get(MEANING, ""))
    if len(ended) < len(found):
        notes.append(f"{len(found) - len(ended)} still running, left out")
    path = Path(chosen.name.replace("/", "-"))
    table = understand(replace(grid, notes=tuple(notes)), path, options, yielded=metrics)
    if not table.dataset.responses:
        raise no_response(path)
    observations = tuple(
        replace(
            observation,
            curve=_curve(ended[row], histories[row]),
            started_at=ended[row].info.start_time / 1000,
            run_id=ended[row].info.run_id,
        )
        for observation, row in zip(table.dataset.observations, table.rows, strict=True)
    )
    return replace(
        table,
        dataset=replace(table.dataset, observations=observations, name=chosen.name),
        understood=replace(table.understood, source=f"MLflow experiment {chosen.name}"),
    )


def write_runs(data: Dataset, target: str) -> None:
    """One run for each observation, in an experiment named after the data, which says what its names mean."""
    with _client(target, is_written=True) as client:
        known = client.get_experiment_by_name(data.name)
        if known is not None and client.search_runs([known.experiment_id], max_results=1):
            raise StudyError(
                f"MLflow already has an experiment {data.name!r} with runs",
                hint="rename or delete it, or write to another place: -o sqlite:///other.db",
            )
        names = dict.fromkeys(name for run in data.observations for name in (*run.configuration, *run.responses))
        meaning = json.dumps(meaning_of(data, list(names)))
        identity = client.create_experiment(data.name) if known is None else known.experiment_id
        if len(meaning) <= _LONGEST_TAG:
            client.set_experiment_tag(identity, MEANING, meaning)
        for observation in data.observations:
            _write_run(client, identity, observation, data.vocabulary.time)


def _write_run(client: Any, experiment: str, run: Observation, time_name: str | None) -> None:
    from mlflow.entities import Metric, Param, RunTag

    start = int(1000 * (run.started_at or time.time()))
    end = start + max(1, int(1000 * run.responses.get(time_name or "", 0.0)))
    made = client.create_run(experiment, start_time=start, run_name=run.run_id or f"run {run.position}")
    last = max((epoch.number for epoch in run.curve), default=0)
    metrics = [
        Metric(name, value, start + int(1000 * epoch.time_s), epoch.number)
        for epoch in run.curve
        for name, value in epoch.values.items()
    ]
    metrics += [Metric(name, value, end, last) for name, value in run.responses.items()]
    params = [Param(name, str(level)) for name, level in run.configuration.items()]
    tags = [RunTag(_OUTCOME, run.outcome.value)] + ([RunTag("sparkcast.cause", run.cause[:500])] if run.cause else [])
    client.log_batch(made.info.run_id, metrics=metrics, params=params, tags=tags)
    client.set_terminated(made.info.run_id, _STATUS.get(run.outcome, "FAILED"), end_time=end)


# ---------------------------------------------------------------- MLflow


@contextmanager
def _client(source: str, *, is_written: bool) -> Iterator[Any]:
    """A client of the tracking store, whose errors are ours and whose own messages are quiet."""
    # It refuses folders, its own form of many years, unless told; and nobody asked it to report home.
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    uri = tracking_uri(source, is_written=is_written)
    try:
        from mlflow.exceptions import MlflowException
        from mlflow.tracking import MlflowClient
    except ImportError as error:
        raise _missing(error) from None
    logging.getLogger("mlflow").setLevel(logging.WARNING)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield MlflowClient(tracking_uri=uri)
        except ImportError as error:  # what only some of its stores need
            raise _missing(error) from error
        except MlflowException as error:
            problem, shown = redact_text(str(error).splitlines()[0]), redact_text(str(uri))
            raise StudyError(f"MLflow: {problem}", hint=f"check the tracking location: {shown}") from error


def _missing(error: ImportError) -> StudyError:
    return StudyError(
        f"reading MLflow runs needs the mlflow package, and {error.name} is not installed",
        hint="pip install 'sparkcast[mlflow]'",
    )


def tracking_uri(source: str, *, is_written: bool) -> str | None:
    """What MLflow takes; None for its own default. A folder or SQLite file to read must exist."""
    given = source.removeprefix(_PREFIX)
    if not given:
        return None
    if given.startswith("sqlite:///"):
        _require(Path(given.removeprefix("sqlite:///")), is_written)
    elif "://" not in given:
        path = Path(given.removeprefix("file:"))
        _require(path, is_written)
        is_file = path.is_file() or (not path.exists() and path.suffix in (".db", ".sqlite"))
        return f"sqlite:///{path.absolute()}" if is_file else path.absolute().as_uri()
    return given


def _require(path: Path, is_written: bool) -> None:
    if not is_written and not path.exists():
        raise StudyError(f"no MLflow runs at {str(path)!r}", hint="give mlflow: and a tracking folder, file or URL")


def _experiment(client: Any, source: str, name: str | None) -> tuple[Any, list[Any]]:
    """The experiment that is named, or the only one with runs; and its runs as they started."""
    known = {experiment.name: experiment for experiment in client.search_experiments()}
    if name is not None and name not in known:
        raise StudyError(f"MLflow has no experiment {name!r}", hint=did_you_mean(name, tuple(known)))
    wanted = [known[name]] if name is not None else list(known.values())
    runs = {experiment.name: _runs(client, experiment) for experiment in wanted}
    filled = [each for each, found in runs.items() if found]
    if not filled:
        raise NotEnoughDataError(
            f"{redact_text(source)} has no runs", hint="give another tracking folder or URL, or `study=NAME`"
        )
    if len(filled) > 1:
        raise StudyError(
            f"{redact_text(source)} has {len(filled)} experiments with runs: {', '.join(filled[:10])}",
            hint="choose: `study=NAME`",
        )
    return known[filled[0]], runs[filled[0]]


def _runs(client: Any, experiment: Any) -> list[Any]:
    found: list[Any] = []
    token = None
    while True:
        page = client.search_runs([experiment.experiment_id], order_by=["attributes.start_time ASC"], page_token=token)
        found += page
        token = page.token
        if not token:
            return found


# ---------------------------------------------------------------- as a table


def _grid(runs: Sequence[Any], meaning: str) -> tuple[Grid, tuple[str, ...], list[str]]:
    """One row for each run, the names of its metrics, and what is to be said."""
    params = list(dict.fromkeys(name for run in runs for name in run.data.params))
    metrics, notes = _metrics(runs, params)
    columns = {name: [run.data.params.get(name, "").strip() for run in runs] for name in params}
    columns |= {name: [_as_text(run.data.metrics.get(name)) for run in runs] for name in metrics}
    if not any(response.kind is Kind.TIME for response in usual_vocabulary([], metrics).responses) and not meaning:
        columns[TIME] = [_duration(run) for run in runs]
        metrics.append(TIME)
        notes.append(f"{TIME} is from start to end")
    columns["outcome"] = [run.data.tags.get(_OUTCOME) or _ENDS[run.info.status].value for run in runs]
    if meaning:
        columns[MEANING] = [meaning] + [""] * (len(runs) - 1)
    grid = Grid(tuple(columns), tuple(columns.values()), list(range(1, len(runs) + 1)))
    return grid, tuple(metrics), notes


def _metrics(runs: Sequence[Any], params: Sequence[str]) -> tuple[list[str], list[str]]:
    """Their names, and notes on those that are also parameters."""
    measured = dict.fromkeys(name for run in runs for name in run.data.metrics if not name.startswith("system/"))
    notes = [f"metric {name} has the same name as a parameter, left out" for name in measured if name in params]
    return [name for name in measured if name not in params], notes


def _as_text(value: float | None) -> str:
    return "" if value is None or not math.isfinite(value) else repr(float(value))


def _duration(run: Any) -> str:
    if run.info.status != "FINISHED" or run.info.end_time is None:
        return ""
    return repr((run.info.end_time - run.info.start_time) / 1000)


def _history(client: Any, run: Any) -> Mapping[str, Sequence[Any]]:
    """The metrics that were logged more than once."""
    found = {name: client.get_metric_history(run.info.run_id, name) for name in run.data.metrics}
    return {name: points for name, points in found.items() if len({point.step for point in points}) > 1}


def _curve(run: Any, history: Mapping[str, Sequence[Any]]) -> tuple[Epoch, ...]:
    """What was reached by each step; nothing where there are more steps than epochs, which are then iterations."""
    values: dict[int, dict[str, float]] = {}
    times: dict[int, float] = {}
    for name, points in history.items():
        for point in sorted(points, key=lambda point: (point.step, point.timestamp)):
            if math.isfinite(point.value):
                values.setdefault(point.step, {})[name] = point.value
                times[point.step] = max(times.get(point.step, 0.0), (point.timestamp - run.info.start_time) / 1000)
    counted = [level for name, level in run.data.params.items() if usual_role(name) is Role.EPOCHS and level.isdigit()]
    if counted and len(values) > int(counted[0]) + 1:
        return ()
    first = 0 if min(values, default=1) > 0 else 1  # some count from 0
    return tuple(Epoch(step + first, times[step], values[step]) for step in sorted(values))
