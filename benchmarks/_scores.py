"""How one model does in one small study: measures of its points, its intervals and its promises.

Every configuration asked about counts the same, shared by its runs. Errors and misses are those of single runs, not of
their mean: the next run is what a deadline is about. Beyond ten times what was measured an error is useless, and how
much more so tells nothing: one answer of 10^9 seconds would drown thousands of others.
"""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from _draws import Draw
from _jobs import Job
from _promises import PROMISED, Question, kept_promises, resources

from sparkcast.arrays import Bools, Floats
from sparkcast.errors import SparkcastError
from sparkcast.models import MODELS, Fitted
from sparkcast.study import Dataset

LEVEL = 0.9
_USELESS = 10.0  # times what was measured
_FAR = 1.5  # times the configuration's own run
_GRID = 20  # quantiles in the middle of as many equal slices of the probability, for the CRPS


@dataclass(frozen=True, slots=True)
class Row:
    """One model in one draw. `measures` are empty if it refused, and lack what it has no interval for."""

    job: str
    design: str
    n: int
    draw: int
    learned: int  # fingerprint of the configurations it learned from
    model: str
    refusal: str = ""
    is_broken: bool = False  # not a refusal but an error nobody foresaw
    measures: dict[str, float] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, int, int, int]:
        """The same for all models that were asked the same."""
        return self.job, self.design, self.n, self.draw, self.learned


@dataclass(frozen=True, slots=True)
class Truth:
    """The runs of all configurations asked about, one after the other."""

    values: Floats
    places: Any  # which configuration each is of
    weights: Floats
    is_inside: Bools

    @classmethod
    def of(cls, draw: Draw) -> "Truth":
        counts = np.array([len(runs) for runs in draw.runs])
        places = np.repeat(np.arange(len(counts)), counts)
        values = np.array([value for runs in draw.runs for value in runs])
        return cls(values, places, 1 / counts[places], np.array(draw.is_inside)[places])

    def mean(self, of_runs: Any, among: Bools | None = None) -> float:
        kept = np.ones(len(self.values), dtype=bool) if among is None else among
        return float(np.average(of_runs[kept], weights=self.weights[kept])) if kept.any() else float("nan")


def measure(model: str, job: Job, draw: Draw, asked: Sequence[Question]) -> tuple[str, bool, dict[str, float]]:
    """Why it refused, whether that was an error nobody foresaw, and else the measures."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of estimators that did not converge: their errors show it
            return "", False, _measures(model, job, draw, asked)
    except SparkcastError as error:
        return error.problem, False, {}
    except Exception as error:  # hours of other fits are not lost for it; it is shown at the end
        return f"{type(error).__name__}: {error}", True, {}


def _measures(model: str, job: Job, draw: Draw, asked: Sequence[Question]) -> dict[str, float]:
    begun = time.process_time()
    fitted = MODELS.get(model)().fit(draw.learned, job.response)
    predicted, truth = np.array(fitted.predict(draw.asked)), Truth.of(draw)
    found = {"cpu_s": time.process_time() - begun, **_points(predicted, truth)}
    try:
        found |= _intervals(fitted, draw, truth) | _own_runs(fitted, draw.learned, job.response)
        found |= kept_promises(fitted, draw, predicted, resources(job, draw.asked), asked)
    except SparkcastError:  # points without an interval are an answer too
        pass
    return found


def _points(predicted: Floats, truth: Truth) -> dict[str, float]:
    errors = 100 * np.minimum(np.abs(predicted[truth.places] - truth.values) / truth.values, _USELESS)
    return {
        "mape": truth.mean(errors),
        "mape inside": truth.mean(errors, truth.is_inside),
        "mape outside": truth.mean(errors, ~truth.is_inside),
    }


def _intervals(fitted: Fitted, draw: Draw, truth: Truth) -> dict[str, float]:
    low, high = _bounds(fitted, draw, LEVEL)
    is_held = (low[truth.places] <= truth.values) & (truth.values <= high[truth.places])
    widths = 100 * (high - low) / np.array([np.mean(runs) for runs in draw.runs])
    is_inside = np.array(draw.is_inside)
    return {
        "coverage": truth.mean(is_held),
        "coverage inside": truth.mean(is_held, truth.is_inside),
        "width": float(np.median(widths)),
        "width inside": float(np.median(widths[is_inside])) if is_inside.any() else float("nan"),
        "crps": _crps(fitted, draw, truth),
        **{f"kept {promised}": _kept(fitted, draw, truth, promised) for promised in PROMISED},
    }


def _own_runs(fitted: Fitted, learned: Dataset, response: str) -> dict[str, float]:
    """Whether what was measured is believed: runs in the interval of their own configuration, medians far from them."""
    runs = {learned.key(run): run.responses[response] for run in learned.observations}
    measured = np.array([*runs.values()])
    low, high = np.array(fitted.interval([*runs], level=LEVEL)).T
    apart = np.abs(np.log(np.array(fitted.predict([*runs])) / measured))
    return {
        "own coverage": float(np.mean((low <= measured) & (measured <= high))),
        "own missed": float(np.mean(apart > np.log(_FAR))),
    }


def _bounds(fitted: Fitted, draw: Draw, level: float) -> tuple[Floats, Floats]:
    low, high = np.array(fitted.interval(draw.asked, level=level)).T
    return low, high


def _kept(fitted: Fitted, draw: Draw, truth: Truth, promised: float) -> float:
    """The share of runs within what each configuration is promised to take at most.

    The upper end of an interval leaves as much above it as the lower end leaves below.
    """
    _, latest = _bounds(fitted, draw, 2 * promised - 1)
    return truth.mean(truth.values <= latest[truth.places])


def _crps(fitted: Fitted, draw: Draw, truth: Truth) -> float:
    """The continuous ranked probability score, in percent of the mean run.

    It is twice the integral of the pinball loss over all quantiles (Gneiting and Ranjan 2011), here the mean over the
    middles of equal slices; so the outermost 2.5 % on either side count as their inner neighbor does.
    """
    losses = np.zeros(len(truth.values))
    for k in range(_GRID // 2):
        share = (k + 0.5) / _GRID
        for quantile, tau in zip(_bounds(fitted, draw, 1 - 2 * share), (share, 1 - share), strict=True):
            missed = truth.values - quantile[truth.places]
            losses += np.maximum(tau * missed, (tau - 1) * missed)
    scores = 2 * losses / _GRID / truth.mean(truth.values)
    return 100 * truth.mean(np.minimum(scores, _USELESS))
