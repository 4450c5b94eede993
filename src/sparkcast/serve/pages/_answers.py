"""The answer to what to run, or why there is none and what comes nearest."""

from dataclasses import dataclass, field, replace

from sparkcast.errors import InfeasibleError, NotEnoughDataError, SparkcastError
from sparkcast.recommend import Candidate, Recommendation, Relaxed
from sparkcast.recommend.browsing import Browsed, CandidateTable
from sparkcast.recommend.formats.spark_submit import shell_parts
from sparkcast.serve.pages import _words as words
from sparkcast.serve.pages._adviser import RunAdviser
from sparkcast.serve.pages._options import chance_below, ends, expected, quantile
from sparkcast.serve.pages._query import RunQuery
from sparkcast.study import Configuration, Kind, Response
from sparkcast.study.names import COST
from sparkcast.wire.failures import failure_of

_WORTH_A_RUN = 0.1
_LONG_TITLE = 140  # characters
_ROUND_UP = 1.0000001


@dataclass(frozen=True, slots=True)
class LimitVerdict:
    mark: str  # y, x, or nothing
    big: str
    text: str


@dataclass(frozen=True, slots=True)
class AllowedChange:
    """A limit to relax, and the address that asks so."""

    label: str
    href: str


@dataclass(frozen=True, slots=True)
class RunAnswer:
    kind: str  # answer, refused, unknown
    title: str
    why: str
    configuration: Configuration | None = None
    verdicts: tuple[LimitVerdict, ...] = ()
    changes: tuple[tuple[str, AllowedChange | None], ...] = ()  # what a little more would buy
    notes: tuple[str, ...] = ()
    is_far: bool = False
    line: tuple[str, ...] = ()
    line_notes: tuple[str, ...] = ()
    short: str = ""
    found: Recommendation | None = field(default=None, repr=False)


def answer_of(adviser: RunAdviser, query: RunQuery, table: CandidateTable | None) -> RunAnswer:
    try:
        found = adviser.recommend(query)
    except InfeasibleError as error:
        return _refused(error, query, table)
    except NotEnoughDataError as error:
        return _unknown(error, query)
    except SparkcastError as error:
        told = failure_of(error)
        return RunAnswer("unknown", "This cannot be answered.", f"{_sentence(told.problem)} {_sentence(told.hint)}")
    return _found(found, query, table)


def _found(found: Recommendation, query: RunQuery, table: CandidateTable | None) -> RunAnswer:
    chosen = found.chosen.configuration
    one = row_of(table, chosen)
    named = words.settings(chosen, found.vocabulary)
    expect = _expected(found) if one is None or table is None else expected(one, table)
    changes = [(_alternative(found, at), _allowed(found, at, query)) for at in range(len(found.alternatives[:1]))]
    return RunAnswer(
        "answer",
        f"Run it with {named}.",
        f"Expect {expect}. {_why(found.why)}",
        chosen,
        tuple(_verdicts(found, query, one, table)),
        tuple(changes),
        _notes(found),
        is_far=query.is_far_allowed,
        line=tuple(shell_parts(found.launch)),
        line_notes=found.launch.notes,
        short=named,
        found=found,
    )


def row_of(table: CandidateTable | None, configuration: Configuration | None) -> Browsed | None:
    return next((one for one in (table.rows if table else ()) if one.configuration == configuration), None)


def _why(why: str) -> str:
    """A reason as a sentence about the answer."""
    first = why[:1].lower() + why[1:]
    if first.startswith("ties"):
        return f"It {first}."
    return f"It is {first}." if first.startswith("the only") else f"It has the {first}."


def _expected(found: Recommendation) -> str:
    vocabulary = found.vocabulary
    parts = [words.value(vocabulary.response(p.response), p.value) for p in found.chosen.predictions]
    return ", ".join(parts)


def _verdicts(
    found: Recommendation, query: RunQuery, one: Browsed | None, table: CandidateTable | None
) -> list[LimitVerdict]:
    shown = []
    chances = {limit.response: chance for limit, chance in zip(found.limits, found.chances, strict=True)}
    limits = {limit.response: limit for limit in found.limits}
    for prediction in found.chosen.predictions:
        response = found.vocabulary.response(prediction.response)
        low, high, level = prediction.low, prediction.high, prediction.level
        if one is not None and table is not None:
            low, high, level = _ninety(response, one, table) or (low, high, level)
        share = f"{100 * level:.3g} of 100"
        spread = words.value_range(response, low, high)
        verb = {Kind.TIME: "take", Kind.MONEY: COST}.get(response.kind, "reach")
        falls = f"{share} {verb} {spread}"
        if response.name in chances:
            bound = words.value(response, limits[response.name].value)
            text = f"finish within {bound}" if response.kind is Kind.TIME else f"cost at most {bound}"
            shown.append(LimitVerdict("y", words.in_hundred(chances[response.name]), f"{text}; {falls}"))
        else:
            name = words.noun(response)
            shown.append(LimitVerdict("", words.value(response, prediction.value), f"{name}; {falls}"))
    return shown


