"""`sparkcast design`: what it prints and writes, and how it refuses."""

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sparkcast import cli

STUDY = """\
study: s
workload: mnist-training
settings:
  executors: [1, 3]
  cores: [1, 3]
  batch_size: [72, 504]
  epochs: [2, 4]
  learning_rate: [0.1, 0.3]
design: {kind: fractional}
limits: {trial: 1m, total: 10m}
price: {core_hour: 0.05}
"""
DESIGN = "design: {kind: fractional}"

Answer = tuple[int, str, str]


@pytest.fixture
def design(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Answer]:
    """Run the command in this process, on the study with other text in place of some; exit code, stdout, stderr."""

    def call(*arguments: str, **replaced: str) -> Answer:
        text = STUDY.replace(DESIGN, replaced.get("design", DESIGN)).replace(*_pair(replaced))
        (tmp_path / "s.yaml").write_text(text)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["sparkcast", "design", "s.yaml", *arguments])
        code = 0
        try:
            cli.main()
        except SystemExit as end:
            code = int(end.code or 0)
        out = capsys.readouterr()
        return code, out.out, out.err

    return call


def _pair(replaced: dict[str, str]) -> tuple[str, str]:
    return replaced.get("old", "study: s"), replaced.get("new", "study: s")


def test_the_plan_is_told_with_resolution_aliases_power_time_price_and_what_is_left_out(
    design: Callable[..., Answer],
) -> None:
    code, out, err = design("--details", design="design: {kind: fractional, resolution: V, center_points: 1, seed: 3}")
    assert (code, err) == (0, "")
    assert "17 runs, 0 done" in out
    assert "resolution V: a 2^(5-1) fraction" in out
    assert "learning_rate = executors*cores*batch_size*epochs" in out
    assert "I = executors:cores:batch_size:epochs:learning_rate" in out
    assert "clear of each other: executors, cores" in out
    assert "main effects and two-factor interactions are uncorrelated" in out
    assert "power: " in out
    assert "replicates needed to detect an effect of 1 standard deviation of the noise: " in out
    assert "about 17 min 00 s in total" in out
    assert "at the study's price" in out
    assert "leaves out about 7 runs: runs 11 to 17" in out
    assert "center" in out


def test_what_a_saturated_fraction_leaves_out_to_judge_the_noise_is_named(design: Callable[..., Answer]) -> None:
    code, out, _ = design("--details", design="design: {kind: fractional, resolution: V}")
    assert code == 0
    assert "% for an interaction that stays in the model (level 0.05, 3 degrees of freedom)" in out
    assert "the effects that the runs can estimate leave 0 degrees of freedom for the noise" in out
    left_out = "executors:cores, executors:batch_size, executors:epochs"
    assert f"so these are dropped from the model and count as noise: {left_out}\n" in out
    _, replicated, _ = design("--details", design="design: {kind: fractional, resolution: V, replicates: 2}")
    assert "count as noise" not in replicated


def test_a_long_plan_is_cut_and_the_csv_has_all_of_it(design: Callable[..., Answer], tmp_path: Path) -> None:
    code, out, err = design("--details", "--csv", "plan.csv", design="design: {kind: full, replicates: 2, blocks: 2}")
    assert code == 0
    assert "... and 44 more; --csv FILE writes all" in out
    assert "wrote 64 runs to plan.csv" in err
    rows = list(csv.DictReader((tmp_path / "plan.csv").read_text().splitlines()))
    assert list(rows[0]) == [
        *("run", "executors", "cores", "batch_size", "epochs", "learning_rate", "replicate", "block", "kind")
    ]
    assert [int(row["run"]) for row in rows] == list(range(1, 65))
    assert {row["block"] for row in rows} == {"1", "2", "3", "4"}


