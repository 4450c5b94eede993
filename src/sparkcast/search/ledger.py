"""What the runs of a search gave: which settings are best, and how far to believe it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from scipy.stats import ttest_ind

from sparkcast.errors import InfeasibleError, NotEnoughDataError, RunError, SparkcastError
from sparkcast.recommend.shown import noun, show_bound, show_value
from sparkcast.search.options import TuneOptions
from sparkcast.search.payoff import Payoff, payoff_of
from sparkcast.search.promise import can_be_promised, chance_best, chance_in_time, lost_by_chance
from sparkcast.study import Configuration, Kind, Observation, Outcome, Response, Study
from sparkcast.study.application import STARTUP_TIME, TOTAL_TIME
from sparkcast.study.derive import run_cost
from sparkcast.study.names import COST
from sparkcast.units import show_percent, show_probability, show_seconds
from sparkcast.workloads import Guessable, Workload

_AT_CHANCE = 1.5  # times what guessing gives: no better than that, for all that a few runs can tell
_SIGNIFICANT = 0.05
_LOSS_PER_RUN = 1.5  # runs of the answer that noise must be expected to cost before a run is spent on it
_MOST_REPEATS = 4  # runs of one configuration, to find the best
_MOST_TO_PROMISE = 6  # runs of one configuration, to promise that its next one is in time
_USUAL = 0.07  # by which two runs of the same settings differ: by 5 % each, see the noise that `guided` expects


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One answer to the searcher; without an observation it was refused before it ran."""

    configuration: Configuration
    replicate: int
    observation: Observation | None
    value: float | None
    cause: str = ""
    was_known: bool = False
    time_s: float | None = None
    slacks: tuple[float, ...] = ()  # how far it kept to each limit but that on the time

    @property
    def outcome(self) -> str:
        return "impossible" if self.observation is None else self.observation.outcome.value


@dataclass(frozen=True, slots=True)
class TunedRun:
    """One answer to the searcher, in the order it asked."""

    configuration: Configuration  # what the study varies, and what the searcher changed beside
    replicate: int
    value: float | None  # of the objective; None when the run failed
    time_s: float | None
    cost: float | None  # by the study's price
    outcome: str  # of the run, or "impossible": refused without running
    cause: str
    was_known: bool  # measured before this search, by `run` or another one
    best_so_far: float | None


@dataclass(frozen=True, slots=True)
class Tried:
    """One configuration with all its runs."""

    configuration: Configuration
    value: float  # the mean
    values: tuple[float, ...]
    time_s: float | None  # the mean
    guessable: Mapping[str, float]  # means of the responses that guessing reaches as well
    times_s: tuple[float, ...] = ()
    in_time: float | None = None  # probability that its next run meets the deadline; None without one

    @property
    def replicates(self) -> int:
        return len(self.values)


