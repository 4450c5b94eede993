"""What to add to a spark-submit line: settings that keep to the limits, given what the line says already."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from sparkcast.display import Displayed
from sparkcast.errors import StudyError
from sparkcast.recommend import Candidate
from sparkcast.recommend.advise import with_load
from sparkcast.recommend.brief import choose_briefly
from sparkcast.recommend.choose import Recommender
from sparkcast.recommend.launch import launch_of_table
from sparkcast.recommend.question import Question
from sparkcast.recommend.submit import INSTANCES, TOTAL_CORES, cluster_properties, is_property
from sparkcast.study import Configuration, Level, Role, Vocabulary
from sparkcast.study.setting import SIZES
from sparkcast.units import as_number, show_probability

_CORES, _MEMORY = "spark.executor.cores", "spark.executor.memory"


@dataclass(frozen=True, slots=True)
class AskedLine:
    """What a spark-submit line says already, and what else its program takes."""

    properties: Mapping[str, str] = field(default_factory=dict)  # of Spark
    given: Mapping[str, Level] = field(default_factory=dict)  # settings that its program has
    passed: Sequence[str] = ()  # settings that its program can be given as --name VALUE


@dataclass(frozen=True, slots=True)
class SubmissionAdvice:
    """What a line gets, and what it may count on."""

    verdict: Literal["meets", "misses"]  # all limits, with the wanted probability
    reason: str
    configuration: Configuration  # that the run will have: the varied settings
    held: Configuration  # of these, what the line said already
    properties: Mapping[str, str] = field(default_factory=dict)  # of Spark, to add
    arguments: Mapping[str, Level] = field(default_factory=dict)  # of the program, to add: setting -> level
    words: tuple[str, ...] = ()  # of the program too, where the study says how it takes them
    probability: float | None = None  # of keeping to all limits
    chosen: Candidate | None = None
    step: str = ""  # of safe tuning: change, keep, roll-back, stop
    deadline_risk: float | None = None  # of safe tuning: the probability that this run misses the deadline


@dataclass(frozen=True, slots=True)
class SubmittedJob(Displayed):
    """A job that ran, with what was added to its line, and what became of its result."""

    command: tuple[str, ...]
    exit_code: int
    time_s: float  # from submission to exit
    advice: SubmissionAdvice | None  # None: it ran as written
    as_written: str = ""  # why
    stored: str = ""  # where its result went, or why it went nowhere


def held_by(line: AskedLine, factors: Sequence[str], words: Vocabulary) -> dict[str, Level]:
    """The varied settings that a line decides itself: by its properties, and by arguments of the program."""
    properties = line.properties
    held: dict[str, Level] = {name: level for name, level in line.given.items() if name in factors}
    told: dict[Role, Level | None] = {
        Role.MACHINES: _executors(properties),
        Role.CORES: as_number(properties.get(_CORES, "")),
        Role.MEMORY: properties.get(_MEMORY),
    }
    for role, level in told.items():
        name = words.first(role, among=factors)
        if name is not None and level is not None:
            held.setdefault(name, level)
    return held | {name: properties[name] for name in factors if is_property(name) and name in properties}


def _executors(properties: Mapping[str, str]) -> float | None:
    told = as_number(properties.get(INSTANCES, ""))
    cores, total = as_number(properties.get(_CORES, "")), as_number(properties.get(TOTAL_CORES, ""))
    return total // cores if told is None and cores and total else told


def advise_line(
    recommender: Recommender, question: Question, line: AskedLine, n_running: int | None = None
) -> SubmissionAdvice:
    """Settings for this line. `n_running`: jobs on the cluster now, which the new one joins.

    Raises as `recommend` does, and StudyError for a setting that nobody could set.
    """
    words, known = recommender.words, recommender.known
    held = held_by(line, known.factors, words)
    fix = with_load(recommender, {**question.fix, **held}, n_running)
    fixed = replace(question, fix=fix, most=2)
    found = choose_briefly(recommender, fixed)
    if found is None:
        recommender.ask(fixed)  # says what comes nearest
        raise StudyError("no candidate keeps to the limits")
    chosen = found.chosen
    told = [f"keeps to the limits with {show_probability(chosen.probability)} probability"] if found.limits else []
    if n_running is None and (jobs := words.first(Role.JOBS, among=known.factors)) is not None and jobs not in fix:
        told.append(f"as if {jobs}={chosen.configuration[jobs]}: `jobs_running=` says how many run")
    advice = advice_at(chosen.configuration, line, held, words, known.constants)
    return replace(advice, reason="; ".join(told), probability=chosen.probability, chosen=chosen)


def advice_at(
    configuration: Configuration,
    line: AskedLine,
    held: Mapping[str, Level],
    words: Vocabulary,
    constants: Mapping[str, Level],
) -> SubmissionAdvice:
    """What a line needs to run with this configuration. Raises StudyError for a setting that nobody could set."""
    launch = launch_of_table(Configuration(constants) | configuration, words)
    added = {name: value for name, value in launch.properties.items() if name not in line.properties}
    if {INSTANCES, TOTAL_CORES} & line.properties.keys():  # the line says how many in its own way
        added = {name: value for name, value in added.items() if name not in (INSTANCES, TOTAL_CORES)}
    others = configuration.without(*held, *line.given)
    arguments = _arguments(others, words, line.passed)
    return SubmissionAdvice("meets", "", configuration, Configuration(held), added, arguments, launch.arguments)


def _arguments(settings: Configuration, words: Vocabulary, passed: Sequence[str]) -> dict[str, Level]:
    """Those of the program. Raises StudyError for one that nobody could set."""
    declared = {setting.name for setting in words.settings if setting.argument}
    given_by_nobody = (*SIZES, Role.JOBS)
    found: dict[str, Level] = {}
    for name, level in settings.items():
        if name in declared or _is_sparks(name, settings, words):
            continue
        if name in passed:
            found[name] = level
        elif words.role(name) not in given_by_nobody:
            raise StudyError(
                f"{name} is a setting of the program, and nothing says how the program takes it",
                hint=f"`argument={name!r}` passes it, or `fix={{{name!r}: VALUE}}` says what it is",
            )
    return found


def _is_sparks(name: str, settings: Configuration, words: Vocabulary) -> bool:
    is_shape = words.role(name) in (Role.CORES, Role.MEMORY)
    return is_property(name) or is_shape or bool(cluster_properties(settings.only([name]), words))
