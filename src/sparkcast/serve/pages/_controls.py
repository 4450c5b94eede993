"""What can be moved on the page about the next run, between which ends."""

from collections.abc import Sequence
from dataclasses import dataclass

from sparkcast.recommend.browsing import CandidateTable
from sparkcast.serve.pages import _words as words
from sparkcast.serve.pages._adviser import RunAdviser
from sparkcast.serve.pages._options import quantile
from sparkcast.serve.pages._query import RunQuery
from sparkcast.study import Level
from sparkcast.units import as_number, shortest_size

_MOST_STEPS = 100
_BEYOND = 2.0  # times the largest amount that was measured, as far as a slider goes


@dataclass(frozen=True, slots=True)
class SliderStep:
    value: float | str | None  # None: no limit
    text: str


@dataclass(frozen=True, slots=True)
class LimitSlider:
    name: str
    label: str
    steps: tuple[SliderStep, ...]
    at: int
    text: str  # as it can be typed
    note: str = ""
    reach: tuple[float, float] | None = None  # shares of the slider that were measured
    needs_server: bool = False


@dataclass(frozen=True, slots=True)
class HeldSetting:
    name: str
    label: str
    levels: tuple[str, ...]
    value: str


@dataclass(frozen=True, slots=True)
class ObjectiveChoice:
    value: str
    label: str


