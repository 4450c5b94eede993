"""Safe tuning of a recurring job: the settings of its next production run, at most one of them changed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sparkcast.data.sources import Data
from sparkcast.errors import StudyError
from sparkcast.recommend.question import Question
from sparkcast.recommend.submission import AskedLine, SubmissionAdvice, advice_at, held_by
from sparkcast.search.safe import Guard, PastRun, Step, one_change_each, propose
from sparkcast.study import Configuration, Dataset, Level, Vocabulary
from sparkcast.study.names import completed

Levels = Mapping[str, Sequence[Level]]
_FIRST_RUNS = "its first runs are made as it is today"


def explored(
    data: Data | None, question: Question, line: AskedLine, levels: Levels | None = None, *, risk: float = 0.05
) -> SubmissionAdvice:
    """What the next run of a recurring job should use.

    Args:
        data: Its runs so far; None where it has none.
        question: Its deadline.
        line: What its line says already: that stays.
        levels: The settings that may be tuned. The first level of each is what the job has today. Without them, those
            that its runs or its study vary.
        risk: The most that a changed run may risk of missing the deadline; and of all runs since the first change, the
            share that may be expected to take more than 1.2 times what the job took before.

    Raises:
        StudyError: Nothing varies and no levels are given, or a setting that nobody could set.
    """
    chosen = {name: tuple(own) for name, own in (levels or _levels_of(data)).items()}
    words = completed(Vocabulary() if data is None else data.dataset.vocabulary, tuple(chosen), ())
    held = held_by(line, tuple(chosen), words)
    past = [] if data is None else _past(data.dataset, tuple(chosen), held)
    constants = _constants(data, tuple(chosen))
    if not any(run.time_s is not None for run in past):
        if not levels:
            raise StudyError("no run with the settings of this line ended well", hint="run it as it is once")
        today = Configuration({name: own[0] for name, own in chosen.items()}) | held
        return replace(
            advice_at(today, line, held, words, constants), reason=_FIRST_RUNS, step=Step.KEEP.value, deadline_risk=0.0
        )
    guard = Guard(within_s=question.within_s, risk=risk, deadline_risk=risk)
    free = {name: own for name, own in chosen.items() if name not in held}
    near = [one for run in past for one in one_change_each(run.configuration, free)]
    base = propose(past, near, guard, vocabulary=words).base
    found = propose(past, one_change_each(base, free), guard, vocabulary=words)
    advice = advice_at(found.configuration, line, held, words, constants)
    return replace(advice, reason=found.why, step=found.step.value, deadline_risk=found.deadline_risk)


def _levels_of(data: Data | None) -> Levels:
    """What the study may vary, and what its runs had."""
    runs = () if data is None else data.dataset.factors
    if data is None or not runs:
        raise StudyError(
            "its runs never varied a setting, so nothing says what may be changed",
            hint="add `levels=spark.sql.shuffle.partitions=200,50,400`; the first is what it has today",
        )
    declared = {factor.name: factor.levels for factor in data.study.factors} if data.study is not None else {}
    return {name: declared.get(name) or data.dataset.levels(name) for name in runs}


def _past(runs: Dataset, names: Sequence[str], held: Mapping[str, Level]) -> list[PastRun]:
    """The runs with these settings, oldest first."""
    time_name = runs.vocabulary.required_time()
    seconds = runs.vocabulary.response(time_name).seconds
    found = []
    for run in sorted(runs.observations, key=lambda one: (one.started_at or 0.0, one.position)):
        own = run.configuration.only([name for name in names if name in run.configuration])
        if len(own) == len(names) and own.includes(Configuration({n: held[n] for n in names if n in held})):
            is_timed = run.ok and time_name in run.responses
            found.append(PastRun(own, seconds(run.responses[time_name]) if is_timed else None))
    return found


def _constants(data: Data | None, besides: Sequence[str]) -> Configuration:
    """What all runs had."""
    from sparkcast.learned.about import constants_in

    return Configuration() if data is None else constants_in(data.dataset).without(*besides)
