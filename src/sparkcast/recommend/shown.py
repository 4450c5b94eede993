"""Numbers of a recommendation as people read them: with their unit, in at most three or four digits."""

import re

from sparkcast.recommend import Limit, Prediction
from sparkcast.study import Kind, Response, Vocabulary
from sparkcast.study.names import COST
from sparkcast.units import show_level, show_money, show_percent, show_seconds

_CORRECT = "share correct"  # what people say in percent; an AUC they do not


def show_value(response: Response, value: float) -> str:
    """A value with its unit.

    >>> show_value(Response("minutes", kind=Kind.TIME, unit="min"), 1.5)
    '1 min 30 s'
    >>> show_value(Response("accuracy", kind=Kind.SHARE, unit="share correct"), 0.8204)
    '82%'
    >>> cost = Response("cost", kind=Kind.MONEY, unit="USD")
    >>> show_value(Response("auc", kind=Kind.SHARE), 0.95372), show_value(cost, 2e-4)
    ('0.9537', '0.02¢')
    """
    if response.kind is Kind.TIME:
        return show_seconds(response.seconds(value))
    if response.kind is Kind.MONEY:
        return show_money(value, response.unit)
    if response.kind is Kind.SHARE:
        return show_percent(value, 3) if response.unit == _CORRECT and abs(value) <= 1 else f"{value:.4g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def show_range(response: Response, low: float, high: float) -> str:
    """Two values, their unit once where it is the same."""
    first, last = show_value(response, low), show_value(response, high)
    if first.endswith(" s") and last.endswith(" s") and "min" not in first + last:
        first = first.removesuffix(" s")
    return f"{first} to {last}"


def show_prediction(response: Response, prediction: Prediction) -> str:
    """The median, and where the runs fall."""
    verb = {Kind.TIME: "take", Kind.MONEY: COST, Kind.SHARE: "reach"}.get(response.kind, "have")
    runs = f"{show_level(prediction.level)} of runs {verb} {show_range(response, prediction.low, prediction.high)}"
    return f"{show_value(response, prediction.value)} median{response.span and f' {response.span}'}; {runs}"


def show_bound(limit: Limit, words: Vocabulary) -> str:
    """A limit for people.

    >>> show_bound(Limit("minutes", 5.0), Vocabulary(responses=(Response("minutes", kind=Kind.TIME, unit="min"),)))
    '5 min deadline'
    """
    response = words.response(limit.response)
    if response.kind is Kind.TIME and limit.is_upper:
        return f"{short_seconds(response.seconds(limit.value))} deadline{response.span and f' {response.span}'}"
    if response.kind is Kind.MONEY and limit.is_upper:
        return f"{show_value(response, limit.value)} budget"
    return f"limit {limit.response} {'<=' if limit.is_upper else '>='} {limit.value:.4g}"


def short_seconds(seconds: float) -> str:
    """A time that somebody gave.

    >>> short_seconds(7), short_seconds(120), short_seconds(7200), short_seconds(4.17), short_seconds(93)
    ('7 s', '2 min', '2 h', '4.17 s', '1 min 33 s')
    """
    return re.sub(r"\.0+(?= s)| 00 (s|min)$", "", show_seconds(seconds))


def noun(response: Response) -> str:
    """What a response is called in a sentence.

    >>> noun(Response("total_s", kind=Kind.TIME)), noun(Response("core_seconds")), noun(Response("test_auc"))
    ('time', 'core-seconds', 'test auc')
    """
    if response.kind in (Kind.TIME, Kind.MONEY):
        return "time" if response.kind is Kind.TIME else COST
    return response.name.replace("_", "-" if response.name.endswith(("_seconds", "_hours")) else " ")
