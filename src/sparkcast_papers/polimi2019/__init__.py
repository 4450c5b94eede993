"""Ardagna, Lattuada and Gianniti (2019, slides): machine learning for the times of Spark jobs and of CNN training."""

from sparkcast.registry import Registry
from sparkcast.replications import REPLICATIONS, PaperPart

PARTS: Registry[PaperPart] = Registry("part of polimi2019", __name__)


@REPLICATIONS.register("polimi2019")
class Polimi2019:
    """Times of Spark jobs and CNN training outside the measured settings, compared with a-MLLibrary."""

    title = "Ardagna, Lattuada, Gianniti: Machine learning for studying the performance of large scale systems"
    parts = PARTS
