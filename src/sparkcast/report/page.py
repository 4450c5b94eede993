"""The report as one HTML file: no script, no network, readable on a phone, on paper and behind a firewall."""

import os
import re
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparkcast.errors import StoreError
from sparkcast.recommend.formats.spark_submit import shell_parts
from sparkcast.report import words
from sparkcast.report.document import ReportContent, describe
from sparkcast.report.figures import Figure, FigureSection, application_figures
from sparkcast.report.figures.choice import verdicts
from sparkcast.report.figures.replays import replays_of
from sparkcast.report.labels import (
    axis_title,
    is_money,
    listing,
    plain_name,
    show_number,
    show_term,
    show_value,
)
from sparkcast.study import Response
from sparkcast.units import show_level, show_money, show_percent, show_probability, show_seconds

if TYPE_CHECKING:
    from jinja2 import Environment

    from sparkcast.eventlogs import LogRead
    from sparkcast.facts.stages import StageFacts
    from sparkcast.profile import Profile
    from sparkcast.replay import Replayed

_MOST_QUERIES, _MOST_OPERATORS = 20, 10  # of a table of an application
_MOST_ROWS = 200  # of a table below a figure; the results store has them all
_DRAWN_ID = re.compile(r'(\bid="|url\(#|href="#)((?:clip|gradient)[\w-]*)')


def render(content: ReportContent) -> str:
    """The whole page. Every text in it is escaped; figures are inline pictures."""
    template = environment().get_template("page.html.jinja")
    return template.render(
        content=content,
        headline=words.headline(content),
        outcomes=words.outcomes(content.plan),
        lead=lead_figure(content.figures),
        measured=listing([words.spanned(content.data.vocabulary.response(name)) for name in content.data.responses]),
        sections={section.value: [f for f in content.figures if f.section is section] for section in FigureSection},
    )


def lead_figure(figures: Sequence[Figure]) -> Figure | None:
    """The one picture that stands beside the answer: what was chosen among what, else what matters, else the runs."""
    order = (FigureSection.CHOICE, FigureSection.EFFECTS, FigureSection.RESULTS)
    return next((figure for section in order for figure in figures if figure.section is section), None)


def render_application(log: "LogRead", *, created: str, version: str) -> str:
    """The page about one application."""
    from sparkcast.facts import facts_of
    from sparkcast.profile import profile_facts

    facts = facts_of(log)
    profile = profile_facts(log, facts)
    return (
        environment()
        .get_template("application.html.jinja")
        .render(
            profile=profile,
            figures=[*application_figures(log, facts), *replays_of(log, facts)],
            stages=largest_stages(profile),
            created=created,
            version=version,
        )
    )


def largest_stages(profile: "Profile") -> "list[StageFacts]":
    """Those that took most of the time, which a page has room for."""
    return sorted(profile.stages, key=lambda stage: -stage.wall_s)[:_MOST_ROWS]


def write_report(path: Path, content: ReportContent) -> Path:
    """Write the page to `path`, whole or not at all."""
    return write_page(path, render(content))


def write_page(path: Path, text: str) -> Path:
    """Write a page to `path`, whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        raise StoreError(
            f"cannot write the report {path}: {error}", hint="choose another location with -o FILE"
        ) from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        # mkstemp makes private files; a report is meant to be shared like any other file one writes.
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except OSError as error:
        raise StoreError(
            f"cannot write the report {path}: {error}", hint="choose another location with -o FILE"
        ) from error
    finally:
        Path(name).unlink(missing_ok=True)
    return path


def inline_svg(figure: Figure, *, narrow: bool = False) -> str:
    """The picture for use inside a page: its ids are made unique, or pictures would cut out one another's shapes."""
    svg = figure.svg(narrow=narrow, titled=False)
    prefix = re.sub(r"\W", "-", figure.name) + ("-narrow-" if narrow else "-wide-")
    from sparkcast.report.marks import with_tokens

    return with_tokens(_DRAWN_ID.sub(lambda match: f"{match[1]}{prefix}{match[2]}", svg))


