"""Training with BigDL 2.4, the papers' framework: synchronous SGD among executors, gradients averaged block by block.

Everything runs in the JVMs, through the classes of BigDL's own LeNet example. Its Python layer would start a Python
worker on every executor and pickle each image into an object; here executors get bytes and never start Python.
"""

import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO

from sparkcast.errors import RunError
from sparkcast.workloads import Job
from sparkcast.workloads.bigdl_log import EpochCollector, parse_line
from sparkcast_papers.workloads._mnist_data import DEVIATION, MEAN, SIDE, Dataset, Images, write_idx
from sparkcast_papers.workloads._mnist_recipe import (
    ADAM_BETAS,
    ADAM_EPSILON,
    RECURRENT_UNITS,
    RMSPROP_DECAY,
    RMSPROP_EPSILON,
    Recipe,
    is_enough,
)

_ROOT = "com.intel.analytics.bigdl.dllib"
_DATASET = f"{_ROOT}.feature.dataset"
_JARS = ("share/dllib/lib/*-jar-with-dependencies.jar", "share/core/lib/all-*.jar")
_LOGGING = Path(__file__).with_name("_bigdl_log4j2.properties")


def spark_conf() -> Mapping[str, str]:
    """What BigDL needs of Spark. Its jars must lie at the same path on every node."""
    classpath = ":".join(str(jar) for jar in find_jars())
    java_options = f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}"
    return {
        "spark.driver.extraClassPath": classpath,
        "spark.executor.extraClassPath": classpath,
        "spark.driver.extraJavaOptions": java_options,
        "spark.executor.extraJavaOptions": java_options,
        "spark.serializer": "org.apache.spark.serializer.JavaSerializer",
        "spark.shuffle.reduceLocality.enabled": "false",
    }


def find_jars() -> tuple[Path, ...]:
    package = find_spec("bigdl")
    roots = [Path(root) for root in (package.submodule_search_locations or ())] if package else []
    jars = [jar for root in roots for pattern in _JARS for jar in sorted(root.glob(pattern))]
    if len(jars) < len(_JARS):
        raise RunError(
            "framework 'bigdl' needs BigDL 2.4, which is not installed",
            hint="pip install --no-deps bigdl-dllib-spark3==2.4.0 bigdl-core==2.4.0.dev0 six, or set framework: torch",
        )
    return tuple(jars)


def train(job: Job, dataset: Dataset, recipe: Recipe) -> None:
    bigdl = _BigDL(job.spark_context())
    job.loading()
    training = bigdl.distribute(dataset.training)
    held_out = bigdl.distribute(dataset.held_out)
    optimizer = bigdl.optimizer(recipe, training, held_out)
    curve = EpochCollector()
    with bigdl.training_log() as log:
        job.started()
        start, started_at = time.perf_counter(), time.time()
        with _reporting(job, log, curve, started_at):
            bigdl.optimize(optimizer, recipe, training)
            time_s = time.perf_counter() - start
    if not curve.epochs or not curve.training_s:
        raise RunError("BigDL logged no epoch", hint="its logger com.intel.analytics.bigdl.dllib.optim must be at INFO")
    last = curve.epochs[-1]
    job.result(
        work_s=time_s,
        throughput=curve.records / curve.training_s,
        epochs_trained=last.number,
        compute_s=curve.compute_s,
        sync_s=curve.sync_s,
        **{name: value for name, value in last.values.items() if name != "throughput"},
    )


@contextmanager
def _reporting(job: Job, log: TextIO, curve: EpochCollector, started_at: float) -> Iterator[None]:
    """Report each epoch as soon as the log has it, while the caller waits for training to end."""
    is_over = threading.Event()

    def report() -> None:
        for line in follow(log, is_over):
            logged_at_ms, _, text = line.partition(" ")
            curve.add_metric(line)
            event = parse_line(text)
            epoch = curve.add(event, int(logged_at_ms) / 1000 - started_at) if event else None
            if epoch:
                job.epoch(epoch.number, epoch.time_s, **epoch.values)

    with ThreadPoolExecutor(max_workers=1) as pool:
        reporter = pool.submit(report)
        try:
            yield
        finally:
            is_over.set()
        reporter.result()


