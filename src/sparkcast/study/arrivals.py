"""A stream of jobs: when each is submitted, and which settings it has.

The same study gives the same stream in every session. Replicates draw other arrivals; the same replicate of another
configuration has the same ones (at another rate: the same ones, faster or slower), so that configurations are compared
under the same bursts.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.study.configuration import Configuration, Levels
from sparkcast.units import as_number, show_rate, show_seconds

ARRIVAL_RATE = "arrivals_per_hour"  # the setting that a Poisson stream adds to those of its workload
MOST_JOBS = 10_000
_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Poisson:
    """So many jobs that know nothing of one another; the first comes at once. The rate is a setting of the trial."""

    jobs: int
    seed: int = 0

    def __post_init__(self) -> None:
        _require_jobs(self.jobs)

    def times_s(self, configuration: Levels, replicate: int) -> tuple[float, ...]:
        rate = as_number(configuration[ARRIVAL_RATE])
        assert rate is not None, "checked where the study was read"
        draw = random.Random(f"{self.seed} {replicate}")
        times = [0.0]
        while len(times) < self.jobs:
            times.append(times[-1] + draw.expovariate(1.0) * _HOUR / rate)
        return tuple(times)

    def as_plain(self) -> dict[str, Any]:
        return {"kind": "poisson", "jobs": self.jobs, "seed": self.seed}

    def __str__(self) -> str:
        return f"{self.jobs} jobs, Poisson, seed {self.seed}"


@dataclass(frozen=True, slots=True)
class At:
    """Jobs at given times, in seconds; what counts is how long after the first each comes."""

    given_s: tuple[float, ...]
    source: str = ""  # where the times come from, when nobody wrote them

    def __post_init__(self) -> None:
        _require_jobs(len(self.given_s))
        if any(not 0 <= time < math.inf for time in self.given_s):
            raise StudyError(
                f"an arrival at {min(self.given_s):g} s is not possible", hint="give times of 0 s or more: [0s, 30s]"
            )
        late = next(((one, other) for one, other in pairwise(self.given_s) if other < one), None)
        if late is not None:
            raise StudyError(
                f"the arrivals are not in order: {late[1]:g} s comes after {late[0]:g} s",
                hint="list them from the first to the last",
            )

    def times_s(self, configuration: Levels, replicate: int) -> tuple[float, ...]:
        return tuple(time - self.given_s[0] for time in self.given_s)

    def as_plain(self) -> dict[str, Any]:
        return {"at": list(self.given_s)}

    def __str__(self) -> str:
        origin = f", {self.source}" if self.source else ""
        return f"{len(self.given_s)} jobs in {show_seconds(self.given_s[-1] - self.given_s[0])}{origin}"


@dataclass(frozen=True, slots=True)
class FromLogs:
    """Jobs as often as the applications of a folder of event logs once started, `speed` times faster."""

    folder: Path
    speed: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.speed < math.inf:
            raise StudyError(f"a speed of {self.speed:g} is not possible", hint="10 replays the logs ten times faster")

    def at(self, started_s: Sequence[float]) -> At:
        """The arrivals when applications started at these moments, in any order."""
        if len(started_s) < 2:
            found = "no application" if not started_s else "one application"
            raise NotEnoughDataError(
                f"{str(self.folder)!r} has the start of {found}, which is no stream",
                hint="give a folder with the event logs of two or more applications",
            )
        first = min(started_s)
        return At(tuple((time - first) / self.speed for time in sorted(started_s)), f"from {len(started_s)} event logs")

    def times_s(self, configuration: Levels, replicate: int) -> tuple[float, ...]:
        raise AssertionError("the logs are read where the study is run")

    def as_plain(self) -> dict[str, Any]:
        return {"logs": str(self.folder), "speed": self.speed}

    def __str__(self) -> str:
        return f"as in the event logs of {self.folder}, {self.speed:g} times faster"


Arrivals = Poisson | At | FromLogs


@dataclass(frozen=True, slots=True)
class MixPart:
    """A share of the jobs of a stream, with the settings in which they differ from the others."""

    share: float
    settings: Configuration

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", Configuration(self.settings))
        if not 0 < self.share <= 1:
            raise StudyError(f"a share of {self.share:g} is not possible", hint="shares are above 0 and add up to 1")

    def as_plain(self) -> dict[str, Any]:
        return {"share": self.share, **self.settings}


def require_whole(mix: Sequence[MixPart]) -> None:
    """Raise StudyError for shares that do not add up, and for parts that are the same."""
    total = math.fsum(part.share for part in mix)
    if mix and abs(total - 1) > 1e-6:
        raise StudyError(f"the shares of the mix add up to {total:.6g}, not 1", hint="e.g. 0.7 and 0.3")
    if len({part.settings for part in mix}) < len(mix):
        raise StudyError("two parts of the mix have the same settings", hint="put their shares together")


def dealt(mix: Sequence[MixPart], n_jobs: int, *, seed: int, replicate: int) -> tuple[Configuration, ...]:
    """The settings in which each job of a stream differs: as many of each part as its share says, in random order.

    >>> mix = (MixPart(0.75, Configuration({"executors": 1})), MixPart(0.25, Configuration({"executors": 2})))
    >>> sorted(part["executors"] for part in dealt(mix, 8, seed=0, replicate=1))
    [1, 1, 1, 1, 1, 1, 2, 2]
    """
    if not mix:
        return (Configuration(),) * n_jobs
    exact = [part.share * n_jobs for part in mix]
    counts = [math.floor(number + 1e-9) for number in exact]
    by_rest = sorted(range(len(mix)), key=lambda i: counts[i] - exact[i])
    for i in by_rest[: n_jobs - sum(counts)]:
        counts[i] += 1
    jobs = [part.settings for part, count in zip(mix, counts, strict=True) for _ in range(count)]
    random.Random(f"mix {seed} {replicate}").shuffle(jobs)
    return tuple(jobs)


def shown_rate(configuration: Levels) -> str:
    """The arrival rate of a trial for people, or ""."""
    rate = as_number(configuration.get(ARRIVAL_RATE))
    return "" if rate is None else show_rate(rate / _HOUR)


def _require_jobs(n: int) -> None:
    if not 2 <= n <= MOST_JOBS:
        raise StudyError(
            f"a stream of {n:,} job{'' if n == 1 else 's'} is not possible", hint=f"between 2 and {MOST_JOBS:,} jobs"
        )
