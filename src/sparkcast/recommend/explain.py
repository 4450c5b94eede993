"""Why these settings, what the limits cost, and which one to relax when nothing fits."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from sparkcast.arrays import Bools, Ints
from sparkcast.errors import InfeasibleError
from sparkcast.recommend import Alternative, Candidate, Limit, Relaxed
from sparkcast.recommend.amounts import less_data
from sparkcast.recommend.comparison import is_likely
from sparkcast.recommend.evaluation import Asked
from sparkcast.recommend.question import Objective
from sparkcast.recommend.shown import noun, short_seconds, show_bound, show_value
from sparkcast.study import Configuration, Kind, Response, Vocabulary
from sparkcast.units import show_level, show_money, show_percent, show_probability

_SAME = 1.02  # a ratio that is not worth a word
_MOST_SEARCHED = 100  # candidates for which it is searched what a limit would have to be
_HOPELESS = 0.01  # a chance that is as good as none
_EVEN = 0.5  # nobody accepts a smaller chance of keeping a limit
_WORTH_A_RUN = 0.1  # the chance that a run turns out well
_SURE = 0.995  # what is more likely is shown without its probability


def why(asked: Asked, *, is_tie: bool, reasons: Sequence[str] = ()) -> str:
    """What sets the chosen settings apart from all others."""
    objective, response = asked.objective, asked.words.response(asked.objective.response)
    best = "highest" if objective.is_maximum else "shortest" if response.kind is Kind.TIME else "lowest"
    predicted = "predicted " if objective.response in asked.tables else ""
    meeting = _meeting(asked)
    if int(asked.meets.sum()) == 1:
        return ". ".join([f"the only {meeting.partition(' ')[2]}", *reasons])
    first = f"{best} {predicted}{noun(response)} of the {meeting}"
    if is_tie:
        first = f"ties for the {first}, and {_saved(asked)}"
    return ". ".join([first, *reasons])


def _meeting(asked: Asked) -> str:
    """The candidates that were to choose from."""
    n, kept = int(asked.wanted.sum()), int(asked.meets.sum())
    total = f" (of {n:,})" if kept < n else ""
    if not asked.limits:
        return f"{_candidates(kept)}{total}"
    kinds = [asked.words.response(limit.response).kind for limit in asked.limits if limit.is_upper]
    one = {Kind.TIME: "the deadline", Kind.MONEY: "the budget"}.get(kinds[0], "the limit") if kinds else "the limit"
    return f"{_candidates(kept)}{total} that meet{'s' * (kept == 1)} {one if len(asked.limits) == 1 else 'all limits'}"


def _saved(asked: Asked) -> str:
    if asked.spent is None:
        return "was run"
    response = asked.words.response(asked.spent)
    kinds = {Kind.TIME: "takes less time", Kind.MONEY: "costs less"}
    return kinds.get(response.kind, f"uses fewer {noun(response)}")


def spends(asked: Asked, row: int, than: int) -> str:
    """How much more a candidate spends than another: "2.1 times the cost"; "" where that is next to nothing."""
    if asked.spent is None:
        return ""
    means = asked.means(asked.spent)
    ratio = math.exp(means.center[row] - means.center[than])
    times = f"{ratio:.2g}" if ratio >= 1.2 else f"{ratio:.3g}"
    return f"{times} times the {noun(asked.words.response(asked.spent))}" if ratio > _SAME else ""


def excluded(asked: Asked) -> tuple[str, ...]:
    """How many candidates were not to choose from, and why."""
    counts = {
        "failed every time": asked.wanted & asked.view.broke,
        "likely to fail": asked.allowed & ~asked.kept & ~asked.far,
        "too far from what was measured": asked.wanted & ~asked.view.broke & ~asked.allowed,
        "combinations unlike any run": asked.far,
    }
    return tuple(f"{_candidates(int(rows.sum()))}: {reason}" for reason, rows in counts.items() if rows.any())


def _candidates(n: int) -> str:
    return f"{n:,} candidate{'' if n == 1 else 's'}"


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
        if asked.is_joint:  # takes a search, so only where it may be
            alone = np.abs(asked.kept_value(limit)[rows] - limit.value)
            rows = rows[np.argsort(alone, kind="stable")[:_MOST_SEARCHED]]
        needed = asked.needed(limit, rows)
        gap = needed - limit.value if limit.is_upper else limit.value - needed
        costs = gap > 0  # what fits as it is lost a tie, and no limit keeps it out; NaN where nothing would do
        rows, needed, gap = rows[costs], needed[costs], gap[costs]
        if not len(rows):
            continue
        # The nearest value, and of those that need the same the best.
        best = int(np.lexsort((asked.loss[rows], gap))[0])
        row = int(rows[best])
        found.append(_alternative(asked, limit, float(needed[best]), chosen, row, candidate(row)))
    return tuple(found)


def _keeps_others(asked: Asked, limit: Limit) -> Bools:
    others = [is_kept for other, is_kept in asked.keeps.items() if other != limit]
    keeps: Bools = np.logical_and.reduce([np.ones(len(asked.loss), dtype=bool), *others])
    return keeps


def _alternative(asked: Asked, limit: Limit, needed: float, chosen: int, row: int, candidate: Candidate) -> Alternative:
    values = asked.values[asked.objective.response]
    gain = float(values[row] - values[chosen]) * (1 if asked.objective.is_maximum else -1)
    chance = asked.means(asked.objective.response).probability(row, chosen, is_more=asked.objective.is_maximum)
    gained = _show_gain(asked.objective, asked.words, values[chosen], values[row])
    gained += "" if chance > _SURE else f", with {show_probability(chance)} probability"
    allows = f"{_show_needed(limit, needed, asked.words.response(limit.response))} allows"
    return Alternative(limit, needed, candidate, gain, f"{allows} {candidate.configuration}: {gained}", chance)


def _show_needed(limit: Limit, needed: float, response: Response) -> str:
    """A limit that is just met."""
    if response.kind is Kind.TIME and limit.is_upper:
        return f"a deadline of {short_seconds(_rounded_up(response.seconds(needed)))}"
    if response.kind is Kind.MONEY and limit.is_upper:
        return f"a budget of {show_money(needed, response.unit, up=True)}"
    rounded = math.ceil(needed * 1e4) / 1e4 if limit.is_upper else math.floor(needed * 1e4) / 1e4
    return f"a limit of {limit.response} {'<=' if limit.is_upper else '>='} {rounded:g}"


def _rounded_up(seconds: float) -> float:
    """A deadline to write down: rounding it down would make it one that is not met."""
    return math.ceil(seconds * 100) / 100 if seconds < 10 else math.ceil(seconds)


def _show_gain(objective: Objective, words: Vocabulary, now: float, then: float) -> str:
    response, change = words.response(objective.response), then - now
    if response.kind is Kind.SHARE and abs(now) <= 1:
        return f"{100 * change:+.2g} points of {noun(response)}"
    percent = f" ({show_percent(change / abs(now), sign=True)})" if now else ""
    return f"{noun(response)} {show_value(response, now)} -> {show_value(response, then)}{percent}"


# ---------------------------------------------------------------- nothing fits


def infeasible(asked: Asked, freed: Sequence[tuple[str, Candidate]], held: Configuration) -> InfeasibleError:
    """Says how near it gets, and what alone would make it possible. `held`: amounts of data that nobody fixed."""
    hints = _relaxations(asked) + [_freed_text(asked, name, chosen) for name, chosen in freed] + _untested_text(asked)
    hints += _likeliest_text(asked)
    alone = f"relaxing a single limit is not enough: {_each_alone(asked)}"
    nearest = (*_relaxed(asked), *(chosen.configuration for _, chosen in freed))
    is_too_much = held and any(limit.is_upper for limit in asked.limits)
    hints = [*(hints or [alone]), *([less_data(held)] if is_too_much else [])]
    return InfeasibleError(_problem(asked), hint="; or ".join(hints), nearest=nearest)


def _untested_text(asked: Asked) -> list[str]:
    """The best of those that are too far from all runs, where its prediction keeps to all limits."""
    rows = np.flatnonzero(np.logical_and.reduce([asked.far, *asked.keeps.values()]))
    if not len(rows):
        return []
    best = rows[np.argmin(asked.loss[rows])]
    return [f"run {_settings(asked, int(best))}, which is predicted to qualify but is unlike any run"]


def _problem(asked: Asked) -> str:
    question = asked.question
    rows = np.flatnonzero(asked.kept)
    if not len(rows):
        assert asked.failure is not None  # nothing else takes candidates away that are allowed
        return (
            f"all {int(asked.allowed.sum())} candidates have a failure probability above "
            f"{show_level(question.max_failure)}, the lowest being "
            f"{show_probability(float(np.min(asked.failure[asked.allowed])))}"
        )
    best = _nearest_row(asked, rows)
    wanted = " and ".join(f"the {show_bound(limit, asked.words)}" for limit in asked.limits)
    it = "it" if len(asked.limits) == 1 else "all of these"
    time = "" if asked.time is None else f" (predicted {_shown(asked, asked.time, best)})"
    chance = f"{_settings(asked, best)}{time} meets {it} with {_chance(asked, best)} probability"
    return (
        f"no candidate meets {wanted} with {show_level(question.confidence)} probability{_with_fixed(asked)}\n"
        f"  closest: {chance}"
    )


def _with_fixed(asked: Asked) -> str:
    return f" at {Configuration(asked.question.fix)}" if asked.question.fix else ""


def _shown(asked: Asked, response: str, row: int) -> str:
    return show_value(asked.words.response(response), float(asked.values[response][row]))


def _chance(asked: Asked, row: int) -> str:
    return show_probability(float(asked.probability(np.array([row]))[0]))


def _nearest_row(asked: Asked, rows: Ints) -> int:
    """The likeliest; of those that all but surely miss, the fastest."""
    chances = np.maximum(asked.probability(rows), _HOPELESS)
    likeliest = rows[chances >= chances.max()]
    if asked.time is not None:
        return int(likeliest[np.argmin(asked.values[asked.time][likeliest])])
    return int(likeliest[0])


def _likeliest_text(asked: Asked) -> list[str]:
    """Which lower confidence is enough, and which run may settle it: of settings that were never run."""
    rows, n_runs = np.flatnonzero(asked.kept), asked.view.n_runs
    if not len(rows):
        return []
    assert n_runs is not None
    hints = []
    best = _nearest_row(asked, rows)
    enough = math.floor(100 * float(asked.probability(np.array([best]))[0])) / 100
    if _EVEN <= enough < asked.question.confidence:
        hints.append(
            f"accept {show_level(enough)} (`confidence={enough:g}`), with which {_settings(asked, best)} qualifies"
        )
    never = rows[n_runs[rows] == 0]
    chances = asked.probability(never)
    if len(never) and chances.max() >= _WORTH_A_RUN:
        row = int(never[np.argmax(chances)])
        hints.append(f"run {_settings(asked, row)} to find out: it was never run, and may qualify")
    return hints


def _settings(asked: Asked, row: int) -> str:
    return str(asked.view.candidates.configuration(row))


def _relaxations(asked: Asked) -> list[str]:
    """What each limit would have to be for one candidate to fit, all others kept; and the chance of failing."""
    found = [
        relaxed_text(
            one.limit,
            asked.words.response(one.limit.response),
            one.needed,
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
            needed = asked.needed(limit, rows)
            if np.isnan(needed).all():
                continue
            best = int(np.nanargmin(needed) if limit.is_upper else np.nanargmax(needed))
            configuration = asked.view.candidates.configuration(int(rows[best]))
            found.append(Relaxed(limit, float(needed[best]), configuration))
    return found


def relaxed_text(limit: Limit, response: Response, needed: float, settings: str) -> str:
    if response.kind is Kind.TIME and limit.is_upper:
        seconds = _rounded_up(response.seconds(needed))
        return f"relax the deadline to {short_seconds(seconds)} (`within_s={seconds:g}`), which {settings} meets"
    if response.kind is Kind.MONEY and limit.is_upper:
        amount = show_money(needed, up=True).replace(",", "")
        shown = show_money(needed, response.unit, up=True)
        return f"raise the budget to {shown} (`budget={amount}`), which {settings} meets"
    rounded = math.ceil(needed * 1e4) / 1e4 if limit.is_upper else math.floor(needed * 1e4) / 1e4
    bound = f"{limit.response} {'<=' if limit.is_upper else '>='} {rounded:g}"
    return f"relax the limit to {bound} (`limits=[{bound!r}]`), which {settings} meets"


def _freed_text(asked: Asked, name: str, chosen: Candidate) -> str:
    value = asked.question.fix[name]
    return f"remove `fix={ {name: value} }`: {chosen.configuration} qualifies"


def _each_alone(asked: Asked) -> str:
    """What could be had if each limit were the only one."""
    parts = []
    for limit in asked.limits:
        rows = np.flatnonzero(asked.kept)
        if len(rows):
            needed = asked.kept_value(limit)[rows]
            best = float(np.min(needed) if limit.is_upper else np.max(needed))
            parts.append(f"{_show_needed(limit, best, asked.words.response(limit.response))} is possible on its own")
    return "; ".join(parts) or "run more configurations"
