"""Numbers of the paper's analysis of variance, with the digits they were printed with."""

TERMS = ("cpu", "batch", "njobs", "cpu:njobs")

# Table 3: F and P > F of the full factorial, said to be 288 runs.
TABLE_3 = {
    "cpu": ("20.449", "9.92e-06"),
    "batch": ("467.919", "8.95e-57"),
    "njobs": ("42.765", "4.12e-10"),
    "network": ("5.108", "2.47e-02"),
    "cpu:njobs": ("15.7896", "9.55e-05"),
}
# Table 2: the same of the 2^4 design, said to be 48 runs; njobs has F = -0.004 and P = 1.
TABLE_2 = {"cpu": ("7.001", "1.159e-02"), "batch": ("9.063", "4.50e-03"), "network": ("429.306", "5.35e-23")}
TABLE_2_NEGATIVE_F = -0.004
# Table 12: P > F of the whole table that Table 2 is said to be a part of.
TABLE_12 = {"cpu": "7.18e-02", "batch": "6.28e-14", "njobs": "1.92e-02", "network": "6.15e-02"}

# Limits of 95 % intervals in Table 13, and the same in Table 3.
TABLE_13_PASTED = {"upper limit of batch": (-30.170, -0.410), "lower limit of network": (5.108, -64.841)}

# Worked out from the recovered measurements by other means than this package: F.
REPLICATE_1 = {"cpu": "4.6", "batch": "151", "njobs": "15.7", "cpu:njobs": "5.1"}
ALL_CELLS = {"cpu": "20.9", "batch": "551", "njobs": "46.7", "cpu:njobs": "18.6"}
