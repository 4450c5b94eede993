"""What assistants may ask: eight questions, each answered shortly, with a label, what it rests on, and the command that
repeats it."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sparkcast import api
from sparkcast.display import Displayed
from sparkcast.errors import NotEnoughDataError, SparkcastError, StudyError
from sparkcast.recommend.advise import with_load
from sparkcast.recommend.question import Question
from sparkcast.recommend.small_samples import most_teaching
from sparkcast.recommend.verdict import check_settings
from sparkcast.serve.learning import Learned
from sparkcast.serve.state import ServiceState
from sparkcast.study import Configuration
from sparkcast.units import as_number, parse_seconds, show_level, show_probability
from sparkcast.wire.documents import document_of
from sparkcast.wire.failures import failure_of

Label = Literal["measured", "predicted inside", "extrapolated", "refused", "replayed"]
_WEAKEST_FIRST: tuple[Label, ...] = ("extrapolated", "predicted inside", "measured")
_MOST_LINES = 12
_NO_DETAILS: Mapping[str, Any] = {}


class ToolAnswer(BaseModel):
    """An answer for an assistant. Without `details`, only what people read first."""

    model_config = ConfigDict(frozen=True)

    label: Label
    answer: str
    basis: str
    command: str  # that gives the same answer
    details: dict[str, Any] = Field(default_factory=dict)

    def __init__(self, label: Label, answer: str, basis: str, command: str, details: Mapping[str, Any] = _NO_DETAILS):
        super().__init__(label=label, answer=answer, basis=basis, command=command, details=dict(details))


class AssistantTools:
    """The questions. What goes wrong is an answer too: an assistant that is refused should say why."""

    def __init__(self, state: ServiceState, *, reads_files: bool) -> None:
        """`reads_files`: whoever asks is the user of this machine, and may name logs by their path."""
        self._state, self._reads_files = state, reads_files

    def what_is_known(self, study: str = "", details: bool = False) -> ToolAnswer:
        """What can be asked about; of one study: its settings with their levels, responses, runs and failures."""
        if not study:
            names = self._state.names()
            jobs = [f"{job.name} ({len(job.runs)} runs)" for job in self._state.histories()]
            told = f"Studies and tables: {', '.join(names) or 'none'}."
            told += f" Recurring jobs: {', '.join(jobs[:20])}." if jobs else ""
            return ToolAnswer("measured", told, "the store", "sparkcast jobs STORE")
        return self._answered(lambda: self._known(study), f"sparkcast analyze {shlex.quote(study)}")

    def _known(self, study: str) -> ToolAnswer:
        learned = self._state.learned(study)
        runs = learned.data.dataset
        levels = "; ".join(f"{name}: {', '.join(map(str, runs.levels(name)))}" for name in runs.factors)
        failed = sum(not run.ok for run in runs.observations)
        told = f"{len(runs.observations)} runs ({failed} failed). Settings: {levels or 'none varied'}. "
        told += f"Responses: {', '.join(runs.responses)}."
        return ToolAnswer("measured", told, _basis(learned), f"sparkcast analyze {self._data(learned)}")

    def predict(
        self,
        study: str,
        settings: dict[str, int | float | str],
        response: str = "",
        extrapolate: bool = False,
        details: bool = False,
    ) -> ToolAnswer:
        """How long a run will take (or another response) at these settings, with its 90% interval."""
        at = ",".join(f"{name}={level}" for name, level in settings.items())

        def ask() -> ToolAnswer:
            learned = self._state.learned(study)
            options: dict[str, Any] = {"response": response} if response else {}
            label = _label_at(learned, settings)
            try:
                found = api.predict(learned.source, settings, **options)
            except NotEnoughDataError:
                if not extrapolate:
                    raise
                found, label = api.predict(learned.source, settings, extrapolate=True, **options), "extrapolated"
            command = f"sparkcast predict {self._data(learned)} --at {shlex.quote(at)}"
            command += f" --response {shlex.quote(response)}" if response else ""
            command += " --extrapolate" if extrapolate else ""
            return _told(label, found, learned, command, details, "predict")

        return self._answered(ask, f"sparkcast predict {shlex.quote(study)} --at {shlex.quote(at)}")

    def recommend(
        self,
        study: str,
        within: str = "",
        budget: float | None = None,
        limits: list[str] | None = None,
        maximize: str = "",
        minimize: str = "",
        fix: dict[str, int | float | str] | None = None,
        jobs_running: int | None = None,
        details: bool = False,
    ) -> ToolAnswer:
        """The settings that meet a deadline ("300s"), a budget or limits ("auc >= 0.9") with 95% probability.

        `jobs_running`: jobs on the cluster now, where the runs varied how many there were."""
        command = " ".join(
            part
            for part in (
                f"--within {shlex.quote(within)}" if within else "",
                f"--budget {budget:g}" if budget is not None else "",
                *(f"--limit {shlex.quote(limit)}" for limit in limits or ()),
                f"--maximize {shlex.quote(maximize)}" if maximize else "",
                f"--minimize {shlex.quote(minimize)}" if minimize else "",
                f"--jobs-running {jobs_running}" if jobs_running is not None else "",
                f"--fix {shlex.quote(','.join(f'{n}={v}' for n, v in (fix or {}).items()))}" if fix else "",
            )
            if part
        )

        def ask() -> ToolAnswer:
            learned = self._state.learned(study)
            question = Question(
                limits=limits or (),
                maximize=maximize or None,
                minimize=minimize or None,
                fix=fix or {},
                within_s=parse_seconds(within) if within else None,
                budget=budget,
            )
            if learned.is_replayed and jobs_running is None:
                replayed = api.recommend(learned.data, question)
                return _told(
                    "replayed", replayed, learned, f"sparkcast recommend {self._data(learned)} {command}", details
                )
            found = learned.advisor.recommend(question, api.Present(jobs_running))
            label = _label_at(learned, found.chosen.configuration)
            return _told(label, found, learned, f"sparkcast recommend {self._data(learned)} {command}", details)

        return self._answered(ask, f"sparkcast recommend {shlex.quote(study)} {command}")

    def check(
        self,
        line: str = "",
        study: str = "",
        settings: dict[str, int | float | str] | None = None,
        within: str = "",
        budget: float | None = None,
        jobs_running: int | None = None,
    ) -> ToolAnswer:
        """May this job start now? Give the spark-submit `line` of a recurring job, or a `study` with `settings`."""
        limit_words = f"{f'--within {shlex.quote(within)} ' if within else ''}"
        limit_words += f"--budget {budget:g} " if budget is not None else ""

        def ask() -> ToolAnswer:
            within_s = parse_seconds(within) if within else None
            if line:
                store = self._state.store()
                if store is None:
                    raise StudyError("the service has no store", hint="start it with --store")
                found = api.check(line, store, within_s=within_s, budget=budget)
                label: Label = "refused" if found.probability is None else "predicted inside"
                return ToolAnswer(
                    label, _short(found), "; ".join(found.basis), f"sparkcast check {limit_words}-- {line}"
                )
            learned = self._state.learned(study)
            question = Question(within_s=within_s, budget=budget)
            recommender = learned.advisor.recommender
            joined = with_load(recommender, {}, jobs_running)
            verdict = check_settings(recommender, {**(settings or {}), **joined}, replace(question, fix=joined))
            label = _label_at(learned, {**(settings or {}), **joined})
            better = verdict.change_to
            told = f"{verdict.verdict}: {verdict.reason}." + (f" Use {better.configuration}." if better else "")
            command = f"sparkcast recommend {self._data(learned)} {limit_words.strip()}"
            return ToolAnswer(label, told, _basis(learned), command)

        return self._answered(ask, f"sparkcast check {limit_words}-- {line or 'spark-submit ...'}")

    def profile(self, log: str = "", study: str = "", run: str = "", details: bool = False) -> ToolAnswer:
        """Where the time of one finished run went, and what to change. `log`: a path; or `run` of a `study`."""

        def ask() -> ToolAnswer:
            path = self._log(log, study, run)
            return _told(
                "measured", api.profile(path), None, f"sparkcast profile {shlex.quote(path)}", details, "profile"
            )

        return self._answered(ask, f"sparkcast profile {shlex.quote(log or 'LOG')}")

    def whatif(
        self,
        log: str = "",
        study: str = "",
        run: str = "",
        executors: list[int] | None = None,
        cores: list[int] | None = None,
        details: bool = False,
    ) -> ToolAnswer:
        """How long the run of an event log would have taken with other executors or cores."""
        words = f" --executors {','.join(map(str, executors))}" if executors else ""
        words += f" --cores {','.join(map(str, cores))}" if cores else ""

        def ask() -> ToolAnswer:
            path = self._log(log, study, run)
            found = api.whatif(path, executors=executors, cores=cores)
            return _told("replayed", found, None, f"sparkcast whatif {shlex.quote(path)}{words}", details, "whatif")

        return self._answered(ask, f"sparkcast whatif {shlex.quote(log or 'LOG')}{words}")

    def compare(
        self, study: str, a: dict[str, int | float | str], b: dict[str, int | float | str], response: str = ""
    ) -> ToolAnswer:
        """Two settings of a study side by side: which is predicted better, and how sure that is."""

        def ask() -> ToolAnswer:
            learned = self._state.learned(study)
            options: dict[str, Any] = {"response": response} if response else {}
            first, second = (api.predict(learned.source, one, **options) for one in (a, b))
            name = first.prediction.response
            meaning = first.vocabulary.response(name)
            draws = first.sample(4000, seed=1) < second.sample(4000, seed=2)
            chance = float(draws.mean())
            lines = [
                f"{label}: {show_level(one.prediction.value)} ({show_level(one.prediction.low)} to "
                f"{show_level(one.prediction.high)}) {meaning.unit}".rstrip()
                for label, one in (("a", first), ("b", second))
            ]
            told = (
                f"{name}. {'; '.join(lines)}. A run of a is below one of b with {show_probability(chance)} probability."
            )
            labels = {_label_at(learned, a), _label_at(learned, b)}
            label = next(one for one in _WEAKEST_FIRST if one in labels)
            at = ",".join(f"{setting}={level}" for setting, level in a.items())
            command = f"sparkcast predict {self._data(learned)} --at {shlex.quote(at)}"
            return ToolAnswer(label, told, _basis(learned), command)

        return self._answered(ask, f"sparkcast predict {shlex.quote(study)} --at SETTINGS")

    def next_run_to_make(self, study: str) -> ToolAnswer:
        """Which run, not made yet, would teach most about the time of a study."""

        def ask() -> ToolAnswer:
            learned = self._state.learned(study)
            recommender = learned.advisor.recommender
            asked, _ = recommender.standing(Question(most=2))
            time = recommender.words.required_time()
            teaching = most_teaching(asked, recommender.known, time)
            command = f"sparkcast recommend {self._data(learned)} --details"
            if not teaching:
                return ToolAnswer("measured", "Every candidate was run.", _basis(learned), command)
            told = f"Run {teaching[0]}: its {time} is known least."
            told += f" Then {teaching[1]}." if len(teaching) > 1 else ""
            return ToolAnswer("predicted inside", told, _basis(learned), command)

        return self._answered(ask, f"sparkcast recommend {shlex.quote(study)} --details")

    # ------------------------------------------------------------ what they share

    def _answered(self, ask: Callable[[], ToolAnswer], command: str) -> ToolAnswer:
        try:
            return ask()
        except (SparkcastError, OSError) as error:
            failure = failure_of(error)
            hint = f"\n  hint: {failure.hint}" if failure.hint else ""
            return ToolAnswer("refused", failure.problem + hint, "", command)

    def _data(self, learned: Learned) -> str:
        """What commands call it."""
        entry = learned.entry
        if entry.kind == "store":
            return f"{shlex.quote(entry.source)} --study {shlex.quote(entry.name)}"
        return shlex.quote(entry.source)

    def _log(self, log: str, study: str, run: str) -> str:
        if log and self._reads_files:
            if not Path(log).exists():
                raise StudyError(f"there is no log {log!r}", hint="give its whole path")
            return log
        if log:
            raise StudyError("paths are not read over HTTP", hint="give `study` and `run`, or use stdio")
        entry = self._state.catalog.entry(study)
        stored = () if entry.store is None else self._state.open(entry.store).ingested(entry.name)
        known = [one for one in stored if one.origin is not None and (one.run_id == run or not run)]
        found = next((one.origin.log for one in reversed(known) if one.origin and Path(one.origin.log).exists()), None)
        if found is None:
            raise StudyError(f"the store knows no log of {study!r}", hint="ingest it, or give `log`")
        return found


def _basis(learned: Learned) -> str:
    basis = learned.basis()
    return f"{basis.runs} runs of {basis.configurations} configurations, learned {basis.learned_at} ({basis.digest})"


def _was_run(learned: Learned, settings: Mapping[str, Any]) -> bool:
    at = Configuration(settings)
    return any(seen.ok and seen.configuration.includes(at) for seen in learned.knowledge.about.seen)


def _label_at(learned: Learned, settings: Mapping[str, Any]) -> Label:
    """Measured where a run had these settings; inside where none is beyond the levels that were run."""
    if _was_run(learned, settings):
        return "measured"
    runs = learned.data.dataset
    for name, level in Configuration(settings).items():
        levels = runs.levels(name) if name in runs.factors else ()
        numbers = [number for one in levels if (number := as_number(one)) is not None]
        own = as_number(level)
        is_near = level in levels if own is None or len(numbers) < len(levels) else min(numbers) <= own <= max(numbers)
        if levels and not is_near:
            return "extrapolated"
    return "predicted inside"


def _short(found: Displayed) -> str:
    lines = found.text(width=100).strip().splitlines()
    return "\n".join(lines[:_MOST_LINES])


def _told(
    label: Label, found: Displayed, learned: Learned | None, command: str, details: bool, name: str = "recommend"
) -> ToolAnswer:
    basis = "the event log" if learned is None else _basis(learned)
    whole = dict(document_of(name, found)) if details else {}
    return ToolAnswer(label, _short(found), basis, command.strip(), whole)
