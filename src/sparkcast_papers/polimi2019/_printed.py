"""Numbers of the slides, and of others from the public measurements, with the digits they were printed with."""

# The table without a caption: MAPE.
NEW_HARDWARE = {
    "alexnet PyTorch": "8.28",
    "alexnet TensorFlow": "5.08",
    "resnet50 PyTorch": "18.09",
    "resnet50 TensorFlow": "10.10",
}
# GPUs number: MAPE for K80, M60 and GTX 1080Ti.
GPU_NUMBER = {
    "alexnet PyTorch": "7.21 12.18 4.98",
    "alexnet TensorFlow": "24.75 17.27 8.77",
    "resnet50 PyTorch": "5.11 9.04 11.76",
    "resnet50 TensorFlow": "24.58 18.29 6.54",
    "vgg19 PyTorch": "12.20 15.98 24.13",
    "vgg19 TensorFlow": "8.84 13.52 13.65",
}
GPU_NUMBER_CARDS = ("K80", "M60", "GTX1080Ti")
# Inner modules: MAPE for 1, 2 and 4 GPUs by the most modules learned from.
INNER_MODULES = {4: "23.51 27.95 17.40", 5: "24.85 25.11 16.75", 6: "26.76 20.40 16.63", 8: "17.06 7.93 15.99"}
INNER_MODULES_GPUS = (1, 2, 4)
# Batch size: MAPE by card and number of GPUs.
BATCH_SIZE_COLUMNS = (
    *(("P600", 1), ("P600", 2)),
    *(("K80", n) for n in (1, 2, 3, 4)),
    *(("M60", n) for n in (1, 2, 3, 4)),
    *(("GTX1080Ti", n) for n in (1, 2, 4, 8)),
)
BATCH_SIZE = {
    "alexnet PyTorch": "11.12 7.85 1.74 3.33 1.81 0.66 6.19 3.49 6.58 0.75 0.43 1.62 1.15 4.16",
    "alexnet TensorFlow": "9.83 10.04 2.30 2.61 4.28 2.82 7.19 6.36 6.91 6.96 4.06 5.36 1.14 1.12",
    "resnet50 PyTorch": "10.64 11.97 0.76 7.83 3.09 4.53 3.60 20.04 9.58 4.64 12.62 11.93 20.63 4.29",
    "resnet50 TensorFlow": "2.37 14.35 10.25 1.27 1.84 6.83 2.08 2.79 3.07 21.49 0.68 6.44 1.43 12.06",
    "vgg19 PyTorch": "- - 13.88 21.71 27.63 9.65 10.74 18.54 13.81 7.68 24.98 17.40 2.93 14.06",
    "vgg19 TensorFlow": "- - 18.20 0.92 1.16 10.58 7.34 5.06 2.74 6.92 22.88 6.37 24.12 23.56",
}

# Worked out by other means than this package: mean MAPE, its median and percent of large errors over the cells.
PHYSICAL = {
    "GPU number": ("13.8", "10.0", "10"),
    "batch size": ("9.5", "7.5", "6"),
    "inner modules": ("3.5", "2.8", "0"),
    "new hardware": ("71", "83", "66"),
}
# The same for other methods, whose settings are not recorded: mean MAPE.
LOG_RIDGE = {"GPU number": "13.8", "batch size": "18.4", "inner modules": "2.4", "new hardware": "512"}
CONSTANT = {"GPU number": "51", "batch size": "74"}

# K-means, MAPE: decision tree, lasso, forest, SVR and Ernest, by sizes and case; grids and random splits were others.
K_MEANS = {
    ("9 / 9", 0): "0.7 1.4 0.8 1.3 1.3",
    ("9 / 9", 1): "5.9 1.3 2.8 1.2 1.4",
    ("9 / 9", 3): "10.1 1.3 7.3 2.2 1.7",
    ("9 / 9", 7): "9.8 1.4 7.6 2.0 1.6",
    ("27 / 27", 0): "0.7 50 1.1 12 16",
    ("27 / 27", 1): "14.5 57 7.2 17 13",
    ("27 / 27", 3): "26.1 46 16.8 21 12",
    ("27 / 27", 7): "22.9 46 17.0 33 13",
    ("9+18+27 / 36", None): "29.9 86.8 29.9 107 18.1",
    ("9+18+36 / 27", None): "34.6 59.3 34.5 76.8 13.5",
    ("9+27+36 / 18", None): "66.1 118 66.3 61.1 8.0",
    ("18+27+36 / 9", None): "88.4 573 88.6 947 8.9",
}
# The best single technique of the last four rows, neural network and gray box among them.
BEST_TECHNIQUE = {"9+18+27 / 36": "15.1", "9+18+36 / 27": "10.6", "9+27+36 / 18": "7.6", "18+27+36 / 9": "8.9"}
