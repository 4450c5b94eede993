"""Every combination of every level."""

from sparkcast.designs import DESIGNS, Chosen, TimeOf
from sparkcast.study import Study


@DESIGNS.register("full")
class FullFactorial:
    """Every combination of every level."""

    def choose(self, study: Study, time_of: TimeOf | None = None) -> Chosen:
        return Chosen.whole(study.space())
