"""What the words of a heading mean together, where the whole is on no list: `mem_gib_per_vm`, `val_top1_error`."""

import re
from functools import lru_cache

from sparkcast.study.response import Kind
from sparkcast.study.setting import Role


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SIZE_UNITS = _set("gb gib mb mib kb kib tb tib bytes")
_TIME_UNITS = _set("s sec secs seconds us ns ms msec millis min mins minutes h hr hrs hours d days")
_OTHER_UNITS = _set("percent pct eur usd gbp jpy chf cny pln inr rub uah krw try czk huf brl")
_COUNTERS = _set("n num number nr no nb count of alloc allocated requested req request requests limit limits resources")
_MACHINE = {
    "executor": "executors",
    "exec": "execs",
    "worker": "workers",
    "node": "nodes",
    "machine": "machines",
    "instance": "instances",
    "vm": "vms",
    "server": "servers",
    "host": "hosts",
    "gpu": "gpus",
    "accelerator": "accelerators",
    "tpu": "tpus",
}
_MACHINES = frozenset(_MACHINE.values())
_SCALE = _set("scaleout scale_out cluster_size ngpus nworkers nnodes nexecutors")
_CORES = _set("core cores vcore vcores vcpu vcpus cpu cpus slot slots")
_MEMORY = _set("memory mem ram")
_ALL = _set("total all cluster overall sum")
_TYPES = _set("type flavor flavour sku shape family")
_BATCH = _set("batch size mini minibatch batchsize global train training total effective")
_EPOCHS = _set("epochs epoch max train training")
_ITERATIONS = _set("iterations iters iter steps itr niter maxiter max train training")
_DATA = _set("data dataset input inputs file files table corpus training train set problem source")
_AMOUNT = _set("size volume amount rows records samples lines observations images examples points documents events")
_COUNTED = _AMOUNT - _set("size volume amount")
_PARTS = _set("fraction share portion percent pct")

_USE = _set(
    "converged diverged used usage util utilization utilisation spilled observed measured throughput speedup slowdown "
    "efficiency rss resident vmem rchar wchar"
)  # nobody sets these
_USED = _USE | _set("peak progress sd std stdev stddev score r2 bleu dbu dbus got flops tflops gflops mfu")
_MOVED = _set("shuffle bytes disk network hdfs s3 io")  # where read or written is said of them
_DONE = _set("done completed used actual executed performed needed converged reached taken")
_LOST = _set("failed killed lost retried skipped preempted evicted")  # parts of a run, which nobody sets
_PARTS_OF_A_RUN = _set("maps reduces tasks task executors stages jobs nodes attempts workers containers pods")
_WAITED = _set("queue queued queueing queuing scheduling scheduler pending launch startup")
_TIME_WORDS = _set("time t duration runtime elapsed walltime makespan wallclock")
_OF_A_RUN = _set(
    "total run job wall clock exec execution gross net training train fit app application completion elapsed taken "
    "query compute spark overall e2e processing program full real mean avg average median attempt attempts per"
)
_QUALITIES = _set("accuracy acc auc auroc f1 precision recall top1 top5 specificity sensitivity iou dice")
_LOSSES = _set("loss error err rmse mae mse mape wer cer perplexity logloss wssse inertia")
_OF_A_MODEL = _set(
    "test val valid validation train training eval final best last mean avg average roc pr score rate macro micro "
    "weighted top 1 5 dev holdout oob log cross entropy model out sample of relative absolute squared root median"
)
_STATISTIC = re.compile(
    r"(mean|avg|average|median|std|stdev|stddev|min|max|minimum|maximum|p\d{2,3}|percentile_\d+|\d+(th)?_(line|percentile))"
    rf"(_({'|'.join(_TIME_UNITS)}))?"
)
_MONEY = _set("cost costs spend spending charge charges")
_OF_A_BILL = _set(
    "total job run compute cluster est estimated per aws azure gcp cloud billed net gross training train dbu "
    "mean avg average day daily week weekly month monthly"
)


@lru_cache(maxsize=8192)
def role_of_words(plain: str) -> Role | None:
    """What a setting with these words is; None where they do not tell."""
    words = plain.split("_")
    if "driver" in words or not _USED.isdisjoint(words):
        return None
    if plain in _SCALE:
        return Role.MACHINES
    bare = [word for word in words if word not in _SIZE_UNITS]
    if "per" in bare:
        return _per_machine(bare[: bare.index("per")], bare[bare.index("per") + 1 :])
    heads = [word for word in bare if word not in _COUNTERS]
    is_counted = len(heads) < len(bare)
    kinds = (
        _of_cores(set(heads), is_counted),
        _of_memory(set(heads)),
        _of_machines(heads, is_counted),
        _of_data(set(heads), has_unit=len(bare) < len(words), is_counted=is_counted),
        _of_training(set(heads), is_counted),
    )
    return next((role for role in kinds if role is not None), None)


