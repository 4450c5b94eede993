"""The settings that the paper searched, for `sparkcast fit --grid courier2021`.

Names of scikit-learn today: max_features "auto" was all columns for regressors. Where only the ends of a list are known
it is a range.
"""

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from sparkcast.learned.grid_search import GRIDS, MethodGrid, Range
from sparkcast_papers.models.courier import Courier


@GRIDS.register("courier2021")
class Courier2021Grids:
    """The grid that Courier's authors used for their forest."""

    spaces: ClassVar[Mapping[str, MethodGrid]] = {
        "courier": MethodGrid(
            partial(Courier, log=False),
            {
                "trees": Range(50, 2000, steps=5, is_log=True, is_whole=True),
                "depth": (4, 5, 6, 7, 8, 9, 10),
                "criterion": ("squared_error", "absolute_error"),
                "features": (1.0, "sqrt", "log2"),
            },
        ),
    }
