"""A pasted spark-submit line: taken apart, written as a study, and submitted with the same words."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.errors import StudyError
from sparkcast.study import Configuration, Study
from sparkcast.study.file import parse_study
from sparkcast.workloads import complete, properties_of, resolve, workload_of
from sparkcast.workloads._submit_line import parse_line
from sparkcast.workloads.base import Submitted, SubmittedApplication
from sparkcast.workloads.pasted import study_of_line
from tests_support import Call

LINE = (
    "spark-submit --num-executors 4 --executor-memory 2g --conf spark.sql.shuffle.partitions=200 "
    "train.py --rows 1000000 --iterations 20"
).split()


def study_of(*words: str, folder: Path) -> Study:
    return resolve(parse_study(study_of_line(words), folder / "study.yaml"))


def submitted(study: Study) -> SubmittedApplication:
    """What the first trial submits; the application is made up where it is no address."""
    assert study.path is not None
    workload = workload_of(study)
    assert isinstance(workload, Submitted)
    file = study.path.parent / str(study.options["application"])
    if "://" not in str(file) and "{" not in str(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return workload.application(complete(workload, study.fixed), study.path.parent)


def test_what_spark_knows_and_what_the_job_takes_become_settings(tmp_path: Path) -> None:
    study = study_of(*LINE, folder=tmp_path)
    assert study.fixed.includes({"executors": 4, "memory": "2g", "cores": 1, "rows": 1_000_000, "iterations": 20})
    assert study.fixed["spark.sql.shuffle.partitions"] == 200
    assert study.name == "train"
    assert submitted(study).arguments == ("--rows", "1000000", "--iterations", "20")


def test_the_study_says_how_to_vary_a_setting() -> None:
    text = study_of_line(LINE)
    assert "  rows: 1000000                     # make it a list to vary it\n" in text
    assert '"spark.sql.shuffle.partitions": 200  # make it a list to vary it' in text
    assert "#   spark-submit --num-executors 4 --executor-memory 2g" in text


def test_a_setting_made_a_list_is_a_factor(tmp_path: Path) -> None:
    text = study_of_line(LINE).replace("rows: 1000000", "rows: [1000, 2000]").replace(": 200 ", ": [50, 200] ")
    study = resolve(parse_study(text, tmp_path / "s.yaml"))
    assert {f.name: f.levels for f in study.factors} == {
        "spark.sql.shuffle.partitions": (50, 200),
        "rows": (1000, 2000),
    }


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        (["pi.py", "10"], {"arg1": 10}),
        (["kmeans.py", "data.txt", "2", "0.1"], {"arg2": 2, "arg3": 0.1}),
        (["a.py", "--learning-rate=0.5"], {"learning_rate": 0.5}),
        (["a.py", "--offset", "-5", "--flag", "--size", "3"], {"offset": -5, "size": 3}),
        (["a.py", "--input", "a", "--input", "b"], {"input": "a", "input_2": "b"}),
        (["a.py", "rows=5", "mode=fast"], {"rows": 5, "mode": "fast"}),
        (["a.py", "-n", "7"], {"n": 7}),
        (["a.py", "--cores", "3", "--time-s", "1"], {"job_cores": 3, "job_time_s": 1, "cores": 1}),
        (["a.py", "--", "--rows", "5"], {"arg2": 5}),
        (["a.py", "--shuffle", "true"], {"shuffle": "true"}),
        (["a.py", "--model.depth", "5"], {"model_depth": 5}),
        (["a.py", "--lambda", "0.1"], {"lambda": 0.1}),
        (["a.py", "--rate", "1.0"], {"rate": 1}),
        (["a.py", "--true", "1", "--null", "2"], {"true": 1, "null": 2}),
        (["a.py", "--passwordless", "--rows", "5"], {"rows": 5}),
    ],
)
def test_the_jobs_own_arguments_become_settings(
    words: list[str], settings: dict[str, int | str], tmp_path: Path
) -> None:
    study = study_of("spark-submit", *words, folder=tmp_path)
    assert study.fixed.includes(settings)
    assert submitted(study).arguments == tuple(words[1:])


def test_options_of_spark_submit_are_kept(tmp_path: Path) -> None:
    line = (
        "spark-submit --class org.example.Train --jars a.jar,b.jar --packages g:a:1 --exclude-packages x:y "
        "--repositories https://repo --py-files m.zip --files f.txt --archives e.tar.gz#env --deploy-mode client "
        "--name nightly --principal me --keytab k --proxy-user you --supervise -v "
        "--properties-file p.conf --driver-memory 3g --driver-cores 2 --driver-java-options -Xss4m "
        "--driver-class-path c.jar --driver-library-path /lib --queue q --master local[2] app.jar"
    )
    (tmp_path / "p.conf").write_text("spark.ui.enabled false\n")
    study = study_of(*line.split(), folder=tmp_path)
    program = submitted(study)
    pairs = dict(zip(program.options[::2], program.options[1::2], strict=False))
    assert pairs["--class"] == "org.example.Train"
    assert pairs["--jars"] == "a.jar,b.jar"
    assert pairs["--archives"] == "e.tar.gz#env"
    assert pairs["--deploy-mode"] == "client"
    for option in "packages exclude-packages repositories py-files files principal keytab proxy-user".split():
        assert f"--{option}" in pairs
    assert program.options[-2:] == ("--supervise", "--verbose")
    assert program.name == "nightly"
    assert program.properties_file == tmp_path / "p.conf"
    assert study.spark.master == "local[2]"
    assert properties_of(study, study.fixed) == {"spark.driver.memory": "3g", "spark.driver.cores": "2"}
    assert study.spark.conf == {
        "spark.driver.extraJavaOptions": "-Xss4m",
        "spark.driver.extraClassPath": "c.jar",
        "spark.driver.extraLibraryPath": "/lib",
        "spark.yarn.queue": "q",
    }


@pytest.mark.parametrize("written", [["--conf", "spark.a=b=c"], ["--conf=spark.a=b=c"], ["-c", "spark.a=b=c"]])
def test_a_property_is_read_however_it_is_written(written: list[str]) -> None:
    assert parse_line(["spark-submit", *written, "a.py"]).properties == {"spark.a": "b=c"}


def test_all_cores_of_a_standalone_cluster_are_shared_by_executors(tmp_path: Path) -> None:
    study = study_of(*"spark-submit --total-executor-cores 8 --executor-cores 2 a.py".split(), folder=tmp_path)
    assert study.fixed.includes({"executors": 4, "cores": 2})


def test_a_bare_number_of_memory_is_in_megabytes_as_for_spark(tmp_path: Path) -> None:
    study = study_of(*"spark-submit --executor-memory 2048 a.py".split(), folder=tmp_path)
    assert study.fixed["memory"] == "2g"


def test_variables_in_front_of_the_line_are_kept(tmp_path: Path) -> None:
    study = study_of("env", "A=1", "B=two words", "/opt/spark/bin/spark-submit", "a.py", folder=tmp_path)
    assert submitted(study).environment == {"A": "1", "B": "two words"}


def test_a_line_in_quotes_is_split_without_a_shell(tmp_path: Path) -> None:
    study = study_of("spark-submit a.py --title 'two words' --cost $HOME", folder=tmp_path)
    assert submitted(study).arguments == ("--title", "two words", "--cost", "$HOME")


def test_a_secret_of_the_job_is_no_setting_and_is_not_shown(tmp_path: Path) -> None:
    words = ["spark-submit", "--conf", "spark.my.password=5", "a.py", "--db-password", "hush", "--api-key=hush"]
    text = study_of_line(words)
    assert "hush" not in text.split("study:")[0]
    study = resolve(parse_study(text, tmp_path / "s.yaml"))
    assert "hush" not in str(study.fixed)
    assert "hush" not in str(study.measured_definition())
    assert study.spark.conf == {"spark.my.password": "5"}
    assert submitted(study).arguments == ("--db-password", "hush", "--api-key=hush")


def test_what_would_take_the_event_log_elsewhere_is_left_out(tmp_path: Path) -> None:
    text = study_of_line(["spark-submit", "--conf", "spark.eventLog.dir=hdfs:///logs", "a.py"])
    assert resolve(parse_study(text, tmp_path / "s.yaml")).spark.conf == {}
    assert "# left out, because sparkcast collects the event log of each run itself: spark.eventLog.dir" in text


def test_files_that_the_line_names_are_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").touch()
    (tmp_path / "out").mkdir()
    words = ["a.py", "in.csv", "--other", "no.csv", "--output", "out", "."]
    study = study_of("spark-submit", *words, folder=tmp_path)
    assert study.options["data"] == ["in.csv"]


@pytest.mark.parametrize(
    ("line", "problem", "hint"),
    [
        ("spark-submit --num-executor 4 a.py", "no option '--num-executor'", "did you mean '--num-executors'?"),
        ("spark-submit --executor-memry=4g a.py", "no option '--executor-memry'", "did you mean '--executor-memory'?"),
        ("spark-submit --master yarn --master yarn a.py", "--master is given twice", "keep only that one"),
        ("spark-submit --class A --class B a.jar", "--class is given twice", "keep only that one"),
        ("spark-submit --conf spark.a=1 --conf spark.a=2 a.jar", "spark.a is given twice", "keep only that one"),
        ("spark-submit --master yarn", "names no application", "train.py"),
        ("spark-submit --conf", "--conf has no value", "missing"),
        ("spark-submit --conf shuffle=2 a.py", "is not spark.some.key=value", "e.g."),
        ("spark-submit --kill 1", "does not submit a job", "paste"),
        ("spark-submit --version", "does not submit a job", "paste"),
        ("spark-submit --remote sc://h a.py", "Spark Connect client", "paste"),
        ("python train.py", "starts with 'python'", "spark-submit"),
        ("spark-submit 'a.py", "No closing quotation", "quote"),
    ],
)
def test_a_line_that_cannot_be_submitted_is_refused(line: str, problem: str, hint: str) -> None:
    with pytest.raises(StudyError) as caught:
        study_of_line([line])
    assert problem in caught.value.problem
    assert hint in caught.value.hint


def test_a_word_that_is_no_text_is_refused() -> None:
    with pytest.raises(StudyError, match="not valid UTF-8"):
        study_of_line(["spark-submit", "a.py", "\udcff"])


SIGNS = st.characters(codec="utf-8", exclude_characters="\0")
WORDS = st.lists(
    st.one_of(
        st.text(SIGNS, max_size=12),
        st.sampled_from(
            "--rows --rows=5 --rows -n -5 5 1.0 007 1e3 +5 1_000 1024m 9e999g true null ~ -- - {x} {{x}} { } a=b =x "
            "--a={b} nan .5 5. -0 '\" $HOME `id` 0x10 2001-01-01 : # a:b --password hush ٣".split()
        ),
        st.sampled_from(
            ["two words", 'a "b" c', "it's", "", " ", " 5 ", "a\nb", "\t", "é 漢 🙂", "\x7f", "\x85", "\u2028"]
        ),
        st.integers().map(str),
        st.floats().map(str),
    ),
    max_size=8,
)


@given(WORDS)
def test_the_job_gets_its_own_arguments_exactly_as_they_were_given(
    tmp_path_factory: pytest.TempPathFactory, words: list[str]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    study = study_of("spark-submit", "a.py", *words, folder=folder)
    assert submitted(study).arguments == tuple(words)


@given(st.text(SIGNS, min_size=1, max_size=12))
def test_a_varied_argument_reaches_the_job_as_the_study_writes_it(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    folder = tmp_path_factory.getbasetemp()
    study = study_of("spark-submit", "a.py", "--x", "seed", "--y", text, folder=folder)
    changed = Configuration(study.fixed | {"x": "other"})
    workload = workload_of(study)
    assert isinstance(workload, Submitted)
    (folder / "a.py").touch()
    arguments = workload.application(complete(workload, changed), folder).arguments
    assert arguments == ("--x", "other", "--y", text) or text.startswith("-")


def test_init_prints_the_study_of_a_line_and_a_blank_one(call: Call) -> None:
    answer = call("init", "--", *LINE)
    assert answer.code == 0
    assert "  rows: 1000000 " in answer.out
    assert call("init", *LINE).out == answer.out  # without the --
    assert call("init", "command").out.count("workload: command") == 1
    wrong = call("init", "--", "spark-submit", "--num-executor", "4", "a.py")
    assert (wrong.code, "did you mean '--num-executors'?" in wrong.err) == (2, True)


def test_design_and_dry_run_work_with_a_line_as_it_is(call: Call, tmp_path: Path) -> None:
    text = study_of_line(["spark-submit", "a.py", "--title", "two 'words' \"é\""])
    (tmp_path / "s.yaml").write_text(text)
    planned = call("design", "s.yaml")
    assert planned.code == 0, planned.err
    assert "nothing is varied: make a setting a list to vary it" in planned.out
    missing = call("run", "s.yaml", "--dry-run")
    assert (missing.code, "there is no file 'a.py'" in missing.err) == (2, True)
    (tmp_path / "a.py").touch()
    shown = call("run", "s.yaml", "--dry-run")
    assert shown.code == 0, shown.err
    assert """'two '"'"'words'"'"' "é"'""" in shown.out


@pytest.mark.parametrize(
    "words",
    [
        ["--url", "jdbc:pg://u:HUSH@h"],
        ["--url=jdbc:pg://u:HU/SH@h"],
        ["url=jdbc:pg://u:HUSH@h"],
        ["--input", "https://a.blob.core.windows.net/c?sv=1&sig=HUSH"],
        ["https://b.s3.amazonaws.com/k?X-Amz-Signature=HUSH"],
        ["--key", "AKIAIOSFODNN7EXAMPLE"],
    ],
)
def test_a_value_that_holds_a_secret_is_no_setting_and_the_file_says_so(words: list[str]) -> None:
    text = study_of_line(["spark-submit", "job.py", *words, "--rows", "5"])
    study = parse_study(text, Path("study.yaml"))
    assert set(study.fixed) == {"executors", "cores", "memory", "rows"}
    assert [*words, "--rows", "{rows}"] == study.options["arguments"]
    assert "# This file holds a secret" in text
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert not any("HUSH" in line or "HU/SH" in line or "AKIA" in line for line in comments)


def test_a_line_without_secrets_gets_no_warning() -> None:
    assert "holds a secret" not in study_of_line(["spark-submit", "job.py", "--max-tokens", "512", "s3://bucket/x"])


@pytest.mark.parametrize(
    ("options", "executors", "cores"),
    [
        ("--master spark://h:7077 --total-executor-cores 2", 1, 2),
        ("--total-executor-cores 2", 1, 2),
        ("--master spark://h:7077 --total-executor-cores 8 --executor-cores 2", 4, 2),
        ("--master spark://h:7077 --total-executor-cores 8 --num-executors 4", 4, 2),
        ("--conf spark.cores.max=6", 1, 6),
        ("--master yarn --total-executor-cores 8 --num-executors 4", 4, 1),  # YARN takes no notice of it
        ("--master yarn --total-executor-cores 8", 1, 1),
        ("--master local[3]", 1, 3),
    ],
)
def test_cores_in_all_are_divided_as_spark_divides_them(
    tmp_path: Path, options: str, executors: int, cores: int
) -> None:
    study = study_of("spark-submit", *options.split(), "a.py", folder=tmp_path)
    assert study.fixed.includes({"executors": executors, "cores": cores})


def test_a_line_that_takes_the_whole_cluster_is_pointed_out() -> None:
    assert "takes all cores of the cluster" in study_of_line(["spark-submit", "--master", "spark://h:7077", "a.py"])
    assert "takes all cores of the cluster" not in study_of_line(["spark-submit", "--master", "yarn", "a.py"])


def test_dynamic_allocation_in_the_line_is_noticed(tmp_path: Path) -> None:
    words = (
        "spark-submit --conf spark.dynamicAllocation.enabled=true --conf spark.dynamicAllocation.maxExecutors=6 a.py"
    )
    assert "dynamic allocation is on, and Spark decides" in study_of_line(words.split())
    assert study_of(*words.split(), folder=tmp_path).fixed["executors"] == 6
    assert "dynamic allocation is on" not in study_of_line("spark-submit a.py".split())
    off = study_of_line("spark-submit --conf spark.dynamicAllocation.enabled=false a.py".split())
    assert "dynamic allocation is on" not in off


def test_the_limits_of_a_new_study_leave_time_for_a_nightly_job(tmp_path: Path) -> None:
    limits = study_of(*LINE, folder=tmp_path).limits
    assert limits.trial_s is not None
    assert limits.total_s is not None
    assert limits.trial_s >= 8 * 3600
    assert limits.total_s >= 2 * limits.trial_s
