"""Numbers of the paper, and of others from the recovered measurements, with the digits they were printed with."""

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

# Tables 4, 6, 8 and 11: MSE and R² of the response time on the asked rows.
LINEAR, LAWS, FOREST = "linear with interactions", "operational laws", "random forest"
BOOSTING_3, BOOSTING_5 = "boosting, 3 features", "boosting, 5 features"
TIME = {
    LINEAR: ("9928.175", "0.64005"),
    LAWS: ("4538.05", "0.8330"),
    FOREST: ("376.659", "0.9861"),
    BOOSTING_3: ("3024.48", "0.8887"),
}
# The same of the accuracy.
ACCURACY = {LINEAR: ("1.9252e-05", "0.95726"), FOREST: ("1.3590e-05", "0.9711")}
# Table 5: records per second by batch size, said to make 0.045 seconds per record.
THROUGHPUT = {64: 1600, 128: 3300, 256: 5700, 512: 10200}
# Section 5.3: MSE of predicted times, of Courier and of boosting.
EVALUATION_COURIER, EVALUATION_BOOSTING = "367.58", "803.26"
SLOS_MET_PERCENT = 100
# Table 9: the one SLO that is not that of the experiments, by cpu, batch and njobs.
TABLE_9_SLO: dict[tuple[object, ...], int] = {(4, 128, 1): 254}

# Worked out from the recovered measurements by other means than this package: MSE and R² on the authors' split.
AUTHORS_SPLIT = {
    LINEAR: ("17515", "0.464"),
    LAWS: ("8857", "0.729"),
    FOREST: ("1034", "0.968"),
    BOOSTING_3: ("6316", "0.807"),
    BOOSTING_5: ("803", "0.975"),
}
# The median MSE of 50 splits.
MEDIANS = {LINEAR: "21665", LAWS: "8620", FOREST: "2905", BOOSTING_3: "12085", BOOSTING_5: "5019"}
# Table 4's R² with its arguments in order, of time and of accuracy.
PROPER_R2 = ("0.635", "0.959")
# MSE in the final evaluation: Courier, boosting as it was asked, and boosting asked about the right network.
EVALUATION = ("368.11", "803", "168")
