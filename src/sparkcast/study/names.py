"""The usual names: what a setting or response means when nobody says it.

The only place in sparkcast, beside the workloads, where a name has a meaning. It is consulted where data come in (a
`Study` or a `Dataset` is made) for what was not declared. Of several names of one thing the earlier ones count first.
"""

from collections.abc import Iterable, Mapping

from sparkcast.study.response import Kind, Response
from sparkcast.study.setting import Role, Setting
from sparkcast.study.vocabulary import Vocabulary

# What sparkcast itself calls what it measures, and the number of epochs where nobody else does.
TIME, TOTAL_TIME, STARTUP_TIME, COST, EPOCHS = "time_s", "total_s", "startup_s", "cost", "epochs"

_SETTINGS: tuple[tuple[Role, str], ...] = (
    (
        Role.MACHINES,
        "machines instances instance_count executors workers nodes n_gpus gpus num_executors n_executors num_workers "
        "n_workers n_nodes servers",
    ),
    (Role.CORES, "cores executor_cores cores_per_executor"),
    (Role.TOTAL_CORES, "cpu cpus"),
    (Role.MACHINE_TYPE, "machine_type vm_type instance_type node_type machine"),
    (
        Role.MEMORY,
        "memory executor_memory memory_per_executor machine_memory memory_per_machine memory_gb memory_gib memory_mb",
    ),
    (Role.FRACTION, "sampling_rate"),
    (Role.DATA_SIZE, "size data_size input_size data_size_mb rows records samples lines observations"),
    (Role.FRACTION, "input_fraction fraction"),
    (
        Role.DATA_SIZE,
        "size_mb size_gb data_size_gb input_size_mb input_size_gb dataset_size n_rows n_samples images",
    ),
    (Role.BATCH, "batch_size batch"),
    (Role.JOBS, "jobs njobs"),
    (Role.EPOCHS, "epochs passes"),
    (Role.ITERATIONS, "iterations steps"),
)
_SIZE_UNITS = {"_gb": "gb", "_gib": "gib", "_mb": "mb", "_bytes": "bytes"}
_TIME_UNITS = {"_s": "s", "seconds": "s", "_ms": "ms", "_min": "min", "minutes": "min", "_h": "h", "hours": "h"}
_OTHER_UNITS = {"_bytes_per_s": "bytes/s", "_per_s": "per second", "_percent": "%", "_bytes": "bytes"}
_RESPONSES = (
    Response(TIME, kind=Kind.TIME),
    Response(TOTAL_TIME, kind=Kind.TIME),
    Response(STARTUP_TIME, kind=Kind.TIME),
    Response(COST, kind=Kind.MONEY),
    Response("accuracy", kind=Kind.SHARE, unit="share correct"),
    Response("throughput", kind=Kind.COUNT, better="more", unit="records/s"),
    Response("loss"),
    Response("cpu_percent", unit="%"),
    Response("iowait_percent", unit="%"),
)
# Columns of a table of runs that are no settings, when nobody says which ones are.
MEASURED = tuple(response.name for response in _RESPONSES)


def usual_vocabulary(settings: Iterable[str], responses: Iterable[str]) -> Vocabulary:
    """What these names usually mean, the known ones first, in their order of precedence.

    >>> words = usual_vocabulary(["color", "n_gpus"], ["auc", "accuracy"])
    >>> words.first(Role.MACHINES), words.quality, words.role("color").value
    ('n_gpus', 'accuracy', 'other')
    """
    named, yielded = dict.fromkeys(settings), dict.fromkeys(responses)
    known = [_setting(name, role) for role, names in _SETTINGS for name in names.split() if name in named]
    usual = [response for response in _RESPONSES if response.name in yielded]
    others = [name for name in named if name not in {setting.name for setting in known}]
    unknown = [name for name in yielded if name not in {response.name for response in usual}]
    return Vocabulary(
        (*known, *(Setting(name, unit=_ending(name, _SIZE_UNITS)) for name in others)),
        (*usual, *map(_response, unknown)),
    )


def usual_unit(name: str, meaning: str) -> str:
    """The unit that a name ends in, of what is counted in several: "minutes" for a time, "ram_gb" for a memory."""
    units: dict[str, Mapping[str, str]] = {Kind.TIME: _TIME_UNITS, Role.MEMORY: _SIZE_UNITS}
    return _ending(name, units.get(meaning, {}))


def in_usual_units(roles: Mapping[str, str]) -> dict[str, str]:
    """Roles as people write them, with the unit where they leave it to the name.

    >>> in_usual_units({"minutes": "time", "took": "time:h", "hosts": "machines"})
    {'minutes': 'time:min', 'took': 'time:h', 'hosts': 'machines'}
    """
    units = {name: usual_unit(name, text.strip()) for name, text in roles.items()}
    return {name: f"{text}:{units[name]}" if units[name] else text for name, text in roles.items()}


def completed(declared: Vocabulary, settings: Iterable[str], responses: Iterable[str]) -> Vocabulary:
    """What was declared, and of all other names what they usually mean."""
    return usual_vocabulary(settings, responses).declaring(declared)


def _setting(name: str, role: Role) -> Setting:
    return Setting(name, role=role, unit=_ending(name, _SIZE_UNITS) if role is Role.MEMORY else "")


def _response(name: str) -> Response:
    if unit := _ending(name, _OTHER_UNITS):
        return Response(name, unit=unit)
    unit = _ending(name, _TIME_UNITS)
    return Response(name, kind=Kind.TIME if unit else Kind.OTHER, unit=unit)


def _ending(name: str, units: Mapping[str, str]) -> str:
    return next((unit for suffix, unit in units.items() if name.endswith(suffix)), "")
