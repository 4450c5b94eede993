"""Deadlines put to a model as `recommend` would: of the configurations that are promised to meet one, the cheapest.

What is cheap is counted in resources: cores, or machines where nobody counts their cores, times the time they are kept.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from _draws import Draw
from _jobs import Job

from sparkcast.arrays import Floats, Ints
from sparkcast.models import Fitted
from sparkcast.study import Configuration, Kind, Role

PROMISED = (0.8, 0.9, 0.95)
QUESTIONS = 20  # for each draw


@dataclass(frozen=True, slots=True)
class Question:
    deadline: float
    candidates: Ints  # among the configurations asked about
    real: Floats  # what the next run of each configuration asked about takes: one of its runs by chance


def questions(job: Job, draw: Draw, random: np.random.Generator, *, same_work: bool) -> list[Question]:
    """Deadlines between the fastest and the slowest run, evenly in their logarithm: times range over magnitudes.

    With `same_work` the job is given (its data, its parameters) and only the means are chosen: between the fastest and
    the slowest run of those candidates. Otherwise any configuration may be chosen, between those of the whole job.
    """
    if job.data.vocabulary.response(job.response).kind is not Kind.TIME:
        return []
    values = [run.responses[job.response] for run in job.data.observations]
    found = []
    for _ in range(QUESTIONS):
        candidates: Ints = np.arange(len(draw.asked))
        if same_work:
            given = draw.asked[int(random.integers(len(draw.asked)))]
            candidates = np.array([i for i, c in enumerate(draw.asked) if all(c[w] == given[w] for w in job.work)])
            values = [value for i in candidates for value in draw.runs[i]]
        deadline = float(np.exp(random.uniform(np.log(min(values)), np.log(max(values)))))
        real = np.array([runs[int(random.integers(len(runs)))] for runs in draw.runs])
        found.append(Question(deadline, candidates, real))
    return found


def resources(job: Job, configurations: Sequence[Configuration]) -> Floats:
    """What a configuration occupies while it runs; 1 where no setting says so."""
    words, factors = job.data.vocabulary, job.data.factors
    total, each = words.first(Role.TOTAL_CORES, among=factors), words.first(Role.CORES, among=factors)
    machines = words.first(Role.MACHINES, among=factors)
    counted = [total] if total else [name for name in (machines, each) if name]
    return np.array([np.prod([float(c[name]) for name in counted]) for c in configurations])


def kept_promises(
    fitted: Fitted, draw: Draw, predicted: Floats, occupied: Floats, asked: Sequence[Question]
) -> dict[str, float]:
    """Counts over the questions: answered, met, and of those met the sum of cost over the cheapest possible."""
    counts: dict[str, float] = defaultdict(float, asked=len(asked))
    for question in asked:
        chances = np.array(fitted.probability_below(draw.asked, question.deadline))
        expected = occupied * predicted
        for promised in PROMISED:
            answers = [i for i in question.candidates if chances[i] >= promised]
            if not answers:
                continue
            choice = min(answers, key=lambda i: float(expected[i]))
            counts[f"answered {promised}"] += 1
            if question.real[choice] <= question.deadline:
                counts[f"met {promised}"] += 1
                counts[f"cost {promised}"] += _over_cheapest(question, occupied, choice)
    return dict(counts)


def _over_cheapest(question: Question, occupied: Floats, choice: int) -> float:
    cost = occupied * question.real
    in_time = [i for i in question.candidates if question.real[i] <= question.deadline]
    return float(cost[choice] / min(cost[i] for i in in_time))
