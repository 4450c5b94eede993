"""Jobs that sparkcast can run and measure, one file each. What one must be is in `sparkcast.workloads.base`."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, Kind, Level, MixPart, Response, Role, Setting, Study, Vocabulary
from sparkcast.study.application import TIME, TOTAL_TIME
from sparkcast.study.arrivals import ARRIVAL_RATE
from sparkcast.study.configuration import Levels, same_level
from sparkcast.study.derive import machine_hour, machine_type_setting
from sparkcast.study.names import RESPONSE_TIME
from sparkcast.study.redaction import is_secret, redact_text
from sparkcast.workloads.base import (
    CLUSTER_SETTINGS,
    WORKLOADS,
    FromStudy,
    Guessable,
    HasReadings,
    HasStarter,
    Job,
    Submitted,
    SubmittedApplication,
    Workload,
)

__all__ = [
    "CLUSTER_SETTINGS",
    "SAID_BY",
    "WORKLOADS",
    "FromStudy",
    "Guessable",
    "HasReadings",
    "HasStarter",
    "Job",
    "Shape",
    "Submitted",
    "SubmittedApplication",
    "Workload",
    "check_price",
    "complete",
    "is_property",
    "properties_of",
    "resolve",
    "settings_of",
    "shape_of",
    "vocabulary_of",
    "workload_of",
]

# Spark properties that are no settings: what they say is said by settings of the cluster, or needed to measure.
SAID_BY = {
    "spark.executor.instances": Role.MACHINES,
    "spark.cores.max": Role.MACHINES,
    "spark.executor.cores": Role.CORES,
    "spark.executor.memory": Role.MEMORY,
}
_OURS = ("spark.eventLog.", "spark.master", "spark.redaction.regex", "spark.submit.deployMode")


def workload_of(study: Study) -> Workload:
    """The workload of a study, with the settings that it takes from there, if it does."""
    made = WORKLOADS.get(study.workload)()
    if isinstance(made, FromStudy):
        return made.for_study(study)
    if study.options:
        with _at(study, study.workload):
            raise StudyError(
                f"workload {study.workload!r} takes no options",
                hint=f"remove `{study.workload}:` and what belongs to it",
            )
    return made


def settings_of(workload: Workload) -> tuple[Setting, ...]:
    """Its own settings and those of the cluster."""
    own = {setting.role for setting in workload.settings}
    cluster = (setting for setting in CLUSTER_SETTINGS if setting.role not in own)
    return (*cluster, *workload.settings)


def is_property(name: str) -> bool:
    """Whether a setting is a Spark property, which every workload has: spark.sql.shuffle.partitions."""
    return name.startswith("spark.")


def properties_of(study: Study, configuration: Levels) -> dict[str, str]:
    """The Spark properties among the settings, as texts. Raises StudyError for one that is given elsewhere too."""
    for name in filter(is_property, configuration):
        if name in study.spark.conf:
            with _at(study, "settings", name):
                raise StudyError(
                    f"{name} is a setting and stands among the Spark properties of all runs as well",
                    hint="keep it in settings to vary it, or in spark.conf (or `conf=`) to hold it",
                )
    return {name: study.text(name, level) for name, level in configuration.items() if is_property(name)}


def vocabulary_of(workload: Workload) -> Vocabulary:
    return Vocabulary(settings_of(workload), workload.responses)


def complete(workload: Workload, configuration: Levels) -> Configuration:
    """The configuration with every default filled in."""
    given = {s.name: configuration.get(s.name, s.default) for s in settings_of(workload)}
    properties = {name: level for name, level in configuration.items() if is_property(name)}
    return Configuration({name: level for name, level in (given | properties).items() if level is not None})


@dataclass(frozen=True, slots=True)
class Shape:
    """What a configuration asks of the cluster.

    >>> print(Shape(executors=2, cores=1, memory="1g", jobs=1))
    2 executors with 1 core and 1g each
    """

    executors: int
    cores: int  # of each executor
    memory: str  # of each executor
    jobs: int  # at once

    def __str__(self) -> str:
        size = f"{self.cores} core{'s' * (self.cores != 1)} and {self.memory}"
        return f"1 executor with {size}" if self.executors == 1 else f"{self.executors} executors with {size} each"


def shape_of(workload: Workload, configuration: Levels) -> Shape:
    """Found by the roles of its settings."""
    settings = complete(workload, configuration)
    words = vocabulary_of(workload)

    def level(role: Role) -> Level:
        name = words.first(role)
        assert name is not None, f"every workload has a setting with the role {role}"
        return settings[name]

    return Shape(int(level(Role.MACHINES)), int(level(Role.CORES)), str(level(Role.MEMORY)), int(level(Role.JOBS)))


def resolve(study: Study) -> Study:
    """The study with every default of its workload filled in, so that rules may use them and results record them.

    Raises StudyError, naming the line, for a setting, level, rule or role that the workload does not know.
    """
    workload = workload_of(study)
    known = {setting.name: setting for setting in settings_of(workload)}
    if study.arrivals is not None:
        known = _of_streams(study, known)
    levels = {**{f.name: f.levels for f in study.factors}, **{name: (v,) for name, v in study.fixed.items()}}
    for name, values in levels.items():
        with _at(study, "settings", name):
            if is_property(name):
                known[name] = _property(name, known)
            if name not in known:
                hint = did_you_mean(name, tuple(known))
                raise StudyError(f"workload {study.workload!r} has no setting {name!r}", hint=hint)
            for value in values:
                known[name].check(value)
                _require_public(name, value)
    for i, rule in enumerate(study.rules):
        with _at(study, "rules", str(i)):
            rule.require_names(tuple(known))
    varied = {factor.name for factor in study.factors}
    unrecorded = [name for name in _unrecorded(study, tuple(known.values())) if name not in _mixed(study)]
    fixed = complete(workload, study.fixed).without(*varied, *unrecorded)
    if study.arrivals is not None:
        # How many jobs run at once, and what differs among them, is of no trial as a whole.
        study = replace(study, mix=_completed_mix(study, fixed, known))
        fixed = fixed.only([name for name in fixed if name in known]).without(*_mixed(study))
        fixed |= study.fixed.only([ARRIVAL_RATE])
    words = _words(study, workload)
    resolved = replace(study, fixed=fixed, responses=_responses(study, workload, words), vocabulary=words)
    _check_roles(resolved, replace(resolved, roles={}, vocabulary=words).vocabulary)
    check_price(resolved)
    properties_of(resolved, {name: values[0] for name, values in levels.items()})
    return resolved


def _of_streams(study: Study, known: Mapping[str, Setting]) -> dict[str, Setting]:
    """The settings of a study whose trials are streams: not how many jobs run at once, but how often one comes."""
    given = {factor.name for factor in study.factors} | set(study.fixed)
    for name in (name for name, setting in known.items() if setting.role is Role.JOBS and name in given):
        with _at(study, "settings", name):
            raise StudyError(
                f"{name} and arrivals both say how many jobs there are",
                hint=f"leave out {name}, or leave out arrivals to run so many jobs at once",
            )
    kept = {name: setting for name, setting in known.items() if setting.role is not Role.JOBS}
    rate = Setting(ARRIVAL_RATE, 1.0, "jobs that arrive in an hour", unit="per hour")
    return {**kept, **({ARRIVAL_RATE: rate} if ARRIVAL_RATE in given else {})}


def _mixed(study: Study) -> tuple[str, ...]:
    """The settings in which the jobs of a stream differ."""
    return tuple(dict.fromkeys(name for part in study.mix for name in part.settings))


def _completed_mix(study: Study, fixed: Configuration, known: dict[str, Setting]) -> tuple[MixPart, ...]:
    """Each part with all the settings in which parts differ; checks them, and adds Spark properties to `known`."""
    varied, mixed = {factor.name for factor in study.factors}, _mixed(study)
    with _at(study, "mix"):
        for name in mixed:
            if is_property(name):
                known[name] = _property(name, known)
            if name in varied:
                raise StudyError(f"{name} is varied and stands in the mix", hint="keep it in one of the two")
            if name not in known or name == ARRIVAL_RATE:
                hint = did_you_mean(name, tuple(known))
                raise StudyError(f"workload {study.workload!r} has no setting {name!r} for a mix", hint=hint)
            if rule := next((rule for rule in study.rules if name in rule.names), None):
                raise StudyError(
                    f"the rule {rule.text!r} is about {name}, which differs among the jobs of a stream",
                    hint=f"a rule is about the settings that all jobs share: leave out {name} there",
                )
        for part in study.mix:
            for name, level in part.settings.items():
                known[name].check(level)
        completed = tuple(replace(part, settings=fixed.only(mixed) | part.settings) for part in study.mix)
        missing = next(((part, name) for part in completed for name in mixed if name not in part.settings), None)
        if missing is not None:
            raise StudyError(
                f"only some parts of the mix have {missing[1]}", hint=f"give {missing[1]} in every part, or in settings"
            )
        return completed


def _unrecorded(study: Study, settings: tuple[Setting, ...]) -> tuple[str, ...]:
    """Fixed settings that came later than results of their workload, at their defaults and in no expression."""
    price = study.price.hour if study.price is not None else None
    used = {name for expression in (*study.rules, price) if expression is not None for name in expression.names}
    later = {s.name: s.default for s in settings if s.is_later and s.default is not None and s.name not in used}
    return tuple(name for name, default in later.items() if same_level(study.fixed.get(name, default), default))


def _require_public(name: str, level: Level) -> None:
    """A setting is stored and shown with every result."""
    if isinstance(level, str) and (is_secret(name) or redact_text(level) != level):
        raise StudyError(
            f"{name} cannot be a setting: it holds a secret, and settings are written down with every result",
            hint="write it into the command's arguments or environment, or into spark.conf, where it is kept secret",
        )


def _property(name: str, known: Mapping[str, Setting]) -> Setting:
    """A Spark property as a setting. Raises StudyError for one that cannot be varied."""
    if role := SAID_BY.get(name):
        said_by = next((setting.name for setting in known.values() if setting.role is role), "")
        raise StudyError(f"{name} cannot be a setting", hint=f"the setting {said_by!r} says it")
    if name.startswith(_OURS):
        raise StudyError(f"{name} cannot be a setting: sparkcast needs it itself to measure")
    if is_secret(name):
        raise StudyError(
            f"{name} cannot be a setting: settings are written down with every result",
            hint="put it in spark.conf or a properties file, where it is kept secret",
        )
    return Setting(name, help="Spark property")


def _words(study: Study, workload: Workload) -> Vocabulary:
    """What the names of a workload mean. In a stream, the time from submission to exit is that of a job, not of all."""
    words = vocabulary_of(workload)
    if study.arrivals is None or words.time != TOTAL_TIME:
        return words
    span = f"{words.response(TOTAL_TIME).span}, in the mean of the jobs"
    return words.declaring(Vocabulary(responses=(Response(RESPONSE_TIME, kind=Kind.TIME, span=span),)))


def _responses(study: Study, workload: Workload, own: Vocabulary) -> tuple[Response, ...]:
    """As the study names them; where it names none, the time of its workload, whatever it is called.

    And what the study asks of its workload itself.
    """
    named = study.responses
    if named == (Response(TIME),) and own.time not in (None, TIME):
        named = tuple(response for response in own.responses if response.name in (own.time, TIME))
    known = {response.name for response in named}
    return (*named, *(own.response(name) for name in getattr(workload, "asked", ()) if name not in known))


def _check_roles(study: Study, declared: Vocabulary) -> None:
    """`declared` is what names mean without the roles that the study gives."""
    settings = {setting.name for setting in declared.settings}
    for name, role in study.roles.items():
        with _at(study, "roles", name):
            if name not in declared.names:
                hint = did_you_mean(name, tuple(sorted(declared.names)))
                raise StudyError(f"there is no setting or response {name!r} to give a role to", hint=hint)
            if (name in settings) != (name in {setting.name for setting in study.vocabulary.settings}):
                kind, roles = ("setting", Role) if name in settings else ("response", Kind)
                raise StudyError(
                    f"{name} is a {kind} and cannot have the role {role!r}", hint=f"it can be {', '.join(roles)}"
                )


def check_price(study: Study) -> None:
    """Raise StudyError for a price that cannot be applied to the settings of the study."""
    price, words = study.price, study.vocabulary
    if price is not None and price.hour is not None:
        with _at(study, "price", "hour"):
            price.hour.require_names((*(f.name for f in study.factors), *study.fixed, *_mixed(study)))
    if price is not None and price.machine_hours:
        with _at(study, "price"):
            name = machine_type_setting(price, words.only((*(f.name for f in study.factors), *study.fixed)))
            levels = {factor.name: factor.levels for factor in study.factors}
            for level in levels[name] if name in levels else (study.fixed[name],):
                machine_hour(level, price)


@contextmanager
def _at(study: Study, *keys: str) -> Iterator[None]:
    """Put the place in the study file in front of a StudyError."""
    try:
        yield
    except StudyError as error:
        raise StudyError(f"{study.where(*keys)}{error.problem}", hint=error.hint) from error
