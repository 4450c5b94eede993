"""What every method does with each job's deadlines, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sparkcast.replications import Row, show
from sparkcast_papers.courier2021._slo_models import COURIERS, OURS, Answers
from sparkcast_papers.courier2021._slo_rules import CONFIDENCE, Rule, by_limits, couriers_rule, our_rule, upper_limits_s
from sparkcast_papers.courier2021._slo_simulation import Draws, Job, Outcome, chosen, judge

RANDOM, ORACLE = "random batch", "oracle (knows the measured times)"
COURIERS_RULE = f"Courier's rule, {COURIERS}"

Jobs = Mapping[tuple[object, ...], Job]


@dataclass(frozen=True, slots=True)
class Learned:
    """What every method would do with one job, and how long ours says that each candidate takes at most."""

    rules: Mapping[str, Rule]
    limits_s: tuple[float, ...]


def ours_by(model: str) -> str:
    return f"ours ({model}, {CONFIDENCE:g})"


def learned_rules(answers: Answers, question: int, job: Job, model: str, beside: str) -> Learned:
    """What is taken of a job's candidates by each method, from what its models said of them."""
    said, at = answers.said[question], job.candidates
    rules = {
        f"Courier's rule, {model if who == OURS else who}": couriers_rule(each.times_s, each.accuracies)
        for who, each in said.items()
    }
    rules[ours_by(model)] = our_rule(answers.model, at)
    if answers.beside is not None:
        rules[f"{beside}, {CONFIDENCE:g}"] = by_limits(answers.beside, at)
    return Learned(rules, tuple(upper_limits_s(answers.model, at)))


def outcomes_of(learned: Sequence[Learned], jobs: Jobs, draws: Draws) -> dict[str, Outcome]:
    played = list(jobs.values())
    taken = {RANDOM: draws.random}
    taken |= {name: chosen([job.rules[name] for job in learned], draws) for name in learned[0].rules}
    taken[ORACLE] = chosen([job.oracle for job in played], draws)
    return {name: judge(each, played, draws) for name, each in taken.items()}


def outcome_rows(name: str, found: Outcome) -> list[Row]:
    """A method that never refuses promises everything: some numbers are then no news."""
    rows = [show(name, "% of feasible SLOs met, of all", 100 * found.met_of_feasible)]
    if found.refused and name != ORACLE:
        rows = [
            show(name, "% of feasible SLOs met, of those promised", 100 * found.met_of_promised),
            *rows,
            show(name, "% of all promises that were met", 100 * found.kept),
            show(name, "% of feasible SLOs declared infeasible", 100 * found.refused_feasible),
            show(name, "% with a larger batch than the oracle's", 100 * found.larger),
        ]
    rows.append(show(name, "% declared infeasible", 100 * found.refused))
    rows.append(show(name, "mean accuracy", found.accuracy))
    if name != ORACLE:
        rows.append(show(name, "accuracy minus the oracle's", found.accuracy_gap))
        rows.append(show(name, "the same where the SLO was met", found.gap_where_met))
    return rows


def within_limits(learned: Sequence[Learned], jobs: Jobs) -> tuple[int, int]:
    """How many settings took no longer than ours says they do with the confidence, and of how many."""
    pairs = [
        pair
        for one, job in zip(learned, jobs.values(), strict=True)
        for pair in zip(job.times_s, one.limits_s, strict=True)
    ]
    return sum(time <= limit for time, limit in pairs), len(pairs)
