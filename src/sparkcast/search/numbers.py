"""Numbers between 0 and 1, from which all that is random about a job is made, one after the other."""

import numpy as np

from sparkcast.arrays import Floats

_NEAR = 1e-9  # to 0 and 1, where normal numbers have no end


class Numbers:
    """One row per job."""

    def __init__(self, rows: Floats) -> None:
        self._rows = rows
        self.used = 0  # columns

    def uniform(self, n: int = 1) -> Floats:
        """The next n columns."""
        columns: Floats = self._rows[:, self.used : self.used + n]
        self.used += n
        return columns

    def normal(self, n: int = 1) -> Floats:
        from scipy.special import ndtri

        normals: Floats = ndtri(np.clip(self.uniform(n), _NEAR, 1 - _NEAR))
        return normals

    def between(self, low: float, high: float) -> Floats:
        """Any order of magnitude between the limits alike."""
        amounts: Floats = np.exp(np.log(low) + self.uniform() * np.log(high / low))
        return amounts
