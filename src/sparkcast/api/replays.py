"""What other clusters would have made of a run: event logs, replayed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sparkcast.data.sources import Data, Source, file_behind
from sparkcast.errors import StudyError
from sparkcast.study import Configuration, Level, Price, Role

if TYPE_CHECKING:
    from sparkcast.models.replay import RecordedRun
    from sparkcast.recommend import Recommendation
    from sparkcast.recommend.advise import Choices
    from sparkcast.recommend.question import Question
    from sparkcast.replay import Recorded, WhatIf, WhatIfQuestion

_ASKED = (Role.MACHINES, Role.CORES)


def whatif(
    logs: Source | Sequence[Source],
    *,
    executors: Sequence[int] | None = None,
    cores: Sequence[int] | None = None,
    partitions: int | None = None,
    data: float = 1.0,
    dynamic: tuple[int, int] | None = None,
    price: Price | None = None,
) -> "WhatIf":
    """What other clusters would have made of an application, by replaying its event log.

    Args:
        logs: An event log, or several of the same job: their spread is then the interval. The first is the one that
            answers are compared with.
        executors: How many; by default from a quarter to four times as many as there were.
        cores: Of an executor; by default as many as there were.
        partitions: Another spark.sql.shuffle.partitions.
        data: How many times as much data. Refused where a broadcast join would no longer be one.
        dynamic: The least and the most executors of dynamic allocation.
        price: Per core-hour and GiB-hour.

    Returns:
        Time with a 90% interval, core-hours, cost and utilization for each cluster; the knee, the floor, traps, and
        what was taken into account.

    Raises:
        StudyError: A log cannot be read or has no tasks, or the question does not suit it.
        NotEnoughDataError: More data would change a plan.
        InfeasibleError: A stage could not start: a barrier needs more slots.

    >>> found = whatif("log.zstd", cores=[1, 2, 4])
    >>> [one.cores for one in found.configurations]
    [1, 2, 4]
    """
    from sparkcast.replay import what_if

    return what_if(_recorded(logs), _question(executors, cores, partitions, data, dynamic, price))


def _question(
    executors: Sequence[int] | None,
    cores: Sequence[int] | None,
    partitions: int | None,
    data: float,
    dynamic: tuple[int, int] | None,
    price: Price | None,
) -> "WhatIfQuestion":
    from sparkcast.replay import WhatIfQuestion

    return WhatIfQuestion(
        None if executors is None else tuple(executors),
        None if cores is None else tuple(cores),
        partitions,
        data,
        dynamic,
        price,
    )


def whatif_within(
    logs: Source | Sequence[Source],
    *,
    within_s: float | None = None,
    budget: float | None = None,
    confidence: float = 0.95,
    executors: Sequence[int] | None = None,
    cores: Sequence[int] | None = None,
    partitions: int | None = None,
    data: float = 1.0,
    price: Price | None = None,
) -> "Recommendation":
    """The cheapest cluster that keeps to a deadline or a budget, by replaying an event log.

    Args:
        logs: An event log, or several of the same job.
        within_s: The deadline, seconds from submission to exit.
        budget: The most that a run may cost; needs a price.
        confidence: The probability with which each must be kept.
        executors: How many; by default from a quarter to four times as many as there were.
        cores: Of an executor; by default as many as there were.
        partitions: Another spark.sql.shuffle.partitions.
        data: How many times as much data.
        price: Per core-hour and GiB-hour.

    Returns:
        The cluster, what it is predicted to take and cost, and what else there is: as from `recommend`.

    Raises:
        StudyError, NotEnoughDataError: As in `whatif`.
        InfeasibleError: No cluster keeps to them; the error has the nearest.

    >>> whatif_within("log.zstd", within_s=3600, cores=[1, 2]).chosen.configuration["executors"]
    2
    """
    from sparkcast.recommend.question import Question
    from sparkcast.recommend.replayed import recommend_replayed

    asked = Question(within_s=within_s, budget=budget, confidence=confidence)
    found = whatif(logs, executors=executors, cores=cores, partitions=partitions, data=data, price=price)
    return recommend_replayed(found, asked)


def write_whatif_figures(
    logs: Source | Sequence[Source],
    folder: Source,
    *,
    executors: Sequence[int] | None = None,
    cores: Sequence[int] | None = None,
    partitions: int | None = None,
    data: float = 1.0,
    dynamic: tuple[int, int] | None = None,
    price: Price | None = None,
    force: bool = False,
) -> list[Path]:
    """Draw time and cost of other clusters with interval, knee and the measured one; and tasks, measured and replayed.

    Args:
        logs: An event log, or several of the same job.
        folder: Where PNG, SVG and Vega-Lite files go.
        executors: How many; by default from a quarter to four times as many as there were.
        cores: Of an executor; by default as many as there were.
        partitions: Another spark.sql.shuffle.partitions.
        data: How many times as much data.
        dynamic: The least and the most executors of dynamic allocation.
        price: Per core-hour and GiB-hour.
        force: Replace files that exist.

    Returns:
        The files that were written.

    Raises:
        StudyError: As in `whatif`; or a file exists and `force` is not given.

    >>> drawn = write_whatif_figures("log.zstd", "whatif", cores=[1, 2, 4])
    >>> sorted(file.name for file in drawn if file.suffix == ".svg")
    ['replayed-tasks.svg', 'whatif.svg']
    """
    from sparkcast.replay import what_if
    from sparkcast.report.figures import replay_figures, write_figures

    sources = _recorded(logs)
    found = what_if(sources, _question(executors, cores, partitions, data, dynamic, price))
    return write_figures(replay_figures(found, sources[0]), Path(folder), force=force)


def _recorded(logs: Source | Sequence[Source]) -> "list[Recorded]":
    from sparkcast.eventlogs import find_logs, read_log
    from sparkcast.facts import facts_of
    from sparkcast.replay import recorded

    sources = [logs] if isinstance(logs, str | Path) else list(logs)
    found = [log for source in sources for log in find_logs(file_behind(source))]
    if not found:
        raise StudyError(f"{', '.join(map(str, sources))!r} contains no event log", hint="give an event log")
    made = []
    for one in found:
        read = read_log(one)
        made.append(recorded(read, facts_of(read)))
    names = {one.facts.application.name for one in made}
    if len(names) > 1:
        raise StudyError(
            f"the logs are of several jobs: {', '.join(sorted(names)[:3])}", hint="give logs of one job, or one log"
        )
    return made


# ---------------------------------------------------------------- where other questions are answered by replaying


def is_replayed(data: Data, model: str, choices: "Choices | None" = None) -> bool:
    """Whether a recommendation from these runs is one of clusters: executors never varied, nor did anything else.

    Nobody chooses how much data there is. The logs of the runs must still be there.
    """
    from sparkcast.study.setting import SIZES

    words, runs = data.dataset.vocabulary, data.dataset.observations
    if not may_replay(model) or not any(run.origin is not None for run in runs):
        return False
    varied = {words.role(name) for name in data.dataset.factors}
    chosen = set() if choices is None else {words.role(name) for name in choices.levels}
    is_fixed = varied <= set(SIZES) and chosen <= set(_ASKED)
    return replays_logs(model) or (is_fixed and bool(_logs_of(data, {})))


def replays_logs(model: str) -> bool:
    """Whether it is a model that takes the logs of runs."""
    from sparkcast.models import MODELS

    return model in MODELS.declaring("replays_logs")


def may_replay(model: str) -> bool:
    """Also where nobody says which model."""
    from sparkcast.models import MODELS

    return model == MODELS.default() or replays_logs(model)


def _logs_of(data: Data, fix: Mapping[str, Level]) -> "tuple[RecordedRun, ...]":
    """The latest logs of runs with these settings; of several amounts of data, with the largest, or the nearest."""
    from sparkcast.models.replay import recorded_runs
    from sparkcast.study.setting import SIZES
    from sparkcast.units import as_number

    words = data.dataset.vocabulary
    size = words.first(*SIZES, among=data.dataset.factors)
    others = {name: level for name, level in fix.items() if name != size and words.role(name) not in _ASKED}
    runs = [run for run in data.dataset.observations if run.ok and run.configuration.includes(Configuration(others))]
    if size is not None:
        amounts = [as_number(run.configuration.get(size, "")) or 0.0 for run in runs]
        wanted = as_number(fix[size]) if size in fix else None
        nearest = max(amounts, default=0.0) if wanted is None else min(amounts, key=lambda one: abs(one - wanted))
        runs = [run for run, amount in zip(runs, amounts, strict=True) if amount == nearest]
    return recorded_runs(runs)


def recommend_clusters(
    source: "Data | Source", question: "Question", *, choices: "Choices | None" = None, price: Price | None = None
) -> "Recommendation":
    """The cluster for a deadline or a budget, by replaying an event log or those of a history's latest runs."""
    from sparkcast.recommend.replayed import CORES, EXECUTORS, recommend_replayed
    from sparkcast.replay import what_if
    from sparkcast.replay.whatif import around

    notes: tuple[str, ...] = ()
    more = 1.0
    if isinstance(source, Data):
        logs = _logs_of(source, question.fix)
        if not logs:
            raise StudyError(
                f"no event log of {source.dataset.name} with {Configuration(question.fix)} can be read",
                hint="leave logs where they were ingested from, or leave out `fix=`",
            )
        sources, price = [one.source for one in logs], price or source.price
        names = {source.dataset.vocabulary.role(name): name for name in logs[0].run.configuration}
        size, more = _data_size(source, question.fix, logs)
        question = replace(question, fix={name: level for name, level in question.fix.items() if name != size})
        notes = (_why_replayed(source, logs),)
    else:
        sources, names = _recorded(source), {}
    asked = {names.get(role, usual): usual for role, usual in zip(_ASKED, (EXECUTORS, CORES), strict=True)}
    counts = _asked_counts(question, choices, asked, is_log=not isinstance(source, Data))
    if more != 1.0 and not counts:  # with more data too, a choice of clusters
        one = sources[0]
        is_local = one.facts.shape.is_local
        counts = {CORES: around(one.cores)} if is_local else {EXECUTORS: around(one.executors)}
    found = what_if(sources, _question(counts.get(EXECUTORS), counts.get(CORES), None, more, None, price))
    answer = recommend_replayed(found, question)
    return replace(answer, notes=(*notes, *answer.notes))


