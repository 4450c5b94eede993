"""A prediction and what was learned as labeled lines: the answer first, then how sure it is and where it comes from."""

from collections.abc import Sequence

from sparkcast.learned.fit import FittedResponse, Scores
from sparkcast.learned.predict import Prediction, PredictionAt
from sparkcast.recommend.shown import noun, show_prediction, show_value
from sparkcast.study import Vocabulary
from sparkcast.units import show_percent, show_probability

Line = tuple[str, str]  # label and text

_FEW = 3  # of many models


def prediction_answer(result: PredictionAt, words: Vocabulary) -> str:
    return f"At {result.configuration}: {predicted(result.prediction, words)}."


def prediction_lines(result: PredictionAt, words: Vocabulary) -> list[Line]:
    response = words.response(result.prediction.response)
    models = f" ({', '.join(result.answered_by)})" if result.answered_by else ""
    where = f"; {result.question}" if result.question else ""
    lines = [
        ("Mean", show_value(response, result.mean)),
        *([("Other time", predicted(result.beside, words))] if result.beside else []),
        ("Model", f"{result.model}{models}{where}"),
    ]
    if result.left_out_error is not None:
        lines.append(("Error", held_out_error(result.left_out_error)))
    if result.failed_runs and result.failure_probability is not None:
        lines.append(
            ("Failures", f"{show_probability(result.failure_probability)} of submissions are expected to fail")
        )
    if result.no_failure is not None:
        lines.append(("Failures", str(result.no_failure)))
    return lines


def predicted(prediction: Prediction, words: Vocabulary) -> str:
    """The median with its interval, after what it is: `time 4.89 s median; 90% of runs take 3.93 to 5.92 s`."""
    response = words.response(prediction.response)
    return f"{noun(response)} {show_prediction(response, prediction)}"


def held_out_error(error: float) -> str:
    """The one error that is quoted: of single runs of configurations that were left out, as `validate` computes it."""
    return f"{show_percent(error / 100, 3)} mean error on held-out runs"


def learned_answer(learned: FittedResponse, words: Vocabulary) -> str:
    response = words.response(learned.response)
    called = f"{noun(response)} {response.span}".strip()
    named = "" if called == response.name else f" ({response.name})"
    missed = "" if learned.mean_error is None else f"{held_out_error(learned.mean_error)}, "
    return f"{called[:1].upper()}{called[1:]}{named}: {missed}model {learned.model}."


def learned_lines(learned: FittedResponse, *, details: bool) -> list[Line]:
    runs = f"{learned.runs:,} run{'' if learned.runs == 1 else 's'} of {learned.configurations:,} configurations"
    return [
        ("Trained on", runs),
        *(line for choice in learned.choices for line in _score_lines(choice, details=details)),
    ]


def _score_lines(choice: Scores, *, details: bool) -> Sequence[Line]:
    answering = ("Predicted by", f"{', '.join(choice.answered_by)}, {choice.question}")
    if not choice.errors:
        return [answering]
    errors = [f"{name} {show_percent(error / 100, 3)}" for name, error in choice.errors.items()]
    hidden = 0 if details or len(errors) <= _FEW + 1 else len(errors) - _FEW
    more = f", {hidden} more with `details=True`" if hidden else ""
    together = "" if choice.error is None else f"; together {show_percent(choice.error / 100, 3)}"
    return [
        answering,
        ("Mean errors", f"{', '.join(errors[: len(errors) - hidden])}{more}{together} (protocol {choice.protocol})"),
    ]
