"""The usual names: what a setting or response means when nobody says it.

The only place in sparkcast, beside the workloads, where a name has a meaning. It is consulted where data come in (a
`Study` or a `Dataset` is made) for what was not declared. Of several names of one thing the earlier ones count first.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from sparkcast.study.application import CORE_HOURS, GIB_HOURS, MOVED, PART_RESPONSES, STARTUP_TIME, TIME, TOTAL_TIME
from sparkcast.study.heading_words import is_use, is_use_or_progress, is_wait, measured_kind, role_of_words
from sparkcast.study.headings import CURRENCIES, plain_name
from sparkcast.study.response import Kind, Response
from sparkcast.study.setting import Role, Setting
from sparkcast.study.vocabulary import Vocabulary

# What sparkcast itself calls what a run costs, and the number of epochs where nobody else does.
COST, EPOCHS = "cost", "epochs"
SAMPLER_GROUP = "sparkcast"  # of the Spark job that starts samplers: no work of the application
RESPONSE_TIME = "response_s"  # from the submission of a job to its end
# What the machines of a run did in all; and how much more than the mean the busiest worker did, as a share of it.
BUSY_CORE_TIME, IOWAIT_CORE_TIME, DISK_BYTES, NETWORK_BYTES = (
    "busy_core_s",
    "iowait_core_s",
    "disk_bytes",
    "network_bytes",
)
IMBALANCE, NODE_IMBALANCE = "imbalance", "node_imbalance"
# What is measured in every run, whatever its workload reports: for models to learn from, not to be reported one by one.
METRICS = (
    *PART_RESPONSES,
    *MOVED,
    GIB_HOURS,
    BUSY_CORE_TIME,
    IOWAIT_CORE_TIME,
    DISK_BYTES,
    NETWORK_BYTES,
    IMBALANCE,
    NODE_IMBALANCE,
)

# As tables of earlier versions have them. A workload may still report what its executors computed and waited for.
_EARLIER_PARTS = ("boot_s", "loading_s", "compute_s", "sync_s", "idle_s", "teardown_s")
_SETTINGS: tuple[tuple[Role, str], ...] = (
    (
        Role.MACHINES,
        "machines instances instance_count executors workers nodes n_gpus gpus num_executors n_executors num_workers "
        "n_workers n_nodes servers executor_instances",
    ),
    (Role.CORES, "cores executor_cores cores_per_executor"),
    (Role.TOTAL_CORES, "cpu cpus ncpus alloc_cpus"),
    (Role.MACHINE_TYPE, "machine_type vm_type instance_type node_type machine"),
    (
        Role.MEMORY,
        "memory executor_memory memory_per_executor machine_memory memory_per_machine memory_gb memory_gib memory_mb "
        "ram ram_gb ram_gib ram_mb executor_memory_gb executor_memory_gib executor_memory_mb",
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
_SIZE_UNITS = {"_gb": "gb", "_gib": "gib", "_mb": "mb", "_mib": "mib", "_tb": "tb", "_bytes": "bytes"}
_TIME_UNITS = {
    **{"_s": "s", "seconds": "s", "_sec": "s", "_secs": "s", "_ms": "ms", "_msec": "ms", "_millis": "ms"},
    **{"_min": "min", "minutes": "min", "_mins": "min", "_h": "h", "hours": "h", "_hr": "h", "_hrs": "h"},
    **{"_d": "d", "_days": "d", "_us": "us", "_ns": "ns"},
}
_RATES = {f"_{size}_per_s": f"{size}/s" for size in ("bytes", "kb", "mb", "gb")}
_RATES |= dict.fromkeys(("_per_s", "_per_sec", "_per_second"), "per second")
_RATES |= {"_per_min": "per minute", "_per_h": "per hour", "_per_hour": "per hour", "_per_day": "per day"}
_IS_RATE = re.compile(r"_per_(s|sec|second|ms|min|minute|h|hr|hour|d|day)$")
_OTHER_UNITS = {**_RATES, "_percent": "%", "_pct": "%", "_bytes": "bytes"}
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
    Response(RESPONSE_TIME, kind=Kind.TIME),
    *(Response(f"response_p{percent}_s", kind=Kind.TIME) for percent in (50, 90, 95)),
    Response("waiting_s", kind=Kind.TIME),
    Response("service_s", kind=Kind.TIME),
    Response("jobs_in_system", kind=Kind.COUNT, better="less", unit="jobs"),
    Response("cores_busy", unit="share of cores"),
    Response("cores_held", unit="share of cores"),
    Response("slowdown", unit="times alone"),
    *(Response(part, kind=Kind.TIME) for part in (*PART_RESPONSES, *_EARLIER_PARTS)),
    *(Response(name, unit="core-seconds") for name in (BUSY_CORE_TIME, IOWAIT_CORE_TIME)),
    *(Response(name, unit="bytes") for name in (DISK_BYTES, NETWORK_BYTES)),
    *(Response(name, unit="share of the mean") for name in (IMBALANCE, NODE_IMBALANCE)),
    Response(CORE_HOURS, kind=Kind.COUNT, better="less", unit="core-hours"),
    Response(GIB_HOURS, kind=Kind.COUNT, better="less", unit="GiB-hours"),
)
# Columns of a table of runs that are no settings, when nobody says which ones are.
MEASURED = tuple(response.name for response in _RESPONSES)
# What other people call the same, less a unit at its end. Of several times the earlier ones count first.
_TIMES = (
    "total_time total_duration total_runtime time duration runtime run_time elapsed elapsed_time wall_time walltime "
    "wall_clock wall_clock_time execution_time exec_time job_time job_duration run_duration training_time train_time "
    "completion_time makespan took time_taken seconds minutes hours sec secs s ms msec hrs hr"
).split()
_SHARES = (
    "acc test_accuracy test_acc val_accuracy val_acc validation_accuracy auc roc_auc test_auc val_auc f1 f1_score "
    "precision recall"
).split()
_MONEY = "costs total_cost job_cost run_cost cost_per_run".split()
_LOSSES = (
    "test_loss val_loss validation_loss train_loss training_loss rmse mae mse mape log_loss logloss error error_rate"
).split()
# Names of settings that would look measured otherwise: a time to wait, a number drawn at random.
_SET = re.compile(r"timeout|interval|window|delay|limit|budget|period|(^|_)(max|target|ttl|wait)(_|$)|^min_")
_DRAWN = (
    "learning_rate lr dropout weight_decay momentum l1 l2 alpha beta gamma lambda reg regularization temperature tol "
    "tolerance eta epsilon threshold decay subsample"
).split()
_COUNTED = re.compile(
    r"(n_|num_)?(rows|records|samples|lines|observations|images|examples|iterations|steps|batch(_size)?)"
)
# Names that tell runs apart, name moments, and hold remarks.
_JOB_NAMES = frozenset("app application benchmark job pipeline program query script workload".split())
_IDENTIFIER = re.compile(
    r"(.*_)?(id|uuid|guid|index|idx|uri|url)|number_in_(job|run)|(run|job|row|trial|experiment|test)(_?(no|nr|num|number|name))?|no|nr|num|number|name"
)
_REPEAT = re.compile(
    r"(run|rep|repeat|repetition|replica|replicate|replication|trial|attempt|seed|random_seed|random_state)(_?(no|nr|num|number))?"
)
_MOMENT = re.compile(
    r"(.*_)?(date|datetime|timestamp|day|when)|last_updated|(start|started|end|ended|finish|finished|submit|submitted"
    r"|created|begin|completed)(_?(time|date|at|on))?"
)
_BLOCK = re.compile(r"(block|session|night|week|weekday)(_?(id|no|nr|num|number))?")
_PRICE_OF_TIME = re.compile(rf"(^|_)(price|tariff|hourly)(_|$)|(^|_)({'|'.join(code[1:] for code in CURRENCIES)})_per_")
_PRICE = re.compile(r"(^|_)(price|hourly|per_hour|per_h|rate|tariff|vm|disk|node|machine|instance|unit)(_|$)")
_HASHES = frozenset("commit sha sha1 sha256 md5 hash revision rev git digest checksum fingerprint".split())
_PLACES = frozenset("pid hostname host_name node_ip ip ip_address driver_host executor_id".split())
_REMARK = re.compile(r"(.*_)?(note|notes|comment|comments|remark|remarks|description|memo)")


def usual_vocabulary(settings: Iterable[str], responses: Iterable[str]) -> Vocabulary:
    """What these names usually mean, the known ones first, in their order of precedence.

    >>> words = usual_vocabulary(["color", "n_gpus"], ["auc", "accuracy"])
    >>> words.first(Role.MACHINES), words.quality, words.role("color").value
    ('n_gpus', 'accuracy', 'other')
    """
    named, yielded = dict.fromkeys(settings), dict.fromkeys(responses)
    known = [
        _setting(name, role)
        for role, written in _SETTINGS
        for usual in written.split()
        for name in named
        if usual in (name, plain_name(name))
    ]
    unknown = [name for name in named if name not in {setting.name for setting in known}]
    known += [_setting(name, role) for name in unknown if (role := role_of_words(plain_name(name)))]
    found = [(_rank(name), _response(name)) for name in yielded]
    others = [name for name in named if name not in {setting.name for setting in known}]
    return Vocabulary(
        (*dict.fromkeys(known), *(Setting(name, unit=_ending(name, _SIZE_UNITS)) for name in others)),
        tuple(response for _, response in sorted(found, key=lambda pair: pair[0])),
    )


def usual_role(name: str) -> Role | None:
    """What a setting of this name usually is."""
    usual = next((role for role, names in _SETTINGS if {name, plain_name(name)} & set(names.split())), None)
    return usual or role_of_words(plain_name(name))


def is_usually_measured(name: str) -> bool:
    """Whether a column of this name is usually what runs were made to find out."""
    return name in MEASURED or _rank(name) < _UNRANKED


def looks_measured(name: str) -> bool:
    """Whether a name ends like that of something measured: a time, bytes, a rate, a percentage."""
    plain = plain_name(name)
    if name.startswith("spark."):
        return False
    # What tools add to their own tables: `_step`, `_timestamp`; what fitted estimators have learned: `n_iter_`.
    if is_use(plain) or is_wait(plain) or name.startswith("_") or name.endswith("_"):
        return True
    if _SET.search(plain) or _PRICE_OF_TIME.search(plain):
        return False
    if _ending(plain, _OTHER_UNITS) or _ending(plain, _TIME_UNITS):
        return True
    if plain in ("send", "sent", "receive", "received") or plain.startswith("time_since"):
        return True
    return measured_kind(plain) is not None or is_use_or_progress(plain)


def may_be_set(name: str) -> bool:
    """Whether a name that ends like something measured may be that of a setting all the same."""
    plain = plain_name(name)
    return not (
        is_usually_measured(name)
        or is_use(plain)
        or is_wait(plain)
        or is_use_or_progress(plain)
        or name.startswith("_")
        or name.endswith("_")
    )


def names_a_price(name: str) -> bool:
    """Whether an amount of money under this name is that of an hour or a machine, and not that of a run."""
    return _PRICE.search(plain_name(name)) is not None


def names_a_bare_price(name: str) -> bool:
    """Whether it may as well be what a run cost: `Preis`, `Cena (Kč)`."""
    return _without_unit(plain_name(name)) == "price"


def names_a_place(name: str) -> bool:
    """Whether it tells where a run was made, which nobody sets: a process, a host, its address."""
    return plain_name(name) in _PLACES


def tells_how_it_went(name: str) -> bool:
    """Whether a text under this name came out of the run: `converged`, `vs baseline`."""
    words = plain_name(name).split("_")
    return words[0] in ("vs", "versus") or not {"converged", "diverged"}.isdisjoint(words)


def usual_kind(name: str) -> Kind:
    return _response(name).kind if is_usually_measured(name) else Kind.OTHER


def is_usually_drawn(name: str) -> bool:
    """Whether a setting of this name may have another value in every run."""
    return plain_name(name) in _DRAWN or _SET.search(plain_name(name)) is not None or usual_role(name) is not None


def is_usually_given(name: str) -> bool:
    """Whether a setting of this name may have any number: a property of Spark, or how many of something there are."""
    return name.startswith("spark.") or plain_name(name).startswith(("n_", "num_", "number_", "max_", "min_"))


def names_executors(name: str) -> bool:
    """Whether a name speaks of Spark's executors, and not of machines in general."""
    return "executor" in name.lower()


