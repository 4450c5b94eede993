"""What the paper prints: its tables, the grids it searched, and its results. CNNs always in the order of CNNS."""

from dataclasses import dataclass

CNNS = ("inception_v4", "resnet50", "xception")
IMAGES = 200_000

# Table 9: the levels of each setting, in this order the columns of a run.
LEVELS: dict[str, tuple[int, ...]] = {
    "sampling_rate": (1, 10, 100),  # % of the images
    "memory": (2, 4, 6, 8, 10, 12, 14),  # GB per executor
    "executors": (1, 2, 3),
    "cores": (2, 4, 6, 8),  # per executor
    "partition_size": (20, 40, 60, 80, 100),  # images
}


@dataclass(frozen=True, slots=True)
class Spread:
    """Least, mean and greatest scaled completion time."""

    low: float
    mean: float
    high: float


# Table 2: scaled completion time at sampling rates of 1 % and 10 %.
TABLE_2: dict[int, tuple[Spread, ...]] = {
    1: (Spread(0.0102, 0.0104, 0.0106), Spread(0.0105, 0.0107, 0.0109), Spread(0.0104, 0.0108, 0.0110)),
    10: (Spread(0.095, 0.098, 0.100), Spread(0.097, 0.100, 0.101), Spread(0.096, 0.097, 0.098)),
}
# Tables 3 and 4: of memory and of the partition size.
TABLE_3 = (Spread(0.98, 0.99, 1), Spread(0.95, 0.97, 1), Spread(0.93, 0.97, 1))
TABLE_4 = (Spread(0.99, 0.99, 1), Spread(0.94, 0.97, 1), Spread(0.98, 0.99, 1))
# Tables 5a and 5b: mean scaled completion time by cores and by executors; 6a and 6b: of a single task.
TABLE_5A = (("1", "0.66", "0.52", "0.47"), ("1", "0.65", "0.51", "0.47"), ("1", "0.65", "0.48", "0.41"))
TABLE_5B = (("1", "0.51", "0.34"), ("1", "0.50", "0.34"), ("1", "0.50", "0.33"))
TABLE_6A = (("0.53", "0.70", "0.83", "1"), ("0.53", "0.68", "0.81", "1"), ("0.60", "0.78", "0.87", "1"))

# Minutes: collecting the training runs (t1), search and training (t2).
T1_FULL = ("6467", "5182", "9157")  # baseline and scenarios 3
T1_SAMPLED = ("710", "570", "1007")  # scenarios 4
T2_BASELINE, T2_3, T2_4 = 2.0, 20.0, 45.0

# Tables 10 and 11.
ALPHAS = (1e-15, 1e-10, 1e-8, 1e-3, 1e-2, 1.0, 5.0, 10.0, 20.0)
TREES = (50, 100, 150)

# Section 6: the best accuracies, 100 - MAPE. Those of 3-1, 3-2 and 4-2 are means of the three networks.
ACCURACY: dict[str, tuple[str, ...]] = {
    "baseline": ("92.3", "92.2", "92.4"),
    "1": ("50", "51", "45"),
    "2": ("55", "51", "45"),
    "3-1": ("98", "98", "98"),
    "3-2": ("99", "99", "99"),
    "4-1": ("57.3", "57.1", "54.3"),
    "4-2": ("99.8", "99.8", "99.8"),
}
