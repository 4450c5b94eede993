"""Safe tuning in production: better settings for a recurring job, found in the runs that are made anyway.

Each run may try one change. It is tried only where the run is likely to keep to the deadline, to the cost and to what
the job took before anything was changed; after a run that did not, the next one goes back to settings that are known
to be good. When nothing is left that is safe and expected to pay for itself, it stops.

    proposal = propose(past_runs, candidates, Guard(within_s=1800))
    proposal.configuration    # what the next run should use

`propose` keeps nothing: the same runs and candidates give the same answer, whoever asks.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from sparkcast.arrays import Bools, Floats, Ints
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.search.acquisition import improvement
from sparkcast.search.jobs import role_columns
from sparkcast.search.points import CandidatePoints
from sparkcast.search.sparse import SparseBelief, SparseOutlook, SparseRuns
from sparkcast.study import Configuration, Level, Vocabulary
from sparkcast.study.configuration import Levels
from sparkcast.study.names import completed
from sparkcast.units import show_percent, show_seconds

RUNS_TO_COME = 100  # of the job, unless something else is known
_LEAST_AT_START = 2  # runs, before anything is changed: one does not show how much runs vary
_MOST_CANDIDATES = 2000
_MOST_RUNS = 150  # the last ones; older ones say little of today's data
_LESS_MEMORY = 0.7  # at least so much of the memory per core that a good run had: no time tells where memory runs out
_FAILED = 1.5  # a run that failed counts as one that took so many times what is allowed
_CONFIRMED = 2  # runs of new settings before they are called better
_LEAST_GAIN = 0.01  # of a run: less is within the noise of everything else
_AT_ONCE = 3.0  # times the risk that runs may take on average: the most that one of them may, if others took less
_SAFER = 0.8  # times the risk of the best settings known, where that is too high: so much a change must be better
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class PastRun:
    """One run of the job, as it was made in production."""

    configuration: Configuration
    time_s: float | None  # None: it failed
    size: float | None = None  # of its input, in any unit, the same for all runs

    def __post_init__(self) -> None:
        object.__setattr__(self, "configuration", Configuration(self.configuration))
        _require_positive("leave out runs that were not measured", time_s=self.time_s, size=self.size)


@dataclass(frozen=True, slots=True)
class Guard:
    """What no run may break, and with which probability it may at most. The first limit that binds decides."""

    within_s: float | None = None  # the deadline of the job
    most_cost: float | None = None  # of a run, in the unit of what a second costs
    slower: float = 1.2  # times what the job took before anything was changed; the same holds for its cost
    risk: float = 0.05  # share of the runs that may be expected to break one of them, from the first change on
    deadline_risk: float | None = None  # the most that any one run may risk of missing `within_s`; None: as `risk` says

    def __post_init__(self) -> None:
        if not 0 < self.risk < 1:
            raise StudyError(f"a risk of {self.risk:g} is not between 0 and 1", hint="write 0.05 for 5%")
        if not (math.isfinite(self.slower) and self.slower >= 1):
            raise StudyError(f"slower = {self.slower:g} is below 1", hint="1.2 allows a run to take 20% longer")
        _require_positive("give a positive limit", within_s=self.within_s, most_cost=self.most_cost)


class Step(StrEnum):
    """What the next run is for."""

    CHANGE = "change"  # try other settings
    KEEP = "keep"  # the same settings again, to know them better
    ROLL_BACK = "roll-back"  # the last run broke a limit or failed
    STOP = "stop"  # nothing is left that is safe and pays for itself


@dataclass(frozen=True, slots=True)
class Change:
    """The settings of the next run, and why."""

    step: Step
    configuration: Configuration
    base: Configuration  # the best settings known: what a roll-back goes to
    changes: Mapping[str, tuple[Level | None, Level | None]]  # against the base: setting -> (from, to)
    why: str
    risk: float  # probability that this run breaks a limit
    deadline_risk: float  # probability that it misses the deadline; 0 without one
    time_s: float  # expected, in the median
    gained: float  # what the base saves so far, as a share of a run before anything was changed
    still_to_gain: float  # what the proposed change is expected to save beyond that; 0 without one

    @property
    def is_final(self) -> bool:
        return self.step is Step.STOP


@dataclass(frozen=True)
class SafeQuestion:
    """Which settings may be used, what a second of each costs, and what no run may break."""

    candidates: Sequence[Levels]
    guard: Guard
    per_second: Callable[[Configuration], float] | None  # its cost is minimized; None: the time is
    vocabulary: Vocabulary
    runs_to_come: int
    seed: int


def propose(
    history: Sequence[PastRun],
    candidates: Sequence[Levels],
    guard: Guard | None = None,
    *,
    start: Levels | None = None,
    size: float | None = None,
    per_second: Callable[[Configuration], float] | None = None,
    vocabulary: Vocabulary | None = None,
    runs_to_come: int = RUNS_TO_COME,
    seed: int = 0,
) -> Change:
    """What the next run of a recurring job should use.

    Args:
        history: Its runs so far, oldest first, those that failed too.
        candidates: The settings that may be used; see `one_change_each` for those one step from some settings.
        guard: What no run may break.
        start: The settings before anything was changed; by default those of the first run.
        size: Of the input of the next run, where runs have one.
        per_second: What a second costs with some settings; without it the time is minimized.
        vocabulary: What the settings mean; by default what their names say.
        runs_to_come: How often the job will be run: a change must pay for its risk within these.
        seed: For the sampled surfaces.

    Returns:
        A change to try, the same settings again, a roll-back, or that it is time to stop.

    Raises:
        NotEnoughDataError: The job was not run yet, or never with success.
        StudyError: Runs and candidates have different settings.

    >>> past = [PastRun({"executors": 2}, 100.0), PastRun({"executors": 2}, 104.0)]
    >>> propose(past, [{"executors": n} for n in (1, 2, 3, 4)]).step
    <Step.CHANGE: 'change'>
    """
    if runs_to_come < 1:
        raise StudyError(f"`runs_to_come={runs_to_come}` is not positive", hint="e.g. `runs_to_come=100`")
    asked = SafeQuestion(candidates, guard or Guard(), per_second, vocabulary or Vocabulary(), runs_to_come, seed)
    return _Tuner(asked, history, start, size).propose()


def one_change_each(base: Levels, levels: Mapping[str, Sequence[Level]]) -> tuple[Configuration, ...]:
    """The base, and all settings that differ from it in one: a number by one step up or down, a category at all.

    >>> [str(c) for c in one_change_each({"executors": 2}, {"executors": [1, 2, 4, 8]})]
    ['executors=2', 'executors=1', 'executors=4']
    """
    from sparkcast.units import as_number

    own = Configuration(base)
    found = [own]
    for name, known in levels.items():
        options = [Configuration({name: level})[name] for level in known]
        numbers = [as_number(level) for level in options]
        here = own.get(name)
        if any(number is None for number in numbers) or here is None or as_number(here) is None:
            found += [own | {name: level} for level in options if level != here]
            continue
        ordered = sorted(zip(numbers, options, strict=True), key=lambda pair: pair[0] or 0.0)
        at = as_number(here) or 0.0
        below = [level for number, level in ordered if number is not None and number < at]
        above = [level for number, level in ordered if number is not None and number > at]
        found += [own | {name: level} for level in (*below[-1:], *above[:1])]
    return tuple(dict.fromkeys(found))


class _Tuner:
    def __init__(
        self, asked: SafeQuestion, history: Sequence[PastRun], start: Levels | None, size: float | None
    ) -> None:
        self._asked, self._guard = asked, asked.guard
        self._history = history = list(history)[-_MOST_RUNS:] if start is not None else _recent(history)
        if not any(run.time_s is not None for run in history):
            raise NotEnoughDataError(
                "the job has no run that ended well", hint="run it at least once with the settings it has today"
            )
        good = [run for run in history if run.time_s is not None]
        self._start = Configuration(start) if start is not None else good[0].configuration
        self._size = size if size is not None else next((r.size for r in reversed(history) if r.size), None)
        self._points = self._all_points()

    def _all_points(self) -> CandidatePoints:
        ran = [self._start, *(run.configuration for run in self._history)]
        given = [Configuration(candidate) for candidate in self._asked.candidates]
        settings = set(self._start)
        for one in (*ran, *given):
            if set(one) != settings:
                odd = sorted(set(one) ^ settings)[0]
                raise StudyError(
                    f"not all runs and candidates have the setting {odd!r}",
                    hint="give each of them all settings that are tuned, and no other",
                )
        if len(given) > _MOST_CANDIDATES:
            rng = np.random.default_rng(self._asked.seed)
            given = [given[i] for i in sorted(rng.choice(len(given), _MOST_CANDIDATES, replace=False))]
        self._allowed = frozenset(given)
        words = completed(self._asked.vocabulary, tuple(self._start), ())
        return CandidatePoints(tuple(dict.fromkeys((*ran, *given))), words)

    # ------------------------------------------------------------ what is known

    @cached_property
    def _log_rates(self) -> Floats:
        rate = self._asked.per_second
        if rate is None:
            return np.zeros(len(self._points.candidates))
        rates = np.array([rate(candidate) for candidate in self._points.candidates], dtype=float)
        if not (np.isfinite(rates).all() and (rates > 0).all()):
            raise StudyError("`per_second` is not positive everywhere", hint="what a second costs must be above 0")
        logs: Floats = np.log(rates)
        return logs

    def _place(self, configuration: Configuration) -> int:
        place = self._points.place(configuration)
        assert place is not None
        return place

    @cached_property
    def _places(self) -> list[int]:
        return [self._place(run.configuration) for run in self._history]

    def _log_size(self, run: PastRun) -> float:
        return 0.0 if run.size is None or self._size is None else math.log(run.size / self._size)

    @cached_property
    def _outlook(self) -> SparseOutlook:
        good = [math.log(run.time_s) for run in self._history if run.time_s is not None]
        failed = max(good) if self._limits is None else float(self._limits.min())
        logs = [math.log(run.time_s) if run.time_s is not None else failed + math.log(_FAILED) for run in self._history]
        sizes = np.array([self._log_size(run) for run in self._history])
        runs = SparseRuns(tuple(self._places), np.array(logs), sizes)
        return SparseBelief(self._points).after(runs, self._asked.seed)

    @cached_property
    def _at_start(self) -> list[float]:
        """Logarithms of the times before anything was changed, as if with the data of the next run."""
        return [
            math.log(run.time_s) - self._log_size(run)
            for run in self._history
            if run.time_s is not None and run.configuration == self._start
        ]

    @cached_property
    def _usual(self) -> float | None:
        """The logarithm of what the job took before anything was changed; None when that is not known."""
        return float(np.mean(self._at_start)) if self._at_start else None

    @cached_property
    def _limits(self) -> Floats | None:
        """The logarithm of the longest time that each candidate may take."""
        found = []
        nothing = np.zeros(len(self._points.candidates))
        if self._guard.within_s is not None:
            found.append(nothing + math.log(self._guard.within_s))
        if self._guard.most_cost is not None:
            found.append(math.log(self._guard.most_cost) - self._log_rates)
        if self._usual is not None:
            usual, spare = self._usual, math.log(self._guard.slower)
            found.append(nothing + usual + spare)
            found.append(usual + self._log_rates[self._place(self._start)] + spare - self._log_rates)
        if not found:
            return None
        limits: Floats = np.min(found, axis=0)
        return limits

    @cached_property
    def _risks(self) -> Floats:
        limits = self._limits
        if limits is None:
            return np.zeros(len(self._points.candidates))
        return self._outlook.chance_above(limits)

    @cached_property
    def _deadline_risks(self) -> Floats:
        n, within_s = len(self._points.candidates), self._guard.within_s
        return np.zeros(n) if within_s is None else self._outlook.chance_above(np.full(n, math.log(within_s)))

    def _broke(self, run: PastRun) -> bool:
        """Whether a run failed or broke a limit that its base would have kept."""
        if run.time_s is None:
            return True
        limits, log_time = self._limits, math.log(run.time_s) - self._log_size(run)
        return limits is not None and log_time > float(limits[self._place(run.configuration)])

    @cached_property
    def _failed(self) -> frozenset[int]:
        return frozenset(
            place for place, run in zip(self._places, self._history, strict=True) if run.time_s is None
        ) - {self._place(self._start)}

    @cached_property
    def _base(self) -> int:
        """The best settings known: of those that ran well, the lowest expected objective."""
        ran = {p for p, run in zip(self._places, self._history, strict=True) if run.time_s is not None} - self._failed
        start = self._place(self._start)
        values = self._outlook.mean() + self._log_rates
        safe = [place for place in ran if self._risks[place] <= self._guard.risk]
        if not safe:
            return min(ran or {start}, key=lambda place: float(self._risks[place]))
        if start in ran:
            safe.append(start)  # its limits are what it takes itself, unless a deadline says otherwise
        return min(safe, key=lambda place: float(values[place]))

    # ------------------------------------------------------------ what to do

    def propose(self) -> Change:
        last, start = self._history[-1], self._place(self._start)
        if len(self._at_start) < _LEAST_AT_START and not self._changed:
            return self._proposal(
                Step.KEEP,
                start,
                f"{_count(len(self._at_start))} with these settings: a second shows how much runs vary",
            )
        if last.configuration != self._points.candidates[self._base] and self._broke(last):
            how = "failed" if last.time_s is None else f"took {show_seconds(last.time_s)}, over the limit"
            return self._proposal(Step.ROLL_BACK, self._base, f"the last run {how}")
        place, worth, gain = self._most_valuable(self._allowed_risk)
        if place is not None and worth > 0:
            why = f"expected to save {show_percent(max(gain, 0.0))} of a run"
            if self._is_in_need:
                chance = show_percent(1 - float(self._risks[place]))
                why = f"it keeps every limit with {chance} probability, more than any settings run so far"
            return self._proposal(Step.CHANGE, place, why, gain)
        if self._base != start and self._places.count(self._base) < _CONFIRMED:
            return self._proposal(Step.KEEP, self._base, "a second run shows whether the first was luck")
        later, worth, _ = self._most_valuable(self._most_at_once)
        if later is not None and worth > 0:
            return self._proposal(
                Step.KEEP, self._base, "the next change must wait: too many of the last runs broke a limit"
            )
        return self._proposal(Step.STOP, self._base, self._why_stopped(later))

    @property
    def _changed(self) -> bool:
        return any(run.configuration != self._start for run in self._history)

    def _why_stopped(self, place: int | None) -> str:
        if place is None:
            return f"no other settings keep every limit with {show_percent(1 - self._guard.risk)} probability"
        return f"no safe change is expected to pay for itself within {self._asked.runs_to_come} runs"

    def _most_valuable(self, risk: float) -> tuple[int | None, float, float]:
        """The safe candidate that is worth most; its worth and what it is expected to save, in runs of the base."""
        left = self._left(risk)
        if not len(left):
            return None, 0.0, 0.0
        outlook, base = self._outlook, self._base
        if self._is_in_need:
            safest = int(left[np.argmin(self._risks[left])])
            return safest, float(self._risks[base] - self._risks[safest]), 0.0
        values = outlook.means[:, left] + self._log_rates[left]
        now = outlook.means[:, [base]] + self._log_rates[base]
        gains = improvement(values - now, np.maximum(outlook.spreads[:, left], _TINY), 0.0).mean(axis=0)
        extra = np.exp(np.minimum(values - now + outlook.spreads[:, left] ** 2 / 2, 5.0)).mean(axis=0) - 1
        worth = (self._asked.runs_to_come * np.maximum(gains - _LEAST_GAIN, 0.0)) - np.maximum(extra, 0.0)
        best = int(np.argmax(worth))
        return int(left[best]), float(worth[best]), float(1 - math.exp(-gains[best]))

    def _left(self, risk: float) -> Ints:
        ran = set(self._places)
        left = [
            place
            for place, candidate in enumerate(self._points.candidates)
            if place not in ran and candidate in self._allowed
        ]
        places = np.array(left, dtype=int)
        if not len(places):
            return places
        if self._is_in_need:  # to stay is a risk as well
            risk = max(risk, _SAFER * float(self._risks[self._base]))
        is_safe = (self._risks[places] <= risk) & self._has_memory[places]
        if self._guard.deadline_risk is not None and not self._is_in_need:
            is_safe &= self._deadline_risks[places] <= self._guard.deadline_risk
        safe: Ints = places[is_safe]
        return safe

    @property
    def _is_in_need(self) -> bool:
        """Whether even the best settings known are likely to break a limit, such as a deadline nothing has met."""
        return float(self._risks[self._base]) > self._guard.risk * _AT_ONCE

    @cached_property
    def _allowed_risk(self) -> float:
        """What the next run may risk: less after runs that broke a limit, more after many that did not."""
        changed = [k for k, run in enumerate(self._history) if run.configuration != self._start]
        since = self._history[changed[0] :] if changed else []
        broken = sum(self._broke(run) for run in since)
        return min(self._most_at_once, self._guard.risk * (len(since) + _LEAST_AT_START + 1) - broken)

    @property
    def _most_at_once(self) -> float:
        return min(_AT_ONCE * self._guard.risk, 0.5)

    @cached_property
    def _has_memory(self) -> Bools:
        """Whether each has about the memory per core that good runs had, and more than any that failed."""
        known = role_columns(self._points)
        if "memory" not in known:
            return np.ones(len(self._points.candidates), dtype=bool)
        each = known["memory"] / known.get("cores", 1.0)
        good = [each[p] for p, run in zip(self._places, self._history, strict=True) if run.time_s is not None]
        failed = [float(each[p]) for p in self._failed]
        has: Bools = (each >= _LESS_MEMORY * min(good)) & (each > max(failed, default=0.0))
        return has

    def _proposal(self, step: Step, place: int, why: str, gain: float = 0.0) -> Change:
        candidates, values = self._points.candidates, self._outlook.mean() + self._log_rates
        chosen, base = candidates[place], candidates[self._base]
        start = self._place(self._start)
        changes = {name: (base.get(name), chosen.get(name)) for name in chosen if chosen.get(name) != base.get(name)}
        gained = 0.0 if self._base == start else 1 - math.exp(float(values[self._base] - values[start]))
        return Change(
            step=step,
            configuration=chosen,
            base=base,
            changes=changes,
            why=why,
            risk=float(self._risks[place]),
            deadline_risk=float(self._deadline_risks[place]),
            time_s=math.exp(float(self._outlook.mean()[place])),
            gained=gained,
            still_to_gain=gain,
        )


def _require_positive(hint: str, **amounts: float | None) -> None:
    for name, amount in amounts.items():
        if amount is not None and not (math.isfinite(amount) and amount > 0):
            raise StudyError(f"`{name}={amount:g}` is not positive", hint=hint)


def _recent(history: Sequence[PastRun]) -> list[PastRun]:
    """The last runs, and the first ones: they say what the job took before anything was changed."""
    runs = list(history)
    if len(runs) <= _MOST_RUNS:
        return runs
    first = next((run.configuration for run in runs if run.time_s is not None), None)
    old = [run for run in runs[:-_MOST_RUNS] if run.configuration == first and run.time_s is not None]
    return [*old[:10], *runs[-_MOST_RUNS:]]


def _count(n: int) -> str:
    return "1 run" if n == 1 else f"{n} runs"
