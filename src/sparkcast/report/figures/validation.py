"""All that can be drawn of one validation."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.models import Fitted
from sparkcast.report.figures._figure import Figure
from sparkcast.report.figures.errors import prediction_errors
from sparkcast.report.figures.learning import error_curve
from sparkcast.report.figures.reliability import reliability
from sparkcast.report.figures.scaling import half_as_far_again, scaling_curve, scaling_factor
from sparkcast.report.figures.trust import predicted_vs_actual
from sparkcast.report.labels import listing
from sparkcast.study import Dataset
from sparkcast.validate import Validation
from sparkcast.validate.learning import LearningCurve


def validation_figures(
    data: Dataset | None,
    validation: Validation,
    fitted: Mapping[str, Fitted],
    curve: LearningCurve | None = None,
    *,
    most: int = 3,
) -> tuple[tuple[Figure, ...], tuple[str, ...]]:
    """The figures of the best models, and why others are missing.

    Scaling curves are those of the models in `fitted`, which have learned from all of `data`; without any, the tests
    alone are drawn.
    """
    best = [card.model for card in validation.scorecards[:most]]
    factors = _factors(validation) if data is None else data.factors
    drawn = [predicted_vs_actual(validation, most=most), reliability(validation, factors, most=most)]
    drawn += [prediction_errors(validation, factors, model=model) for model in best]
    undrawn: list[str] = []
    for model in best:
        try:
            drawn += [_scaling(data, validation, model, fitted[model])] if data and model in fitted else []
        except (NotEnoughDataError, StudyError) as error:
            undrawn.append(f"no scaling curve of {model}: {error.problem}")
    if curve is not None:
        drawn.append(error_curve(curve))
        undrawn += _refusals(curve)
    return tuple(figure for figure in drawn if figure is not None), tuple(undrawn)


def _factors(validation: Validation) -> tuple[str, ...]:
    """What the tested configurations are made of."""
    tested = (run.configuration for card in validation.scorecards for run in card.runs)
    return tuple(dict.fromkeys(name for configuration in tested for name in configuration))


def _scaling(data: Dataset, validation: Validation, model: str, fitted: Fitted) -> Figure | None:
    factor = scaling_factor(data)
    if factor is None:
        return None
    upto = half_as_far_again(data.levels(factor))
    drawn = scaling_curve(
        *(data, validation.response, fitted), single=True, upto=upto, level=validation.level, model=model
    )
    return replace(drawn, name=f"{drawn.name}-{model}", title=f"{drawn.title} ({model})") if drawn else None


def _refusals(curve: LearningCurve) -> Iterator[str]:
    for model in dict.fromkeys(name for name, _, _ in curve.refused):
        sizes = [str(size) for name, size, _ in curve.refused if name == model]
        reason = next(reason for name, _, reason in curve.refused if name == model)
        yield f"no {model} at {listing(sizes)} configurations in the learning curve: {reason}"