def _ninety(response: Response, one: Browsed, table: CandidateTable) -> tuple[float, float, float] | None:
    """90 % of the runs, whatever the wanted confidence is."""
    if response.kind is Kind.TIME and response.name == table.vocabulary.time:
        unit = response.seconds(1.0)
        low, high = ends(one.time_s)
        return low / unit, high / unit, 0.9
    if response.kind is Kind.MONEY and one.money is not None:
        return (*ends(one.money), 0.9)
    if response.name == table.vocabulary.quality and one.quality is not None:
        return one.quality[1], one.quality[2], 0.9
    return None


def _alternative(found: Recommendation, at: int) -> str:
    """What a limit costs: "$0.40 more would allow 24 executors: 0.9 points more accuracy"."""
    one = found.alternatives[at]
    response = found.vocabulary.response(one.limit.response)
    named = words.settings(one.candidate.configuration, found.vocabulary)
    if response.kind in (Kind.TIME, Kind.MONEY) and one.limit.is_upper:
        more = words.value(response, max(one.needed - one.limit.value, 0.0) * _ROUND_UP)
        return f"{more} more would allow {named}: {one.text.rpartition(': ')[2]}."
    return f"{_sentence(one.text)}"


def _allowed(found: Recommendation, at: int, query: RunQuery) -> AllowedChange | None:
    one = found.alternatives[at]
    response = found.vocabulary.response(one.limit.response)
    return _change(response, one.needed, query)


def _change(response: Response, needed: float, query: RunQuery) -> AllowedChange | None:
    if response.kind is Kind.TIME:
        seconds = _up(response.seconds(needed))
        return AllowedChange(f"Allow {words.duration(seconds)}", query.address(within_s=seconds, is_limited=True))
    if response.kind is Kind.MONEY:
        amount = _up(needed)
        return AllowedChange(f"Allow {words.value(response, amount)}", query.address(budget=amount))
    return None


def _up(value: float) -> float:
    """Three digits, never less: a limit must stay one that is kept."""
    from math import ceil, floor, log10

    unit = 10.0 ** (floor(log10(value)) - 2) if value > 0 else 1.0
    return float(f"{ceil(value / unit - 1e-9) * unit:.10g}")


def _notes(found: Recommendation) -> tuple[str, ...]:
    notes = [_sentence(note) for note in found.notes]
    chosen = found.chosen
    if chosen.failure_probability is not None and chosen.failure_probability >= 0.01:
        notes.append(f"{words.in_hundred(chosen.failure_probability)} such runs fail.")
    if found.tie is not None:
        more = f", {found.tie_spends}" if found.tie_spends else ""
        notes.append(f"As good within the noise: {_named(found, found.tie)}{more}.")
    if found.untested is not None:
        named = _named(found, found.untested)
        notes.append(f"Perhaps better, but never run: {named}. One run of it would tell.")
    if found.staleness is not None and found.staleness.verdict == "retrain":
        notes.append("The model may be out of date: " + "; ".join(found.staleness.reasons) + ".")
    if found.held:
        notes.append(f"For {words.settings(found.held, found.vocabulary)}, the most that was measured.")
    return tuple(notes)


def _named(found: Recommendation, candidate: Candidate) -> str:
    return words.settings(candidate.configuration, found.vocabulary)


# ------------------------------------------------------------ no answer


def limits_text(query: RunQuery, table: CandidateTable | None) -> str:
    parts = [] if query.within_s is None else [words.duration(query.within_s)]
    if query.budget is not None and table is not None:
        parts.append(words.value(table.vocabulary.response(table.vocabulary.money or ""), query.budget))
    return " and ".join(parts)


def _refused(error: InfeasibleError, query: RunQuery, table: CandidateTable | None) -> RunAnswer:
    told = failure_of(error)
    limits = limits_text(query, table)
    if table is None or not table.rows or not limits:
        return RunAnswer("refused", "Nothing meets these limits.", f"{_sentence(told.problem)} {_sentence(told.hint)}")
    title = f"Nothing keeps {limits} in {100 * query.confidence:.3g} of 100 runs."
    near, change = _nearest(error, query, table)
    named = words.settings(near.configuration, table.vocabulary)
    needs = change.label.removeprefix("Allow ") if change else ""
    why = f"The nearest that works needs {needs}: {named}." if change else f"The nearest is {named}."
    notes = _deciding_run(query, table)
    asked = replace(query, confidence=0.95)
    return RunAnswer(
        "refused",
        title,
        why,
        near.configuration,
        tuple(_missed_verdicts(near, asked, query, table)),
        (("", change),) if change else (),
        notes,
        short=named,
    )


