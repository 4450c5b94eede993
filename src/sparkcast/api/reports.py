"""One HTML file about a study or a table."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sparkcast.api.answers import analyze, recommend
from sparkcast.api.models import validate
from sparkcast.api.plans import make_plan
from sparkcast.api.sources import data_of
from sparkcast.data.options import TableOptions
from sparkcast.data.sources import Data, Source

if TYPE_CHECKING:
    from sparkcast.api.sources import Runs
    from sparkcast.learned.knowledge import Knowledge
    from sparkcast.models import Fitted
    from sparkcast.report import CheckRun
    from sparkcast.validate import Validation

_MOST_LEFT_OUT_ONE_BY_ONE = 40  # configurations in a report


def report(
    data: "Runs",
    output: Source,
    *,
    within_s: float | None = None,
    check: "CheckRun | None" = None,
    table: TableOptions | None = None,
) -> None:
    """Write one self-contained HTML file about a study or a table. What cannot be computed is left out, with a note.

    Args:
        data: Runs.
        output: The HTML file; an existing one is replaced.
        within_s: A deadline for the recommendation.
        check: A run that checks a prediction.
        table: As in `load_data`.

    Raises:
        StudyError: The data cannot be read.
        NotEnoughDataError: There are no results yet.

    >>> report("runs.csv", "report.html", within_s=60)                 # doctest: +SKIP
    """
    from datetime import datetime

    from sparkcast import __version__
    from sparkcast.data.samples import fastest_and_slowest, sampled_runs
    from sparkcast.learned.fit import or_note
    from sparkcast.learned.knowledge import Knowledge
    from sparkcast.report import build_content, write_report
    from sparkcast.report.document import table_facts

    data = data_of(data, table)
    responses = [name for name in data.dataset.responses if data.dataset.successful(name)]
    notes: list[str] = []
    analyses = [a for name in responses if (a := or_note(notes, analyze, data, name))]
    validations = [v for name in responses[:2] if (v := or_note(notes, validate_for_report, data, name))]
    known = Knowledge(data.dataset, pool=data.pool(), price=data.price)
    fitted = {v.response: best for v in validations if (best := or_note(notes, fit_best, known, v))}
    recommendation = or_note(notes, lambda: recommend(known, within_s=within_s))
    content = build_content(
        data.dataset,
        created=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        version=__version__,
        study=data.study,
        plan=None if data.study is None else make_plan(data.study),
        analyses=analyses,
        validations=validations,
        recommendation=recommendation,
        check=check,
        fitted=fitted,
        sampled=[(run.observation, run.series) for run in sampled_runs(data, fastest_and_slowest(data))],
        notes=tuple(dict.fromkeys(notes)),
    )
    content = replace(content, facts=(*table_facts(data.understood), *content.facts))
    write_report(Path(output), content)


def validate_for_report(data: Data, response: str) -> "Validation":
    """A report does not keep anybody waiting: of many configurations, groups are left out instead of single ones."""
    n = len({data.dataset.key(run) for run in data.dataset.successful(response)})
    return validate(data, response, protocol="loo" if n <= _MOST_LEFT_OUT_ONE_BY_ONE else "kfold:5")


def fit_best(known: "Knowledge", validation: "Validation") -> "Fitted":
    """The best model of a validation, fitted to everything; not again where it was fitted for other questions."""
    from sparkcast.learned.across_blocks import across_blocks
    from sparkcast.models import MODELS
    from sparkcast.validate.score import best_of

    name, response = best_of(validation), validation.response
    if name == known.model:
        return known.model_of(response)[1]
    fitted = MODELS.get(name)().fit(known.runs, response)
    return across_blocks(fitted, known.runs, known.runs.vocabulary.response(response))
