"""Logistic regression of Spark's MLlib on generated rows."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sparkcast.arrays import Floats
from sparkcast.study.configuration import Levels
from sparkcast.workloads.base import THROUGHPUT, TIME, WORK, WORKLOADS, Configuration, Kind, Response, Setting
from sparkcast.workloads.mllib import (
    COEFFICIENT_ERROR,
    DATA_SETTINGS,
    ITERATIONS,
    ITERATIONS_DONE,
    READING,
    LearnsFromRows,
    ModelQuality,
    check_coefficients,
    correlated,
    judge_coefficients,
    true_coefficients,
)

if TYPE_CHECKING:
    import numpy as np

AUC = Response("auc", kind=Kind.SHARE, unit="area under the ROC curve")


@WORKLOADS.register("mllib-logistic-regression")
class MllibLogisticRegression(LearnsFromRows):
    """Learns two classes from generated rows with MLlib's logistic regression."""

    name = "mllib-logistic-regression"
    settings: tuple[Setting, ...] = (*DATA_SETTINGS, ITERATIONS)
    responses: tuple[Response, ...] = (
        TIME,
        WORK,
        AUC,
        THROUGHPUT,
        Response("loss"),
        COEFFICIENT_ERROR,
        ITERATIONS_DONE,
        READING,
    )
    chance: Mapping[str, float] = {"auc": 0.5}
    example: Mapping[str, object] = {"executors": [1, 2], "rows": [50_000, 100_000], "iterations": [5, 20]}

    @staticmethod
    def make_rows(random: "np.random.Generator", rows: int, settings: Levels) -> tuple[Floats, Floats]:
        """Labels are 1 with the probability that the true coefficients give, else 0."""
        import numpy as np

        x = correlated(random, rows, int(settings["features"]))
        probability = 1 / (1 + np.exp(-x @ true_coefficients(settings)))
        return x, (random.random(rows) < probability).astype(float)

    def check(self, settings: Configuration) -> None:
        check_coefficients(settings)

    def fit(self, training: Any, settings: Configuration) -> Any:
        from pyspark.ml.classification import LogisticRegression

        # Without a tolerance it uses up its iterations unless it cannot improve any more.
        return LogisticRegression(maxIter=int(settings["iterations"]), tol=0.0).fit(training)

    def judge(self, model: Any, held_out: Any, settings: Configuration) -> ModelQuality:
        from pyspark.ml.evaluation import BinaryClassificationEvaluator

        return judge_coefficients(
            model, settings, auc=BinaryClassificationEvaluator().evaluate(model.transform(held_out))
        )
