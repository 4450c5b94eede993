"""Settings, checks and Spark properties of training on MNIST; no Spark here."""

import threading
from pathlib import Path

import pytest

from sparkcast.errors import RunError, StudyError
from sparkcast.study import Configuration, Level
from sparkcast.workloads import WORKLOADS, complete
from sparkcast_papers.workloads._mnist_bigdl import follow

MNIST = WORKLOADS.get("mnist-training")()


def mnist(**settings: Level) -> Configuration:
    return complete(MNIST, settings)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"batch_size": 129, "executors": 2}, "cannot be divided equally among 2 executors of 1 cores"),
        ({"batch_size": 130, "executors": 2, "cores": 2}, "cannot be divided equally among 2 executors of 2 cores"),
        ({"batch_size": 4096}, "more than the 4000 training images of dataset 'mnist-5k' at sampling_rate = 1"),
        ({"batch_size": 512, "sampling_rate": 0.1}, "more than the 400 training images"),
        ({"sampling_rate": 0.0}, "sampling_rate = 0 is not between 0 and 1"),
        ({"sampling_rate": 1.5}, "sampling_rate = 1.5 is not between 0 and 1"),
        ({"learning_rate": 0.0}, "nothing is learned"),
        ({"seed": 2**32}, "is too large"),
        ({"dataset": "idx"}, "needs the setting data_path"),
        ({"dataset": "idx", "data_path": "/nonexistent"}, "/nonexistent has no train-images-idx3-ubyte"),
    ],
)
def test_settings_that_cannot_train_are_refused_with_a_hint(settings: dict[str, Level], problem: str) -> None:
    with pytest.raises(StudyError) as caught:
        MNIST.check(mnist(**settings))
    assert problem in str(caught.value)
    assert caught.value.hint


def test_bigdl_gets_its_jars_on_driver_and_executors() -> None:
    conf = MNIST.spark_conf(mnist())
    jars = conf["spark.driver.extraClassPath"].split(":")
    assert len(jars) == 2
    assert all(Path(jar).is_file() for jar in jars)
    assert conf["spark.executor.extraClassPath"] == conf["spark.driver.extraClassPath"]
    logging = conf["spark.driver.extraJavaOptions"].split("configurationFile=file://")[1].split()[0]
    assert Path(logging).is_file()


def test_torch_needs_no_jars() -> None:
    assert not [key for key in MNIST.spark_conf(mnist(framework="torch")) if "extraClassPath" in key]


def test_without_bigdl_the_hint_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparkcast_papers.workloads._mnist_bigdl.find_spec", lambda name: None)
    with pytest.raises(RunError, match="pip install --no-deps bigdl-dllib-spark3"):
        MNIST.spark_conf(mnist())


def test_following_a_file_gives_whole_lines_even_those_written_just_before_the_end(tmp_path: Path) -> None:
    file, is_over, seen = tmp_path / "log", threading.Event(), list[str]()
    file.touch()
    with file.open() as log, file.open("a") as writer:
        reader = threading.Thread(target=lambda: seen.extend(follow(log, is_over, every_s=0.001)))
        reader.start()
        for piece in ("one\nt", "wo\nthr", "ee\nunfinished"):
            writer.write(piece)
            writer.flush()
        is_over.set()
        reader.join(timeout=5)
    assert seen == ["one", "two", "three"]