def test_a_plan_or_figures_that_exist_are_not_replaced_without_force(
    design: Callable[..., Answer], tmp_path: Path
) -> None:
    (tmp_path / "plan.csv").write_text("mine")
    code, _, err = design("--csv", "plan.csv")
    assert (code, "--force" in err) == (2, True)
    assert (tmp_path / "plan.csv").read_text() == "mine"
    aliased = "design: {kind: fractional, resolution: III}"
    code, _, err = design("--csv", "plan.csv", "--force", "--figures", "figures", design=aliased)
    assert code == 0
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == sorted(
        f"{name}.{kind}" for name in ("alias-map", "power-curve") for kind in ("png", "svg", "vl.json")
    )
    code, _, err = design("--figures", "figures")
    assert (code, "--force" in err) == (2, True)


def test_json_holds_the_description_and_old_names(design: Callable[..., Answer]) -> None:
    code, out, _ = design("--json", "--effect", "2")
    assert code == 0
    answer = json.loads(out)
    for name in "trials done trial_s total_s price estimated_from left_out excluded fixed seed replicates".split():
        assert name in answer
    assert answer["description"]["resolution"] == 5
    assert answer["description"]["power"]["effect_sd"] == 2.0
    assert answer["left_out_trials"] == [11, 12, 13, 14, 15, 16]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{kind: fractional, resolution: VII}", ["line 9", "resolution V at most, not VII", "takes 16 runs"]),
        (
            "{kind: fractional, generators: [learning_rate = executors*core]}",
            ["line 9", "'core', which is not a factor"],
        ),
        ("{kind: fractional, generators: [E = A*D, D = B*E]}", ["line 9", "are circular"]),
        ("{kind: fractional, runs: 12}", ["line 9", "not a power of two", "runs: 8 or runs: 16"]),
        ("{kind: fractional, resolutoin: 4}", ["line 9", "'design.resolutoin'", "did you mean 'resolution'"]),
        ("{kind: full, replicats: 2}", ["line 9", "'design.replicats'", "did you mean 'replicates'"]),
        ("{kind: optimal, runs: 7}", ["line 9", "7 runs, fewer than the 16 coefficients"]),
        ("{kind: optimal, budget: 5m}", ["line 9", "pays for only 5 of the cheapest runs", "16 coefficients"]),
        ("{kind: optimal, budget: 1h, time: __import__('os').getcwd()}", ["line 9", "rejected"]),
        ("{kind: optimal, budget: 1h, time: missing.csv}", ["line 9", "missing.csv"]),
        ("{kind: optimal, runs: 20, formula: executors + core}", ["line 9", "'core'", "did you mean 'cores'"]),
        ("{kind: full, blocks: 3}", ["line 9", "blocks: 2 or blocks: 4"]),
        ("{kind: full, blocks: 0}", ["line 9", "design.blocks = 0"]),
        ("{kind: full, center_points: some}", ["line 9", "design.center_points = 'some'"]),
        ("{kind: random, method: halton}", ["line 9", "is not one of maximin"]),
    ],
)
def test_a_design_that_cannot_be_is_refused_with_its_line_and_a_way_out(
    design: Callable[..., Answer], text: str, words: list[str]
) -> None:
    code, out, err = design(design=f"design: {text}")
    assert (code, out) == (2, "")
    for word in [*words, "hint: "]:
        assert word in err


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("cores: [1, 3]", "cores: [1, 2, 3]", ["line 5", "cores has 3", "cores: [1, 3]", "kind: optimal, runs: 22"]),
        ("cores: [1, 3]", "memory: [1g, 2g, 4g]", ["line 5", "memory: [1g, 4g]"]),
    ],
)
def test_a_factor_of_more_levels_is_refused_by_a_fraction(
    design: Callable[..., Answer], old: str, new: str, words: list[str]
) -> None:
    code, _, err = design(old=old, new=new)
    assert code == 2
    for word in words:
        assert word in err


@pytest.mark.parametrize(
    ("effect", "code", "words"),
    [
        ("huge", 2, ["'huge' is not a positive number", "--effect 10%"]),
        ("-1", 2, ["not a positive number"]),
        ("10%", 4, ["without replicates, an effect in percent", "--effect 1.0"]),
    ],
)
def test_an_effect_that_cannot_be_judged_is_refused(
    design: Callable[..., Answer], effect: str, code: int, words: list[str]
) -> None:
    answer, _, err = design(f"--effect={effect}")
    assert answer == code
    for word in words:
        assert word in err
