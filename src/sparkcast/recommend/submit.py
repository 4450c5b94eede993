"""Settings as people paste them: options of spark-submit, and arguments of the job."""

import shlex

from sparkcast.study import Configuration, Role, Vocabulary
from sparkcast.study.setting import CLUSTER
from sparkcast.units import as_number, shortest_size


def conf_lines(settings: Configuration, words: Vocabulary) -> tuple[str, ...]:
    """The cluster settings as options of spark-submit: only those that were settings, each property once.

    >>> from sparkcast.study.names import usual_vocabulary
    >>> conf_lines(Configuration({"executors": 2, "cores": 4}), usual_vocabulary(["executors", "cores"], []))
    ('--conf spark.executor.cores=4', '--conf spark.cores.max=8', '--conf spark.executor.instances=2')
    """
    properties = _cluster_properties(settings, words)
    # A memory was read above, with its unit.
    properties |= {
        name: str(level)
        for name, level in settings.items()
        if _is_property(name) and words.role(name) is not Role.MEMORY
    }
    return tuple(f"--conf {shlex.quote(f'{name}={value}')}" for name, value in properties.items())


def conf_notes(settings: Configuration, words: Vocabulary) -> tuple[str, ...]:
    """The properties that lines to paste would need, but that no setting gives."""
    lines = conf_lines(settings, words)
    notes = []
    if _sets("spark.executor.instances", lines) and not _sets("spark.cores.max", lines):
        executors = settings[str(words.first(Role.MACHINES, among=settings))]
        notes.append(f"standalone clusters also need spark.cores.max: {executors} x the cores per executor")
    memory = words.first(Role.MEMORY, among=settings)
    if memory is not None and not words.setting(memory).is_size_clear(settings[memory]):
        notes.append(
            f"{memory}={settings[memory]} has no unit, so spark.executor.memory is not set: declare the role "
            f"memory:gb or memory:mb for {memory}"
        )
    return tuple(notes)


def _cluster_properties(settings: Configuration, words: Vocabulary) -> dict[str, str]:
    """Where machines have a type, they are machines of a cloud and not executors: Spark is told nothing of them."""
    if words.first(Role.MACHINE_TYPE, among=settings):
        return {}
    executors, cores = _number(settings, words, Role.MACHINES), _number(settings, words, Role.CORES)
    numbers = {
        "spark.executor.cores": cores,
        # A standalone cluster counts cores, YARN and Kubernetes count executors.
        "spark.cores.max": executors * cores if executors and cores else None,
        "spark.executor.instances": executors,
    }
    properties = {name: f"{number:g}" for name, number in numbers.items() if number}
    memory = words.first(Role.MEMORY, among=settings)
    if memory is not None and words.setting(memory).is_size_clear(settings[memory]):
        properties["spark.executor.memory"] = shortest_size(words.setting(memory).bytes(settings[memory]))
    return properties


def _sets(name: str, lines: tuple[str, ...]) -> bool:
    return any(line.startswith(f"--conf {name}=") for line in lines)


def _is_property(name: str) -> bool:
    return name.startswith("spark.")


def _number(settings: Configuration, words: Vocabulary, role: Role) -> float | None:
    name = words.first(role, among=settings)
    return None if name is None else as_number(settings[name])


def job_arguments(settings: Configuration, words: Vocabulary) -> tuple[str, ...]:
    """The settings that are not the cluster's, as arguments of the job.

    >>> job_arguments(Configuration({"batch_size": 64, "data_path": ""}), Vocabulary())
    ('--batch-size 64',)
    >>> from sparkcast.study import Setting
    >>> job_arguments(Configuration({"arg1": 10}), Vocabulary((Setting("arg1", argument="{}"),)))
    ('10',)
    """
    # A job that says how it takes its settings declares them in that order.
    known = [setting.name for setting in words.settings if setting.argument]
    order = sorted(settings, key=lambda name: known.index(name) if name in known else len(known))
    own = {name: settings[name] for name in order if words.role(name) not in CLUSTER and settings[name] != ""}
    return tuple(
        (words.setting(name).argument or f"--{name.replace('_', '-')} {{}}").replace("{}", shlex.quote(str(value)))
        for name, value in own.items()
        if not _is_property(name)
    )
