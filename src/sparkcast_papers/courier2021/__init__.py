"""Albo Martinez, Bobde, Motyka and Chen (ICPE 2021): batch sizes for response times, with BigDL on Spark."""

from sparkcast.registry import Registry
from sparkcast.replications import REPLICATIONS, PaperPart

PARTS: Registry[PaperPart] = Registry("part of courier2021", __name__)


@REPLICATIONS.register("courier2021")
class Courier2021:
    """A full factorial of response times, and the batch size that meets a deadline (Courier, ICPE 2021)."""

    title = (
        "Albo Martinez, Bobde, Motyka, Chen: Courier: Real-Time Optimal Batch Size Prediction for Latency SLOs in BigDL"
    )
    parts = PARTS
