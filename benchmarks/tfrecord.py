"""TFRecord files with and without TensorFlow: writing them, and reading, decoding and resizing the images in them.

    python benchmarks/tfrecord.py [--images 500] [--size 192] [--to 96 128] [--rounds 7] [--spark]

Each side works on the same images with one thread; they take turns, and the fastest round of each counts. By default in
CPU time, so that other work on the machine matters little. `--spark` measures `image-read` as it runs, on one slot of
Spark, against tf.data by the clock: for a quiet machine.

TensorFlow resizes without anti-aliasing unless told otherwise, which is less work and gives other pixels. `same pixels`
has it shrink while decoding and smooth where Pillow does; the difference is printed. `defaults` is tf.data as most
people write it.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}

import numpy as np
import tensorflow as tf

from sparkcast_papers.workloads._image_job import as_shards
from sparkcast_papers.workloads._images import ImageSet, decode_jpeg, generate_images
from sparkcast_papers.workloads._shards import new_folder, write_draft
from sparkcast_papers.workloads._tfrecord import image_example
from sparkcast_papers.workloads.image_read import Batch, _batches, _decode, _records, _sum_up

BATCH_SIZE = 32

Side = Callable[[], object]
Clock = Callable[[], float]


def fastest(sides: dict[str, Side], rounds: int, clock: Clock) -> dict[str, float]:
    """Seconds of the fastest round of each side; all have been run once before."""
    for side in sides.values():
        side()
    took: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            begun = clock()
            side()
            took[name].append(clock() - begun)
    return {name: min(times) for name, times in took.items()}


def show(title: str, took: dict[str, float], count: int, unit: str) -> None:
    print(title)
    ours = next(iter(took.values()))
    for name, seconds in took.items():
        ratio = "" if seconds == ours else f"   sparkcast has {seconds / ours:4.0%} of it"
        print(f"  {name:44}{count / seconds:8.0f} {unit}{ratio}")


def writing(images: ImageSet, folder: Path) -> dict[str, Side]:
    contents = [((images.folder / file).read_bytes(), images.label(file)) for file in images.files]

    def ours() -> None:
        target = folder / "ours"
        shutil.rmtree(target, ignore_errors=True)
        new_folder(target)
        write_draft(target, (image_example(content, label) for content, label in contents))

    def theirs() -> None:
        with tf.io.TFRecordWriter(str(folder / "theirs.tfrecord")) as writer:
            for content, label in contents:
                features = {
                    "image/encoded": tf.train.Feature(bytes_list=tf.train.BytesList(value=[content])),
                    "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
                }
                example = tf.train.Example(features=tf.train.Features(feature=features))
                writer.write(example.SerializeToString())

    return {"sparkcast, with the shard's SHA-256": ours, "tf.io.TFRecordWriter": theirs}


def tf_decoder(size: int, to: int, *, same_pixels: bool) -> Callable[[Any], Any]:
    shrink = max(ratio for ratio in (1, 2, 4, 8) if size >= to * ratio) if same_pixels else 1

    def decode(content: Any) -> Any:
        pixels = tf.io.decode_jpeg(content, channels=3, ratio=shrink)
        if same_pixels and size == to * shrink:
            return pixels
        return tf.cast(tf.round(tf.image.resize(pixels, (to, to), antialias=same_pixels)), tf.uint8)

    return decode


def tf_data(files: list[str], decode: Callable[[Any], Any]) -> Side:
    features = {"image/encoded": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}

    def parse(record: Any) -> Any:
        example = tf.io.parse_single_example(record, features)
        return decode(example["image/encoded"]), example["label"]

    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    data = tf.data.TFRecordDataset(files).map(parse, num_parallel_calls=1).batch(BATCH_SIZE).with_options(options)
    return lambda: sum(len(labels) for _, labels in data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=500)
    parser.add_argument("--size", type=int, default=192)
    parser.add_argument("--to", type=int, nargs="+", default=[96, 128])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--spark", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        images = generate_images(folder, count=options.images, side=options.size)
        took = fastest(writing(images, folder), options.rounds, time.process_time)
        show("writing, by CPU time", took, len(images), "records/s")
        shards = as_shards(images, folder)
        content = images.paths()[0].read_bytes()
        for to in options.to:
            same, default = (tf_decoder(options.size, to, same_pixels=flag) for flag in (True, False))
            apart = np.abs(decode_jpeg(content, to).astype(int) - same(content).numpy().astype(int))
            files = [str(path) for path in sorted(shards.glob("*.tfrecord"))]
            batches = _batches(_records(shards), BATCH_SIZE, -(-len(images) // BATCH_SIZE))
            theirs = {"tf.data, same pixels": tf_data(files, same), "tf.data, defaults": tf_data(files, default)}
            title = f"reading {options.size} x {options.size}, resized to {to} x {to}"
            took = fastest({"image-read": in_process(batches, to), **theirs}, options.rounds, time.process_time)
            show(f"{title}, by CPU time", took, len(images), "images/s")
            print(f"  pixels of `same pixels` differ by {apart.mean():.2f} of 255 on average, {apart.max()} at most")
            if options.spark:
                sides = {"image-read on one slot of Spark": on_spark(batches, to), **theirs}
                took = fastest(sides, options.rounds, time.perf_counter)
                show(f"{title}, by the clock", took, len(images), "images/s")


def in_process(batches: list[Batch], to: int) -> Side:
    return lambda: list(_sum_up(_decode(batch, to) for batch in batches))


def on_spark(batches: list[Batch], to: int) -> Side:
    from pyspark import SparkConf, SparkContext

    os.environ["PYSPARK_PYTHON"] = sys.executable
    context = SparkContext.getOrCreate(SparkConf().setMaster("local[1]").set("spark.ui.enabled", "false"))
    data = context.parallelize(batches, 1).map(lambda batch: _decode(batch, to)).mapPartitions(_sum_up)
    return lambda: data.collect()


if __name__ == "__main__":
    main()
