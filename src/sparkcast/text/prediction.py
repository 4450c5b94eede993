"""What is predicted, and what was learned for it, in words."""

from typing import TYPE_CHECKING

from sparkcast.text._page import Page
from sparkcast.units import show_level, show_percent, show_probability

if TYPE_CHECKING:
    from sparkcast.learned.fit import FitResult, FittedResponse, Scores
    from sparkcast.learned.predict import PredictionAt, Predictions
    from sparkcast.recommend import Prediction
    from sparkcast.study import Vocabulary

_FEW = 3  # of many models


def write(page: Page, result: "PredictionAt") -> None:
    words = result.vocabulary
    told = _predicted(result.prediction, words)
    mean = words.response(result.prediction.response).shown(result.mean)
    page.tell(f"{result.configuration}: {told}; mean {mean}  (model {result.model})")
    if result.beside is not None:
        page.tell(f"  {_predicted(result.beside, words)}")
    missed = _missed(result.left_out_error)
    if result.question:
        page.tell(f"  {result.question}: predicted by {', '.join(result.answered_by)}{f'; {missed}' if missed else ''}")
    elif missed:
        page.tell(f"  {missed}")
    if result.failed_runs and result.failure_probability is not None:
        page.tell(f"  fails with probability {show_probability(result.failure_probability)}")
    if result.no_failure is not None:
        page.tell(f"  {result.no_failure}")
    for note in result.notes:
        page.say(f"note: {note}")


def _predicted(p: "Prediction", words: "Vocabulary") -> str:
    response = words.response(p.response)
    value, low, high = map(response.shown, (p.value, p.low, p.high))
    span = f" {response.span}" if response.span else ""
    return f"{p.response} {value} (median){span}, {show_level(p.level)} of runs between {low} and {high}"


def write_many(page: Page, result: "Predictions") -> None:
    for one in result:
        write(page, one)


def write_fit(page: Page, result: "FitResult") -> None:
    for learned in result.responses:
        _show_learned(page, learned, result.model.about.vocabulary, page.details)
    for note in result.notes:
        page.say(note)


def _show_learned(page: Page, learned: "FittedResponse", words: "Vocabulary", details: bool) -> None:
    missed = _missed(learned.mean_error)
    page.tell(
        f"{words.response(learned.response).described}: model {learned.model}, trained on {learned.runs} runs of "
        f"{learned.configurations} configurations{f'; {missed}' if missed else ''}"
    )
    for choice in learned.choices:
        _show_scores(page, choice, details)


def _missed(error: float | None) -> str:
    """The one error that is quoted: of single runs of configurations that were left out, as `validate` computes it."""
    return "" if error is None else f"mean error on held-out runs {show_percent(error / 100, 3)}"


def _show_scores(page: Page, choice: "Scores", details: bool) -> None:
    together = "" if choice.error is None else f"; together {show_percent(choice.error / 100, 3)}"
    page.tell(f"  {choice.question}: predicted by {', '.join(choice.answered_by)}")
    if choice.errors:
        errors = [f"{name} {show_percent(error / 100, 3)}" for name, error in choice.errors.items()]
        hidden = 0 if details or len(errors) <= _FEW + 1 else len(errors) - _FEW
        more = f", {hidden} more with `.text(details=True)`" if hidden else ""
        page.tell(f"    mean errors by {choice.protocol}: {', '.join(errors[: len(errors) - hidden])}{more}{together}")
