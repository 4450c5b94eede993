from pathlib import Path

import pytest

from sparkcast.engines import SparkJob, Submission, engine_for
from sparkcast.engines.conf import join_conf, merge_conf, parse_conf_option, read_properties
from sparkcast.engines.machine import this_machine
from sparkcast.errors import StudyError
from sparkcast.study import SparkOptions
from sparkcast.workloads import Shape


def test_the_users_property_wins_and_the_tool_says_so() -> None:
    conf, notes = merge_conf({"spark.executor.memory": "1g"}, {"spark.executor.memory": "2g", "spark.ui.port": "1"})
    assert conf == {"spark.executor.memory": "2g", "spark.ui.port": "1"}
    assert notes == ("your spark.executor.memory=2g replaces 1g",)


def test_class_paths_and_java_options_add_up() -> None:
    ours = {"spark.driver.extraClassPath": "a.jar", "spark.driver.extraJavaOptions": "-Da=1"}
    conf, notes = merge_conf(ours, {"spark.driver.extraClassPath": "b.jar", "spark.driver.extraJavaOptions": "-Da=2"})
    assert conf["spark.driver.extraClassPath"] == "b.jar:a.jar"  # the first class found is loaded: the user's
    assert conf["spark.driver.extraJavaOptions"] == "-Da=1 -Da=2"  # the last option counts: the user's
    assert notes == ()


def test_later_layers_win_over_earlier_ones() -> None:
    assert join_conf({"spark.a": "1", "spark.b": "1"}, {"spark.b": "2"}, {"spark.b": "3"}) == {
        "spark.a": "1",
        "spark.b": "3",
    }


def test_a_submission_can_be_pasted_into_a_shell() -> None:
    text = Submission(
        ("spark-submit", "--name", "two words", "--conf", "a=b", "app.py", "x"), {"HOME_OF": "a b"}
    ).shell()
    assert text == ("HOME_OF='a b' spark-submit \\\n  --name 'two words' \\\n  --conf a=b \\\n  app.py \\\n  x")


def test_a_properties_file_is_read_as_spark_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "spark.conf"
    path.write_text("# comment\n\nspark.a   1\nspark.b=2\nspark.c -Dx=y -Dz=1\nspark.d = 4\n")
    assert read_properties(path) == {"spark.a": "1", "spark.b": "2", "spark.c": "-Dx=y -Dz=1", "spark.d": "4"}


@pytest.mark.parametrize("text", ["nonsense", "memory=2g", "=", "spark.x"])
def test_a_malformed_conf_option_is_refused(text: str) -> None:
    with pytest.raises(StudyError, match="spark"):
        parse_conf_option(text)


def test_the_embedded_cluster_makes_room_for_the_widest_executor() -> None:
    cores = this_machine().cores
    capacity = engine_for(SparkOptions()).capacity([Shape(executors=1, cores=cores, memory="1g", jobs=1)])
    assert capacity is not None
    assert [worker.cores for worker in capacity.workers] == [cores]


def test_before_the_cluster_is_up_a_submission_is_what_a_dry_run_shows() -> None:
    job = SparkJob(Path("app.py"), ("x",), {"spark.a": "1"}, "name")
    words = engine_for(SparkOptions("spark://host:7077")).submission(job).argv
    assert words[1:] == ("--master", "spark://host:7077", "--name", "name", "--conf", "spark.a=1", "app.py", "x")
