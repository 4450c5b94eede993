"""What starts the recommended job, in every format: it says all, and its reader reads it back."""

import ast
import inspect
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast import api
from sparkcast.errors import StudyError
from sparkcast.recommend import Launch
from sparkcast.recommend.formats import FORMATS, render
from sparkcast.recommend.formats.spark_submit import shell_parts, words_of
from sparkcast.recommend.launch import launch_of_study, launch_of_table
from sparkcast.study import Configuration
from sparkcast.study.names import usual_vocabulary
from sparkcast.workloads.pasted import study_of_line

PROPERTIES = {
    "spark.executor.instances": "4",
    "spark.executor.cores": "2",
    "spark.cores.max": "8",
    "spark.executor.memory": "4g",
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "64",
    "spark.executor.extraJavaOptions": "-Da=b -Dpath=C:\\tmp",
}
PYTHON = Launch(
    PROPERTIES,
    "jobs/train it.py",
    ("--input", "my data/a 'b'.csv", "10", "--verbose"),
    {"py-files": "a.zip,b.py", "packages": "org.x:y:1.0"},
    environment={"OMP_NUM_THREADS": "2"},
    spark="3.5.3",
)
JAVA = Launch(PROPERTIES, "s3://b/app.jar", ("100",), {"class": "org.example.Train", "name": "Train", "jars": "x.jar"})
BARE = Launch(PROPERTIES)
WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=12)
NAMES = st.from_regex(r"spark\.[a-z]{1,6}(\.[a-zA-Z]{1,6}){0,2}", fullmatch=True)


@settings(max_examples=200, deadline=None)
@given(WORDS, st.lists(WORDS, max_size=5), st.dictionaries(NAMES, WORDS, max_size=3), st.lists(WORDS, max_size=2))
def test_a_shell_reads_the_line_as_the_words_that_are_meant(
    program: str, arguments: list[str], properties: dict[str, str], files: list[str]
) -> None:
    options = dict(zip(("files", "py-files"), files, strict=False))
    launch = Launch(properties, program, tuple(arguments), options)
    words = shlex.split(render("spark-submit", launch)[0])
    assert words == words_of(launch)
    at = words.index("spark-submit") + 1 + 2 * (len(options) + len(properties))
    assert words[at:] == [program, *arguments]


def test_a_real_shell_reads_it_too() -> None:
    line = render("spark-submit", PYTHON)[0].replace("spark-submit", "printf '%s\\n'", 1)
    printed = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == words_of(PYTHON)[1:]


def java_properties(text: str) -> dict[str, str]:
    """As java.util.Properties reads simple lines, and Spark trims what it reads."""
    found = {}
    for line in text.splitlines():
        key, _, value = line.partition("=")
        found[key] = re.sub(r"\\(.)", lambda m: {"n": "\n", "r": "\r", "t": "\t"}.get(m[1], m[1]), value).strip()
    return found


def test_a_properties_file_has_each_property_once() -> None:
    text, _ = render("properties", PYTHON)
    assert java_properties(text) == PROPERTIES
    assert len(text.splitlines()) == len(PROPERTIES)


