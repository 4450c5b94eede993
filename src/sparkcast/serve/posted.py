"""Runs that jobs report themselves: checked, and in the form of runs that were read from logs."""

from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from sparkcast.data.ingest.observations import WORDS
from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, LogOrigin, Observation, Outcome
from sparkcast.study.redaction import redact_text

if TYPE_CHECKING:
    from sparkcast.serve.v1.bodies import ObservationsBody, RunBody

_NO_LOG = "posted"  # where the log of a run would be: nothing on a disk has this name


def observations_of(
    study: str, body: "ObservationsBody", definition: Mapping[str, Any], *, key: str
) -> tuple[Observation, ...]:
    """Raises StudyError, naming the run, for what no answer could use."""
    runs = []
    for number, run in enumerate(body.runs, start=1):
        where = f"run {number}: " if len(body.runs) > 1 else ""
        configuration = Configuration(run.configuration)
        _check_settings(where, configuration, definition)
        run_id = run.run_id or f"posted-{sha256(f'{key}/{number}'.encode()).hexdigest()[:16]}"
        runs.append(_observation(where, study, run, configuration, run_id))
    ids = [run.run_id for run in runs]
    if twice := next((name for name in ids if ids.count(name) > 1), None):
        raise StudyError(f"two runs have the id {twice!r}", hint="leave out `run_id`, or give each its own")
    return tuple(runs)


def _observation(where: str, study: str, run: "RunBody", configuration: Configuration, run_id: str) -> Observation:
    try:
        outcome = Outcome(run.outcome)
    except ValueError:
        known = tuple(one.value for one in Outcome)
        raise StudyError(f"{where}no run ends as {run.outcome!r}", hint=did_you_mean(run.outcome, known)) from None
    known_names = tuple(response.name for response in WORDS.responses)
    times = [name for name in run.responses if name in known_names]
    if outcome is Outcome.OK and not times:
        raise StudyError(
            f"{where}a run that ended well has none of the responses",
            hint="give one of total_s (seconds from submission to exit), time_s, work_s, cost, accuracy",
        )
    if bad := next((n for n, v in run.responses.items() if n.endswith("_s") and v < 0), None):
        raise StudyError(f"{where}{bad} is negative", hint="give seconds")
    origin = LogOrigin(study, _NO_LOG, 0, is_complete=True)
    return Observation(
        configuration,
        dict(run.responses),
        outcome,
        redact_text(run.cause),
        started_at=run.started_at,
        run_id=run_id,
        origin=origin,
    )


def _check_settings(where: str, configuration: Configuration, definition: Mapping[str, Any]) -> None:
    """A study with a file takes only runs that have all of its settings, and its fixed ones as they are."""
    settings: Mapping[str, Any] = definition.get("settings") or {}
    if not settings:
        if not configuration:
            raise StudyError(f"{where}the run has no settings", hint='give "configuration": {"executors": 2, ...}')
        return
    if missing := [name for name in settings if name not in configuration]:
        raise StudyError(
            f"{where}the run lacks the setting {missing[0]!r}", hint=f"the study has {', '.join(settings)}"
        )
    if unknown := next((name for name in configuration if name not in settings), None):
        raise StudyError(f"{where}the study has no setting {unknown!r}", hint=did_you_mean(unknown, tuple(settings)))
    fixed = {name: level for name, level in settings.items() if not isinstance(level, list)}
    for name, level in fixed.items():
        if not configuration.includes({name: level}):
            raise StudyError(
                f"{where}{name} is {configuration[name]} and the study is about {name}={level}",
                hint="post the run under another name",
            )
