"""Names for arrays: mypy sees what they hold, and nothing imports numpy for it at run time."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]
    Bools = NDArray[np.bool_]
else:
    Floats = Ints = Bools = Any
