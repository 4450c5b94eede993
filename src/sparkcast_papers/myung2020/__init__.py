"""Myung and Yu (2020): completion times of convolutional networks on Spark by a hierarchy of two models."""

from sparkcast.registry import Registry
from sparkcast.replications import REPLICATIONS, PaperPart

PARTS: Registry[PaperPart] = Registry("part of myung2020", __name__)


@REPLICATIONS.register("myung2020")
class Myung2020:
    """Times on the full data predicted from runs on samples, with synthetic runs: none were published (Myung 2020)."""

    title = "Myung, Yu: Performance Prediction for Convolutional Neural Network on Spark Cluster"
    parts = PARTS