def _per_machine(of: list[str], each: list[str]) -> Role | None:
    if not of:  # `per_gpu_batch_size`
        of, each = each[1:], each[:1]
    if len(each) != 1 or each[0] not in {*_MACHINE, *_MACHINES, "device", "replica"}:
        return None
    if _of_training(set(of), is_counted=False) is Role.BATCH:
        return Role.BATCH
    if not _CORES.isdisjoint(of):
        return Role.CORES
    return None if _MEMORY.isdisjoint(of) else Role.MEMORY


def _of_cores(heads: set[str], is_counted: bool) -> Role | None:
    cores, rest = heads & _CORES, heads - _CORES
    if not cores or not rest <= _ALL | set(_MACHINE):
        return None
    if rest & _ALL or cores & {"slot", "slots"}:
        return Role.TOTAL_CORES
    if cores <= {"cpu", "cpus"} and not rest and not is_counted:
        return None  # on the list of whole names
    return Role.CORES


def _of_memory(heads: set[str]) -> Role | None:
    rest = heads - _MEMORY
    return Role.MEMORY if rest < heads and rest <= {*_MACHINE, "size"} else None


def _of_machines(heads: list[str], is_counted: bool) -> Role | None:
    last = heads[-1] if heads else ""
    kind = set(heads) & _TYPES
    if kind and set(heads) - kind <= {*_MACHINE, "id", "name"} and set(heads) & set(_MACHINE):
        return Role.MACHINE_TYPE
    if "_".join(heads) in ("vm_name", "vm_size"):
        return Role.MACHINE_TYPE
    if heads == ["hosts"] and not is_counted:
        return None  # names of hosts as often as their number
    is_several = last in _MACHINES or (is_counted and last in _MACHINE)
    others = set(heads[:-1])
    return Role.MACHINES if is_several and others <= {*_MACHINE, "core", "task", "compute", "cluster"} else None


def _of_data(heads: set[str], *, has_unit: bool, is_counted: bool) -> Role | None:
    if heads & _PARTS and heads - _PARTS <= {*_DATA, "sample", "sampling", "of"} and len(heads) > 1:
        return Role.FRACTION
    if not heads <= _DATA | _AMOUNT | {"datasize"}:
        return None
    is_amount = (heads & _DATA and heads & _AMOUNT) or (has_unit and heads and heads <= _DATA | {"size"})
    is_number_of = heads & _COUNTED and (is_counted or len(heads) > 1)
    return Role.DATA_SIZE if is_amount or is_number_of or heads == {"datasize"} else None


def _of_training(heads: set[str], is_counted: bool) -> Role | None:
    if heads & {"batch", "minibatch", "batchsize"} and heads <= _BATCH:
        return Role.BATCH
    if ("epochs" in heads or ("epoch" in heads and (is_counted or "max" in heads))) and heads <= _EPOCHS:
        return Role.EPOCHS
    passes = heads - {"max", "train", "training"}
    return Role.ITERATIONS if passes and heads <= _ITERATIONS else None


@lru_cache(maxsize=8192)
def measured_kind(plain: str) -> Kind | None:
    """What a response with these words is; OTHER for an error or a loss, None where the words do not tell."""
    words = plain.split("_")
    has_time = words[-1] in _TIME_UNITS
    bare = {word for word in words if word not in _TIME_UNITS | _OTHER_UNITS}
    if not bare:
        return None
    is_rate = len(words) > 1 and words[-2] == "per" and has_time  # `usd_per_h`
    if (bare & _TIME_WORDS or has_time) and not is_rate and bare <= _TIME_WORDS | _OF_A_RUN:
        return Kind.TIME
    if bare & _MONEY and bare - _MONEY <= _OF_A_BILL:
        return Kind.MONEY
    if bare & _LOSSES and bare - _LOSSES <= _OF_A_MODEL | _QUALITIES:
        return Kind.OTHER
    if bare & _QUALITIES and bare - _QUALITIES <= _OF_A_MODEL:
        return Kind.SHARE
    return Kind.OTHER if "score" in bare and {*bare} & {"test", "val", "mean"} and bare <= _OF_A_MODEL else None


def is_use(plain: str) -> bool:
    """Whether the words speak of what a run used, whatever else they say: `max_memory_used`."""
    return not _USE.isdisjoint(plain.split("_"))


def is_wait(plain: str) -> bool:
    """Whether the words speak of a wait that a run had, and not of one that was set: `queue_wait_s`."""
    words = set(plain.split("_"))
    is_limit = words & {"max", "min", "limit", "timeout", "target", "budget"}
    return bool(words & {"wait", "waiting", "waited", "delay"} and words & _WAITED and not is_limit)


def is_use_or_progress(plain: str) -> bool:
    """Whether the words speak of what a run used, reached or did: nobody sets that."""
    words = set(plain.split("_"))
    if plain in ("attempts", "retries", "restarts", "failures") or _STATISTIC.fullmatch(plain):
        return True
    if words & {"iterations", "iters", "iter", "steps", "epochs"}:
        return bool(words & _DONE)
    if words & _LOST and words & _PARTS_OF_A_RUN and "max" not in words:
        return True
    if (
        words & _MOVED
        and words & {"read", "write", "written", "sent", "received"}
        and not words & {"partitions", "buffer"}
    ):
        return True
    return bool(words & _USED) or plain.split("_")[-1] in ("time", "duration") or plain.startswith("t_")
