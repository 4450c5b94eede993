"""Models: train, save, load, and test on configurations that they have not seen."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sparkcast.api.answers import usual_response
from sparkcast.api.sources import data_of, response_name
from sparkcast.data.options import TableOptions, names_in
from sparkcast.data.sources import Source

if TYPE_CHECKING:
    from sparkcast.api.sources import Runs
    from sparkcast.learned.fit import FitResult, GridSearch
    from sparkcast.learned.saved import SavedModel
    from sparkcast.validate import OnStep, Validation
    from sparkcast.validate.fits import FitCache


def fit(
    data: "Runs",
    responses: str | Sequence[str] = (),
    *,
    model: str = "auto",
    search: "GridSearch | None" = None,
    table: TableOptions | None = None,
) -> "FitResult":
    """Train models on runs once, to predict often.

    Args:
        data: Runs.
        responses: What to learn, one or several; defaults to what `recommend` needs: the time, and the quality if it
            was measured.
        model: See `list_plugs("models")`.
        search: The hyperparameters to search; the notes say which were chosen.
        table: As in `load_data`.

    Returns:
        The trained model, to save or query, and its error on held-out configurations.

    Raises:
        StudyError: No such response or model.
        NotEnoughDataError: Too few configurations.

    >>> fit("runs.csv", "time_s", model="ridge").responses[0].configurations
    8
    """
    from sparkcast.learned.fit import fit as learn

    return learn(data_of(data, table), names_in(responses), model=model, search=search)


def save_model(model: "SavedModel", path: Source, *, force: bool = False) -> None:
    """Write a trained model to a file, atomically.

    Args:
        model: `fit(...).model`.
        path: The file.
        force: Replace an existing file.

    Raises:
        StudyError: The file exists or cannot be written.

    >>> save_model(fit(load_data("runs.csv"), model="median").model, "median.sparkcast", force=True)
    """
    from sparkcast.learned.saved import save

    save(model, Path(path), force=force)


def validate(
    data: "Runs",
    response: str | None = None,
    *,
    protocol: str = "loo",
    models: str | Sequence[str] | None = None,
    level: float = 0.9,
    seed: int = 0,
    on_step: "OnStep | None" = None,
    fits: "FitCache | None" = None,
    table: TableOptions | None = None,
) -> "Validation":
    """How well models predict configurations they have not seen.

    Args:
        data: Runs.
        response: What to predict; defaults to the time.
        protocol: Which configurations are held out: "loo", "kfold:5", "holdout:0.2", "interpolate:executors",
            "extrapolate:executors>8", "cases:data_size=250+750|1000".
        models: Names of one or several models; defaults to the usual ones.
        level: Of the intervals.
        seed: For protocols with random draws.
        on_step: Called before each fit.
        fits: A `sparkcast.validate.fits.Fits()` to share with `write_validation_figures`, so that nothing is refitted.
        table: As in `load_data`.

    Returns:
        A scorecard for each model, best first, and the noise floor.

    Raises:
        StudyError: No such response, protocol or model.
        NotEnoughDataError: Too few configurations.

    >>> validation = validate("runs.csv", models=["ridge", "median"])
    >>> [card.model for card in validation.scorecards]
    ['ridge', 'median']
    """
    from sparkcast.validate.score import validate as score

    dataset = data_of(data, table, response=response).dataset
    name = response_name(response) if response else usual_response(dataset)
    return score(
        *(dataset, name, protocol, None if models is None else names_in(models), level),
        seed=seed,
        on_step=on_step,
        fits=fits,
    )
