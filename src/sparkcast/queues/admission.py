"""May one more job start? When those that run now end without it and with it, and whose deadlines break.

Jobs share the cluster: among n a job would take T(n) seconds in all, so that each second it does 1 / T(n) of its work.
What has been done so far is known, or follows from how long it has run among those that run now. From then on the
number changes whenever one ends or starts, and all speeds with it. Times are uncertain: the future is played through
many times, each time with another quantile for each job, which it keeps whatever the number; of a job that runs, only
quantiles count at which it has not ended yet. (`queues.staggered` plays the future of jobs that launch and wait for
cores in between, where runs have shown how long.)

A job later than the distribution expects once in a thousand times is held up by something that no run has shown. All
that is known then is how late it is: what is left is more than x times that with probability 1 / (1 + x).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar

import numpy as np
from scipy.special import ndtri

from sparkcast.arrays import Floats
from sparkcast.display import Displayed, frame_of, plain_row
from sparkcast.errors import StudyError
from sparkcast.queues import require_positive, require_share
from sparkcast.queues.general import require_scv
from sparkcast.queues.slowdown import Slowdown
from sparkcast.units import show_percent

if TYPE_CHECKING:
    import pandas as pd

_HELD_UP = 1e-3  # a job that such a share of jobs outlasts is not one of those that were measured
DRAWS = 400
_BY_CHANCE = 0.01  # a probability that falls by less has not changed
_LATEST = 10  # running jobs whose end may be waited for


class JobTimes(Protocol):
    """How long one job takes in all among so many."""

    def quantiles(self, n: int, shares: Floats) -> Floats:
        """Seconds within which such shares of these jobs end when `n` run all along."""
        ...

    def share_within(self, n: int, seconds: float) -> float:
        """The share of these jobs that have ended by then."""
        ...


@dataclass(frozen=True, slots=True)
class Slowed:
    """A time alone that is slowed by others, with logarithms that are normal."""

    alone_s: float  # the median
    slowdown: Slowdown
    scv: float = 0.0  # squared coefficient of variation

    def __post_init__(self) -> None:
        require_positive(self.alone_s, "the time of a job", "s")
        require_scv(self.scv, "times")

    def quantiles(self, n: int, shares: Floats) -> Floats:
        return np.asarray(self._median(n) * np.exp(self._sigma * ndtri(shares)))

    def share_within(self, n: int, seconds: float) -> float:
        import math

        if self.scv == 0 or seconds <= 0:
            return float(seconds >= self._median(n))
        return NormalDist().cdf(math.log(seconds / self._median(n)) / self._sigma)

    def _median(self, n: int) -> float:
        return self.alone_s * self.slowdown(n)

    @property
    def _sigma(self) -> float:
        import math

        return math.sqrt(math.log1p(self.scv))


Known = TypeVar("Known", covariant=True)  # what is known of the times of a job: JobTimes, or others
Kind = TypeVar("Kind")  # the same, of all jobs of a future
Share = TypeVar("Share", float, Floats)


@dataclass(frozen=True, slots=True)
class AdmittedJob(Generic[Known]):
    """A job that runs, or would."""

    name: str
    times: Known
    elapsed_s: float = 0.0
    within_s: float | None = None  # its deadline, from its start; of a job that has not started, from now
    done: float | None = None  # the share of its work that is known to be done

    def __post_init__(self) -> None:
        if not 0 <= self.elapsed_s < float("inf"):
            raise StudyError(f"{self.name} cannot have been running for {self.elapsed_s:g} s", hint="give 0 or more")
        if self.within_s is not None:
            require_positive(self.within_s, f"the deadline of {self.name}", "s")
        if self.done is not None and not 0 <= self.done < 1:
            raise StudyError(f"{self.name} is {show_percent(self.done)} done", hint="leave out jobs that have finished")


@dataclass(frozen=True, slots=True)
class End:
    """When a job ends, in seconds from its start (of the new job: from now)."""

    name: str
    ends_s: float  # the median
    low_s: float
    high_s: float  # 80 % of the futures lie between
    within_s: float | None
    probability: float | None  # of meeting the deadline; None without one


@dataclass(frozen=True, slots=True)
class Option:
    """One way to let the new job in, and what comes of it."""

    what: Literal["admit", "shrink", "delay"]
    new: str  # which form of the new job
    start_after: int  # how many of the running jobs must have ended; 0: now
    start_in_s: float  # when that is expected, the median
    ends: tuple[End, ...]  # the running jobs, then the new one
    breaks: tuple[str, ...]  # jobs whose deadlines it would break


@dataclass(frozen=True, slots=True)
class Decision(Displayed):
    verdict: Literal["admit", "shrink", "delay", "refuse"]
    chosen: Option | None  # None when it is refused
    without: tuple[End, ...]  # the running jobs if nothing is let in
    options: tuple[Option, ...] = field(default_factory=tuple)  # all that were looked at, the best first
    confidence: float = 0.95
    notes: tuple[str, ...] = ()

    def frame(self) -> "pd.DataFrame":
        """A row for each job of each way that was looked at, the best first: when it ends, and whether in time."""
        return frame_of(
            {"what": one.what, "new": one.new, "start_in_s": one.start_in_s, **plain_row(end)}
            for one in self.options
            for end in one.ends
        )


# The new job, if any, and how many of the running ones must have ended before it starts, to the seconds from now until
# each job ends (the new one last), by draw, and until the new one starts.
Play = Callable[[AdmittedJob[Kind] | None, int], tuple[Floats, Floats]]


@dataclass(frozen=True, slots=True)
class Future(Generic[Kind]):
    """What becomes of the jobs that run now, however they share the cluster: `play` is the way they do."""

    running: tuple[AdmittedJob[Kind], ...]
    play: Play[Kind]

    def ends(self, new: AdmittedJob[Kind] | None = None, start_after: int = 0) -> tuple[tuple[End, ...], float]:
        """When all end, and in how many seconds the new one starts once so many others have ended: the median."""
        jobs = (*self.running, *([new] if new else []))
        if not jobs:
            return (), 0.0
        left, started = self.play(new, start_after)
        return tuple(_end_of(job, left[:, j]) for j, job in enumerate(jobs)), float(np.median(started))

    def decide(self, forms: Sequence[AdmittedJob[Kind]], *, confidence: float, may_delay: bool) -> Decision:
        """The first way to let one of the forms of a new job in that breaks no deadline: now, or after others."""
        require_share(confidence, "confidence")
        without, _ = self.ends()
        new, *smaller = forms
        options = [_option("admit", self, without, new, 0, confidence)]
        options += [_option("shrink", self, without, job, 0, confidence) for job in smaller]
        if may_delay and not any(not option.breaks for option in options):
            for ended in range(1, min(len(self.running), _LATEST) + 1):
                options += [_option("delay", self, without, job, ended, confidence) for job in forms]
        chosen = next((option for option in options if not option.breaks), None)
        ranked = tuple(sorted(options, key=lambda option: (option is not chosen, len(option.breaks))))
        return Decision("refuse" if chosen is None else chosen.what, chosen, without, ranked, confidence)


def decide(
    running: Sequence[AdmittedJob[JobTimes]],
    new: AdmittedJob[JobTimes],
    *,
    smaller: Sequence[AdmittedJob[JobTimes]] = (),
    slots: int | None = None,
    background: int = 0,
    confidence: float = 0.95,
    may_delay: bool = True,
    seed: int = 0,
) -> Decision:
    """Admit the new job now if no deadline breaks; else a smaller form of it; else later; else not.

    `smaller` are other forms of the new job, the most wanted first. `background` jobs run all along, and nothing else
    is known of them. `slots` is how many run at once; the others wait in line.
    """
    _check(running, new, slots, background)
    future = _shared_future(running, slots, background, seed)
    return future.decide((new, *smaller), confidence=confidence, may_delay=may_delay)


def forecast(
    running: Sequence[AdmittedJob[JobTimes]],
    *,
    slots: int | None = None,
    background: int = 0,
    coming: int = 0,
    seed: int = 0,
) -> tuple[End, ...]:
    """When the jobs that run now end. From now on `coming` more run, to stay: nothing else is known of them."""
    _check(running, None, slots, background)
    return _shared_future(running, slots, background, seed, coming).ends()[0]


def left_when_held_up(late_s: float, share: Share) -> Share:
    """What is left, with probability `share`, of a job that is so late that no run has shown the like."""
    return late_s * share / (1 - share)


# ---------------------------------------------------------------- playing the future


def require_names(jobs: Sequence[AdmittedJob[object]]) -> None:
    if len({job.name for job in jobs}) < len(jobs):
        raise StudyError("two jobs have the same name", hint="give each its own")


def _check(
    running: Sequence[AdmittedJob[JobTimes]], new: AdmittedJob[JobTimes] | None, slots: int | None, background: int
) -> None:
    require_names([*running, *([new] if new else [])])
    if background < 0 or (slots is not None and slots < max(1, len(running) + background)):
        raise StudyError(
            f"{len(running) + background} jobs run on {slots} slots",
            hint="give at least as many slots as there are running jobs",
        )


def _shared_future(
    running: Sequence[AdmittedJob[JobTimes]], slots: int | None, background: int, seed: int, coming: int = 0
) -> Future[JobTimes]:
    """All jobs at once; from now on `coming` more run beside those in the background."""
    now, beside = len(running) + background, background + coming

    def play(new: AdmittedJob[JobTimes] | None, start_after: int) -> tuple[Floats, Floats]:
        jobs = (*running, *([new] if new else []))
        most = beside + len(jobs)
        done, totals = np.zeros((DRAWS, len(jobs))), np.zeros((DRAWS, len(jobs), most + 1))
        for j, job in enumerate(jobs):
            is_running = j < len(running)
            shares = drawn_shares(seed, j if is_running else None)
            totals[:, j, 1:], done[:, j] = _totals(job, shares, now if is_running else 1, most)
        return _play(done, totals, beside, slots, None if new is None else start_after)

    return Future(tuple(running), play)


def drawn_shares(seed: int, place: int | None) -> Floats:
    """Quantiles in random order, of the running job at that place, or of the new one.

    The same for a job whatever else there is: options differ by what they are, not by chance.
    """
    rng = np.random.default_rng([seed, 10_000 if place is None else place])
    return np.asarray((rng.permutation(DRAWS) + 0.5) / DRAWS)


def _totals(job: AdmittedJob[JobTimes], shares: Floats, now: int, most: int) -> tuple[Floats, Floats]:
    """The time of a job in all among 1 to `most`, by draw, and the share that is done."""
    ended = 0.0 if job.elapsed_s == 0 else job.times.share_within(now, job.elapsed_s)
    if job.done is not None:
        # How far it is tells how fast it has been: the rest goes on like that.
        base = np.array([job.times.quantiles(n, np.array([0.5]))[0] for n in range(1, most + 1)])
        if job.elapsed_s and job.done:
            pace = job.elapsed_s / job.done / base[now - 1]
            spread = job.times.quantiles(now, shares) / base[now - 1]
            return np.outer(spread ** (1 - job.done) * pace, base), np.full(len(shares), job.done)
        return np.column_stack([job.times.quantiles(n, shares) for n in range(1, most + 1)]), np.full(
            len(shares), job.done
        )
    if 1 - ended < _HELD_UP:
        base = np.array([job.times.quantiles(n, np.array([0.5]))[0] for n in range(1, most + 1)])
        late = max(job.elapsed_s - base[now - 1], 0.0) or job.elapsed_s
        total = job.elapsed_s + left_when_held_up(late, shares)
        return np.outer(total / base[now - 1], base), np.asarray(job.elapsed_s / total)
    alive = ended + (1 - ended) * shares
    totals = np.column_stack([job.times.quantiles(n, alive) for n in range(1, most + 1)])
    among_now = np.maximum(totals[:, now - 1], job.elapsed_s * (1 + 1e-12))
    return totals, (job.elapsed_s / among_now if job.elapsed_s else np.zeros(len(shares)))


def _play(
    done: Floats, totals: Floats, background: int, slots: int | None, start_after: int | None
) -> tuple[Floats, Floats]:
    """Seconds from now until each job ends, by draw, and until the last of them starts.

    The last job waits until `start_after` others have ended; None where all run already. All draws move together, each
    by its own steps.
    """
    draws, n_jobs = done.shape
    left, ends, now = 1.0 - done, np.full((draws, n_jobs), np.nan), np.zeros(draws)
    is_here = np.ones((draws, n_jobs), dtype=bool)
    is_waiting = np.full(draws, start_after is not None)
    is_here[:, -1] &= ~is_waiting
    started = np.zeros(draws)
    room, rows, columns = np.inf if slots is None else slots, np.arange(draws)[:, None], np.arange(n_jobs)[None, :]
    while np.isnan(ends).any():
        n = is_here.sum(axis=1) + background
        enters = is_waiting & ((~np.isnan(ends)).sum(axis=1) >= (start_after or 0)) & (n < room)
        is_here[enters, -1], is_waiting[enters], started[enters] = True, False, now[enters]
        per = totals[rows, columns, np.maximum(n + enters, 1)[:, None]]
        to_end = np.where(is_here, left * per, np.inf)
        step = to_end.min(axis=1)
        if (np.isinf(step) & is_waiting).any():
            raise StudyError("the new job never gets a slot", hint="give more slots")
        now = now + step
        left = np.where(is_here, left - step[:, None] / per, left)
        over = is_here & (to_end <= step[:, None] * (1 + 1e-12))
        ends[over] = np.broadcast_to(now[:, None], ends.shape)[over]
        is_here &= ~over
    return ends, started


def _end_of(job: AdmittedJob[object], left: Floats) -> End:
    """From the seconds that it has left, by draw."""
    ends = job.elapsed_s + left
    low, middle, high = np.quantile(ends, [0.1, 0.5, 0.9]).tolist()
    chance = None if job.within_s is None else float((ends <= job.within_s).mean())
    return End(job.name, middle, low, high, job.within_s, chance)


def _option(
    what: Literal["admit", "shrink", "delay"],
    future: Future[Kind],
    without: Sequence[End],
    new: AdmittedJob[Kind],
    start_after: int,
    confidence: float,
) -> Option:
    ends, start_in_s = future.ends(new, start_after)
    before = [*(end.probability for end in without), 1.0]
    breaks = tuple(
        end.name
        for end, was in zip(ends, before, strict=True)
        if end.probability is not None and was is not None and end.probability < min(confidence, was - _BY_CHANCE)
    )
    return Option(what, new.name, start_after, start_in_s, ends, breaks)
