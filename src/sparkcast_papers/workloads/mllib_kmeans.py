"""K-means of Spark's MLlib on generated rows."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sparkcast.arrays import Floats
from sparkcast.workloads.base import THROUGHPUT, TIME, WORK, WORKLOADS, Configuration, Kind, Levels, Response, Setting
from sparkcast.workloads.mllib import (
    DATA_SETTINGS,
    ITERATIONS,
    ITERATIONS_DONE,
    READING,
    LearnsFromRows,
    ModelQuality,
    check_rows,
    truth,
)

if TYPE_CHECKING:
    import numpy as np

# A share, because a run in which it is not above 0 is an error.
SILHOUETTE = Response("silhouette", kind=Kind.SHARE, unit="1 is well separated, 0 is not")
DISTANCE = Response("distance", kind=Kind.COUNT, unit="mean squared distance")


@WORKLOADS.register("mllib-kmeans")
class MllibKMeans(LearnsFromRows):
    """Finds clusters among generated rows with MLlib's k-means."""

    name = "mllib-kmeans"
    settings: tuple[Setting, ...] = (
        *DATA_SETTINGS,
        Setting("clusters", 10, "clusters that the rows are drawn from", minimum=1),
        Setting("k", 10, "clusters to look for", minimum=2),
        ITERATIONS,
    )
    responses: tuple[Response, ...] = (
        TIME,
        WORK,
        SILHOUETTE,
        DISTANCE,
        THROUGHPUT,
        ITERATIONS_DONE,
        READING,
    )
    chance: Mapping[str, float] = {"silhouette": 0.0}
    example: Mapping[str, object] = {"executors": [1, 2], "rows": [50_000, 100_000], "k": [5, 10], "iterations": 10}

    @staticmethod
    def make_rows(random: "np.random.Generator", rows: int, settings: Levels) -> tuple[Floats, Floats]:
        """Points around the centers of the clusters, with deviation 1; the label is the number of the cluster."""
        clusters, features = int(settings["clusters"]), int(settings["features"])
        centers = truth(settings).normal(scale=2.0, size=(clusters, features))
        labels = random.integers(clusters, size=rows)
        return centers[labels] + random.normal(size=(rows, features)), labels.astype(float)

    def check(self, settings: Configuration) -> None:
        k = int(settings["k"])
        check_rows(settings, least=10 * k, because=f"it takes 10 for each of k = {k} clusters")

    def fit(self, training: Any, settings: Configuration) -> Any:
        from pyspark.ml.clustering import KMeans

        k, iterations, seed = int(settings["k"]), int(settings["iterations"]), int(settings["seed"])
        return KMeans(k=k, maxIter=iterations, tol=0.0, seed=seed).fit(training)

    def judge(self, model: Any, held_out: Any, settings: Configuration) -> ModelQuality:
        from pyspark.ml.evaluation import ClusteringEvaluator

        silhouette = ClusteringEvaluator().evaluate(model.transform(held_out))
        done = model.summary.numIter
        distance = model.summary.trainingCost / int(settings["rows"])
        return ModelQuality({"silhouette": silhouette, "distance": distance, "iterations_done": done}, iterations=done)
