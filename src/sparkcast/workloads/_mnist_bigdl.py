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
from sparkcast.workloads._bigdl_log import Curve, follow, parse_line
from sparkcast.workloads._mnist_data import DEVIATION, MEAN, SIDE, Dataset, Images, Recipe, write_idx

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
    training = bigdl.distribute(dataset.training)
    held_out = bigdl.distribute(dataset.held_out)
    optimizer = bigdl.optimizer(recipe, training, held_out)
    curve = Curve()
    with bigdl.training_log() as log:
        job.started()
        start, started_at = time.perf_counter(), time.time()
        with _reporting(job, log, curve, started_at):
            optimizer.optimize()
            time_s = time.perf_counter() - start
    if not curve.epochs or not curve.training_s:
        raise RunError("BigDL logged no epoch", hint="its logger com.intel.analytics.bigdl.dllib.optim must be at INFO")
    last = curve.epochs[-1]
    job.result(
        time_s=time_s,
        throughput=curve.records / curve.training_s,
        **{name: value for name, value in last.values.items() if name != "throughput"},
    )


@contextmanager
def _reporting(job: Job, log: TextIO, curve: Curve, started_at: float) -> Iterator[None]:
    """Report each epoch as soon as the log has it, while the caller waits for training to end."""
    is_over = threading.Event()

    def report() -> None:
        for line in follow(log, is_over):
            logged_at_ms, _, text = line.partition(" ")
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
            self._batches(training, recipe.batch_size),
            self._api.createClassNLLCriterion(None, True, True),
            self._object("scala.reflect.ClassTag").Float(),
            self._object(f"{_ROOT}.tensor.TensorNumericMath$TensorNumeric$NumericFloat"),
        )
        schedule, no_decay, no_limit = self._api.createDefault(), 0.0, 1e308
        optimizer.setOptimMethod(
            self._api.createSGD(recipe.learning_rate, no_decay, 0.0, 0.0, no_limit, False, schedule, None, None)
        )
        methods = self._context._gateway.new_array(self._class(f"{_ROOT}.optim.ValidationMethod"), 1)
        methods[0] = self._api.createTop1Accuracy()
        optimizer.setValidation(self._api.createEveryEpoch(), self._batches(held_out, recipe.batch_size), methods)
        return optimizer.setEndWhen(self._api.createMaxEpoch(recipe.epochs))

    @contextmanager
    def training_log(self) -> Iterator[TextIO]:
        """What the optimiser logs on the driver: milliseconds since the Unix epoch, then the message.

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
        logger.setLevel(self._class("org.apache.logging.log4j.Level").INFO)
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
        layers = (
            self._api.createReshape([SIDE * SIDE], None),
            self._linear(SIDE * SIDE, 128),
            self._api.createReLU(False),
            self._linear(128, 10),
            self._api.createLogSoftMax(),
        )
        for layer in layers:
            model.add(layer)
        return model

    def _linear(self, inputs: int, outputs: int) -> Any:
        with_bias, regularizers, weights = True, (None, None), (None, None, None, None)
        return self._api.createLinear(inputs, outputs, with_bias, *regularizers, *weights)

    def _tag(self, name: str) -> Any:
        return self._object("scala.reflect.ClassTag").apply(self._jvm.java.lang.Class.forName(name))

    def _object(self, name: str) -> Any:
        return getattr(self._class(f"{name}$"), "MODULE$")

    def _class(self, name: str) -> Any:
        return getattr(self._jvm, name)
