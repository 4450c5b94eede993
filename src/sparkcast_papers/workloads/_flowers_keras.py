"""MobileNetV2 with Keras on TensorFlow, in the Python workers of one barrier stage: one process per executor."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

from sparkcast.workloads import Job
from sparkcast_papers.workloads._training_reports import Address, speaking, train_together

_BATCH_NORM_MOMENTUM = 0.8

Tell = Callable[..., None]
Step = Callable[[Any], Any]  # from a batch of all replicas


def train(job: Job, recipe: dict[str, Any]) -> None:
    """Plain values in `recipe`, because it goes to Pythons that have no sparkcast."""
    workers = recipe["workers"]
    is_local = job.spark_context().master.startswith("local")
    recipe = recipe | {"addresses": _free_addresses(workers) if is_local else []}
    train_together(job, workers, lambda driver: _train_one(driver, recipe))


def _train_one(driver: Address, recipe: dict[str, Any]) -> Iterator[None]:
    """One process of the training, a task of the barrier stage; it tells the driver if it fails."""
    import traceback

    try:
        _train(driver, recipe)
    except Exception:
        with speaking(driver) as tell:
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
    training, held_out = (
        strategy.experimental_distribute_dataset(_dataset(recipe, part, number)) for part in ("training", "held_out")
    )
    train_step, test_step = _steps(strategy, recipe, training, held_out)
    with ExitStack() as stack:
        tell: Tell = stack.enter_context(speaking(driver)) if number == 0 else lambda **message: None
        tell(kind="started")
        start, training_s, last = time.perf_counter(), 0.0, dict[str, float]()
        n_images = recipe["training"][1] // recipe["batch_size"] * recipe["batch_size"]
        for epoch in range(1, recipe["epochs"] + 1):
            begun = time.perf_counter()
            loss, accuracy = _means(train_step, training)
            epoch_s = time.perf_counter() - begun
            training_s += epoch_s
            validation_loss, validation_accuracy = _means(test_step, held_out)
            last = {
                "accuracy": validation_accuracy,
                "loss": loss,
                "validation_loss": validation_loss,
                "training_accuracy": accuracy,
            }
            time_s = time.perf_counter() - start
            tell(kind="epoch", number=epoch, time_s=time_s, throughput=n_images / epoch_s, **last)
        tell(kind="result", work_s=time_s, throughput=n_images * recipe["epochs"] / training_s, **last)


def _means(step: Step, batches: Any) -> tuple[float, float]:
    """Loss and accuracy over all batches of all workers."""
    sums = [[float(total) for total in step(batch)] for batch in batches]
    losses, correct, count = (sum(column) for column in zip(*sums, strict=True))
    return losses / count, correct / count


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
    rescaling = keras.layers.Rescaling(1 / 127.5, offset=-1)
    return keras.Sequential([keras.Input(network.input_shape[1:]), rescaling, network])


def _steps(strategy: Any, recipe: dict[str, Any], training: Any, held_out: Any) -> tuple[Step, Step]:
    """Functions that learn from a batch and that validate with one; each gives sums of losses, hits and images.

    Written out because `Model.fit` of Keras 3.15 fails under several workers. The graphs are built here, which takes
    longer than many steps, and what that step learned is forgotten.
    """
    import keras
    import tensorflow as tf

    with strategy.scope():
        model = _model(recipe)
        optimizer = keras.optimizers.Adam(recipe["learning_rate"])
        optimizer.build(model.trainable_variables)

    def judged(guesses: Any, labels: Any) -> Any:
        losses = keras.losses.sparse_categorical_crossentropy(labels, guesses)
        hits = tf.cast(tf.argmax(guesses, axis=1) == labels, tf.float32)
        return tf.reduce_sum(losses), tf.reduce_sum(hits), tf.cast(tf.size(labels), tf.float32)

    def learn(pixels: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            sums = judged(model(pixels, training=True), labels)
            loss = sums[0] / recipe["batch_size"]  # the optimizer adds up the gradients of all replicas
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return sums

    def validate(pixels: Any, labels: Any) -> Any:
        return judged(model(pixels, training=False), labels)

    def on_all_replicas(function: Callable[..., Any]) -> Step:
        def step(batch: Any) -> Any:
            return [strategy.reduce("SUM", total, axis=None) for total in strategy.run(function, args=batch)]

        made: Step = tf.function(step)
        return made

    train_step, test_step = on_all_replicas(learn), on_all_replicas(validate)
    variables = [*model.variables, *optimizer.variables]
    before = [variable.numpy() for variable in variables]
    train_step(next(iter(training)))
    test_step(next(iter(held_out)))
    for variable, value in zip(variables, before, strict=True):
        variable.assign(value)
    return train_step, test_step


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
