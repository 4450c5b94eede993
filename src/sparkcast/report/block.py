"""What a notebook shows of one result: the block of the report, by itself."""

from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from sparkcast.analysis import Analysis
from sparkcast.learned.predict import PredictionAt, Predictions
from sparkcast.profile import Profile
from sparkcast.recommend import Recommendation
from sparkcast.report.figures import analysis_figures, predicted_vs_actual, recommendation_figures
from sparkcast.report.figures._figure import FigureSection
from sparkcast.report.page import environment, largest_stages
from sparkcast.report.words import recommendation_sentence
from sparkcast.validate import Validation


def block_of(result: object) -> str | None:
    """A result as the report shows it, with its style; None when the report has no block for it."""
    parts = _parts(result, environment().get_template("blocks.html.jinja").module)
    return None if parts is None else f'<div class="sparkcast"><style>{_style()}</style>\n<main>{parts}</main></div>'


def _parts(result: object, blocks: Any) -> str | None:
    match result:
        case Recommendation():
            first, *others = [*recommendation_figures(result), None]
            shown = blocks.answer(recommendation_sentence(result), result) + (blocks.show(first) if first else "")
            return str(shown + blocks.paste(result) + blocks.candidates(result, [one for one in others if one]))
        case Analysis():
            drawn = analysis_figures(result)
            effects = [figure for figure in drawn if figure.section is FigureSection.EFFECTS]
            return str(blocks.matters(result, effects, [figure for figure in drawn if figure not in effects]))
        case Validation():
            figure = predicted_vs_actual(result)
            return str(blocks.trusted(result, [] if figure is None else [figure]))
        case Profile():
            return str(blocks.application(result, largest_stages(result), []))
        case PredictionAt():
            return f"<pre>{escape(str(result))}</pre>{result.distribution.html('The next run')}"
        case Predictions():
            return str(result.frame().to_html(index=False))
    return None


@lru_cache(maxsize=1)
def _style() -> str:
    """The style of the page, for what is inside a block only: nested, where `&` is the block itself."""
    css = (Path(__file__).parent / "page.css").read_text()
    return f".sparkcast {{\n{css.replace(':root', '&').replace('body {', '& {')}}}"
