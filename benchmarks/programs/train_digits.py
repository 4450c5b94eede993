"""A short training job on Spark: softmax regression by mini-batch SGD, each step one Spark job over the batch.

A small batch makes more steps for each pass over the data: slower, and more accurate. Prints the accuracy on images
that it did not learn from.
"""

import argparse

import numpy as np
import numpy.typing as npt
from pyspark.sql import SparkSession
from sklearn.datasets import load_digits

Floats = npt.NDArray[np.float64]

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--epochs", type=int, default=3)
given = parser.parse_args()

spark = SparkSession.builder.getOrCreate()
images, labels = load_digits(return_X_y=True)
order = np.random.default_rng(7).permutation(len(labels))
images, labels = np.c_[images[order] / 16, np.ones(len(labels))], labels[order]
n_train = 1440
parts = [(images[:n_train], labels[:n_train])]
data = spark.sparkContext.parallelize(parts, 1).cache()
weights = np.zeros((images.shape[1], 10))
step = 0
for _ in range(given.epochs):
    for start in range(0, n_train, given.batch_size):
        rows = slice(start, start + given.batch_size)

        def gradient(part: tuple[Floats, Floats], rows: slice = rows, at: Floats = weights) -> Floats:
            own, truth = part[0][rows], part[1][rows]
            scores = own @ at
            chances = np.exp(scores - scores.max(axis=1, keepdims=True))
            chances /= chances.sum(axis=1, keepdims=True)
            chances[np.arange(len(truth)), truth.astype(int)] -= 1
            slope: Floats = own.T @ chances / len(truth)
            return slope

        weights = weights - 0.5 * data.map(gradient).reduce(np.add)
        step += 1
right = (images[n_train:] @ weights).argmax(axis=1) == labels[n_train:]
print(f"accuracy={right.mean():.4f} steps={step}", flush=True)
spark.stop()
