"""Whether a model still speaks of the present: other hardware, more load than was measured, or runs that drift away.

Verdicts: "retrain" when there is a reason to, "fresh" when something could be compared and nothing speaks against the
model, "unknown" when nothing could. Training runs from several environments are a reason to doubt every prediction, but
none to think that the present has changed: that is said, and the verdict stays.
"""

import dataclasses
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, median

from scipy.stats import betabinom

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.models import Fitted
from sparkcast.recommend import Staleness
from sparkcast.study import Configuration, Dataset, Fingerprint, Kind, Observation, Role, Vocabulary
from sparkcast.study.environment import environment_differences, is_local, mixed_environments
from sparkcast.units import as_number, show_percent

SIGNIFICANCE = 0.01
_LEVEL = 0.9
_FEWEST_RECENT = 3
_FEWEST_RUNS = 10
_FEWEST_LAST, _LAST_SHARE = 5, 0.2
_CERTAIN = 1e-9  # a probability nearer to 0 or 1 says no more


def staleness(
    training: Sequence[Fingerprint],
    present: Fingerprint | None,
    *,
    n_jobs: int | None = None,
    most_jobs: float = 1.0,
    drifted: str | None = None,
) -> Staleness:
    """The verdict, and each reason in a full sentence.

    training: where the runs were made that the model learned from; present: where the next job would run (see `here`).
    n_jobs: jobs at once, the new one included; most_jobs: in any training run, see `most_jobs_in`.
    drifted: what `drift` or `drift_within` found.
    """
    changed = "" if present is None else _changed_hardware(training, present)
    alarms = [changed, _overload(n_jobs, most_jobs), f"{drifted}." if drifted else ""]
    is_compared = (present is not None and bool(training)) or drifted is not None
    notes = [mixed_environments(training), "" if is_compared else _why_unknown(training)]
    reasons = tuple(sentence for sentence in (*alarms, *notes) if sentence)
    if any(alarms):
        return Staleness("retrain", reasons)
    return Staleness("fresh" if is_compared else "unknown", reasons)


# ---------------------------------------------------------------- hardware


def _changed_hardware(training: Sequence[Fingerprint], present: Fingerprint) -> str:
    """What differs from the training run that is most like the present; "" when one is like it, or there is none."""
    by_run = [environment_differences(known, present) for known in dict.fromkeys(reversed(training))]
    if not by_run or not all(by_run):
        return ""
    nearest = min(by_run, key=len)
    changes = ", ".join(f"{name} {now} instead of {before}" for name, (before, now) in nearest.items())
    return f"No training run was made on a machine like this one: {changes}."


def _why_unknown(training: Sequence[Fingerprint]) -> str:
    if not training:
        return "The runs do not record the hardware they ran on."
    clusters = ", ".join(dict.fromkeys(known.cluster or "an unnamed cluster" for known in training))
    if all(is_local(known.cluster) for known in training):
        return f"There is no Spark on this machine to compare with that of the training runs ({clusters})."
    return f"The training runs were made on {clusters}, whose hardware cannot be checked from this machine."


# ---------------------------------------------------------------- load


def _overload(n_jobs: int | None, most: float) -> str:
    if n_jobs is None or n_jobs <= most:
        return ""
    return f"{n_jobs} jobs at once are more than in any training run (at most {most:g})."


def most_jobs_in(measured: Sequence[Configuration], words: Vocabulary) -> float:
    """Jobs at once; a run that does not say how many ran beside it is taken to have been alone."""
    names = [words.first(Role.JOBS, among=configuration) for configuration in measured]
    counts = [as_number(c[name]) for c, name in zip(measured, names, strict=True) if name is not None]
    return max((count for count in counts if count is not None), default=1.0)


# ---------------------------------------------------------------- drift


@dataclass(frozen=True, slots=True)
class _Tested:
    """A run that the model has not seen, beside what the model says of it."""

    configuration: Configuration
    value: float
    predicted: float
    is_inside: bool
    rank: float  # where in the predicted distribution it lies, from 0 to 1


def drift(
    times: Fitted, recent: Sequence[Observation], response: str, *, n_learned: int = 10, is_time: bool = True
) -> str | None:
    """What is wrong with recent runs that the model has not seen; "" when nothing is, None when too few can tell.

    Runs of one configuration share what the model gets wrong there, so each configuration counts once: its median run.
    Two tests at 1 % each. Fewer configurations than 90 % lie inside the 90 % interval: binomial, with the share that an
    interval from `n_learned` errors really covers, which is Beta(0.9 (n + 1), 0.1 (n + 1)) (Vovk 2012). And they are
    longer, or shorter, than predicted all together: ranks in the predicted distribution become normal scores, and the
    mean of k of them has the variance 1/k, and 1/n more because the level of a model that learned from n configurations
    is off by as much itself. Runs about which the model says nothing do not count.
    """
    tested = _tested(times, [run for run in recent if run.ok and response in run.responses], response)
    if len(tested) < _FEWEST_RECENT:
        return None
    groups: dict[Configuration, list[_Tested]] = defaultdict(list)
    for run in tested:
        groups[run.configuration].append(run)
    by_configuration = list(groups.values())
    if not _misses(by_configuration, n_learned) and not _shifted(by_configuration, n_learned):
        return ""
    n_outside = sum(not run.is_inside for run in tested)
    return f"{n_outside} of the last {len(tested)} runs were outside the 90% interval, {_shift(tested, is_time)}"