class SearchLedger:
    """The answers so far. `answers` are the settings that may be the best; None: all.

    To be compared, settings need `least` runs; None: as many as any others have. Those with earlier runs always count,
    so that the best is never worse than what was known.
    """

    def __init__(
        self,
        study: Study,
        workload: Workload,
        options: TuneOptions,
        answers: frozenset[Configuration] | None,
        least: int | None = None,
    ) -> None:
        self._study, self._options, self._answers, self._least = study, options, answers, least
        self._chance = workload.chance if isinstance(workload, Guessable) else {}
        self.steps: list[LedgerEntry] = []
        self._best_so_far: list[float | None] = []

    def add(self, step: LedgerEntry) -> None:
        self.steps.append(step)
        best = self.best
        self._best_so_far.append(None if best is None else best.value)

    def allow(self, answers: frozenset[Configuration]) -> None:
        """These may be the best, too."""
        self._answers = None if self._answers is None else self._answers | answers

    @property
    def measured(self) -> list[LedgerEntry]:
        """All but what was refused."""
        return [step for step in self.steps if step.observation is not None]

    @property
    def good(self) -> list[LedgerEntry]:
        return [step for step in self.steps if step.value is not None]

    @property
    def best(self) -> Tried | None:
        return next(iter(self.ranked()), None)

    @property
    def first(self) -> Tried | None:
        """The first that worked and could have been the answer: what the best is compared with."""
        good = [step for step in self.good if self._may_answer(step)]
        return self._tried([s for s in good if s.configuration == good[0].configuration]) if good else None

    def ranked(self) -> list[Tried]:
        """The configurations that are an answer, best first: those with enough runs, and promised to be in time."""
        confidence = self._options.confidence
        found = self.kept()
        return found if confidence is None else [tried for tried in found if (tried.in_time or 0.0) >= confidence]

    def kept(self) -> list[Tried]:
        """The configurations with enough runs, all good and within the limits, best first."""
        groups: dict[Configuration, list[LedgerEntry]] = {}
        for step in self.steps:
            groups.setdefault(step.configuration, []).append(step)
        good = [group for group in groups.values() if self._may_answer(group[0]) and all(map(self._is_in_time, group))]
        most = max(map(len, good), default=0)
        enough = most if self._least is None else min(most, self._least)
        sign = -1 if self._options.objective.is_maximum else 1
        compared = (g for g in good if len(g) >= enough or any(step.was_known for step in g))
        return sorted(map(self._tried, compared), key=lambda tried: sign * tried.value)

    def history(self) -> tuple[TunedRun, ...]:
        return tuple(
            TunedRun(
                configuration=self.shown(step.configuration),
                replicate=step.replicate,
                value=step.value,
                time_s=step.time_s,
                cost=self._cost(step),
                outcome=step.outcome,
                cause=step.cause,
                was_known=step.was_known,
                best_so_far=best,
            )
            for step, best in zip(self.steps, self._best_so_far, strict=True)
        )

    def typical_s(self, configuration: Configuration | None = None) -> float:
        """How long a run of these settings took so far, or of any when they were not run; 0 when none was."""
        took = [
            (step.configuration, step.observation.responses[TOTAL_TIME])
            for step in self.steps
            if step.observation is not None and TOTAL_TIME in step.observation.responses
        ]
        same = [seconds for c, seconds in took if c == configuration] or [seconds for _, seconds in took]
        return fmean(same) if same else 0.0

    @property
    def startup_s(self) -> float:
        """How long runs took so far before the job began; 0 when none told."""
        responses = [step.observation.responses for step in self.good if step.observation is not None]
        known = [told[STARTUP_TIME] for told in responses if STARTUP_TIME in told]
        return max(0.0, fmean(known)) if known else 0.0

    def doubts(self) -> list[str]:
        """Why the best may not be what it seems."""
        best, runner_up = (*self.ranked()[:2], None, None)[:2]
        if best is None:
            return []
        found = [
            f"the {name} of the best, {best.guessable[name]:.3g}, is about what guessing would give, {by_chance:g}"
            for name, by_chance in self._chance.items()
            if name in best.guessable and best.guessable[name] <= _AT_CHANCE * by_chance
        ]
        most = max(tried.replicates for tried in self.ranked())
        if best.replicates < most:
            found.append(
                f"the best has only {best.replicates} run{'s' if best.replicates > 1 else ''}, others have up to "
                f"{most}: run it again to be sure"
            )
        if runner_up is not None and self.is_tie:
            by = (
                "by no more than replicates vary"
                if min(best.replicates, runner_up.replicates) > 1
                else f"by less than runs usually vary ({show_percent(_USUAL)})"
            )
            found.append(
                f"the best differs from the runner-up ({self.show_value(runner_up.value)} at "
                f"{runner_up.configuration}) {by}"
            )
        return found

    @property
    def is_tie(self) -> bool:
        """Whether noise alone may have made the best better than the next: the noise of replicates, if there are any.

        Single times and costs are taken to differ as those of the same settings usually do. Of other responses nothing
        is known.
        """
        best, runner_up = (*self.ranked()[:2], None, None)[:2]
        if best is None or runner_up is None:
            return False
        if min(best.replicates, runner_up.replicates) > 1:
            return is_noise(best.values, runner_up.values)
        response = self._study.vocabulary.response(self._options.objective.response)
        return response.kind in (Kind.TIME, Kind.MONEY) and abs(runner_up.value - best.value) < _USUAL * abs(best.value)

    def nothing_found(self, reason: str) -> SparkcastError:
        """Why there is no best."""
        measured, good = self.measured, self.good
        timed = [(step.time_s, step) for step in good if step.time_s is not None and self._may_answer(step)]
        within_s = self._options.within_s
        fastest_s, fastest = min(timed, key=lambda pair: pair[0]) if timed else (0.0, None)
        if fastest is not None and within_s is not None and fastest_s > within_s:
            return InfeasibleError(
                f"no run took at most {show_seconds(within_s)}: the fastest took "
                f"{show_seconds(fastest_s)}, at {self.show(fastest.configuration)}",
                hint="allow more time, or try other levels",
                nearest=(fastest.configuration,),
            )
        if (refusal := self._not_promised() or self._limits_broken()) is not None:
            return refusal
        if good:
            return NotEnoughDataError(
                f"none of {len(measured)} runs qualifies yet: {reason}",
                hint="allow more: `max_runs=N, resume=True`",
            )
        if measured and all(step.outcome == Outcome.OOM.value for step in measured):
            return InfeasibleError(
                f"all {len(measured)} runs ran out of memory, the last at {self.show(measured[-1].configuration)}",
                hint="try levels with more memory, or less to do at once",
            )
        if measured:
            return RunError(
                f"all {len(measured)} runs failed, the last with: {first_line(measured[-1].cause)}",
                hint="-v shows more; the logs are in the results folder",
            )
        if self.steps:
            problem = f"nothing that {self._options.searcher} requested can be run: {self.steps[-1].cause}"
            return InfeasibleError(problem, hint="try other levels")
        return NotEnoughDataError(f"nothing was run: {reason}", hint="allow more, then continue with `resume=True`")

    def _not_promised(self) -> SparkcastError | None:
        """Runs were in time, but none often enough, or fast enough, to promise the next one."""
        kept, confidence = self.kept(), self._options.confidence
        if not kept or confidence is None:
            return None
        likeliest = max(kept, key=lambda tried: tried.in_time or 0.0)
        chance = likeliest.in_time or 0.0
        return InfeasibleError(
            f"no configuration is in time in its next run with {show_percent(confidence)} probability: the likeliest, "
            f"{likeliest.configuration}, is with {show_probability(chance)}",
            hint="allow more time, a lower `confidence=`, or more runs: `max_runs=N, resume=True`",
            nearest=(likeliest.configuration,),
        )

    def _limits_broken(self) -> SparkcastError | None:
        """Runs were in time, but broke another limit."""
        steps = [step for step in self.good if self._may_answer(step) and step.slacks]
        if not steps or any(self._is_in_time(step) for step in steps):
            return None
        nearest = max(steps, key=lambda step: min(step.slacks))
        broken = min(range(len(nearest.slacks)), key=lambda k: nearest.slacks[k])
        limit = self._options.limits[broken]
        bound = show_bound(limit, self._study.vocabulary)
        return InfeasibleError(
            f"no run kept every limit; the nearest, {self.show(nearest.configuration)}, broke {bound}",
            hint="relax a limit, or try other levels",
            nearest=(nearest.configuration,),
        )

    def _may_answer(self, step: LedgerEntry) -> bool:
        return self._answers is None or step.configuration in self._answers

    def _is_in_time(self, step: LedgerEntry) -> bool:
        within_s = self._options.within_s
        is_in_time = within_s is None or (step.time_s is not None and step.time_s <= within_s)
        return step.value is not None and is_in_time and all(slack >= 0 for slack in step.slacks)

    def _tried(self, steps: Sequence[LedgerEntry]) -> Tried:
        values = tuple(step.value for step in steps if step.value is not None)
        times = [step.time_s for step in steps if step.time_s is not None]
        responses = [step.observation.responses for step in steps if step.observation is not None]
        seen = {name: [r[name] for r in responses if name in r] for name in self._chance}
        return Tried(
            configuration=self.shown(steps[0].configuration),
            value=fmean(values),
            values=values,
            time_s=fmean(times) if times else None,
            guessable={name: fmean(found) for name, found in seen.items() if found},
            times_s=tuple(times),
            in_time=self._chance_in_time(times),
        )

    def _chance_in_time(self, times: Sequence[float]) -> float | None:
        within_s = self._options.within_s
        if within_s is None or not times:
            return None
        return chance_in_time(times, within_s, self.time_groups())

    def time_groups(self) -> list[list[float]]:
        """Times by configuration: those with several say how much runs vary."""
        groups: dict[Configuration, list[float]] = {}
        for step in self.steps:
            if step.time_s is not None:
                groups.setdefault(step.configuration, []).append(step.time_s)
        return list(groups.values())

    def runs_at(self, configuration: Configuration) -> list[LedgerEntry]:
        return [step for step in self.steps if self.shown(step.configuration) == self.shown(configuration)]

    def costs_at(self, configuration: Configuration) -> list[float]:
        """What the runs of these settings cost that ended well."""
        costs = (self._cost(step) for step in self.runs_at(configuration))
        return [cost for cost in costs if cost is not None]

    def times_at(self, configuration: Configuration) -> list[float]:
        """How long they took."""
        return [step.time_s for step in self.runs_at(configuration) if step.time_s is not None]

    def payoff(self, best: Tried, spent_s: float, spent_cost: float | None) -> Payoff | None:
        """In money where the cost is searched for, else in the wall time of runs; None for what is neither."""
        objective, today, first = self._options.objective, self._options.instead_of, self.first
        kind = self._study.vocabulary.response(objective.response).kind
        is_money = objective.response == COST and spent_cost is not None
        against = today if today is not None else None if first is None else first.configuration
        if objective.is_maximum or against is None or not (is_money or kind is Kind.TIME):
            return None
        took = self.costs_at if is_money else self.times_at
        answer, before = took(best.configuration), took(against)
        if not answer:
            return None
        same = next((step.configuration for step in self.runs_at(best.configuration)), best.configuration)
        return payoff_of(
            spent_cost if is_money and spent_cost is not None else spent_s,
            fmean(answer),
            fmean(before) if before else None,
            self.shown(against),
            self._options.runs_to_come,
            whole=None if is_money else max(fmean(answer), self.typical_s(same)),
        )

    @property
    def chance_best(self) -> float | None:
        """The probability that the best is the best of those tried; None for an objective whose noise is not known."""
        groups = self._comparable()
        return chance_best(groups) if len(groups) > 1 else None

    def _comparable(self) -> list[tuple[float, ...]]:
        """The values of those that may be the best, best first: of times and money, whose noise is known."""
        response = self._study.vocabulary.response(self._options.objective.response)
        tried = self.ranked()
        if response.kind not in (Kind.TIME, Kind.MONEY) or self._options.objective.is_maximum:
            return []
        return [one.values for one in tried if min(one.values) > 0]

    def worth_repeating(self, runs_to_come: int) -> Tried | None:
        """What to run again, because noise may have chosen the best and that would cost more than a run."""
        groups, ranked = self._comparable(), self.ranked()
        if len(groups) < 2 or lost_by_chance(groups) * runs_to_come < _LOSS_PER_RUN:
            return None
        best, rival = ranked[:2]
        fewer = best if best.replicates <= rival.replicates else rival
        return fewer if fewer.replicates < _MOST_REPEATS else None

    def worth_promising(self) -> Tried | None:
        """What to run again because it would be the answer if it could be promised to be in time."""
        confidence, within_s = self._options.confidence, self._options.within_s
        if confidence is None or within_s is None:
            return None
        groups = self.time_groups()
        for tried in self.kept():
            if (tried.in_time or 0.0) >= confidence:
                return None
            left = _MOST_TO_PROMISE - tried.replicates
            if left > 0 and can_be_promised(tried.times_s, within_s, groups, confidence, left):
                return tried
        return None

    def _cost(self, step: LedgerEntry) -> float | None:
        price = self._study.price
        if price is None or step.observation is None or not step.observation.ok:
            return None
        return run_cost(step.observation.responses, step.configuration, price, self._study.vocabulary)

    # ------------------------------------------------------------ in words

    def shown(self, configuration: Configuration) -> Configuration:
        """What the study varies, and what the searcher changed beside."""
        fixed = self._study.fixed
        return configuration.only(name for name, level in configuration.items() if fixed.get(name) != level)

    def show(self, configuration: Configuration) -> str:
        return str(self.shown(configuration))

    def show_value(self, value: float) -> str:
        return show_named(self._study.vocabulary.response(self._options.objective.response), value)

    def show_step(self, step: LedgerEntry) -> str:
        gave = f"{step.outcome}: {first_line(step.cause)}" if step.value is None else self.show_value(step.value)
        return f"{self.show(step.configuration)} -> {gave}{' (already measured)' if step.was_known else ''}"


def show_named(response: Response, value: float) -> str:
    """A value of the objective for people.

    >>> show_named(Response("time_s", kind=Kind.TIME), 12.34), show_named(Response("auc"), 0.9123)
    ('12.3 s', 'auc 0.912')
    """
    shown = show_value(response, value)
    return shown if response.kind is Kind.TIME else f"{noun(response)} {shown}"


def first_line(text: str) -> str:
    return text.splitlines()[0] if text else ""


def is_noise(a: Sequence[float], b: Sequence[float]) -> bool:
    """Whether replicates differ as much as these two means (Welch's t test)."""
    if min(len(a), len(b)) < 2:
        return False
    if len({*a}) == len({*b}) == 1:
        return a[0] == b[0]

    return bool(ttest_ind(a, b, equal_var=False).pvalue > _SIGNIFICANT)
