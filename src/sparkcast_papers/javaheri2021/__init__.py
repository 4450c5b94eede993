"""Javaheri (2021): reading images for training, from single files and from TFRecords, with and without caching."""

from sparkcast.registry import Registry
from sparkcast.replications import REPLICATIONS, PaperPart

PARTS: Registry[PaperPart] = Registry("part of javaheri2021", __name__)


@REPLICATIONS.register("javaheri2021")
class Javaheri2021:
    """Images per second by file format, cache, batch size and number of batches (Javaheri 2021)."""

    title = "Javaheri: Data Processing and Machine Learning in the Cloud"
    parts = PARTS
