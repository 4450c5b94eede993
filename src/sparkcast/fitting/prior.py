"""What is known of a job before its first run: the prior of the Bayesian model.

    time = (serial part + shared part) * noise
    log(shared part) = powers of the settings + offsets of categories + what missing memory costs + a smooth remainder

Missing memory costs a power of what is missing, a jump where it begins to be missing, or both.

What a setting means (its role) decides what is expected of it. A number of unknown meaning may do nothing, or the time
may be in proportion to it or to its inverse. The handful of numbers below comes from measured jobs, see
`benchmarks/priors.py`, which prints them; they are rounded, and half or double of most of them changes little.
"""

from dataclasses import dataclass, fields

import numpy as np

from sparkcast.arrays import Floats, Ints
from sparkcast.study import Role
from sparkcast.study.setting import PASSES, SIZES

# Medians, and standard deviations of the logarithm.
_NOISE = (0.03, 1.0)  # among replicates
_UNSEEN_NOISE = (0.05, 1.2)  # of a time where nothing was repeated: it may as well be a busy cluster
_BETWEEN = (0.02, 0.8)  # among configurations, beyond what replicates show: placement, neighbors, skew
_REMAINDER = (0.17, 0.8)
_REMAINDER_OF_ODDS = (1.0, 0.8)  # of the log-odds of a share: an accuracy goes from chance to nearly all
_LENGTH, _LENGTH_EACH = (1.5, 0.6), 0.5  # of the remainder, in e-folds of a setting: of all settings, and of each
_OFFSET = (0.35, 0.9)  # of a category
_DISTANCE = (2.0, 0.5)  # between two categories, like the lengths
_CLIFF = (0.4, 0.8)  # power of the memory that is missing
_JUMP = (0.8, 0.7)  # of the logarithm of a time, where data no longer fit into memory

# Mean and standard deviation of the power with which the shared part of a time grows.
_POWERS = {
    Role.MACHINES: (-0.9, 0.4),
    Role.CORES: (-0.9, 0.4),
    Role.TOTAL_CORES: (-0.9, 0.4),
    Role.DATA_SIZE: (0.9, 0.3),
    Role.FRACTION: (0.9, 0.3),
    Role.EPOCHS: (0.9, 0.3),
    Role.ITERATIONS: (0.9, 0.4),
    Role.BATCH: (-0.4, 0.5),  # with a given number of passes: fewer steps
    Role.JOBS: (0.3, 0.35),
    Role.MEMORY: (0.0, 0.3),
}
_BATCH_OF_A_STEP = (0.8, 0.4)  # with a given number of steps: more work in each
_SHARED_ROLES = ((Role.MACHINES,), (Role.CORES,), (Role.TOTAL_CORES,), SIZES, PASSES)
_UNKNOWN_POWERS = ((0.8, 0.0, 0.35), (0.13, 1.0, 0.25), (0.07, -1.0, 0.25))  # probability, mean, standard deviation
_LINEAR = (0.0, 0.7)  # over the whole range of a number that is not always positive, and so has no power

_NO_SERIAL_PART = 0.2  # probabilities
_GROWS_WITH_MACHINES = 0.25
_IN_PROPORTION = dict.fromkeys((*SIZES, *PASSES), 0.5) | dict.fromkeys((Role.OTHER, Role.BATCH, Role.JOBS), 0.25)
_HAS_CLIFF = 0.3
_HAS_JUMP = 0.3

# Of settings of which nothing is known all act if they are few, since they were chosen; of many, most do nothing.
_ALL_ACT = 6
_ACTING = 3  # of very many
_IDLE = 0.05  # how much of its usual effect such a setting has

_SINGLE = (
    "noise between remainder length distance common has_serial serial grows growth "
    "has_cliff cliff need need_growth has_jump jump jump_need jump_growth"
).split()


@dataclass(frozen=True, slots=True)
class Terrain:
    """What there is to learn about: the numbers among the settings, the categories, and the response."""

    roles: tuple[Role, ...]  # of the numbers
    are_logs: tuple[bool, ...]  # positive numbers count by their logarithms
    n_categories: int
    is_time: bool
    has_odds: bool = False  # the response is a share, compared by its log-odds
    has_repeats: bool = True  # some configuration was run more than once, with different results

    @property
    def n_unknown(self) -> int:
        """How many standard normal numbers become one set of quantities."""
        return len(_SINGLE) + 3 * len(self.roles) + self.n_categories + (self.n_doubtful if self.has_many else 0)

    @property
    def doubtful(self) -> list[int]:
        """Which of the numbers may do nothing at all: those of unknown meaning."""
        return [j for j in range(len(self.roles)) if not self.are_logs[j] or self.power(j) is None]

    @property
    def n_doubtful(self) -> int:
        return len(self.doubtful) + self.n_categories

    @property
    def has_many(self) -> bool:
        """Whether there are so many settings of unknown meaning that most of them do next to nothing."""
        return self.n_doubtful > _ALL_ACT

    @property
    def share_acting(self) -> float:
        """The share of these that act: all up to some number, and of very many a few."""
        return min(1.0, _ACTING / max(self.n_doubtful - (_ALL_ACT - _ACTING), _ACTING))

    def places(self, *roles: Role) -> list[int]:
        """Which of the numbers have one of these roles."""
        return [j for j, role in enumerate(self.roles) if role in roles and self.are_logs[j]]

    def power(self, j: int) -> tuple[float, float] | None:
        """Mean and standard deviation of the power of a number; None if nothing is known of it."""
        role = self.roles[j]
        if not self.are_logs[j]:
            return _LINEAR
        if not self.is_time or role not in _POWERS:
            return None
        if role in (Role.MACHINES, Role.CORES) and self.places(Role.TOTAL_CORES):
            return _UNKNOWN_POWERS[0][1:]  # the cores of all machines have the known power
        mean, spread = _POWERS[role]
        if role is Role.BATCH and self.places(Role.ITERATIONS):
            return _BATCH_OF_A_STEP
        n = len(self.places(*next((alike for alike in _SHARED_ROLES if role in alike), (role,))))
        # Where several settings mean the same they may change together and share the power, or each has all of it.
        return mean / n, (spread**2 + (mean * (1 - 1 / n)) ** 2) ** 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Quantities:
    """What the model would like to know, once per particle; arrays with two axes have one column per setting."""

    noise: Floats
    between: Floats
    remainder: Floats
    lengths: Floats
    offsets: Floats
    closeness: Floats  # of categories: 1 where each counts as another, near 0 where one hardly matters
    distance: Floats
    common: Floats  # share of the remainder's variance that all categories have in common
    serial: Floats  # the largest share of a measured time that it is
    growth: Floats  # its power of the machines
    proportion: Floats  # how far it is in proportion to each number
    power_means: Floats
    power_spreads: Floats
    cliff: Floats
    need: Floats  # of memory, in e-folds from the mean of what was measured
    need_growth: Floats  # its power of the data size
    jump: Floats
    jump_need: Floats  # like `need` and `need_growth`
    jump_growth: Floats

    def take(self, rows: Ints | slice) -> "Quantities":
        return Quantities(*(getattr(self, field.name)[rows] for field in fields(self)))


