"""Reading the output of stored runs again, when a study says anew where in it numbers stand.

What the event log showed stays. What the old patterns found is replaced, and written to `readings.jsonl` in the folder
of the run, so that it is known where each number came from.
"""

import json
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from sparkcast.errors import StoreError
from sparkcast.observe.output import OUTPUT_FILE, read_output
from sparkcast.observe.run import own_responses
from sparkcast.runs.files import artifacts_place
from sparkcast.store import READINGS, Store
from sparkcast.study import Epoch, Observation, Study, TaskTotals
from sparkcast.study.application import FROM_THE_LOG
from sparkcast.study.names import METRICS
from sparkcast.workloads import HasReadings, SubmittedApplication, workload_of

_FILE = "readings.jsonl"
_MEASURED = {*(response.name for response in FROM_THE_LOG), *METRICS}


@dataclass(frozen=True, slots=True)
class Reread:
    """The measured runs of a study, and what to say of those that were read again; "" when none was."""

    runs: tuple[Observation, ...]
    note: str = ""


def reread(study: Study, store: Store, folder: Path) -> Reread:
    """The runs of a study; their output is read again when only how to read it has changed since they were stored."""
    runs, definition = store.observations(study.name), store.definition(study.name)
    workload = workload_of(study)
    before = _readings(definition)
    after = _readings(study.measured_definition())
    if not definition or not isinstance(workload, HasReadings) or before == after:
        return Reread(runs)
    _fetch(study, [run for run in runs if run.ok], folder)
    if store.is_shared and not all(_has_output(run, folder) for run in runs if run.ok):
        return Reread(runs, "some output is on the machine that made the runs: it is read again there")
    program, dropped = workload.readings, {*before} - _MEASURED
    changed = {
        run.run_id: _read_again(run, folder, program, dropped) for run in runs if run.ok and _has_output(run, folder)
    }
    if store.is_writable:
        store.keep_readings(study.name, _with_readings(definition, after), tuple(changed.values()))
        for run in runs:
            if run.run_id in changed:
                _note(folder / run.artifacts, after, run, changed[run.run_id])
    counts = [
        f"{name} in {sum(name in run.responses for run in changed.values())} of {len(changed)}"
        for name in program.promised
    ]
    note = f"the output of {len(changed)} stored runs was read again: {', '.join(counts)}" if changed else ""
    return Reread(tuple(changed.get(run.run_id, run) for run in runs), note)


def _fetch(study: Study, runs: Sequence[Observation], folder: Path) -> None:
    """What another machine left at the place of artifacts."""
    place = artifacts_place(study)
    for run in runs:
        if place is not None and not _has_output(run, folder):
            with suppress(StoreError):
                place.below(run.artifacts).get(folder / run.artifacts)


def _has_output(run: Observation, folder: Path) -> bool:
    return all((path / OUTPUT_FILE).is_file() for path in _folders(run, folder))


def _readings(definition: Mapping[str, Any]) -> dict[str, Any]:
    return dict((definition.get("options") or {}).get(READINGS) or {})


def _with_readings(definition: Mapping[str, Any], readings: Mapping[str, Any]) -> dict[str, Any]:
    options = {name: value for name, value in (definition.get("options") or {}).items() if name != READINGS}
    return {**definition, "options": options | ({READINGS: dict(readings)} if readings else {})}


def _folders(run: Observation, folder: Path) -> list[Path]:
    return [folder / artifacts for artifacts in ([job.artifacts for job in run.jobs] or [run.artifacts])]


def _read_again(run: Observation, folder: Path, program: SubmittedApplication, dropped: Collection[str]) -> Observation:
    folders = _folders(run, folder)
    if not run.jobs:
        responses, curve = _told(run.responses, run.tasks, folders[0], program, dropped)
        return replace(run, responses=responses, curve=curve)
    jobs = []
    for job, own in zip(run.jobs, folders, strict=True):
        responses, curve = _told(job.responses, job.tasks, own, program, dropped)
        jobs.append(replace(job, responses=responses, curve=curve))
    kept = {name: value for name, value in run.responses.items() if name not in dropped}
    means = {
        name: fmean(values) for name in jobs[0].responses if (values := _of_all([j.responses for j in jobs], name))
    }
    return replace(run, responses={**means, **kept}, curve=jobs[0].curve, jobs=tuple(jobs))


def _of_all(each: Sequence[Mapping[str, float]], name: str) -> list[float]:
    values = [responses[name] for responses in each if name in responses]
    return values if len(values) == len(each) else []


def _told(
    responses: Mapping[str, float],
    tasks: TaskTotals | None,
    folder: Path,
    program: SubmittedApplication,
    dropped: Collection[str],
) -> tuple[dict[str, float], tuple[Epoch, ...]]:
    """What one job showed, with what its output says now; what was measured wins, as it did at first."""
    report = read_output(folder, program, tasks, 0)
    kept = {name: value for name, value in responses.items() if name not in dropped}
    return {**own_responses(report.responses), **kept}, report.curve


def _note(folder: Path, readings: Mapping[str, Any], before: Observation, after: Observation) -> None:
    names = {*before.responses, *after.responses}
    changes = {
        name: [before.responses.get(name), after.responses.get(name)]
        for name in sorted(names)
        if before.responses.get(name) != after.responses.get(name)
    }
    line = json.dumps({"at": time.time(), "responses": dict(readings), "changes": changes})
    with suppress(OSError), (folder / _FILE).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
