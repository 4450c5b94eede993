"""Settings, checks and Spark properties of every workload; no Spark here."""

import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sparkcast.errors import RunError, StudyError
from sparkcast.study import Configuration, Factor, Level, Study
from sparkcast.study.file import parse_study
from sparkcast.workloads import CLUSTER_SETTINGS, WORKLOADS, Workload, complete, resolve, settings_of, workload_of
from sparkcast.workloads.starter import starter_study

MNIST = WORKLOADS.get("mnist-training")()


@pytest.fixture(params=WORKLOADS.names())
def study(request: pytest.FixtureRequest) -> Study:
    return resolve(parse_study(starter_study(request.param)))


@pytest.fixture
def workload(study: Study) -> Workload:
    return workload_of(study)


def mnist(**settings: Level) -> Configuration:
    return complete(MNIST, settings)


def test_listing_workloads_imports_no_heavy_library() -> None:
    heavy = ["pyspark", "bigdl", "torch", "numpy", "sklearn", "mlxtend", "pandas"]
    code = (
        "import sys; from sparkcast.workloads import WORKLOADS; print(*WORKLOADS.names()); "
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines() == [" ".join(WORKLOADS.names()), "[]"]


def test_the_defaults_of_a_workload_can_run(workload: Workload) -> None:
    settings = complete(workload, {})
    for setting in settings_of(workload):
        setting.check(settings[setting.name])
    workload.check(settings)


def test_the_names_of_a_workloads_settings_are_its_own(workload: Workload) -> None:
    names = [s.name for s in (*CLUSTER_SETTINGS, *workload.settings)]
    assert len(names) == len(set(names))
    assert "time_s" in [response.name for response in workload.responses]


def test_every_combination_of_the_example_can_run(workload: Workload, study: Study) -> None:
    levels: dict[str, list[Any]] = {
        name: value if isinstance(value, list) else [value] for name, value in workload.example.items()
    }
    for combination in itertools.product(*levels.values()):
        workload.check(complete(workload, dict(zip(levels, combination, strict=True))))
    factors = tuple(Factor(name, tuple(value)) for name, value in levels.items() if len(value) > 1)
    fixed = Configuration({name: value[0] for name, value in levels.items() if len(value) == 1})
    resolve(Study("example", study.workload, factors, fixed, options=study.options))


def test_a_workload_has_a_line_for_the_list(workload: Workload) -> None:
    assert (type(workload).__doc__ or "").strip()


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
    monkeypatch.setattr("sparkcast.workloads._mnist_bigdl.find_spec", lambda name: None)
    with pytest.raises(RunError, match="pip install --no-deps bigdl-dllib-spark3"):
        MNIST.spark_conf(mnist())


def test_pi_refuses_partitions_without_samples() -> None:
    pi = WORKLOADS.get("pi")()
    with pytest.raises(StudyError, match="leaves some of the 20 partitions empty"):
        pi.check(complete(pi, {"samples": 10, "partitions": 20}))
