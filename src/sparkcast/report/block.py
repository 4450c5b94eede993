"""What a notebook shows of one result: the block of the report, by itself."""

from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from sparkcast.analysis import Analysis
from sparkcast.designs.summary import PlanSummary
from sparkcast.display import Displayed
from sparkcast.history.changes import JobChange
from sparkcast.history.jobs import JobHistory
from sparkcast.history.stories import JobStory, stories_of
from sparkcast.learned.predict import PredictionAt, Predictions
from sparkcast.profile import Profile
from sparkcast.recommend import Recommendation
from sparkcast.replay import WhatIf
from sparkcast.report.figures import Figure, analysis_figures, predicted_vs_actual, recommendation_figures
from sparkcast.report.figures._figure import FigureSection
from sparkcast.report.figures.designs import power_curve
from sparkcast.report.figures.replays import replay_curves
from sparkcast.report.histories import day, spark_words
from sparkcast.report.histories import history as draw_history
from sparkcast.report.marks import marks_style
from sparkcast.report.page import environment, largest_stages
from sparkcast.report.shares import TimeBar, time_bars
from sparkcast.report.words import recommendation_sentence
from sparkcast.units import show_seconds
from sparkcast.validate import Validation

_MONTH_S = 30 * 86400.0


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
        case WhatIf():
            return str(blocks.whatif(result, _headline(result), _those(replay_curves(result))))
        case PlanSummary():
            return str(blocks.planned(result, _headline(result), _those(power_curve(result.description))))
        case JobHistory():
            return _history(result, blocks)
        case Profile():
            return str(blocks.application(result, largest_stages(result), []))
        case PredictionAt():
            return f"<pre>{escape(str(result))}</pre>{result.distribution.html('The next run')}"
        case Predictions():
            return str(result.frame().to_html(index=False))
    return None


def _those(figure: Figure | None) -> list[Figure]:
    return [] if figure is None else [figure]


def _headline(result: Displayed) -> str:
    """What the command prints first."""
    return result.text(width=10_000).splitlines()[0]


def _history(history: JobHistory, blocks: Any) -> str | None:
    """As the page of the job draws it; the forecasts know no other jobs."""
    last = max((run.started_at or 0.0 for run in history.runs), default=0.0)
    story = next(stories_of([history], since_s=last - _MONTH_S, until_s=last))
    if not story.runs:
        return None
    widths = (False, True)
    drawn = [draw_history(story, narrow=narrow) for narrow in widths] if len(story.runs) > 1 else []
    kept = {name: seconds for name, seconds in story.spent.items() if seconds > 0}
    bar = TimeBar(f"a typical run: {show_seconds(sum(kept.values()))}", kept)
    bars = [time_bars([bar], narrow=narrow) for narrow in widths] if kept else []
    return str(blocks.job_history(_told(story), drawn, bars, f"{spark_words(story)}."))


def _told(story: JobStory) -> str:
    usual = "" if story.usual_s is None else f", usually {show_seconds(story.usual_s)}"
    change = story.change
    since = "" if change is None else f"; {abs(100 * change.change):.0f}% {_slower(change)} since {day(change.since_s)}"
    return f"{story.name}: {story.n_runs} run{'' if story.n_runs == 1 else 's'}{usual}{since}"


def _slower(change: JobChange) -> str:
    return "slower" if change.change > 0 else "faster"


@lru_cache(maxsize=1)
def _style() -> str:
    """The style of the page, for what is inside a block only: nested, where `&` is the block itself."""
    css = marks_style() + (Path(__file__).parent / "page.css").read_text()
    return f".sparkcast {{\n{css.replace(':root', '&').replace('body {', '& {')}}}"
