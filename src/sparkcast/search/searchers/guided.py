"""A search that knows how jobs scale.

It starts from many jobs that could be this one (see jobs) and from the workloads that were run earlier with the same
settings (see earlier). Each run makes some of them unlikely; around each lies a Gaussian process of what it does not
know (see belief). A run is worth what it is expected to save in all runs to come, by its own answer or by what it
teaches about where the best settings are (see worth), less what it costs. The search stops when no run pays for
itself.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sparkcast.arrays import Bools, Floats, Ints
from sparkcast.search.acquisition import Outlook, expected_gain
from sparkcast.search.base import SEARCHERS
from sparkcast.search.belief import (
    Around,
    CandidateRuns,
    WeightedJobs,
    believe,
    fits,
    normalized,
    outcomes,
    runs_of,
    weighed,
)
from sparkcast.search.chooser import Chooser
from sparkcast.search.earlier import Prior, posterior_of, prior_of
from sparkcast.search.jobs import RARELY, JobGrid, JobLaws, flat
from sparkcast.search.opening import promised, told_for_its_money
from sparkcast.search.points import CandidateMeans, known_from
from sparkcast.search.posterior import Sampler
from sparkcast.study import Configuration

_RUNS_TO_COME = 100  # of the job, unless told: a trial as dear as the best run must save 1 % to be worth it
_MUCH = 0.02  # of the range of memory: so near to the most there is
_N_JOBS = 10_000
_FEWEST_JOBS = 300
_MOST_NUMBERS = 1_000_000  # of all jobs at all candidates
_N_LIKELY = 300  # jobs dealt by their weights, by which the next run is judged
_RARELY_IN_TIME = 1e-3  # nothing is taken to be in time more rarely
_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class BeforeRuns:
    """Jobs that this one may be, one row each, and the candidates, one column each."""

    weights: Floats  # of the jobs
    values: Floats  # the objective as a logarithm, up to a constant of each job
    failures: Floats  # probabilities
    points: Floats  # the candidates, one row each
    promise: Floats  # the share of the best that each candidate is expected to reach


@SEARCHERS.register("guided")
class Guided(Chooser):
    """Models how jobs scale and fail, learns from earlier workloads, and picks the run that pays off most."""

    is_default = True
    confirms = True

    @property
    def warnings(self) -> tuple[str, ...]:
        return (f"{', '.join(self.ignored)} not used: different settings",) if self.ignored else ()

    @property
    def ignored(self) -> tuple[str, ...]:
        """Earlier workloads that say nothing of the candidates."""
        return self._prior.ignored if self._points.candidates else ()

    @property
    def candidates(self) -> tuple[Configuration, ...]:
        return self._points.candidates

    def before(self) -> BeforeRuns:
        """What is believed before the first run."""
        jobs, weights = self._prior.jobs, self._prior.weights
        promise = self._promise(known_from((), self._points))
        values = jobs.log_times + self._offsets
        return BeforeRuns(weights / weights.sum(), values, jobs.failures, self._points.coordinates, promise)

    def _next(self, known: CandidateMeans, left: list[int]) -> int | None:
        best = self._best(known)
        if best is None:
            if not known.tried and self._is_time:
                return left[int(np.argmax(self._opening()[left]))]
            return self._choice(known, left, self._promise(known)[left])
        for prior in self._priors:  # earlier workloads may say where to look, but not that nothing is left to find
            worth = self._worth(known, best, left, prior)
            if float(worth.max()) > 0:
                return self._choice(known, left, worth)
        if self.stops:
            self._why = f"no further run is expected to pay for itself within {self._runs_to_come} runs of the job"
            return None
        return left[int(np.argmax(worth))]

    def _expected(self, known: CandidateMeans, place: int) -> float:
        """The median over the jobs it may be. Before the first run only differences between candidates count."""
        if not self._is_time:
            return super()._expected(known, place)
        if known.values:
            outlook = self._outlook(known, self._prior)
            return math.exp(float(outlook.weights @ outlook.values[:, place]))
        before = self._prior.jobs.log_times[:, place] + self._offsets[place]
        return math.exp(float(self._prior.weights @ before))

    def _choice(self, known: CandidateMeans, left: list[int], worth: Floats) -> int:
        """The candidate that is worth most; of those with much memory, where one is wanted and worth anything."""
        roomy = [k for k, place in enumerate(left) if self._is_roomy[place] and worth[k] > 0]
        is_second = len(known.tried) == 1 and not self._is_roomy[known.tried[0]]
        among = roomy if is_second and roomy else list(range(len(left)))
        return left[among[int(np.argmax(worth[among]))]]

    @cached_property
    def _is_roomy(self) -> Bools:
        """Which candidates have about as much memory as there is. The second run is one of them, if the first is not.

        The first cannot tell whether its data had room. A job that is slow for lack of memory looks like one that is
        slow by nature: it costs about the same on all clusters that are too small, and many runs would be made among
        them before one shows how it falls where all data fit.
        """
        room = self._drawn.room
        span = float(np.ptp(room)) if self._is_time else 0.0
        roomy: Bools = (room >= room.max() - _MUCH * span) & (span > 0)
        return roomy

    def _worth(self, known: CandidateMeans, best: float, left: list[int], prior: Prior) -> Floats:
        """What a run of each candidate that is left saves in the runs to come, less what it costs."""
        outlook = self._outlook(known, prior)
        gain = expected_gain(outlook, best, np.array(left))
        worth: Floats = self._runs_to_come * gain - self._price(outlook, best)[left]
        return worth

    @property
    def _runs_to_come(self) -> int:
        return self._search.runs_to_come or _RUNS_TO_COME

    @property
    def _is_time(self) -> bool:
        return self._search.per_second is not None

    @cached_property
    def _offsets(self) -> Floats:
        """What turns the logarithm of a time into that of the objective, by candidate."""
        offsets = np.zeros(len(self._points.candidates))
        for candidate, price in zip(self._search.candidates, self._search.per_second or (), strict=False):
            place = self._points.place(candidate)
            assert place is not None
            offsets[place] = np.log(max(price, _TINY))
        return offsets

    @property
    def _prior(self) -> Prior:
        return self._priors[0]

    @cached_property
    def _priors(self) -> tuple[Prior, ...]:
        """What this job may be like before the first run: with what earlier workloads say, and without."""
        drawn = self._drawn if self._is_time else flat(self._drawn)
        alone = prior_of(drawn, self._points, ())
        if not self._is_time or not self._search.earlier:
            return (alone,)
        return prior_of(drawn, self._points, self._search.earlier), alone

    @cached_property
    def _laws(self) -> JobLaws:
        return JobLaws(self._points, np.exp(self._offsets) if self._is_time else None)

    @cached_property
    def _numbers(self) -> Floats:
        """Of jobs before the first run."""
        n_jobs = max(_FEWEST_JOBS, min(_N_JOBS, _MOST_NUMBERS // len(self._points.candidates)))
        return np.random.default_rng(self._search.seed).random((n_jobs, self._laws.n_numbers))

    @cached_property
    def _drawn(self) -> JobGrid:
        return self._laws.jobs(self._numbers)

    def _scaled(self, known: CandidateMeans) -> dict[int, float]:
        """The answers as logarithms of times; where they are not made of time, in terms of their own spread."""
        places, values = list(known.values), np.array(list(known.values.values()))
        if self._is_time:
            scaled = np.log(np.maximum(values, _TINY)) - self._offsets[places]
        else:
            values = values / (np.abs(values).max(initial=0.0) or 1.0)  # before squares, which overflow
            scaled = (values - values.mean()) / (values.std() or 1.0)
        return dict(zip(places, scaled.tolist(), strict=True))

    def _best(self, known: CandidateMeans) -> float | None:
        """The best answer that counts, on the scale of the search."""
        within = self._search.within_s
        scaled = self._scaled(known) if known.values else {}
        times = self._log_times(known)
        counted = [
            place
            for place in scaled
            if known.keeps(place) and (within is None or times.get(place, -math.inf) <= _log(within))
        ]
        return min((scaled[place] + float(self._offsets[place]) for place in counted), default=None)

    def _log_times(self, known: CandidateMeans) -> dict[int, float]:
        measured = {place: _log(time) for place, time in known.times.items()}
        return {**self._scaled(known), **measured} if self._is_time and known.values else measured

    def _told(self, known: CandidateMeans) -> CandidateRuns:
        """The runs on the scale of the search. Where times are not what is searched, a limit on them says nothing."""
        told = runs_of(known, self._scaled(known) if known.values else {})
        return told if self._is_time else replace(told, stopped={})

    def _promise(self, known: CandidateMeans) -> Floats:
        """Before anything counts: the share of the best that each candidate is expected to reach."""
        if known.values:
            outlook = self._outlook(known, self._prior)
            weights, values, ok = outlook.weights, outlook.values, outlook.ok
        else:
            jobs = self._prior.jobs
            told = self._told(known)
            weights = normalized(np.log(self._prior.weights) + outcomes(jobs, told))
            values, ok = jobs.log_times + self._offsets, (1 - jobs.failures) * _shorter(jobs.log_times, told.stopped)
        if self._search.within_s is not None and known.values:  # the best of what is likely to count
            least = (values - np.log(np.maximum(ok, _RARELY_IN_TIME))).min(axis=1, keepdims=True)
        else:
            least = values.min(axis=1, keepdims=True)
        shares: Floats = weights @ (ok * np.exp(np.minimum(least - values, 0.0)))
        return shares

    def _opening(self) -> Floats:
        """What a first run of each candidate is worth: what it tells for its money, or that it is in time."""
        jobs, weights = self._prior.jobs, self._prior.weights
        values, ok = jobs.log_times + self._offsets, 1 - jobs.failures
        if self._search.within_s is not None:
            return promised(weights, values, jobs.log_times, ok)
        if self._prior.curves is not None:  # much is told already, by earlier workloads
            return self._promise(known_from((), self._points))
        return told_for_its_money(weights, values, ok)

    def _outlook(self, known: CandidateMeans, prior: Prior) -> Outlook:
        around = Around() if self._is_time else Around(sd=1.0, noise=0.1)
        sampler = Sampler(self._laws, self._points.coordinates, around, self._told(known), is_flat=not self._is_time)
        rng = np.random.default_rng(self._search.seed)
        jobs, after = posterior_of(prior, sampler, self._numbers, rng)
        belief = weighed(fits(jobs, self._points.coordinates, around, sampler.told), after)
        dealt, weights = _dealt(belief.weights, _N_LIKELY)
        variances = belief.variances()
        ok = (1 - jobs.failures[dealt]) * self._in_time(known, belief, dealt) * self._kept(known)
        return Outlook(weights, belief.means[dealt] + self._offsets, ok, variances, belief)

    def _in_time(self, known: CandidateMeans, belief: WeightedJobs, dealt: Ints) -> Floats | float:
        """The probability that each candidate meets the limit, under each job where times are what is searched."""
        limit = min([self._search.within_s or math.inf, *known.limits.values()])
        if limit == math.inf or not self._log_times(known):
            return 1.0
        if self._is_time:
            return _below(_log(limit), belief.means[dealt], belief.variances())
        even = np.full(len(self._drawn.log_times), 1 / len(self._drawn.log_times))
        told = runs_of(known, self._log_times(known))
        times = believe(self._drawn, even, self._points.coordinates, Around(), told)
        return times.weights @ _below(_log(limit), times.means, times.variances())

    def _kept(self, known: CandidateMeans) -> Floats | float:
        """The probability that each candidate keeps to all limits but that on the time."""
        found: Floats | float = 1.0
        for k in range(max(map(len, known.slacks.values()), default=0)):
            slacks = np.array([known.slacks[place][k] for place in known.values])
            scale = float(slacks.std()) or float(np.abs(slacks).max()) or 1.0
            told = runs_of(known, dict(zip(known.values, (slacks / scale).tolist(), strict=True)))
            unknown = flat(self._drawn)
            even = np.full(len(unknown.log_times), 1 / len(unknown.log_times))
            around = Around(sd=1.0, noise=0.1)
            after = believe(unknown, even, self._points.coordinates, around, replace(told, stopped={}))
            means = after.weights @ after.means
            found = found * np.maximum(_below(0.0, -means, after.variances()), RARELY)
        return found

    def _price(self, outlook: Outlook, best: float) -> Floats:
        """Of one run of each candidate, in terms of the best run found; all alike where it is not known."""
        if not self._is_time:
            return np.ones(len(self._points.candidates))
        prices: Floats = outlook.weights @ np.exp(np.minimum(outlook.values + outlook.variances / 2 - best, 50.0))
        return prices


def _log(time_s: float) -> float:
    return math.log(max(time_s, _TINY))


def _shorter(log_times: Floats, stopped: Mapping[int, float]) -> Floats | float:
    """The chance that each candidate keeps to the limit, when all that is known of the level is that some did not.

    How much longer those would have taken may be of any order of magnitude: the logarithm is exponential.
    """
    if not stopped:
        return 1.0
    limits = np.array(list(stopped.values()))
    least = (limits - log_times[:, list(stopped)]).max(axis=1, keepdims=True)
    spare = np.maximum(limits.max() - log_times - least, 0.0)
    chances: Floats = np.maximum(1 - np.exp(-spare), RARELY)
    return chances


def _below(limit: float, means: Floats, variances: Floats) -> Floats:
    from scipy.special import ndtr

    chances: Floats = ndtr((limit - means) / np.sqrt(variances))
    return chances


def _dealt(weights: Floats, n: int) -> tuple[Ints, Floats]:
    """About n of the jobs, as many of each kind as their weights say, and what each then counts."""
    middles = (np.arange(n) + 0.5) / n
    places = np.minimum(np.searchsorted(np.cumsum(weights), middles), len(weights) - 1)
    chosen, counts = np.unique(places, return_counts=True)
    return chosen, counts / n
