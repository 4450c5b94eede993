"""How busy the machines of a run were, sample by sample, and when its stages ran."""

from collections.abc import Mapping
from dataclasses import dataclass, field

AT, CORE = "at_ms", "core"  # the moment of a sample; how the names of counters of single cores begin


@dataclass(frozen=True, slots=True)
class StageSpan:
    """One attempt of one stage. Moments are milliseconds since the Unix epoch."""

    stage_id: int
    attempt: int
    name: str
    started_ms: int
    ended_ms: int


@dataclass(frozen=True, slots=True)
class HostSeries:
    """The counters of one machine as they stood at each sample, beginning with the moment (`at_ms`).

    CPU times are in ticks, memory in KiB and disk in sectors of 512 bytes, as the kernel of Linux counts them. `core0`
    and so on are what each core was busy. All but the memory in use only grow.
    """

    host: str
    node: str  # tells machines apart, whatever they are called
    cores: int
    memory_bytes: int  # that it has
    ticks_per_s: int
    counters: Mapping[str, tuple[int, ...]] = field(repr=False)
    has_executors: bool = True  # and not only the driver

    @property
    def at_ms(self) -> tuple[int, ...]:
        return self.counters.get(AT, ())

    def __len__(self) -> int:
        return len(self.at_ms)


@dataclass(frozen=True, slots=True)
class RunSeries:
    """What was sampled during one run."""

    hosts: tuple[HostSeries, ...] = ()
    stages: tuple[StageSpan, ...] = ()  # in order of their start

    @property
    def workers(self) -> tuple[HostSeries, ...]:
        """The machines that ran executors; where none is known to, those there are."""
        return tuple(host for host in self.hosts if host.has_executors and len(host)) or self.hosts