def names_a_job(name: str) -> bool:
    """Whether its levels are different jobs, of which nobody chooses the quickest."""
    return plain_name(name).removesuffix("_name").removesuffix("_id") in _JOB_NAMES


def names_runs(name: str) -> bool:
    return _IDENTIFIER.fullmatch(plain_name(name)) is not None


def numbers_repeats(name: str) -> bool:
    return _REPEAT.fullmatch(plain_name(name)) is not None


def counts_rounds(name: str) -> bool:
    """Whether a name may number repetitions: `iteration` of an experiment, or those of an algorithm."""
    return plain_name(name) in ("iteration", "round")


def counts_steps(name: str) -> bool:
    return not {"iterations", "iters", "steps", "epochs"}.isdisjoint(plain_name(name).split("_"))


def names_a_moment(name: str) -> bool:
    return _MOMENT.fullmatch(plain_name(name)) is not None


def may_be_a_clock(name: str) -> bool:
    """Whether a name may be that of a time of day: `time` beside `elapsed`."""
    return plain_name(name) in ("time", "clock", "clock_time", "time_of_day", "hour")


def names_a_block(name: str) -> bool:
    return _BLOCK.fullmatch(plain_name(name)) is not None


def names_a_remark(name: str) -> bool:
    return _REMARK.fullmatch(plain_name(name)) is not None


