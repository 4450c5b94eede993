"""What to say when the runs are too few to promise much, and which two of the candidates would teach the most."""

from collections.abc import Sequence

import numpy as np

from sparkcast.arrays import Bools, Floats
from sparkcast.fitting.uncertainty import FittedPoints
from sparkcast.learned.support import Extrapolating
from sparkcast.models import Fitted
from sparkcast.recommend.evaluation import Asked, RunRecord, rows_like, significant
from sparkcast.study import Configuration
from sparkcast.study.space import Candidates

ENOUGH = 6  # configurations from which on promises rest on the job's own runs
_LEVEL = 0.9  # of the intervals by which candidates are compared


def few_note(
    n: int, model: str, *, is_by_errors: bool, confidence: float | None, teaching: Sequence[Configuration]
) -> str | None:
    """The note of a recommendation that was learned from n configurations; None when these are enough.

    `is_by_errors`: intervals are made of the errors on left-out configurations, and n of these say nothing of what is
    exceeded less often than once in n + 1 times. `confidence`: with which limits are to be kept, None without limits.
    `teaching`: what to run first.

    >>> print(few_note(5, "ridge", is_by_errors=True, confidence=0.95, teaching=[Configuration({"executors": 8})]))
    with 5 configurations, ridge cannot support probabilities above 0.83; run this one first: executors=8
    """
    if n >= ENOUGH:
        return None
    if not is_by_errors:
        doubt = f"trained on {n} configurations: the probabilities rest mostly on how other jobs behave"
    elif confidence is not None and confidence > n / (n + 1):
        doubt = f"with {n} configurations, {model} cannot support probabilities above {100 * n // (n + 1) / 100:g}"
    else:
        doubt = f"trained on {n} configurations: the probabilities rest on only that many errors of {model}"
    return f"{doubt}; {_advice(teaching)}"


def _advice(teaching: Sequence[Configuration]) -> str:
    if not teaching:
        return "run more configurations first"
    which = "this one" if len(teaching) == 1 else "these two"
    return f"run {which} first: {'; '.join(map(str, teaching))}"


def is_by_errors(fitted: Fitted) -> bool:
    """Whether its intervals are made of the errors on left-out configurations alone."""
    return isinstance(fitted.fitted if isinstance(fitted, Extrapolating) else fitted, FittedPoints)


def most_teaching(asked: Asked, known: RunRecord, response: str) -> list[Configuration]:
    """The two candidates of which least is known, among those that were not run yet and are not likely to fail."""
    candidates = asked.view.candidates
    low, high = asked.tables[response].interval(_LEVEL)
    widths = significant(relative_width(asked.values[response], low, high))  # rounding must not decide
    return candidates.configurations(two_widest(widths, asked.kept & ~_was_run(candidates, known), candidates))


def relative_width(values: Floats, low: Floats, high: Floats) -> Floats:
    size = np.abs(values)
    widths: Floats = np.divide(high - low, size, out=np.zeros(len(values)), where=size > 0)
    return widths


def two_widest(widths: Floats, allowed: Bools, candidates: Candidates) -> list[int]:
    """The row with the widest interval, and of those that differ from it in most settings again the widest."""
    rows = np.flatnonzero(allowed)
    if not len(rows):
        return []
    first = int(rows[np.argmax(widths[rows])])
    n_different = (candidates.codes[rows] != candidates.codes[first]).sum(axis=1)
    best = np.lexsort((-widths[rows], -n_different))[0]
    return [first, int(rows[best])] if n_different[best] else [first]


def _was_run(candidates: Candidates, known: RunRecord) -> Bools:
    tried = [seen.configuration for seen in known.seen if seen.ok or seen.failed]  # a lost run says nothing
    like = [rows_like(candidates, configuration, known.factors) for configuration in tried]
    found: Bools = np.logical_or.reduce([np.zeros(len(candidates), dtype=bool), *like])
    return found
