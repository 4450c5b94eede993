"""A convolutional network of keras.applications in this process, on TensorFlow, with weights made from a seed.

TensorFlow and not torch: behind Keras it takes half to a quarter of the CPU time per image and half of the memory, and
starts in less (docs/guides/cnn-inference.md has the figures). Weights are made anew in each process: to send and set
those of another one takes longer, because Keras makes some first in any case.
"""

import os
import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

from sparkcast.arrays import Array

_KEPT = "_sparkcast_replicas"
_NO_MEMORY = "Status: 1,"  # of oneDNN, which TensorFlow passes on as an aborted operation
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Network:
    """Where keras.applications has a network, and the smallest side of a picture that it takes."""

    name: str
    module: str
    smallest: int


NETWORKS = {
    "resnet50": Network("ResNet50", "resnet50", 32),
    "xception": Network("Xception", "xception", 71),
    "inception-v3": Network("InceptionV3", "inception_v3", 75),
    "mobilenet-v2": Network("MobileNetV2", "mobilenet_v2", 32),
}


class Replica:
    """A network that is ready to predict."""

    def __init__(self, compiled: Callable[[Array], Any], preprocess: Callable[[Array], Array]) -> None:
        self._compiled, self._preprocess = compiled, preprocess

    def prepare(self, pixels: Array) -> Array:
        """Pixels from 0 to 255, as float32, in the form the network was made for; may change them in place."""
        return self._preprocess(pixels)

    def predict(self, pixels: Array) -> Array:
        """The logits of prepared pictures, one row each. Raises MemoryError when there is no memory for it."""
        import numpy as np
        from tensorflow import errors

        try:
            logits: Array = self._compiled(np.ascontiguousarray(pixels)).numpy()
        except errors.OpError as error:
            if isinstance(error, errors.ResourceExhaustedError) or _NO_MEMORY in str(error):
                raise MemoryError(str(error)) from error
            raise
        return logits


def load_replica(network: str, module: str, *, side: int, batch_size: int, threads: int, seed: int) -> Replica:
    """Build the network, and let it predict one batch, which compiles it.

    Its arguments are plain, because it is sent to Python processes that may have no sparkcast.
    """
    # Read when they are imported, which Python processes of Spark have not done yet.
    os.environ["KERAS_BACKEND"] = "tensorflow"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import keras
    import numpy as np
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    keras.config.set_image_data_format("channels_last")
    keras.config.set_floatx("float32")
    keras.utils.set_random_seed(seed)
    model = getattr(keras.applications, network)(weights=None, input_shape=(side, side, 3), classifier_activation=None)
    any_number = tf.TensorSpec((None, side, side, 3), tf.float32)  # of pictures: a last batch compiles nothing anew
    compiled = tf.function(
        lambda pictures: model(pictures, training=False), input_signature=[any_number], autograph=False
    )
    replica = Replica(compiled, getattr(keras.applications, module).preprocess_input)
    replica.predict(np.zeros((batch_size, side, side, 3), dtype=np.float32))
    return replica


def kept(key: Hashable, make: Callable[[], T]) -> T:
    """What was made under this key earlier in this process, or make it.

    Spark sends a function anew with each task, and with it new globals: what should outlive a task needs another place.
    """
    module: Any = sys.modules.setdefault(_KEPT, ModuleType(_KEPT))
    if key not in vars(module).setdefault("made", {}):
        module.made[key] = make()
    made: T = module.made[key]
    return made
