"""Jobs that sparkcast can run and measure, one file each. What one must be is in `sparkcast.workloads.base`."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, Kind, Level, Response, Role, Setting, Study, Vocabulary
from sparkcast.study.configuration import Levels
from sparkcast.study.derive import machine_hour, machine_type_setting
from sparkcast.study.names import TIME
from sparkcast.workloads.base import CLUSTER_SETTINGS, WORKLOADS, Guessable, Job, Workload

__all__ = [
    "CLUSTER_SETTINGS",
    "WORKLOADS",
    "Guessable",
    "Job",
    "Shape",
    "Workload",
    "check_price",
    "complete",
    "resolve",
    "settings_of",
    "shape_of",
    "vocabulary_of",
]


def settings_of(workload: Workload) -> tuple[Setting, ...]:
    """Its own settings and those of the cluster."""
    own = {setting.role for setting in workload.settings}
    cluster = (setting for setting in CLUSTER_SETTINGS if setting.role not in own)
    return (*cluster, *workload.settings)


def vocabulary_of(workload: Workload) -> Vocabulary:
    return Vocabulary(settings_of(workload), workload.responses)


def complete(workload: Workload, configuration: Levels) -> Configuration:
    """The configuration with every default filled in."""
    given = {s.name: configuration.get(s.name, s.default) for s in settings_of(workload)}
    return Configuration({name: level for name, level in given.items() if level is not None})


@dataclass(frozen=True, slots=True)
class Shape:
    """What a configuration asks of the cluster."""

    executors: int
    cores: int  # of each executor
    memory: str  # of each executor
    jobs: int  # at once


def shape_of(workload: Workload, configuration: Levels) -> Shape:
    """Found by the roles of its settings."""
    settings = complete(workload, configuration)
    words = vocabulary_of(workload)

    def level(role: Role) -> Level:
        name = words.first(role)
        assert name is not None, f"every workload has a setting of the role {role}"
        return settings[name]

    return Shape(int(level(Role.MACHINES)), int(level(Role.CORES)), str(level(Role.MEMORY)), int(level(Role.JOBS)))


def resolve(study: Study) -> Study:
    """The study with every default of its workload filled in, so that rules may use them and results record them.

    Raises StudyError, naming the line, for a setting, level, rule or role that the workload does not know.
    """
    workload = WORKLOADS.get(study.workload)()
    known = {setting.name: setting for setting in settings_of(workload)}
    levels = {**{f.name: f.levels for f in study.factors}, **{name: (v,) for name, v in study.fixed.items()}}
    for name, values in levels.items():
        with _at(study, "settings", name):
            if name not in known:
                hint = did_you_mean(name, tuple(known))
                raise StudyError(f"workload {study.workload!r} has no setting {name!r}", hint=hint)
            for value in values:
                known[name].check(value)
    for i, rule in enumerate(study.rules):
        with _at(study, "rules", str(i)):
            rule.require_names(tuple(known))
    varied = {factor.name for factor in study.factors}
    fixed = complete(workload, study.fixed).without(*varied)
    resolved = replace(study, fixed=fixed, responses=_responses(study, workload), vocabulary=vocabulary_of(workload))
    _check_roles(resolved, replace(resolved, roles={}, vocabulary=vocabulary_of(workload)).vocabulary)
    check_price(resolved)
    return resolved


def _responses(study: Study, workload: Workload) -> tuple[Response, ...]:
    """As the study names them; where it names none, the time of its workload, whatever it is called."""
    own = vocabulary_of(workload)
    if study.responses != (Response(TIME),) or own.time is None or TIME in own.names:
        return study.responses
    return (own.response(own.time),)


def _check_roles(study: Study, declared: Vocabulary) -> None:
    """`declared` is what names mean without the roles that the study gives."""
    settings = {setting.name for setting in declared.settings}
    for name, role in study.roles.items():
        with _at(study, "roles", name):
            if name not in declared.names:
                hint = did_you_mean(name, tuple(sorted(declared.names)))
                raise StudyError(f"there is no setting or response {name!r} that could have a role", hint=hint)
            if (name in settings) != (name in {setting.name for setting in study.vocabulary.settings}):
                kind, roles = ("setting", Role) if name in settings else ("response", Kind)
                raise StudyError(f"{name} is a {kind}, which cannot be {role!r}", hint=f"it can be {', '.join(roles)}")


def check_price(study: Study) -> None:
    """Raise StudyError for a price that cannot be applied to the settings of the study."""
    price, words = study.price, study.vocabulary
    if price is not None and price.hour is not None:
        with _at(study, "price", "hour"):
            price.hour.require_names((*(f.name for f in study.factors), *study.fixed))
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