class _EarlyStop:
    """A trigger of BigDL that is asked after each epoch; Py4J lets the JVM call it."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe, self._accuracies, self.is_due = recipe, list[float](), False

    def apply(self, state: Any) -> bool:
        self._accuracies.append(float(state.apply("score")))
        self.is_due = is_enough(self._accuracies, self._recipe.patience, self._recipe.target_accuracy)
        return self.is_due

    class Java:
        implements = (f"{_ROOT}.optim.Trigger",)


class _BigDL:
    """BigDL's Scala classes as Py4J sees them: no default arguments, implicit ones spelled out."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self._jvm = context._jvm
        self._api = self._class(f"{_ROOT}.utils.python.api.PythonBigDL").ofFloat()
        self._api.initEngine()

    def distribute(self, images: Images) -> Any:
        """Images on the executors, cached and counted."""
        with tempfile.TemporaryDirectory(prefix="sparkcast-") as folder:
            pixels, labels = Path(folder, "images"), Path(folder, "labels")
            write_idx(pixels, images.pixels.reshape(-1, SIDE, SIDE))
            write_idx(labels, images.labels)
            records = self._object(f"{_ROOT}.models.lenet.Utils").load(str(pixels), str(labels))
        tag = self._tag(f"{_DATASET}.ByteRecord")
        dataset = self._object(f"{_DATASET}.DataSet").array(records, self._context._jsc.sc(), tag)
        dataset.cache()
        dataset.size()
        return dataset

    def optimizer(self, recipe: Recipe, training: Any, held_out: Any) -> Any:
        self._api.setModelSeed(recipe.seed)
        optimizer = self._object(f"{_ROOT}.optim.Optimizer").apply(
            self._model(recipe.network),
            self._batches(training, recipe.stages[0].batch_size),
            self._api.createClassNLLCriterion(None, True, True),
            self._object("scala.reflect.ClassTag").Float(),
            self._object(f"{_ROOT}.tensor.TensorNumericMath$TensorNumeric$NumericFloat"),
        )
        optimizer.setOptimMethod(self._optim_method(recipe))
        methods = self._context._gateway.new_array(self._class(f"{_ROOT}.optim.ValidationMethod"), 1)
        methods[0] = self._api.createTop1Accuracy()
        batches = self._batches(held_out, recipe.stages[0].batch_size)
        optimizer.setValidation(self._api.createEveryEpoch(), batches, methods)
        # What the executors keep of the gradients so far (momentum, ...) serves the next phase as well.
        return optimizer.reserveOptim(len(recipe.phases) > 1)

    def optimize(self, optimizer: Any, recipe: Recipe, training: Any) -> None:
        """Train to the end, with one call for each batch size: BigDL cannot change it on the way."""
        stop = _EarlyStop(recipe)
        for number, (batch_size, last_epoch) in enumerate(recipe.phases):
            if number:
                getattr(optimizer, "dataset_$eq")(self._batches(training, batch_size))
            optimizer.setEndWhen(self._end(recipe, last_epoch, stop))
            optimizer.optimize()
            if stop.is_due:
                return

    def _end(self, recipe: Recipe, last_epoch: int, stop: "_EarlyStop") -> Any:
        at_the_end = self._api.createMaxEpoch(last_epoch)
        if not recipe.stops_early:
            return at_the_end
        from pyspark.java_gateway import ensure_callback_server_started

        ensure_callback_server_started(self._context._gateway)
        # Triggers are asked before each iteration, Python only after each epoch.
        after_an_epoch = self._api.createTriggerAnd(self._api.createEveryEpoch(), [stop])
        return self._api.createTriggerOr(after_an_epoch, [at_the_end])

    def _optim_method(self, recipe: Recipe) -> Any:
        rate, no_decay = recipe.stages[0].learning_rate, 0.0
        if recipe.optimizer == "adam":
            return self._api.createAdam(rate, no_decay, *ADAM_BETAS, ADAM_EPSILON)
        if recipe.optimizer == "adagrad":
            return self._api.createAdagrad(rate, no_decay, 0.0)
        if recipe.optimizer == "rmsprop":
            return self._api.createRMSprop(rate, no_decay, RMSPROP_DECAY, RMSPROP_EPSILON)
        dampening, is_nesterov = 0.0, recipe.optimizer == "nesterov"
        return self._api.createSGD(
            rate, no_decay, 0.0, recipe.momentum, dampening, is_nesterov, self._schedule(recipe), None, None
        )

    def _schedule(self, recipe: Recipe) -> Any:
        rates = [stage.learning_rate for stage in recipe.stages]
        if len({*rates}) == 1:
            return self._api.createDefault()
        sgd = f"{_ROOT}.optim.SGD"
        regimes = self._context._gateway.new_array(self._class(f"{sgd}$Regime"), len(rates))
        for i, rate in enumerate(rates):
            config = self._object(f"{_ROOT}.utils.T").apply()
            config.update("learningRate", rate)
            regimes[i] = self._class(f"{sgd}$Regime")(i + 1, i + 1, config)
        return self._class(f"{sgd}$EpochSchedule")(regimes)

    @contextmanager
    def training_log(self) -> Iterator[TextIO]:
        """What the optimizer logs on the driver: milliseconds since the Unix epoch, then the message.

        At the level DEBUG, at which each iteration says what it spent where.

        The appender is added at run time, so that it works whatever logging the cluster has set up.
        """
        core = "org.apache.logging.log4j.core"
        layout = self._class(f"{core}.layout.PatternLayout").newBuilder().withPattern("%d{UNIX_MILLIS} %m%n").build()
        builder = self._class(f"{core}.appender.FileAppender").newBuilder()
        # Both processes keep the file open and its name goes at once: a killed job leaves nothing behind.
        with tempfile.TemporaryDirectory(prefix="sparkcast-") as folder:
            file = Path(folder, "training.log")
            appender = builder.withFileName(str(file)).setName("sparkcast").setLayout(layout).build()
            log = file.open(encoding="utf-8", errors="replace")
        logger = self._object(f"{_ROOT}.optim.DistriOptimizer").logger()
        appender.start()
        logger.addAppender(appender)
        logger.setLevel(self._class("org.apache.logging.log4j.Level").DEBUG)
        with log:
            yield log
        logger.removeAppender(appender)
        appender.stop()

    def _batches(self, dataset: Any, batch_size: int) -> Any:
        image = f"{_DATASET}.image"
        steps = (
            (self._object(f"{image}.BytesToGreyImg").apply(SIDE, SIDE), f"{image}.LabeledGreyImage"),
            (self._object(f"{image}.GreyImgNormalizer").apply(MEAN, DEVIATION), f"{image}.LabeledGreyImage"),
            (self._object(f"{image}.GreyImgToBatch").apply(batch_size), f"{_DATASET}.MiniBatch"),
        )
        for transformer, output in steps:
            dataset = dataset.transform(transformer, self._tag(output))
        return dataset

    def _model(self, network: str) -> Any:
        if network == "lenet5":
            return self._object(f"{_ROOT}.models.lenet.LeNet5").apply(10)
        model = self._api.createSequential()
        for layer in self._bi_rnn() if network == "bi-rnn" else self._simplenet():
            model.add(layer)
        return model

    def _simplenet(self) -> tuple[Any, ...]:
        return (
            self._api.createReshape([SIDE * SIDE], None),
            self._linear(SIDE * SIDE, 128),
            self._api.createReLU(False),
            self._linear(128, 10),
            self._api.createLogSoftMax(),
        )

    def _bi_rnn(self) -> tuple[Any, ...]:
        """The network of BigDL's tutorial: rows are time steps, the last step's output of both directions counts."""
        no_dropout, activations, regularizers = 0.0, (None, None), (None, None, None)
        steps, features = 2, 3  # dimensions, of which the first is the image
        both = self._api.createBiRecurrent(self._api.createJoinTable(features, features))
        both.add(self._api.createLSTM(SIDE, RECURRENT_UNITS, no_dropout, *activations, *regularizers))
        return (
            self._api.createReshape([SIDE, SIDE], None),
            both,
            self._api.createSelect(steps, -1),
            self._linear(2 * RECURRENT_UNITS, 10),
            self._api.createLogSoftMax(),
        )

    def _linear(self, inputs: int, outputs: int) -> Any:
        with_bias, regularizers, weights = True, (None, None), (None, None, None, None)
        return self._api.createLinear(inputs, outputs, with_bias, *regularizers, *weights)

    def _tag(self, name: str) -> Any:
        return self._object("scala.reflect.ClassTag").apply(self._jvm.java.lang.Class.forName(name))

    def _object(self, name: str) -> Any:
        return getattr(self._class(f"{name}$"), "MODULE$")

    def _class(self, name: str) -> Any:
        return getattr(self._jvm, name)


def follow(log: TextIO, is_over: threading.Event, *, every_s: float = 0.1) -> Iterator[str]:
    """The lines of a growing file as they come, until `is_over` is set and all that was written is read."""
    rest = ""
    while True:
        is_last = is_over.is_set()  # asked before reading, so that nothing written before it is missed
        *lines, rest = (rest + log.read()).split("\n")
        yield from lines
        if is_last:
            return
        is_over.wait(every_s)
