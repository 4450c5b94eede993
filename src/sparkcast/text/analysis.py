"""Which settings matter, in words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sparkcast.text._page import Page

if TYPE_CHECKING:
    from sparkcast.analysis import Analysis, AnovaRow, Effect

_MOST_WARNINGS = 2  # without `details`


def write(page: Page, result: "Analysis") -> None:
    details = page.details
    if details:
        _show_all(page, result)
    _show_warnings(page, result.warnings, _MOST_WARNINGS if not details else len(result.warnings))
    page.tell(f"In short: {result.meaning.described}" if result.meaning.span else "In short")
    for sentence in result.summary:
        page.tell(f"  {sentence}")
    if not details:
        _show_doubts(page, result)
        page.tell("`.text(details=True)` shows the ANOVA table, all checks and means")


def _show_warnings(page: Page, warnings: Sequence[str], most: int) -> None:
    for warning in warnings[:most]:
        page.say(f"warning: {warning}")
    if len(warnings) > most:
        page.say(f"{len(warnings) - most} more warning{'s' if len(warnings) - most > 1 else ''}: `.text(details=True)`")


def _show_doubts(page: Page, result: "Analysis") -> None:
    """What to do about what does not hold, which the summary names; and the scale, where it is another."""
    from sparkcast.analysis import CheckResult

    doubts = [check for check in result.checks if check.verdict in (CheckResult.VIOLATED, CheckResult.DOUBTFUL)]
    for advice in dict.fromkeys(check.advice for check in reversed(doubts) if check.advice):
        page.tell(f"advice: {advice}")
    if result.untransformed is not None:
        page.tell(f"scale: {result.formula.partition(' ~ ')[0]}, as Box-Cox suggests")
    elif result.proposal is not None:
        page.tell(f"scale: {result.proposal.sentence}")


def _show_all(page: Page, result: "Analysis") -> None:
    if result.untransformed is not None:
        _show_untransformed(page, result.untransformed, result)
    _show_anova(page, result)
    _show_details(page, result)
    page.tell("Can it be trusted?")
    for check in result.checks:
        advice = f" -> {check.advice}" if check.advice else ""
        page.tell(f"  {check.verdict.value:<8}  {check.sentence}{advice}", hang=" " * 10)
    if result.proposal is not None and result.untransformed is None:
        page.tell(f"  {'scale':<8}  {result.proposal.sentence}", hang=" " * 10)
    page.tell("\nDoes it matter?")
    for verdict in result.factors:
        page.tell(f"  {verdict.sentence}")
    page.tell("")


def _show_untransformed(page: Page, plain: "Analysis", refit: "Analysis") -> None:
    from sparkcast.analysis import CheckResult

    page.tell(f"As measured ({plain.response}): R² {plain.r_squared:.3f}")
    for check in plain.checks:
        if check.verdict in (CheckResult.VIOLATED, CheckResult.DOUBTFUL):
            page.tell(f"  {check.sentence}")
    if refit.proposal:
        page.tell(f"{refit.proposal.sentence} R² becomes {refit.r_squared:.3f}:\n")


def _show_anova(page: Page, result: "Analysis") -> None:
    effects = {effect.term: effect for effect in result.effects}
    is_permuted = any(row.p_permutation is not None for row in result.rows)
    header = ["term", "df", "sum of squares", "%", "F", "p", "robust p", "low to high (95%)", "η² (95%)"]
    rows = [_anova_cells(row, effects.get(row.term)) for row in _by_share(result.rows)]
    more = {"permut. p": [row.p_permutation for row in _by_share(result.rows)]} if is_permuted else {}
    if any(row.df_blocks is not None for row in result.rows):
        more["block p"] = [row.p_blocks for row in _by_share(result.rows)]
    for name, values in more.items():
        header.insert(7, name)
        for cells, value in zip(rows, values, strict=True):
            cells.insert(7, _p(value))
    facts = f"type {result.anova_type}, p not corrected, {result.n} runs, R² {result.r_squared:.3f}"
    optional = ("robust p", "η² (95%)", "sum of squares", "permut. p")
    page.table(f"{_shortened(result.formula)}  ({facts})", header, rows, optional)


def _by_share(rows: "Sequence[AnovaRow]") -> "list[AnovaRow]":
    """The largest share first; the residual stays last."""
    return [*sorted(rows[:-1], key=lambda row: row.percent, reverse=True), rows[-1]]


def _anova_cells(row: "AnovaRow", effect: "Effect | None") -> list[str]:
    size = "" if row.effect_size is None else f"{row.effect_size:.2f}"
    if row.effect_low is not None and row.effect_high is not None:
        size += f" ({row.effect_low:.2f} to {row.effect_high:.2f})"
    return [
        row.term,
        f"{row.df:g}",
        f"{row.sum_sq:.4g}",
        f"{row.percent:.1f}",
        _cell(row.f, ".2f"),
        _p(row.p),
        _p(row.p_robust),
        _change(effect),
        size,
    ]


def _change(effect: "Effect | None") -> str:
    if effect is None or effect.change is None or effect.low is None or effect.high is None:
        return ""
    if effect.ratio is not None:
        import math

        return f"× {effect.ratio:.3g} ({math.exp(effect.low):.3g} to {math.exp(effect.high):.3g})"
    return f"{effect.change:+.3g} ({effect.low:+.3g} to {effect.high:+.3g})"


def _shortened(formula: str, most: int = 70) -> str:
    return formula if len(formula) <= most else f"{formula[:most].rsplit(' + ', 1)[0]} + ..."


def _show_details(page: Page, result: "Analysis") -> None:
    header = ["factor", "level", f"mean {result.response}", "95% interval", "runs"]
    means = [[m.factor, m.level, f"{m.mean:.4g}", f"{m.low:.4g} – {m.high:.4g}", m.n] for m in result.means]
    title = "Means by level"
    if any(m.raw is not None for m in result.means):
        title += ", adjusted (all other settings equal); raw means where they differ"
        header.append("raw mean")
        means = [[*row, "" if m.raw is None else f"{m.raw:.4g}"] for row, m in zip(means, result.means, strict=True)]
    page.table(title, header, means)
    slopes = [[e.term, f"{e.coefficient:+.4g}", e.unit] for e in result.effects if e.coefficient is not None]
    page.table(
        "Coefficients in original units, at the mean of the other settings", ("term", "coefficient", "unit"), slopes
    )
    pairs = [
        [c.factor, f"{c.other} – {c.level}", f"{c.difference:+.4g}", f"{c.low:+.4g} – {c.high:+.4g}", _p(c.p)]
        for c in result.comparisons
    ]
    scale = result.formula.partition(" ~ ")[0]
    page.table("Tukey's HSD", ("factor", "levels", f"difference in {scale}", "95% interval", "p"), pairs)
    lines = [
        [r.variable if r.is_setting else f"{r.variable} (not a setting)", f"{r.slope:+.4g}", f"{r.r:+.3f}", _p(r.p)]
        for r in result.regressions
    ]
    page.table(f"{result.response} against one variable at a time", ("variable", "slope", "r", "p"), lines)


def _cell(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "<0.001" if value < 0.001 else f"{value:.3f}"