@pytest.mark.slow
def test_spark_submit_itself_reads_the_properties_file(tmp_path: Path) -> None:
    (tmp_path / "tuned.conf").write_text(render("properties", BARE)[0] + "\n")
    (tmp_path / "job.py").write_text(
        "import json\nfrom pyspark import SparkContext\ncontext = SparkContext()\n"
        # Spark itself puts these before the options of executors.
        "modules = context._jvm.org.apache.spark.launcher.JavaModuleOptions.defaultModuleOptions()\n"
        "own = f'-Djava.net.preferIPv6Addresses=false {modules} '\n"
        "read = {name: text.removeprefix(own) for name, text in context.getConf().getAll()}\n"
        "print('CONF', json.dumps(read))\n"
    )
    from sparkcast.engines._installation import find_spark
    from sparkcast.engines._java import find_java

    spark = find_spark(honor_spark_home=False)
    java = find_java(spark.version)
    done = subprocess.run(
        [str(spark.home / "bin" / "spark-submit"), "--master", "local[1]", "--properties-file", "tuned.conf", "job.py"],
        cwd=tmp_path,
        env={**os.environ, "JAVA_HOME": str(java.home), "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=True,
    )
    *_, last = [line for line in done.stdout.splitlines() if line.startswith("CONF ")]
    read = json.loads(last.removeprefix("CONF "))
    assert {name: read[name] for name in PROPERTIES} == PROPERTIES


@pytest.mark.slow
def test_spark_submit_itself_parses_the_line_as_it_is_meant(tmp_path: Path) -> None:
    """Its own parser prints what it understood before it starts the program."""
    program = tmp_path / "jobs" / "train it.py"
    program.parent.mkdir()
    program.write_text("import json, sys\nprint('ARGV', json.dumps(sys.argv[1:]))\n")
    from sparkcast.engines._installation import find_spark
    from sparkcast.engines._java import find_java

    spark = find_spark(honor_spark_home=False)
    options = {"name": "My job", "deploy-mode": "client"}
    launch = Launch(PROPERTIES, "jobs/train it.py", PYTHON.arguments, options, ("verbose",), master="local[1]")
    line = render("spark-submit", launch)[0]
    done = subprocess.run(
        ["sh", "-c", line.replace("spark-submit", shlex.quote(str(spark.home / "bin" / "spark-submit")), 1)],
        cwd=tmp_path,
        env={**os.environ, "JAVA_HOME": str(find_java(spark.version).home), "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=True,
    )
    said = dict(re.findall(r"^  (\w+) +(.*)$", done.stderr, re.MULTILINE))
    assert (said["master"], said["name"], said["deployMode"]) == ("local[1]", "My job", "client")
    assert (said["executorMemory"], said["executorCores"], said["driverMemory"]) == ("4g", "2", "2g")
    assert said["primaryResource"].endswith("train%20it.py") or said["primaryResource"].endswith("train it.py")
    [argv] = [line for line in done.stdout.splitlines() if line.startswith("ARGV ")]
    assert json.loads(argv.removeprefix("ARGV ")) == list(PYTHON.arguments)


# The fields of the CustomResourceDefinition sparkapplications.sparkoperator.k8s.io, v1beta2, that are used here.
TEXTS = {"type": "array", "items": {"type": "string"}}
POD = {
    "cores": {"type": "integer", "minimum": 1},
    "memory": {"type": "string"},
    "env": {
        "type": "array",
        "items": {"type": "object", "required": ["name"], "additionalProperties": {"type": "string"}},
    },
}
SPARK_APPLICATION = {
    "type": "object",
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "properties": {
        "apiVersion": {"const": "sparkoperator.k8s.io/v1beta2"},
        "kind": {"const": "SparkApplication"},
        "metadata": {
            "required": ["name"],
            "properties": {"name": {"pattern": "^[a-z]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63}},
        },
        "spec": {
            "type": "object",
            "required": ["driver", "executor", "sparkVersion", "type"],
            "additionalProperties": False,
            "properties": {
                "type": {"enum": ["Java", "Python", "R", "Scala"]},
                "mode": {"enum": ["client", "cluster"]},
                "image": {"type": "string"},
                "sparkVersion": {"type": "string"},
                "mainApplicationFile": {"type": "string"},
                "mainClass": {"type": "string"},
                "arguments": TEXTS,
                "sparkConf": {"type": "object", "additionalProperties": {"type": "string"}},
                "deps": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": dict.fromkeys(
                        ("archives", "excludePackages", "files", "jars", "packages", "pyFiles", "repositories"), TEXTS
                    ),
                },
                "driver": {"type": "object", "additionalProperties": False, "properties": POD},
                "executor": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {**POD, "instances": {"type": "integer", "minimum": 1}},
                },
            },
        },
    },
}


@pytest.mark.parametrize("launch", [PYTHON, JAVA, BARE])
def test_a_spark_application_fits_the_definition_of_the_operator(launch: Launch) -> None:
    text, notes = render("sparkapplication", launch)
    document = yaml.safe_load(text)
    jsonschema.validate(document, SPARK_APPLICATION)
    spec = document["spec"]
    assert spec["executor"] | {"env": 0} == {"instances": 4, "cores": 2, "memory": "4g", "env": 0}
    # What has a field of its own is no property as well, and Kubernetes does not count cores.
    assert not {"spark.executor.instances", "spark.cores.max", "spark.driver.memory"} & spec["sparkConf"].keys()
    assert spec.get("arguments", []) == list(launch.arguments)
    assert any("IMAGE" in note for note in notes)


def test_a_step_of_emr_runs_the_whole_command() -> None:
    [step] = json.loads(render("emr", JAVA)[0])
    assert step.keys() == {"Name", "ActionOnFailure", "HadoopJarStep"}
    assert step["HadoopJarStep"]["Jar"] == "command-runner.jar"
    words = step["HadoopJarStep"]["Args"]
    assert words[:5] == ["spark-submit", "--master", "yarn", "--deploy-mode", "cluster"]
    assert words[-2:] == ["s3://b/app.jar", "100"]
    assert not any("spark.cores.max" in word for word in words)
    [configuration] = json.loads(render("emr", BARE)[0])
    assert configuration["Classification"] == "spark-defaults"
    assert configuration["Properties"]["spark.executor.memory"] == "4g"
    assert all(isinstance(value, str) for value in configuration["Properties"].values())


def test_a_run_of_databricks_is_understood_by_its_own_library() -> None:
    jobs = pytest.importorskip("databricks.sdk.service.jobs")
    compute = pytest.importorskip("databricks.sdk.service.compute")
    for launch in (PYTHON, JAVA):
        run = json.loads(render("databricks", launch)[0])
        [task] = run["tasks"]
        assert jobs.SubmitTask.from_dict(task).as_dict() == task
        assert task["new_cluster"]["num_workers"] == 4
        assert "spark.executor.instances" not in task["new_cluster"]["spark_conf"]
        program = task.get("spark_python_task") or task["spark_jar_task"]
        assert program["parameters"] == list(launch.arguments)
    cluster = json.loads(render("databricks", BARE)[0])
    assert compute.ClusterSpec.from_dict(cluster).as_dict() == cluster


def test_a_run_of_databricks_has_the_program_its_libraries_and_the_cluster() -> None:
    text, notes = render("databricks", JAVA)
    run = json.loads(text)
    [task] = run["tasks"]
    assert (run["run_name"], task["task_key"]) == ("Train", "app")
    assert task["spark_jar_task"] == {"main_class_name": "org.example.Train", "parameters": ["100"]}
    assert task["libraries"] == [{"jar": "s3://b/app.jar"}, {"jar": "x.jar"}]
    assert task["new_cluster"].keys() == {"num_workers", "spark_conf"}
    assert notes == (
        "add spark_version and node_type_id to the cluster, with nodes of 2 cores and 4g for each executor",
        "the program and its files must be where Databricks can read them",
    )
    [task] = json.loads(render("databricks", PYTHON)[0])["tasks"]
    assert task["task_key"] == "train-it"
    assert task["spark_python_task"]["python_file"] == "jobs/train it.py"
    assert task["libraries"] == [{"maven": {"coordinates": "org.x:y:1.0"}}]
    assert task["new_cluster"]["spark_env_vars"] == {"OMP_NUM_THREADS": "2"}


def test_a_cluster_of_databricks_without_a_program_has_the_settings_alone() -> None:
    text, notes = render("databricks", BARE)
    assert json.loads(text).keys() == {"num_workers", "spark_conf"}
    with pytest.raises(StudyError, match="no line to paste"):
        render("databricks", Launch())
    assert notes[0].endswith("with nodes of 2 cores and 4g for each executor")
    memory = Launch({"spark.executor.memory": "4g"})
    assert render("databricks", memory)[1] == (
        "add spark_version and node_type_id to the cluster, with nodes of 4g for each executor",
    )
    long = json.loads(render("databricks", Launch({}, f"{'x' * 150}.py"))[0])
    assert long["tasks"][0]["task_key"] == "x" * 100
    assert "libraries" not in long["tasks"][0]


@pytest.mark.parametrize(
    ("program", "options", "name", "language", "located"),
    [
        ("jobs/Train It.py", {}, "train-it", "Python", "local:///jobs/Train It.py"),
        ("s3://b/app.jar", {"class": "org.x.Main"}, "app", "Scala", "s3://b/app.jar"),
        ("/a/plot.R", {}, "plot", "R", "local:///a/plot.R"),
        ("/a/app.jar", {}, "app", "Scala", "local:///a/app.jar"),
        ("9-lives.py", {}, "job-9-lives", "Python", "local:///9-lives.py"),
        ("x.py", {"name": "Nightly run!"}, "nightly-run", "Python", "local:///x.py"),
        (f"{'a' * 59}-{'b' * 20}.py", {}, "a" * 59, "Python", f"local:///{'a' * 59}-{'b' * 20}.py"),
        (f"{'a' * 80}.py", {}, "a" * 60, "Python", f"local:///{'a' * 80}.py"),
    ],
)
def test_a_spark_application_has_a_name_that_kubernetes_takes_and_the_language_of_its_program(
    program: str, options: dict[str, str], name: str, language: str, located: str
) -> None:
    document = yaml.safe_load(render("sparkapplication", Launch({}, program, (), options))[0])
    assert document["metadata"]["name"] == name
    assert (document["spec"]["type"], document["spec"]["mainApplicationFile"]) == (language, located)


def test_a_spark_application_has_its_environment_in_every_pod_and_its_files_in_lists() -> None:
    text, notes = render("sparkapplication", PYTHON)
    spec = yaml.safe_load(text)["spec"]
    variables = [{"name": "OMP_NUM_THREADS", "value": "2"}]
    assert (spec["driver"], spec["executor"]["env"]) == ({"memory": "2g", "env": variables}, variables)
    assert spec["deps"] == {"pyFiles": ["a.zip", "b.py"], "packages": ["org.x:y:1.0"]}
    assert spec["sparkVersion"] == "3.5.3"
    assert notes == ("replace IMAGE by your own",)
    bare, notes = render("sparkapplication", BARE)
    assert "env" not in yaml.safe_load(bare)["spec"]["driver"]
    assert notes == ("replace IMAGE, VERSION, PROGRAM by your own",)


def test_a_step_of_emr_takes_its_environment_along() -> None:
    [step] = json.loads(render("emr", PYTHON)[0])
    assert step["Name"] == PYTHON.program
    assert "spark.yarn.appMasterEnv.OMP_NUM_THREADS=2" in step["HadoopJarStep"]["Args"]
    own = Launch({}, "a.py", (), {"deploy-mode": "client", "name": "mine"})
    [step] = json.loads(render("emr", own)[0])
    assert (step["Name"], step["HadoopJarStep"]["Args"][3:5]) == ("mine", ["--deploy-mode", "client"])


def test_an_operator_of_airflow_names_its_task_and_says_what_is_missing() -> None:
    text, notes = render("airflow", PYTHON)
    assert "task_id='train_it'" in text
    assert "verbose=" not in text
    assert notes == ("the master is that of the Airflow connection spark_default",)
    chatty = Launch({"spark.a": "{{ b }}"}, "a.py", switches=("verbose",))
    assert "verbose=True" in render("airflow", chatty)[0]
    for word, shown in (("{{x}}", "{{ '{{' }}x}}"), ("{% y", "{{ '{%' }} y"), ("plain", "plain")):
        assert repr(shown) in render("airflow", Launch({}, "a.py", (word,)))[0]
    assert render("airflow", BARE)[1][-1] == "replace PROGRAM by your own"


def test_an_option_of_the_job_stands_on_one_line_with_its_value() -> None:
    arguments = ("in.csv", "--depth", "3", "--out=x", "y", "--a", "--b", "-1", "c", "d")
    parts = shell_parts(Launch({}, "a.py", arguments, environment={"A": "b c"}))
    assert parts == [
        "A='b c'",
        "spark-submit",
        "a.py",
        "in.csv",
        "--depth 3",
        "--out=x",
        "y",
        "--a",
        "--b",
        "-1",
        "c",
        "d",
    ]
    assert shell_parts(Launch({"spark.a": "1"})) == ["--conf spark.a=1"]


def test_a_properties_file_names_its_master_and_says_what_it_leaves_out() -> None:
    text, notes = render("properties", Launch({"spark.a": "1"}, "a.py", master="yarn"))
    assert java_properties(text) == {"spark.master": "yarn", "spark.a": "1"}
    assert notes == ("the program and its arguments are not part of a properties file",)
    assert render("properties", BARE)[1] == ()


class SparkSubmitOperator:
    """The arguments that Airflow documents (apache-airflow-providers-apache-spark)."""

    def __init__(
        self,
        *,
        task_id: str,
        application: str = "",
        conf: dict[str, Any] | None = None,
        conn_id: str = "spark_default",
        files: str | None = None,
        py_files: str | None = None,
        archives: str | None = None,
        driver_class_path: str | None = None,
        jars: str | None = None,
        java_class: str | None = None,
        packages: str | None = None,
        exclude_packages: str | None = None,
        repositories: str | None = None,
        total_executor_cores: int | None = None,
        executor_cores: int | None = None,
        executor_memory: str | None = None,
        driver_memory: str | None = None,
        keytab: str | None = None,
        principal: str | None = None,
        proxy_user: str | None = None,
        name: str = "arrow-spark",
        num_executors: int | None = None,
        status_poll_interval: int = 1,
        application_args: list[Any] | None = None,
        env_vars: dict[str, Any] | None = None,
        verbose: bool = False,
        spark_binary: str | None = None,
        properties_file: str | None = None,
        yarn_queue: str | None = None,
        deploy_mode: str | None = None,
        use_krb5ccache: bool = False,
    ) -> None:
        self.given = {name: value for name, value in locals().items() if name != "self"}


@pytest.mark.parametrize("launch", [PYTHON, JAVA])
def test_an_operator_of_airflow_takes_all_its_arguments(launch: Launch) -> None:
    source, call = render("airflow", launch)[0].split("\n\n")
    assert source == "from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator"
    tree = ast.parse(call, mode="eval").body
    assert isinstance(tree, ast.Call)
    named = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in tree.keywords}
    assert named.keys() <= inspect.signature(SparkSubmitOperator).parameters.keys()
    operator = SparkSubmitOperator(**named)
    assert operator.given["application"] == launch.program
    assert operator.given["application_args"] == list(launch.arguments)
    assert operator.given["conf"] == PROPERTIES
    assert operator.given["java_class"] == launch.options.get("class")


