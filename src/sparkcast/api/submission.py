"""A job in production: settings from its runs, added to its line; and its result, given back."""

import secrets
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, Protocol

from sparkcast.api.advisor import Advisor
from sparkcast.api.exploring import explored
from sparkcast.data.sources import Data, load_data
from sparkcast.engines.running_jobs import jobs_running_at
from sparkcast.errors import NotEnoughDataError, RunError, SparkcastError, StoreError, StudyError, UnknownNameError
from sparkcast.recommend.question import Question
from sparkcast.recommend.submission import AskedLine, SubmissionAdvice, SubmittedJob, advise_line
from sparkcast.study import Configuration, Level, LogOrigin, Observation, Outcome
from sparkcast.study.application import TOTAL_TIME
from sparkcast.study.redaction import redact, redact_arguments
from sparkcast.workloads.lines import parse_line, with_properties

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
    levels: Mapping[str, Sequence[Level]] = field(default_factory=dict)  # to explore; the first of each is today's
    jobs_running: int | str | None = None  # on the cluster now: their number, or the URL of the UI that counts them


class Adviser(Protocol):
    """Who is asked for settings, and told the result: a service, or a store."""

    def advise(self, wish: Wish, line: AskedLine, n_running: int | None) -> SubmissionAdvice: ...
    def report(self, study: str, run: Mapping[str, Any]) -> str: ...


class StoreAdviser:
    """Asks the runs of a store, and keeps results in it."""

    def __init__(self, store: str) -> None:
        self._store = store

    def advise(self, wish: Wish, line: AskedLine, n_running: int | None) -> SubmissionAdvice:
        question = Question(within_s=wish.within_s, budget=wish.budget, confidence=wish.confidence)
        if wish.explore:
            return explored(self._runs(wish), question, line, wish.levels)
        recommender = Advisor.of(load_data(self._store, study=wish.study)).recommender
        return advise_line(recommender, question, line, n_running)

    def _runs(self, wish: Wish) -> Data | None:
        """None before the first run, where that may be explored."""
        try:
            return load_data(self._store, study=wish.study)
        except (UnknownNameError, NotEnoughDataError, StoreError):
            if not wish.levels:
                raise
            return None

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

    def advise(self, wish: Wish, line: AskedLine, n_running: int | None) -> SubmissionAdvice:
        from sparkcast.client import ServiceDown, ServiceFailed

        asked: dict[str, Any] = {"within": wish.within_s, "budget": wish.budget, "confidence": wish.confidence}
        asked |= {"properties": redact(line.properties), "given": dict(line.given), "passed": list(line.passed)}
        if wish.explore:
            asked |= {"explore": True, "levels": {name: list(own) for name, own in wish.levels.items()}}
        elif n_running is not None:
            asked["jobs_running"] = n_running
        try:
            told = self._client.submission(wish.study, **asked)
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
            told["deadline_risk"],
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
    asked = AskedLine(parsed.properties, {**_given_in(parsed.arguments, wish.passed), **wish.fix}, wish.passed)
    advice, why = None, ""
    try:
        running = wish.jobs_running
        n_running = jobs_running_at(running) if isinstance(running, str) else running
        advice = adviser.advise(wish, asked, n_running)
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
