"""How much is there to gain from more configurations? The error against the number of those learned from."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.models import MODELS
from sparkcast.study import Dataset, Response, Vocabulary
from sparkcast.validate import FoldProgress, OnStep
from sparkcast.validate.fits import fit_points
from sparkcast.validate.protocols import Split
from sparkcast.validate.protocols._configurations import Configurations, configurations
from sparkcast.validate.score import baseline, noise_floor, testable

_SMALLEST = 3  # below, no model can tell its own error
_MOST_SIZES = 6
_TESTED = 0.2  # share of the configurations that even the largest size leaves to be tested


@dataclass(frozen=True, slots=True)
class LearningPoint:
    """One model that learned from so many configurations, tested on all the others."""

    model: str
    n_configurations: int
    mape: float  # percent; mean of the draws
    low: float  # of the best draw
    high: float  # of the worst draw
    n_draws: int


@dataclass(frozen=True, slots=True)
class LearningCurve:
    response: str
    n_configurations: int  # in the data
    noise_floor_mape: float | None  # None without replicates
    points: tuple[LearningPoint, ...]  # model after model, sizes upwards
    refused: tuple[tuple[str, int, str], ...]  # model, size, and why it has no point there
    repeats: int
    seed: int
    vocabulary: Vocabulary = field(default_factory=Vocabulary, repr=False)  # what the names in it mean

    @property
    def meaning(self) -> Response:
        return self.vocabulary.response(self.response)


def learning_curve(
    data: Dataset,
    response: str,
    models: Sequence[str],
    sizes: Sequence[int] | None = None,
    *,
    seed: int = 0,
    repeats: int = 5,
    on_step: OnStep | None = None,
) -> LearningCurve:
    """Let models learn from a few configurations, then from more, and test them on the rest; the baseline as well.

    Each of `repeats` draws puts the configurations in a random order and learns from the first ones, so that a larger
    size knows all a smaller one did. A model that refuses one draw of a size is left out there, so that all points of
    a size are about the same runs; so are runs with a category that nothing was learned about.
    """
    found = configurations(data, response)
    sizes = _checked(sizes, found) if sizes is not None else _spread(found)
    names = tuple(dict.fromkeys((*models, baseline())))
    for name in names:
        MODELS.get(name)  # an unknown name is the caller's mistake, not a refusal
    draws = {size: testable(splits, response)[0] for size, splits in _splits(found, sizes, seed, repeats).items()}
    n_splits = sum(map(len, draws.values()))
    points: list[LearningPoint] = []
    refused: list[tuple[str, int, str]] = []
    for number, name in enumerate(names, start=1):
        at = 0
        for size, splits in draws.items():
            if on_step:
                on_step(FoldProgress(name, number, len(names), at + 1, n_splits))
            at += len(splits)
            try:
                points.append(_point(name, size, splits, response))
            except (NotEnoughDataError, StudyError) as error:
                refused.append((name, size, error.problem))
    floor = noise_floor(data, response)
    return LearningCurve(
        response=response,
        n_configurations=len(found.different()),
        noise_floor_mape=None if floor is None else floor.mape,
        points=tuple(points),
        refused=tuple(refused),
        repeats=repeats,
        seed=seed,
        vocabulary=data.vocabulary,
    )


def _checked(sizes: Sequence[int], found: Configurations) -> list[int]:
    n = len(found.different())
    for size in sizes:
        if not 1 <= size < n:
            raise StudyError(
                f"{size} of {n} configurations for training leave none to test",
                hint=f"choose sizes from 1 to {n - 1}",
            )
    return sorted(set(sizes))


def _spread(found: Configurations) -> list[int]:
    """A few sizes at even ratios: the first configurations teach the most."""
    n = len(found.different())
    largest = n - max(1, round(_TESTED * n))
    if largest < _SMALLEST:
        raise NotEnoughDataError(
            f"{n} configurations are too few to tell whether more would help",
            hint=f"run at least {_SMALLEST + 1}; replicates of the same ones do not help",
        )
    steps = _MOST_SIZES - 1
    return sorted({round(_SMALLEST * (largest / _SMALLEST) ** (step / steps)) for step in range(_MOST_SIZES)})


def _splits(found: Configurations, sizes: Sequence[int], seed: int, repeats: int) -> dict[int, list[Split]]:
    random = Random(seed)
    keys = found.different()
    orders = [random.sample(keys, len(keys)) for _ in range(repeats)]
    return {
        size: [
            found.split(order[:size], order[size:], f"draw {number} of {repeats}, training on {size} configurations")
            for number, order in enumerate(orders, start=1)
        ]
        for size in sizes
    }


def _point(name: str, size: int, splits: Sequence[Split], response: str) -> LearningPoint:
    errors = [mape for split in splits if (mape := _mape(name, split, response)) is not None]
    if not errors:
        raise NotEnoughDataError("no percentage error can be computed here", hint="train on more configurations")
    return LearningPoint(name, size, sum(errors) / len(errors), min(errors), max(errors), len(errors))


def _mape(name: str, split: Split, response: str) -> float | None:
    """The error on the tested runs, in percent; None where all of them are 0."""
    fitted = fit_points(name, split.train, response)
    predicted = fitted.predict([split.train.key(run) for run in split.test])
    actual = [run.responses[response] for run in split.test]
    errors = [100 * abs(p - a) / abs(a) for p, a in zip(predicted, actual, strict=True) if a]
    # Not fmean, which refuses sums beyond the largest float: a model may be wrong by any factor.
    return sum(errors) / len(errors) if errors else None
