"""Models: train, save, load, and test on configurations that they have not seen."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sparkcast.api.answers import usual_response
from sparkcast.data.sources import Data, Source

if TYPE_CHECKING:
    from sparkcast.learned.fit import FitResult, GridSearch
    from sparkcast.learned.saved import SavedModel
    from sparkcast.validate import OnStep, Validation
    from sparkcast.validate.fits import Fits


def fit(
    data: Data, responses: Sequence[str] = (), *, model: str = "auto", search: "GridSearch | None" = None
) -> "FitResult":
    """Train models on runs once, to predict often.

    Args:
        data: Observations.
        responses: What to learn; defaults to what `recommend` needs: the time, and the quality if it was measured.
        model: See `list_plugs("models")`.
        search: The hyperparameters to search; the notes say which were chosen.

    Returns:
        The trained model, to save or query, and its error on held-out configurations.

    Raises:
        StudyError: No such response or model.
        NotEnoughDataError: Too few configurations.

    >>> fit(load_data("runs.csv"), model="ridge").responses[0].configurations
    8
    """
    from sparkcast.learned.fit import fit as learn

    return learn(data, responses, model=model, search=search)


def load_model(path: Source) -> "SavedModel":
    """Load a model file written by `save_model`. Nothing in it is executed.

    Args:
        path: The file.

    Returns:
        A model that `predict` and `recommend` take in place of DATA.

    Raises:
        StudyError: The file is damaged, newer or older than this sparkcast supports, or contains unsafe types.

    >>> save_model(fit(load_data("runs.csv"), model="ridge").model, "ridge.sparkcast", force=True)
    >>> load_model("ridge.sparkcast").about.factors
    ('executors', 'batch_size')
    """
    from sparkcast.learned.saved import load

    return load(Path(path))


def save_model(model: "SavedModel", path: Source, *, force: bool = False) -> None:
    """Write a trained model to a file, atomically.

    Args:
        model: `fit(...).model`.
        path: The file.
        force: Replace an existing file.

    Raises:
        StudyError: The file exists, cannot be written, or the model contains types that cannot be saved.

    >>> save_model(fit(load_data("runs.csv"), model="median").model, "median.sparkcast", force=True)
    """
    from sparkcast.learned.saved import save

    about, curves, feasibility = model.about, model.curves, model.feasibility
    save(model.fitted, Path(path), about=about, curves=curves, feasibility=feasibility, force=force)


def validate(
    data: Data,
    response: str | None = None,
    *,
    protocol: str = "loo",
    models: Sequence[str] | None = None,
    level: float = 0.9,
    seed: int = 0,
    on_step: "OnStep | None" = None,
    fits: "Fits | None" = None,
) -> "Validation":
    """How well models predict configurations they have not seen.

    Args:
        data: Observations.
        response: What to predict; defaults to the time.
        protocol: Which configurations are held out: "loo", "kfold:5", "holdout:0.2", "interpolate:executors",
            "extrapolate:executors>8", "cases:data_size=250+750|1000".
        models: Names of models; defaults to the usual ones.
        level: Of the intervals.
        seed: For protocols with random draws.
        on_step: Called before each fit.
        fits: A `sparkcast.validate.fits.Fits()` to share with `write_validation_figures`, so that nothing is refitted.

    Returns:
        A scorecard for each model, best first, and the noise floor.

    Raises:
        StudyError: No such response, protocol or model.
        NotEnoughDataError: Too few configurations.

    >>> validation = validate(load_data("runs.csv"), models=["ridge", "median"])
    >>> [card.model for card in validation.scorecards]
    ['ridge', 'median']
    """
    from sparkcast.validate.score import validate as score

    name = response or usual_response(data.dataset)
    return score(
        *(data.dataset, name, protocol, models, level),
        seed=seed,
        on_step=on_step,
        fits=fits,
    )