def keep_units(text: str) -> str:
    """No line break between a number and its unit, nor within a p value.

    >>> keep_units("in 1 min 05 s with 90 % probability, p < 0.001")
    'in 1\\xa0min\\xa005\\xa0s with 90\\xa0% probability, p\\xa0<\\xa00.001'
    """
    text = re.sub(r"(?<=\w) ([<=]) (?=\d)", "\xa0\\1\xa0", text)
    text = re.sub(r"(?<=\d) (?=(?:s|min|h|%|B|ct|[A-Z]{3}|[KMGT]iB)(?!\w))", "\xa0", text)
    return re.sub(r"(?<=\xa0(?:min)) (?=\d)|(?<=\xa0h) (?=\d)", "\xa0", text)


def column_head(figure: Figure, column: str) -> str:
    """The head of a column of a figure's table; money brings its unit in each cell."""
    response = figure.values.get(column)
    if response is not None and is_money(response):
        name, ending = (
            figure.heads.get(column, column.replace("_", " ")),
            f" ({axis_title(response).partition(' (')[2]}",
        )
        return name.removesuffix(ending)
    return figure.heads.get(column, column.replace("_", " "))


def show_between(response: Response, low: float, high: float) -> str:
    """Both ends of an interval, the unit once where both have it."""
    first, last = show_value(response, low), show_value(response, high)
    number, _, unit = first.partition(" ")
    return f"{number} – {last}" if unit and last.partition(" ")[2] == unit else f"{first} – {last}"


def show_cell(value: object, response: Response | None = None) -> str:
    """A cell of a data table.

    >>> show_cell(0.123456), show_cell(None), show_cell(True), show_cell("64")
    ('0.1235', '–', 'yes', '64')
    """
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if response is not None and is_money(response) and isinstance(value, (int, float)):
        return show_value(response, value)
    return show_number(value) if isinstance(value, float) else str(value)


def _alternative(one: "Replayed") -> str:
    from sparkcast.replay import compared, executors_of

    return f"{executors_of(one)}: {compared(one)}"


@lru_cache(maxsize=1)
def environment() -> "Environment":
    """Templates, and the words that they use."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def picture(figure: Figure, narrow: bool = False) -> Markup:
        # Vega escapes every text it draws, so the SVG can go in as it is.
        return Markup(inline_svg(figure, narrow=narrow))

    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    helpers: dict[str, Any] = {
        "MOST_ROWS": _MOST_ROWS,
        "MOST_QUERIES": _MOST_QUERIES,
        "MOST_OPERATORS": _MOST_OPERATORS,
        "asked": words.asked_sentence,
        "axis_title": axis_title,
        "between": show_between,
        "by_share": words.by_share,
        "column_head": column_head,
        "seconds": show_seconds,
        "cell": show_cell,
        "changes": words.changes,
        "percent": show_percent,
        "alternative": _alternative,
        "probability": show_probability,
        "level": show_level,
        "money": show_money,
        "both_scales": words.both_scales,
        "check_sentence": words.check_sentence,
        "describe": describe,
        "details": words.recommendation_details,
        "shell_parts": shell_parts,
        "doubts": words.recommendation_doubts,
        "evidence": words.evidence,
        "f_value": words.show_f,
        "number": show_number,
        "outcome": words.outcome_words,
        "p_value": words.show_p,
        "picture": picture,
        "place_gist": words.place_sentence,
        "protocol": words.protocol_sentence,
        "plain": plain_name,
        "settings_line": str,
        "term": show_term,
        "told": words.with_terms,
        "trust": words.trust_sentence,
        "trust_gist": words.trust_gist,
        "value": show_value,
        "verdict": words.verdict_words,
        "verdicts": verdicts,
        "warnings": words.recommendation_warnings,
    }
    made.globals.update(helpers)
    made.filters["tidy"] = keep_units
    return made


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
