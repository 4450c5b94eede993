"""Leave one configuration out."""

from collections.abc import Sequence
from dataclasses import replace

from sparkcast.analyse.runs import usable_runs
from sparkcast.study import Dataset
from sparkcast.validate.protocols import PROTOCOLS, Split


@PROTOCOLS.register("loo")
class LeaveOneOut:
    """Each configuration in turn, with all its replicates, is predicted from the others."""

    def splits(self, data: Dataset, response: str) -> Sequence[Split]:
        runs = usable_runs(data, response)
        return [
            Split(
                replace(data, observations=tuple(o for o in runs if data.key(o) != key)),
                tuple(o for o in runs if data.key(o) == key),
            )
            for key in dict.fromkeys(map(data.key, runs))
        ]