def test_braces_are_no_template_of_airflow() -> None:
    from jinja2 import Template

    braces = Launch({}, "a.py", ("{{x}} {% y %}",))
    tree = ast.parse(render("airflow", braces)[0].split("\n\n")[1], mode="eval").body
    assert isinstance(tree, ast.Call)
    [words] = [ast.literal_eval(word.value) for word in tree.keywords if word.arg == "application_args"]
    assert [Template(word).render() for word in words] == ["{{x}} {% y %}"]


def test_json_has_the_words_and_the_properties() -> None:
    document = json.loads(render("json", PYTHON)[0])
    assert document["program"] == PYTHON.program
    assert document["arguments"] == list(PYTHON.arguments)
    assert document["properties"] == PROPERTIES


def test_every_format_writes_what_has_no_program() -> None:
    for name in FORMATS:
        text, _ = render(name, BARE)
        assert "64" in text
    with pytest.raises(StudyError, match="no format 'emrr'") as caught:
        render("emrr", BARE)
    assert "emr" in caught.value.hint


# ---------------------------------------------------------------- where it comes from


def study(tmp_path: Path, *words: str) -> Any:
    (tmp_path / "train it.py").write_text("")
    (tmp_path / "s.yaml").write_text(study_of_line(words))
    return api.load_study(tmp_path / "s.yaml")


