"""The settings of a cluster in Spark's own names."""

import shlex
from collections.abc import Mapping

from sparkcast.study import Configuration, Role, Vocabulary
from sparkcast.units import as_number, shortest_size

INSTANCES, TOTAL_CORES = "spark.executor.instances", "spark.cores.max"


def conf_lines(settings: Configuration, words: Vocabulary) -> tuple[str, ...]:
    """The cluster settings as options of spark-submit: only those that were settings, each property once.

    >>> from sparkcast.study.names import usual_vocabulary
    >>> conf_lines(Configuration({"executors": 2, "cores": 4}), usual_vocabulary(["executors", "cores"], []))
    ('--conf spark.executor.cores=4', '--conf spark.cores.max=8', '--conf spark.executor.instances=2')
    """
    properties = cluster_properties(settings, words)
    # A memory was read above, with its unit.
    properties |= {
        name: str(level)
        for name, level in settings.items()
        if is_property(name) and words.role(name) is not Role.MEMORY
    }
    return property_options(properties)


def property_options(properties: Mapping[str, str]) -> tuple[str, ...]:
    """Properties as options of spark-submit."""
    return tuple(f"--conf {shlex.quote(f'{name}={value}')}" for name, value in properties.items())


def missing_notes(settings: Configuration, words: Vocabulary) -> tuple[str, ...]:
    """The properties that Spark would need, but that no setting gives."""
    properties = {**cluster_properties(settings, words), **settings}
    notes = []
    if INSTANCES in properties and TOTAL_CORES not in properties:
        executors = settings[str(words.first(Role.MACHINES, among=settings))]
        notes.append(f"standalone clusters also need spark.cores.max: {executors} x the cores per executor")
    memory = words.first(Role.MEMORY, among=settings)
    if memory is not None and not words.setting(memory).is_size_clear(settings[memory]):
        notes.append(
            f"{memory}={settings[memory]} has no unit, so spark.executor.memory is not set: declare the role "
            f"memory:gb or memory:mb for {memory}"
        )
    return tuple(notes)


def cluster_properties(settings: Configuration, words: Vocabulary) -> dict[str, str]:
    """Where machines have a type, they are machines of a cloud and not executors: Spark is told nothing of them."""
    if words.first(Role.MACHINE_TYPE, among=settings):
        return {}
    executors, cores = _number(settings, words, Role.MACHINES), _number(settings, words, Role.CORES)
    numbers = {
        "spark.executor.cores": cores,
        # A standalone cluster counts cores, YARN and Kubernetes count executors.
        TOTAL_CORES: executors * cores if executors and cores else None,
        INSTANCES: executors,
    }
    properties = {name: f"{number:g}" for name, number in numbers.items() if number}
    memory = words.first(Role.MEMORY, among=settings)
    if memory is not None and words.setting(memory).is_size_clear(settings[memory]):
        properties["spark.executor.memory"] = shortest_size(words.setting(memory).bytes(settings[memory]))
    return properties


def is_property(name: str) -> bool:
    return name.startswith("spark.")


def _number(settings: Configuration, words: Vocabulary, role: Role) -> float | None:
    name = words.first(role, among=settings)
    return None if name is None else as_number(settings[name])