def _data_size(data: Data, fix: Mapping[str, Level], logs: "Sequence[RecordedRun]") -> tuple[str | None, float]:
    """The setting that is the size of the data, and how many times as much is asked for as the logs have."""
    from sparkcast.study.setting import SIZES
    from sparkcast.units import as_number

    size = data.dataset.vocabulary.first(*SIZES, among=data.dataset.factors)
    had = None if size is None else as_number(logs[0].run.configuration.get(size, ""))
    wanted = as_number(fix[size]) if size is not None and size in fix else None
    return size, wanted / had if wanted and had else 1.0


def _why_replayed(data: Data, logs: "Sequence[RecordedRun]") -> str:
    runs = "the latest run" if len(logs) == 1 else f"the latest {len(logs)} runs"
    words = data.dataset.vocabulary
    varied = any(words.role(name) in _ASKED for name in data.dataset.factors)
    return f"{'' if varied else 'executors never varied: '}replayed from the event logs of {runs}"


def _asked_counts(
    question: "Question", choices: "Choices | None", asked: Mapping[str, str], *, is_log: bool
) -> dict[str, list[int]]:
    """Executors and cores to choose from: those that are fixed, or given."""
    given: dict[str, Sequence[Level]] = {} if choices is None else dict(choices.levels)
    if choices is not None and choices.free_epochs:
        raise StudyError("an event log has no epochs to choose", hint="leave out `free_epochs=`")
    given |= {name: [level] for name, level in question.fix.items() if name in asked or is_log}
    found: dict[str, list[int]] = {}
    for name, levels in given.items():
        if name not in asked:
            raise StudyError(
                f"a replay varies {' and '.join(asked)}, and not {name!r}",
                hint="ingest logs of runs with other values of it, and ask the store",
            )
        found[asked[name]] = [_whole(name, level) for level in levels]
    return found


