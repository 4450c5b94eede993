"""Leave-one-out that leaves out: both levels are learned again without the row."""

from collections.abc import Callable, Mapping

from sparkcast.arrays import Floats
from sparkcast_papers.myung2020._generate import Runs
from sparkcast_papers.myung2020._lines import ridge
from sparkcast_papers.myung2020._networks import train_networks
from sparkcast_papers.myung2020._scenarios import Level2, Outcome, column, combined, scaled, training_runs
from sparkcast_papers.myung2020._techniques import HIDDEN, ITERATIONS, SEED, Point, Predict, Technique, fit


def nested(runs: Runs, outcome: Outcome) -> dict[Technique, Floats]:
    """What each technique predicts for each training row without it.

    Grid points stay those of the paper's way: what is learned again is everything that is learned from times.
    """
    import numpy as np

    train, level_2 = training_runs(runs, outcome.scenario), outcome.scenario.level_2
    folds = [_fold(train, i, outcome.level_1, level_2) for i in range(len(train))]
    found: dict[Technique, Floats] = {}
    for technique, point in outcome.points.items():
        if technique == "mlp":
            found[technique] = _networks(point, folds)
        else:
            found[technique] = np.array([fit(point, x, y)(own)[0] for x, y, own in folds])
    return found


def _fold(train: Runs, i: int, level_1: Mapping[str, Point], level_2: Level2) -> tuple[Floats, Floats, Floats]:
    """What the second level learns from, and the left-out row as it sees it."""
    kept, own = _split(train, i)
    predicts = {
        feature: fit(point, column(kept, feature)[:, None], scaled(kept, feature)) for feature, point in level_1.items()
    }
    return combined(predicts, kept, level_2), kept.minutes, combined(predicts, own, level_2)


def _split(train: Runs, i: int) -> tuple[Runs, Runs]:
    import numpy as np

    is_own = np.arange(len(train)) == i
    return train.where(~is_own), train.where(is_own)


def _networks(point: Point, folds: list[tuple[Floats, Floats, Floats]]) -> Floats:
    """The networks of all folds, side by side."""
    import numpy as np

    x, y, own = (np.array(part) for part in zip(*folds, strict=True))
    networks = train_networks(
        x,
        y,
        np.ones(y.shape),
        np.full(len(y), point.alpha),
        hidden=HIDDEN,
        activation=point.activation,
        seed=SEED,
        max_iter=ITERATIONS,
    )
    return networks.predict(own)[:, 0]


def level_means(x: Floats, y: Floats) -> Predict:
    """The mean at each level; a straight line through the means where a level was never run."""
    import numpy as np

    levels, level = np.unique(x[:, 0], return_inverse=True)
    means = np.bincount(level, y) / np.bincount(level)
    slope, intercept = np.polyfit(levels, means, 1)

    def predict(at: Floats) -> Floats:
        place = np.clip(np.searchsorted(levels, at[:, 0]), 0, len(levels) - 1)
        return np.where(levels[place] == at[:, 0], means[place], intercept + slope * at[:, 0])

    return predict


def product_of_means(
    train: Runs, features: tuple[str, ...], *, refit_for: Runs | None = None
) -> Callable[[Runs], Floats]:
    """Scenarios 3-2 and 4-2 without any grid: level means, their product, and a straight line; of whole runs.

    `refit_for` are the runs that the second level learns from when the first has seen more.
    """
    predicts = {feature: level_means(column(train, feature)[:, None], scaled(train, feature)) for feature in features}
    later = refit_for or train
    line = ridge(combined(predicts, later, "product"), later.minutes, [1e-15])
    return lambda runs: line.predict(combined(predicts, runs, "product"))[0]


def product_left_out(train: Runs, features: tuple[str, ...], *, is_nested: bool) -> Floats:
    """Left-out predictions of that model; not nested, the first level has seen the row, as in the paper."""
    import numpy as np

    found = []
    for i in range(len(train)):
        kept, own = _split(train, i)
        model = product_of_means(kept if is_nested else train, features, refit_for=kept)
        found.append(float(model(own)[0]))
    return np.array(found)
