"""An ANOVA table in sentences that a manager can read."""

from collections.abc import Sequence

from sparkcast.analyse import AnovaRow, LevelMean

SIGNIFICANCE = 0.05
_MAX_EFFECTS = 3


def summarise(
    response: str, rows: Sequence[AnovaRow], means: Sequence[LevelMean], r_squared: float, n: int
) -> tuple[str, ...]:
    """At most five sentences: the largest effects, what shows no effect, and how much is explained in all."""
    terms = sorted((row for row in rows if row.term != "Residual"), key=lambda row: row.percent, reverse=True)
    # Without a test (an exact fit) every share above rounding error is an effect.
    shown = [row for row in terms if (row.p < SIGNIFICANCE if row.p is not None else row.percent > 1e-6)]
    hidden = [row for row in terms if row not in shown]
    sentences = [_effect(response, row, means) for row in shown[:_MAX_EFFECTS]]
    if hidden:
        names = ", ".join(row.term for row in hidden)
        smallest = min((row.p for row in hidden if row.p is not None), default=None)
        test = f" ({show_p(smallest, 'p >= ')})" if smallest is not None else ""
        sentences.append(f"No effect on {response} can be told from noise in these {n} runs for {names}{test}.")
    sentences.append(f"In all, the model explains {show_percent(100 * r_squared)} of the variation of {response}.")
    return tuple(sentences)


def _effect(response: str, row: AnovaRow, means: Sequence[LevelMean]) -> str:
    test = f" ({show_p(row.p)})" if row.p is not None else ""
    share = f"explains {show_percent(row.percent)} of the variation of {response}{test}"
    if ":" in row.term and not any(mean.factor == row.term for mean in means):
        names = row.term.replace(":", " and ")
        return f"The interplay of {names} {share}: the effect of one depends on the other."
    own = sorted((mean for mean in means if mean.factor == row.term), key=lambda mean: mean.mean)
    low, high = own[0], own[-1]
    return f"{row.term} {share}: on average {low.mean:.4g} at {low.level}, {high.mean:.4g} at {high.level}."


def show_p(p: float, equals: str = "p = ") -> str:
    """A p value for people.

    >>> show_p(0.00002), show_p(0.0312)
    ('p < 0.001', 'p = 0.031')
    """
    return "p < 0.001" if p < 0.001 else f"{equals}{p:.2g}"


def show_percent(percent: float) -> str:
    """A share for people: small ones keep a digit.

    >>> show_percent(61.2), show_percent(0.34)
    ('61 %', '0.3 %')
    """
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.1f} %"
