"""Random forest of Spark's MLlib on generated rows."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sparkcast.arrays import Floats
from sparkcast.errors import StudyError
from sparkcast.workloads.base import (
    ACCURACY,
    THROUGHPUT,
    TIME,
    WORK,
    WORKLOADS,
    Configuration,
    Levels,
    Response,
    Setting,
)
from sparkcast.workloads.mllib import DATA_SETTINGS, READING, LearnsFromRows, ModelQuality, check_rows

if TYPE_CHECKING:
    import numpy as np

_DEEPEST = 30  # that MLlib grows
_TELLING = 5  # features that decide the label; the others are noise
_FLIPPED = 0.1  # share of the labels, so that no model can be right more often than 0.9


@WORKLOADS.register("mllib-random-forest")
class MllibRandomForest(LearnsFromRows):
    """Learns two classes from generated rows with MLlib's random forest."""

    name = "mllib-random-forest"
    settings: tuple[Setting, ...] = (
        *DATA_SETTINGS,
        Setting("trees", 20, "trees of the forest", minimum=1),
        Setting("depth", 5, f"levels below the root of a tree, up to {_DEEPEST}", minimum=1),
    )
    responses: tuple[Response, ...] = (TIME, WORK, ACCURACY, THROUGHPUT, READING)
    chance: Mapping[str, float] = {"accuracy": 0.5}
    example: Mapping[str, object] = {"executors": [1, 2], "rows": [20_000, 40_000], "trees": [5, 20], "depth": 5}

    @staticmethod
    def make_rows(random: "np.random.Generator", rows: int, settings: Levels) -> tuple[Floats, Floats]:
        """Labels by a vote of the telling features, whether more of them are positive or negative."""
        features = int(settings["features"])
        x = random.normal(size=(rows, features))
        votes = x[:, : _TELLING if features >= _TELLING else 1] > 0
        is_flipped = random.random(rows) < _FLIPPED
        return x, ((votes.mean(axis=1) > 0.5) ^ is_flipped).astype(float)

    def check(self, settings: Configuration) -> None:
        check_rows(settings, least=100, because="it takes 100 to tell a forest from guessing")
        if int(settings["depth"]) > _DEEPEST:
            raise StudyError(f"depth = {settings['depth']} is more than MLlib grows", hint=f"use up to {_DEEPEST}")

    def fit(self, training: Any, settings: Configuration) -> Any:
        from pyspark.ml.classification import RandomForestClassifier

        trees, depth = int(settings["trees"]), int(settings["depth"])
        return RandomForestClassifier(numTrees=trees, maxDepth=depth, seed=int(settings["seed"])).fit(training)

    def judge(self, model: Any, held_out: Any, settings: Configuration) -> ModelQuality:
        from pyspark.ml.evaluation import MulticlassClassificationEvaluator

        right = MulticlassClassificationEvaluator(metricName="accuracy").evaluate(model.transform(held_out))
        return ModelQuality({"accuracy": right})
