"""A search that knows how jobs scale.

It starts from many jobs that could be this one (see _jobs) and from the workloads that were run earlier with the same
settings (see _earlier). Each run makes some of them unlikely; around each lies a Gaussian process of what it does not
know (see _belief). A run is worth what it is expected to save in all runs to come, by its own answer or by what it
teaches about where the best settings are (see _worth), less what it costs. The search stops when no run pays for
itself.
"""

import math
from functools import cached_property
from typing import Any

from sparkcast.search.base import SEARCHERS
from sparkcast.search.belief import Around, Belief, believe, normalised, outcomes
from sparkcast.search.chooser import Chooser
from sparkcast.search.earlier import Prior, prior_of
from sparkcast.search.jobs import Jobs, draw_jobs, flat
from sparkcast.search.points import Known
from sparkcast.search.worth import Outlook, expected_gain

_RUNS_TO_COME = 100  # of the job with the settings found: a trial as dear as the best run must save 1 % to be worth it
_N_JOBS = 4000
_FEWEST_JOBS = 300
_MOST_NUMBERS = 1_000_000  # of all jobs at all candidates
_N_LIKELY = 300  # jobs dealt by their weights, by which the next run is judged
_TINY = 1e-300


@SEARCHERS.register("guided")
class Guided(Chooser):
    """Knows how jobs scale, fail and behaved in earlier workloads; asks for the run that pays most, while one does."""

    is_default = True

    @property
    def warnings(self) -> tuple[str, ...]:
        ignored = self._prior.ignored if self._points.candidates else ()
        return (f"no use was made of {', '.join(ignored)}: other settings",) if ignored else ()

    def _next(self, known: Known, left: list[int]) -> int | None:
        import numpy as np

        best = self._best(known)
        if best is None:
            return left[int(np.argmax(self._promise(known)[left]))]
        outlook = self._outlook(known)
        worth = _RUNS_TO_COME * expected_gain(outlook, best, np.array(left)) - self._price(outlook, best)[left]
        if float(worth.max()) <= 0 and self.stops:
            self._why = f"no run is expected to pay for itself within {_RUNS_TO_COME} runs of the job"
            return None
        return left[int(np.argmax(worth))]

    @property
    def _is_time(self) -> bool:
        return self._search.per_second is not None

    @cached_property
    def _offsets(self) -> Any:
        """What turns the logarithm of a time into that of the objective, by candidate."""
        import numpy as np

        offsets = np.zeros(len(self._points.candidates))
        for candidate, price in zip(self._search.candidates, self._search.per_second or (), strict=False):
            place = self._points.place(candidate)
            assert place is not None
            offsets[place] = np.log(max(price, _TINY))
        return offsets

    @cached_property
    def _prior(self) -> Prior:
        """What this job may be like before the first run."""
        if not self._is_time:
            return prior_of(flat(self._drawn), self._points, ())
        return prior_of(self._drawn, self._points, self._search.earlier)

    @cached_property
    def _drawn(self) -> Jobs:
        n_jobs = max(_FEWEST_JOBS, min(_N_JOBS, _MOST_NUMBERS // len(self._points.candidates)))
        return draw_jobs(self._points, n_jobs, self._search.seed)

    def _scaled(self, known: Known) -> dict[int, float]:
        """The answers as logarithms of times; where they are not made of time, in terms of their own spread."""
        import numpy as np

        places, values = list(known.values), np.array(list(known.values.values()))
        if self._is_time:
            scaled = np.log(np.maximum(values, _TINY)) - self._offsets[places]
        else:
            values = values / (np.abs(values).max(initial=0.0) or 1.0)  # before squares, which overflow
            scaled = (values - values.mean()) / (values.std() or 1.0)
        return dict(zip(places, scaled.tolist(), strict=True))

    def _best(self, known: Known) -> float | None:
        """The best answer that counts, on the scale of the search."""
        within = self._search.within_s
        scaled = self._scaled(known) if known.values else {}
        times = self._log_times(known)
        counted = [place for place in scaled if within is None or times.get(place, -math.inf) <= _log(within)]
        return min((scaled[place] + float(self._offsets[place]) for place in counted), default=None)

    def _log_times(self, known: Known) -> dict[int, float]:
        measured = {place: _log(time) for place, time in known.times.items()}
        return {**self._scaled(known), **measured} if self._is_time and known.values else measured

    def _promise(self, known: Known) -> Any:
        """Before anything counts: the share of the best that each candidate is expected to reach."""
        import numpy as np

        if known.values:
            outlook = self._outlook(known)
            weights, values, ok = outlook.weights, outlook.values, outlook.ok
        else:
            jobs = self._prior.jobs
            weights = normalised(np.log(self._prior.weights) + outcomes(jobs, [], known.failed))
            values, ok = jobs.log_times + self._offsets, 1 - jobs.failures
        return weights @ (ok * np.exp(values.min(axis=1, keepdims=True) - values))

    def _outlook(self, known: Known) -> Outlook:
        prior = self._prior
        around = Around() if self._is_time else Around(sd=1.0, noise=0.1)
        belief = believe(prior.jobs, prior.weights, self._points.coordinates, around, self._scaled(known), known.failed)
        dealt, weights = _dealt(belief.weights, _N_LIKELY)
        variances = belief.variances()
        ok = (1 - prior.jobs.failures[dealt]) * self._in_time(known, belief, dealt)
        return Outlook(weights, belief.means[dealt] + self._offsets, ok, variances, belief)

    def _in_time(self, known: Known, belief: Belief, dealt: Any) -> Any:
        """The probability that each candidate meets the limit, under each job where times are what is searched."""
        import numpy as np

        if self._search.within_s is None or not self._log_times(known):
            return 1.0
        if self._is_time:
            return _below(_log(self._search.within_s), belief.means[dealt], belief.variances())
        even = np.full(len(self._drawn.log_times), 1 / len(self._drawn.log_times))
        times = believe(self._drawn, even, self._points.coordinates, Around(), self._log_times(known), known.failed)
        return times.weights @ _below(_log(self._search.within_s), times.means, times.variances())

    def _price(self, outlook: Outlook, best: float) -> Any:
        """Of one run of each candidate, in terms of the best run found; all alike where it is not known."""
        import numpy as np

        if not self._is_time:
            return np.ones(len(self._points.candidates))
        return outlook.weights @ np.exp(np.minimum(outlook.values + outlook.variances / 2 - best, 50.0))


def _log(time_s: float) -> float:
    return math.log(max(time_s, _TINY))


def _below(limit: float, means: Any, variances: Any) -> Any:
    import numpy as np
    from scipy.special import ndtr

    return ndtr((limit - means) / np.sqrt(variances))


def _dealt(weights: Any, n: int) -> tuple[Any, Any]:
    """About n of the jobs, as many of each kind as their weights say, and what each then counts."""
    import numpy as np

    middles = (np.arange(n) + 0.5) / n
    places = np.minimum(np.searchsorted(np.cumsum(weights), middles), len(weights) - 1)
    chosen, counts = np.unique(places, return_counts=True)
    return chosen, counts / n