def _whole(name: str, level: Level) -> int:
    if isinstance(level, bool) or not isinstance(level, int | float) or level != int(level):
        raise StudyError(f"{name}={level} is not a whole number", hint=f"e.g. `fix={{{name!r}: 4}}`")
    return int(level)


def with_cluster(data: Data, model: str, at: Sequence[Mapping[str, Level]]) -> tuple[Data, str, tuple[str, ...]]:
    """Runs, model and notes of a prediction: of replays, where it is about another cluster than that of all runs."""
    from sparkcast.models import MODELS

    words, dataset = data.dataset.vocabulary, data.dataset
    had = {name: level for run in dataset.observations for name, level in run.configuration.items()}
    constant = [name for role in _ASKED if (name := words.first(role, among=had)) and name not in dataset.factors]
    others = [name for name in constant if any(name in one and one[name] != had[name] for one in at)]
    logs = _logs_of(data, {}) if others and may_replay(model) else ()
    if not logs:
        return data, model, ()
    asked = tuple(name for name in constant if any(name in one for one in at))
    factors = tuple(dict.fromkeys((*dataset.factors, *asked)))
    replayed = replace(data, dataset=replace(dataset, factors=factors))
    return replayed, MODELS.declaring("replays_logs")[0], (_why_replayed(data, logs),)
