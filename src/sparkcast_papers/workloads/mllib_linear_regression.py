"""Linear regression of Spark's MLlib on generated rows."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sparkcast.arrays import Floats
from sparkcast.workloads.base import THROUGHPUT, TIME, WORK, WORKLOADS, Configuration, Kind, Levels, Response, Setting
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

# A share, because a run in which it is not above 0 is an error.
R2 = Response("r2", kind=Kind.SHARE, unit="share of the variance explained")
RMSE = Response("rmse", kind=Kind.COUNT)


@WORKLOADS.register("mllib-linear-regression")
class MllibLinearRegression(LearnsFromRows):
    """Learns a number from generated rows with MLlib's linear regression."""

    name = "mllib-linear-regression"
    settings: tuple[Setting, ...] = (*DATA_SETTINGS, ITERATIONS)
    responses: tuple[Response, ...] = (
        TIME,
        WORK,
        R2,
        RMSE,
        THROUGHPUT,
        Response("loss"),
        COEFFICIENT_ERROR,
        ITERATIONS_DONE,
        READING,
    )
    chance: Mapping[str, float] = {"r2": 0.0}
    example: Mapping[str, object] = {"executors": [1, 2], "rows": [50_000, 100_000], "iterations": [5, 20]}

    @staticmethod
    def make_rows(random: "np.random.Generator", rows: int, settings: Levels) -> tuple[Floats, Floats]:
        """Labels are the features times the true coefficients, plus noise of deviation 1."""
        x = correlated(random, rows, int(settings["features"]))
        return x, x @ true_coefficients(settings) + random.normal(size=rows)

    def check(self, settings: Configuration) -> None:
        check_coefficients(settings)

    def fit(self, training: Any, settings: Configuration) -> Any:
        from pyspark.ml.regression import LinearRegression

        # The other solver, the normal equations, takes one pass whatever the iterations.
        return LinearRegression(maxIter=int(settings["iterations"]), tol=0.0, solver="l-bfgs").fit(training)

    def judge(self, model: Any, held_out: Any, settings: Configuration) -> ModelQuality:
        quality = model.evaluate(held_out)
        return judge_coefficients(model, settings, r2=quality.r2, rmse=quality.rootMeanSquaredError)
