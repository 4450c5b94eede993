"""What samples mean: shares and rates over time, their means over any interval, such as that of a stage.

Counters only grow, so the mean rate between two moments is what a counter grew by over the time between them, however
the samples lie; between samples a counter is taken to grow evenly. Means of neighboring intervals therefore add up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.study import Utilization
from sparkcast.study.names import BUSY_CORE_TIME, DISK_BYTES, IOWAIT_CORE_TIME, NETWORK_BYTES, NODE_IMBALANCE
from sparkcast.study.series import CORE, HostSeries, RunSeries, StageSpan

_CPU = ("user", "system", "iowait", "steal", "idle")
_SHOWN_CPU = _CPU[:-1]
MEMORY = "memory_bytes"
# What is shown per second, the counter it comes from, and how much one of it is.
_RATES = {
    "disk_read_bytes_per_s": ("disk_read_sectors", 512),
    "disk_written_bytes_per_s": ("disk_written_sectors", 512),
    "disk_reads_per_s": ("disk_reads", 1),
    "disk_writes_per_s": ("disk_writes", 1),
    **{
        f"{name}_per_s": (name, 1)
        for name in (
            *("network_in_bytes", "network_out_bytes", "network_in_packets", "network_out_packets"),
            *("loopback_bytes", "loopback_packets"),
        )
    },
}


@dataclass(frozen=True, slots=True)
class StageUse:
    """How busy one machine was while a stage ran. Moments are seconds since the first sample."""

    host: str
    stage_id: int
    attempt: int
    name: str
    started_s: float
    ended_s: float
    means: Mapping[str, float]  # cpu_percent and so on; empty for a stage that no sample covers


def rates(host: HostSeries, edges_ms: Floats | None = None) -> dict[str, Floats]:
    """Shares and rates between neighboring moments, by default those of the samples; `at_s` is the end of each pair.

    Shares of CPU are percentages of all cores (`user_percent`) or of one (`core0_percent`).
    """
    if len(host) < 2:
        return {}
    edges = np.array(host.at_ms, dtype=float) if edges_ms is None else edges_ms
    columns = _between(host, edges[:-1], edges[1:])
    return {"at_s": (edges[1:] - edges[0]) / 1e3, **dict(zip(_names(host), columns, strict=True))}


def means(host: HostSeries, start_ms: float, end_ms: float) -> dict[str, float]:
    """Mean shares and rates between two moments, as far as there are samples; empty where there are none."""
    return _means(host, [(start_ms, end_ms)])[0]


def stage_uses(run: RunSeries) -> tuple[StageUse, ...]:
    """Each stage on each machine that ran executors."""
    return tuple(use for host in run.workers if len(host) for use in _stage_uses(host, run.stages))


def _stage_uses(host: HostSeries, stages: Sequence[StageSpan]) -> list[StageUse]:
    begun = host.at_ms[0]
    found = _means(host, [(stage.started_ms, stage.ended_ms) for stage in stages])
    return [
        StageUse(
            host.host,
            stage.stage_id,
            stage.attempt,
            stage.name,
            (stage.started_ms - begun) / 1e3,
            (stage.ended_ms - begun) / 1e3,
            means,
        )
        for stage, means in zip(stages, found, strict=True)
    ]


def _means(host: HostSeries, spans_ms: Sequence[tuple[float, float]]) -> list[dict[str, float]]:
    """Of each interval, all at once: a training has thousands of stages."""
    if len(host) < 2:
        return [{} for _ in spans_ms]
    starts, ends = np.clip(np.array(spans_ms, dtype=float).reshape(-1, 2), host.at_ms[0], host.at_ms[-1]).T
    names, columns = _names(host), _between(host, starts, ends)
    rows = np.array(columns).T.tolist()
    return [
        dict(zip(names, row, strict=True)) if start < end else {}
        for start, end, row in zip(starts, ends, rows, strict=True)
    ]


def _names(host: HostSeries) -> list[str]:
    cores = [name for name in host.counters if name.startswith(CORE)]
    return [
        "cpu_percent",
        *(f"{name}_percent" for name in _SHOWN_CPU),
        MEMORY,
        *_RATES,
        *(f"{core}_percent" for core in cores),
    ]


def _between(host: HostSeries, starts: Floats, ends: Floats) -> list[Floats]:
    """The columns of `_names`, each with one value for every interval."""
    at = np.array(host.at_ms, dtype=float)
    seconds = np.maximum((ends - starts) / 1e3, 1e-9)

    def grown(values: Floats) -> Floats:
        result: Floats = np.interp(ends, at, values) - np.interp(starts, at, values)
        return result

    def counted(name: str) -> Floats:
        counter = np.array(host.counters[name], dtype=np.int64)
        # A counter that falls (the wait for I/O may, by a tick) stands still until it is where it was.
        return grown(np.maximum.accumulate(counter - counter[0]).astype(float))

    cpu = {name: counted(name) for name in _CPU}
    ticks = np.maximum(sum(cpu.values()), 1e-9)
    memory = np.array(host.counters["memory_kib"], dtype=float) * 1024
    area = np.concatenate([[0.0], np.cumsum((memory[1:] + memory[:-1]) / 2 * np.diff(at) / 1e3)])
    cores = [name for name in host.counters if name.startswith(CORE)]
    of_a_core = np.maximum(ticks / max(host.cores, 1), 1e-9)

    def percent(used: Floats, available: Floats) -> Floats:
        return np.minimum(100 * used / available, 100.0)  # the last digit of a busy machine may be above

    return [
        percent(cpu["user"] + cpu["system"], ticks),
        *(percent(cpu[name], ticks) for name in _SHOWN_CPU),
        grown(area) / seconds,
        *(counted(counter) * size / seconds for counter, size in _RATES.values()),
        *(percent(counted(core), of_a_core) for core in cores),
    ]


# ---------------------------------------------------------------- a run as a whole


def utilization(
    run: RunSeries, start_s: float, end_s: float, *, own_cpu_s: float | None = None, wanted_cores: float = 0.0
) -> Utilization | None:
    """Means between two moments (seconds since the Unix epoch) over the machines that ran executors; None without.

    Of the CPU time there, the run itself has used `own_cpu_s`; where nobody counted, at most that of the cores it held.
    """
    sampled = _sampled(run, start_s, end_s)
    if not sampled:
        return None

    def mean(*names: str) -> float:
        return sum(use[name] for _, use in sampled for name in names) / len(sampled)

    cores = sum(host.cores for host, _ in sampled)
    taken = sum(host.cores * (use["cpu_percent"] + use["steal_percent"]) / 100 for host, use in sampled)
    wanted = min(wanted_cores, float(cores))
    own = min(taken, wanted) if own_cpu_s is None else own_cpu_s / max(end_s - start_s, 1e-9)
    return Utilization(
        cpu_percent=mean("cpu_percent"),
        iowait_percent=mean("iowait_percent"),
        memory_bytes=mean(MEMORY),
        network_bytes_per_s=mean(*_network(run)),
        disk_bytes_per_s=mean("disk_read_bytes_per_s", "disk_written_bytes_per_s"),
        samples=min(len(host) for host, _ in sampled),
        cores=cores,
        wanted_cores=wanted,
        other_cores=max(taken - own, 0.0) if wanted else None,
    )


def machine_metrics(run: RunSeries, start_s: float, end_s: float) -> dict[str, float]:
    """What the machines that ran executors did in all between two moments: core-seconds and bytes."""
    found = _sampled(run, start_s, end_s)
    if not found or len(found) < len(run.workers):
        return {}

    def total(*names: str) -> float:
        return sum(use[name] for _, use in found for name in names) * (end_s - start_s)

    def core_seconds(name: str) -> float:
        return sum(host.cores * use[name] / 100 for host, use in found) * (end_s - start_s)

    return {
        BUSY_CORE_TIME: core_seconds("cpu_percent"),
        IOWAIT_CORE_TIME: core_seconds("iowait_percent"),
        DISK_BYTES: total("disk_read_bytes_per_s", "disk_written_bytes_per_s"),
        NETWORK_BYTES: total(*_network(run)),
    }


def _sampled(run: RunSeries, start_s: float, end_s: float) -> list[tuple[HostSeries, dict[str, float]]]:
    found = [(host, means(host, 1e3 * start_s, 1e3 * end_s)) for host in run.workers]
    return [(host, use) for host, use in found if use]


def _network(run: RunSeries) -> tuple[str, ...]:
    """Executors of one machine talk over its loopback; elsewhere that is the talk of an executor with its Python."""
    between = ("network_in_bytes_per_s", "network_out_bytes_per_s")
    return between if len(run.workers) > 1 else (*between, "loopback_bytes_per_s")


def imbalance(amounts: Sequence[float]) -> float:
    """How much more than the mean the one with most has, as a share of the mean: 0 is even.

    >>> imbalance([30.0, 10.0]), imbalance([5.0]), imbalance([])
    (0.5, 0.0, 0.0)
    """
    total = sum(amounts)
    return max(amounts) * len(amounts) / total - 1 if total > 0 else 0.0


def node_imbalance(run: RunSeries, start_s: float, end_s: float) -> dict[str, float]:
    """Of what each machine computed, where several were sampled."""
    busy = [host.cores * use["cpu_percent"] for host, use in _sampled(run, start_s, end_s)]
    return {NODE_IMBALANCE: imbalance(busy)} if len(busy) > 1 else {}