def drift_within(data: Dataset, response: str, fit: Callable[[Dataset, str], Fitted]) -> str | None:
    """What is wrong with the last fifth of the runs (at least 5), for a model that learned from those before them.

    None when nothing is, or when nobody can tell: fewer than 10 runs with a time of day, too few settings. That old
    runs agree among themselves does not make them fresh, so there is no "". In a design that goes through the levels in
    order, the last runs ask the model for what it has hardly seen: those do not count, see `_like_earlier`.
    """
    runs = [run for run in data.successful(response) if run.started_at is not None]
    if len(runs) < _FEWEST_RUNS:
        return None
    runs.sort(key=lambda run: run.started_at or 0.0)
    n_last = max(_FEWEST_LAST, math.ceil(_LAST_SHARE * len(runs)))
    earlier, last = runs[:-n_last], runs[-n_last:]
    comparable = _like_earlier(last, earlier, data.factors)
    if len(comparable) < _FEWEST_RECENT:
        return None
    try:
        times = fit(dataclasses.replace(data, observations=tuple(earlier)), response)
    except NotEnoughDataError:
        return None
    is_time = data.vocabulary.response(response).kind is Kind.TIME
    return drift(times, comparable, response, n_learned=len({*map(data.key, earlier)}), is_time=is_time) or None


def _like_earlier(
    last: Sequence[Observation], earlier: Sequence[Observation], factors: Sequence[str]
) -> list[Observation]:
    """The last runs whose settings the earlier ones cover; none when a factor stands still in them."""
    levels = {name: ([_level(run, name) for run in earlier], [_level(run, name) for run in last]) for name in factors}
    covered = [run for run in last if all(_is_covered(_level(run, name), *levels[name]) for name in factors)]
    for name, (before, _) in levels.items():
        if len(set(before)) > 1 and len({_level(run, name) for run in covered}) == 1:
            return []
    return covered


def _level(run: Observation, name: str) -> float | str:
    number = as_number(run.configuration[name])
    return str(run.configuration[name]) if number is None else number


def _is_covered(level: float | str, before: Sequence[float | str], after: Sequence[float | str]) -> bool:
    """Seen before at least as often as now; a number seen only now and only once must lie between those before."""
    if level in before:
        return after.count(level) <= before.count(level)
    numbers = [number for number in before if not isinstance(number, str)]
    is_between = not isinstance(level, str) and bool(numbers) and min(numbers) < level < max(numbers)
    return is_between and after.count(level) == 1


def _tested(times: Fitted, runs: Sequence[Observation], response: str) -> list[_Tested]:
    known = [run for run in runs if _is_known(times, run.configuration)]
    at = [run.configuration for run in known]
    found = []
    for run, predicted, (low, high) in zip(known, times.predict(at), times.interval(at, level=_LEVEL), strict=True):
        value = run.responses[response]
        [rank] = times.probability_below([run.configuration], value)
        found.append(_Tested(run.configuration, value, predicted, low <= value <= high, rank))
    return found


def _is_known(times: Fitted, configuration: Configuration) -> bool:
    try:
        [error] = times.beyond([configuration])
    except StudyError:  # a setting that the training runs did not have
        return False
    return error is None


def _misses(groups: Sequence[Sequence[_Tested]], n_learned: int) -> bool:
    n_inside = sum(fmean(run.is_inside for run in group) >= 0.5 for group in groups)
    hits, misses = _LEVEL * (n_learned + 1), (1 - _LEVEL) * (n_learned + 1)
    return float(betabinom.cdf(n_inside, len(groups), hits, misses)) < SIGNIFICANCE


def _shifted(groups: Sequence[Sequence[_Tested]], n_learned: int) -> bool:
    normal = NormalDist()
    ranks = [median(run.rank for run in group) for group in groups]
    mean = fmean(normal.inv_cdf(min(1 - _CERTAIN, max(_CERTAIN, rank))) for rank in ranks)
    return 2 * normal.cdf(-abs(mean) / math.sqrt(1 / len(groups) + 1 / n_learned)) < SIGNIFICANCE


def _shift(tested: Sequence[_Tested], is_time: bool) -> str:
    more, less = ("longer", "shorter") if is_time else ("higher", "lower")
    if min(run.predicted for run in tested) <= 0:
        typical = median(run.value - run.predicted for run in tested)
        return f"{abs(typical):.3g} {more if typical > 0 else less} than predicted (median)"
    ratio = median(run.value / run.predicted for run in tested)
    return f"{show_percent(abs(ratio - 1))} {more if ratio > 1 else less} than predicted (median)"
