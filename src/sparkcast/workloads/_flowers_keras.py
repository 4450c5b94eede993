"""MobileNetV2 with Keras on TensorFlow, in the Python workers of one barrier stage: one process per executor."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

from sparkcast.errors import RunError
from sparkcast.workloads import Job
from sparkcast.workloads._mnist_torch import Address, _listening, _receiver, _speaking, _until_told

_BATCH_NORM_MOMENTUM = 0.8

Tell = Callable[..., None]


def train(job: Job, recipe: dict[str, Any]) -> None:
    """Plain values in `recipe`, because it goes to Pythons that have no sparkcast."""
    context = job.spark_context()
    failures: list[str] = []
    has_result = threading.Event()
    workers = recipe["workers"]
    recipe = recipe | {"addresses": _free_addresses(workers) if context.master.startswith("local") else []}
    with _listening(context, _receiver(job, failures, has_result)) as driver:
        stage = context.parallelize(range(workers), workers).barrier()
        training = stage.mapPartitions(lambda _: _train_one(driver, recipe))
        try:
            _until_told(context, has_result, training.count)
        except Exception as error:
            if not failures:
                raise
            # Spark tells of the task that ended first; the process that failed said what it was.
            raise RunError(f"a training process failed: {failures[0]}") from error


def _train_one(driver: Address, recipe: dict[str, Any]) -> Iterator[None]:
    """One process of the training, a task of the barrier stage; it tells the driver if it fails."""
    import traceback

    try:
        _train(driver, recipe)
    except Exception:
        with _speaking(driver) as tell:
            tell(kind="failed", cause=traceback.format_exc())
        raise
    return iter(())


def _free_addresses(count: int) -> list[str]:
    return [f"127.0.0.1:{_free_port('127.0.0.1')}" for _ in range(count)]


def _free_port(host: str) -> int:
    import socket

    with socket.socket() as server:
        server.bind((host, 0))
        return int(server.getsockname()[1])


def _train(driver: Address, recipe: dict[str, Any]) -> None:
    from pyspark import BarrierTaskContext

    stage = BarrierTaskContext.get()
    number = stage.partitionId()
    if recipe["workers"] > 1:
        # What tasks say to each other in local mode leaves a thread behind that keeps the driver's JVM alive.
        addresses = recipe["addresses"] or _gathered(stage)
        cluster = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": number}}
        os.environ["TF_CONFIG"] = json.dumps(cluster)
    os.environ |= {"KERAS_BACKEND": "tensorflow", "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "2"}
    strategy = _strategy(recipe)
    with strategy.scope():
        model = _model(recipe)
        _build(model, recipe)
    training = _dataset(recipe, "training", number)
    held_out = _dataset(recipe, "held_out", number)
    _compile(model, training, held_out)
    with ExitStack() as stack:
        tell: Tell = stack.enter_context(_speaking(driver)) if number == 0 else lambda **message: None
        clock = _clock(recipe, tell)
        model.fit(
            training, validation_data=held_out, epochs=recipe["epochs"], callbacks=[clock], shuffle=False, verbose=0
        )
        tell(kind="result", **clock.result())


def _gathered(stage: Any) -> list[str]:
    """The address of each process for the others."""
    host = stage.getTaskInfos()[stage.partitionId()].address.rpartition(":")[0]
    return [str(address) for address in stage.allGather(f"{host}:{_free_port(host)}")]


def _strategy(recipe: dict[str, Any]) -> Any:
    import tensorflow as tf

    cores = recipe["cores"]
    tf.config.threading.set_intra_op_parallelism_threads(cores)
    tf.config.threading.set_inter_op_parallelism_threads(cores)
    if recipe["workers"] > 1:
        return tf.distribute.MultiWorkerMirroredStrategy()
    if recipe["strategy"] == "one-device":
        return tf.distribute.OneDeviceStrategy("CPU:0")
    # A core is a device: TensorFlow itself sees all cores as one.
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * cores)
    return tf.distribute.MirroredStrategy([f"CPU:{core}" for core in range(cores)])


def _model(recipe: dict[str, Any]) -> Any:
    import keras

    keras.utils.set_random_seed(recipe["seed"])
    network = keras.applications.MobileNetV2(
        input_shape=(recipe["side"], recipe["side"], 3),
        alpha=recipe["alpha"],
        classes=recipe["classes"],
        weights=None,
    )
    for layer in network.layers:
        # 0.999 as published needs thousands of steps before validation means anything.
        if isinstance(layer, keras.layers.BatchNormalization):
            layer.momentum = _BATCH_NORM_MOMENTUM
    model = keras.Sequential(
        [keras.Input(network.input_shape[1:]), keras.layers.Rescaling(1 / 127.5, offset=-1), network]
    )
    model.compile(
        optimizer=keras.optimizers.Adam(recipe["learning_rate"]),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


def _build(model: Any, recipe: dict[str, Any]) -> None:
    """Make all variables, those of the optimizer and the metrics too, in the scope of the strategy.

    Keras would do it in `fit` with the mean of a batch over all workers, which fails for images (Keras 3.15).
    """
    import tensorflow as tf

    pixels = tf.zeros((recipe["batch_size"], recipe["side"], recipe["side"], 3), tf.uint8)
    model._symbolic_build(data_batch=(pixels, tf.zeros((recipe["batch_size"],), tf.int64)))
    model.optimizer.build(model.trainable_variables)
    model._maybe_symbolic_build = lambda *args, **kwargs: None


def _dataset(recipe: dict[str, Any], part: str, number: int) -> Any:
    """This worker's share of the pictures. All workers get equally many, or they would wait for each other forever."""
    import tensorflow as tf

    files, n_records = recipe[part]
    workers, size = recipe["workers"], recipe["batch_size"]
    share = n_records // workers
    if part == "held_out":
        size, share = _whole_batches(share, size, recipe["replicas"])
    features = {"image/encoded": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}

    def decoded(record: Any) -> Any:
        example = tf.io.parse_single_example(record, features)
        pixels = tf.io.decode_jpeg(example["image/encoded"], channels=3)
        return tf.ensure_shape(pixels, (recipe["side"], recipe["side"], 3)), example["label"]

    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    options.threading.private_threadpool_size = recipe["cores"]
    records = tf.data.TFRecordDataset(files).shard(workers, number).take(share)
    records = records.apply(tf.data.experimental.assert_cardinality(share))
    if part == "training":
        records = records.shuffle(share, seed=recipe["seed"])
    pictures = records.map(decoded, num_parallel_calls=recipe["cores"])
    return pictures.batch(size, drop_remainder=True).prefetch(1).with_options(options)


