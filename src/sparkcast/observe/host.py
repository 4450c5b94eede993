"""The machine sparkcast runs on, sampled while a run goes on; and what the other nodes of a cluster sent."""

import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import psutil

from sparkcast.observe.psutil_counters import PsutilCounters
from sparkcast.plain import from_json
from sparkcast.study.series import HostSeries
from sparkcast.workloads.nodes import HERE, NODES_FILE, PERIOD_S
from sparkcast.workloads.sampler import Counters, Every


class _Readable(Protocol):
    def about(self) -> dict[str, Any]: ...

    def read(self) -> list[int]: ...

    def close(self) -> None: ...


class HostSampler:
    """Samples between enter and exit, at both ends and each `period_s`, in a thread that costs next to nothing."""

    def __init__(self, period_s: float = PERIOD_S, counters: _Readable | None = None) -> None:
        self._period_s, self._counters = period_s, counters or counters_here()
        self._about = self._counters.about()
        self._stopping = threading.Event()
        self._samples: list[list[int]] = []
        self._own_cpu_s: list[float] = []  # before and after
        self._thread = threading.Thread(target=self._sample, name="host-sampler", daemon=True)

    def __enter__(self) -> Self:
        self._note_own_cpu()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join()
        self._note_own_cpu()
        self._counters.close()

    @property
    def own_cpu_s(self) -> float | None:
        """The CPU time of this process and all that it started, meanwhile; None where the system does not keep it."""
        return max(self._own_cpu_s[1] - self._own_cpu_s[0], 0.0) if len(self._own_cpu_s) == 2 else None

    def _note_own_cpu(self) -> None:
        if (seconds := family_cpu_s()) is not None:
            self._own_cpu_s.append(seconds)

    def series(self) -> HostSeries:
        """What was sampled; ask after the end."""
        return series_of(self._about, self._samples)

    def _sample(self) -> None:
        moments, is_over = Every(self._period_s), False
        while not is_over:
            self._samples.append(self._counters.read())
            is_over = self._stopping.wait(moments.wait_s())
        self._samples.append(self._counters.read())


def family_cpu_s() -> float | None:
    """The CPU time of this process and its descendants, those included that have ended and were waited for.

    An embedded cluster, its executors and their Python workers are all descendants. Only Linux counts the dead.
    """
    if not sys.platform.startswith("linux"):
        return None
    this = psutil.Process()
    total = 0.0
    for process in (this, *this.children(recursive=True)):
        with suppress(psutil.Error):  # gone meanwhile: its parent has its time
            times = process.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def counters_here() -> _Readable:
    try:
        return Counters()
    except OSError:
        return PsutilCounters()


def series_of(about: Mapping[str, Any], samples: Iterable[Sequence[int]]) -> HostSeries:
    """Samples in any order as columns; of several at one moment the last, and none that was cut off."""
    names = about["names"]
    by_moment = {sample[0]: sample for sample in samples if len(sample) == len(names)}
    rows = [by_moment[at] for at in sorted(by_moment)]
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return HostSeries(
        str(about["host"]),
        str(about["node"]),
        int(about["cores"]),
        int(about["memory_bytes"]),
        int(about["ticks_per_s"]),
        dict(zip(names, columns, strict=True)),
    )


def with_nodes(here: HostSeries, folders: Iterable[Path], *, is_local: bool) -> tuple[HostSeries, ...]:
    """This machine and the nodes whose samples are in the folders of a run's jobs.

    On an embedded or local cluster this machine is the one that has the executors.
    """
    abouts: dict[str, dict[str, Any]] = {}
    samples: dict[str, list[list[int]]] = {}
    has_executors = is_local
    for entry in (entry for folder in folders for entry in _entries(folder / NODES_FILE)):
        if entry.get(HERE):
            has_executors = True
        elif about := entry.get("about"):
            abouts[about["node"]] = about
        elif entry.get("node") in abouts:
            samples.setdefault(entry["node"], []).append(entry["values"])
    nodes = [series_of(about, samples.get(node, ())) for node, about in abouts.items()]
    return replace(here, has_executors=has_executors), *sorted(nodes, key=lambda series: (series.host, series.node))


def _entries(file: Path) -> Iterable[dict[str, Any]]:
    for line in file.read_bytes().splitlines() if file.exists() else ():
        entry = from_json(line)
        if isinstance(entry, dict):
            yield entry
