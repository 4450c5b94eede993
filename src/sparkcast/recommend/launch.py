"""What starts the job with the recommended settings: its whole command, or what Spark is told where there is none."""

import re
from collections.abc import Mapping
from pathlib import Path

from sparkcast.engines.conf import shape_conf
from sparkcast.errors import StudyError
from sparkcast.recommend import Launch
from sparkcast.recommend.submit import INSTANCES, TOTAL_CORES, cluster_properties, is_property, missing_notes
from sparkcast.study import Configuration, Role, Study, Vocabulary
from sparkcast.study.environment import is_local
from sparkcast.study.names import names_executors, usual_role
from sparkcast.study.redaction import redact, redact_arguments, split_secrets
from sparkcast.study.setting import SIZES
from sparkcast.workloads import Submitted, SubmittedApplication, complete, properties_of, shape_of, workload_of

_NO_PROGRAM = "the runs do not say which program they started"
_GIVEN = (*SIZES, Role.JOBS)  # nobody sets how much data there is, or how many jobs
_OPTION = re.compile(r"(-\S+) (\{\})")
_OUTPUT = "output"  # in place of the folder that sparkcast gives each run
_SWITCHES = ("--supervise", "--verbose")


def launch_of_table(settings: Configuration, words: Vocabulary, spark: str = "") -> Launch:
    """Only what is Spark's, by its name or by a declared role: a table has no program, and its other columns are not
    options of anything.
    """
    own = settings.only(_of_spark(settings, words))
    properties, secrets = split_secrets(cluster_properties(own, words) | _properties_in(own, words))
    arguments = _arguments(settings, words)
    others = [name for name in settings if name not in own and name not in arguments and words.role(name) not in _GIVEN]
    notes = [*missing_notes(own, words), *_secret_notes(secrets)]
    if others:
        notes.append(f"not Spark properties, so set them yourself: {settings.only(others)}")
    shown = tuple(redact_arguments([word for own in arguments.values() for word in own]))
    if not properties and not shown and not secrets:
        notes.append("no setting is Spark's: there is no line to paste")
    return Launch(properties, arguments=shown, spark=spark, notes=(_NO_PROGRAM, *notes))


def _arguments(settings: Configuration, words: Vocabulary) -> dict[str, list[str]]:
    """Of settings whose job told how it takes them, in that order: the words of each."""
    found = {}
    for setting in words.settings:
        if setting.argument and setting.name in settings:
            option = _OPTION.fullmatch(setting.argument)
            parts = option.groups() if option else (setting.argument,)
            found[setting.name] = [part.replace("{}", str(settings[setting.name])) for part in parts]
    return found


def _of_spark(settings: Configuration, words: Vocabulary) -> list[str]:
    """Properties, and numbers of executors with the cores and the memory of each."""
    machines = words.first(Role.MACHINES, among=settings)
    # Machines by their usual name may be of a cloud; those that somebody declared share the work of Spark.
    has_executors = machines is not None and (names_executors(machines) or usual_role(machines) is not Role.MACHINES)
    roles = (Role.MACHINES, Role.CORES, Role.MEMORY)
    return [
        name
        for name in settings
        if is_property(name) or (words.role(name) in roles and (has_executors or names_executors(name)))
    ]


def _properties_in(settings: Configuration, words: Vocabulary) -> dict[str, str]:
    # A memory was read with its unit.
    return {
        name: _text(level)
        for name, level in settings.items()
        if is_property(name) and words.role(name) is not Role.MEMORY
    }


def _text(level: object) -> str:
    """As Spark writes it: true, not True."""
    return str(level).lower() if isinstance(level, bool) else str(level)


# ---------------------------------------------------------------- of a study


def launch_of_study(study: Study, settings: Configuration, spark: str = "") -> Launch:
    """What `sparkcast run` would submit with these settings, without what it needs to measure."""
    workload = workload_of(study)
    whole = complete(workload, settings)
    conf = {**properties_of(study, whole), **shape_conf(shape_of(workload, whole)), **study.spark.conf}
    properties, secrets = split_secrets({name: conf[name] for name in conf if name != _unused(study.spark.master)})
    master = "" if is_local(study.spark.master) else study.spark.master
    notes = _secret_notes(secrets)
    if not master:
        notes.append("the runs were made on a cluster of this machine, so add the master of yours")
    if not isinstance(workload, Submitted):
        own = f"the job is sparkcast's own {study.workload}: only a study can start it"
        return Launch(properties, master=master, spark=spark, notes=(own, *notes))
    try:
        program, other = (workload.application(whole, Path(folder)) for folder in (_OUTPUT, f"other-{_OUTPUT}"))
    except StudyError as error:
        return Launch(properties, master=master, spark=spark, notes=(f"without the program: {error.problem}", *notes))
    if program != other:
        notes.append(f"the job writes to the folder {_OUTPUT}: name another one where you need it")
    arguments = tuple(redact_arguments(program.arguments))
    environment = {name: program.environment[name] for name in study.options.get("environment", {})}
    shown = redact(environment)
    if arguments != program.arguments or shown != environment:
        notes.append("secrets among the arguments are hidden: write them in")
    options, switches = _options(program, study)
    return Launch(
        properties,
        program.file,
        arguments,
        options,
        switches,
        shown,
        master,
        str(program.directory or ""),
        spark,
        tuple(notes),
    )


def _unused(master: str) -> str:
    """A standalone master counts cores, YARN and Kubernetes count executors; what is not known keeps both."""
    if master.startswith("spark://"):
        return INSTANCES
    return TOTAL_CORES if master.startswith(("yarn", "k8s://")) else ""


def _options(program: SubmittedApplication, study: Study) -> tuple[dict[str, str], tuple[str, ...]]:
    """Options with their values, and those without."""
    named = {"name": program.name, "properties-file": str(study.options.get("properties_file", ""))}
    options, switches = {name: value for name, value in named.items() if value}, []
    waiting = iter(program.options)
    for word in waiting:
        if word in _SWITCHES:
            switches.append(word.removeprefix("--"))
        else:
            options[word.removeprefix("--")] = next(waiting, "")
    return options, tuple(switches)


def _secret_notes(secrets: Mapping[str, str]) -> list[str]:
    return [f"{', '.join(secrets)} not shown: secret"] if secrets else []