def _whole_batches(count: int, batch_size: int, replicas: int) -> tuple[int, int]:
    """The size of equal batches that leave out as few of `count` images as possible, and how many images they take.

    A replica that gets nothing of a smaller last batch fails.
    """
    per_replica = count // replicas
    n_batches = -(-per_replica // (batch_size // replicas))
    size = per_replica // n_batches * replicas
    return size, size * n_batches


def _compile(model: Any, training: Any, held_out: Any) -> None:
    """Build the graph of a step, and forget what the step learned: that takes longer than many steps."""
    variables = [*model.variables, *model.optimizer.variables]
    before = [variable.numpy() for variable in variables]
    model.fit(training.take(1), validation_data=held_out.take(1), shuffle=False, verbose=0)
    for variable, value in zip(variables, before, strict=True):
        variable.assign(value)


def _clock(recipe: dict[str, Any], tell: Tell) -> Any:
    """Tells of each epoch when it ends."""
    import keras

    class Clock(keras.callbacks.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.images = recipe["training"][1] // recipe["batch_size"] * recipe["batch_size"]
            self.training_s, self.time_s, self.last = 0.0, 0.0, dict[str, float]()

        def on_train_begin(self, logs: Any = None) -> None:
            self.start = time.perf_counter()
            tell(kind="started")

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            self.epoch_start = time.perf_counter()

        def on_test_begin(self, logs: Any = None) -> None:
            self.epoch_s = time.perf_counter() - self.epoch_start
            self.training_s += self.epoch_s

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            self.time_s = time.perf_counter() - self.start
            self.last = {
                "accuracy": float(logs["val_accuracy"]),
                "loss": float(logs["loss"]),
                "validation_loss": float(logs["val_loss"]),
                "training_accuracy": float(logs["accuracy"]),
            }
            tell(kind="epoch", number=epoch + 1, time_s=self.time_s, throughput=self.images / self.epoch_s, **self.last)

        def result(self) -> dict[str, float]:
            throughput = self.images * recipe["epochs"] / self.training_s
            return {"time_s": self.time_s, "throughput": throughput, **self.last}

    return Clock()
