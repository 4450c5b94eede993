"""What a search found as labeled lines: the settings to use first, then what they gave and what it took."""

from sparkcast.recommend.shown import noun, short_seconds, show_value
from sparkcast.search.hours import AtOtherHours
from sparkcast.search.loop import Tried, TuneResult
from sparkcast.search.payoff import Payoff
from sparkcast.units import show_money, show_percent, show_probability, show_seconds

Line = tuple[str, str]  # label and text


def best_lines(result: TuneResult, best: Tried) -> list[Line]:
    """Why the best is, and what it gave."""
    words = result.vocabulary
    direction, name = result.objective.split()
    response, time = words.response(name), words.response(words.time or "")
    n = len({run.configuration for run in result.history if run.value is not None})
    extreme = {"minimize": "lowest", "maximize": "highest"}[direction]
    span = f" {time.span}" if time.span else ""
    runs = "1 run" if best.replicates == 1 else f"mean of {best.replicates} runs"
    value = f"{show_value(response, best.value)}{span if name == words.time else ''} ({runs})"
    lines = [
        ("Why", f"{extreme} {noun(response)} of {n} configuration{'' if n == 1 else 's'} run"),
        (noun(response)[:1].upper() + noun(response)[1:], value + _against_first(result, best)),
    ]
    if name != words.time and best.time_s is not None:
        lines.append(("Time", f"{show_seconds(best.time_s)}{span}"))
    if result.within_s is not None and best.in_time is not None:
        chance = show_probability(best.in_time)
        lines.append(("Deadline", f"{short_seconds(result.within_s)}, met by the next run with {chance} probability"))
    if result.chance_best is not None:
        lines.append(("Certainty", f"the best of those run with {show_probability(result.chance_best)} probability"))
    if result.at_other_hours is not None:
        lines.append(("Confirmed", _at_other_hours(result, result.at_other_hours)))
    if result.payoff is not None:
        lines.append(("Pays", _pays(result.payoff)))
    return lines


def _at_other_hours(result: TuneResult, found: AtOtherHours) -> str:
    if not found.is_confirmed:
        return "no: all its runs are of one block of hours; continue with `resume=True`"
    response = result.vocabulary.response(result.objective.split()[1])
    shown = ", ".join(show_value(response, value) for value in found.best)
    next_best = ", ".join(show_value(response, value) for value in found.runner_up)
    beside = f"; the runner-up {next_best}" if next_best else ""
    return f"in {len(found.best)} blocks at least {show_seconds(found.gap_s)} apart: {shown}{beside}"


def _pays(payoff: Payoff) -> str:
    if payoff.in_answers == 0 and payoff.saved is not None and payoff.saved > 0:  # nothing was run, so nothing is owed
        return f"at once: {show_percent(payoff.saved)} less each than {payoff.against}, and nothing had to be run"
    cost = f"the search took as much as {payoff.in_answers:.3g} runs of this answer"
    against = f"instead of {payoff.against}"
    if payoff.saved is None:
        return f"{cost}; it is not known what it saves {against}"
    if payoff.pays_from is None:
        return f"{cost} and saves nothing {against}"
    text = f"from {payoff.pays_from} runs of the job on, {against} ({show_percent(payoff.saved)} less each); {cost}"
    if payoff.pays is None:
        return text
    return f"{text}; {payoff.runs_to_come} runs are to come: it {'pays' if payoff.pays else 'does not pay'}"


def _against_first(result: TuneResult, best: Tried) -> str:
    first = result.first
    if first is None or first.configuration == best.configuration or not first.value:
        return ""
    change = best.value / first.value - 1
    response = result.vocabulary.response(result.objective.split()[1])
    more = "more" if change > 0 else "less"
    began = f"{show_value(response, first.value)} at {first.configuration}"
    return f"; {show_percent(abs(change))} {more} than the first run, {began}"


def search_lines(result: TuneResult) -> list[Line]:
    """What the search took, why it ended, and what to know of its answer."""
    parts = [f"{result.new} new", f"{result.already_measured} already measured", f"{result.failed} failed"]
    if result.impossible:
        parts.append(f"{result.impossible} rejected without running")
    money = "" if result.spent_cost is None else f" and cost {show_money(result.spent_cost, result.currency)}"
    return [
        ("Runs", f"{result.runs} ({', '.join(parts)}); they took {show_seconds(result.spent_s)}{money}"),
        ("Stopped", result.stopped_because),
        *(("Warning", warning) for warning in result.warnings),
    ]