def test_the_whole_line_that_was_pasted_comes_back_with_other_settings(tmp_path: Path) -> None:
    line = (
        *("OMP_NUM_THREADS=2", "spark-submit", "--master", "spark://host:7077", "--executor-memory", "2g"),
        *("--executor-cores", "2", "--total-executor-cores", "4", "--class", "org.x.Main", "--py-files", "a.zip,b.py"),
        *("--conf", "spark.sql.shuffle.partitions=8", "--conf", "spark.some.path=a b"),
        *("train it.py", "in put.csv", "5", "--out", "it's", "--depth=3"),
    )
    loaded = study(tmp_path, *line)
    launch = launch_of_study(loaded, loaded.fixed | {"executors": 3, "arg2": 7})
    assert shlex.split(render("spark-submit", launch)[0]) == [
        *("OMP_NUM_THREADS=2", "spark-submit", "--master", "spark://host:7077", "--class", "org.x.Main"),
        *("--py-files", "a.zip,b.py", "--conf", "spark.sql.shuffle.partitions=8", "--conf", "spark.executor.cores=2"),
        *("--conf", "spark.cores.max=6", "--conf", "spark.executor.memory=2g", "--conf", "spark.some.path=a b"),
        *("train it.py", "in put.csv", "7", "--out", "it's", "--depth=3"),
    ]
    assert launch.directory == str(tmp_path)


