"""Every combination of every level."""

from collections.abc import Sequence

from sparkcast.designs import DESIGNS
from sparkcast.study import Configuration, Study


@DESIGNS.register("full")
class FullFactorial:
    """Every combination of every level."""

    def combinations(self, study: Study) -> Sequence[Configuration]:
        return list(study.combinations())
