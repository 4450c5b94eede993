"""Why these settings, what the limits cost, and which one to relax when nothing fits."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from sparkcast.arrays import Bools, Ints
from sparkcast.errors import InfeasibleError
from sparkcast.recommend import Alternative, Candidate, Limit, Relaxed
from sparkcast.recommend.comparison import is_likely
from sparkcast.recommend.evaluation import Asked
from sparkcast.recommend.question import Objective, show_limit
from sparkcast.study import Kind, Response, Vocabulary
from sparkcast.units import show_level, show_money, show_percent, show_probability, show_seconds

_SURE = 0.995  # what is more likely is shown without its probability


def why(asked: Asked, row: int, chosen: Candidate, margin_s: float | None, reasons: Sequence[str] = ()) -> str:
    objective, confidence, at = asked.objective, asked.question.confidence, np.array([row])
    parts = []
    if asked.time is not None:
        # Said once in a sentence: a deadline says it too.
        span = "" if margin_s is not None else f" {asked.words.response(asked.time).span}".rstrip()
        parts.append(f"predicted {_seconds(asked, chosen.predicted(asked.time).value)}{span}")
    if margin_s is not None:
        parts.append(f"{show_seconds(max(margin_s, 0.0))} margin needed for {show_level(confidence)}")
    for limit in asked.limits:
        parts.append(
            f"{show_limit(limit, asked.words)} met with probability {show_probability(asked.chances(limit, at)[0])}"
        )
    if objective.response != asked.time and objective.response in asked.tables:
        parts.append(
            f"{objective.response} {_shown(asked.words, objective, chosen.predicted(objective.response).value)}"
        )
    if not chosen.measured_runs:
        parts.append("this configuration was never run")
    if chosen.failure_probability is not None:
        parts.append(f"fails with probability {show_probability(chosen.failure_probability)}")
    if n_failed := int((asked.wanted & asked.view.broke).sum()):
        parts.append(f"{_candidates(n_failed)} left out after failing")
    if n_unsafe := int((asked.allowed & ~asked.kept).sum()):
        parts.append(f"{_candidates(n_unsafe)} left out as likely to fail")
    if n_beyond := int((asked.wanted & ~asked.view.broke & ~asked.allowed).sum()):
        parts.append(f"{_candidates(n_beyond)} left out as too far from what was measured")
    return f"{chosen.configuration}: {'; '.join([*parts, *reasons])}"


def _seconds(asked: Asked, time: float) -> str:
    assert asked.time is not None
    return show_seconds(asked.words.response(asked.time).seconds(time))


def _candidates(n: int) -> str:
    return f"{n} candidate{'' if n == 1 else 's'}"


# ---------------------------------------------------------------- what a limit costs


def alternatives(asked: Asked, chosen: int, candidate: Callable[[int], Candidate]) -> tuple[Alternative, ...]:
    """For each limit, the smallest change of it with which a candidate fits that is likely better."""
    found = []
    better = asked.kept & (asked.loss < asked.loss[chosen])
    if better.any():
        objective = asked.objective
        better &= is_likely(asked.means(objective.response).score(slice(None), chosen, is_more=objective.is_maximum))
    for limit in asked.limits:
        rows = np.flatnonzero(better & _keeps_others(asked, limit))
        if not len(rows):
            continue
        needed = asked.kept_value(limit)
        # The nearest value, and of those that need the same the best.
        gap = (needed - limit.value if limit.is_upper else limit.value - needed)[rows]
        row = int(rows[np.lexsort((asked.loss[rows], gap))[0]])
        found.append(_alternative(asked, limit, float(needed[row]), chosen, row, candidate(row)))
    return tuple(found)


def _keeps_others(asked: Asked, limit: Limit) -> Bools:
    others = [is_kept for other, is_kept in asked.keeps.items() if other != limit]
    keeps: Bools = np.logical_and.reduce([np.ones(len(asked.loss), dtype=bool), *others])
    return keeps


def _alternative(asked: Asked, limit: Limit, needed: float, chosen: int, row: int, candidate: Candidate) -> Alternative:
    values = asked.values[asked.objective.response]
    gain = float(values[row] - values[chosen]) * (1 if asked.objective.is_maximum else -1)
    chance = asked.means(asked.objective.response).probability(row, chosen, is_more=asked.objective.is_maximum)
    settings = str(candidate.configuration)
    gained = _show_gain(asked.objective, asked.words, values[chosen], values[row])
    gained += "" if chance > _SURE else f", with probability {show_probability(chance)}"
    text = f"{_show_change(limit, needed, asked.words.response(limit.response))} buys {settings}: {gained}"
    return Alternative(limit, needed, candidate, gain, text, chance)


def _show_change(limit: Limit, needed: float, response: Response) -> str:
    change = abs(needed - limit.value)
    if response.kind is Kind.TIME and limit.is_upper:
        return f"{show_seconds(math.ceil(10 * response.seconds(change)) / 10)} more"
    if response.kind is Kind.MONEY and limit.is_upper:
        return f"{show_money(change, response.unit)} more"
    return f"{change:.3g} {'more' if limit.is_upper else 'less'} {limit.response}"


def _show_gain(objective: Objective, words: Vocabulary, now: float, then: float) -> str:
    change = then - now
    if words.response(objective.response).kind is Kind.SHARE and now <= 1:
        return f"{100 * change:+.2g} points of {objective.response}"
    percent = f" ({show_percent(change / abs(now), sign=True)})" if now else ""
    return f"{objective.response} {_shown(words, objective, now)} -> {_shown(words, objective, then)}{percent}"


def _shown(words: Vocabulary, objective: Objective, value: float) -> str:
    return words.response(objective.response).shown(value)


# ---------------------------------------------------------------- nothing fits


def infeasible(asked: Asked, freed: Sequence[tuple[str, Candidate]]) -> InfeasibleError:
    """Says how near it gets, and what alone would make it possible."""
    hints = _relaxations(asked) + [_freed_text(asked, name, chosen) for name, chosen in freed]
    alone = f"relaxing a single limit is not enough: {_each_alone(asked)}"
    nearest = (*_relaxed(asked), *(chosen.configuration for _, chosen in freed))
    return InfeasibleError(_problem(asked), hint="; or ".join(hints) or alone, nearest=nearest)


def _problem(asked: Asked) -> str:
    question = asked.question
    wanted = " and ".join(show_limit(limit, asked.words) for limit in asked.limits)
    rows = np.flatnonzero(asked.kept)
    if not len(rows):
        assert asked.failure is not None  # nothing else takes candidates away that are allowed
        return (
            f"all {int(asked.allowed.sum())} candidates have a failure probability above "
            f"{show_level(question.max_failure)}, the lowest being "
            f"{show_probability(float(np.min(asked.failure[asked.allowed])))}"
        )
    best = _nearest_row(asked, rows)
    configuration = _settings(asked, best)
    it = "it" if len(asked.limits) == 1 else "all of these"
    chance = f"meets {it} with probability {show_probability(asked.probability(np.array([best]))[0])}"
    if asked.time is not None:
        fastest = (
            f"the fastest, {configuration}, is predicted at {_seconds(asked, float(asked.values[asked.time][best]))}"
        )
    else:
        fastest = f"the closest is {configuration}: it"
    return f"no candidate meets {wanted} with probability {show_level(question.confidence)}; {fastest} and {chance}"


def _nearest_row(asked: Asked, rows: Ints) -> int:
    if asked.time is not None:
        return int(rows[np.argmin(asked.values[asked.time][rows])])
    return int(rows[np.argmax(asked.probability(rows))])


def _settings(asked: Asked, row: int) -> str:
    return str(asked.view.candidates.configuration(row))


def _relaxations(asked: Asked) -> list[str]:
    """What each limit would have to be for one candidate to fit, all others kept; and the chance of failing."""
    found = [
        _relaxed_text(
            one.limit,
            asked.words.response(one.limit.response),
            one.needed,
            asked.question.confidence,
            str(one.configuration),
        )
        for one in _relaxed(asked)
    ]
    if asked.failure is not None:
        unsafe = np.logical_and.reduce([asked.allowed & ~asked.kept, *asked.keeps.values()])
        if unsafe.any():
            row = int(np.flatnonzero(unsafe)[np.argmin(asked.failure[unsafe])])
            chance = math.ceil(float(asked.failure[row]) * 100) / 100
            found.append(f"with `max_failure={chance:g}`, {_settings(asked, row)} qualifies")
    return found


def _relaxed(asked: Asked) -> list[Relaxed]:
    found = []
    for limit in asked.limits:
        rows = np.flatnonzero(asked.kept & _keeps_others(asked, limit))
        if len(rows):
            needed = asked.kept_value(limit)[rows]
            best = int(np.argmin(needed) if limit.is_upper else np.argmax(needed))
            configuration = asked.view.candidates.configuration(int(rows[best]))
            found.append(Relaxed(limit, float(needed[best]), configuration))
    return found


def _relaxed_text(limit: Limit, response: Response, needed: float, confidence: float, settings: str) -> str:
    kept = f"with probability {show_level(confidence)} is"
    if response.kind is Kind.TIME and limit.is_upper:
        return f"the shortest deadline met {kept} {_round_up(response.seconds(needed))} s, by {settings}"
    if response.kind is Kind.MONEY and limit.is_upper:
        least = (
            f"{show_money(needed, response.unit, up=True)} (`budget=` {show_money(needed, up=True).replace(',', '')})"
        )
        return f"the smallest budget met {kept} {least}, by {settings}"
    if limit.is_upper:
        return f"the lowest {limit.response} met {kept} {math.ceil(needed * 1e4) / 1e4:g}, by {settings}"
    return f"the highest {limit.response} reached {kept} {math.floor(needed * 1e4) / 1e4:g}, by {settings}"


def _freed_text(asked: Asked, name: str, chosen: Candidate) -> str:
    value = asked.question.fix[name]
    return f"without `fix={ {name: value} }`, {chosen.configuration} qualifies"


def _each_alone(asked: Asked) -> str:
    """What could be had if each limit were the only one."""
    parts = []
    for limit in asked.limits:
        rows = np.flatnonzero(asked.kept)
        if len(rows):
            needed = asked.kept_value(limit)[rows]
            best = float(np.min(needed) if limit.is_upper else np.max(needed))
            alone = show_limit(Limit(limit.response, best, limit.is_upper), asked.words)
            parts.append(f"{alone} is possible on its own")
    return "; ".join(parts) or "run more configurations"


def _round_up(seconds: float) -> str:
    """A deadline to write down: rounding it down would make it one that is not met."""
    return f"{math.ceil(seconds * 100) / 100:.2f}" if seconds < 10 else f"{math.ceil(seconds)}"
