"""How far predictions can be trusted, in words."""

from typing import TYPE_CHECKING

from sparkcast.text._page import Page
from sparkcast.units import show_level, show_percent

if TYPE_CHECKING:
    from sparkcast.validate import Scorecard, Validation

USUAL_MODEL = "auto"  # unless another is named
_FEW = 3  # of many models


def write(page: Page, result: "Validation") -> None:
    details = page.details
    if not details:
        _show_verdict(page, result)
    _show_scorecards(page, result, details)
    if result.noise_floor_mape is not None:
        floor = f"MAPE {show_percent(result.noise_floor_mape / 100, 3)}"
        if result.noise_floor_interval is not None:
            low, high = (show_percent(end / 100, 3) for end in result.noise_floor_interval)
            floor += f" ({show_level(result.level)} interval {low} to {high})"
        what = " (a model that knows the mean of every configuration)" if details else ""
        page.tell(f"noise floor{what}: {floor}")
    _show_kept(page, result, details)
    for model, reason in result.refused[: None if details else _FEW]:
        page.say(f"{model}: not tested: {reason.splitlines()[0]}")
    if not details and len(result.refused) > _FEW:
        page.say(f"also not tested: {', '.join(model for model, _ in result.refused[_FEW:])}")
    if result.untested:
        example = str(result.untested[0])
        page.say(f"not tested, because there are no similar runs to train on: {len(result.untested)}, e.g. {example}")


def _show_verdict(page: Page, result: "Validation") -> None:
    """How good is what answers by default, else the best."""
    cards = sorted(result.scorecards, key=lambda card: card.model != USUAL_MODEL)
    for card in cards[:1]:
        page.tell(
            f"{card.model} predicts {result.meaning.described} of held-out runs with a mean error of "
            f"{show_percent(card.mape / 100, 3)}; {show_percent(card.coverage)} of them are inside its "
            f"{show_level(result.level)} intervals"
        )


def _show_scorecards(page: Page, result: "Validation", details: bool) -> None:
    """All models with all columns; or the best few, and beside them what answers by default and the baseline."""
    from sparkcast.models import MODELS

    splits = f"{result.n_splits} split{'' if result.n_splits == 1 else 's'}"
    header = "model,MAPE %,median %,≥30%,RMSE,R²,CRPS,in interval,width %,collect,build".split(",")
    named = {USUAL_MODEL, *MODELS.declaring("is_baseline")}
    cards = [card for i, card in enumerate(result.scorecards) if details or i < _FEW or card.model in named]
    title = f"{result.response}, {result.protocol}: {splits}, {show_level(result.level)} intervals"
    if len(cards) < len(result.scorecards):
        title += f"; {len(cards)} of {len(result.scorecards)} models"
    rows = [_scorecard_row(card) for card in cards]
    hidden = ("CRPS",) if details else ("RMSE", "R²", "width %", "build")
    kept = [place for place, name in enumerate(header) if name not in hidden]
    optional = ("collect", "≥30%", "CRPS", "build", "width %", "RMSE", "R²")
    page.table(title, [header[i] for i in kept], [[row[i] for i in kept] for row in rows], optional)
    if details:  # beside all others they would be too wide
        upper = f"pinball loss at {show_level((1 + result.level) / 2)}"
        scores = [[card.model, f"{card.crps:.3g}", f"{card.pinball:.3g}"] for card in cards]
        page.table(f"predicted distributions, in the unit of {result.response}", ["model", "CRPS", upper], scores)


def _show_kept(page: Page, result: "Validation", details: bool) -> None:
    """Promised versus observed: of `auto`, which answers unless another is named, else of the best."""
    from sparkcast.validate.calibration import broken_promise

    cards = sorted((card for card in result.scorecards if card.kept), key=lambda card: card.model != USUAL_MODEL)
    if not cards:
        return
    model, kept = cards[0].model, cards[0].kept
    n = kept[0].n_configurations
    counted = f"{n} configuration{'' if n == 1 else 's'}"
    if details:
        rows = [
            [
                show_level(one.promised),
                f"{show_percent(one.share)} ({show_percent(one.low)} to {show_percent(one.high)})",
            ]
            for one in kept
        ]
        page.tell(
            f"\npromised versus observed: how often was {result.response} within the limit that {model} promised?"
        )
        page.table("", ["promised", f"observed, of {counted}"], rows)
    else:
        told = ", ".join(f"{show_level(one.promised)} observed {show_percent(one.share)}" for one in kept)
        page.tell(f"upper limits, promised versus observed, {model} over {counted}: {told}{_below(result, cards[0])}")
    if (sentence := broken_promise(model, kept)) is not None:
        page.tell(sentence)


def _below(result: "Validation", card: "Scorecard") -> str:
    """Why limits may hold where intervals do not: they have no lower end."""
    n_below = sum(run.actual < run.low for run in card.runs)
    share = show_percent(n_below / len(card.runs))
    return f" ({share} of the runs are below their {show_level(result.level)} interval)" if n_below else ""


def _scorecard_row(card: "Scorecard") -> list[str]:
    from sparkcast.units import show_seconds

    return [
        card.model,
        f"{card.mape:.1f}",
        f"{card.median_ape:.1f}",
        f"{card.large_errors:.0f}",
        f"{card.rmse:.4g}",
        f"{card.r_squared:.3f}",
        f"{card.crps:.3g}",
        show_percent(card.coverage),
        f"{100 * card.relative_width:.0f}",
        "–" if card.collect_s is None else show_seconds(card.collect_s),
        show_seconds(card.build_s),
    ]