def names_a_hash(name: str) -> bool:
    """Whether it holds hashes, some of which look like numbers: of a commit, of a file."""
    return not _HASHES.isdisjoint(plain_name(name).split("_"))


def counts_things(name: str) -> bool:
    """Whether 5M under this name is five millions, and not as many bytes."""
    return _COUNTED.fullmatch(plain_name(name)) is not None


def unit_in_name(name: str) -> str:
    """The unit of a time, a size or a percentage that a name ends in."""
    return _ending(name, _TIME_UNITS) or _ending(name, _SIZE_UNITS) or _ending(name, _OTHER_UNITS)


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
    units = [word for word in plain_name(name).split("_") if f"_{word}" in _SIZE_UNITS]  # also of `mem_gib_per_vm`
    return Setting(name, role=role, unit=_SIZE_UNITS[f"_{units[-1]}"] if role is Role.MEMORY and units else "")


_OURS = (TOTAL_TIME, TIME, STARTUP_TIME, COST)
_FIRST = (*_OURS, *_TIMES, *_MONEY, "accuracy", *_SHARES, "throughput", "loss", *_LOSSES)
_ORDER = (*_FIRST, *(name for name in MEASURED if name not in _FIRST))
_RANKS = {name: rank for rank, name in enumerate(_ORDER)}
_UNRANKED = len(_ORDER)
# Of names that only their words tell, behind the usual ones of the same kind.
_RANKS_OF_KINDS: dict[Kind | None, float] = {
    Kind.TIME: _RANKS[_TIMES[-1]] + 0.5,
    Kind.MONEY: _RANKS[_MONEY[-1]] + 0.5,
    Kind.SHARE: _RANKS[_SHARES[-1]] + 0.5,
    Kind.OTHER: _UNRANKED - 0.5,
}