def starting_deadline(table: CandidateTable) -> float | None:
    """One that about half of the candidates keep in 95 of 100 runs: neither trivial nor impossible."""
    needed = sorted(quantile(one.time_s, 0.95) for one in table.rows)
    if not needed:
        return None
    middle = needed[len(needed) // 2]
    return next((step for step in _deadlines(table) if step >= middle), None)


def _deadlines(table: CandidateTable) -> list[float]:
    needed = sorted(quantile(one.time_s, 0.99) for one in table.rows)
    shortest = min(quantile(one.time_s, 0.05) for one in table.rows)
    middle = needed[len(needed) // 2]
    return words.nice_seconds(0.7 * shortest, max(min(needed[-1], 4 * middle), 1.5 * middle), _MOST_STEPS)


def sliders_of(adviser: RunAdviser, query: RunQuery, table: CandidateTable | None) -> tuple[LimitSlider, ...]:
    found = []
    if table is not None and table.rows:
        found.append(_deadline_slider(table, query))
        if all(one.money is not None for one in table.rows):
            found.append(_budget_slider(table, query))
    shares = [k / 100 for k in range(50, 100)]
    steps = [SliderStep(share, f"{100 * share:g} of 100 runs") for share in shares]
    several = len(found) > 1
    found.append(_slider("confidence", "Keep both in" if several else "Keep it in", steps, query.confidence))
    if (name := adviser.size) is not None:
        found.append(_size_slider(adviser, name, query))
    if (name := adviser.jobs) is not None:
        found.append(_jobs_slider(adviser, name, query))
    return tuple(found)


def _slider(name: str, label: str, steps: Sequence[SliderStep], value: float | None, **others: object) -> LimitSlider:
    numbers = [step.value for step in steps]
    if value is None:
        at = len(steps) - 1
    else:
        known = [(abs(number - value), k) for k, number in enumerate(numbers) if isinstance(number, float | int)]
        at = min(known, default=(0.0, 0))[1]
    return LimitSlider(name, label, tuple(steps), at, steps[at].text if steps else "", **others)  # type: ignore[arg-type]


def _deadline_slider(table: CandidateTable, query: RunQuery) -> LimitSlider:
    steps = [SliderStep(seconds, words.duration(seconds)) for seconds in _deadlines(table)]
    shortest = min(quantile(one.time_s, query.confidence) for one in table.rows)
    enough = next((step.text for step in steps if float(step.value or 0) >= shortest), words.duration(shortest))
    slider = _slider("within", "Finish within", [*steps, SliderStep(None, "any")], query.within_s)
    text = "any" if query.within_s is None else words.duration(query.within_s)
    return _with(slider, text=text, note=f"Shortest that works: {enough}")


def _budget_slider(table: CandidateTable, query: RunQuery) -> LimitSlider:
    response = table.vocabulary.response(table.vocabulary.money or "")
    money = [one.money for one in table.rows if one.money is not None]
    low, high = min(quantile(one, 0.05) for one in money), max(quantile(one, 0.99) for one in money)
    amounts = words.nice_amounts(0.7 * low, high, _MOST_STEPS)
    steps = [SliderStep(amount, words.value(response, amount)) for amount in amounts]
    slider = _slider("budget", "Spend at most", [*steps, SliderStep(None, "any")], query.budget)
    return _with(slider, text="any" if query.budget is None else words.value(response, query.budget))


def _size_slider(adviser: RunAdviser, name: str, query: RunQuery) -> LimitSlider:
    levels = [level for level in adviser.levels(name) if as_number(level) is not None]
    label = name.replace("_", " ")
    if not levels:
        return LimitSlider(f"hold.{name}", label[:1].upper() + label[1:], (), 0, str(query.hold.get(name, "")))
    low, high = as_number(levels[0]) or 0.0, as_number(levels[-1]) or 1.0
    is_size, is_share = isinstance(levels[0], str), high <= 1
    top = 1.0 if is_share else _BEYOND * high
    amounts = {*words.nice_amounts(low / 2, top, 60), *(as_number(level) or 0.0 for level in levels)}
    amounts = {amount for amount in amounts if amount > 0}
    given = query.hold.get(name)
    number = None if given is None else as_number(given)
    if number is not None:
        amounts.add(number)
    ordered = sorted(amount for amount in amounts if amount <= max(top, number or 0.0))
    steps = [*(SliderStep(amount, _amount_text(amount, is_size)) for amount in ordered), SliderStep(None, "any")]
    reach = (ordered.index(low) / len(ordered), ordered.index(high) / len(ordered))
    slider = _slider(f"hold.{name}", label[:1].upper() + label[1:], steps, number)
    note = f"Measured from {_amount_text(low, is_size)} to {_amount_text(high, is_size)}"
    return _with(slider, note=note, reach=reach, needs_server=True)


def _amount_text(amount: float, is_size: bool) -> str:
    if is_size:
        return shortest_size(round(amount / 2**20) * 2**20 or round(amount))
    return f"{amount:.10g}"


def _jobs_slider(adviser: RunAdviser, name: str, query: RunQuery) -> LimitSlider:
    most = int(max(as_number(level) or 1 for level in adviser.levels(name)))
    steps = [SliderStep(k, str(k)) for k in range(most)]
    label = "Jobs running now"
    return _with(_slider("running", label, steps, query.running or 0), needs_server=True)


def _with(slider: LimitSlider, **changes: object) -> LimitSlider:
    from dataclasses import replace

    return replace(slider, **changes)  # type: ignore[arg-type]


def held_of(adviser: RunAdviser, query: RunQuery) -> tuple[HeldSetting, ...]:
    """Settings that can be held at a level."""
    own = (adviser.size, adviser.jobs)
    names = [name for name in adviser.known.about.factors if name not in own]
    found = []
    for name in names:
        levels: list[Level] = list(adviser.levels(name))
        given = query.hold.get(name)
        texts = [str(level) for level in levels]
        if given is not None and str(given) not in texts:
            texts.append(str(given))
        found.append(HeldSetting(name, name.replace("_", " "), tuple(texts), "" if given is None else str(given)))
    return tuple(found)


def objectives_of(adviser: RunAdviser) -> tuple[ObjectiveChoice, ...]:
    """What can be best, the usual one first."""
    recommender = adviser.recommender(False)
    vocabulary = recommender.words
    usual = adviser.objective("")
    names = [name for name in (vocabulary.quality, vocabulary.money, vocabulary.time) if name is not None]
    resources = recommender.resources.name if recommender.resources else None
    found = [(f"+{name}" if name == vocabulary.quality else f"-{name}", name) for name in names]
    found += [(f"-{resources}", resources)] if resources and vocabulary.money is None else []
    choices = []
    for value, name in found:
        response = vocabulary.response(name)
        noun = words.noun(response)
        choices.append(ObjectiveChoice(value, f"{'highest' if value[0] == '+' else 'lowest'} {noun}"))
    first = f"+{usual[0]}" if usual[0] else f"-{usual[1]}"
    return tuple(sorted(choices, key=lambda choice: choice.value != first))