def quantities(terrain: Terrain, unknowns: Floats) -> Quantities:
    """One row of standard normal numbers for each particle becomes its quantities."""
    from scipy.special import ndtr

    one = dict(zip(_SINGLE, unknowns.T, strict=False))
    n = len(terrain.roles)
    places = np.cumsum([n, n, n, terrain.n_categories])
    lengths, proportion, powers, offsets, acting = np.split(unknowns[:, len(_SINGLE) :], places, axis=1)
    means, spreads = _powers(terrain, ndtr(powers))
    relevance, relevance_of_categories = _relevance(terrain, ndtr(acting))
    in_proportion = np.array([_IN_PROPORTION.get(role, 0.0) for role in terrain.roles]) * relevance
    chance = ndtr(proportion)
    has_serial = (ndtr(one["has_serial"]) > _NO_SERIAL_PART) & terrain.is_time
    may_lack_memory = terrain.is_time and bool(terrain.places(Role.MEMORY))
    return Quantities(
        noise=_log_normal(one["noise"], _NOISE if terrain.has_repeats or not terrain.is_time else _UNSEEN_NOISE),
        between=_log_normal(one["between"], _BETWEEN),
        remainder=_log_normal(one["remainder"], _REMAINDER_OF_ODDS if terrain.has_odds else _REMAINDER),
        lengths=_log_normal(one["length"], _LENGTH)[:, None] * np.exp(_LENGTH_EACH * lengths) / relevance,
        offsets=_log_normal(offsets, _OFFSET) * relevance_of_categories,
        closeness=relevance_of_categories,
        distance=_log_normal(one["distance"], _DISTANCE),
        common=ndtr(one["common"]),
        serial=np.where(has_serial, 0.98 * (1 - (1 - ndtr(one["serial"])) ** (2 / 3)), 0.0),  # Beta(1, 1.5)
        growth=np.where(ndtr(one["grows"]) < _GROWS_WITH_MACHINES, ndtr(one["growth"]), 0.0),
        proportion=np.where(chance < in_proportion, np.sqrt(chance / np.maximum(in_proportion, 1e-9)), 0.0),
        power_means=means * relevance,
        power_spreads=spreads * relevance,
        cliff=np.where((ndtr(one["has_cliff"]) < _HAS_CLIFF) & may_lack_memory, _log_normal(one["cliff"], _CLIFF), 0.0),
        need=one["need"],
        need_growth=ndtr(one["need_growth"]),
        jump=np.where((ndtr(one["has_jump"]) < _HAS_JUMP) & may_lack_memory, _log_normal(one["jump"], _JUMP), 0.0),
        jump_need=one["jump_need"],
        jump_growth=ndtr(one["jump_growth"]),
    )


def _relevance(terrain: Terrain, chances: Floats) -> tuple[Floats, Floats]:
    """How much each number and each category matters: all alike where they are few, most of them little where many."""
    numbers, categories = np.ones((len(chances), len(terrain.roles))), np.ones((len(chances), terrain.n_categories))
    if terrain.has_many:
        found = np.where(chances < terrain.share_acting, 1.0, _IDLE)
        numbers[:, terrain.doubtful], categories[:] = np.split(found, [len(terrain.doubtful)], axis=1)
    return numbers, categories


def _log_normal(z: Floats, prior: tuple[float, float]) -> Floats:
    found: Floats = prior[0] * np.exp(prior[1] * z)
    return found


def _powers(terrain: Terrain, chances: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of every power; of an unknown one by chance those of one of three guesses."""
    probabilities, means, spreads = (np.array(column) for column in zip(*_UNKNOWN_POWERS, strict=True))
    guess = np.minimum(np.searchsorted(np.cumsum(probabilities), chances), len(probabilities) - 1)
    mean, spread = means[guess], spreads[guess]
    for j in range(len(terrain.roles)):
        if (known := terrain.power(j)) is not None:
            mean[:, j], spread[:, j] = known
    return mean, spread