@pytest.mark.parametrize(
    ("master", "counted"), [("spark://h:7077", "spark.cores.max"), ("yarn", "spark.executor.instances")]
)
def test_a_cluster_is_told_what_it_counts(tmp_path: Path, master: str, counted: str) -> None:
    loaded = study(tmp_path, "spark-submit", "--master", master, "--num-executors", "3", "train it.py")
    found = launch_of_study(loaded, loaded.fixed).properties
    assert {"spark.cores.max", "spark.executor.instances"} & found.keys() == {counted}


def test_secrets_are_not_shown_and_that_is_said(tmp_path: Path) -> None:
    words = ("--conf", "spark.hadoop.fs.s3a.secret.key=hush", "train it.py", "--db-password", "hush")
    loaded = study(tmp_path, "spark-submit", *words)
    launch = launch_of_study(loaded, loaded.fixed)
    for name in FORMATS:
        assert "hush" not in render(name, launch)[0]
    assert any("spark.hadoop.fs.s3a.secret.key not shown" in note for note in launch.notes)
    assert any("secrets among the arguments are hidden" in note for note in launch.notes)


def test_a_job_of_sparkcast_itself_has_properties_and_no_invented_arguments(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("study: s\nworkload: pi\nsettings: {executors: [1, 2], samples: 1000}\n")
    loaded = api.load_study(tmp_path / "s.yaml")
    launch = launch_of_study(loaded, loaded.fixed | {"executors": 2})
    assert (launch.program, launch.arguments) == ("", ())
    assert launch.properties["spark.executor.instances"] == "2"
    assert launch.notes[0] == "the job is sparkcast's own pi: only a study can start it"


@pytest.mark.parametrize(
    ("columns", "properties"),
    [
        ({"executors": 4, "cores": 2, "memory": "4g"}, {"instances": "4", "cores": "2", "memory": "4g"}),
        ({"num_executors": 4, "executor_memory_gb": 4}, {"instances": "4", "memory": "4g"}),
        ({"nodes": 4, "cores": 2, "memory": "4g"}, {}),  # machines are not executors
        ({"workers": 4, "ram": 61}, {}),
        ({"executor_cores": 2, "test_error": 0.1, "n_gpus": 1}, {"cores": "2"}),
    ],
)
def test_of_a_table_only_what_its_columns_call_sparks_becomes_a_property(
    columns: dict[str, Any], properties: dict[str, str]
) -> None:
    launch = launch_of_table(Configuration(columns), usual_vocabulary(columns, ()))
    found = {name: value for name, value in launch.properties.items() if name != "spark.cores.max"}
    assert found == {f"spark.executor.{name}": value for name, value in properties.items()}
    assert (launch.program, launch.arguments) == ("", ())
    assert launch.notes[0] == "the runs do not say which program they started"


def test_machines_whose_role_somebody_declared_are_executors_whatever_their_name() -> None:
    columns: dict[str, str | int] = {"hosts": 4, "threads": 2, "ram": "4g", "volume": 10}
    roles = {"hosts": "machines", "threads": "cores", "ram": "memory"}
    found = launch_of_table(Configuration(columns), usual_vocabulary(columns, ()).assigning(roles)).properties
    usual: dict[str, str | int] = {"executors": 4, "cores": 2, "memory": "4g"}
    assert found == launch_of_table(Configuration(usual), usual_vocabulary(usual, ())).properties
    assert found["spark.executor.instances"] == "4"


def test_settings_that_are_not_sparks_give_no_empty_line_but_say_what_is_missing() -> None:
    columns: dict[str, int | float | str] = {"workers": 4, "ram": 61}
    launch = launch_of_table(Configuration(columns), usual_vocabulary(columns, ()))
    assert launch.notes[-1] == "no setting is Spark's: there is no line to paste"
    for name in FORMATS:
        with pytest.raises(
            StudyError, match=r"there is no line to paste; .*set them yourself: workers=4, ram=61\n.*machines"
        ):
            render(name, launch)


def test_a_switch_is_written_as_spark_writes_it() -> None:
    columns: dict[str, str | int] = {"spark.sql.adaptive.enabled": "true", "spark.sql.shuffle.partitions": 200}
    found = launch_of_table(Configuration(columns), usual_vocabulary(columns, ())).properties
    assert found == {"spark.sql.adaptive.enabled": "true", "spark.sql.shuffle.partitions": "200"}
