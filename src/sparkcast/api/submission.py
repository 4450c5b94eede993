"""A job in production: settings from its runs, added to its line; and its result, given back."""

import secrets
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Protocol

from sparkcast.api.advisor import Advisor
from sparkcast.data.sources import Data, load_data
from sparkcast.errors import RunError, SparkcastError, StudyError
from sparkcast.recommend.question import Question
from sparkcast.recommend.submission import SubmissionAdvice, SubmittedJob, advice_at, advise_line, held_by
from sparkcast.search.safe import Guard, PastRun, one_change_each, propose
from sparkcast.study import Configuration, Dataset, Level, LogOrigin, Observation, Outcome
from sparkcast.study.application import TOTAL_TIME
from sparkcast.study.redaction import redact, redact_arguments
from sparkcast.workloads.lines import parse_line, with_properties

if TYPE_CHECKING:
    from sparkcast.recommend.choose import Recommender

_LOST = (-signal.SIGTERM, -signal.SIGINT, -signal.SIGKILL, 130, 137, 143)  # somebody stopped it


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for a submission, beside its line."""

    study: str
    within_s: float | None = None
    budget: float | None = None
    confidence: float = 0.95
    fix: Mapping[str, Level] = field(default_factory=dict)  # settings that the program has already
    passed: Sequence[str] = ()  # settings that the program takes as --name VALUE
    explore: bool = False


class Adviser(Protocol):
    """Who is asked for settings, and told the result: a service, or a store."""

    def advise(self, wish: Wish, properties: Mapping[str, str], given: Mapping[str, Level]) -> SubmissionAdvice: ...
    def report(self, study: str, run: Mapping[str, Any]) -> str: ...


def explored(
    recommender: "Recommender",
    data: Data,
    question: Question,
    properties: Mapping[str, str],
    given: Mapping[str, Level],
    passed: Sequence[str] = (),
    *,
    risk: float = 0.05,
) -> SubmissionAdvice:
    """Safe tuning: the settings of the next production run, at most one of them changed.

    Raises NotEnoughDataError for a job that never ran well.
    """
    dataset = data.dataset
    held = held_by(recommender, properties, {**question.fix, **given})
    words, factors = dataset.vocabulary, dataset.factors
    time_name = words.required_time()
    ordered = sorted(dataset.observations, key=lambda run: (run.started_at or 0.0, run.position))
    past = [
        PastRun(run.configuration.only(factors), _seconds_of(run, time_name, dataset))
        for run in ordered
        if run.configuration.only(held).includes(held)
    ]
    guard = Guard(within_s=question.within_s, risk=risk)
    levels = {name: dataset.levels(name) for name in factors if name not in held}
    base = propose(past, [], guard, vocabulary=words).base
    found = propose(past, one_change_each(base, levels), guard, vocabulary=words)
    return advice_at(
        recommender, found.configuration, held, properties, given, passed, reason=found.why, step=found.step.value
    )


def _seconds_of(run: Observation, time_name: str, runs: Dataset) -> float | None:
    """None of a run that failed."""
    if not run.ok or time_name not in run.responses:
        return None
    return runs.vocabulary.response(time_name).seconds(run.responses[time_name])


class StoreAdviser:
    """Asks the runs of a store, and keeps results in it."""

    def __init__(self, store: str) -> None:
        self._store = store

    def advise(self, wish: Wish, properties: Mapping[str, str], given: Mapping[str, Level]) -> SubmissionAdvice:
        advisor = Advisor.of(load_data(self._store, study=wish.study))
        question = Question(within_s=wish.within_s, budget=wish.budget, confidence=wish.confidence)
        if wish.explore:
            assert isinstance(advisor.source, Data)
            return explored(advisor.recommender, advisor.source, question, properties, given, wish.passed)
        return advise_line(advisor.recommender, question, properties, given, wish.passed)

    def report(self, study: str, run: Mapping[str, Any]) -> str:
        from sparkcast.data.ingest.into_store import NOT_ASKED
        from sparkcast.store import open_store

        made = Observation(
            Configuration(run["configuration"]),
            dict(run["responses"]),
            Outcome(run["outcome"]),
            run["cause"],
            started_at=run["started_at"],
            run_id=run["run_id"],
            origin=LogOrigin(study, "posted", 0, is_complete=True),
        )
        store = open_store(self._store, create=True)
        try:
            store.keep_ingested(study, NOT_ASKED, [made])
        finally:
            store.close()
        return f"stored as a run of {study}"


class ServiceAdviser:
    """Asks a service, and gives it the result."""

    def __init__(self, url: str) -> None:
        from sparkcast.client import Client

        try:
            self._client = Client(url)
        except ValueError as error:
            raise StudyError(str(error)) from None

    def advise(self, wish: Wish, properties: Mapping[str, str], given: Mapping[str, Level]) -> SubmissionAdvice:
        from sparkcast.client import ServiceDown, ServiceFailed

        asked: dict[str, Any] = {"within": wish.within_s, "budget": wish.budget, "confidence": wish.confidence}
        asked |= {"properties": redact(properties), "given": dict(given), "passed": list(wish.passed)}
        try:
            told = self._client.submission(wish.study, explore=wish.explore, **asked)
        except ServiceDown as error:
            raise RunError(str(error), hint="start it with `sparkcast serve`") from None
        except ServiceFailed as error:
            raise StudyError(error.problem, hint=error.hint) from None
        return SubmissionAdvice(
            told["verdict"],
            told["reason"],
            Configuration(told["configuration"]),
            Configuration(told["held"]),
            told["properties"],
            told["arguments"],
            tuple(told["words"]),
            told["probability"],
            None,
            told["step"],
        )

    def report(self, study: str, run: Mapping[str, Any]) -> str:
        from sparkcast.client import ServiceDown, ServiceFailed

        try:
            self._client.append(study, [run], key=str(run["run_id"]), tries=3)
        except (ServiceDown, ServiceFailed) as error:
            return f"its result was not stored: {error}"
        return f"stored as a run of {study}"


def submit(
    line: str | Sequence[str],
    wish: Wish,
    adviser: Adviser,
    *,
    is_dry: bool = False,
    say: Callable[[str], None] = lambda message: None,
) -> SubmittedJob:
    """Ask for settings, add them to the line, run it, and give the result back.

    What the line says itself is never changed: other settings are chosen for it. Where nobody answers, or nothing keeps
    to the limits, the job runs as it was written.

    Args:
        line: The spark-submit line, or its words.
        wish: The study, its limits, and how the program takes settings.
        adviser: A service or a store.
        is_dry: Only ask.
        say: Told what is done, before the job runs.

    Returns:
        The line that ran, its exit code and time, and what became of the result.

    Raises:
        StudyError: The line submits nothing.
        RunError: Its command cannot be started.
    """
    words = shlex.split(line) if isinstance(line, str) else [*line]
    parsed = parse_line(words)
    given = {**_given_in(parsed.arguments, wish.passed), **wish.fix}
    advice, why = None, ""
    try:
        advice = adviser.advise(wish, parsed.properties, given)
    except (SparkcastError, OSError) as error:
        why = error.problem if isinstance(error, SparkcastError) else str(error)
        say(f"running as written: {why}")
    if advice is not None:
        words = _with(words, advice)
        say(f"using {advice.configuration}{f': {advice.reason}' if advice.reason else ''}")
    if is_dry:
        return SubmittedJob(tuple(words), 0, 0.0, advice, why, "not run")
    started_at, began = time.time(), time.monotonic()
    exit_code = _run(words)
    took_s = time.monotonic() - began
    stored = _stored(wish, adviser, advice, exit_code, started_at, took_s)
    return SubmittedJob(tuple(words), exit_code, took_s, advice, why, stored)


def _given_in(arguments: Sequence[str], passed: Sequence[str]) -> dict[str, Level]:
    """What the line gives its program already: --batch-size 128, or --batch-size=128."""
    found: dict[str, Level] = {}
    for place, word in enumerate(arguments):
        option, equals, value = word.partition("=")
        for name in passed:
            if option in (_option(name), f"--{name}"):
                following = arguments[place + 1 : place + 2]
                if equals or following:
                    found[name] = Configuration({name: value if equals else following[0]})[name]
    return found


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _with(words: Sequence[str], advice: SubmissionAdvice) -> list[str]:
    """The line with what was advised: properties in front, arguments at its end."""
    added = [part for name, level in advice.arguments.items() for part in (_option(name), str(level))]
    return [*with_properties(words, advice.properties), *advice.words, *added]


def _run(words: Sequence[str]) -> int:
    """The job, with our input and output; a signal to us is one to it. Returns its exit code."""
    has_environment = "=" in words[0] and "/" not in words[0].partition("=")[0]
    command = ["env", *words] if has_environment else [*words]
    try:
        process = subprocess.Popen(command)
    except OSError as error:
        raise RunError(
            f"cannot start {PurePath(command[0]).name!r}: {error.strerror or error}",
            hint="check that it is on the PATH",
        ) from error
    former = {one: signal.signal(one, lambda number, _: process.send_signal(number)) for one in _PASSED}
    try:
        code = process.wait()
    finally:
        for one, handler in former.items():
            signal.signal(one, handler)
    return code


_PASSED = (signal.SIGTERM, signal.SIGINT)


def _stored(
    wish: Wish, adviser: Adviser, advice: SubmissionAdvice | None, exit_code: int, started_at: float, took_s: float
) -> str:
    if advice is None:
        return "its result was not stored: its settings are not known"
    if exit_code in _LOST:
        return "its result was not stored: it was stopped"
    is_good = exit_code == 0
    run = {
        "configuration": dict(advice.configuration),
        "responses": {TOTAL_TIME: took_s} if is_good else {},
        "outcome": "ok" if is_good else "error",
        "cause": "" if is_good else f"exit code {exit_code}",
        "started_at": started_at,
        "run_id": f"submit-{int(started_at * 1000):x}-{secrets.token_hex(4)}",
    }
    try:
        return adviser.report(wish.study, run)
    except SparkcastError as error:
        return f"its result was not stored: {error.problem}"


def described(found: SubmittedJob) -> SubmittedJob:
    """Without secrets of the line, to be shown."""
    return replace(found, command=tuple(redact_arguments(found.command)))
