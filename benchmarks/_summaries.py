"""From the rows of single fits to what is said of a model: first over the draws of a job, then over the jobs."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from _promises import PROMISED
from _scores import Row

Measures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Summary:
    """One model at one size of study. `jobs` are those of which it answered at least one draw."""

    jobs: dict[str, Measures]
    refused: float  # share of the draws

    def geometric(self, measure: str) -> float:
        return geometric_mean(of[measure] for of in self.jobs.values())

    def mean(self, measure: str) -> float:
        return _reduced(np.mean, (of[measure] for of in self.jobs.values()))

    def median(self, measure: str) -> float:
        return _reduced(np.median, (of[measure] for of in self.jobs.values()))

    def extreme(self, measure: str, *, largest: bool = False) -> tuple[float, str]:
        """The least or the largest of the jobs, and which."""
        found = [(of[measure], job) for job, of in self.jobs.items() if of[measure] == of[measure]]
        return (max(found) if largest else min(found)) if found else (float("nan"), "no job")


def summary(rows: Sequence[Row]) -> Summary:
    """Of the rows of one model, one size and one design."""
    by_job = defaultdict(list)
    for row in rows:
        if row.measures:
            by_job[row.job].append(row.measures)
    refused = sum(not row.measures for row in rows) / len(rows) if rows else float("nan")
    return Summary({job: _over_draws(draws) for job, draws in by_job.items()}, refused)


def _over_draws(draws: Sequence[Measures]) -> Measures:
    """Means; of the deadlines, which are counted, shares of all that were asked."""
    found: Measures = defaultdict(lambda: float("nan"))
    found |= {name: _reduced(np.mean, (of.get(name, np.nan) for of in draws)) for name in _names(draws)}
    total = {name: sum(of.get(name, 0.0) for of in draws) for name in _names(draws)}
    for promised in PROMISED:
        answered, met = total.get(f"answered {promised}", 0.0), total.get(f"met {promised}", 0.0)
        found[f"answered {promised}"] = _share(answered, total.get("asked", 0.0))
        found[f"met {promised}"] = _share(met, answered)
        found[f"cost {promised}"] = _share(total.get(f"cost {promised}", 0.0), met)
    return found


def ratio(ours: Sequence[Row], theirs: Sequence[Row], measure: str, *, least: float = 0.0) -> dict[str, float]:
    """By job, our mean over theirs, over the draws in which both answered: at least this share of the draws we did."""
    known = {row.key: row.measures[measure] for row in theirs if row.measures.get(measure, np.nan) > 0}
    answered = [row for row in ours if row.measures.get(measure, np.nan) > 0]
    pairs = defaultdict(list)
    for row in answered:
        if row.key in known:
            pairs[row.job].append((row.measures[measure], known[row.key]))
    asked = Counter(row.job for row in answered)
    return {
        job: float(np.divide(*np.mean(values, axis=0)))
        for job, values in pairs.items()
        if len(values) >= least * asked[job]
    }


def geometric_mean(values: Iterable[float]) -> float:
    return float(np.exp(_reduced(np.mean, (np.log(value) for value in values if value > 0))))


def _reduced(how: Callable[[Sequence[float]], object], values: Iterable[float]) -> float:
    kept = [value for value in values if value == value]
    return float(how(kept)) if kept else float("nan")  # type: ignore[arg-type]


def _names(draws: Sequence[Measures]) -> list[str]:
    return list(dict.fromkeys(name for of in draws for name in of))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")
