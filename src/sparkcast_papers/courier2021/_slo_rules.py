"""Which batch size a job gets for which deadline: by Courier's rule, by ours, and by one who knows what will happen."""

from collections.abc import Sequence
from dataclasses import dataclass

from sparkcast.arrays import Floats, Ints
from sparkcast.errors import InfeasibleError
from sparkcast.learned.knowledge import Knowledge
from sparkcast.recommend import Recommendation
from sparkcast.recommend.choose import Recommender
from sparkcast.recommend.question import Question
from sparkcast.study import Configuration, Listed

CONFIDENCE = 0.95
REFUSED = -1  # instead of a candidate: said to be infeasible
_JUST_ABOVE = 1 + 1e-9


@dataclass(frozen=True, slots=True)
class Rule:
    """What is taken of a job's candidates: it changes only at deadlines that let another one in."""

    limits_s: tuple[float, ...]  # ascending
    choices: tuple[int, ...]  # places among the candidates: below the first limit, from it on, from the second on, ...

    def choose(self, deadlines_s: Floats) -> Ints:
        import numpy as np

        return np.array(self.choices)[np.searchsorted(self.limits_s, deadlines_s, side="right")]


def most_accurate_below(times_s: Sequence[float], accuracies: Sequence[float], otherwise: int) -> Rule:
    """The most accurate candidate whose time is within the deadline.

    >>> most_accurate_below([500, 300, 100], [0.95, 0.94, 0.90], otherwise=2).choose([50, 250, 400, 600]).tolist()
    [2, 2, 1, 0]
    """
    order = sorted(range(len(times_s)), key=times_s.__getitem__)
    best = [max(order[:count], key=accuracies.__getitem__) for count in range(1, len(order) + 1)]
    return Rule(tuple(times_s[place] for place in order), (otherwise, *best))


def couriers_rule(times_s: Sequence[float], accuracies: Sequence[float]) -> Rule:
    """Section 5.1: predictions are taken for what will happen; when none is in time, the fastest without a word."""
    return most_accurate_below(times_s, accuracies, otherwise=min(range(len(times_s)), key=times_s.__getitem__))


def oracles_rule(times_s: Sequence[float], accuracies: Sequence[float]) -> Rule:
    """The same with what was measured."""
    return most_accurate_below(times_s, accuracies, otherwise=REFUSED)


def recommended(model: Knowledge, candidates: Sequence[Configuration], deadline_s: float) -> Recommendation | None:
    """What `sparkcast recommend` says; None when nothing meets the deadline."""
    asked = Recommender(model, Listed(tuple(candidates)))
    try:
        return asked.ask(Question(within_s=deadline_s, confidence=CONFIDENCE, maximize="accuracy"))
    except InfeasibleError:
        return None


def our_rule(model: Knowledge, candidates: Sequence[Configuration]) -> Rule:
    """`sparkcast recommend` asked once at each deadline from which on it may answer something else."""
    limits = sorted(upper_limits_s(model, candidates))
    answers = [recommended(model, candidates, limit * _JUST_ABOVE) for limit in limits]
    return Rule(tuple(limits), (REFUSED, *(_place(answer, candidates) for answer in answers)))


def by_limits(model: Knowledge, candidates: Sequence[Configuration]) -> Rule:
    """The same without asking for each deadline; differs only between accuracies that recommend takes for a tie."""
    accuracies = model.model_of("accuracy")[1].predict(candidates)
    return most_accurate_below(upper_limits_s(model, candidates), accuracies, otherwise=REFUSED)


def upper_limits_s(model: Knowledge, candidates: Sequence[Configuration]) -> list[float]:
    """The time that the next run of each candidate stays within with the confidence."""
    return [high for _, high in model.model_of("time_s")[1].interval(candidates, level=round(2 * CONFIDENCE - 1, 12))]


def _place(answer: Recommendation | None, candidates: Sequence[Configuration]) -> int:
    return REFUSED if answer is None else list(candidates).index(answer.chosen.configuration)
