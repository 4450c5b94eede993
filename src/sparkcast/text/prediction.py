"""What is predicted, and what was learned for it, in words."""

from typing import TYPE_CHECKING

from sparkcast.text._page import Page

if TYPE_CHECKING:
    from sparkcast.learned.fit import FitResult
    from sparkcast.learned.predict import PredictionAt, Predictions


def write(page: Page, result: "PredictionAt") -> None:
    from sparkcast.recommend.predicted import prediction_answer, prediction_lines

    page.tell(prediction_answer(result, result.vocabulary))
    page.labeled(prediction_lines(result, result.vocabulary))
    for note in result.notes:
        page.say(f"note: {note}")


def write_many(page: Page, result: "Predictions") -> None:
    for one in result:
        write(page, one)


def write_fit(page: Page, result: "FitResult") -> None:
    from sparkcast.recommend.predicted import learned_answer, learned_lines

    for learned in result.responses:
        page.tell(learned_answer(learned, result.model.about.vocabulary))
        page.labeled(learned_lines(learned, details=page.details))
    for note in result.notes:
        page.say(note)