def _nearest(error: InfeasibleError, query: RunQuery, table: CandidateTable) -> tuple[Browsed, AllowedChange | None]:
    """With one limit relaxed; where that is not enough, with both."""
    relaxed = [one for one in error.nearest if isinstance(one, Relaxed)]
    found = []
    for one in relaxed:
        row = row_of(table, one.configuration)
        response = table.vocabulary.response(one.limit.response)
        if row is not None and (change := _change(response, one.needed, query)) is not None:
            found.append((one.needed / one.limit.value, row, change))
    if found:
        _, row, change = min(found, key=lambda item: item[0])
        return row, change
    share = 1 - (1 - query.confidence) / 2  # of each, so that both are kept in enough runs

    def needed(one: Browsed) -> tuple[float, float]:
        time = quantile(one.time_s, share)
        money = 0.0 if one.money is None else quantile(one.money, share)
        within = 0.0 if query.within_s is None else max(time, query.within_s)
        return within, 0.0 if query.budget is None else max(money, query.budget)

    def gap(one: Browsed) -> float:
        within, budget = needed(one)
        return within / (query.within_s or 1.0) + budget / (query.budget or 1.0)

    nearest = min(table.rows, key=gap)
    within, budget = needed(nearest)
    labels: list[str] = []
    changes: dict[str, object] = {}
    if query.within_s is not None and within > query.within_s:
        changes |= {"within_s": _up(within), "is_limited": True}
        labels.append(words.duration(_up(within)))
    if query.budget is not None and budget > query.budget:
        changes |= {"budget": _up(budget)}
        labels.append(words.value(table.vocabulary.response(table.vocabulary.money or ""), _up(budget)))
    if not labels:
        return nearest, None
    return nearest, AllowedChange("Allow " + " and ".join(labels), query.address(**changes))


def _missed_verdicts(one: Browsed, asked: RunQuery, query: RunQuery, table: CandidateTable) -> list[LimitVerdict]:
    shown = []
    if query.within_s is not None:
        chance = chance_below(one.time_s, query.within_s)
        mark = "y" if chance >= query.confidence else "x"
        takes = words.duration_range(*ends(one.time_s))
        text = f"would finish within {words.duration(query.within_s)}; 90 of 100 take {takes}"
        shown.append(LimitVerdict(mark, words.in_hundred(chance), text))
    if query.budget is not None and one.money is not None:
        response = table.vocabulary.response(table.vocabulary.money or "")
        chance = chance_below(one.money, query.budget)
        mark = "y" if chance >= query.confidence else "x"
        text = f"would cost at most {words.value(response, query.budget)}; 90 of 100 cost "
        shown.append(LimitVerdict(mark, words.in_hundred(chance), text + words.value_range(response, *ends(one.money))))
    return shown


def _deciding_run(query: RunQuery, table: CandidateTable) -> tuple[str, ...]:
    """The run that may settle it: of settings that were never run."""

    def chance(one: Browsed) -> float:
        time = 1.0 if query.within_s is None else chance_below(one.time_s, query.within_s)
        return time if query.budget is None or one.money is None else min(time, chance_below(one.money, query.budget))

    never = [one for one in table.rows if not one.runs]
    best = max(never, key=chance, default=None)
    if best is None or chance(best) < _WORTH_A_RUN:
        return ()
    named = words.settings(best.configuration, table.vocabulary)
    share = words.in_hundred(chance(best))
    return (f"A run with {named} would tell: it was never made, and {share} may keep the limits.",)


def _unknown(error: NotEnoughDataError, query: RunQuery) -> RunAnswer:
    told = failure_of(error)
    hint, _, more = told.hint.partition("; `extrapolate")
    hint = hint.replace("the run that would help most", "This run would tell", 1)
    far = AllowedChange("Answer anyway, with wide intervals", query.address(is_far_allowed=True)) if more else None
    title, why = f"Not known: {told.problem}.", ""
    if len(title) > _LONG_TITLE:
        title, why = "Not known.", _sentence(told.problem)
    return RunAnswer("unknown", title, why, changes=((_sentence(hint), far),))


def _sentence(text: str) -> str:
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?", ":")) or not text else ".")
