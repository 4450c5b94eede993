"""Marinos, Voorhout and Tehrany (2020): a fractional factorial of MNIST training with BigDL on Spark."""

from sparkcast.registry import Registry
from sparkcast.replications import REPLICATIONS, PaperPart

PARTS: Registry[PaperPart] = Registry("part of marinos2020", __name__)


@REPLICATIONS.register("marinos2020")
class Marinos2020:
    """A 2^(6-1) design for training cost, with its ANOVA, queues and search (Marinos et al. 2020)."""

    title = "Marinos, Voorhout, Tehrany: Optimization of machine learning training workflows on Apache Spark cluster"
    parts = PARTS
