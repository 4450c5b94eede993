import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.errors import StudyError
from sparkcast.study.file import load_study, parse_study

# The example of the design document.
STUDY = """\
study: mnist-batch-size
workload: mnist-training
settings:
  executors: [1, 2]
  batch_size: [64, 128, 256, 512]
  jobs: [1, 3]
  epochs: 2
  learning_rate: 1e-2
rules:
  - batch_size % executors == 0
design: {kind: full, replicates: 3, seed: 7}
responses: [time_s, accuracy, score = time_s / (100 * accuracy)**2]
limits: {total: 30m, trial: 5m}
spark:
  master: embedded
  conf: {spark.executor.memory: 1g, spark.ui.enabled: false}
price: {core_hour: 0.05}
"""


def test_a_study_file_is_read_whole() -> None:
    study = parse_study(STUDY)
    assert [(f.name, f.levels) for f in study.factors] == [
        ("executors", (1, 2)),
        ("batch_size", (64, 128, 256, 512)),
        ("jobs", (1, 3)),
    ]
    assert study.fixed == {"epochs": 2, "learning_rate": 0.01}
    assert (study.limits.total_s, study.limits.trial_s) == (1800, 300)
    assert study.spark.conf == {"spark.executor.memory": "1g", "spark.ui.enabled": "false"}
    assert study.responses[2].value({"time_s": 40.0, "accuracy": 0.5}) == pytest.approx(0.016)
    assert study.price is not None
    assert study.price.core_hour == 0.05


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("design:", "desgin:", 11, ["unknown key 'desgin'", "did you mean 'design'"]),
        ("seed: 7", "center_points: -1", 11, ["design.center_points = -1", "greater than or equal to 0"]),
        ("seed: 7", "seed: -1", 11, ["design.seed = -1", "greater than or equal to 0"]),
        ("replicates: 3", "replicates: 0", 11, ["design.replicates = 0", "greater than or equal to 1"]),
        ("[1, 2]", "[]", 4, ["'executors' has no levels"]),
        ("[1, 2]", "[1]", 4, ["single level 1", "without the brackets"]),
        ("[1, 2]", "[2, 2]", 4, ["repeats a level"]),
        ("[1, 2]", "{a: 1}", 4, ["settings.executors"]),
        ("[1, 2]", "[1, [2]]", 4, ["settings.executors"]),
        ("[1, 2]", f"[1, {'9' * 400}]", 4, ["settings.executors"]),
        ("batch_size % executors == 0", "-" * 5000 + "1", 10, ["5,001 characters, more than 2,000"]),
        ("batch_size % executors == 0", f"{'-' * 1500}executors > 0", 10, ["more than 100 levels"]),
        ("30m", "30x", 13, ["unknown unit 'x'", "30s"]),
        ("30m", "-3s", 13, ["is not a duration"]),
        ("batch_size % executors == 0", "__import__('os')", 10, ["rejected", "__import__"]),
        ("epochs: 2", "epochs: 2\n  epochs: 3", 8, ["'settings.epochs' appears twice", "line 7"]),
        ("core_hour: 0.05", "core_hour: -1", 17, ["price.core_hour = -1"]),
        ("kind: full", "kind: 3", 11, ["design.kind = 3"]),
        ("study: mnist-batch-size", "study: ../../etc", 1, ["study = '../../etc'"]),
        ("workload: mnist-training\n", "", 1, ["'workload' is missing"]),
        ("[1, 2]", "[1, 2", 5, ["not YAML"]),
    ],
)
def test_a_mistake_is_named_with_its_line_and_a_way_out(old: str, new: str, line: int, words: list[str]) -> None:
    with pytest.raises(StudyError) as caught:
        parse_study(STUDY.replace(old, new, 1), Path("mnist.yaml"))
    message = str(caught.value)
    assert message.startswith(f"mnist.yaml line {line}: ")
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    "text", ["", "[]", "just words", "- a\n- b", "!!python/object/apply:os.system ['true']", "a: &x [*x]"]
)
def test_a_file_that_is_no_study_is_refused(text: str) -> None:
    with pytest.raises(StudyError):
        parse_study(text)


@given(st.text())
def test_no_text_whatever_breaks_the_parser(text: str) -> None:
    with contextlib.suppress(StudyError):
        parse_study(text)


def test_a_missing_file_tells_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="sparkcast init"):
        load_study(tmp_path / "nothing.yaml")


def test_where_a_study_was_read_does_not_change_what_it_asks() -> None:
    assert parse_study(STUDY, Path("a.yaml")) == parse_study("# a comment\n" + STUDY, Path("b.yaml"))


def test_levels_are_kept_as_they_are_written() -> None:
    study = parse_study(
        'study: s\nworkload: w\nsettings: {a: [1.0, 0.5], b: "007", c: 1024m, d: [true, false], e: [1e-3, 5]}\n'
    )
    assert [study.text("a", level) for level in (1, 0.5)] == ["1.0", "0.5"]
    assert (study.text("b", 7), study.text("c", "1g"), study.text("a", 3)) == ("007", "1024m", "3")
    assert [factor.levels for factor in study.factors if factor.name == "d"] == [("true", "false")]


def test_the_block_with_the_name_of_the_workload_is_for_the_workload_alone() -> None:
    text = "study: s\nworkload: acme\nacme: {any: [1, {b: c}]}\nsettings: {a: 1}\n"
    study = parse_study(text)
    assert study.options == {"any": [1, {"b": "c"}]}
    assert study.lines["acme.any"] == 3
    with pytest.raises(StudyError, match="unknown key 'acme'"):
        parse_study(text.replace("workload: acme", "workload: other"))
    with pytest.raises(StudyError, match="line 3: acme: not a list of `key: value`"):
        parse_study("study: s\nworkload: acme\nacme: 5\nsettings: {a: 1}\n")


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("spark.master: yarn", "spark: {master: ...}"),
        ("spark.executor.memory: 2g", 'spark: {conf: {"spark.executor.memory": ...}}'),
        ("limits.trial: 5m", "limits: {trial: ...}"),
        ("design.kind: full", "design: {kind: ...}"),
        ("a.b: 1", ""),
        ("1: x", ""),
        ("'': x", ""),
        ("~: x", ""),
    ],
)
def test_a_key_with_dots_or_of_another_kind_is_named_with_its_line(line: str, hint: str) -> None:
    with pytest.raises(StudyError, match=r"study\.yaml line") as caught:
        parse_study(f"study: s\nworkload: pi\n{line}\nsettings: {{executors: 1}}\n")
    assert hint in caught.value.hint