def _rank(name: str) -> float:
    """Its place among the usual names."""
    plain = plain_name(name)
    rank = min(_RANKS.get(each, _UNRANKED) for each in (name, plain, _without_unit(plain)))
    if rank < _UNRANKED or _SET.search(plain) or name.startswith("spark."):
        return rank
    return _RANKS_OF_KINDS.get(measured_kind(plain), _UNRANKED)


def _without_unit(plain: str) -> str:
    endings = (*_OTHER_UNITS, *_TIME_UNITS, *CURRENCIES)  # `_bytes_per_s` before `_s`
    return next(
        (plain.removesuffix(ending) for ending in endings if ending[0] == "_" and plain.endswith(ending)), plain
    )


def _response(name: str) -> Response:
    if usual := next((response for response in _RESPONSES if response.name == name), None):
        return usual
    plain = plain_name(name)
    base, unit = _without_unit(plain), _ending(name, _TIME_UNITS)
    if usual := next((response for response in _RESPONSES if response.name in (plain, base)), None):
        return replace(usual, name=name, unit=_ending(name, _TIME_UNITS | _OTHER_UNITS | CURRENCIES) or usual.unit)
    kind = measured_kind(plain)
    if base in _TIMES or kind is Kind.TIME:
        return Response(name, kind=Kind.TIME, unit=unit)
    if base in (*_MONEY, "price") or kind is Kind.MONEY:
        return Response(name, kind=Kind.MONEY, unit=_ending(name, CURRENCIES))
    if base in _SHARES or kind is Kind.SHARE:
        return Response(name, kind=Kind.SHARE, unit=_ending(name, _OTHER_UNITS))
    if other := _ending(name, _OTHER_UNITS):
        return Response(name, unit=other)
    if unit and _is_held(plain):
        return Response(name, unit=plain.replace("_", "-"))
    return Response(name, kind=Kind.TIME if unit else Kind.OTHER, unit=unit)


def _is_held(plain: str) -> bool:
    """Whether it is a resource times how long it was held: `memorySeconds`, `gpu_hours`."""
    held = r"(memory|mb|gb|v?cores?|v?cpus?|gpus?|nodes?|machines?|executors?|slots?)_(seconds|hours)"
    return re.fullmatch(held, plain) is not None


def _ending(name: str, units: Mapping[str, str]) -> str:
    plain = plain_name(name)
    is_rate = _IS_RATE.search(plain) is not None  # of which the last word is no unit of a time
    ends = (unit for suffix, unit in units.items() if name.endswith(suffix) or plain.endswith(suffix))
    return next((unit for unit in ends if not (is_rate and unit in _TIME_UNITS.values())), "")
