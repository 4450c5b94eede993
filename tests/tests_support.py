"""What tests share."""

import subprocess
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sparkcast.learned.knowledge import FromRuns, Knowledge
from sparkcast.recommend import Recommendation
from sparkcast.recommend.choose import Recommender
from sparkcast.recommend.question import Question
from sparkcast.report.figures import Figure
from sparkcast.study import Configuration, Dataset, Listed, Price, Space
from sparkcast.study.configuration import Levels

Sparkcast = Callable[..., "subprocess.CompletedProcess[str]"]


class Answer(NamedTuple):
    """What the command line gave."""

    code: int
    out: str
    err: str


Call = Callable[..., Answer]


def assert_is_picture(figure: Figure) -> None:
    """Valid Vega-Lite that renders, and narrow enough for a phone where it must be."""
    import altair

    for spec in (figure.spec, figure.narrow_spec):
        altair.Root.validate(spec)
    assert figure.png(scale=1).startswith(b"\x89PNG")
    width = int(figure.svg(narrow=True).split('width="')[1].split('"')[0])
    assert width <= 345, "wider than a phone"


def recommender(
    data: Dataset | Knowledge,
    candidates: Space | Listed | Sequence[Levels],
    *,
    price: Price | None = None,
    model: str = "auto",
    extrapolate: bool = False,
) -> Recommender:
    """What answers questions about candidates, which may be plain dictionaries."""
    known = FromRuns(data, model) if isinstance(data, Dataset) else data
    pool = candidates if isinstance(candidates, Space | Listed) else Listed(tuple(map(Configuration, candidates)))
    return Recommender(known, pool, price=price, extrapolate=extrapolate)


def ask(
    answering: Recommender,
    *,
    within_s: float | None = None,
    budget: float | None = None,
    min_accuracy: float | None = None,
    limits: Sequence[str] = (),
    **question: Any,
) -> Recommendation:
    """One question, with limits as people give them."""
    given = answering.limits(within_s=within_s, most_money=budget, least=min_accuracy, texts=limits)
    return answering.ask(Question(limits=given, **question))


def recommend(
    data: Dataset | Knowledge,
    candidates: Space | Listed | Sequence[Levels],
    *,
    price: Price | None = None,
    model: str = "auto",
    extrapolate: bool = False,
    **question: Any,
) -> Recommendation:
    """One question to runs or to a model."""
    return ask(recommender(data, candidates, price=price, model=model, extrapolate=extrapolate), **question)
